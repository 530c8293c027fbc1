// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One walk backwards from outputs and states finds what is needed; one forwards numbers it.
#include "compiler/spmd/network/Simplify.h"

namespace wsc::spmd {

/// Calls visit(TensorId &) for every tensor that a node reads.
template <typename Visit> static void forEachRead(Node &node, Visit visit) {
  if (auto *nest = std::get_if<Nest>(&node))
    for (Access &access : nest->operands)
      visit(access.tensor);
  else
    for (Piece &piece : std::get<Remap>(node).pieces)
      visit(piece.source);
}

static TensorId &resultOf(Node &node) {
  return std::visit([](auto &each) -> TensorId & { return each.result; }, node);
}

void removeUnused(Network &network) {
  std::vector<bool> needed(network.tensors.size());
  const auto need = [&](TensorId id) {
    if (id >= 0)
      needed[size_t(id)] = true;
  };
  for (const NamedTensor &input : network.inputs)
    need(input.tensor);
  for (const NamedTensor &output : network.outputs)
    need(output.tensor);
  for (const State &state : network.states) {
    need(state.read);
    need(state.written);
  }
  std::vector<bool> keeps(network.nodes.size());
  for (size_t n = network.nodes.size(); n-- > 0;) {
    keeps[n] = needed[size_t(resultOf(network.nodes[n]))];
    if (keeps[n])
      forEachRead(network.nodes[n], need);
  }

  std::vector<TensorId> number(network.tensors.size(), -1);
  std::vector<Tensor> tensors;
  for (size_t id = 0; id < network.tensors.size(); ++id)
    if (needed[id]) {
      number[id] = TensorId(tensors.size());
      tensors.push_back(std::move(network.tensors[id]));
    }
  const auto renumber = [&](TensorId &id) {
    if (id >= 0)
      id = number[size_t(id)];
  };
  std::vector<Node> nodes;
  for (size_t n = 0; n < network.nodes.size(); ++n) {
    if (!keeps[n])
      continue;
    forEachRead(network.nodes[n], renumber);
    renumber(resultOf(network.nodes[n]));
    nodes.push_back(std::move(network.nodes[n]));
  }
  for (NamedTensor &input : network.inputs)
    renumber(input.tensor);
  for (NamedTensor &output : network.outputs)
    renumber(output.tensor);
  for (State &state : network.states) {
    renumber(state.read);
    renumber(state.written);
  }
  network.tensors = std::move(tensors);
  network.nodes = std::move(nodes);
}

} // namespace wsc::spmd
