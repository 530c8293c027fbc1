// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PBQP: value and bound against every choice of tiny problems; optimal where the graph is series-parallel; refusals.
#include "compiler/solver/Pbqp.h"
#include "test/unit/solver/TestUtil.h"

#include <algorithm>

using namespace wsc::solver;
using namespace wsc::solver::pbqp;
using test::message;

namespace {

Problem randomNodes(test::Random &random, int nodes, int mostOptions) {
  Problem problem;
  for (int n = 0; n < nodes; ++n) {
    Node node{"n" + std::to_string(n), {}};
    for (int o = random.in(1, mostOptions); o > 0; --o)
      node.costs.push_back(random.in(0, 20));
    problem.nodes.push_back(node);
  }
  return problem;
}

void addEdge(test::Random &random, Problem &problem, int32_t a, int32_t b) {
  Edge edge{a, b, {}};
  for (size_t pair = problem.nodes[size_t(a)].costs.size() * problem.nodes[size_t(b)].costs.size(); pair > 0; --pair)
    edge.costs.push_back(random.in(0, 30));
  problem.edges.push_back(edge);
}

int64_t leastOfAll(const Problem &problem) {
  Solution choice{std::vector<int32_t>(problem.nodes.size(), 0)};
  int64_t least = INT64_MAX;
  for (size_t at = 0; at < problem.nodes.size();) {
    least = std::min(least, evaluate(problem, choice).value);
    for (at = 0; at < problem.nodes.size(); ++at) { // counts up
      if (++choice.optionOf[at] < int32_t(problem.nodes[at].costs.size()))
        break;
      choice.optionOf[at] = 0;
    }
  }
  return least;
}

} // namespace

// Networks as they come: each layer reads one or two of those shortly before it.
TEST(Pbqp, AgainstEveryChoice) {
  test::Random random(3);
  int least = 0, proven = 0;
  constexpr int kRounds = 200;
  for (int round = 0; round < kRounds; ++round) {
    Problem problem = randomNodes(random, random.in(2, 7), 3);
    for (int32_t n = 1; n < int32_t(problem.nodes.size()); ++n)
      for (int reads = random.in(1, 3); reads > 0; --reads)
        addEdge(random, problem, random.in(std::max(0, n - 4), n - 1), n);
    const absl::StatusOr<Solution> solution = solve(problem);
    ASSERT_TRUE(solution.ok()) << message(solution.status());
    ASSERT_TRUE(solution->verify(problem).ok());
    const Stats stats = evaluate(problem, *solution);
    const int64_t best = leastOfAll(problem);
    EXPECT_GE(stats.value, best) << printProblem(problem);
    EXPECT_LE(stats.lowerBound, best) << printProblem(problem);
    least += stats.value == best;
    proven += stats.value == stats.lowerBound;
  }
  std::printf("least in %d of %d, proven in %d\n", least, kRounds, proven);
  EXPECT_GE(least, kRounds * 9 / 10);
  EXPECT_GE(proven, kRounds / 3);
}

// A chain whose layers also read the one before the last but one's twin: built by putting nodes between two that an
// edge joins, or beside that edge.
TEST(Pbqp, SeriesParallelGraphsAreSolvedExactly) {
  test::Random random(4);
  for (int round = 0; round < 100; ++round) {
    Problem problem = randomNodes(random, 8, 3);
    std::vector<std::pair<int32_t, int32_t>> joined{{0, 1}};
    for (int32_t n = 2; n < 8; ++n) {
      const size_t at = size_t(random.in(0, int32_t(joined.size()) - 1));
      const auto [a, b] = joined[at];
      if (random.in(0, 1))
        joined.erase(joined.begin() + int64_t(at)); // in series: the edge itself goes
      joined.emplace_back(a, n);
      joined.emplace_back(n, b);
    }
    for (const auto &[a, b] : joined)
      addEdge(random, problem, a, b);
    const absl::StatusOr<Solution> solution = solve(problem);
    ASSERT_TRUE(solution.ok()) << message(solution.status());
    const Stats stats = evaluate(problem, *solution);
    EXPECT_EQ(stats.value, stats.lowerBound) << printProblem(problem);
    EXPECT_EQ(stats.value, leastOfAll(problem)) << printProblem(problem);
  }
}

TEST(Pbqp, SingleNodesAndSeveralEdgesOfTwoNodes) {
  Problem alone{{{"a", {5, 3, 4}}}, {}};
  EXPECT_EQ(solve(alone)->optionOf, std::vector<int32_t>{1});
  // Each edge alone wants equal options, both together unequal ones.
  Problem both{{{"a", {0, 1}}, {"b", {0, 0}}}, {{0, 1, {0, 9, 9, 0}}, {1, 0, {10, 0, 0, 10}}}};
  const Solution solution = *solve(both);
  EXPECT_EQ(evaluate(both, solution).value, 9);
  EXPECT_EQ(solve(Problem{})->optionOf.size(), 0u);
}

TEST(Pbqp, WhatIsRefused) {
  auto refusal = [](const Problem &problem) { return message(solve(problem).status()); };
  EXPECT_EQ(refusal({{{"a", {}}}, {}}), "pbqp: node a has 0 options, must be 1 to 2^10");
  EXPECT_EQ(refusal({{{"a", {-1}}}, {}}), "pbqp: node a has a cost outside 0 to 2^52");
  EXPECT_EQ(refusal({{{"a", {1}}, {"b", {1, 2}}}, {{0, 2, {}}}}), "pbqp: edge 0 2: no node 2, there are 2");
  EXPECT_EQ(refusal({{{"a", {1}}}, {{0, 0, {1}}}}), "pbqp: edge 0 0 joins a node with itself");
  EXPECT_EQ(refusal({{{"a", {1}}, {"b", {1, 2}}}, {{0, 1, {7}}}}),
            "pbqp: edge 0 1 has 1 costs, its nodes have 2 pairs of options");
  const int64_t most = int64_t(1) << 52;
  Problem large{std::vector<Node>(300, Node{"a", {most}}), {}};
  EXPECT_EQ(refusal(large), "pbqp: costs may sum up to more than 2^60");
  const Problem one{{{"a", {1}}}, {}};
  EXPECT_EQ(message(Solution{{}}.verify(one)), "pbqp: options for 0 of 1 nodes");
  EXPECT_EQ(message(Solution{{1}}.verify(one)), "pbqp: node a has no option 1, it has 1");
}

// A chain of 100 layers with skips, 64 options each.
TEST(Pbqp, LargeNetworksTakeMilliseconds) {
  test::Random random(5);
  Problem problem;
  for (int n = 0; n < 100; ++n) {
    Node &node = problem.nodes.emplace_back();
    node.name = "n" + std::to_string(n);
    for (int o = 0; o < 64; ++o)
      node.costs.push_back(random.in(0, 1000));
  }
  for (int32_t n = 1; n < 100; ++n) {
    addEdge(random, problem, n - 1, n);
    if (n % 3 == 0)
      addEdge(random, problem, n - 3, n);
  }
  absl::StatusOr<Solution> solution = absl::InternalError("");
  test::milliseconds("100 layers of 64 options", [&] { solution = solve(problem); });
  ASSERT_TRUE(solution.ok());
  const Stats stats = evaluate(problem, *solution);
  EXPECT_EQ(stats.value, stats.lowerBound);
}
