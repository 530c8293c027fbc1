// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who goes first on a core where sums end: taking the row's input, sending results, computing.
#include "compiler/kernels/programs/Priorities.h"
#include "compiler/kernels/mapping/MapNetwork.h"

#include "ConvThenRelu.h"

#include <gtest/gtest.h>

#include <set>

namespace wsc::kernels {
namespace {

using format::Instruction;
using format::OperandKind;

// Priorities of the instructions of a kind, over all cores of the convolution where sums end.
struct Found {
  std::set<int> take, send, control, compute;
};

Found prioritiesFound(int32_t levels) {
  Found found;
  auto target = target::loadTarget("mesh-32x32");
  EXPECT_TRUE(target.ok());
  target->issuePriorities = levels;
  NetworkPlan plan = convThenRelu({8, 12, 12}, 16, 3, 3, 1);
  EXPECT_TRUE(sizeNetwork(*target, plan).ok());
  KernelRows rows(*target, plan, 0);
  std::vector<format::Role> roles;
  SectionTable sections;
  for (int64_t slice = 0; slice < rows.slices(); ++slice)
    EXPECT_TRUE(rows.roles(0, slice, sections, roles).ok());
  for (const format::Role &role : roles) {
    if (!role.name.ends_with(".reduce"))
      continue;
    for (const Instruction &instruction : role.threads[0])
      if (instruction.opcode == format::Opcode::Move && instruction.a.kind == OperandKind::Queue)
        found.take.insert(instruction.priority);
      else if (instruction.opcode == format::Opcode::Fma)
        found.compute.insert(instruction.priority);
    for (const Instruction &instruction : role.threads[1])
      (instruction.opcode == format::Opcode::SendControl ? found.control : found.send).insert(instruction.priority);
  }
  return found;
}

TEST(Priorities, TakingThenSendingThenComputing) {
  const Found found = prioritiesFound(3);
  EXPECT_EQ(found.take, std::set<int>{2});
  EXPECT_EQ(found.send, std::set<int>{1});
  EXPECT_EQ(found.control, std::set<int>{1});
  EXPECT_EQ(found.compute, std::set<int>{0});
}

/// Sending must not take turns with taking, which all cores of the row wait for.
TEST(Priorities, WithTwoLevelsSendingIsOnAParWithComputing) {
  const Found found = prioritiesFound(2);
  EXPECT_EQ(found.take, std::set<int>{1});
  EXPECT_EQ(found.send, std::set<int>{0});
  EXPECT_EQ(found.compute, std::set<int>{0});
}

TEST(Priorities, WithOneLevelAllAreEqual) {
  const Found found = prioritiesFound(1);
  EXPECT_EQ(found.take, std::set<int>{0});
  EXPECT_EQ(found.send, std::set<int>{0});
}

} // namespace
} // namespace wsc::kernels
