// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Single annealing runs of contest placements: what they promise about the floorplan returned, whatever the network.
#include "compiler/solver/contest/Anneal.h"
#include "compiler/solver/contest/Solve.h"
#include "test/unit/solver/RandomContest.h"

using namespace wsc::solver::contest;
using wsc::solver::test::message;
using wsc::solver::test::Random;

namespace {

// All kernels in one comb of alternating cuts: a poor start.
Tree comb(int32_t leaves) {
  Tree tree(static_cast<size_t>(leaves));
  int32_t top = 0;
  for (int32_t leaf = 1; leaf < leaves; ++leaf) {
    const int32_t node = int32_t(tree.size());
    tree.push_back({-1, top, leaf, leaf % 2 ? Cut::Stack : Cut::Line});
    tree[size_t(top)].parent = tree[size_t(leaf)].parent = node;
    top = node;
  }
  return tree;
}

TEST(ContestAnneal, RunsAtOneTargetEndWithAFloorplanThatFitsWhereAreasLeaveSomeRoom) {
  Random random(21);
  int runs = 0, fitting = 0;
  for (int round = 0; round < 4; ++round) {
    absl::StatusOr<Problem> problem = parseKgraph(wsc::solver::test::randomNetwork(random, true, 4, 4));
    ASSERT_TRUE(problem.ok()) << message(problem.status());
    absl::StatusOr<ShapeTable> table = ShapeTable::create(*problem);
    ASSERT_TRUE(table.ok()) << message(table.status());
    const Instance instance(*problem, *table, 0.05);
    const double grid = double(problem->width * problem->height);
    int32_t rung = 0;
    while (rung + 1 < instance.ladder.size() && double(instance.ladder.rung(rung).area) > 0.95 * grid)
      ++rung;
    for (uint64_t seed = 0; seed < 3; ++seed) {
      Schedule schedule;
      schedule.seed = seed;
      schedule.moves = 150000;
      schedule.hot = 0.04 * instance.wireSpan(); // so cheap are rows, and hot the run, that trees overflow at first
      schedule.cold = 0.008 * instance.wireSpan();
      schedule.overflowPrice = 2e-3 * instance.wireSpan();
      schedule.hardPrice = 2 * schedule.hot;
      schedule.freeTarget = false;
      const Floorplan found = anneal(instance, {comb(instance.numLeaves()), rung}, schedule, std::atomic<bool>(false));
      ++runs;
      fitting += found.fits;
      // What it says of the floorplan is so.
      SlicingTree tree(problem->width, problem->height, found.tree, instance.outlines(found.rung));
      EXPECT_EQ(tree.overflow() <= 0, found.fits) << "round " << round << " seed " << seed;
      if (found.fits) {
        std::vector<Rectangle> rectangles;
        tree.realise(rectangles);
        EXPECT_DOUBLE_EQ(instance.timeCost(found.rung) + instance.wireCost(rectangles), found.cost)
            << "round " << round << " seed " << seed;
      }
    }
  }
  std::printf("%d of %d runs fit\n", fitting, runs);
  EXPECT_GE(fitting, runs - 2);
}

TEST(ContestAnneal, SlackThatCanBeMetIsMetHoweverDearTheWires) {
  Random random(22);
  for (int round = 0; round < 4; ++round) {
    absl::StatusOr<Problem> problem = parseKgraph(wsc::solver::test::randomNetwork(random, false, 1, 400));
    ASSERT_TRUE(problem.ok()) << message(problem.status());
    SolveOptions options;
    options.steps = 8;
    options.seconds = 1e6;
    options.movesPerKernel = 1500;
    absl::StatusOr<Solved> solved = solve(*problem, options);
    ASSERT_TRUE(solved.ok()) << message(solved.status());
    const double ratio = evaluate(*problem, solved->solution).time.value() / timeBound(*problem)->value();
    std::printf("%zu kernels: time over bound %.4f\n", problem->kernels.size(), ratio);
    EXPECT_LE(ratio, 1.05) << "round " << round;
  }
}

} // namespace
