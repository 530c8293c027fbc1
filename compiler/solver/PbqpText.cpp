// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The text form of PBQP problems and their solutions.
#include "compiler/solver/Pbqp.h"
#include "compiler/solver/Text.h"

#include "absl/strings/str_cat.h"

namespace wsc::solver::pbqp {

static std::vector<int64_t> readCosts(LineReader &in) {
  std::vector<int64_t> costs;
  while (in.hasMore())
    costs.push_back(in.integer("cost"));
  return costs;
}

static std::string costsText(const std::vector<int64_t> &costs) {
  std::string text;
  for (int64_t cost : costs)
    absl::StrAppend(&text, " ", cost);
  return text + "\n";
}

absl::StatusOr<Problem> parseProblem(const std::string &text) {
  return readProblem<Problem>(text, "pbqp",
                              {{"node",
                                [](LineReader &in, Problem &problem) {
                                  Node node{in.word("name"), {}};
                                  node.costs = readCosts(in);
                                  problem.nodes.push_back(std::move(node));
                                }},
                               {"edge", [](LineReader &in, Problem &problem) {
                                  Edge edge;
                                  edge.a = in.integer32("node");
                                  edge.b = in.integer32("node");
                                  edge.costs = readCosts(in);
                                  problem.edges.push_back(std::move(edge));
                                }}});
}

std::string printProblem(const Problem &problem) {
  std::string text = "wsc-problem pbqp 1\n";
  for (const Node &node : problem.nodes)
    absl::StrAppend(&text, "node ", quoted(node.name), costsText(node.costs));
  for (const Edge &edge : problem.edges)
    absl::StrAppend(&text, "edge ", edge.a, " ", edge.b, costsText(edge.costs));
  return text;
}

absl::StatusOr<Solution> parseSolution(const std::string &text, const Problem &problem) {
  Solution solution;
  absl::Status status = readSolution(text, "pbqp", "node", problem.nodes,
                                     [&](LineReader &in) { solution.optionOf.push_back(in.integer32("option")); });
  if (!status.ok())
    return status;
  return solution;
}

std::string printSolution(const Problem &problem, const Solution &solution) {
  return writeSolution("pbqp", "node", problem.nodes, solution.optionOf,
                       [](int32_t option) { return absl::StrCat(" ", option); });
}

} // namespace wsc::solver::pbqp
