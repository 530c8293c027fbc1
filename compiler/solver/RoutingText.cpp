// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text form of routing problems and solutions.
#include "compiler/solver/Routing.h"
#include "compiler/solver/SegmentText.h"

#include "absl/strings/str_cat.h"

namespace wsc::solver::routing {

absl::StatusOr<Problem> parseProblem(const std::string &text) {
  return readProblem<Problem>(
      text, "routing",
      {{"mesh",
        [](LineReader &in, Problem &problem) {
          problem.rows = in.integer32("rows");
          problem.cols = in.integer32("columns");
        }},
       {"capacity", [](LineReader &in, Problem &problem) { problem.linkCapacityWords = in.integer("capacity"); }},
       {"fixed", [](LineReader &in, Problem &problem) { problem.fixed.push_back(readLoad(in)); }},
       {"net",
        [](LineReader &in, Problem &problem) {
          Net net;
          net.name = in.word("name");
          net.row = in.integer32("row");
          net.colBegin = in.integer32("column");
          net.wordsPerSample = in.integer("words");
          problem.nets.push_back(net);
        }},
       {"sink", [](LineReader &in, Problem &problem) {
          Sink sink;
          sink.col = in.integer32("column");
          sink.rowLo = in.integer32("first row");
          sink.rowHi = in.integer32("last row");
          if (Net *net = in.lastOf(problem.nets, "net"))
            net->sinks.push_back(sink);
        }}});
}

std::string printProblem(const Problem &problem) {
  std::string text = absl::StrCat("wsc-problem routing 1\nmesh ", problem.rows, " ", problem.cols, "\n");
  if (problem.linkCapacityWords)
    absl::StrAppend(&text, "capacity ", *problem.linkCapacityWords, "\n");
  for (const FixedLoad &load : problem.fixed)
    text += loadText("fixed", load);
  for (const Net &net : problem.nets) {
    absl::StrAppend(&text, "net ", quoted(net.name), " ", net.row, " ", net.colBegin, " ", net.wordsPerSample, "\n");
    for (const Sink &sink : net.sinks)
      absl::StrAppend(&text, "sink ", sink.col, " ", sink.rowLo, " ", sink.rowHi, "\n");
  }
  return text;
}

absl::StatusOr<Solution> parseSolution(const std::string &text, const Problem &problem) {
  Solution solution;
  absl::Status status = readSolution(
      text, "routing", "net", problem.nets, [&](LineReader &) { solution.segmentsOf.emplace_back(); },
      [&](LineReader &in) {
        if (in.keyword() != "segment")
          return false;
        const Segment segment = readSegment(in);
        if (std::vector<Segment> *segments = in.lastOf(solution.segmentsOf, "net"))
          segments->push_back(segment);
        return true;
      });
  if (!status.ok())
    return status;
  return solution;
}

std::string printSolution(const Problem &problem, const Solution &solution) {
  return writeSolution("routing", "net", problem.nets, solution.segmentsOf, [](const std::vector<Segment> &segments) {
    std::string text;
    for (const Segment &segment : segments)
      absl::StrAppend(&text, "\n", segmentText("segment", segment));
    return text;
  });
}

} // namespace wsc::solver::routing
