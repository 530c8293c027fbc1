// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that rewrite remaps keep every element: chains by hand with what they become, and random chains against the
// reference.
#include "compiler/spmd/network/Pieces.h"
#include "compiler/spmd/network/Simplify.h"
#include "compiler/spmd/network/Text.h"
#include "test/support/NetworkBuilder.h"
#include "test/support/NetworkReference.h"
#include "test/support/RandomNest.h"
#include "test/support/Seed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

using namespace wsc;
using namespace wsc::spmd;
using namespace wsc::test;
using format::ElementType;
using format::Opcode;

namespace {

constexpr ElementType kType = ElementType::I32;

/// Remaps as front ends make them.
class Chain : public NetworkBuilder {
public:
  std::vector<int64_t> shapeOf(TensorId id) const { return network.tensors[size_t(id)].shape; }

  /// Elements starts + i·steps, i in [0, sizes), at `offsets` of a tensor of shape `result`; `fill` elsewhere.
  TensorId box(TensorId x, const std::vector<int64_t> &starts, const std::vector<int64_t> &sizes,
               const std::vector<int64_t> &steps, const std::vector<int64_t> &result,
               const std::vector<int64_t> &offsets, double fill = 0) {
    Remap remap{nextName(), value(nextName(), kType, result), {}, fill};
    if (auto piece = boxPiece(shapeOf(x), starts, sizes, steps, result, offsets)) {
      piece->source = x;
      remap.pieces.push_back(*piece);
    }
    return append(std::move(remap));
  }
  TensorId slice(TensorId x, const std::vector<int64_t> &starts, const std::vector<int64_t> &sizes,
                 const std::vector<int64_t> &steps) {
    return box(x, starts, sizes, steps, sizes, std::vector<int64_t>(sizes.size()));
  }
  TensorId pad(TensorId x, const std::vector<int64_t> &before, const std::vector<int64_t> &result, double fill) {
    const size_t rank = before.size();
    return box(x, std::vector<int64_t>(rank), shapeOf(x), std::vector<int64_t>(rank, 1), result, before, fill);
  }
  TensorId transpose(TensorId x, const std::vector<size_t> &order) {
    const std::vector<int64_t> shape = shapeOf(x), from = rowMajorStrides(shape);
    std::vector<int64_t> result;
    for (size_t d : order)
      result.push_back(shape[d]);
    const std::vector<int64_t> to = rowMajorStrides(result);
    Piece piece{x, 0, 0, {}};
    for (size_t d = 0; d < order.size(); ++d)
      piece.digits.push_back({result[d], from[order[d]], to[d]});
    return append({nextName(), value(nextName(), kType, result), {piece}, 0});
  }
  TensorId reshape(TensorId x, const std::vector<int64_t> &shape) {
    const Piece piece{x, 0, 0, {{network.tensors[size_t(x)].elements(), 1, 1}}};
    return append({nextName(), value(nextName(), kType, shape), {piece}, 0});
  }
  TensorId concat(const std::vector<TensorId> &parts, size_t dim) {
    std::vector<int64_t> result = shapeOf(parts[0]), offset(result.size());
    result[dim] = 0;
    for (TensorId part : parts)
      result[dim] += shapeOf(part)[dim];
    Remap remap{nextName(), value(nextName(), kType, result), {}, 0};
    for (TensorId part : parts) {
      const std::vector<int64_t> shape = shapeOf(part), zeros(shape.size()), ones(shape.size(), 1);
      Piece piece = *boxPiece(shape, zeros, shape, ones, result, offset);
      piece.source = part;
      remap.pieces.push_back(piece);
      offset[dim] += shape[dim];
    }
    return append(std::move(remap));
  }

private:
  std::string nextName() { return "t" + std::to_string(network.tensors.size()); }
  TensorId append(Remap remap) {
    const TensorId result = remap.result;
    add(std::move(remap));
    return result;
  }
};

void expectSameElements(const Network &before, const Network &after, Draw &draw) {
  ASSERT_TRUE(after.check().ok()) << after.check() << "\n" << printNetwork(after);
  std::vector<std::vector<std::byte>> inputs;
  for (const NamedTensor &input : before.inputs)
    inputs.push_back(drawElements(draw, kType, before.tensors[size_t(input.tensor)].elements(), false));
  const auto wanted = evaluate(before, inputs), found = evaluate(after, inputs);
  ASSERT_TRUE(wanted.ok() && found.ok()) << wanted.status() << found.status();
  EXPECT_EQ(wanted->outputs, found->outputs) << printNetwork(before) << printNetwork(after);
}

/// Remaps whose pieces read remaps.
int64_t chained(const Network &network) {
  std::vector<bool> isRemapped(network.tensors.size(), false);
  int64_t count = 0;
  for (const Node &node : network.nodes)
    if (const Remap *remap = std::get_if<Remap>(&node)) {
      count += std::any_of(remap->pieces.begin(), remap->pieces.end(),
                           [&](const Piece &piece) { return isRemapped[size_t(piece.source)]; });
      isRemapped[size_t(remap->result)] = true;
    }
  return count;
}

int64_t nestsOf(const Network &network) {
  return std::count_if(network.nodes.begin(), network.nodes.end(),
                       [](const Node &node) { return std::holds_alternative<Nest>(node); });
}

/// The network after a pass, with the same elements.
template <typename Pass> Network rewritten(const Network &network, Pass pass) {
  Network made = network;
  pass(made);
  Draw draw(1);
  expectSameElements(network, made, draw);
  return made;
}

} // namespace

