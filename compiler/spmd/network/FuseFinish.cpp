// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Joins reductions with the elementwise nests behind them, in one walk: a joined nest stands where the elementwise one
// stood and may be joined with the next.
#include "compiler/spmd/network/Simplify.h"
#include "runtime/timing/Cost.h"

#include <algorithm>

namespace wsc::spmd {

namespace {

constexpr int64_t kMostAlike = 8192; // elements that all cores of a group may finish alike

/// Whether the nest reads each element of a tensor of its result's shape at the result's place.
bool readsInPlace(const Nest &nest, const Access &access, const Network &network) {
  if (access.gatherDim >= 0 || network.tensors[size_t(access.tensor)].shape != nest.extents)
    return false;
  for (size_t d = 0; d < access.map.size(); ++d)
    for (size_t k = 0; k < nest.extents.size(); ++k)
      if (access.map[d].constant != 0 || access.map[d].perIterator[k] != (d == k))
        return false;
  return true;
}

/// `reduction`, whose result is operand `operand` of `after`, with the operations of `after` behind it.
Nest joined(const Nest &reduction, const Nest &after, size_t operand) {
  Nest nest = reduction;
  std::vector<BodyValue> valueOf; // of after's operands
  for (size_t i = 0; i < after.operands.size(); ++i) {
    if (i == operand) {
      valueOf.push_back(reduction.resultValue);
      continue;
    }
    valueOf.push_back(BodyValue::operand(int32_t(nest.operands.size())));
    nest.operands.push_back(after.operands[i]);
    for (Index &index : nest.operands.back().map)
      index.perIterator.resize(reduction.extents.size());
  }
  const int32_t before = int32_t(reduction.body.size() + reduction.finish.size());
  const auto moved = [&](const BodyValue &value) {
    switch (value.kind) {
    case BodyValue::Kind::Operand:
      return valueOf[size_t(value.index)];
    case BodyValue::Kind::Operation:
      return BodyValue::operation(before + value.index);
    default:
      return value;
    }
  };
  for (BodyOp op : after.body) {
    op.a = moved(op.a);
    op.b = moved(op.b);
    op.c = moved(op.c);
    nest.finish.push_back(op);
  }
  nest.resultValue = moved(after.resultValue);
  nest.result = after.result;
  if (nest.name != after.name)
    nest.name += "+" + after.name;
  return nest;
}

/// A product of matrices: no index of an operand has two iterators, as those of windows have.
bool isProduct(const Nest &nest) {
  return nest.reduction->opcode == format::Opcode::Fma &&
         std::all_of(nest.operands.begin(), nest.operands.end(), [](const Access &access) {
           return std::all_of(access.map.begin(), access.map.end(), [](const Index &index) {
             return std::count_if(index.perIterator.begin(), index.perIterator.end(),
                                  [](int64_t step) { return step != 0; }) <= 1;
           });
         });
}

/// Cores that reduce among themselves all finish all of their results, and all need what else that reads. Where it
/// takes routines on many elements, or reads as many of another layer (a skip over a product), a nest of its own lets
/// each take a part.
bool isBetterAlone(const Network &network, const Nest &reduction, const Nest &after) {
  const int64_t elements = network.tensors[size_t(after.result)].elements();
  if (elements <= kMostAlike)
    return false;
  const bool skips =
      isProduct(reduction) && std::any_of(after.operands.begin(), after.operands.end(), [&](const Access &access) {
        const Tensor &read = network.tensors[size_t(access.tensor)];
        return access.tensor != reduction.result && read.kind != Tensor::Kind::Constant && read.elements() >= elements;
      });
  return skips || std::any_of(after.body.begin(), after.body.end(),
                              [](const BodyOp &op) { return timing::isRoutine(op.opcode); });
}

} // namespace

void fuseFinish(Network &network) {
  std::vector<int> uses(network.tensors.size()), producer(network.tensors.size(), -1);
  const auto use = [&](TensorId id) { ++uses[size_t(id)]; };
  for (size_t n = 0; n < network.nodes.size(); ++n) {
    if (const auto *nest = std::get_if<Nest>(&network.nodes[n])) {
      for (const Access &access : nest->operands)
        use(access.tensor);
      if (nest->reduction)
        producer[size_t(nest->result)] = int(n);
    } else {
      for (const Piece &piece : std::get<Remap>(network.nodes[n]).pieces)
        use(piece.source);
    }
  }
  for (const NamedTensor &output : network.outputs)
    use(output.tensor);
  for (const State &state : network.states)
    if (state.written >= 0)
      use(state.written);

  std::vector<bool> gone(network.nodes.size());
  for (size_t n = 0; n < network.nodes.size(); ++n) {
    auto *after = std::get_if<Nest>(&network.nodes[n]);
    if (!after || after->reduction)
      continue;
    bool gathers = false;
    for (const Access &access : after->operands)
      gathers = gathers || access.gatherDim >= 0;
    for (size_t i = 0; i < after->operands.size() && !gathers; ++i) {
      const TensorId id = after->operands[i].tensor;
      const int from = producer[size_t(id)];
      if (from < 0 || uses[size_t(id)] != 1 || !readsInPlace(*after, after->operands[i], network) ||
          isBetterAlone(network, std::get<Nest>(network.nodes[size_t(from)]), *after))
        continue;
      *after = joined(std::get<Nest>(network.nodes[size_t(from)]), *after, i);
      gone[size_t(from)] = true;
      producer[size_t(after->result)] = int(n);
      break;
    }
  }
  std::vector<Node> kept;
  for (size_t n = 0; n < network.nodes.size(); ++n)
    if (!gone[n])
      kept.push_back(std::move(network.nodes[n]));
  network.nodes = std::move(kept);
}

} // namespace wsc::spmd
