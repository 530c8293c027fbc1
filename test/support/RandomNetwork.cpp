// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/support/RandomNetwork.h"

#include "runtime/numerics/Elements.h"
#include "test/support/RandomLayers.h"
#include "test/support/RandomRemap.h"

#include <algorithm>
#include <limits>

namespace wsc::test {

using format::ElementType;
using format::Opcode;
using spmd::Access;
using spmd::Nest;
using spmd::Network;
using spmd::TensorId;

namespace {

void addRemap(LayerDrawer &layers, int64_t maxElements) {
  const TensorId x = layers.fromPool();
  const ElementType type = layers.typeOf(x);
  std::vector<TensorId> alike;
  for (TensorId id : layers.pool)
    if (layers.typeOf(id) == type)
      alike.push_back(id);
  DrawnRemap drawn = drawRemap(layers.draw, x, layers.shapeOf(x), alike, layers.net.network, maxElements);
  drawn.remap.name = layers.name("remap");
  drawn.remap.result = layers.net.value(layers.name("z"), type, drawn.shape);
  layers.pool.push_back(drawn.remap.result);
  layers.net.add(std::move(drawn.remap));
}

void addNode(LayerDrawer &layers, int64_t maxElements) {
  switch (layers.draw.in(0, 6)) {
  case 0:
    return layers.elementwise();
  case 1:
    return layers.reduction();
  case 2:
    return layers.contraction();
  case 3:
    return layers.window();
  case 4:
    return layers.gather();
  default:
    return addRemap(layers, maxElements);
  }
}

// Results that nothing reads are outputs.
void addOutputs(NetworkBuilder &net) {
  std::vector<bool> isRead(net.network.tensors.size(), false);
  std::vector<TensorId> results;
  for (const spmd::Node &node : net.network.nodes) {
    if (auto nest = std::get_if<Nest>(&node)) {
      for (const Access &operand : nest->operands)
        isRead[size_t(operand.tensor)] = true;
      results.push_back(nest->result);
    } else {
      for (const spmd::Piece &piece : std::get<spmd::Remap>(node).pieces)
        isRead[size_t(piece.source)] = true;
      results.push_back(std::get<spmd::Remap>(node).result);
    }
  }
  for (const spmd::State &state : net.network.states)
    isRead[size_t(state.written)] = true;
  for (TensorId result : results)
    if (!isRead[size_t(result)])
      net.output(result);
}

} // namespace

Network drawNetwork(uint64_t seed, const NetworkOptions &options) {
  LayerDrawer layers(seed, options);
  NetworkBuilder &net = layers.net;
  net.network.name = "random";
  for (int64_t inputs = layers.draw.in(1, 2); inputs > 0; --inputs)
    layers.pool.push_back(net.input(layers.name("in"), layers.drawType(), layers.drawShape()));
  const bool hasState = options.states && layers.draw.oneIn(2);
  const TensorId before = hasState ? net.value(layers.name("before"), layers.drawType(), layers.drawShape()) : -1;
  if (hasState)
    layers.pool.push_back(before);
  for (int64_t nodes = layers.draw.in(1, options.maxNodes); nodes > 0; --nodes)
    addNode(layers, options.maxElements);
  if (hasState)
    layers.state(before);
  addOutputs(net);
  return std::move(net.network);
}

std::vector<std::vector<std::byte>> drawInputs(uint64_t seed, const Network &network, bool specials) {
  Draw draw(seed);
  std::vector<std::vector<std::byte>> inputs;
  for (const spmd::NamedTensor &input : network.inputs) {
    const spmd::Tensor &tensor = network.tensors[size_t(input.tensor)];
    int64_t elements = 1;
    for (int64_t extent : tensor.shape)
      elements *= extent;
    inputs.push_back(drawElements(draw, tensor.type, elements, specials));
  }
  return inputs;
}

bool reducesFloats(const Network &network) {
  return std::any_of(network.nodes.begin(), network.nodes.end(), [](const spmd::Node &node) {
    auto nest = std::get_if<Nest>(&node);
    return nest && nest->reduction && nest->reduction->opcode != Opcode::ReduceMin &&
           nest->reduction->opcode != Opcode::ReduceMax && numerics::isFloat(nest->reduction->type);
  });
}

double neutralOf(Opcode opcode, ElementType type) {
  const double infinity = std::numeric_limits<double>::infinity();
  switch (opcode) {
  case Opcode::ReduceMul:
    return 1;
  case Opcode::ReduceMin:
    return infinity; // integers: the largest
  case Opcode::ReduceMax:
    return type == ElementType::Bool ? 0 : -infinity;
  default:
    return 0;
  }
}

} // namespace wsc::test