// What lies beyond the slice's end is cut off; what the pads fill stays filled.
TEST(MergeRemaps, StackOfShiftedSlices) {
  Chain net;
  const TensorId x = net.input("x", kType, {5, 9});
  std::vector<TensorId> shifted;
  for (int64_t by : {2, 0, 5}) {
    const TensorId part = net.slice(x, {0, by}, {5, 9 - by}, {1, 1});
    shifted.push_back(net.reshape(net.pad(part, {0, 0}, {5, 9}, 0), {5, 9, 1}));
  }
  const TensorId stacked = net.transpose(net.slice(net.concat(shifted, 2), {0, 0, 0}, {5, 6, 3}, {1, 1, 1}), {2, 0, 1});
  net.output(stacked);
  Network merged = net.network;
  mergeRemaps(merged);
  removeUnused(merged);
  EXPECT_EQ(printNetwork(merged), "network main\n"
                                  "input %x: i32[5, 9]\n"
                                  "remap t12: over [5, 6] from %x at 2 by [9, 1] to 0 by [6, 1], "
                                  "over [5, 6] from %x at 0 by [9, 1] to 30 by [6, 1], "
                                  "over [5, 4] from %x at 5 by [9, 1] to 60 by [6, 1] fill 0\n"
                                  "  %t12: i32[3, 5, 6]\n"
                                  "output t12 = %t12\n");
  Draw draw(1);
  expectSameElements(net.network, merged, draw);
}

// Two fills cannot become one.
TEST(MergeRemaps, OtherFillsStay) {
  Chain net;
  const TensorId x = net.input("x", kType, {4});
  net.output(net.pad(net.pad(x, {1}, {6}, 3), {1}, {8}, 7));
  Network merged = net.network;
  mergeRemaps(merged);
  EXPECT_EQ(chained(merged), 1);
  Draw draw(1);
  expectSameElements(net.network, merged, draw);
}

