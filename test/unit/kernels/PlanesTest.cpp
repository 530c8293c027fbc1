// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chains of reshapes and transposes seen through, against brute force: the chain is applied to the numbers of the
// root's elements, and every element must lie where the digits and the host view say.
#include "passes/wafer/Planes.h"
#include "test/support/Seed.h"

#include "dialects/nn/Nn.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <random>

using namespace mlir;

namespace wsc::wafer {
namespace {

const uint64_t kSeed = wsc::test::seedOf(2025);

class PlanesTest : public ::testing::Test {
protected:
  PlanesTest() : builder(&context) {
    context.loadDialect<nn::NnDialect, func::FuncDialect>();
    module = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToStart(module->getBody());
  }

  int64_t pick(int64_t low, int64_t high) { return low + int64_t(engine() % uint64_t(high - low + 1)); }

  RankedTensorType type(ArrayRef<int64_t> shape) { return RankedTensorType::get(shape, builder.getF32Type()); }

  /// An argument of a function of its own; layers go into its body.
  Value root(ArrayRef<int64_t> shape) {
    builder.setInsertionPointToEnd(module->getBody());
    auto func = func::FuncOp::create(builder, builder.getUnknownLoc(), "f" + std::to_string(functions++),
                                     builder.getFunctionType({type(shape)}, {}));
    builder.setInsertionPointToStart(func.addEntryBlock());
    elements.resize(size_t(type(shape).getNumElements()));
    for (size_t i = 0; i < elements.size(); ++i)
      elements[i] = int64_t(i);
    return func.getArgument(0);
  }
  Value reshape(Value value, ArrayRef<int64_t> shape) {
    return nn::ReshapeOp::create(builder, builder.getUnknownLoc(), type(shape), value);
  }
  Value transpose(Value value, ArrayRef<int64_t> permutation) {
    ArrayRef<int64_t> from = cast<RankedTensorType>(value.getType()).getShape();
    SmallVector<int64_t> to;
    for (int64_t d : permutation)
      to.push_back(from[size_t(d)]);
    std::vector<int64_t> moved(elements.size());
    for (size_t i = 0; i < moved.size(); ++i) {
      SmallVector<int64_t> index(from.size());
      int64_t rest = int64_t(i);
      for (size_t d = to.size(); d-- > 0; rest /= to[d])
        index[size_t(permutation[d])] = rest % to[d];
      int64_t position = 0;
      for (size_t d = 0; d < from.size(); ++d)
        position = position * from[d] + index[d];
      moved[i] = elements[size_t(position)];
    }
    elements = std::move(moved);
    OperationState state(builder.getUnknownLoc(), nn::TransposeOp::getOperationName());
    state.addOperands(value);
    state.addTypes(type(to));
    state.addAttribute("permutation", builder.getDenseI64ArrayAttr(permutation));
    return builder.create(state)->getResult(0);
  }
  Value randomTranspose(Value value) {
    SmallVector<int64_t> permutation;
    for (int64_t d = 0; d < cast<RankedTensorType>(value.getType()).getRank(); ++d)
      permutation.push_back(d);
    std::shuffle(permutation.begin(), permutation.end(), engine);
    return transpose(value, permutation);
  }
  /// To a random shape of as many elements; `rank` 4 begins with 1.
  Value randomReshape(Value value, size_t rank) {
    SmallVector<int64_t> shape(rank, 1);
    int64_t rest = cast<RankedTensorType>(value.getType()).getNumElements();
    for (int64_t factor = 2; rest > 1;)
      if (rest % factor == 0) {
        shape[size_t(pick(rank == 4 ? 1 : 0, int64_t(rank) - 1))] *= factor;
        rest /= factor;
      } else {
        ++factor;
      }
    return reshape(value, shape);
  }
  /// A chain of up to four movements.
  Value randomChain(Value value) {
    for (int64_t length = pick(0, 4); length > 0; --length)
      value = pick(0, 1) ? randomTranspose(value) : randomReshape(value, size_t(pick(1, 5)));
    return value;
  }

