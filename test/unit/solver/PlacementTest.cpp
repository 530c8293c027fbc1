// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Placement: against exhaustive search over orders, refusals and messages, and a deep network.
#include "compiler/solver/Placement.h"
#include "test/support/Sanitizers.h"
#include "test/unit/solver/TestUtil.h"

#include <algorithm>
#include <numeric>

using namespace wsc::solver;
using namespace wsc::solver::placement;
using test::message;

namespace {

int64_t costOf(const Problem &problem, const std::vector<int32_t> &cols) {
  int64_t cost = 0;
  for (const Edge &edge : problem.edges) {
    int64_t lastCol = cols[edge.from] + problem.kernels[edge.from].cols - 1;
    cost += edge.wordsPerSample * std::abs(cols[edge.to] - lastCol);
  }
  return cost;
}

// Least cost over all columns for all kernels; -1: none legal.
int64_t exhaustive(const Problem &problem, std::vector<int32_t> &cols) {
  size_t k = cols.size();
  if (k == problem.kernels.size()) {
    for (const Edge &edge : problem.edges)
      if (edge.eastward && cols[edge.to] < cols[edge.from] + problem.kernels[edge.from].cols)
        return -1;
    return costOf(problem, cols);
  }
  int64_t best = -1;
  const Kernel &kernel = problem.kernels[k];
  for (int32_t col = 0; col + kernel.cols <= problem.cols; ++col) {
    bool legal = !kernel.pinnedCol || *kernel.pinnedCol == col;
    for (size_t j = 0; j < k; ++j)
      legal &= col + kernel.cols <= cols[j] || cols[j] + problem.kernels[j].cols <= col;
    if (!legal)
      continue;
    cols.push_back(col);
    int64_t cost = exhaustive(problem, cols);
    cols.pop_back();
    if (cost >= 0 && (best < 0 || cost < best))
      best = cost;
  }
  return best;
}

Problem chain() { return {8, 10, {{"a", 8, 3, {}}, {"b", 4, 2, {}}, {"c", 8, 4, {}}}, {{0, 1, 10}, {1, 2, 20}}}; }

TEST(Placement, LiesBetweenBoundAndExhaustiveSearch) {
  test::Random random(1);
  int feasible = 0, optimal = 0, withPins = 0, directed = 0;
  for (int round = 0; round < 500; ++round) {
    Problem problem{2, random.in(6, 9), {}, {}};
    int kernels = random.in(2, 5);
    for (int k = 0; k < kernels; ++k)
      problem.kernels.push_back({"k" + std::to_string(k), random.in(1, 2), random.in(1, 3), {}});
    if (random.in(0, 2) == 0)
      for (int pin = 0, pins = random.in(1, 2); pin < pins; ++pin) {
        Kernel &kernel = problem.kernels[random.in(0, kernels - 1)];
        kernel.pinnedCol = random.in(0, 2) ? random.in(0, 3) : problem.cols - kernel.cols;
        if (!problem.check().ok())
          kernel.pinnedCol.reset();
      }
    for (int e = 0, edges = random.in(1, 7); e < edges; ++e) {
      int from = random.in(0, kernels - 1), to = random.in(0, kernels - 2);
      problem.edges.push_back({from, to + (to >= from), random.in(0, 9)});
    }
    // Every other time edges that lead forward in the list, or most of them, must flow east.
    bool eastward = false;
    for (Edge &edge : problem.edges)
      eastward |= edge.eastward = round % 2 == 1 && edge.from < edge.to && random.in(0, 3) > 0;
    ASSERT_TRUE(problem.check().ok()) << message(problem.check());
    std::vector<int32_t> partial;
    int64_t optimum = exhaustive(problem, partial);
    absl::StatusOr<Solution> inOrder = solveInOrder(problem), local = solveLocalSearch(problem),
                             restarts = solveRestarts(problem, uint64_t(round), 4);
    ASSERT_EQ(inOrder.ok(), local.ok());
    ASSERT_EQ(inOrder.ok(), restarts.ok());
    if (!inOrder.ok()) {
      // Pins can leave gaps that first fit does not fill; without pins a refusal means that there is no solution.
      bool pinned = std::any_of(problem.kernels.begin(), problem.kernels.end(),
                                [](const Kernel &kernel) { return kernel.pinnedCol.has_value(); });
      EXPECT_TRUE(optimum < 0 || pinned) << printProblem(problem);
      continue;
    }
    ++feasible;
    EXPECT_TRUE(inOrder->verify(problem).ok()) << message(inOrder->verify(problem));
    EXPECT_TRUE(local->verify(problem).ok()) << message(local->verify(problem));
    Stats first = evaluate(problem, *inOrder), second = evaluate(problem, *local);
    EXPECT_LE(second.value, first.value);
    EXPECT_TRUE(restarts->verify(problem).ok()) << message(restarts->verify(problem));
    EXPECT_LE(evaluate(problem, *restarts).value, second.value);
    EXPECT_GE(second.value, optimum) << printProblem(problem);
    EXPECT_LE(second.lowerBound, optimum) << printProblem(problem);
    EXPECT_EQ(first.lowerBound, second.lowerBound);
    optimal += second.value == optimum;
    bool pinned = std::any_of(problem.kernels.begin(), problem.kernels.end(),
                              [](const Kernel &kernel) { return kernel.pinnedCol.has_value(); });
    absl::StatusOr<Solution> exact = solveExact(problem);
    EXPECT_EQ(exact.ok(), !pinned);
    if (exact.ok()) {
      EXPECT_TRUE(exact->verify(problem).ok());
      EXPECT_EQ(evaluate(problem, *exact).value, optimum) << printProblem(problem);
      EXPECT_EQ(second.lowerBound, optimum) << "exact without pins";
    }
    withPins += pinned;
    directed += eastward;
  }
  std::printf("%d feasible (%d with a pin, %d with edges that must flow east), %d of them solved optimally\n", feasible,
              withPins, directed, optimal);
  EXPECT_GE(directed, 100);
  EXPECT_GE(feasible, 200);
  EXPECT_GE(withPins, 30);
}

TEST(Placement, OrderFollowsEdgesAndElseTheList) {
  Problem problem = chain();
  EXPECT_EQ(dataflowOrder(problem), (std::vector<int32_t>{0, 1, 2}));
  problem.edges = {{2, 0, 1}};
  EXPECT_EQ(dataflowOrder(problem), (std::vector<int32_t>{1, 2, 0}));
  problem.edges = {{0, 1, 1}, {1, 0, 1}, {1, 2, 1}};
  EXPECT_EQ(dataflowOrder(problem), (std::vector<int32_t>{0, 1, 2}));
}

TEST(Placement, StripsPackFromTheWestAroundPins) {
  Problem problem = chain();
  absl::StatusOr<Solution> solution = solveInOrder(problem);
  ASSERT_TRUE(solution.ok());
  EXPECT_EQ(solution->places[0].col, 0);
  EXPECT_EQ(solution->places[1].col, 3);
  EXPECT_EQ(solution->places[2].col, 5);
  EXPECT_EQ(evaluate(problem, *solution).value, 30);
  EXPECT_EQ(evaluate(problem, *solution).lowerBound, 30);
  problem.kernels[0].pinnedCol = 4;
  problem.kernels[2].cols = 3;
  solution = solveInOrder(problem);
  ASSERT_TRUE(solution.ok());
  EXPECT_EQ(solution->places[0].col, 4);
  EXPECT_EQ(solution->places[1].col, 7);
  EXPECT_EQ(solution->places[2].col, 0);
}

TEST(Placement, WrongSolutionsAreRefused) {
  Problem problem = chain();
  problem.kernels[2].pinnedCol = 6;
  EXPECT_TRUE((Solution{{{0, 0}, {4, 4}, {0, 6}}}.verify(problem).ok()));
  EXPECT_EQ(message(Solution{{{0, 0}}}.verify(problem)), "placement: solution has 1 places for 3 kernels");
  EXPECT_EQ(message(Solution{{{0, 0}, {5, 4}, {0, 6}}}.verify(problem)),
            "placement: kernel b of 4x2 cores at (5, 4) leaves mesh 8x10");
  EXPECT_EQ(message(Solution{{{0, 0}, {0, 3}, {0, 5}}}.verify(problem)),
            "placement: kernel c is at column 5, but pinned to 6");
  EXPECT_EQ(message(Solution{{{0, 0}, {0, 2}, {0, 6}}}.verify(problem)),
            "placement: kernels a and b both stand on column 2");
  problem = chain();
  problem.edges[1].eastward = true;
  EXPECT_EQ(message(Solution{{{0, 0}, {0, 8}, {0, 4}}}.verify(problem)),
            "placement: edge b -> c must flow east, but columns 8 and 4 make it flow west");
}

TEST(Placement, WrongProblemsAndFailuresSayWhy) {
  Problem problem = chain();
  problem.cols = 8;
  EXPECT_EQ(message(solveInOrder(problem).status()),
            "kernel c finds no 4 free columns; all kernels need 9 columns, the mesh has 8; the widest: c 4, a 3, b 2; "
            "choose narrower kernels or a larger mesh");
  problem = chain();
  problem.kernels[1].pinnedCol = 3;
  problem.kernels[0].cols = 4;
  EXPECT_EQ(message(solveInOrder(problem).status()),
            "kernel c finds no 4 free columns; all kernels need 10 columns, the mesh has 10; the widest: a 4, c 4, b "
            "2; the gaps between pinned kernels are too narrow: move or drop pins");
  problem.kernels[0].pinnedCol = 1;
  EXPECT_EQ(message(problem.check()), "placement: kernels a and b are both pinned to column 3");
  problem.kernels[0].pinnedCol = 7;
  EXPECT_EQ(message(problem.check()), "placement: kernel a is pinned to columns [7, 11), the mesh has 10");
  problem = chain();
  problem.edges.push_back({1, 1, 5});
  EXPECT_EQ(message(problem.check()),
            "placement: edge 1 -> 1 of 5 words must join two of 3 kernels with 0 to 16777216 words");
  problem = chain();
  problem.edges = {{0, 1, 10, true}, {1, 2, 20, false}, {1, 0, 3, true}};
  EXPECT_EQ(message(problem.check()),
            "placement: eastward edge b -> a closes a circle; in a circle some edge must flow west");
  problem.edges = {{0, 1, 10, true}};
  problem.kernels[1].pinnedCol = 1;
  EXPECT_EQ(message(solveInOrder(problem).status()),
            "edge a -> b must flow east, which the columns left by pinned kernels do not allow; move or drop pins");
}

TEST(Placement, MoreStartsAreNeverWorseAndTheSameSeedGivesTheSame) {
  // Branches that rejoin: the order of the branches is free.
  test::Random random(3);
  Problem problem{8, 400, {}, {}};
  for (int k = 0; k < 30; ++k) {
    problem.kernels.push_back({"k" + std::to_string(k), 8, random.in(1, 9), {}});
    for (int e = 0; k > 0 && e < 2; ++e)
      problem.edges.push_back({random.in(std::max(0, k - 6), k - 1), k, random.in(1, 1000), true});
  }
  int64_t last = evaluate(problem, *solveLocalSearch(problem)).value;
  const int64_t local = last;
  for (int32_t starts : {1, 4, 16}) {
    const absl::StatusOr<Solution> solution = solveRestarts(problem, 7, starts);
    ASSERT_TRUE(solution.ok());
    ASSERT_TRUE(solution->verify(problem).ok());
    EXPECT_EQ(printSolution(problem, *solution), printSolution(problem, *solveRestarts(problem, 7, starts)));
    const int64_t value = evaluate(problem, *solution).value;
    EXPECT_LE(value, last);
    last = value;
  }
  std::printf("in order %lld, local search %lld, 16 starts %lld\n",
              static_cast<long long>(evaluate(problem, *solveInOrder(problem)).value), static_cast<long long>(local),
              static_cast<long long>(last));
  EXPECT_LT(last, local);
}

TEST(Placement, DeepNetworkWithSkipConnections) {
  test::Random random(2);
  Problem problem{750, 994, {}, {}};
  for (int k = 0; k < 200; ++k) {
    problem.kernels.push_back({"k" + std::to_string(k), 750, random.in(1, 8), {}});
    if (k > 0)
      problem.edges.push_back({k - 1, k, random.in(1000, 800000)});
    if (k > 3 && k % 3 == 0)
      problem.edges.push_back({k - 3, k, random.in(1000, 800000)});
  }
  absl::StatusOr<Solution> inOrder = solveInOrder(problem), local = absl::InternalError("");
  ASSERT_TRUE(inOrder.ok()) << message(inOrder.status());
  double ms = test::milliseconds("local search, 200 kernels", [&] { local = solveLocalSearch(problem); });
  ASSERT_TRUE(local.ok());
  EXPECT_TRUE(local->verify(problem).ok());
  Stats stats = evaluate(problem, *local);
  std::printf("in order %lld, local search %lld, bound %lld\n",
              static_cast<long long>(evaluate(problem, *inOrder).value), static_cast<long long>(stats.value),
              static_cast<long long>(stats.lowerBound));
  EXPECT_LE(stats.value, evaluate(problem, *inOrder).value);
  EXPECT_LE(stats.lowerBound, stats.value);
  EXPECT_LT(ms, 3000 * wsc::test::kSlowdown);
}

} // namespace
