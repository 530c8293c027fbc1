// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text form of colouring problems and solutions.
#include "compiler/solver/Colouring.h"
#include "compiler/solver/Text.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::solver::colouring {

absl::StatusOr<Problem> parseProblem(const std::string &text) {
  LineReader in(text, "wsc-problem", "colouring");
  Problem problem;
  while (in.next()) {
    if (in.keyword() == "mesh") {
      problem.rows = in.integer32("rows");
      problem.cols = in.integer32("columns");
    } else if (in.keyword() == "colours") {
      while (in.hasMore())
        problem.colours.push_back(in.integer32("colour"));
    } else if (in.keyword() == "item") {
      Item item;
      item.name = in.word("name");
      if (in.accept("fixed"))
        item.fixedColour = in.integer32("fixed colour");
      problem.items.push_back(item);
    } else if (in.keyword() == "rect") {
      Rectangle rect;
      rect.rowBegin = in.integer32("first row");
      rect.rowEnd = in.integer32("end row");
      rect.colBegin = in.integer32("first column");
      rect.colEnd = in.integer32("end column");
      if (in.accept("step"))
        rect.rowStep = in.integer32("row step");
      if (problem.items.empty())
        in.fail("'rect' before the first 'item'");
      else
        problem.items.back().rectangles.push_back(rect);
    } else {
      in.failKeyword("'mesh', 'colours', 'item' or 'rect'");
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
  LineReader in(text, "wsc-solution", "colouring");
  Solution solution;
  while (in.next()) {
    size_t i = solution.colourOf.size();
    expectEntry(in, "item", i, problem.items.size(), i < problem.items.size() ? problem.items[i].name : "");
    solution.colourOf.push_back(in.integer32("colour"));
    in.endLine();
  }
  if (!in.ok())
    return in.status();
  return solution;
}

std::string printSolution(const Problem &problem, const Solution &solution) {
  std::string text = "wsc-solution colouring 1\n";
  for (size_t i = 0; i < std::min(problem.items.size(), solution.colourOf.size()); ++i)
    absl::StrAppend(&text, "item ", quoted(problem.items[i].name), " ", solution.colourOf[i], "\n");
  return text;
}

} // namespace wsc::solver::colouring
