// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Batches as groups of samples: random networks of one sample are given a batch, taken apart again, and run on grids of
// tiles in passes; what comes out is what plain loops over the whole batch compute. WSC_SEED and WSC_CASES repeat and
// widen it.
#include "compiler/spmd/phases/SampleGroups.h"
#include "compiler/spmd/network/OneSample.h"
#include "runtime/emulator/CoreEngine.h"
#include "runtime/emulator/cycle/CycleEngine.h"
#include "runtime/format/Verifier.h"
#include "test/support/NetworkBuilder.h"
#include "test/support/NetworkReference.h"
#include "test/support/PhasesProgram.h"
#include "test/support/RandomNetwork.h"
#include "test/support/Seed.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace wsc;
using namespace wsc::spmd;
using namespace wsc::test;
using format::ElementType;
using format::Opcode;

namespace {

/// The network for `samples` samples at once: a dimension in front of every tensor that depends on an input. Outputs
/// that depend on none are left out. Every second input is one for all samples.
Network batchOf(const Network &network, int64_t samples) {
  Network batch = network;
  std::vector<bool> varies(network.tensors.size(), false);
  auto vary = [&](TensorId tensor) {
    varies[size_t(tensor)] = true;
    std::vector<int64_t> &shape = batch.tensors[size_t(tensor)].shape;
    shape.insert(shape.begin(), samples);
  };
  for (size_t i = 0; i < network.inputs.size(); i += 2)
    vary(network.inputs[i].tensor);
  for (Node &node : batch.nodes) {
    if (Nest *nest = std::get_if<Nest>(&node)) {
      if (std::none_of(nest->operands.begin(), nest->operands.end(),
                       [&](const Access &access) { return varies[size_t(access.tensor)]; }))
        continue;
      vary(nest->result);
      nest->extents.insert(nest->extents.begin(), samples);
      ++nest->numParallel;
      for (Access &access : nest->operands) {
        for (Index &index : access.map)
          index.perIterator.insert(index.perIterator.begin(), 0);
        if (!varies[size_t(access.tensor)])
          continue;
        Index walks;
        walks.perIterator.assign(nest->extents.size(), 0);
        walks.perIterator[0] = 1;
        access.map.insert(access.map.begin(), walks);
        access.gatherDim += access.gatherDim >= 0;
      }
      continue;
    }
    Remap &remap = std::get<Remap>(node);
    if (std::none_of(remap.pieces.begin(), remap.pieces.end(),
                     [&](const Piece &piece) { return varies[size_t(piece.source)]; }))
      continue;
    vary(remap.result);
    const int64_t part = network.tensors[size_t(remap.result)].elements();
    for (Piece &piece : remap.pieces)
      piece.digits.insert(
          piece.digits.begin(),
          {samples, varies[size_t(piece.source)] ? network.tensors[size_t(piece.source)].elements() : 0, part});
  }
  std::erase_if(batch.outputs, [&](const NamedTensor &output) { return !varies[size_t(output.tensor)]; });
  return batch;
}

struct Counts {
  int grids = 0, refused = 0;
};

void runCase(uint64_t seed, Counts &counts) {
  Draw draw(seed);
  NetworkOptions options;
  options.types = {ElementType::F32, ElementType::I32, ElementType::U8};
  const Network single = drawNetwork(seed, options);
  const int64_t samples = draw.of(std::vector<int64_t>{2, 3, 4, 6});
  const Network network = batchOf(single, samples);
  if (network.outputs.empty() || network.tensors[size_t(network.inputs[0].tensor)].elements() == 0)
    return;
  // Another input of as many elements in front looks like one for each sample.
  for (size_t i = 1; i < network.inputs.size(); i += 2)
    if (const auto &shape = network.tensors[size_t(network.inputs[i].tensor)].shape;
        !shape.empty() && shape[0] == samples)
      return;
  ASSERT_TRUE(network.check().ok()) << network.check();
  const auto one = oneSample(network);
  ASSERT_TRUE(one);
  EXPECT_EQ(one->samples, samples);
  for (size_t t = 0; t < network.tensors.size(); ++t) {
    const Tensor &whole = network.tensors[t], &part = one->network.tensors[t];
    EXPECT_EQ(part.elements() * (whole.shape.size() > single.tensors[t].shape.size() ? samples : 1), whole.elements());
  }
  const std::vector<std::vector<std::byte>> inputs = drawInputs(seed, network);
  std::vector<emulator::HostTensor> hostInputs;
  for (const auto &input : inputs)
    hostInputs.push_back({input});
  const auto reference = evaluate(network, inputs);
  ASSERT_TRUE(reference.ok()) << reference.status();
  auto target = target::loadTarget("mesh-12x14");
  ASSERT_TRUE(target.ok());
  for (const auto &[rows, cols] : {std::pair(1, 1), std::pair(1, 2), std::pair(2, 1), std::pair(3, 1), std::pair(1, 3),
                                   std::pair(2, 2), std::pair(2, 3), std::pair(1, 6)}) {
    if (samples % (rows * cols) != 0)
      continue;
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(cols) + " tiles, " + std::to_string(samples) +
                 " samples");
    target::Target tile = *target;
    tile.rows /= rows;
    tile.cols /= cols;
    auto planned = planProgram({one->network}, tile, {.inputsAreFlat = network.inputs.size() > 1 || draw.oneIn(2)},
                               {.threads = 1});
    auto generated = planned.ok() ? generateOnTiles(network, {planned->networks[0], samples, one->sharedInputs},
                                                    planned->plans[0], rows, cols, *target)
                                  : planned.status();
    ++counts.grids;
    if (!generated.ok()) {
      ASSERT_TRUE(absl::IsResourceExhausted(generated.status()) || absl::IsUnimplemented(generated.status()))
          << generated.status();
      ++counts.refused;
      continue;
    }
    auto program = inMemory(*std::move(generated));
    ASSERT_TRUE(program.ok()) << program.status();
    for (const auto &violation : format::findViolations(program->executable))
      FAIL() << violation.rule << ": " << violation.message;
    auto engine = emulator::CoreEngine::create(program->executable, {.threads = 1});
    auto outputs = engine.ok() ? (*engine)->run(0, hostInputs) : engine.status();
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    for (size_t o = 0; o < outputs->size(); ++o) {
      const Tensor &tensor = network.tensors[size_t(network.outputs[o].tensor)];
      if (!reducesFloats(network)) {
        ASSERT_EQ((*outputs)[o].bytes, reference->outputs[o]) << "output " << o;
        continue;
      }
      const std::vector<double> found = valuesOf(tensor.type, (*outputs)[o].bytes),
                                wanted = valuesOf(tensor.type, reference->outputs[o]);
      ASSERT_EQ(found.size(), wanted.size());
      double scale = 1;
      for (double value : wanted)
        if (std::isfinite(value))
          scale = std::max(scale, std::abs(value));
      for (size_t i = 0; numerics::isFloat(tensor.type) && i < found.size(); ++i)
        if (std::isfinite(wanted[i]))
          ASSERT_NEAR(found[i], wanted[i], 0.05 * scale) << "output " << o << " element " << i;
    }
    const auto cycles = emulator::runCycles(program->executable, 0);
    ASSERT_TRUE(cycles.ok()) << cycles.status();
  }
}

} // namespace

