// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text form of placement problems and solutions.
#include "compiler/solver/Placement.h"
#include "compiler/solver/Text.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::solver::placement {

absl::StatusOr<Problem> parseProblem(const std::string &text) {
  LineReader in(text, "wsc-problem", "placement");
  Problem problem;
  while (in.next()) {
    if (in.keyword() == "mesh") {
      problem.rows = in.integer32("rows");
      problem.cols = in.integer32("columns");
    } else if (in.keyword() == "kernel") {
      Kernel kernel;
      kernel.name = in.word("name");
      kernel.rows = in.integer32("rows");
      kernel.cols = in.integer32("columns");
      if (in.accept("pin"))
        kernel.pinnedCol = in.integer32("pinned column");
      problem.kernels.push_back(kernel);
    } else if (in.keyword() == "edge") {
      Edge edge;
      edge.from = in.integer32("sender");
      edge.to = in.integer32("receiver");
      edge.wordsPerSample = in.integer("words");
      edge.eastward = in.accept("east");
      problem.edges.push_back(edge);
    } else {
      in.failKeyword("'mesh', 'kernel' or 'edge'");
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
  std::string text = absl::StrCat("wsc-problem placement 1\nmesh ", problem.rows, " ", problem.cols, "\n");
  for (const Kernel &kernel : problem.kernels) {
    absl::StrAppend(&text, "kernel ", quoted(kernel.name), " ", kernel.rows, " ", kernel.cols);
    if (kernel.pinnedCol)
      absl::StrAppend(&text, " pin ", *kernel.pinnedCol);
    absl::StrAppend(&text, "\n");
  }
  for (const Edge &edge : problem.edges)
    absl::StrAppend(&text, "edge ", edge.from, " ", edge.to, " ", edge.wordsPerSample,
                    edge.eastward ? " east\n" : "\n");
  return text;
}

absl::StatusOr<Solution> parseSolution(const std::string &text, const Problem &problem) {
  LineReader in(text, "wsc-solution", "placement");
  Solution solution;
  while (in.next()) {
    size_t k = solution.places.size();
    expectEntry(in, "kernel", k, problem.kernels.size(), k < problem.kernels.size() ? problem.kernels[k].name : "");
    Place place;
    place.row = in.integer32("row");
    place.col = in.integer32("column");
    solution.places.push_back(place);
    in.endLine();
  }
  if (!in.ok())
    return in.status();
  return solution;
}

std::string printSolution(const Problem &problem, const Solution &solution) {
  std::string text = "wsc-solution placement 1\n";
  for (size_t k = 0; k < std::min(problem.kernels.size(), solution.places.size()); ++k)
    absl::StrAppend(&text, "kernel ", quoted(problem.kernels[k].name), " ", solution.places[k].row, " ",
                    solution.places[k].col, "\n");
  return text;
}

} // namespace wsc::solver::placement
