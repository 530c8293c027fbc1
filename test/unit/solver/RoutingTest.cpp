// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Routing: the bound against exhaustive Steiner trees, refusals of broken trees, link loads, and the lanes of a whole
// wafer.
#include "compiler/solver/Routing.h"
#include "test/unit/solver/TestUtil.h"

#include <algorithm>
#include <map>

using namespace wsc::solver;
using namespace wsc::solver::routing;
using test::message;

namespace {

// Fewest links of a tree over the net's routers on a 3x4 mesh: the smallest connected set of routers that holds them.
int64_t exhaustive(const Net &net) {
  constexpr int kRows = 3, kCols = 4;
  auto bit = [&](int row, int col) { return 1u << (row * kCols + col); };
  unsigned required = bit(net.row, net.colBegin);
  for (const Sink &sink : net.sinks)
    for (int row = sink.rowLo; row <= sink.rowHi; ++row)
      required |= bit(row, sink.col);
  int best = kRows * kCols;
  for (unsigned set = 0; set < 1u << (kRows * kCols); ++set) {
    if ((set & required) != required || __builtin_popcount(set) >= best)
      continue;
    unsigned reached = bit(net.row, net.colBegin), before = 0;
    while (reached != before) {
      before = reached;
      for (int row = 0; row < kRows; ++row)
        for (int col = 0; col < kCols; ++col)
          if (reached & bit(row, col)) {
            if (row > 0)
              reached |= set & bit(row - 1, col);
            if (row + 1 < kRows)
              reached |= set & bit(row + 1, col);
            if (col > 0)
              reached |= set & bit(row, col - 1);
            if (col + 1 < kCols)
              reached |= set & bit(row, col + 1);
          }
    }
    if (reached == set)
      best = __builtin_popcount(set);
  }
  return best - 1;
}

Problem oneNet() { return {6, 8, {}, {{"n", 2, 1, 100, {{4, 1, 4}, {6, 2, 2}}}}}; }

TEST(Routing, CombLiesBetweenBoundAndExhaustiveSearch) {
  test::Random random(1);
  int optimal = 0, exact = 0, single = 0;
  for (int round = 0; round < 400; ++round) {
    Problem problem{3, 4, {}, {{"n", random.in(0, 2), random.in(0, 3), 1, {}}}};
    Net &net = problem.nets[0];
    for (int s = 0, sinks = random.in(1, 3); s < sinks; ++s) {
      int lo = random.in(0, 2);
      net.sinks.push_back({random.in(0, 3), lo, random.in(lo, 2)});
    }
    int64_t optimum = exhaustive(net);
    absl::StatusOr<Solution> solution = solveCombs(problem);
    ASSERT_TRUE(solution.ok());
    EXPECT_TRUE(solution->verify(problem).ok()) << message(solution->verify(problem)) << printProblem(problem);
    RoutingStats stats = evaluate(problem, *solution);
    EXPECT_GE(stats.value, optimum) << printProblem(problem);
    EXPECT_LE(stats.lowerBound, optimum) << printProblem(problem);
    optimal += stats.value == optimum;
    exact += stats.lowerBound == optimum;
    if (std::all_of(net.sinks.begin(), net.sinks.end(),
                    [&](const Sink &sink) { return sink.rowLo == net.row && sink.rowHi == net.row; })) {
      ++single;
      EXPECT_EQ(stats.value, stats.lowerBound) << "a single row is exact";
    }
  }
  std::printf("400 nets: comb optimal %d, bound tight %d, single-row %d\n", optimal, exact, single);
  EXPECT_GT(single, 5);
}

TEST(Routing, CombHasATrunkAndTeeth) {
  absl::StatusOr<Solution> solution = solveCombs(oneNet());
  ASSERT_TRUE(solution.ok());
  EXPECT_EQ(printSolution(oneNet(), *solution),
            "wsc-solution routing 1\nnet n\nsegment 2 1 2 6\nsegment 2 4 1 4\nsegment 2 4 4 4\n");
  RoutingStats stats = evaluate(oneNet(), *solution);
  EXPECT_EQ(stats.value, 8);
  EXPECT_EQ(stats.lowerBound, 8);
  EXPECT_EQ(stats.linksUsed, 8);
}

TEST(Routing, WrongTreesAreRefused) {
  Problem problem = oneNet();
  auto refuse = [&](std::vector<Segment> segments) { return message(Solution{{segments}}.verify(problem)); };
  Segment trunk{2, 1, 2, 6}, north{2, 4, 1, 4}, south{2, 4, 4, 4};
  EXPECT_EQ(refuse({trunk, north, south}), "");
  EXPECT_EQ(message(Solution{}.verify(problem)), "routing: solution has 0 trees for 1 nets");
  EXPECT_EQ(refuse({trunk, south}), "routing: net n: router (1, 4) is a sink that the tree does not reach");
  EXPECT_EQ(refuse({trunk, north, {2, 4, 6, 4}}), "routing: net n: router (6, 4) is outside the mesh");
  EXPECT_EQ(refuse({trunk, north, {2, 4, 4, 5}}),
            "routing: net n: router (2, 4) and (4, 5) do not bound a straight segment");
  EXPECT_EQ(refuse({trunk, north, south, {4, 4, 4, 5}, {4, 5, 2, 5}}), "routing: net n: router (2, 5) is fed twice");
  EXPECT_EQ(refuse({trunk, north, south, {1, 4, 1, 1}, {1, 1, 2, 1}}),
            "routing: net n: router (2, 1) is the source and is fed by the tree");
  EXPECT_EQ(refuse({trunk, north, south, {5, 0, 5, 3}}),
            "routing: net n: router (5, 0) begins a segment that the source does not reach");
  // A ring feeds itself: each of its routers has one input, and none hears the source.
  EXPECT_EQ(refuse({trunk, north, south, {4, 6, 4, 7}, {4, 7, 5, 7}, {5, 7, 5, 6}, {5, 6, 4, 6}}),
            "routing: net n: router (4, 6) begins a segment that the source does not reach");
}

TEST(Routing, WrongProblemsAreRefused) {
  Problem problem = oneNet();
  problem.nets[0].sinks[0].rowHi = 6;
  EXPECT_EQ(message(problem.check()),
            "routing: net n has sink column 4 rows 1 to 6; it must be non-empty, inside mesh 6x8");
  problem.nets[0].sinks.clear();
  EXPECT_EQ(message(problem.check()), "routing: net n has no sinks");
  problem.nets[0].row = -1;
  EXPECT_EQ(message(problem.check()), "routing: net n begins at router (-1, 1), outside mesh 6x8");
}

TEST(Routing, LoadsAreSumsOverNets) {
  // Links counted one by one.
  test::Random random(2);
  for (int round = 0; round < 100; ++round) {
    Problem problem{5, 6, random.in(5, 30), {}};
    for (int n = 0; n < 6; ++n)
      problem.nets.push_back({"n" + std::to_string(n),
                              random.in(0, 4),
                              random.in(0, 5),
                              random.in(1, 9),
                              {{random.in(0, 5), 0, random.in(0, 4)}, {random.in(0, 5), 2, 2}}});
    absl::StatusOr<Solution> solution = solveCombs(problem);
    ASSERT_TRUE(solution.ok());
    std::map<std::array<int, 4>, int64_t> words;
    for (size_t n = 0; n < problem.nets.size(); ++n)
      for (Segment s : solution->segmentsOf[n])
        while (s.row != s.rowEnd || s.col != s.colEnd) {
          int row = s.row, col = s.col;
          s.row += (s.rowEnd > s.row) - (s.rowEnd < s.row);
          s.col += (s.colEnd > s.col) - (s.colEnd < s.col);
          words[{row, col, s.row, s.col}] += problem.nets[n].wordsPerSample;
        }
    int64_t most = 0, over = 0;
    for (const auto &[link, sum] : words) {
      most = std::max(most, sum);
      over += sum > *problem.linkCapacityWords;
    }
    RoutingStats stats = evaluate(problem, *solution);
    EXPECT_EQ(stats.linksUsed, int64_t(words.size()));
    EXPECT_EQ(stats.mostWords, most);
    EXPECT_EQ(stats.linksOverCapacity, over);
    EXPECT_EQ(checkCapacity(problem, *solution).ok(), over == 0);
  }
}

TEST(Routing, CapacityReportNamesLinkAndNets) {
  Problem problem = oneNet();
  problem.linkCapacityWords = 150;
  problem.nets.push_back({"m", 2, 5, 60, {{6, 2, 2}}});
  absl::StatusOr<Solution> solution = solveCombs(problem);
  ASSERT_TRUE(solution.ok());
  EXPECT_EQ(message(checkCapacity(problem, *solution)),
            "1 links carry more than 150 words per sample; the worst, east out of router (2, 5), carries 160: n 100, m "
            "60; spread the nets over more rows or allow a longer interval");
}

TEST(Routing, LanesOfAWholeWafer) {
  test::Random random(3);
  Problem problem{750, 994, {}, {}};
  for (int n = 0; n < 30000; ++n) {
    int row = random.in(0, 749), col = random.in(0, 900);
    Net net{"lane" + std::to_string(n), row, col, 100, {}};
    for (int s = 0, sinks = random.in(1, 3); s < sinks; ++s)
      net.sinks.push_back({random.in(col, 993), std::max(0, row - 10), row});
    problem.nets.push_back(net);
  }
  absl::StatusOr<Solution> solution = absl::InternalError("");
  test::milliseconds("combs, 30,000 nets", [&] { solution = solveCombs(problem); });
  ASSERT_TRUE(solution.ok());
  test::milliseconds("verify", [&] { EXPECT_TRUE(solution->verify(problem).ok()); });
  RoutingStats stats;
  test::milliseconds("evaluate", [&] { stats = evaluate(problem, *solution); });
  EXPECT_GE(stats.value, stats.lowerBound);
  std::printf("%lld links, bound %lld\n", static_cast<long long>(stats.value),
              static_cast<long long>(stats.lowerBound));
}

} // namespace
