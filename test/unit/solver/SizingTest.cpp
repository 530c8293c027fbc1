// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizing: against exhaustive search, refusals and messages, and a large pipeline.
#include "compiler/solver/Sizing.h"
#include "test/support/Sanitizers.h"
#include "test/unit/solver/TestUtil.h"

#include <optional>

using namespace wsc::solver;
using namespace wsc::solver::sizing;
using test::message;

namespace {

// Least (interval, columns) over all choices that fit.
std::optional<std::pair<int64_t, int64_t>> exhaustive(const Problem &problem) {
  std::optional<std::pair<int64_t, int64_t>> best;
  std::vector<int32_t> choice(problem.kernels.size(), 0);
  while (true) {
    int64_t interval = 0, columns = 0;
    bool fits = true;
    for (size_t k = 0; k < choice.size(); ++k) {
      const Candidate &candidate = problem.kernels[k].candidates[choice[k]];
      interval = std::max(interval, candidate.intervalCycles);
      columns += candidate.columns;
      fits &= !problem.sramLimitBytes || candidate.sramBytes <= *problem.sramLimitBytes;
    }
    if (fits && columns <= problem.columnLimit && (!best || std::pair(interval, columns) < *best))
      best = std::pair(interval, columns);
    size_t k = 0;
    while (k < choice.size() && ++choice[k] == int32_t(problem.kernels[k].candidates.size()))
      choice[k++] = 0;
    if (k == choice.size())
      return best;
  }
}

Problem twoKernels() { return {10, 100, {{"a", {{4, 50, 90, "a4"}, {8, 20, 60, "a8"}}}, {"b", {{3, 70, 80, "b3"}}}}}; }

TEST(Sizing, EqualsExhaustiveSearch) {
  test::Random random(1);
  int feasible = 0, infeasible = 0;
  for (int round = 0; round < 600; ++round) {
    Problem problem;
    problem.columnLimit = random.in(4, 30);
    if (random.in(0, 1))
      problem.sramLimitBytes = random.in(4, 12);
    for (int k = 0, kernels = random.in(1, 5); k < kernels; ++k) {
      Kernel kernel{"k" + std::to_string(k), {}};
      for (int c = 0, candidates = random.in(1, 4); c < candidates; ++c)
        kernel.candidates.push_back({random.in(0, 10), random.in(1, 12), random.in(0, 12), "c" + std::to_string(c)});
      problem.kernels.push_back(kernel);
    }
    auto optimum = exhaustive(problem);
    absl::StatusOr<Solution> solution = solve(problem);
    ASSERT_EQ(solution.ok(), optimum.has_value()) << printProblem(problem) << message(solution.status());
    (optimum ? feasible : infeasible) += 1;
    if (!optimum) {
      EXPECT_TRUE(absl::IsResourceExhausted(solution.status()));
      continue;
    }
    EXPECT_TRUE(solution->verify(problem).ok());
    SizingStats stats = evaluate(problem, *solution);
    EXPECT_EQ(stats.value, optimum->first) << printProblem(problem);
    EXPECT_EQ(stats.lowerBound, optimum->first);
    EXPECT_EQ(stats.columns, optimum->second);
    EXPECT_EQ(stats.columnsLowerBound, optimum->second);
  }
  std::printf("%d feasible, %d infeasible\n", feasible, infeasible);
  EXPECT_GE(feasible, 200);
  EXPECT_GE(infeasible, 50);
}

TEST(Sizing, WrongSolutionsAreRefused) {
  Problem problem = twoKernels();
  EXPECT_TRUE((Solution{{0, 0}}.verify(problem).ok()));
  EXPECT_EQ(message(Solution{{0}}.verify(problem)), "sizing: solution has 1 choices for 2 kernels");
  EXPECT_EQ(message(Solution{{0, 1}}.verify(problem)), "sizing: kernel b has no candidate 1, only 0 to 0");
  EXPECT_EQ(message(Solution{{1, 0}}.verify(problem)), "sizing: the kernels take 11 columns together, the limit is 10");
  problem.sramLimitBytes = 85;
  EXPECT_EQ(message(Solution{{0, 0}}.verify(problem)),
            "sizing: kernel a, candidate a4 needs 90 bytes, the limit is 85");
}

TEST(Sizing, FailuresNameKernelsAndLimits) {
  Problem problem = twoKernels();
  problem.columnLimit = 6;
  EXPECT_EQ(message(solve(problem).status()), "the kernels need at least 7 columns together, the limit is 6; the "
                                              "widest at their narrowest: a 4, b 3; take more columns, fewer kernels "
                                              "or narrower ones");
  problem.sramLimitBytes = 70;
  EXPECT_EQ(message(solve(problem).status()), "kernel b needs at least 80 bytes on its fullest core, the limit is 70; "
                                              "offer a candidate over more cores");
  problem.kernels[0].candidates.clear();
  EXPECT_EQ(message(solve(problem).status()), "sizing: kernel a has no candidates");
  problem = twoKernels();
  problem.kernels[0].candidates[1].columns = -1;
  EXPECT_EQ(message(problem.check()), "sizing: kernel a, candidate a8: -1 columns must be between 0 and 1099511627776");
}

TEST(Sizing, ThousandKernels) {
  test::Random random(2);
  Problem problem{100000, std::nullopt, {}};
  for (int k = 0; k < 1000; ++k) {
    Kernel kernel{"k" + std::to_string(k), {}};
    int work = random.in(1000, 1000000);
    for (int columns = 1; columns <= 200; ++columns)
      kernel.candidates.push_back({columns, work / columns, 1000, std::to_string(columns)});
    problem.kernels.push_back(kernel);
  }
  absl::StatusOr<Solution> solution = absl::InternalError("");
  double ms = test::milliseconds("1,000 kernels of 200 candidates", [&] { solution = solve(problem); });
  ASSERT_TRUE(solution.ok());
  SizingStats stats = evaluate(problem, *solution);
  EXPECT_EQ(stats.value, stats.lowerBound);
  EXPECT_LT(ms, 3000 * wsc::test::kSlowdown);
}

} // namespace
