// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The joint choice of distributions: what its problem counts is what the plan of its solution takes; it is no worse
// than the plan it begins with; what does not fit is left out of the next choice.
#include "compiler/spmd/plan/JointChoice.h"
#include "compiler/solver/Pbqp.h"
#include "compiler/spmd/plan/ImprovePlan.h"
#include "compiler/spmd/plan/PlanMaker.h"
#include "test/support/NetworkBuilder.h"
#include "test/unit/solver/TestUtil.h"

#include <gtest/gtest.h>

using namespace wsc;
using namespace wsc::spmd;
using namespace wsc::test;
using format::ElementType;
using format::Opcode;

namespace {

/// x [rows, inner], times one constant matrix after another; with `adds`, each product is added to what it multiplies.
struct Products : NetworkBuilder {
  TensorId last;
  Products(int64_t rows, const std::vector<int64_t> &widths, bool adds) {
    last = input("x", ElementType::F32, {rows, widths[0]});
    for (size_t i = 1; i < widths.size(); ++i) {
      const std::string number = std::to_string(i);
      auto w = constant("w" + number, ElementType::F32, {widths[i - 1], widths[i]},
                        std::vector<double>(size_t(widths[i - 1] * widths[i]), 1));
      auto y = value("y" + number, ElementType::F32, {rows, widths[i]});
      Nest nest = nestOver({rows, widths[i], widths[i - 1]}, 2, y);
      nest.name = "product" + number;
      nest.operands = {read(last, {{1, 0, 0}, {0, 0, 1}}), read(w, {{0, 0, 1}, {0, 1, 0}})};
      nest.reduction = Reduction{Opcode::Fma, ElementType::F32, 0};
      nest.values = {BodyValue::operand(0), BodyValue::operand(1)};
      nest.resultValue = BodyValue::reduced();
      add(nest);
      if (adds && widths[i] == widths[i - 1]) {
        auto sum = value("sum" + number, ElementType::F32, {rows, widths[i]});
        Nest adding = nestOver({rows, widths[i]}, 2, sum);
        adding.name = "add" + number;
        adding.operands = {read(last, {{1, 0}, {0, 1}}), read(y, {{1, 0}, {0, 1}})};
        adding.body = {bodyOp(Opcode::Add, ElementType::F32, BodyValue::operand(0), BodyValue::operand(1))};
        adding.values = {BodyValue::operation(0)};
        adding.resultValue = BodyValue::operation(0);
        add(adding);
        y = sum;
      }
      last = y;
    }
    output(last);
  }
};

class JointChoiceOf : public testing::Test {
protected:
  void plan(const Network &network, Rectangle rectangle) {
    ASSERT_TRUE(target.ok()) << target.status();
    views.emplace(network);
    auto made = PlanMaker(network, *views, *target, rectangle, {}, policy, cache, ruledOut).make();
    ASSERT_TRUE(made.ok()) << made.status();
    start = *std::move(made);
    choice.emplace(network, *views, *target, start, cache);
  }
  absl::StatusOr<NetworkPlan> planOf(const Network &network, const JointPlan &joint) {
    PlanMaker maker(network, *views, *target, start.rectangle, {}, policy, cache, ruledOut, &joint);
    auto made = maker.make();
    EXPECT_TRUE(maker.refused().empty());
    return made;
  }

  absl::StatusOr<target::Target> target = target::loadTarget("mesh-64x64");
  const PlanPolicy policy{.starts = LoopStarts::AsReached};
  const RuledOut ruledOut;
  EstimateCache cache;
  std::optional<Views> views;
  NetworkPlan start;
  std::optional<JointChoice> choice;
};

} // namespace

TEST_F(JointChoiceOf, ProductsTakesWhatItsProblemCounts) {
  const Products net(96, {128, 256, 256, 64}, true);
  plan(net.network, {0, 0, 16, 32});
  auto made = planOf(net.network, choice->choose());
  ASSERT_TRUE(made.ok()) << made.status();
  const solver::pbqp::Problem problem = choice->problem();
  const auto solution = solver::pbqp::solve(problem);
  ASSERT_TRUE(solution.ok());
  EXPECT_EQ(made->estimatedCycles, evaluate(problem, *solution).value + 8 * (16 + 32));
}

TEST_F(JointChoiceOf, RandomProductsIsNoWorseThanNestByNest) {
  solver::test::Random random(7);
  int better = 0;
  constexpr int kRounds = 12;
  for (int round = 0; round < kRounds; ++round) {
    std::vector<int64_t> widths{64};
    for (int products = random.in(2, 4); products > 0; --products)
      widths.push_back(random.in(0, 1) ? widths.back() : 32 * random.in(1, 6));
    const Products net(16 * random.in(1, 6), widths, true);
    plan(net.network, {0, 0, 8 << random.in(0, 2), 8 << random.in(0, 2)});
    auto made = planOf(net.network, choice->choose());
    ASSERT_TRUE(made.ok()) << made.status();
    EXPECT_LE(made->estimatedCycles, start.estimatedCycles);
    better += made->estimatedCycles < start.estimatedCycles;
    EXPECT_EQ(improvePlan(net.network, *views, *target, start, cache, ruledOut).estimatedCycles,
              std::min(made->estimatedCycles, start.estimatedCycles));
  }
  std::printf("better in %d of %d\n", better, kRounds);
  EXPECT_GE(better, 3);
}

TEST_F(JointChoiceOf, ProductsLeavesOutWhatDoesNotFit) {
  const Products net(96, {128, 256, 64}, false);
  plan(net.network, {0, 0, 16, 32});
  const JointPlan first = choice->choose();
  choice->forbid(1, false);
  const JointPlan second = choice->choose();
  EXPECT_FALSE(first.distributions[1] == second.distributions[1]);
  // Forbidden moves: the second product's operand comes in another way, or it lies where it is wanted.
  choice->forbid(1, true);
  const JointPlan third = choice->choose();
  EXPECT_FALSE(second.distributions == third.distributions);
}

// What is planned for one layer is known for all that are equal: three times as many take hardly more.
TEST_F(JointChoiceOf, EqualProductsShareTheirMoves) {
  size_t planned[2] = {0, 0};
  for (size_t i : {0, 1}) {
    const Products net(96, std::vector<int64_t>(i == 0 ? 5 : 13, 128), true);
    plan(net.network, {0, 0, 16, 32});
    choice->choose();
    planned[i] = choice->plannedMoves();
  }
  EXPECT_GT(planned[0], size_t(0));
  EXPECT_LE(planned[1], 2 * planned[0]);
}

TEST(JointChoice, NeedsTwoNestsAndLoopsWithoutSlices) {
  const Products one(8, {8, 8}, false), two(8, {8, 8, 8}, false);
  EXPECT_FALSE(JointChoice::applies(one.network, {}));
  EXPECT_TRUE(JointChoice::applies(two.network, {}));
  Loop loop;
  loop.end = 2;
  EXPECT_TRUE(JointChoice::applies(two.network, {loop}));
  loop.slices.push_back({0, 1});
  EXPECT_FALSE(JointChoice::applies(two.network, {loop}));
}
