// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where nests and outputs lie, by the shardings that choices make: no program is generated.
#include "compiler/spmd/phases/OutputPart.h"
#include "compiler/spmd/plan/Following.h"
#include "compiler/spmd/plan/Neutral.h"
#include "compiler/spmd/plan/PortSharding.h"
#include "test/support/NetworkBuilder.h"

#include <gtest/gtest.h>

using namespace wsc;
using namespace wsc::spmd;
using namespace wsc::test;
using format::ElementType;

// 6 elements lie in pairs on 3 of 4 columns. All 4 hold the result, so the fourth takes part with padding.
TEST(Following, CoresBehindTheLastBlockReduceWithTheOthers) {
  NetworkBuilder net;
  auto x = net.input("x", ElementType::I16, {6});
  auto y = net.value("y", ElementType::I16, {1});
  Nest nest = sumOver({1, 6}, 1, ElementType::I16, y);
  nest.operands = {read(x, {{0, 1}})};
  const auto held = parseSharding("(0, 0, 1, 4) [6 = c*2 | 2]");
  ASSERT_TRUE(held.ok()) << held.status();
  const auto followed = following(net.network, nest, nest.operands[0], *held);
  ASSERT_TRUE(followed);
  EXPECT_EQ(reduceGroup(nest, *followed, Axis::Col).cores, 4);
  EXPECT_EQ(resultSharding(nest, {1}, *followed).rectangle.cols, 4);
}

// Padding has to be neutral wherever a core's part of a reduction is beyond its end: of the last block, or all of a
// core.
TEST(PaddingMatters, WhereReductionsRunBeyondTheirEnd) {
  NetworkBuilder net;
  auto x = net.input("x", ElementType::I16, {6});
  Nest nest = sumOver({1, 6}, 1, ElementType::I16, net.value("y", ElementType::I16, {1}));
  nest.operands = {read(x, {{0, 1}})};
  for (const auto &[parts, matters] :
       {std::pair(1, false), {2, false}, {3, false}, {4, true}, {5, true}, {6, false}, {7, true}}) {
    const Distribution distribution{{0, 0, 1, parts}, {}, {-1, 1, parts > 1 ? 1 : -1, parts}};
    EXPECT_EQ(paddingMatters(net.network, nest, nest.operands[0], distribution), matters) << parts;
  }
}

// Groups that reduce begin where their line does: an operand on columns 1 to 3 is brought elsewhere first.
TEST(Following, ReductionsDoNotFollowWhatBeginsElsewhere) {
  NetworkBuilder net;
  auto x = net.input("x", ElementType::I16, {6});
  auto y = net.value("y", ElementType::I16, {1});
  Nest nest = sumOver({1, 6}, 1, ElementType::I16, y);
  nest.operands = {read(x, {{0, 1}})};
  const auto held = parseSharding("(0, 1, 1, 3) [6 = c*2 | 2]");
  ASSERT_TRUE(held.ok()) << held.status();
  EXPECT_FALSE(following(net.network, nest, nest.operands[0], *held));
}

// The last block of an output that is cut in its second of five dimensions leaves in one instruction of few dimensions.
TEST(OutputPart, PartsOfOutputsHaveFewDimensions) {
  const auto box = parseSharding("(0, 0, 2, 1) [3 = 0 | 3, 7 = r*4 | 4, 2 = 0 | 2, 2 = 0 | 2, 2 = 0 | 2]");
  ASSERT_TRUE(box.ok()) << box.status();
  const auto parts = leavingParts(*box);
  ASSERT_EQ(parts.size(), 1u);
  ASSERT_EQ(parts[0].size(), 2u);
  Code code;
  const Place place{code.scratch("box", ElementType::F32, box->localElements()), 0};
  emitOutputPart(code, parts[0][1], *box, ElementType::F32, place, 4);
  int64_t words = 1;
  for (const format::Affine &extent : code.main[0].extent)
    words *= extent.constant;
  EXPECT_EQ(words, 3 * 3 * 2 * 2 * 2);
}

// Of columns, or rows, that hold the same the first one's words leave: nothing has to be moved before.
TEST(OutputPart, CopiesStayBehind) {
  struct Case {
    const char *box;
    int32_t unit;
    Rectangle leaves;
    int64_t words; // of a row
  };
  for (const Case &c : {Case{"(0, 0, 4, 12) [6 = c/4*2 | 2, 12 = r*3 | 3]", 4, {0, 0, 4, 3}, 18},
                        Case{"(0, 0, 4, 6) [6 = c*1 |, 12 = r*3 | 3]", 1, {0, 0, 4, 6}, 18},
                        Case{"(0, 0, 4, 6) [2 = 0 | 2, 12 = r*3 | 3]", 6, {0, 0, 4, 1}, 6},
                        Case{"(0, 0, 4, 6) [12 = c/2*4 | 4]", 2, {0, 0, 1, 3}, 12},
                        Case{"(0, 0, 4, 12) [5 = c/4*2 | 2, 12 = r*3 | 3]", 4, {0, 0, 4, 3}, 18}}) {
    const auto box = parseSharding(c.box);
    ASSERT_TRUE(box.ok()) << box.status();
    EXPECT_EQ(leavingUnit(*box), c.unit) << c.box;
    EXPECT_EQ(withoutCopies(*box).rectangle, c.leaves) << c.box;
    EXPECT_TRUE(canLeave(*box)) << c.box;
    EXPECT_EQ(leavingCycles(*box, 4, {0, 0, 4, 12}) - leavingCycles(*box, 0, {0, 0, 4, 12}), c.words) << c.box;
  }
  // Copies that are not side by side: all would leave.
  for (const char *box : {"(0, 0, 4, 12) [3 = c%3*1 |, 12 = r*3 | 3]", "(0, 0, 8, 1) [12 = r/2*3 | 3]"}) {
    const auto held = parseSharding(box);
    ASSERT_TRUE(held.ok()) << held.status();
    EXPECT_FALSE(canLeave(*held)) << box;
  }
}
