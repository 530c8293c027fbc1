// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text form of problems of alternatives and their solutions.
#include "compiler/solver/Alternatives.h"
#include "compiler/solver/Text.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::solver::alternatives {

static Load readLoad(LineReader &in) {
  Load load;
  load.segment.row = in.integer32("row");
  load.segment.col = in.integer32("column");
  load.segment.rowEnd = in.integer32("end row");
  load.segment.colEnd = in.integer32("end column");
  load.wordsPerSample = in.integer("words");
  return load;
}

static void printLoad(const char *keyword, const Load &load, std::string &text) {
  const routing::Segment &s = load.segment;
  absl::StrAppend(&text, keyword, " ", s.row, " ", s.col, " ", s.rowEnd, " ", s.colEnd, " ", load.wordsPerSample, "\n");
}

absl::StatusOr<Problem> parseProblem(const std::string &text) {
  LineReader in(text, "wsc-problem", "alternatives");
  Problem problem;
  while (in.next()) {
    if (in.keyword() == "mesh") {
      problem.rows = in.integer32("rows");
      problem.cols = in.integer32("columns");
    } else if (in.keyword() == "capacity") {
      problem.linkCapacityWords = in.integer("capacity");
    } else if (in.keyword() == "fixed") {
      problem.fixed.push_back(readLoad(in));
    } else if (in.keyword() == "item") {
      problem.items.push_back({in.word("name"), {}});
    } else if (in.keyword() == "option") {
      Option option;
      option.tag = in.word("tag");
      option.cost = in.integer("cost");
      if (problem.items.empty())
        in.fail("'option' before the first 'item'");
      else
        problem.items.back().options.push_back(option);
    } else if (in.keyword() == "load") {
      const Load load = readLoad(in);
      if (problem.items.empty() || problem.items.back().options.empty())
        in.fail("'load' before the first 'option'");
      else
        problem.items.back().options.back().loads.push_back(load);
    } else {
      in.failKeyword("'mesh', 'capacity', 'fixed', 'item', 'option' or 'load'");
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
  std::string text = absl::StrCat("wsc-problem alternatives 1\nmesh ", problem.rows, " ", problem.cols, "\ncapacity ",
                                  problem.linkCapacityWords, "\n");
  for (const Load &load : problem.fixed)
    printLoad("fixed", load, text);
  for (const Item &item : problem.items) {
    absl::StrAppend(&text, "item ", quoted(item.name), "\n");
    for (const Option &option : item.options) {
      absl::StrAppend(&text, "option ", quoted(option.tag), " ", option.cost, "\n");
      for (const Load &load : option.loads)
        printLoad("load", load, text);
    }
  }
  return text;
}

absl::StatusOr<Solution> parseSolution(const std::string &text, const Problem &problem) {
  LineReader in(text, "wsc-solution", "alternatives");
  Solution solution;
  while (in.next()) {
    const size_t i = solution.optionOf.size();
    expectEntry(in, "item", i, problem.items.size(), i < problem.items.size() ? problem.items[i].name : "");
    solution.optionOf.push_back(in.integer32("option"));
    in.endLine();
  }
  if (!in.ok())
    return in.status();
  return solution;
}

std::string printSolution(const Problem &problem, const Solution &solution) {
  std::string text = "wsc-solution alternatives 1\n";
  for (size_t i = 0; i < std::min(problem.items.size(), solution.optionOf.size()); ++i)
    absl::StrAppend(&text, "item ", quoted(problem.items[i].name), " ", solution.optionOf[i], "\n");
  return text;
}

} // namespace wsc::solver::alternatives
