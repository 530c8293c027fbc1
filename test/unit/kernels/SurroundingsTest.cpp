// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels alike among neighbours alike are costed once: what is remembered for one of them is what costing would find
// for the others, and what differs for a kernel is not mistaken for it.
#include "compiler/kernels/sizing/Surroundings.h"
#include "compiler/kernels/network/ChannelBlocks.h"
#include "compiler/kernels/network/CoLocation.h"
#include "compiler/kernels/network/Tiling.h"
#include "compiler/kernels/network/Variant.h"
#include "compiler/kernels/sizing/CandidateCache.h"
#include "test/support/Seed.h"

#include "ConvThenRelu.h"
#include "OnMesh.h"

#include <gtest/gtest.h>

namespace wsc::kernels {
namespace {

const uint64_t kSeed = wsc::test::seedOf(5);

std::string text(const solver::sizing::Kernel &kernel) {
  return printProblem(solver::sizing::Problem{48, {}, {kernel}});
}

/// Layers put behind each other; the functions return a stream.
class Builder {
public:
  NetworkPlan plan;

  int32_t image(const Plane &plane) {
    plan.inputs = {{"x", format::ElementType::F32, {1, plane.channels, plane.rows, plane.width}}};
    const int32_t stream = newStream(plane, -1);
    plan.streams[0].input = StreamPlan::Host{0, 0, 1, plane.rows * plane.width, 0, plane.width, 1};
    return stream;
  }
  /// Of the same height and width.
  int32_t conv(int32_t in, int64_t channels, int64_t size) {
    const Plane plane = plan.streams[size_t(in)].layout.plane;
    KernelSpec &spec = newKernel({{{in}}}, {channels, plane.rows, plane.width});
    spec.kind = KernelKind::Contraction;
    Contraction &c = spec.contraction;
    c.kernelH = c.kernelW = size;
    c.padTop = c.padLeft = size / 2;
    c.weights = zeros(channels * plane.channels * size * size);
    c.weightStrideOut = plane.channels * size * size;
    c.weightStrideIn = size * size;
    c.weightStrideH = size;
    c.weightStrideW = 1;
    return spec.outStream;
  }
  int32_t add(int32_t a, int32_t b) {
    KernelSpec &spec = newKernel({{{a}}, {{b}}}, plan.streams[size_t(a)].layout.plane);
    TileOp op;
    op.opcode = format::Opcode::Add;
    op.operands.resize(2);
    for (int32_t value : {0, 1}) {
      op.operands[size_t(value)].kind = TileOperand::Kind::Value;
      op.operands[size_t(value)].value = value;
    }
    spec.tileOps = {op};
    return spec.outStream;
  }
  int32_t concat(int32_t a, int32_t b) {
    Plane plane = plan.streams[size_t(a)].layout.plane;
    plane.channels += plan.streams[size_t(b)].layout.plane.channels;
    return newKernel({{{a, b}}}, plane).outStream;
  }
  void output(int32_t stream) {
    const Plane &plane = plan.streams[size_t(stream)].layout.plane;
    plan.outputs = {{"y", format::ElementType::F32, {1, plane.channels, plane.rows, plane.width}}};
    plan.streams[size_t(stream)].outputs = {StreamPlan::Host{0, 0, 1, plane.rows * plane.width, 0, plane.width, 1}};
  }

private:
  int32_t newStream(Plane plane, int32_t producer) {
    StreamPlan &stream = plan.streams.emplace_back();
    stream.name = "s" + std::to_string(plan.streams.size());
    stream.layout.plane = plane;
    stream.layout.blockBegin = {0, plane.channels};
    stream.producer = producer;
    return int32_t(plan.streams.size()) - 1;
  }
  KernelSpec &newKernel(std::vector<KernelInput> inputs, Plane out) {
    const auto k = int32_t(plan.kernels.size());
    for (const KernelInput &input : inputs)
      for (int32_t stream : input.streams)
        plan.streams[size_t(stream)].consumers.push_back(k);
    const int32_t stream = newStream(out, k);
    KernelPlan &kernel = plan.kernels.emplace_back();
    kernel.spec.name = "k" + std::to_string(k);
    kernel.spec.out = out;
    kernel.mapping.fifoSamples.assign(inputs.size() + inputs.front().streams.size() - 1, 1);
    kernel.spec.inputs = std::move(inputs);
    kernel.spec.outStream = stream;
    return kernel.spec;
  }
};

class Remembered : public OnMesh {
protected:
  Remembered() : OnMesh("mesh-48x48", kSeed) {}

