// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Routing: bounds and shortest trees against exhaustive search, refusals of broken trees, link loads, negotiation
// against every pair of trees of tiny problems, and the lanes of a whole wafer.
#include "compiler/solver/Routing.h"
#include "compiler/solver/Steiner.h"
#include "test/unit/solver/TestUtil.h"

#include <algorithm>
#include <map>

using namespace wsc::solver;
using namespace wsc::solver::routing;
using test::message;

namespace {

// Fewest links of a tree over the net's routers on a small mesh of three rows: the smallest connected set of routers
// that holds them.
int64_t exhaustive(const Net &net, int cols = 4) {
  constexpr int kRows = 3;
  auto bit = [&](int row, int col) { return 1u << (row * cols + col); };
  unsigned required = bit(net.row, net.colBegin);
  for (const Sink &sink : net.sinks)
    for (int row = sink.rowLo; row <= sink.rowHi; ++row)
      required |= bit(row, sink.col);
  int best = kRows * cols + 1;
  const unsigned free = ((1u << (kRows * cols)) - 1) & ~required;
  unsigned more = 0;
  do { // every subset of `free`, the empty one last
    more = (more - 1) & free;
    const unsigned set = required | more;
    if (__builtin_popcount(set) >= best)
      continue;
    unsigned reached = bit(net.row, net.colBegin), before = 0;
    while (reached != before) {
      before = reached;
      for (int row = 0; row < kRows; ++row)
        for (int col = 0; col < cols; ++col)
          if (reached & bit(row, col)) {
            if (row > 0)
              reached |= set & bit(row - 1, col);
            if (row + 1 < kRows)
              reached |= set & bit(row + 1, col);
            if (col > 0)
              reached |= set & bit(row, col - 1);
            if (col + 1 < cols)
              reached |= set & bit(row, col + 1);
          }
    }
    if (reached == set)
      best = __builtin_popcount(set);
  } while (more != 0);
  return best - 1;
}

Problem oneNet() { return {6, 8, {}, {{"n", 2, 1, 100, {{4, 1, 4}, {6, 2, 2}}}}, {}}; }

TEST(Routing, CombLiesBetweenBoundAndExhaustiveSearch) {
  test::Random random(1);
  int optimal = 0, exact = 0, single = 0;
  for (int round = 0; round < 400; ++round) {
    Problem problem{3, 4, {}, {{"n", random.in(0, 2), random.in(0, 3), 1, {}}}, {}};
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
    EXPECT_LE(lowerBound(net), optimum) << printProblem(problem);
    EXPECT_EQ(shortestTree(net), optimum) << printProblem(problem);
    EXPECT_EQ(stats.lowerBound, optimum) << "the shortest tree is known";
    optimal += stats.value == optimum;
    exact += lowerBound(net) == optimum;
    if (std::all_of(net.sinks.begin(), net.sinks.end(),
                    [&](const Sink &sink) { return sink.rowLo == net.row && sink.rowHi == net.row; })) {
      ++single;
      EXPECT_EQ(stats.value, stats.lowerBound) << "a single row is exact";
    }
  }
  std::printf("400 nets: comb optimal %d, bound tight %d, single-row %d\n", optimal, exact, single);
  EXPECT_GT(single, 5);
}

TEST(Routing, CombHasATrunkAndBranches) {
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
    Problem problem{5, 6, random.in(5, 30), {}, {}};
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

// Thirteen pins whose shortest tree is known, and one too many.
TEST(Routing, ShortestTreesOfManyPins) {
  Net comb{"comb", 10, 0, 1, {}}; // a trunk with four branches, and their runs
  for (int32_t branch = 1; branch <= 6; ++branch) {
    comb.sinks.push_back({20 * branch, 0, 2});
    comb.sinks.push_back({20 * branch, 18, 20});
  }
  EXPECT_EQ(shortestTree(comb), 120 + 6 * 20);
  EXPECT_EQ(shortestTree(comb, kFewPins), std::nullopt);
  comb.sinks.push_back({130, 10, 10});
  EXPECT_EQ(shortestTree(comb), std::nullopt);
  Net cross{"cross", 5, 0, 1, {{5, 0, 0}, {10, 5, 5}, {5, 10, 10}}}; // no two pins are nearer than the middle
  EXPECT_EQ(shortestTree(cross), 20);
}

// Pins no two of which are side by side in a column, as many as can be searched.
TEST(Routing, ShortestTreesOfManyPinsAreThoseOfExhaustiveSearch) {
  test::Random random(3);
  constexpr int kWide = 7;
  int many = 0;
  for (int round = 0; round < 60; ++round) {
    Net net{"n", random.in(0, 1) * 2, 0, 1, {}};
    int pins = 1;
    for (int32_t col = 1; col < kWide; ++col)
      for (int32_t row : {0, 2})
        if (pins < kMostPins && random.in(0, 9) > 0) {
          net.sinks.push_back({col, row, row});
          ++pins;
        }
    many += pins > kFewPins;
    EXPECT_EQ(shortestTree(net), exhaustive(net, kWide)) << printProblem({3, kWide, {}, {net}, {}});
  }
  EXPECT_GE(many, 40);
}

// Searches for nets of many pins end; those of others do not.
TEST(Routing, ManyKindsOfLargeNetsHaveABoundOnly) {
  ShortestTrees shortest;
  int exact = 0;
  for (int32_t kind = 0; kind < 120; ++kind) {
    Net large{"n", 0, 0, 1, {}};
    for (int32_t sink = 1; sink < 10; ++sink)
      large.sinks.push_back({2 * sink + (sink == 9 ? kind : 0), 0, 0});
    exact += shortest.of(large).has_value();
    EXPECT_EQ(shortest.of({"n", 0, 0, 1, {{kind + 1, 0, 0}}}), kind + 1);
  }
  EXPECT_EQ(exact, 100);
}

// What a tree needs depends on where its sinks lie as the source sees them.
TEST(Routing, NetsAlikeHaveTreesOfOneLength) {
  test::Random random(7);
  ShortestTrees shortest;
  for (int round = 0; round < 200; ++round) {
    Net net{"n", random.in(0, 20), random.in(0, 20), 1, {}};
    for (int s = 0, sinks = random.in(1, 4); s < sinks; ++s) {
      const int32_t lo = random.in(0, 2);
      net.sinks.push_back({random.in(0, 3), lo, random.in(lo, 3)});
    }
    Net moved = net;
    moved.row += 5;
    moved.colBegin += 9;
    for (Sink &sink : moved.sinks)
      sink = {sink.col + 9, sink.rowLo + 5, sink.rowHi + 5};
    EXPECT_EQ(shortest.of(net), shortestTree(net));
    EXPECT_EQ(shortest.of(moved), shortestTree(moved));
  }
}

// Every tree of a net on a 2x3 mesh without links that lead to no sink: for each router, whence it is fed.
std::vector<Solution> everyTree(const Problem &problem, size_t n) {
  constexpr int kRouters = 6;
  const Problem alone{problem.rows, problem.cols, {}, {problem.nets[n]}, {}};
  const int step[4][2] = {{-1, 0}, {1, 0}, {0, 1}, {0, -1}};
  std::vector<Solution> trees;
  for (int code = 0; code < 15625; ++code) { // 5^6
    Solution tree{{{}}};
    bool inside = true;
    for (int router = 0, rest = code; router < kRouters && inside; ++router, rest /= 5) {
      if (rest % 5 == 4)
        continue;
      const int row = router / 3, col = router % 3, fromRow = row - step[rest % 5][0],
                fromCol = col - step[rest % 5][1];
      inside = fromRow >= 0 && fromRow < 2 && fromCol >= 0 && fromCol < 3;
      tree.segmentsOf[0].push_back({fromRow, fromCol, row, col});
    }
    if (inside && tree.verify(alone).ok())
      trees.push_back(tree);
  }
  return trees;
}

TEST(Routing, NegotiationAgainstEveryPairOfTrees) {
  test::Random random(4);
  int possible = 0, found = 0, shortest = 0, crowded = 0;
  for (int round = 0; round < 250; ++round) {
    Problem problem{2, 3, random.in(3, 7), {}, {}};
    for (const char *name : {"a", "b"}) {
      Net net{name, random.in(0, 1), random.in(0, 2), random.in(2, 4), {}};
      for (int s = 0, sinks = random.in(1, 3); s < sinks; ++s) {
        const int lo = random.in(0, 1);
        net.sinks.push_back({random.in(0, 2), lo, random.in(lo, 1)});
      }
      problem.nets.push_back(net);
    }
    const int row = random.in(0, 1), col = random.in(0, 1);
    problem.fixed.push_back({{row, col, row, col + 1}, random.in(0, 4)});
    int64_t best = -1;
    const std::vector<Solution> first = everyTree(problem, 0), second = everyTree(problem, 1);
    for (const Solution &a : first)
      for (const Solution &b : second) {
        const int64_t links = int64_t(a.segmentsOf[0].size() + b.segmentsOf[0].size());
        if (best >= 0 && links >= best)
          continue;
        if (checkCapacity(problem, Solution{{a.segmentsOf[0], b.segmentsOf[0]}}).ok())
          best = links;
      }
    absl::StatusOr<Solution> solution = solveNegotiated(problem);
    absl::StatusOr<Solution> combs = solveCombs(problem);
    ASSERT_TRUE(combs.ok());
    crowded += !checkCapacity(problem, *combs).ok();
    possible += best >= 0;
    if (!solution.ok()) {
      EXPECT_TRUE(absl::IsResourceExhausted(solution.status())) << message(solution.status());
      continue;
    }
    ++found;
    EXPECT_TRUE(solution->verify(problem).ok()) << message(solution->verify(problem)) << printProblem(problem);
    const RoutingStats stats = evaluate(problem, *solution);
    EXPECT_EQ(stats.linksOverCapacity, 0);
    EXPECT_GE(best, 0) << "exhaustive search finds none\n" << printProblem(problem);
    EXPECT_GE(stats.value, best) << printProblem(problem);
    EXPECT_LE(stats.lowerBound, best) << printProblem(problem);
    shortest += stats.value == best;
  }
  std::printf("250 problems, combs over capacity in %d: possible %d, found %d, shortest %d\n", crowded, possible, found,
              shortest);
  EXPECT_EQ(found, possible);
  EXPECT_GE(shortest, found * 95 / 100);
}

TEST(Routing, SaturatedNetsShareNeighbouringColumns) {
  // Four nets that all turn into column 8: one link has space for two of them.
  Problem problem{12, 12, 200, {}, {}};
  for (int32_t n = 0; n < 4; ++n)
    problem.nets.push_back({"n" + std::to_string(n), n, 0, 100, {{8, 6, 11}}});
  absl::StatusOr<Solution> solution = solveNegotiated(problem);
  ASSERT_TRUE(solution.ok()) << message(solution.status());
  EXPECT_TRUE(solution->verify(problem).ok()) << message(solution->verify(problem));
  EXPECT_EQ(evaluate(problem, *solution).linksOverCapacity, 0);

  problem.linkCapacityWords = 99;
  EXPECT_EQ(
      message(solveNegotiated(problem).status()),
      "net n0 carries 100 words per sample, no link can carry more than 99; divide it or allow a longer interval");
}

TEST(Routing, WhatCannotBeRoutedIsNamed) {
  // Router (1, 1) can be reached over four links; five nets want to.
  Problem problem{3, 3, 100, {}, {}};
  for (int32_t n = 0; n < 5; ++n)
    problem.nets.push_back({"n" + std::to_string(n), n % 3, 2 * (n / 3), 100, {{1, 1, 1}}});
  const std::string refused = message(solveNegotiated(problem).status());
  EXPECT_NE(refused.find("1 links carry more than 100 words per sample; the worst, "), std::string::npos) << refused;
  EXPECT_NE(refused.find("n0 100, n"), std::string::npos) << refused;
  EXPECT_NE(refused.find("spread the nets over more rows or allow a longer interval (negotiated for 100 rounds)"),
            std::string::npos)
      << refused;
  EXPECT_NE(message(solveNegotiated(problem, {.steps = 9}).status()).find(", all the steps allowed)"),
            std::string::npos);
}

TEST(Routing, FixedLoadsAreJudged) {
  Problem problem = oneNet();
  problem.linkCapacityWords = 150;
  problem.fixed.push_back({{2, 1, 2, 3}, 80});
  absl::StatusOr<Solution> combs = solveCombs(problem);
  ASSERT_TRUE(combs.ok());
  EXPECT_EQ(message(checkCapacity(problem, *combs)),
            "2 links carry more than 150 words per sample; the worst, east out of router (2, 1), carries 180: n 100, "
            "fixed 80; spread the nets over more rows or allow a longer interval");
  absl::StatusOr<Solution> around = solveNegotiated(problem);
  ASSERT_TRUE(around.ok()) << message(around.status());
  EXPECT_TRUE(around->verify(problem).ok());
  EXPECT_EQ(evaluate(problem, *around).linksOverCapacity, 0);
  EXPECT_EQ(printProblem(*parseProblem(printProblem(problem))), printProblem(problem));
  problem.fixed[0].segment = {2, 1, 3, 3};
  EXPECT_EQ(message(problem.check()), "routing: fixed load from (2, 1) to (3, 3) is not a straight run of links");
  problem.fixed[0].segment = {2, 1, 2, 8};
  EXPECT_EQ(message(problem.check()), "routing: fixed load from (2, 1) to (2, 8) leaves mesh 6x8");
}

TEST(Routing, LanesOfAWholeWafer) {
  test::Random random(3);
  Problem problem{750, 994, {}, {}, {}};
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
  problem.linkCapacityWords = stats.mostWords * 2 / 3;
  test::milliseconds("negotiated", [&] { solution = solveNegotiated(problem); });
  ASSERT_TRUE(solution.ok()) << message(solution.status());
  EXPECT_TRUE(solution->verify(problem).ok());
  const RoutingStats negotiated = evaluate(problem, *solution);
  EXPECT_EQ(negotiated.linksOverCapacity, 0);
  EXPECT_LE(double(negotiated.value), 1.15 * double(negotiated.lowerBound));
  std::printf("most words %lld, negotiated %lld: %lld links\n", static_cast<long long>(stats.mostWords),
              static_cast<long long>(negotiated.mostWords), static_cast<long long>(negotiated.value));
}

} // namespace