TEST(SampleGroups, RandomBatchesOnGrids) {
  const uint64_t first = seedOf(1), cases = uint64_t(casesOf(40));
  Counts counts;
  for (uint64_t seed = first; seed < first + cases && !testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE("WSC_SEED=" + std::to_string(seed));
    runCase(seed, counts);
  }
  std::printf("  %llu cases: %d grids, %d refused\n", (unsigned long long)cases, counts.grids, counts.refused);
  EXPECT_LE(counts.refused * 3, counts.grids);
}

namespace {

/// x [4, 6] → a nest with that map of x's dimensions over iterators (sample, column) → y.
bool isDivided(const std::vector<std::vector<int64_t>> &map, std::vector<int64_t> constants = {0, 0}) {
  NetworkBuilder net;
  auto x = net.input("x", ElementType::F32, {4, 6});
  auto y = net.value("y", ElementType::F32, {4, 6});
  Nest nest = nestOver({4, 6}, 2, y);
  nest.operands = {read(x, map, std::move(constants))};
  nest.values = {BodyValue::operand(0)};
  nest.resultValue = BodyValue::operand(0);
  net.add(nest);
  net.output(y);
  return oneSample(net.network).has_value();
}

} // namespace

TEST(OneSample, SamplesThatMeetAreNotDivided) {
  EXPECT_TRUE(isDivided({{1, 0}, {0, 1}}));
  EXPECT_TRUE(isDivided({{1, 0}, {0, 0}}, {0, 3}));   // a column for all
  EXPECT_FALSE(isDivided({{-1, 0}, {0, 1}}, {3, 0})); // the samples in reverse
  EXPECT_FALSE(isDivided({{0, 0}, {0, 1}}, {2, 0}));  // one sample for all
  EXPECT_FALSE(isDivided({{0, 1}, {0, 1}}));          // another dimension walks them
  EXPECT_FALSE(isDivided({{1, 0}, {1, 1}}));          // columns depend on the sample
}

