// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text form of colouring problems and solutions.
#include "compiler/solver/Colouring.h"
#include "compiler/solver/Text.h"

#include "absl/strings/str_cat.h"

namespace wsc::solver::colouring {

absl::StatusOr<Problem> parseProblem(const std::string &text) {
  return readProblem<Problem>(text, "colouring",
                              {{"mesh",
                                [](LineReader &in, Problem &problem) {
                                  problem.rows = in.integer32("rows");
                                  problem.cols = in.integer32("columns");
                                }},
                               {"colours",
                                [](LineReader &in, Problem &problem) {
                                  while (in.hasMore())
                                    problem.colours.push_back(in.integer32("colour"));
                                }},
                               {"item",
                                [](LineReader &in, Problem &problem) {
                                  Item item;
                                  item.name = in.word("name");
                                  if (in.accept("fixed"))
                                    item.fixedColour = in.integer32("fixed colour");
                                  problem.items.push_back(item);
                                }},
                               {"rect", [](LineReader &in, Problem &problem) {
                                  Rectangle rect;
                                  rect.rowBegin = in.integer32("first row");
                                  rect.rowEnd = in.integer32("end row");
                                  rect.colBegin = in.integer32("first column");
                                  rect.colEnd = in.integer32("end column");
                                  if (in.accept("step"))
                                    rect.rowStep = in.integer32("row step");
                                  if (Item *item = in.lastOf(problem.items, "item"))
                                    item->rectangles.push_back(rect);
                                }}});
}

std::string printProblem(const Problem &problem) {
  std::string text = absl::StrCat("wsc-problem colouring 1\nmesh ", problem.rows, " ", problem.cols, "\ncolours");
  for (int32_t colour : problem.colours)
    absl::StrAppend(&text, " ", colour);
  absl::StrAppend(&text, "\n");
  for (const Item &item : problem.items) {
    absl::StrAppend(&text, "item ", quoted(item.name));
    if (item.fixedColour)
      absl::StrAppend(&text, " fixed ", *item.fixedColour);
    absl::StrAppend(&text, "\n");
    for (const Rectangle &rect : item.rectangles) {
      absl::StrAppend(&text, "rect ", rect.rowBegin, " ", rect.rowEnd, " ", rect.colBegin, " ", rect.colEnd);
      if (rect.rowStep != 1)
        absl::StrAppend(&text, " step ", rect.rowStep);
      absl::StrAppend(&text, "\n");
    }
  }
  return text;
}

absl::StatusOr<Solution> parseSolution(const std::string &text, const Problem &problem) {
  Solution solution;
  absl::Status status = readSolution(text, "colouring", "item", problem.items,
                                     [&](LineReader &in) { solution.colourOf.push_back(in.integer32("colour")); });
  if (!status.ok())
    return status;
  return solution;
}

std::string printSolution(const Problem &problem, const Solution &solution) {
  return writeSolution("colouring", "item", problem.items, solution.colourOf,
                       [](int32_t colour) { return absl::StrCat(" ", colour); });
}

} // namespace wsc::solver::colouring
