// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shardings written by hand: their text, and what is refused.
#include "compiler/spmd/sharding/Sharding.h"
#include "compiler/spmd/moves/BestMove.h"

#include <gtest/gtest.h>

using namespace wsc::spmd;

namespace {

std::string refusal(const std::string &text) {
  const auto sharding = parseSharding(text);
  return sharding.ok() ? "accepted" : std::string(sharding.status().message());
}

/// Of a sharding whose text is well formed.
std::string refusalOf(const std::string &text, bool covers) {
  const auto sharding = parseSharding(text);
  EXPECT_TRUE(sharding.ok()) << sharding.status();
  return sharding.ok() ? std::string(sharding->check(covers).message()) : "";
}

} // namespace

TEST(ShardingText, IsReadAsItIsPrinted) {
  for (const char *text : {"(0, 0, 8, 8) [128 = r*16 | 16]", "(0, 0, 4, 8) [12 = c/2%4*3 | 3*1 2*8, 5 = 0 | 5]",
                           "(2, 1, 3, 5) [224 = -1 + r*16 | 18]", "(0, 0, 1, 1) [7 = 0 | 7]"}) {
    const auto sharding = parseSharding(text);
    ASSERT_TRUE(sharding.ok()) << sharding.status();
    const auto again = parseSharding(print(*sharding));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(*sharding, *again) << text;
  }
}

TEST(ShardingText, SaysWhereItGoesWrong) {
  EXPECT_EQ(refusal("0, 0, 8, 8) [4 = 0 | 4]"), "sharding, character 1: expected '('");
  EXPECT_EQ(refusal("(0, 0, 8, 8) [4 = x | 4]"), "sharding, character 19: expected a number");
  EXPECT_EQ(refusal("(0, 0, 8, 8) [4 = r*1 4]"), "sharding, character 23: expected '|'");
  EXPECT_EQ(refusal("(0, 0, 8, 8) [4 = 0 | 4] more"), "sharding, character 26: expected the end of the sharding");
  EXPECT_EQ(refusal("(0, 0, -8, 8) [4 = 0 | 4]"), "sharding, character 10: expected a place on the mesh");
  EXPECT_EQ(refusal("(0, 0, 8, 8) [4 = 0 | 99999999999999999999]"),
            "sharding, character 41: expected a number below 2^63");
  EXPECT_EQ(refusal("(0, 0, 0, 8) [4 = 0 | 4]"), "the sharding's rectangle (0, 0, 0, 8) has no cores");
  EXPECT_EQ(
      refusal("(0, 0, 8, 8) [4 = r/0*1 | 4]"),
      "dimension 0: mesh digit with divisor 0, modulus 0, step 1; divisors are positive, a modulus is positive or "
      "0 for none");
  EXPECT_EQ(refusal("(0, 0, 8, 8) [4 = 0 | 0]"), "dimension 0: local digit of 0 positions; it has at least one");
  EXPECT_EQ(refusal("(0, 0, 8, 8) [4 = 0 | 1048576 1048576 2]"),
            "the sharding holds more than 2^40 elements on a core");
}

TEST(Sharding, MustMatchItsTensor) {
  auto sharding = parseSharding("(0, 0, 4, 1) [16 = r*4 | 4]");
  ASSERT_TRUE(sharding.ok()) << sharding.status();
  EXPECT_TRUE(sharding->check(true).ok());
  sharding->shape = {16, 2}; // edited by hand
  EXPECT_EQ(sharding->check(false).message(), "the sharding has 1 dimensions, its tensor 2");
  // A step too wide, a block too short, a core too few: elements that lie nowhere.
  EXPECT_EQ(refusalOf("(0, 0, 4, 1) [16 = r*5 | 4]", true),
            "element 4 of 16 lies on no core; the digits of a dimension must reach its extent");
  EXPECT_EQ(refusalOf("(0, 0, 4, 1) [16 = r*4 | 3]", true),
            "element 3 of 16 lies on no core; the digits of a dimension must reach its extent");
  EXPECT_EQ(refusalOf("(0, 0, 3, 1) [16 = r*4 | 4]", true),
            "element 12 of 16 lies on no core; the digits of a dimension must reach its extent");
}

TEST(Sharding, AMoveOfWhatLiesNowhereIsRefused) {
  MoveProblem problem;
  problem.rectangle = {0, 0, 4, 1};
  problem.sources = {{*parseSharding("(0, 0, 4, 1) [16 = r*4 | 3]"), 0}};
  problem.ids = 16;
  const Sharding wanted = *parseSharding("(0, 0, 4, 1) [16 = r%2*8 | 8]");
  problem.width = 8;
  problem.wanted = wantedBy(wanted);
  const auto move = planMove(problem);
  ASSERT_FALSE(move.ok());
  EXPECT_EQ(move.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_NE(move.status().message().find("3"), std::string::npos) << move.status();
  problem.ids = 12; // numbers that a source has and the move does not know
  EXPECT_EQ(planMove(problem).status().message(), "a source has elements 0 to 16 of 12");
}
