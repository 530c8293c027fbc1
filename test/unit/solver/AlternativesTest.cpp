// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Alternatives: value and bound against every choice of tiny problems; refusals; items that need not move stay.
#include "compiler/solver/Alternatives.h"
#include "test/unit/solver/TestUtil.h"

using namespace wsc::solver;
using namespace wsc::solver::alternatives;
using test::message;

namespace {

// Up to four items of up to four options, each a few runs of links on a 4x5 mesh.
Problem randomProblem(test::Random &random) {
  Problem problem{4, 5, random.in(4, 14), {}, {}};
  auto load = [&] {
    const bool along = random.in(0, 1) == 1;
    const int32_t row = random.in(0, 3), col = random.in(0, 4);
    int32_t other = random.in(0, along ? 3 : 2); // of the places along the line, but this one
    other += other >= (along ? col : row);
    return Load{{row, col, along ? row : other, along ? other : col}, random.in(1, 6)};
  };
  for (int f = random.in(0, 2); f > 0; --f)
    problem.fixed.push_back(load());
  for (int i = 0, items = random.in(1, 4); i < items; ++i) {
    Item item{"i" + std::to_string(i), {}};
    for (int o = 0, options = random.in(1, 4); o < options; ++o) {
      Option option{std::to_string(o), random.in(0, 3), {}};
      for (int l = random.in(1, 3); l > 0; --l)
        option.loads.push_back(load());
      item.options.push_back(option);
    }
    problem.items.push_back(item);
  }
  return problem;
}

TEST(Alternatives, AgainstEveryChoice) {
  test::Random random(5);
  int least = 0, within = 0, possible = 0;
  for (int round = 0; round < 300; ++round) {
    const Problem problem = randomProblem(random);
    int64_t best = -1;
    Solution choice;
    choice.optionOf.assign(problem.items.size(), 0);
    for (size_t at = 0; at < problem.items.size();) {
      const int64_t value = evaluate(problem, choice).value;
      best = best < 0 ? value : std::min(best, value);
      for (at = 0; at < problem.items.size(); ++at) { // counts up
        if (++choice.optionOf[at] < int32_t(problem.items[at].options.size()))
          break;
        choice.optionOf[at] = 0;
      }
    }
    absl::StatusOr<Solution> solution = solve(problem);
    ASSERT_TRUE(solution.ok()) << message(solution.status());
    ASSERT_TRUE(solution->verify(problem).ok());
    const AlternativesStats stats = evaluate(problem, *solution);
    EXPECT_GE(stats.value, best) << printProblem(problem);
    EXPECT_LE(stats.lowerBound, best) << printProblem(problem);
    EXPECT_LE(stats.value, std::max(problem.linkCapacityWords,
                                    evaluate(problem, Solution{std::vector<int32_t>(problem.items.size())}).value))
        << "worse than no choice";
    EXPECT_EQ(stats.linksOverCapacity == 0, stats.value <= problem.linkCapacityWords);
    least += stats.value == best;
    possible += best <= problem.linkCapacityWords;
    within += stats.linksOverCapacity == 0;
  }
  std::printf("300 problems: least peak %d; within capacity possible %d, found %d\n", least, possible, within);
  EXPECT_EQ(within, possible);
}

TEST(Alternatives, WhatNeedNotMoveStays) {
  // Two items on one link that holds one of them: the second goes elsewhere, the third stays where it is.
  Problem problem{3, 4, 10, {}, {}};
  const Load shared{{0, 0, 0, 3}, 10}, below{{1, 0, 1, 3}, 10}, other{{2, 0, 2, 3}, 10};
  for (const Load &first : {shared, shared, other})
    problem.items.push_back({"i", {{"first", 0, {first}}, {"below", 0, {below}}}});
  absl::StatusOr<Solution> solution = solve(problem);
  ASSERT_TRUE(solution.ok());
  EXPECT_EQ(solution->optionOf[0] + solution->optionOf[1], 1);
  EXPECT_EQ(solution->optionOf[2], 0);
  EXPECT_EQ(evaluate(problem, *solution).linksOverCapacity, 0);
}

TEST(Alternatives, RowsAlikeAreLoadsOfTheirOwn) {
  test::Random random(6);
  for (int round = 0; round < 100; ++round) {
    Problem problem = randomProblem(random);
    for (Item &item : problem.items)
      for (Option &option : item.options)
        for (Load &load : option.loads)
          if (load.segment.row == load.segment.rowEnd)
            load.rowsAlike = random.in(1, problem.rows - load.segment.row);
    absl::StatusOr<Problem> rowByRow = parseProblem(printProblem(problem)); // lists each
    ASSERT_TRUE(rowByRow.ok()) << rowByRow.status();
    absl::StatusOr<Solution> together = solve(problem), apart = solve(*rowByRow);
    ASSERT_TRUE(together.ok() && apart.ok());
    EXPECT_EQ(together->optionOf, apart->optionOf) << printProblem(problem);
    EXPECT_EQ(evaluate(problem, *together).value, evaluate(*rowByRow, *apart).value) << printProblem(problem);
  }
}

TEST(Alternatives, WrongProblemsAndSolutionsAreRefused) {
  Problem problem{3, 4, 10, {}, {{"i", {}}}};
  EXPECT_EQ(message(problem.check()), "alternatives: item i has no option");
  problem.items[0].options.push_back({"o", -1, {}});
  EXPECT_EQ(message(problem.check()), "alternatives: item i: option o costs -1 links, must be 0 to 2^24");
  problem.items[0].options[0] = {"o", 0, {{{0, 0, 0, 4}, 1}}};
  EXPECT_EQ(message(solve(problem).status()), "routing: fixed load from (0, 0) to (0, 4) leaves mesh 3x4");
  Load &load = problem.items[0].options[0].loads[0];
  load = {{1, 0, 1, 3}, 1, 3};
  EXPECT_EQ(message(problem.check()),
            "routing: fixed load from (1, 0) to (1, 3) has 3 rows alike, must be 1 or, along a row, 1 to 2");
  load = {{0, 0, 1, 0}, 1, 2};
  EXPECT_EQ(message(problem.check()),
            "routing: fixed load from (0, 0) to (1, 0) has 2 rows alike, must be 1 or, along a row, 1 to 3");
  load = {{0, 0, 0, 3}, 1};
  EXPECT_EQ(message(Solution{{1}}.verify(problem)), "alternatives: item i has no option 1 of 1");
  EXPECT_EQ(message(Solution{}.verify(problem)), "alternatives: solution chooses for 0 of 1 items");
}

} // namespace
