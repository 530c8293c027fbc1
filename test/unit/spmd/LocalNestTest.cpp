// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The code of local nests on one core, by the scalar interpreter, against the reference evaluator of networks, bit by
// bit; and all of it passes the verifier. Nests, element types, layouts and room for temporaries are drawn from printed
// seeds.
#include "OneCore.h"

#include "compiler/spmd/local/LocalNest.h"
#include "compiler/spmd/program/PackScratch.h"
#include "test/support/NetworkBuilder.h"
#include "test/support/NetworkReference.h"
#include "test/support/RandomNest.h"

#include <algorithm>
#include <cstdlib>
#include <gtest/gtest.h>
#include <numeric>

using namespace wsc;
using namespace wsc::test;
using format::Affine;
using format::BufferKind;
using format::ElementType;
using format::Opcode;
using spmd::Access;
using spmd::BodyValue;
using spmd::Code;
using spmd::LocalNest;
using spmd::LocalOperand;
using spmd::Nest;

namespace {

Layout drawLayout(Draw &draw, const std::vector<int64_t> &shape, ElementType type) {
  const int64_t unit = format::elementBytes(type);
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), 0);
  if (draw.oneIn(3))
    for (size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[size_t(draw.in(0, int64_t(i) - 1))]);
  Layout layout;
  layout.stride.resize(shape.size());
  int64_t next = unit;
  for (size_t d : order) {
    layout.stride[d] = next;
    next = next * shape[d] + (draw.oneIn(4) ? unit * draw.in(1, 3) : 0);
  }
  layout.first = draw.oneIn(3) ? unit * draw.in(1, 4) : 0;
  layout.bytes = layout.first + next;
  return layout;
}

// A nest with its operands' elements, all of which lie inside the operands.
struct Case {
  NetworkBuilder net;
  Nest nest;
  std::vector<std::vector<std::byte>> inputs; // per operand
};

// One operand: each dimension's index is a sum of up to two iterators.
void drawOperand(Draw &draw, Case &result) {
  const size_t rank = result.nest.extents.size();
  const ElementType type = draw.of(elementTypes());
  std::vector<int64_t> shape;
  Access access;
  for (int64_t d = draw.in(0, std::min<int64_t>(4, int64_t(rank))); d > 0; --d) {
    spmd::Index index;
    index.perIterator.assign(rank, 0);
    int64_t low = 0, high = 0;
    for (int64_t terms = draw.oneIn(4) ? 2 : 1; terms > 0; --terms) {
      const auto k = size_t(draw.in(0, int64_t(rank) - 1));
      const int64_t factor = draw.oneIn(4) ? draw.of(std::vector<int64_t>{-1, 2, 3}) : 1;
      const int64_t reach = factor * (result.nest.extents[k] - 1);
      index.perIterator[k] += factor;
      low += std::min<int64_t>(0, reach);
      high += std::max<int64_t>(0, reach);
    }
    index.constant = -low + (draw.oneIn(4) ? draw.in(0, 2) : 0);
    shape.push_back(std::max<int64_t>(1, index.constant + high + 1 + (draw.oneIn(4) ? draw.in(0, 2) : 0)));
    access.map.push_back(index);
  }
  access.tensor = result.net.input("x", type, shape);
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  result.inputs.push_back(drawElements(draw, type, elements, draw.oneIn(3)));
  result.nest.operands.push_back(access);
}

// Makes the last operand a gathered one, with numbers of its own.
void drawGather(Draw &draw, Case &result) {
  const size_t rank = result.nest.extents.size();
  Access &access = result.nest.operands.back();
  if (access.map.empty())
    return;
  access.gatherDim = int32_t(draw.in(0, int64_t(access.map.size()) - 1));
  access.gatherIndices = int32_t(result.nest.operands.size());
  const int64_t count = result.net.network.tensors[size_t(access.tensor)].shape[size_t(access.gatherDim)];
  Access numbers;
  std::vector<int64_t> shape;
  int64_t elements = 1;
  for (int64_t d = draw.in(0, std::min<int64_t>(2, int64_t(rank))); d > 0; --d) {
    spmd::Index index;
    index.perIterator.assign(rank, 0);
    const auto k = size_t(draw.in(0, int64_t(rank) - 1));
    index.perIterator[k] = 1;
    numbers.map.push_back(index);
    shape.push_back(std::max<int64_t>(1, result.nest.extents[k]));
    elements *= shape.back();
  }
  numbers.tensor = result.net.input("numbers", ElementType::I32, shape);
  std::vector<double> values;
  for (int64_t i = 0; i < elements; ++i)
    values.push_back(double(draw.in(-2, count + 2)));
  result.inputs.push_back(elementsOf(ElementType::I32, values));
  result.nest.operands.push_back(numbers);
}