  /// Blocks of two convolutions, joined to what went into them: as in ResNet or in DenseNet.
  NetworkPlan someNetwork() {
    Builder builder;
    const int64_t channels = pick(4, 16), inside = pick(2, 12);
    const bool dense = pick(0, 2) == 0;
    int32_t at = builder.conv(builder.image({3, pick(8, 24), pick(6, 20)}), channels, 3);
    for (int64_t block = 0, blocks = pick(2, 5); block < blocks; ++block) {
      const int32_t last = builder.conv(builder.conv(at, inside, 1), dense ? inside : channels, 3);
      at = dense ? builder.concat(at, last) : builder.add(last, at);
    }
    builder.output(at);
    return std::move(builder.plan);
  }
  /// Ready to be costed.
  void tile(NetworkPlan &plan, const Variant &variant, bool coLocated = false) {
    ASSERT_TRUE(chooseTiles(target, plan, variant).ok());
    for (size_t k = 0; coLocated && k < plan.kernels.size(); ++k)
      if (const int32_t host = hostFor(plan, int32_t(k)); host >= 0) {
        setHost(plan, int32_t(k), host);
        ++hosts;
      }
    for (KernelPlan &kernel : plan.kernels)
      chooseSlices(plan, kernel, 1);
    for (size_t stream = 0; stream < plan.streams.size(); ++stream)
      chooseNominalBlocks(plan, int32_t(stream));
  }
  /// Costs a kernel and asks the cache; the plans after it must be equal, too. Whether there are candidates.
  bool expectTheSame(const NetworkPlan &plan, int32_t k, const Wanted &wanted) {
    NetworkPlan plain = plan, remembered = plan;
    const auto first = candidatesOf(target, plain, k, wanted);
    const auto second = cache.of(target, remembered, k, wanted);
    EXPECT_EQ(first.ok(), second.ok());
    if (!first.ok() || !second.ok())
      return false;
    EXPECT_EQ(text(first->kernel), text(second->kernel));
    EXPECT_EQ(first->leastCycles, second->leastCycles);
    EXPECT_EQ(first->branchWords, second->branchWords);
    EXPECT_EQ(first->feedCycles, second->feedCycles);
    for (size_t i = 0; i < plan.kernels.size(); ++i)
      EXPECT_EQ(plain.kernels[i].mapping, remembered.kernels[i].mapping) << plan.kernels[i].spec.name;
    for (size_t s = 0; s < plan.streams.size(); ++s)
      EXPECT_EQ(plain.streams[s].layout, remembered.streams[s].layout) << plan.streams[s].name;
    return true;
  }

  CandidateCache cache;
  int hosts = 0;
};

TEST_F(Remembered, IsWhatCostingFinds) {
  size_t costed = 0;
  for (int i = 0; i < 16; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", case " + std::to_string(i));
    const NetworkPlan unsized = someNetwork();
    for (int v = 0; v < 5; ++v) {
      NetworkPlan plan = unsized;
      Variant variant;
      variant.wordsPerLane = v == 1 ? 64 : 1536;
      variant.centred = v == 2;
      tile(plan, variant, /*coLocated=*/v == 4);
      if (v == 3) // as its last sizing left it
        plan.bounds.sizing = pick(100, 4000);
      for (size_t k = 0; k < plan.kernels.size(); ++k)
        costed += expectTheSame(plan, int32_t(k), {.evenShares = pick(0, 1) == 0});
    }
  }
  EXPECT_GE(costed, 400u);
  EXPECT_GE(hosts, 10);
  EXPECT_LT(4 * cache.size(), 3 * costed) << "many were known";
}

/// Anything that costing looks at.
TEST_F(Remembered, IsForgottenWhereSomethingMatters) {
  Builder builder;
  const int32_t first = builder.conv(builder.image({8, 16, 12}), 8, 3);
  builder.output(builder.add(builder.conv(first, 8, 3), first));
  NetworkPlan plan = std::move(builder.plan);
  tile(plan, {});
  const auto of = [&](const NetworkPlan &network, const Wanted &wanted = {}) {
    return surroundingsOf(target, network, 1, wanted);
  };
  const std::vector<int64_t> before = of(plan);
  EXPECT_NE(before, of(plan, {.feedersCompute = false}));
  const auto differs = [&](auto change) {
    NetworkPlan other = plan;
    change(other);
    return of(other) != before;
  };
  EXPECT_FALSE(differs([](NetworkPlan &other) { other.kernels[1].spec.name = "another"; }));
  EXPECT_FALSE(differs([](NetworkPlan &other) { other.kernels[1].spec.contraction.weights = zeros(576); }));
  EXPECT_FALSE(differs([](NetworkPlan &other) { other.grid.offsets[other.streams[1].layout.numTiles()] = 3; }))
      << "of all tiles alike";
  EXPECT_TRUE(differs([](NetworkPlan &other) { other.kernels[1].spec.contraction.dilationW = 2; }));
  EXPECT_TRUE(differs([](NetworkPlan &other) { other.kernels[0].mapping.channelsPerColumn = 3; })) << "its producer";
  EXPECT_TRUE(differs([](NetworkPlan &other) { other.kernels[2].mapping.columns = 2; })) << "its receiver";
  EXPECT_TRUE(differs([](NetworkPlan &other) { other.streams[1].layout.wantedBlocks += 1; })) << "its input";
  EXPECT_TRUE(differs([](NetworkPlan &other) { other.streams[2].layout.mostBlocks += 1; })) << "its output";
  EXPECT_TRUE(differs([](NetworkPlan &other) { other.kernels[1].pinnedColumns = 3; }));
  EXPECT_TRUE(differs([](NetworkPlan &other) { other.bounds.sizing = 77; }));
  EXPECT_TRUE(differs([](NetworkPlan &other) { other.grid.rowsUsed -= 1; }));
}

TEST_F(Remembered, IsForgottenWhereTilesLieOtherwise) {
  NetworkPlan plan = convThenRelu({8, 40, 12}, 8, 3, 3, 2);
  for (KernelPlan &kernel : plan.kernels)
    kernel.mapping.fifoSamples = {1};
  tile(plan, {});
  const int64_t taken = plan.streams[0].layout.numTiles(), made = plan.streams[1].layout.numTiles();
  ASSERT_NE(taken, made);
  const std::vector<int64_t> before = surroundingsOf(target, plan, 0, {});
  plan.grid.offsets[taken] = 2;
  EXPECT_NE(before, surroundingsOf(target, plan, 0, {}));
  plan.grid.offsets[made] = 2;
  EXPECT_EQ(before, surroundingsOf(target, plan, 0, {}));
}

} // namespace
} // namespace wsc::kernels
