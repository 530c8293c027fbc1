// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text form of placement problems and solutions.
#include "compiler/solver/Placement.h"
#include "compiler/solver/Text.h"

#include "absl/strings/str_cat.h"

namespace wsc::solver::placement {

absl::StatusOr<Problem> parseProblem(const std::string &text) {
  return readProblem<Problem>(text, "placement",
                              {{"mesh",
                                [](LineReader &in, Problem &problem) {
                                  problem.rows = in.integer32("rows");
                                  problem.cols = in.integer32("columns");
                                }},
                               {"kernel",
                                [](LineReader &in, Problem &problem) {
                                  Kernel kernel;
                                  kernel.name = in.word("name");
                                  kernel.rows = in.integer32("rows");
                                  kernel.cols = in.integer32("columns");
                                  if (in.accept("pin"))
                                    kernel.pinnedCol = in.integer32("pinned column");
                                  problem.kernels.push_back(kernel);
                                }},
                               {"edge", [](LineReader &in, Problem &problem) {
                                  Edge edge;
                                  edge.from = in.integer32("sender");
                                  edge.to = in.integer32("receiver");
                                  edge.wordsPerSample = in.integer("words");
                                  edge.eastward = in.accept("east");
                                  problem.edges.push_back(edge);
                                }}});
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
  Solution solution;
  absl::Status status = readSolution(text, "placement", "kernel", problem.kernels, [&](LineReader &in) {
    Place place;
    place.row = in.integer32("row");
    place.col = in.integer32("column");
    solution.places.push_back(place);
  });
  if (!status.ok())
    return status;
  return solution;
}

std::string printSolution(const Problem &problem, const Solution &solution) {
  return writeSolution("placement", "kernel", problem.kernels, solution.places,
                       [](const Place &place) { return absl::StrCat(" ", place.row, " ", place.col); });
}

} // namespace wsc::solver::placement