Case drawCase(Draw &draw) {
  Case result;
  const int64_t rank = draw.oneIn(4) ? draw.in(1, 6) : draw.in(1, 4);
  int64_t points = 1;
  for (int64_t k = 0; k < rank; ++k) {
    int64_t extent = draw.oneIn(4) ? 1 : draw.in(1, rank > 4 ? 4 : 8);
    if (points * extent > 600)
      extent = 1;
    points *= extent;
    result.nest.extents.push_back(extent);
  }
  if (draw.oneIn(40))
    result.nest.extents[size_t(draw.in(0, rank - 1))] = 0;
  Nest &nest = result.nest;
  nest.name = "nest";
  nest.numParallel = int32_t(draw.oneIn(3) ? rank : draw.in(0, rank));
  for (int64_t i = draw.in(1, 3); i > 0; --i) {
    drawOperand(draw, result);
    if (draw.oneIn(6))
      drawGather(draw, result);
  }
  std::vector<ElementType> types;
  for (const Access &access : nest.operands)
    types.push_back(result.net.network.tensors[size_t(access.tensor)].type);
  RandomBody body(draw, nest, types);
  ElementType type = draw.of(types);
  for (int64_t ops = draw.in(0, 4); ops > 0; --ops) {
    if (draw.oneIn(4))
      type = draw.of(elementTypes());
    body.operation(type);
  }
  auto lastOperation = [&] { return BodyValue::operation(int32_t(nest.body.size() + nest.finish.size()) - 1); };
  const bool reduces = nest.numParallel < int32_t(rank) || draw.oneIn(20);
  if (reduces) {
    spmd::Reduction reduction;
    reduction.opcode = draw.of(std::vector<Opcode>{Opcode::Fma, Opcode::Fma, Opcode::Fma, Opcode::ReduceAdd,
                                                   Opcode::ReduceMul, Opcode::ReduceMin, Opcode::ReduceMax});
    reduction.type = type;
    reduction.initial = double(draw.in(-1, 1));
    nest.values = {body.value(type)};
    if (reduction.opcode == Opcode::Fma)
      nest.values.push_back(body.value(type));
    nest.reduction = reduction;
    body.finish();
    for (int64_t ops = draw.oneIn(2) ? draw.in(1, 3) : 0; ops > 0; --ops)
      body.operation(draw.oneIn(3) ? draw.of(elementTypes()) : type);
    if (draw.oneIn(4))
      nest.resultValue = body.value(nest.finish.empty() ? type : nest.finish.back().type);
    else
      nest.resultValue = nest.finish.empty() ? BodyValue::reduced() : lastOperation();
  } else {
    nest.resultValue = nest.body.empty() || draw.oneIn(4) ? body.value(type) : lastOperation();
    nest.values = {nest.resultValue};
  }
  const std::vector<int64_t> shape(nest.extents.begin(), nest.extents.begin() + nest.numParallel);
  nest.result = result.net.value("y", draw.oneIn(3) ? draw.of(elementTypes()) : type, shape);
  result.net.add(nest);
  result.net.output(nest.result);
  return result;
}

// Emits the case with the given room for temporaries and runs it. False if the nest was refused for want of loops or
// room.
bool runCase(Draw &draw, const Case &given, int64_t temporaryBytes) {
  const Nest &nest = std::get<Nest>(given.net.network.nodes[0]);
  auto want = evaluate(given.net.network, given.inputs);
  EXPECT_TRUE(want.ok()) << want.status();
  Core core;
  LocalNest local;
  local.nest = &nest;
  local.extents = nest.extents;
  for (size_t i = 0; i < nest.operands.size(); ++i) {
    const spmd::Tensor &tensor = given.net.network.tensors[size_t(nest.operands[i].tensor)];
    Layout layout = drawLayout(draw, tensor.shape, tensor.type);
    int16_t buffer =
        core.constant("x" + std::to_string(i), tensor.type, placed(given.inputs[i], tensor.shape, tensor.type, layout));
    local.operandTypes.push_back(tensor.type);
    local.operands.push_back(localOperand(nest.operands[i], tensor.shape, layout, nest.extents.size(), buffer));
  }
  const spmd::Tensor &result = given.net.network.tensors[size_t(nest.result)];
  Layout layout = drawLayout(draw, result.shape, result.type);
  local.result.buffer = core.state("y", result.type, std::max<int64_t>(layout.bytes, 8));
  local.result.baseBytes = layout.first;
  local.result.strideBytes = layout.stride;
  local.resultType = result.type;
  absl::Status status;
  if (nest.reduction && draw.oneIn(3)) {
    LocalNest partial = local;
    partial.partial = true;
    Layout sums = draw.oneIn(2) ? dense(result.shape, nest.reduction->type)
                                : drawLayout(draw, result.shape, nest.reduction->type);
    partial.result.buffer =
        core.code.scratch("sums", nest.reduction->type, sums.bytes / format::elementBytes(nest.reduction->type));
    partial.result.baseBytes = sums.first;
    partial.result.strideBytes = sums.stride;
    status = emitNest(core.code, partial, temporaryBytes);
    if (status.ok())
      status = finishNest(core.code, local, partial.result, temporaryBytes);
  } else {
    status = emitNest(core.code, local, temporaryBytes);
  }
  if (status.code() == absl::StatusCode::kResourceExhausted)
    return false;
  EXPECT_TRUE(status.ok()) << status;
  if (draw.oneIn(2)) {
    auto scratch = packScratch(core.code, core.executable().target, draw.oneIn(2) ? 0 : 1 << 16);
    EXPECT_TRUE(scratch.ok()) << scratch.status();
  }
  std::vector<std::byte> expected = placed(want->outputs[0], result.shape, result.type, layout);
  expected.resize(size_t(std::max<int64_t>(layout.bytes, 8)));
  EXPECT_EQ(core.run(), expected);
  return true;
}

} // namespace

TEST(LocalNest, RandomNestsComputeWhatTheReferenceDoes) {
  const char *variable = std::getenv("WSC_SEED");
  const uint64_t first = variable ? std::strtoull(variable, nullptr, 10) : 1000;
  int refused = 0;
  for (uint64_t seed = first; seed < first + (variable ? 1 : 1500); ++seed) {
    SCOPED_TRACE("WSC_SEED=" + std::to_string(seed));
    Draw draw(seed);
    Case drawn = drawCase(draw);
    const int64_t temporaryBytes = draw.of(std::vector<int64_t>{8, 24, 64, 256, 1 << 16});
    refused += !runCase(draw, drawn, temporaryBytes);
    if (::testing::Test::HasFailure())
      break;
  }
  EXPECT_LT(refused, 75);
}
