// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole solves of contest placements: quality on networks made here, determinism, limits, the contest's own graphs
// where they are present.
#include "compiler/solver/contest/Solve.h"
#include "test/support/Sanitizers.h"
#include "test/unit/solver/RandomContest.h"

#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace wsc::solver::contest;
using wsc::solver::test::message;
using wsc::solver::test::Random;

namespace {

Problem parse(const std::string &text) {
  absl::StatusOr<Problem> problem = parseKgraph(text);
  EXPECT_TRUE(problem.ok()) << message(problem.status());
  return problem.ok() ? *problem : Problem();
}

Solved solveWith(const Problem &problem, const SolveOptions &options) {
  absl::StatusOr<Solved> solved = solve(problem, options);
  EXPECT_TRUE(solved.ok()) << message(solved.status());
  if (!solved.ok())
    return {};
  EXPECT_TRUE(solved->solution.verify(problem).ok()) << message(solved->solution.verify(problem));
  return *solved;
}

SolveOptions steps(int32_t count, int64_t movesPerKernel = 1500) {
  SolveOptions options;
  options.steps = count;
  options.seconds = 1e6;
  options.movesPerKernel = movesPerKernel; // little effort
  return options;
}

TEST(ContestSolve, CloseToTheBoundOnNetworksOfSeveralSizes) {
  Random random(5);
  for (int round = 0; round < 3; ++round) {
    const Problem problem =
        parse(wsc::solver::test::randomNetwork(random, round % 2 == 1, 1 + round / 2, 1 + round % 4));
    const Solved solved = solveWith(problem, steps(8, 2500));
    ASSERT_FALSE(solved.solution.places.empty());
    const Score score = evaluate(problem, solved.solution);
    const double bound = timeBound(problem)->value(), ratio = score.time.value() / bound;
    std::printf("%zu kernels: time %.6g bound %.6g ratio %.3f wire %.6g cost/bound %.3f\n", problem.kernels.size(),
                score.time.value(), bound, ratio, double(score.doubleWire) / 2, *score.cost / bound);
    EXPECT_GE(ratio, 1);
    EXPECT_LE(ratio, 1.10);
  }
}

TEST(ContestSolve, SameForAnyNumberOfThreads) {
  Random random(6);
  const Problem problem = parse(wsc::solver::test::randomNetwork(random, false, 1, 1));
  std::vector<std::string> texts;
  for (int32_t threads : {1, 2, 5}) {
    SolveOptions options = steps(10, 300); // into the second generation
    options.threads = threads;
    texts.push_back(printPaint(problem, solveWith(problem, options).solution));
  }
  EXPECT_EQ(texts[0], texts[1]);
  EXPECT_EQ(texts[0], texts[2]);
}

TEST(ContestSolve, StepsCompletedInTimeGiveThePlacementOfThatManySteps) {
  Random random(7);
  const Problem problem = parse(wsc::solver::test::randomNetwork(random, false, 1, 1));
  SolveOptions options = steps(1000000);
  options.seconds = wsc::test::kSlowdown;
  const Solved solved = solveWith(problem, options);
  std::printf("%d steps\n", solved.steps);
  if (solved.steps > 0) {
    EXPECT_EQ(printPaint(problem, solved.solution),
              printPaint(problem, solveWith(problem, steps(solved.steps)).solution));
  }
}

TEST(ContestSolve, HasAPlacementEvenWhereTimeEndsAtOnce) {
  Random random(8);
  for (int round = 0; round < 4; ++round) {
    const Problem problem = parse(wsc::solver::test::randomNetwork(random, round % 2 == 1, 3, 1));
    SolveOptions options = steps(1, 1000000);
    options.seconds = 0.01;
    const Solved solved = solveWith(problem, options); // which verifies it
    EXPECT_EQ(solved.steps, 0);
    EXPECT_EQ(solved.solution.places.size(), problem.kernels.size());
  }
}

TEST(ContestSolve, TimeSlackTradesTimeForWires) {
  // Small kernels on a large grid: only wires count, and shorter ones cost time.
  wsc::solver::test::ContestText network;
  for (int32_t i = 1; i <= 6; ++i) {
    network.add("conv", wsc::solver::test::convText(4, 3, 4, 4, 1));
    network.connect(i - 1, i);
  }
  const Problem problem = parse(network.text(300, 1, 4, 9000));
  SolveOptions bounded = steps(2), any = steps(2);
  any.timeSlack = -1;
  const Score fast = evaluate(problem, solveWith(problem, bounded).solution),
              cheap = evaluate(problem, solveWith(problem, any).solution);
  EXPECT_EQ(fast.time.value(), timeBound(problem)->value());
  EXPECT_GT(cheap.time.value(), fast.time.value());
  EXPECT_LT(*cheap.cost, *fast.cost);
}

TEST(ContestSolve, OneKernelAndKernelsWithoutConnections) {
  const Problem one = parse("(* width=50 height=70 wdeltat=1 wlength=1 wadapter=1 memlimit=9000 *)\n"
                            "input[0] name='k0'\nconv[1] H=8 W=8 R=3 S=3 C=8 K=8 T=1 U=1 name='k1'\n"
                            "input[0]:_ -> conv[1]:x");
  EXPECT_EQ(evaluate(one, solveWith(one, steps(1)).solution).time.value(), timeBound(one)->value());
  const Problem loose = parse("(* width=50 height=70 wdeltat=0 wlength=0 wadapter=1 memlimit=9000 *)\n"
                              "conv[1] H=8 W=8 R=3 S=3 C=8 K=8 T=1 U=1 name='k1'\n"
                              "conv[2] H=8 W=8 R=3 S=3 C=8 K=8 T=1 U=1 name='k2'");
  EXPECT_EQ(solveWith(loose, steps(1)).solution.places.size(), 2u);
}

TEST(ContestSolve, GridTooSmallForAllKernels) {
  const Problem problem = parse("(* width=5 height=5 wdeltat=1 wlength=1 wadapter=0 memlimit=9000 *)\n"
                                "conv[1] H=2 W=2 R=1 S=1 C=2 K=2 T=1 U=1 name='k1'\n"
                                "conv[2] H=2 W=2 R=1 S=1 C=2 K=2 T=1 U=1 name='k2'\n"
                                "conv[3] H=2 W=2 R=1 S=1 C=2 K=2 T=1 U=1 name='k3'\n"
                                "conv[4] H=2 W=2 R=1 S=1 C=2 K=2 T=1 U=1 name='k4'\n"
                                "conv[5] H=2 W=2 R=1 S=1 C=2 K=2 T=1 U=1 name='k5'");
  EXPECT_EQ(
      message(solve(problem, steps(1)).status()),
      "no placement of 5 kernels on the grid of 5x5 found in 25 steps; allow more steps or time, or enlarge the grid");
}

TEST(ContestSolve, ContestGraphsComeCloseToTheirBounds) {
  const char *folder = std::getenv("WSC_ISPD2020");
  if (!folder) // the graphs carry no licence, so they are not kept here
    GTEST_SKIP() << "WSC_ISPD2020 does not name the contest's folder";
  struct Limit {
    char graph;
    double ratio, cost;
  };
  for (const Limit &limit : {Limit{'A', 1.06, 36500}, Limit{'I', 1.08, 1e9}, Limit{'K', 1, 1e9}}) {
    std::ifstream file(std::string(folder) + "/benchmarks/" + limit.graph + ".kgraph");
    std::ostringstream text;
    text << file.rdbuf();
    const Problem problem = parse(text.str());
    const Score score = evaluate(problem, solveWith(problem, steps(8)).solution);
    EXPECT_LE(score.time.value(), limit.ratio * timeBound(problem)->value()) << limit.graph;
    EXPECT_LE(*score.cost, limit.cost) << limit.graph;
  }
}

} // namespace
