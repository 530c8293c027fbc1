// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where constants lie that meet other tensors in one view.
#include "compiler/spmd/plan/ConstantPlaces.h"

#include <gtest/gtest.h>

using namespace wsc;
using namespace wsc::spmd;

namespace {

constexpr Rectangle kRectangle{0, 0, 16, 8};

Tensor constant(std::vector<int64_t> shape) {
  Tensor tensor;
  tensor.kind = Tensor::Kind::Constant;
  tensor.type = format::ElementType::F32;
  tensor.shape = std::move(shape);
  return tensor;
}

// Source 1 of a view; source 0 is something else.
std::string placeOf(const Tensor &tensor, const StridedPiece &piece, const std::string &wanted) {
  StridedPiece other;
  other.digits = {{3, 1, 1}};
  return print(constantPlace(tensor, 1, {other, piece}, *parseSharding(wanted), kRectangle));
}

} // namespace

TEST(ConstantPlaces, ATokenLiesAsItsFeaturesAreWanted) {
  const StridedPiece token{1, 0, 0, {{32, 1, 1}}};
  EXPECT_EQ(placeOf(constant({1, 32}), token, "(0, 0, 13, 8) [13 = r*1 |, 32 = c*4 | 4]"),
            "(0, 0, 13, 8) [1 = 0 |, 32 = c*4 | 4]");
}

TEST(ConstantPlaces, APartOfADimensionLiesWhereItsElementsAreWanted) {
  // Rows 10, 11 and 12 of 13: element 0 is row 10.
  const StridedPiece rows{1, 0, 10 * 32, {{3, 32, 32}, {32, 1, 1}}};
  EXPECT_EQ(placeOf(constant({3, 32}), rows, "(0, 0, 7, 8) [13 = r*2 | 2, 32 = c*4 | 4]"),
            "(0, 0, 7, 8) [3 = -10 + r*2 | 2, 32 = c*4 | 4]");
}

TEST(ConstantPlaces, OthersLieFlat) {
  const std::string flat = print(flatSharding(kRectangle, 3 * 32, 1));
  // Turned round.
  EXPECT_EQ(placeOf(constant({3, 32}), {1, 0, 0, {{32, 1, 3}, {3, 32, 1}}}, "(0, 0, 8, 8) [96 = r*12 | 12]"), flat);
  // Half of it.
  EXPECT_EQ(placeOf(constant({3, 32}), {1, 0, 0, {{3, 32, 16}, {16, 1, 1}}}, "(0, 0, 3, 8) [3 = r*1 |, 16 = c*2 | 2]"),
            flat);
  // Around the end of a dimension.
  EXPECT_EQ(placeOf(constant({3, 32}), {1, 0, 16, {{3, 32, 32}, {32, 1, 1}}}, "(0, 0, 4, 8) [4 = r*1 |, 32 = c*4 | 4]"),
            flat);
  // More than 1 KB on each core.
  EXPECT_EQ(
      placeOf(constant({3, 32}), {1, 0, 0, {{3, 32, 1024}, {32, 1, 1}}}, "(0, 0, 1, 1) [3 = 0 | 3, 1024 = 0 | 1024]"),
      flat);
}