TEST(MergeRemaps, RandomChains) {
  const uint64_t seed = seedOf(5);
  Draw draw(seed);
  int64_t before = 0, after = 0;
  for (int i = 0, cases = casesOf(2000); i < cases; ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    Chain net;
    std::vector<int64_t> shape(size_t(draw.in(1, 3)));
    for (int64_t &extent : shape)
      extent = draw.in(1, 6);
    std::vector<TensorId> made{net.input("x", kType, shape), net.input("y", kType, shape)};
    for (int64_t step = draw.in(2, 6); step > 0; --step) {
      const TensorId x = draw.of(made);
      const std::vector<int64_t> from = net.shapeOf(x);
      const size_t rank = from.size();
      switch (draw.in(0, 4)) {
      case 0: {
        std::vector<int64_t> starts, sizes, steps;
        for (int64_t extent : from) {
          steps.push_back(draw.oneIn(4) ? -draw.in(1, 2) : draw.in(1, 2));
          sizes.push_back(draw.in(1, (extent - 1) / std::abs(steps.back()) + 1));
          const int64_t room = extent - 1 - (sizes.back() - 1) * std::abs(steps.back());
          starts.push_back(draw.in(0, room) + (steps.back() < 0 ? (sizes.back() - 1) * -steps.back() : 0));
        }
        made.push_back(net.slice(x, starts, sizes, steps));
        break;
      }
      case 1: {
        std::vector<int64_t> padsBefore, result;
        for (int64_t extent : from) {
          padsBefore.push_back(draw.in(0, 2));
          result.push_back(padsBefore.back() + extent + draw.in(0, 2));
        }
        made.push_back(net.pad(x, padsBefore, result, double(draw.in(0, 1))));
        break;
      }
      case 2: {
        std::vector<size_t> order(rank);
        std::iota(order.begin(), order.end(), size_t(0));
        for (size_t d = rank; d-- > 1;)
          std::swap(order[d], order[size_t(draw.in(0, int64_t(d)))]);
        made.push_back(net.transpose(x, order));
        break;
      }
      case 3: {
        const size_t dim = size_t(draw.in(0, int64_t(rank) - 1));
        std::vector<TensorId> parts{x};
        for (TensorId other : made) {
          std::vector<int64_t> alike = net.shapeOf(other);
          if (alike.size() != rank)
            continue;
          alike[dim] = from[dim];
          if (alike == from && parts.size() < 3)
            parts.push_back(other);
        }
        made.push_back(net.concat(parts, dim));
        break;
      }
      default: {
        std::vector<int64_t> result;
        for (size_t d = 0; d < rank; ++d) {
          const bool joins = !result.empty() && draw.oneIn(2);
          if (joins)
            result.back() *= from[d];
          else
            result.push_back(from[d]);
        }
        made.push_back(net.reshape(x, result));
      }
      }
    }
    net.output(made.back());
    ASSERT_TRUE(net.network.check().ok()) << net.network.check();
    Network merged = net.network;
    mergeRemaps(merged);
    before += chained(net.network);
    after += chained(merged);
    expectSameElements(net.network, merged, draw);
    if (HasFatalFailure() || HasNonfatalFailure())
      return;
  }
  EXPECT_LT(after * 5, before) << after << " of " << before << " chained remaps are left";
}

// Channels that become places beside another tensor: the tensor that is read in parts has dimensions for them.
TEST(SplitDims, OneOfSeveralPieces) {
  Chain net;
  const TensorId x = net.input("x", kType, {3, 4}), skip = net.input("skip", kType, {1, 8});
  const TensorId channels = net.value("channels", kType, {4, 4});
  Nest sum = sumOver({4, 4, 3}, 2, kType, channels);
  sum.operands = {read(x, {{0, 0, 1}, {0, 1, 0}})};
  net.add(sum);
  const TensorId joined = net.value("joined", kType, {3, 8});
  // Channels [2, 2] and places [4] as [2 channels, 4 places × 2]; the other tensor is the third channel.
  net.add(Remap{"join", joined, {{channels, 0, 0, {{2, 8, 8}, {4, 1, 2}, {2, 4, 1}}}, {skip, 0, 16, {{8, 1, 1}}}}, 0});
  net.output(joined);
  Network cut = net.network;
  splitDims(cut);
  EXPECT_EQ(cut.tensors[size_t(channels)].shape, (std::vector<int64_t>{2, 2, 4}));
  EXPECT_EQ(cut.tensors[size_t(joined)].shape, (std::vector<int64_t>{3, 8}));
  Draw draw(1);
  expectSameElements(net.network, cut, draw);
}

// Borders that are mirrored begin in the middle of parts as long as they are: rows are not cut into such parts, and the
// second pad reads the input itself.
TEST(SplitDims, MirroredBordersAreNoParts) {
  Chain net;
  const TensorId x = net.input("x", kType, {8, 8}), rows = net.value("rows", kType, {12, 8}),
                 padded = net.value("padded", kType, {12, 12});
  net.add(Remap{"rows",
                rows,
                {{x, 16, 0, {{2, -8, 8}, {8, 1, 1}}}, {x, 0, 16, {{64, 1, 1}}}, {x, 48, 80, {{2, -8, 8}, {8, 1, 1}}}},
                0});
  net.add(Remap{"cols",
                padded,
                {{rows, 2, 0, {{12, 8, 12}, {2, -1, 1}}},
                 {rows, 0, 2, {{12, 8, 12}, {8, 1, 1}}},
                 {rows, 6, 10, {{12, 8, 12}, {2, -1, 1}}}},
                0});
  const TensorId y = net.value("y", kType, {10, 10});
  Nest sum = sumOver({10, 10, 3, 3}, 2, kType, y);
  sum.operands = {read(padded, {{1, 0, 1, 0}, {0, 1, 0, 1}})};
  net.add(sum);
  net.output(y);
  Network merged = net.network;
  splitDims(merged);
  EXPECT_EQ(merged.tensors[size_t(rows)].shape, (std::vector<int64_t>{12, 8}));
  mergeRemaps(merged);
  EXPECT_EQ(chained(merged), 0);
  Draw draw(1);
  expectSameElements(net.network, merged, draw);
}

