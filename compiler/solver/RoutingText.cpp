// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text form of routing problems and solutions.
#include "compiler/solver/Routing.h"
#include "compiler/solver/Text.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::solver::routing {

absl::StatusOr<Problem> parseProblem(const std::string &text) {
  LineReader in(text, "wsc-problem", "routing");
  Problem problem;
  while (in.next()) {
    if (in.keyword() == "mesh") {
      problem.rows = in.integer32("rows");
      problem.cols = in.integer32("columns");
    } else if (in.keyword() == "capacity") {
      problem.linkCapacityWords = in.integer("capacity");
    } else if (in.keyword() == "fixed") {
      FixedLoad load;
      load.segment.row = in.integer32("row");
      load.segment.col = in.integer32("column");
      load.segment.rowEnd = in.integer32("end row");
      load.segment.colEnd = in.integer32("end column");
      load.wordsPerSample = in.integer("words");
      problem.fixed.push_back(load);
    } else if (in.keyword() == "net") {
      Net net;
      net.name = in.word("name");
      net.row = in.integer32("row");
      net.colBegin = in.integer32("column");
      net.wordsPerSample = in.integer("words");
      problem.nets.push_back(net);
    } else if (in.keyword() == "sink") {
      Sink sink;
      sink.col = in.integer32("column");
      sink.rowLo = in.integer32("first row");
      sink.rowHi = in.integer32("last row");
      if (problem.nets.empty())
        in.fail("'sink' before the first 'net'");
      else
        problem.nets.back().sinks.push_back(sink);
    } else {
      in.failKeyword("'mesh', 'capacity', 'fixed', 'net' or 'sink'");
    }
    in.endLine();
  }
  if (!in.ok())
    return in.status();
  if (absl::Status status = problem.check(); !status.ok())
    return status;
  return problem;
}

std::string printProblem(const Problem &problem) {
  std::string text = absl::StrCat("wsc-problem routing 1\nmesh ", problem.rows, " ", problem.cols, "\n");
  if (problem.linkCapacityWords)
    absl::StrAppend(&text, "capacity ", *problem.linkCapacityWords, "\n");
  for (const auto &[segment, words] : problem.fixed)
    absl::StrAppend(&text, "fixed ", segment.row, " ", segment.col, " ", segment.rowEnd, " ", segment.colEnd, " ",
                    words, "\n");
  for (const Net &net : problem.nets) {
    absl::StrAppend(&text, "net ", quoted(net.name), " ", net.row, " ", net.colBegin, " ", net.wordsPerSample, "\n");
    for (const Sink &sink : net.sinks)
      absl::StrAppend(&text, "sink ", sink.col, " ", sink.rowLo, " ", sink.rowHi, "\n");
  }
  return text;
}

absl::StatusOr<Solution> parseSolution(const std::string &text, const Problem &problem) {
  LineReader in(text, "wsc-solution", "routing");
  Solution solution;
  while (in.next()) {
    if (in.keyword() == "segment") {
      Segment segment;
      segment.row = in.integer32("row");
      segment.col = in.integer32("column");
      segment.rowEnd = in.integer32("end row");
      segment.colEnd = in.integer32("end column");
      if (solution.segmentsOf.empty())
        in.fail("'segment' before the first 'net'");
      else
        solution.segmentsOf.back().push_back(segment);
    } else {
      size_t n = solution.segmentsOf.size();
      expectEntry(in, "net", n, problem.nets.size(), n < problem.nets.size() ? problem.nets[n].name : "");
      solution.segmentsOf.emplace_back();
    }
    in.endLine();
  }
  if (!in.ok())
    return in.status();
  return solution;
}

std::string printSolution(const Problem &problem, const Solution &solution) {
  std::string text = "wsc-solution routing 1\n";
  for (size_t n = 0; n < std::min(problem.nets.size(), solution.segmentsOf.size()); ++n) {
    absl::StrAppend(&text, "net ", quoted(problem.nets[n].name), "\n");
    for (const Segment &segment : solution.segmentsOf[n])
      absl::StrAppend(&text, "segment ", segment.row, " ", segment.col, " ", segment.rowEnd, " ", segment.colEnd, "\n");
  }
  return text;
}

} // namespace wsc::solver::routing