TEST(OneSample, SumsOverSamplesAreNotDivided) {
  NetworkBuilder net;
  auto x = net.input("x", ElementType::F32, {4, 6});
  auto sum = net.value("sum", ElementType::F32, {6}), y = net.value("y", ElementType::F32, {4, 6});
  Nest nest = sumOver({6, 4}, 1, ElementType::F32, sum);
  nest.operands = {read(x, {{0, 1}, {1, 0}})};
  net.add(nest);
  Nest minus = nestOver({4, 6}, 2, y);
  minus.operands = {read(x, {{1, 0}, {0, 1}}), read(sum, {{0, 1}})};
  minus.body = {bodyOp(Opcode::Sub, ElementType::F32, BodyValue::operand(0), BodyValue::operand(1))};
  minus.values = {BodyValue::operation(0)};
  minus.resultValue = BodyValue::operation(0);
  net.add(minus);
  net.output(y);
  ASSERT_TRUE(net.network.check().ok()) << net.network.check();
  EXPECT_FALSE(oneSample(net.network));
}

TEST(OneSample, RemapsThatMixSamplesAreNotDivided) {
  auto isDivided = [](Piece piece) {
    NetworkBuilder net;
    auto x = net.input("x", ElementType::F32, {4, 6});
    auto y = net.value("y", ElementType::F32, {4, 6});
    piece.source = x;
    net.add(Remap{"remap", y, {std::move(piece)}});
    net.output(y);
    EXPECT_TRUE(net.network.check().ok()) << net.network.check();
    return oneSample(net.network).has_value();
  };
  EXPECT_TRUE(isDivided({-1, 0, 0, {{24, 1, 1}}}));
  EXPECT_TRUE(isDivided({-1, 5, 0, {{4, 6, 6}, {6, -1, 1}}}));   // columns in reverse
  EXPECT_TRUE(isDivided({-1, 0, 2, {{4, 6, 6}, {4, 1, 1}}}));    // shifted by two, padded
  EXPECT_FALSE(isDivided({-1, 18, 0, {{4, -6, 6}, {6, 1, 1}}})); // samples in reverse
  EXPECT_FALSE(isDivided({-1, 0, 0, {{6, 1, 4}, {4, 6, 1}}}));   // transposed and read as [4, 6]
  EXPECT_FALSE(isDivided({-1, 0, 1, {{23, 1, 1}}}));             // shifted across samples
}

TEST(OneSample, OneSampleOrVariablesAreNotDivided) {
  NetworkBuilder net;
  auto x = net.input("x", ElementType::F32, {1, 6});
  net.output(x);
  EXPECT_FALSE(oneSample(net.network));
  NetworkBuilder with;
  auto y = with.input("y", ElementType::F32, {4, 6});
  with.output(y);
  EXPECT_TRUE(oneSample(with.network));
  State state;
  state.shape = {4, 6};
  state.written = y;
  with.network.states.push_back(state);
  EXPECT_FALSE(oneSample(with.network));
}
