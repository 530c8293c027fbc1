// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A chain of remaps that did not merge has no pieces of nests' results, and what reads it would bring elements one by
// one. A nest writes what stands before the link that has no form; the chain begins anew from there.
#include "compiler/spmd/network/Simplify.h"

#include "absl/strings/str_cat.h"

#include <map>
#include <utility>

namespace wsc::spmd {

namespace {

class ChainWriter {
public:
  explicit ChainWriter(Network &network) : network(network) {
    for (const Tensor &tensor : network.tensors)
      is.push_back(tensor.kind == Tensor::Kind::Constant ? Is::Constant : Is::Placed);
  }

  void run() {
    std::vector<Node> nodes = std::exchange(network.nodes, {});
    for (Node &node : nodes) {
      if (Remap *remap = std::get_if<Remap>(&node)) {
        bool isConstant = true;
        for (Piece &piece : remap->pieces) {
          if (is[size_t(piece.source)] == Is::Remapped)
            piece.source = written(remap->name, piece.source);
          isConstant &= is[size_t(piece.source)] == Is::Constant;
        }
        const bool isEmpty = network.tensors[size_t(remap->result)].elements() == 0;
        is[size_t(remap->result)] = isConstant || isEmpty ? Is::Constant : Is::Remapped;
      }
      network.nodes.push_back(std::move(node));
    }
  }

private:
  /// Tensors: with a place of their own, or what a remap makes of them, or constants and what remaps make of these.
  enum class Is : uint8_t { Placed, Remapped, Constant };

  /// The tensor with the same elements that a nest writes.
  TensorId written(const std::string &name, TensorId remapped) {
    auto [found, added] = copies.emplace(remapped, TensorId(network.tensors.size()));
    if (!added)
      return found->second;
    Tensor copy = network.tensors[size_t(remapped)];
    absl::StrAppend(&copy.name, ".written");
    const size_t rank = copy.shape.size();
    Nest nest;
    nest.name = name;
    nest.extents = copy.shape;
    nest.numParallel = int32_t(rank);
    nest.result = found->second;
    Access &access = nest.operands.emplace_back();
    access.tensor = remapped;
    for (size_t d = 0; d < rank; ++d) {
      access.map.emplace_back().perIterator.assign(rank, 0);
      access.map.back().perIterator[d] = 1;
    }
    nest.body.push_back({format::Opcode::Move, copy.type, copy.type, BodyValue::operand(0), {}, {}});
    nest.values = {BodyValue::operation(0)};
    nest.resultValue = nest.values[0];
    network.tensors.push_back(std::move(copy));
    network.nodes.emplace_back(std::move(nest));
    is.push_back(Is::Placed);
    return found->second;
  }

  Network &network;
  std::vector<Is> is;
  std::map<TensorId, TensorId> copies;
};

} // namespace

void writeOutChains(Network &network) { ChainWriter(network).run(); }

} // namespace wsc::spmd
