// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text form of problems of alternatives and their solutions.
#include "compiler/solver/Alternatives.h"
#include "compiler/solver/SegmentText.h"

#include "absl/strings/str_cat.h"

namespace wsc::solver::alternatives {

static Load readLoad(LineReader &in) {
  const routing::FixedLoad load = routing::readLoad(in);
  return {load.segment, load.wordsPerSample};
}

static std::string loadText(const char *keyword, const Load &load) {
  std::string text;
  for (int32_t row = 0; row < load.rowsAlike; ++row) {
    routing::Segment s = load.segment;
    s.row += row;
    s.rowEnd += row;
    text += routing::loadText(keyword, {s, load.wordsPerSample});
  }
  return text;
}

absl::StatusOr<Problem> parseProblem(const std::string &text) {
  return readProblem<Problem>(
      text, "alternatives",
      {{"mesh",
        [](LineReader &in, Problem &problem) {
          problem.rows = in.integer32("rows");
          problem.cols = in.integer32("columns");
        }},
       {"capacity", [](LineReader &in, Problem &problem) { problem.linkCapacityWords = in.integer("capacity"); }},
       {"fixed", [](LineReader &in, Problem &problem) { problem.fixed.push_back(readLoad(in)); }},
       {"item", [](LineReader &in, Problem &problem) { problem.items.push_back({in.word("name"), {}}); }},
       {"option",
        [](LineReader &in, Problem &problem) {
          Option option;
          option.tag = in.word("tag");
          option.cost = in.integer("cost");
          if (Item *item = in.lastOf(problem.items, "item"))
            item->options.push_back(option);
        }},
       {"load", [](LineReader &in, Problem &problem) {
          const Load load = readLoad(in);
          if (Item *item = in.lastOf(problem.items, "item"))
            if (Option *option = in.lastOf(item->options, "option"))
              option->loads.push_back(load);
        }}});
}

std::string printProblem(const Problem &problem) {
  std::string text = absl::StrCat("wsc-problem alternatives 1\nmesh ", problem.rows, " ", problem.cols, "\ncapacity ",
                                  problem.linkCapacityWords, "\n");
  for (const Load &load : problem.fixed)
    text += loadText("fixed", load);
  for (const Item &item : problem.items) {
    absl::StrAppend(&text, "item ", quoted(item.name), "\n");
    for (const Option &option : item.options) {
      absl::StrAppend(&text, "option ", quoted(option.tag), " ", option.cost, "\n");
      for (const Load &load : option.loads)
        text += loadText("load", load);
    }
  }
  return text;
}

absl::StatusOr<Solution> parseSolution(const std::string &text, const Problem &problem) {
  Solution solution;
  absl::Status status = readSolution(text, "alternatives", "item", problem.items,
                                     [&](LineReader &in) { solution.optionOf.push_back(in.integer32("option")); });
  if (!status.ok())
    return status;
  return solution;
}

std::string printSolution(const Problem &problem, const Solution &solution) {
  return writeSolution("alternatives", "item", problem.items, solution.optionOf,
                       [](int32_t option) { return absl::StrCat(" ", option); });
}

} // namespace wsc::solver::alternatives