// Windows of an image that is rolled along both axes (shifted windows of attention): those that the roll breaks are
// read in parts, in four of them at the corner.
TEST(MergeRemaps, WindowsOfARolledImage) {
  const int64_t side = 12, window = 4, by = 2, channels = 3, line = side * channels;
  Chain net;
  const TensorId x = net.input("x", kType, {side, side, channels}),
                 rows = net.value("rows", kType, {side, side, channels}),
                 rolled = net.value("rolled", kType, {side, side, channels}),
                 windows = net.value("windows", kType, {9, 16, channels});
  net.add(Remap{"rows",
                rows,
                {{x, by * line, 0, {{(side - by) * line, 1, 1}}}, {x, 0, (side - by) * line, {{by * line, 1, 1}}}},
                0});
  net.add(Remap{"cols",
                rolled,
                {{rows, by * channels, 0, {{side, line, line}, {(side - by) * channels, 1, 1}}},
                 {rows, 0, (side - by) * channels, {{side, line, line}, {by * channels, 1, 1}}}},
                0});
  net.add(Remap{"windows",
                windows,
                {{rolled,
                  0,
                  0,
                  {{3, window * line, 3 * 16 * channels},
                   {3, window * channels, 16 * channels},
                   {window, line, window * channels},
                   {window * channels, 1, 1}}}},
                0});
  net.output(windows);
  const Network merged = rewritten(net.network, mergeRemaps);
  EXPECT_EQ(chained(merged), 0);
  const Remap &remap = std::get<Remap>(merged.nodes.back());
  EXPECT_EQ(remap.pieces.size(), 9u); // whole windows, and three parts of broken ones, along each axis
}

// Two tensors that take places in turns, without the first place: what a strided transposed convolution with a pad
// leaves. The places are those of the second tensor, then those of the first from its second element on.
TEST(MergeRemaps, PlacesInTurnsWithoutTheFirst) {
  for (const std::vector<int64_t> &shape : {std::vector<int64_t>{10}, std::vector<int64_t>{5, 2}}) {
    Chain net;
    const TensorId phases = net.input("phases", kType, {2, 5}), inTurns = net.value("in_turns", kType, shape),
                   cropped = net.value("cropped", kType, {8});
    net.add(Remap{"in_turns", inTurns, {{phases, 0, 0, {{5, 1, 2}, {2, 5, 1}}}}, 0});
    net.add(Remap{"cropped", cropped, {{inTurns, 1, 0, {{8, 1, 1}}}}, 0});
    net.output(cropped);
    EXPECT_EQ(chained(rewritten(net.network, mergeRemaps)), 0);
  }
}

// Halves of channels that layers shuffle and pass on: where the chain would fall apart into many pieces, it stays, and
// a nest writes what stands before.
TEST(MergeRemaps, ShuffledHalvesStayInFewPieces) {
  const int64_t channels = 12, pixels = 5;
  Chain net;
  TensorId x = net.input("x", kType, {channels, pixels});
  for (int layer = 0; layer < 5; ++layer) {
    const TensorId fresh = net.input("fresh" + std::to_string(layer), kType, {channels / 2, pixels});
    const TensorId passed = net.slice(x, {0, 0}, {channels / 2, pixels}, {1, 1});
    const TensorId halves = net.reshape(net.concat({passed, fresh}, 0), {2, channels / 2, pixels});
    x = net.reshape(net.transpose(halves, {1, 0, 2}), {channels, pixels});
  }
  net.output(x);
  const Network merged = rewritten(net.network, mergeRemaps);
  EXPECT_GT(chained(merged), 0);
  for (const Node &node : merged.nodes)
    EXPECT_LE(std::get<Remap>(node).pieces.size(), kMostMerged);
  const Network written = rewritten(merged, writeOutChains);
  EXPECT_EQ(chained(written), 0);
  EXPECT_GT(nestsOf(written), 0);
}

