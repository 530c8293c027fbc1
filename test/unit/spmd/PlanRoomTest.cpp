// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What plans leave free, and which rectangles they take.
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
  const auto plans = planCandidates(net.network, views, *target, {}, {}, caches, 1);
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
