// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Colouring: against exhaustive search on tiny meshes, refusals, fixed colours, messages, and the scale of a whole
// wafer.
#include "compiler/solver/Colouring.h"
#include "compiler/solver/ColouringConflicts.h"
#include "test/support/Sanitizers.h"
#include "test/unit/solver/TestUtil.h"

#include <algorithm>
#include <set>

using namespace wsc::solver;
using namespace wsc::solver::colouring;
using test::message;

namespace {

std::set<std::pair<int, int>> routersOf(const Item &item) {
  std::set<std::pair<int, int>> routers;
  for (const Rectangle &rect : item.rectangles)
    for (int row = rect.rowBegin; row < rect.rowEnd; row += rect.rowStep)
      for (int col = rect.colBegin; col < rect.colEnd; ++col)
        routers.insert({row, col});
  return routers;
}

// Conflicts straight from the definition.
std::vector<std::vector<bool>> conflictsOf(const Problem &problem) {
  size_t count = problem.items.size();
  std::vector<std::vector<bool>> conflicts(count, std::vector<bool>(count, false));
  for (size_t a = 0; a < count; ++a)
    for (size_t b = 0; b < count; ++b)
      for (auto router : routersOf(problem.items[a]))
        if (a != b && routersOf(problem.items[b]).count(router))
          conflicts[a][b] = true;
  return conflicts;
}

// Fewest colours in use over all legal colourings by exhaustive search; -1: none.
int exhaustive(const Problem &problem, const std::vector<std::vector<bool>> &conflicts,
               std::vector<int32_t> &colourOf) {
  size_t i = colourOf.size();
  if (i == problem.items.size())
    return int(std::set<int32_t>(colourOf.begin(), colourOf.end()).size());
  std::vector<int32_t> choices = problem.colours;
  if (problem.items[i].fixedColour)
    choices = {*problem.items[i].fixedColour};
  int best = -1;
  for (int32_t colour : choices) {
    bool legal = true;
    for (size_t j = 0; j < i; ++j)
      legal &= !conflicts[i][j] || colourOf[j] != colour;
    if (!legal)
      continue;
    colourOf.push_back(colour);
    int value = exhaustive(problem, conflicts, colourOf);
    colourOf.pop_back();
    if (value >= 0 && (best < 0 || value < best))
      best = value;
  }
  return best;
}

Problem randomProblem(test::Random &random) {
  Problem problem{4, 5, {}, {}};
  for (int c = 0, colours = random.in(2, 4); c < colours; ++c)
    problem.colours.push_back(c * 2);
  for (int i = 0, count = random.in(1, 7); i < count; ++i) {
    Item item{"i" + std::to_string(i), {}, {}};
    for (int r = 0, rects = random.in(0, 3); r < rects; ++r) {
      int row = random.in(0, 3), col = random.in(0, 4);
      item.rectangles.push_back({row, random.in(row + 1, 4), col, std::min(5, col + random.in(1, 2)), random.in(1, 2)});
    }
    if (random.in(0, 7) == 0)
      item.fixedColour = random.in(0, 9);
    problem.items.push_back(item);
  }
  return problem;
}

// A net's column of lanes next to each other, each a single row.
Problem twoItems() { return {4, 4, {3, 5}, {{"a", {{0, 4, 1, 2}}, {}}, {"b", {{2, 3, 0, 4}}, {}}}}; }

TEST(Colouring, AgreesWithExhaustiveSearch) {
  test::Random random(1);
  int feasible = 0, infeasible = 0, optimal = 0;
  for (int round = 0; round < 600; ++round) {
    Problem problem = randomProblem(random);
    auto conflicts = conflictsOf(problem);
    std::vector<int32_t> partial;
    int optimum = exhaustive(problem, conflicts, partial);
    for (auto algorithm : {solve, solveFirstFit, solveWestFirst, solveDsatur, solveTabu}) {
      absl::StatusOr<Solution> solution = algorithm(problem);
      if (!solution.ok()) {
        // The default finds all there are on instances this small.
        if (algorithm == &solve)
          EXPECT_LT(optimum, 0) << message(solution.status()) << "\n" << printProblem(problem);
        continue;
      }
      ASSERT_GE(optimum, 0) << printProblem(problem);
      EXPECT_TRUE(solution->verify(problem).ok()) << message(solution->verify(problem));
      Stats stats = evaluate(problem, *solution);
      EXPECT_LE(stats.lowerBound, optimum) << printProblem(problem);
      EXPECT_GE(stats.value, optimum);
      optimal += algorithm == &solve && stats.value == optimum;
    }
    (optimum >= 0 ? feasible : infeasible) += 1;
  }
  std::printf("%d feasible, %d infeasible, %d solved with the fewest colours\n", feasible, infeasible, optimal);
  EXPECT_GE(feasible, 200);
  EXPECT_GE(infeasible, 20);
}

TEST(Colouring, VerifyAcceptsExactlyTheLegalColourings) {
  test::Random random(2);
  int legalCount = 0;
  for (int round = 0; round < 500; ++round) {
    Problem problem = randomProblem(random);
    auto conflicts = conflictsOf(problem);
    Solution solution;
    for (const Item &item : problem.items)
      solution.colourOf.push_back(item.fixedColour ? *item.fixedColour
                                                   : problem.colours[random.in(0, int(problem.colours.size()) - 1)]);
    bool legal = true;
    for (size_t a = 0; a < problem.items.size(); ++a)
      for (size_t b = 0; b < a; ++b)
        legal &= !conflicts[a][b] || solution.colourOf[a] != solution.colourOf[b];
    EXPECT_EQ(solution.verify(problem).ok(), legal) << printProblem(problem);
    legalCount += legal;
  }
  EXPECT_GT(legalCount, 50);
}

TEST(Colouring, ConflictGraphIsTheDefinition) {
  test::Random random(3);
  for (int round = 0; round < 300; ++round) {
    Problem problem = randomProblem(random);
    auto conflicts = conflictsOf(problem);
    ConflictGraph graph(problem);
    for (size_t i = 0; i < problem.items.size(); ++i) {
      std::vector<int32_t> expected;
      for (size_t j = 0; j < problem.items.size(); ++j)
        if (conflicts[i][j])
          expected.push_back(int32_t(j));
      EXPECT_EQ(std::vector<int32_t>(graph.neighbours.begin() + graph.first[i],
                                     graph.neighbours.begin() + graph.first[i + 1]),
                expected)
          << printProblem(problem);
    }
  }
}

TEST(Colouring, ConflictGraphSeesSpansThatBeginInEarlierBlocks) {
  Problem problem{1,
                  200,
                  {0},
                  {{"long", {{0, 1, 3, 190}}, {}},
                   {"late", {{0, 1, 140, 141}}, {}},
                   {"before", {{0, 1, 0, 3}}, {}},
                   {"touching", {{0, 1, 190, 200}}, {}}}};
  ConflictGraph graph(problem);
  EXPECT_EQ(graph.neighbours, (std::vector<int32_t>{1, 0}));
}

TEST(Colouring, MostLoadedRouterCountsEachItemOnce) {
  test::Random random(4);
  for (int round = 0; round < 300; ++round) {
    Problem problem = randomProblem(random);
    int64_t most = 0;
    for (int row = 0; row < problem.rows; ++row)
      for (int col = 0; col < problem.cols; ++col)
        most = std::max(most, int64_t(itemsAt(problem, row, col).size()));
    Load load = mostLoadedRouter(problem);
    EXPECT_EQ(load.items, most) << printProblem(problem);
    EXPECT_EQ(int64_t(itemsAt(problem, load.row, load.col).size()), load.items);
  }
}

TEST(Colouring, ConsecutiveLanesGetAPeriodicPattern) {
  Problem problem{1, 40, {0, 1, 2}, {}};
  for (int lane = 0; lane < 30; ++lane)
    problem.items.push_back({"lane" + std::to_string(lane), {{0, 1, lane, lane + 3}}, {}});
  absl::StatusOr<Solution> solution = solve(problem);
  ASSERT_TRUE(solution.ok());
  for (int lane = 0; lane < 30; ++lane)
    EXPECT_EQ(solution->colourOf[lane], lane % 3);
}

TEST(Colouring, DsaturSucceedsWhereFirstFitRunsOut) {
  // The path a - c - d - b: first fit gives both ends colour 0, and then d needs a third colour.
  Problem problem{
      1,
      10,
      {0, 1},
      {{"a", {{0, 1, 0, 2}}, {}}, {"b", {{0, 1, 5, 7}}, {}}, {"c", {{0, 1, 1, 4}}, {}}, {"d", {{0, 1, 3, 6}}, {}}}};
  EXPECT_TRUE(absl::IsResourceExhausted(solveFirstFit(problem).status()));
  absl::StatusOr<Solution> solution = solve(problem);
  ASSERT_TRUE(solution.ok()) << message(solution.status());
  EXPECT_TRUE(solution->verify(problem).ok());
}

TEST(Colouring, PartialLeavesAsFewWithoutAsItCan) {
  // Three items over one router and two colours; a fourth apart from them.
  Problem problem{
      1,
      10,
      {0, 1},
      {{"a", {{0, 1, 0, 3}}, {}}, {"b", {{0, 1, 0, 3}}, {}}, {"c", {{0, 1, 0, 3}}, {}}, {"d", {{0, 1, 5, 6}}, {}}}};
  EXPECT_TRUE(absl::IsResourceExhausted(solveTabu(problem).status()));
  absl::StatusOr<Partial> partial = solvePartial(problem);
  ASSERT_TRUE(partial.ok()) << message(partial.status());
  ASSERT_EQ(partial->without.size(), 1u);
  EXPECT_LT(partial->without[0], 3);
  EXPECT_EQ(partial->solution.colourOf[size_t(partial->without[0])], -1);
  EXPECT_GE(partial->solution.colourOf[3], 0);
}

TEST(Colouring, FixedColoursAreKeptAndAvoided) {
  Problem problem = twoItems();
  problem.items[1].fixedColour = 3;
  absl::StatusOr<Solution> solution = solve(problem);
  ASSERT_TRUE(solution.ok());
  EXPECT_EQ(solution->colourOf, (std::vector<int32_t>{5, 3}));
}

TEST(Colouring, WrongSolutionsAreRefused) {
  Problem problem = twoItems();
  EXPECT_EQ(message(Solution{{3}}.verify(problem)), "colouring: solution has 1 colours for 2 items");
  EXPECT_EQ(message(Solution{{3, 3}}.verify(problem)), "colouring: items a and b both have colour 3 on router (2, 1)");
  EXPECT_EQ(message(Solution{{3, 4}}.verify(problem)), "colouring: item b has colour 4, which is not available");
  problem.items[1].fixedColour = 9;
  EXPECT_EQ(message(Solution{{3, 5}}.verify(problem)), "colouring: item b has colour 5, but is fixed to 9");
  EXPECT_TRUE((Solution{{3, 9}}.verify(problem).ok()));
}

TEST(Colouring, WrongProblemsAreRefused) {
  Problem problem = twoItems();
  problem.items[0].rectangles[0].rowEnd = 5;
  EXPECT_EQ(message(problem.check()), "colouring: item a has rectangle rows [0, 5) step 1, columns [1, 2); it must be "
                                      "non-empty, with step at least 1, inside mesh 4x4");
  problem = twoItems();
  problem.colours = {3, 3};
  EXPECT_EQ(message(problem.check()), "colouring: colour 3 is listed twice");
  problem = twoItems();
  for (int c = 10; c < 80; ++c)
    problem.colours.push_back(c);
  EXPECT_EQ(message(problem.check()), "colouring: 72 different colours, the limit is 64");
  problem = twoItems();
  problem.items[0].fixedColour = problem.items[1].fixedColour = 7;
  for (auto algorithm : {solve, solveDsatur, solveTabu})
    EXPECT_EQ(message(algorithm(problem).status()),
              "item b is fixed to colour 7, and so is another item on one of its routers");
}

TEST(Colouring, FailureNamesTheRouterAndItsItems) {
  Problem problem = twoItems();
  problem.items.push_back({"c", {{2, 3, 1, 2}}, 5});
  EXPECT_EQ(message(solve(problem).status()),
            "router (2, 1) needs 3 colours, 2 are available; it is passed by a, b, c (fixed to 5); route some of them "
            "elsewhere, or merge streams");
  // Three streams that meet in pairs: no router needs three colours, yet two do not suffice.
  problem = {
      3, 3, {0, 1}, {{"x", {{0, 1, 0, 3}}, {}}, {"y", {{0, 3, 0, 1}}, {}}, {"z", {{2, 3, 0, 3}, {0, 3, 2, 3}}, {}}}};
  EXPECT_EQ(message(solve(problem).status()),
            "item z finds none of 2 colours free; no router needs more than that, the most loaded is (0, 0) with 2 "
            "items: x, y; route some of them elsewhere, or leave more colours available");
}

// About 30,000 combs on the mesh of the wse2: 41 strips side by side, on every row a lane out of each strip that runs
// on into the next one or the one after it, with branches to the rows around.
Problem wafer(test::Random &random) {
  constexpr int kStrip = 24;
  Problem problem{750, 994, {}, {}};
  for (int c = 0; c < 24; ++c)
    problem.colours.push_back(c);
  for (int begin = 0; begin + 2 * kStrip < 994; begin += kStrip) {
    int reach = random.in(0, 3), length = kStrip + random.in(4, kStrip), branches = random.in(1, 7);
    for (int row = 0; row < 750; ++row) {
      Item item{
          "lane" + std::to_string(begin) + "." + std::to_string(row), {{row, row + 1, begin, begin + length}}, {}};
      for (int t = 0; t < branches; ++t) {
        int col = begin + random.in(0, length - 1);
        item.rectangles.push_back(
            {std::max(0, row - random.in(0, reach)), std::min(750, row + 1 + random.in(0, reach)), col, col + 1});
      }
      problem.items.push_back(item);
    }
  }
  return problem;
}

TEST(Colouring, WestFirstIsExactOnSingleRows) {
  test::Random random(6);
  for (int round = 0; round < 200; ++round) {
    Problem problem{2, 12, {0, 1, 2, 3, 4, 5, 6, 7}, {}};
    for (int i = 0; i < 12; ++i) {
      int row = random.in(0, 1), col = random.in(0, 11);
      problem.items.push_back({"i" + std::to_string(i), {{row, row + 1, col, random.in(col + 1, 12)}}, {}});
    }
    absl::StatusOr<Solution> solution = solveWestFirst(problem);
    if (!solution.ok()) {
      EXPECT_GT(mostLoadedRouter(problem).items, 8);
      continue;
    }
    Stats stats = evaluate(problem, *solution);
    EXPECT_EQ(stats.value, stats.lowerBound) << printProblem(problem);
  }
}

TEST(Colouring, WholeWaferInHalfASecond) {
  test::Random random(5);
  Problem problem = wafer(random);
  std::printf("%zu items\n", problem.items.size());
  for (auto [name, algorithm] : {std::pair{"default", &solve},
                                 {"west first", &solveWestFirst},
                                 {"DSATUR", &solveDsatur},
                                 {"tabu", &solveTabu}}) {
    absl::StatusOr<Solution> solution = absl::InternalError("");
    double ms = test::milliseconds(name, [&] { solution = algorithm(problem); });
    if (algorithm != &solveDsatur && algorithm != &solveTabu) {
      EXPECT_LT(ms, 500 * wsc::test::kSlowdown);
      ASSERT_TRUE(solution.ok()) << message(solution.status());
    }
    if (!solution.ok()) {
      std::printf("%s\n", message(solution.status()).c_str());
      continue;
    }
    EXPECT_TRUE(solution->verify(problem).ok());
    Stats stats = evaluate(problem, *solution);
    std::printf("%lld colours, bound %lld\n", static_cast<long long>(stats.value),
                static_cast<long long>(stats.lowerBound));
    EXPECT_GE(stats.value, stats.lowerBound);
  }
}

} // namespace