// Remaps of constants are computed when they are loaded, however many there are in a chain.
TEST(WriteOutChains, NotOfConstants) {
  Chain net;
  const TensorId all = net.constant("all", kType, {2, 3}, {1, 2, 3, 4, 5, 6});
  net.output(net.transpose(net.slice(all, {0, 1}, {2, 2}, {1, 1}), {1, 0}));
  EXPECT_EQ(nestsOf(rewritten(net.network, writeOutChains)), 0);
}

// Layers that read all layers before them: each concatenation is the one before and what is new.
TEST(ShareConcatenations, OfLayersThatReadAllBefore) {
  for (const int64_t batch : {1, 3}) {
    Chain net;
    std::vector<TensorId> layers;
    TensorId last = -1;
    for (int layer = 0; layer < 8; ++layer) {
      layers.push_back(net.input("layer" + std::to_string(layer), kType, {batch, 2 + layer % 3, 4}));
      if (layer > 0)
        net.output(last = net.concat(layers, 1));
    }
    const Network shared = rewritten(net.network, shareConcatenations);
    for (const Node &node : shared.nodes)
      EXPECT_LE(sourcesOf(std::get<Remap>(node).pieces), kMostSources);
    EXPECT_EQ(std::get<Remap>(shared.nodes.back()).pieces.size(), 2u);
    EXPECT_EQ(chained(rewritten(shared, writeOutChains)), 0);
  }
}

// Only what begins alike is the other one's result: not the same tensors in another order, nor along another dimension.
TEST(ShareConcatenations, NotInAnotherOrder) {
  Chain net;
  std::vector<TensorId> parts;
  for (int i = 0; i < 6; ++i)
    parts.push_back(net.input("part" + std::to_string(i), kType, {2, 2}));
  net.output(net.concat({parts[1], parts[0], parts[2]}, 0));
  net.output(net.concat({parts[0], parts[1]}, 1));
  net.output(net.concat(parts, 0));
  EXPECT_EQ(chained(rewritten(net.network, shareConcatenations)), 0);
}

// What is computed of constants may be larger than constants of a model: which of 1,000 updates hits which of 1,200
// places.
TEST(FoldConstants, ResultsMayBeLarge) {
  Chain net;
  const auto numbers = [](int64_t count) {
    std::vector<std::byte> bytes;
    for (int64_t i = 0; i < count; ++i) {
      const auto value = std::bit_cast<std::array<std::byte, 4>>(int32_t(i));
      bytes.insert(bytes.end(), value.begin(), value.end());
    }
    return bytes;
  };
  const TensorId places = net.constant("places", kType, {1200}, numbers(1200)),
                 updates = net.constant("updates", kType, {1000}, numbers(1000)),
                 apart = net.value("apart", kType, {1200, 1000}), least = net.value("least", kType, {1200});
  Nest difference = nestOver({1200, 1000}, 2, apart);
  difference.operands = {read(places, {{1, 0}}), read(updates, {{0, 1}})};
  difference.body = {BodyOp{Opcode::Sub, kType, kType, BodyValue::operand(0), BodyValue::operand(1), {}}};
  difference.values = {BodyValue::operation(0)};
  difference.resultValue = difference.values[0];
  net.add(difference);
  Nest smallest = nestOver({1200, 1000}, 1, least);
  smallest.operands = {read(apart, {{1, 0}, {0, 1}})};
  smallest.reduction = Reduction{Opcode::ReduceMin, kType, 2000};
  smallest.values = {BodyValue::operand(0)};
  smallest.resultValue = BodyValue::reduced();
  net.add(smallest);
  net.output(least);
  foldConstants(net.network);
  EXPECT_TRUE(net.network.nodes.empty());
  const auto &bytes = *net.network.tensors[size_t(least)].source.inlineBytes;
  std::array<std::byte, 4> last;
  std::copy_n(bytes.end() - 4, 4, last.begin());
  EXPECT_EQ(std::bit_cast<int32_t>(last), 200); // 1,199 − 999
}
