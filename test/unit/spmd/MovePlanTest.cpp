// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Forms that plans of moves take: hops, stages, copies of blocks and pieces. MoveTest.cpp executes moves.
#include "compiler/spmd/moves/BestMove.h"
#include "compiler/spmd/moves/EmitFactored.h"
#include "compiler/spmd/moves/Hops.h"
#include "compiler/spmd/moves/WindowReads.h"
#include "test/support/MoveProgram.h"

#include <gtest/gtest.h>

using namespace wsc;
using namespace wsc::spmd;

namespace {

// Blocks lie on columns by channel and pixel; each row wants one channel of all pixels around. Over blocks without
// borders, groups of columns bring the channels and their neighbours the borders.
TEST(MovePlan, ChannelsThenBorders) {
  MoveProblem problem =
      test::moveBetween(*parseSharding("(0, 0, 16, 32) [64 = c%8*8 | 8, 8 = r/8*4 | 4, 4 = c/8*1 |]"),
                        *parseSharding("(0, 0, 16, 32) [64 = r%8*8 | 8, 8 = r/8*4 | 4, 4 = -1 + c/8*1 | 3]"),
                        {0, 0, 16, 32}, format::ElementType::F32)
          .problem;
  problem.fillMatters = true;
  const auto plan = planHops(problem);
  ASSERT_TRUE(plan);
  const auto direct = planFactored(problem, problem.pieces[0]);
  ASSERT_TRUE(direct);
  EXPECT_EQ(plan->hops.size(), 2u);
  EXPECT_LT(plan->estimatedCycles, direct->estimatedCycles);
}

// Of a neighbour's two channels of four rows of three pixels one row of each travels.
TEST(MovePlan, BordersOfBlocks) {
  const MoveProblem problem =
      test::moveBetween(*parseSharding("(0, 0, 8, 1) [2 = 0 | 2, 32 = r*4 | 4, 3 = 0 | 3]"),
                        *parseSharding("(0, 0, 8, 1) [2 = 0 | 2, 32 = -1 + r*4 | 6, 3 = 0 | 3]"), {0, 0, 8, 1},
                        format::ElementType::F32)
          .problem;
  const auto move = planFactored(problem, problem.pieces[0]);
  ASSERT_TRUE(move);
  ASSERT_EQ(move->stages.size(), 1u);
  ASSERT_EQ(move->stages[0].line.kind, LinePlan::Kind::Window);
  const BlockPart before = wordsRead(move->stages[0], 4, 0, 1), behind = wordsRead(move->stages[0], 4, 2, 3);
  EXPECT_EQ(before.base, 9);
  EXPECT_EQ(before.words(), 6);
  EXPECT_EQ(behind.base, 0);
  EXPECT_EQ(behind.words(), 6);
}

// What lies as it is wanted stays, unless padding has to hold the fill: of 11 logits on 6 columns the last has one.
TEST(MovePlan, PaddingOfWhatStaysIsFilled) {
  const Sharding logits = *parseSharding("(0, 0, 3, 6) [3 = r*1 |, 11 = c*2 | 2]");
  MoveProblem problem = test::moveBetween(logits, logits, {0, 0, 3, 6}, format::ElementType::F32).problem;
  for (const bool fillMatters : {false, true}) {
    problem.fillMatters = fillMatters;
    const auto move = planBestMove(problem);
    ASSERT_TRUE(move.ok()) << move.status();
    EXPECT_EQ(move->isIdentity, !fillMatters);
  }
}

// Groups of four columns have channels of two images; of the result's channels the first image's go to two of the four.
TEST(MovePlan, PiecesLeaveOtherColumnsAlone) {
  MoveProblem problem;
  problem.rectangle = {0, 0, 1, 12};
  const Sharding image = *parseSharding("(0, 0, 1, 12) [32 = c%4*8 | 8, 9 = c/4*4 | 4]");
  problem.sources = {{image, 0}, {image, 32 * 9}};
  problem.ids = 2 * 32 * 9;
  problem.target = *parseSharding("(0, 0, 1, 12) [64 = c%4*16 | 16, 9 = c/4*4 | 4]");
  problem.width = problem.target->localElements();
  for (int32_t i : {0, 1})
    problem.pieces.push_back({i, 0, i * 32 * 9, {{32 * 9, 1, 1}}});
  for (int32_t i : {0, 1}) {
    const auto move = planFactored(problem, problem.pieces[size_t(i)]);
    ASSERT_TRUE(move);
    const BlockCopy &copy = move->stages.back().copy;
    EXPECT_FALSE(copy.table);
    EXPECT_EQ(copy.cols, (BlockCopy::Remainders{4, i * 2, i * 2 + 2}));
  }
}

// Earlier states and the last one lie alike: they are joined where they are and travel together.
TEST(MovePlan, PiecesThatLieAlikeTravelTogether) {
  MoveProblem problem;
  problem.rectangle = {0, 0, 29, 27};
  problem.sources = {{*parseSharding("(0, 0, 29, 27) [1 = 0 |, 81 = c*3 | 3]"), 0},
                     {*parseSharding("(0, 0, 29, 27) [13 = 0 | 13, 1 = 0 |, 81 = c*3 | 3]"), 81}};
  problem.ids = 14 * 81;
  problem.target = *parseSharding("(0, 0, 29, 27) [14 = 0 | 14, 1 = 0 |, 81 = r*3 | 3]");
  problem.width = problem.target->localElements();
  problem.pieces = {{0, 0, 13 * 81, {{81, 1, 1}}}, {1, 0, 0, {{13 * 81, 1, 1}}}};
  const auto plan = planHops(problem);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->hops.size(), 2u);
  for (const FactoredMove &move : plan->hops[0].moves) {
    ASSERT_EQ(move.stages.size(), 1u);
    EXPECT_EQ(move.stages[0].line.kind, LinePlan::Kind::Local);
  }
  EXPECT_EQ(plan->hops[1].moves.size(), 1u);
  EXPECT_FALSE(fillsResult(plan->hops[0].problem, plan->hops[0].moves)) << "the pieces are all of it";
}

// Along the columns go whole blocks of 5: column c keeps those from block 13·c/5 on, which is no number of the column,
// so each keeps a block more and begins where one is.
TEST(MovePlan, StretchesOfBlocks) {
  MoveProblem problem;
  problem.rectangle = {0, 0, 24, 10};
  problem.sources = {{*parseSharding("(0, 0, 24, 10) [117 = r*5 | 5]"), 0}};
  problem.ids = 117;
  problem.target = *parseSharding("(0, 0, 24, 9) [117 = c*13 | 13]");
  problem.width = problem.target->localElements();
  StridedPiece whole;
  whole.digits = {{117, 1, 1}};
  problem.pieces = {whole};
  const auto move = planFactored(problem, whole);
  ASSERT_TRUE(move);
  ASSERT_EQ(move->stages.size(), 1u);
  EXPECT_LE(move->stages[0].line.blocks, 6); // a column needs up to 4, the line has 24
}

} // namespace
