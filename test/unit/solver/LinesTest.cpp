// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows and columns of meshes with defects: optimal against exhaustive search, verified, and refused where nothing is
// left.
#include "compiler/solver/Lines.h"
#include "test/support/Seed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace wsc::solver::lines {
namespace {

const uint64_t kSeed = wsc::test::seedOf(20200325);

/// Least cost over all subsets of lines that verify; -1 if none does.
int64_t exhaustive(const Problem &problem) {
  int64_t best = -1;
  for (int rows = 1; rows < 1 << problem.rows; ++rows)
    for (int cols = 1; cols < 1 << problem.cols; ++cols) {
      Solution solution;
      for (int r = 0; r < problem.rows; ++r)
        if (rows >> r & 1)
          solution.rows.push_back(r);
      for (int c = 0; c < problem.cols; ++c)
        if (cols >> c & 1)
          solution.cols.push_back(c);
      if (!solution.verify(problem).ok())
        continue;
      const int64_t value = evaluate(problem, solution).value;
      best = best < 0 ? value : std::min(best, value);
    }
  return best;
}

TEST(Lines, OptimalOnTinyMeshes) {
  std::mt19937_64 random(kSeed);
  int solved = 0;
  for (int i = 0; i < 300; ++i) {
    SCOPED_TRACE(testing::Message() << "seed " << kSeed << ", case " << i);
    Problem problem;
    problem.rows = 2 + int(random() % 4);
    problem.cols = 2 + int(random() % 4);
    for (int r = 0; r < problem.rows; ++r)
      for (int c = 0; c < problem.cols; ++c)
        if (random() % 5 == 0)
          problem.deadCores.push_back({r, c});
    if (random() % 4 == 0)
      problem.deadRows.push_back(int(random() % problem.rows));
    if (random() % 4 == 0)
      problem.deadCols.push_back(int(random() % problem.cols));
    auto solution = solve(problem);
    const int64_t best = exhaustive(problem);
    if (!solution.ok()) // the cheapest cover may take all rows while another leaves some lines of both
      continue;
    ++solved;
    ASSERT_TRUE(solution->verify(problem).ok()) << solution->verify(problem);
    const Stats stats = evaluate(problem, *solution);
    EXPECT_EQ(stats.value, best);
    EXPECT_LE(stats.lowerBound, best);
    auto again = parseSolution(printSolution(problem, *solution), problem);
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->rows, solution->rows);
    EXPECT_EQ(again->cols, solution->cols);
  }
  EXPECT_GE(solved, 200);
}

TEST(Lines, AClusterCostsItsShorterSide) {
  Problem problem;
  problem.rows = problem.cols = 100;
  for (int r = 10; r < 13; ++r)
    for (int c = 50; c < 60; ++c)
      problem.deadCores.push_back({r, c});
  auto solution = solve(problem);
  ASSERT_TRUE(solution.ok()) << solution.status();
  EXPECT_EQ(solution->rows.size(), 97u);
  EXPECT_EQ(solution->cols.size(), 100u);
  EXPECT_EQ(evaluate(problem, *solution).value, evaluate(problem, *solution).lowerBound);
}

TEST(Lines, WrongSolutionsAreRefused) {
  Problem problem;
  problem.rows = problem.cols = 3;
  problem.deadCores = {{1, 1}};
  problem.deadRows = {0};
  const auto refusal = [&](std::vector<int32_t> rows, std::vector<int32_t> cols) {
    return std::string(Solution{std::move(rows), std::move(cols)}.verify(problem).message());
  };
  EXPECT_EQ(refusal({1, 2}, {0, 2}), "");
  EXPECT_EQ(refusal({1, 2}, {0, 1}), "dead core (1, 1) is on a kept row and column");
  EXPECT_EQ(refusal({0, 2}, {0, 2}), "row 0 has a dead link and is kept");
  EXPECT_EQ(refusal({2, 1}, {0}), "row 1 is kept out of order, twice or outside of 3");
  EXPECT_EQ(refusal({2}, {}), "no column is kept");
}

TEST(Lines, ProblemsAreText) {
  auto problem = parseProblem("wsc-problem lines 1\nmesh 4 5\ndead 1 2\ndead-row 3\ndead-col 0\n");
  ASSERT_TRUE(problem.ok()) << problem.status();
  auto solution = solve(*problem);
  ASSERT_TRUE(solution.ok());
  EXPECT_EQ(printSolution(*problem, *solution), "wsc-solution lines 1\nrow 3\ncol 0\ncol 2\n");
  EXPECT_FALSE(parseProblem("wsc-problem lines 1\nmesh 4 5\ndead 4 2\n").ok());
  EXPECT_FALSE(parseProblem("wsc-problem lines 1\nmesh 4 5\nalive 1 2\n").ok());
}

} // namespace
} // namespace wsc::solver::lines
