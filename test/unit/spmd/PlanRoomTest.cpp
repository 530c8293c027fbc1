// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What plans leave free, and which rectangles they take.
#include "compiler/spmd/phases/Generate.h"
#include "compiler/spmd/plan/Plan.h"
#include "test/support/NetworkBuilder.h"

#include <gtest/gtest.h>

using namespace wsc;
using namespace wsc::spmd;
using namespace wsc::test;
using format::ElementType;
using format::Opcode;

namespace {

/// y [rows, cols] = x [rows, inner] · w [inner, cols]; the network's only nest.
struct Product : NetworkBuilder {
  TensorId y;
  Product(int64_t rows, int64_t inner, int64_t cols) {
    auto x = input("x", ElementType::F32, {rows, inner});
    y = value("y", ElementType::F32, {rows, cols});
    auto w = constant("w", ElementType::F32, {inner, cols}, std::vector<double>(size_t(inner * cols), 1));
    Nest nest = nestOver({rows, cols, inner}, 2, y);
    nest.operands = {read(x, {{1, 0, 0}, {0, 0, 1}}), read(w, {{0, 0, 1}, {0, 1, 0}})};
    nest.reduction = Reduction{Opcode::Fma, ElementType::F32, 0};
    nest.values = {BodyValue::operand(0), BodyValue::operand(1)};
    nest.resultValue = BodyValue::reduced();
    add(nest);
    output(y);
  }
};

} // namespace

// Extents of 320 × 192 fit no square and none of its halves: one of the rectangles has just the cores that compute.
TEST(PlanRectangles, MeetWhatTheLayersUse) {
  Product net(96, 320, 192);
  auto target = target::loadTarget("mesh-600x500");
  ASSERT_TRUE(target.ok());
  const Views views(net.network);
  EstimateCaches caches;
  const auto plans = planCandidates(net.network, views, *target, {}, {}, caches, {.threads = 1});
  ASSERT_TRUE(plans.ok()) << plans.status();
  for (const NetworkPlan &plan : *plans) {
    const Rectangle &own = plan.rectangle, &used = plan.distributions[0].rectangle;
    const auto isPower = [](int32_t extent) { return (extent & (extent - 1)) == 0; };
    if (own == used && (!isPower(own.rows) || !isPower(own.cols)))
      return;
  }
  FAIL() << "all of the " << plans->size() << " rectangles have idle rows or columns";
}

class PlanRoom : public testing::Test {
protected:
  static constexpr int64_t kRows = 64, kInner = 16, kCols = 48, kSide = 8;
  static constexpr int64_t kResultBytes = 4 * kRows * kCols / (kSide * kSide); // of a core

  void SetUp() override {
    ASSERT_TRUE(target.ok()) << target.status();
    all = tensorBytes(*target);
  }
  absl::StatusOr<NetworkPlan> planWith(const PlanPolicy &policy) {
    Views views(net.network);
    return planNetwork(net.network, views, *target, {0, 0, kSide, kSide}, {}, policy);
  }

  const Product net{kRows, kInner, kCols};
  const absl::StatusOr<target::Target> target = target::loadTarget("mesh-8x8");
  int64_t all = 0; // bytes of a core for tensors
};

// Bytes that are kept free for constants go to no tensor.
TEST_F(PlanRoom, IsKeptForConstants) {
  for (int64_t free = all; free > 0; free /= 2) {
    SCOPED_TRACE(std::to_string(all - free) + " bytes reserved");
    const auto plan = planWith({.reservedBytes = all - free});
    if (!plan.ok()) {
      EXPECT_TRUE(absl::IsResourceExhausted(plan.status())) << plan.status();
      EXPECT_LT(free, kResultBytes * 10); // not before it is scarce
      continue;
    }
    const int64_t result = plan->held[size_t(net.y)]->localElements() * 4;
    EXPECT_LE(std::max(plan->constantBytes, all - free) + result, all);
    EXPECT_GT(plan->constantBytes, 0);
  }
  EXPECT_FALSE(planWith({.reservedBytes = all}).ok());
}

// What a program lacked, the next plan leaves to it: operand, result and constants keep out of the margin.
TEST_F(PlanRoom, LeavesAMargin) {
  for (int64_t left : {all, 16 * kResultBytes, 10 * kResultBytes}) {
    const auto plan = planWith({.marginBytes = all - left});
    ASSERT_TRUE(plan.ok()) << left << ": " << plan.status();
    EXPECT_LE(plan->constantBytes + plan->held[size_t(net.y)]->localElements() * 4, left);
  }
  EXPECT_TRUE(absl::IsResourceExhausted(planWith({.marginBytes = all - kResultBytes}).status()));
}

// A row times a matrix: with columns on one axis a core holds an eighth of the result and of the sums, which is too
// much; on both axes a 64th.
TEST(PlanCandidates, PutAnIteratorOnBothAxesWhereNothingElseFits) {
  Product net(1, 16, 2048);
  const auto target = target::loadTarget("mesh-8x8");
  ASSERT_TRUE(target.ok()) << target.status();
  const auto planIn = [&](int64_t bytes) {
    Views views(net.network);
    PlanPolicy policy;
    policy.marginBytes = tensorBytes(*target) - bytes;
    return planNetwork(net.network, views, *target, {0, 0, 8, 8}, {}, policy);
  };
  const auto axesOfColumns = [](const NetworkPlan &plan) {
    const Distribution &found = plan.distributions[0];
    int axes = 0;
    for (const AxisUse *use : {&found.rows, &found.cols})
      axes += use->iterator == 1 || use->inner == 1;
    return axes;
  };
  const int64_t weights = 4 * 16 * 2048 / 64;
  const auto roomy = planIn(8 * weights), scarce = planIn(weights + 512);
  ASSERT_TRUE(roomy.ok()) << roomy.status();
  ASSERT_TRUE(scarce.ok()) << scarce.status();
  EXPECT_EQ(axesOfColumns(*roomy), 1);
  EXPECT_EQ(axesOfColumns(*scarce), 2);
  EXPECT_EQ(scarce->held[size_t(net.y)]->localElements(), 2048 / 64);
  EXPECT_TRUE(absl::IsResourceExhausted(planIn(weights).status()));
}

// Weights that are more than a plan usually gives to tensors, but less than what a short program leaves.
TEST(PlanCandidates, CountOnTheShareForCodeWhereNothingElseFits) {
  const auto target = target::loadTarget("mesh-8x8");
  ASSERT_TRUE(target.ok()) << target.status();
  const int64_t usual = tensorBytes(*target), spare = spareCodeBytes(*target);
  Product net(1, 64, (usual + spare / 2) / 4); // 64 rows of weights on 64 cores, four bytes a column
  const Views views(net.network);
  EstimateCaches caches;
  const auto plans = planCandidates(net.network, views, *target, {}, {}, caches, {.threads = 1});
  ASSERT_TRUE(plans.ok()) << plans.status();
  EXPECT_EQ(plans->front().policy.marginBytes, -spare);
  EXPECT_GT(plans->front().constantBytes, usual);
  const auto program = generatePhases({net.network}, *target, {.threads = 1});
  EXPECT_TRUE(program.ok()) << program.status();
  Product tooLarge(1, 64, (usual + 2 * spare) / 4);
  EXPECT_TRUE(absl::IsResourceExhausted(generatePhases({tooLarge.network}, *target, {.threads = 1}).status()));
}
