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

// Bytes that are kept free for constants go to no tensor.
TEST(PlanRoom, IsKeptForConstants) {
  const int64_t rows = 64, inner = 16, cols = 48;
  const Product net(rows, inner, cols);
  auto target = target::loadTarget("mesh-8x8");
  ASSERT_TRUE(target.ok());
  std::vector<Views> views;
  views.emplace_back(net.network);
  const int64_t all = tensorBytes(*target);
  for (int64_t free = all; free > 0; free /= 2) {
    SCOPED_TRACE(std::to_string(all - free) + " bytes reserved");
    const auto plan = planNetwork(net.network, views[0], *target, {0, 0, 8, 8}, {}, {.reservedBytes = all - free});
    if (!plan.ok()) {
      EXPECT_TRUE(absl::IsResourceExhausted(plan.status())) << plan.status();
      EXPECT_LT(free, 4 * rows * cols / 64 * 10); // not before it is scarce
      continue;
    }
    const int64_t result = plan->held[size_t(net.y)]->localElements() * 4;
    EXPECT_LE(std::max(plan->constantBytes, all - free) + result, all);
    EXPECT_GT(plan->constantBytes, 0);
  }
  EXPECT_FALSE(planNetwork(net.network, views[0], *target, {0, 0, 8, 8}, {}, {.reservedBytes = all}).ok());
}

// What a program lacked, the next plan leaves to it: operand, result and constants keep out of the margin.
TEST(PlanRoom, LeavesAMargin) {
  const int64_t rows = 64, inner = 16, cols = 48;
  const Product net(rows, inner, cols);
  auto target = target::loadTarget("mesh-8x8");
  ASSERT_TRUE(target.ok());
  std::vector<Views> views;
  views.emplace_back(net.network);
  const int64_t all = tensorBytes(*target);
  const auto planWith = [&](int64_t left) {
    return planNetwork(net.network, views[0], *target, {0, 0, 8, 8}, {}, {.marginBytes = all - left});
  };
  const int64_t result = 4 * rows * cols / 64;
  for (int64_t left : {all, 16 * result, 10 * result}) {
    const auto plan = planWith(left);
    ASSERT_TRUE(plan.ok()) << left << ": " << plan.status();
    EXPECT_LE(plan->constantBytes + plan->held[size_t(net.y)]->localElements() * 4, left);
  }
  EXPECT_TRUE(absl::IsResourceExhausted(planWith(result).status()));
}
