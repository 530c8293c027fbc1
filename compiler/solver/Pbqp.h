// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PBQP, the partitioned Boolean quadratic problem: each node takes one of its options, so that the costs of the options
// and the costs of the pairs of options that edges name are together the least. Register allocation and the choice of
// layouts along a network have this form (Scholz, Eckstein, "Register Allocation for Irregular Architectures", LCTES
// 2002; Hames, Scholz, "Nearly Optimal Register Allocation with PBQP", JMLC 2006).
#pragma once

#include "compiler/solver/Stats.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <string>
#include <vector>

namespace wsc::solver::pbqp {

struct Node {
  std::string name;
  std::vector<int64_t> costs; // of its options, at least one
};

struct Edge {
  int32_t a = -1, b = -1;     // two nodes; several edges may join the same two
  std::vector<int64_t> costs; // row-major: options of a × options of b
};

// At most 2^20 nodes, 2^10 options of a node, costs from 0 to 2^52 and 2^60 over all of them.
struct Problem {
  std::vector<Node> nodes;
  std::vector<Edge> edges;

  // InvalidArgument: sizes or costs outside their limits, an edge of one node only or of none, costs that are not as
  // many as its nodes have pairs of options.
  absl::Status check() const;
};

struct Solution {
  std::vector<int32_t> optionOf; // per node

  // FailedPrecondition: a node without an option, or with one it does not have.
  absl::Status verify(const Problem &problem) const;
};

// Reductions: a node with no, one or two neighbours goes into their costs, which changes nothing about the least total;
// where every node left has three and more, the one with the most takes the option that is the cheapest with its
// neighbours' cheapest answers. Then single nodes choose again until none gains. O(nodes · options³); optimal where the
// graph is series-parallel. Errors: what check() says.
absl::StatusOr<Solution> solve(const Problem &problem);

// Value: the total cost. Bound: the same reductions, but a node with three and more neighbours counts as the cheapest
// of its options with each neighbour's cheapest answer, and its edges go; equal to the value where no node has that.
Stats evaluate(const Problem &problem, const Solution &solution);

// Text: `wsc-problem pbqp 1`, `node NAME COST…` with one cost per option, then `edge A B COST…` (nodes counted from 0).
// Solutions: `wsc-solution pbqp 1`, then `node NAME OPTION` per node in order (options counted from 0).
absl::StatusOr<Problem> parseProblem(const std::string &text);
std::string printProblem(const Problem &problem);
absl::StatusOr<Solution> parseSolution(const std::string &text, const Problem &problem);
std::string printSolution(const Problem &problem, const Solution &solution);

} // namespace wsc::solver::pbqp
