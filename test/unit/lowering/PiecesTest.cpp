// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pieces of pieces: what `composed` gives, against moving the elements twice.
#include "compiler/spmd/network/Pieces.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <random>

namespace {

using namespace wsc::spmd;

/// Number of the source's element for each of the result's; -1 where the piece places none.
std::vector<int64_t> placed(const Piece &piece, int64_t elements) {
  std::vector<int64_t> from(size_t(elements), -1);
  const std::function<void(size_t, int64_t, int64_t)> walk = [&](size_t d, int64_t source, int64_t result) {
    if (d == piece.digits.size()) {
      from[size_t(result)] = source;
      return;
    }
    const Piece::Digit &digit = piece.digits[d];
    for (int64_t j = 0; j < digit.extent; ++j)
      walk(d + 1, source + j * digit.sourceStride, result + j * digit.resultStride);
  };
  walk(0, piece.sourceOffset, piece.resultOffset);
  return from;
}

Piece pieceOf(int64_t sourceOffset, int64_t resultOffset, std::vector<Piece::Digit> digits) {
  Piece piece;
  piece.sourceOffset = sourceOffset;
  piece.resultOffset = resultOffset;
  piece.digits = std::move(digits);
  return piece;
}

int64_t product(const std::vector<int64_t> &shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

TEST(Pieces, ReshapeThenTransposeIsOne) {
  const Piece reshape = pieceOf(0, 0, {{60, 1, 1}});                          // [5, 12] as [5, 3, 4]
  const Piece transpose = pieceOf(0, 0, {{3, 4, 20}, {5, 12, 4}, {4, 1, 1}}); // to [3, 5, 4]
  const auto both = composed(transpose, reshape);
  ASSERT_TRUE(both);
  EXPECT_EQ(placed(*both, 60), placed(transpose, 60));
}

TEST(Pieces, TransposeThenFlattenCutsTheDigit) {
  const Piece transpose = pieceOf(0, 0, {{3, 1, 2}, {2, 3, 1}}); // [2, 3] to [3, 2]
  const auto both = composed(pieceOf(0, 0, {{6, 1, 1}}), transpose);
  ASSERT_TRUE(both);
  EXPECT_EQ(placed(*both, 6), (std::vector<int64_t>{0, 3, 1, 4, 2, 5}));
}

TEST(Pieces, WhatIsNotPlacedIsNotRead) {
  const Piece padded = pieceOf(0, 1, {{3, 1, 1}});
  EXPECT_FALSE(composed(pieceOf(0, 0, {{3, 1, 1}}), padded)); // begins with a filled element
  EXPECT_TRUE(composed(pieceOf(2, 0, {{2, 1, 1}}), padded));
}

TEST(Pieces, RandomViewsAgreeWithMovingTwice) {
  const char *text = std::getenv("WSC_SEED");
  const uint64_t seed = text ? std::strtoull(text, nullptr, 10) : 1;
  SCOPED_TRACE("WSC_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  const auto number = [&](int64_t from, int64_t to) { return from + int64_t(random() % uint64_t(to - from + 1)); };

  /// A view of a row-major tensor: some dimensions sliced, reversed or repeated, in another order.
  struct View {
    Piece piece;
    std::vector<int64_t> shape;
  };
  const auto viewOf = [&](const std::vector<int64_t> &shape) {
    View view;
    const std::vector<int64_t> strides = rowMajorStrides(shape);
    std::vector<size_t> order(shape.size());
    for (size_t d = 0; d < order.size(); ++d)
      order[d] = d;
    std::shuffle(order.begin(), order.end(), random);
    for (size_t d : order) {
      const int64_t size = number(1, shape[d]), start = number(0, shape[d] - size);
      const bool backwards = random() % 3 == 0;
      view.piece.sourceOffset += (backwards ? start + size - 1 : start) * strides[d];
      view.shape.push_back(random() % 6 == 0 ? 2 : size);
      const int64_t step = view.shape.back() == size ? strides[d] : 0;
      view.piece.digits.push_back({view.shape.back(), backwards ? -step : step, 0});
    }
    const std::vector<int64_t> to = rowMajorStrides(view.shape);
    for (size_t i = 0; i < to.size(); ++i)
      view.piece.digits[i].resultStride = to[i];
    return view;
  };

  int found = 0;
  constexpr int kViews = 20000;
  for (int n = 0; n < kViews; ++n) {
    std::vector<int64_t> shape;
    for (int64_t rank = number(1, 3); rank > 0; --rank)
      shape.push_back(number(1, 4));
    const View first = viewOf(shape);
    // The result of the first view in its own shape, or as one row.
    const int64_t elements = product(first.shape);
    const View second = viewOf(random() % 2 ? first.shape : std::vector<int64_t>{elements});
    const auto both = composed(second.piece, first.piece);
    if (!both)
      continue;
    ++found;
    const std::vector<int64_t> middle = placed(first.piece, elements);
    std::vector<int64_t> expected = placed(second.piece, product(second.shape));
    for (int64_t &from : expected)
      from = middle[size_t(from)];
    ASSERT_EQ(placed(*both, product(second.shape)), expected) << n;
  }
  EXPECT_GT(found, kViews / 2);
}

} // namespace
