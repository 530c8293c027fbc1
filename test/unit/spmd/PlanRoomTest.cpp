// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What plans leave free.
#include "compiler/spmd/plan/Plan.h"
#include "test/support/NetworkBuilder.h"

#include <gtest/gtest.h>

using namespace wsc;
using namespace wsc::spmd;
using namespace wsc::test;
using format::ElementType;
using format::Opcode;

// Bytes that are kept free for constants go to no tensor.
TEST(PlanRoom, IsKeptForConstants) {
  const int64_t rows = 64, inner = 16, cols = 48;
  NetworkBuilder net;
  auto x = net.input("x", ElementType::F32, {rows, inner}), y = net.value("y", ElementType::F32, {rows, cols});
  auto w = net.constant("w", ElementType::F32, {inner, cols}, std::vector<double>(size_t(inner * cols), 1));
  Nest nest = nestOver({rows, cols, inner}, 2, y);
  nest.operands = {read(x, {{1, 0, 0}, {0, 0, 1}}), read(w, {{0, 0, 1}, {0, 1, 0}})};
  nest.reduction = Reduction{Opcode::Fma, ElementType::F32, 0};
  nest.values = {BodyValue::operand(0), BodyValue::operand(1)};
  nest.resultValue = BodyValue::reduced();
  net.add(nest);
  net.output(y);
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
    const int64_t result = plan->held[size_t(y)]->localElements() * 4;
    EXPECT_LE(std::max(plan->constantBytes, all - free) + result, all);
    EXPECT_GT(plan->constantBytes, 0);
  }
  EXPECT_FALSE(planNetwork(net.network, views[0], *target, {0, 0, 8, 8}, {}, {.reservedBytes = all}).ok());
}