  static int64_t position(const kernels::StreamPlan::Host &host, int64_t channel, int64_t row, int64_t column) {
    return host.offset + channel / host.channelInner * host.strideChannelOuter +
           channel % host.channelInner * host.strideChannelInner + row * host.strideRow + column * host.strideColumn;
  }
  /// Calls visit(channel, row, column, row-major element) for every element of a tensor with a plane.
  template <typename Visit> static void forEachElement(RankedTensorType tensor, Visit visit) {
    auto plane = planeOf(tensor);
    ASSERT_TRUE(plane);
    bool rows = tensor.getRank() == 2; // [B, F]: columns are B, the outer dimension
    for (int64_t c = 0; c < plane->channels; ++c)
      for (int64_t r = 0; r < plane->rows; ++r)
        for (int64_t w = 0; w < plane->width; ++w)
          visit(c, r, w, rows ? w * plane->channels + c : (c * plane->rows + r) * plane->width + w);
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
  std::vector<int64_t> elements; // of the last value: the root's element at each row-major place
  std::mt19937_64 engine{kSeed};
  int functions = 0;
};

TEST_F(PlanesTest, PlanesOfTensors) {
  auto expectPlane = [&](ArrayRef<int64_t> shape, kernels::Plane plane) {
    auto found = planeOf(type(shape));
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, plane);
  };
  expectPlane({1, 3, 5, 7}, {3, 5, 7});
  expectPlane({4, 9}, {9, 1, 4});
  expectPlane({9}, {9, 1, 1});
  expectPlane({}, {1, 1, 1});
  EXPECT_FALSE(planeOf(type({2, 3, 5, 7})));
  EXPECT_FALSE(planeOf(type({3, 5, 7})));
}

TEST_F(PlanesTest, ReshapesThatKeepThePlane) {
  EXPECT_TRUE(preservesPlane(type({1, 8, 1, 1}), type({1, 8})));
  EXPECT_TRUE(preservesPlane(type({8}), type({1, 8, 1, 1})));
  EXPECT_TRUE(preservesPlane(type({1, 8, 3, 2}), type({1, 8, 3, 2})));
  EXPECT_FALSE(preservesPlane(type({1, 8, 2, 1}), type({1, 16})));
  EXPECT_FALSE(preservesPlane(type({1, 4, 2, 1}), type({1, 8, 1, 1})));
}

TEST_F(PlanesTest, DigitsAgainstBruteForce) {
  int seen = 0;
  for (int i = 0; i < 2000; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", case " + std::to_string(i));
    Value value = randomChain(randomReshape(root({pick(1, 6), pick(1, 6), pick(1, 4)}), size_t(pick(1, 4))));
    auto digits = digitsOf(value);
    if (!digits)
      continue;
    ++seen;
    auto tensor = cast<RankedTensorType>(value.getType());
    ASSERT_EQ(int64_t(digits->size()), tensor.getRank());
    for (int64_t element = 0; element < tensor.getNumElements(); ++element) {
      int64_t rest = element, at = 0;
      for (int64_t d = tensor.getRank() - 1; d >= 0; rest /= tensor.getDimSize(d), --d) {
        int64_t index = rest % tensor.getDimSize(d);
        for (size_t k = (*digits)[size_t(d)].size(); k-- > 0; index /= (*digits)[size_t(d)][k].extent)
          at += index % (*digits)[size_t(d)][k].extent * (*digits)[size_t(d)][k].stride;
        ASSERT_EQ(index, 0) << "digits of dimension " << d << " do not span it";
      }
      ASSERT_EQ(at, elements[size_t(element)]) << "element " << element;
    }
  }
  EXPECT_GT(seen, 1000); // few chains cut digits unevenly
}

TEST_F(PlanesTest, InputsAgainstBruteForce) {
  int seen = 0;
  for (int i = 0; i < 2000; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", case " + std::to_string(i));
    Value value = randomReshape(root({pick(1, 6), pick(1, 6), pick(1, 4)}), size_t(pick(1, 4)));
    value = pick(0, 1) ? randomTranspose(value) : value;
    value = pick(0, 2) ? randomReshape(value, pick(0, 1) ? 4 : 2) : value;
    auto tensor = cast<RankedTensorType>(value.getType());
    auto host = hostOfInput(value);
    if (!planeOf(tensor)) {
      EXPECT_FALSE(host);
      continue;
    }
    if (!host)
      continue;
    ++seen;
    forEachElement(tensor, [&](int64_t c, int64_t r, int64_t w, int64_t element) {
      ASSERT_EQ(position(*host, c, r, w), elements[size_t(element)])
          << "channel " << c << ", row " << r << ", column " << w;
    });
  }
  EXPECT_GT(seen, 500);
}

TEST_F(PlanesTest, OutputsAgainstBruteForce) {
  int seen = 0;
  for (int i = 0; i < 2000; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", case " + std::to_string(i));
    SmallVector<int64_t> shape = pick(0, 1) ? SmallVector<int64_t>{1, pick(1, 12), pick(1, 6), pick(1, 6)}
                                            : SmallVector<int64_t>{pick(1, 5), pick(1, 12)};
    Value from = root(shape), value = randomChain(from);
    auto host = hostOfOutput(value);
    if (!host)
      continue;
    ++seen;
    std::vector<int64_t> placeOf(elements.size());
    for (size_t place = 0; place < elements.size(); ++place)
      placeOf[size_t(elements[place])] = int64_t(place);
    forEachElement(cast<RankedTensorType>(from.getType()), [&](int64_t c, int64_t r, int64_t w, int64_t element) {
      ASSERT_EQ(position(*host, c, r, w), placeOf[size_t(element)])
          << "channel " << c << ", row " << r << ", column " << w;
    });
  }
  EXPECT_GT(seen, 500);
}

/// Depth to space: a channel falls into two digits.
TEST_F(PlanesTest, DepthToSpaceOfOneChannel) {
  Value image = root({1, 4, 3, 5});
  Value split = reshape(image, {1, 2, 2, 3, 5});
  Value moved = transpose(split, {0, 3, 1, 4, 2});
  auto host = hostOfOutput(reshape(moved, {1, 1, 6, 10}));
  ASSERT_TRUE(host);
  EXPECT_EQ(host->channelInner, 2);
  EXPECT_EQ(host->strideChannelOuter, 10);
  EXPECT_EQ(host->strideChannelInner, 1);
  EXPECT_EQ(host->strideRow, 20);
  EXPECT_EQ(host->strideColumn, 2);
}

/// A reshape that cuts a transposed dimension unevenly has no strides.
TEST_F(PlanesTest, UnevenCutsAreNotSeenThrough) {
  Value moved = transpose(root({4, 6}), {1, 0});
  EXPECT_TRUE(digitsOf(reshape(moved, {3, 8})));
  EXPECT_FALSE(digitsOf(reshape(transpose(root({2, 3}), {1, 0}), {2, 3})));
}

} // namespace
} // namespace wsc::wafer
