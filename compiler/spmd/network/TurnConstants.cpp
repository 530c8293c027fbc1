// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cost: the dimensions of the constants that nests read. The turned constant is a view: its bytes are put in order when
// the program is written.
#include "compiler/spmd/network/Pieces.h"
#include "compiler/spmd/network/Simplify.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace wsc::spmd {

namespace {

/// The dimensions of a constant operand with those that reductions walk first; nothing where that changes nothing, or
/// some dimension is walked in another way than by one iterator, all of it.
std::optional<std::vector<size_t>> turnedOrder(const Nest &nest, const Access &access,
                                               const std::vector<int64_t> &shape) {
  if (access.gatherDim >= 0)
    return std::nullopt;
  std::vector<bool> isReduced(shape.size(), false);
  for (size_t d = 0; d < shape.size(); ++d) {
    const Index &index = access.map[d];
    const auto walks = [](int64_t step) { return step != 0; };
    const auto walker = std::find_if(index.perIterator.begin(), index.perIterator.end(), walks);
    if (walker == index.perIterator.end())
      continue;
    if (*walker != 1 || std::count_if(walker, index.perIterator.end(), walks) > 1)
      return std::nullopt;
    isReduced[d] = walker - index.perIterator.begin() >= nest.numParallel;
  }
  std::vector<size_t> order(shape.size());
  std::iota(order.begin(), order.end(), size_t(0));
  // Dimensions of one element do not count.
  const auto last = std::find_if(order.rbegin(), order.rend(), [&](size_t d) { return shape[d] > 1; });
  if (last == order.rend() || !isReduced[*last])
    return std::nullopt;
  const auto turned = std::stable_partition(order.begin(), order.end(), [&](size_t d) { return isReduced[d]; });
  return std::any_of(turned, order.end(), [&](size_t d) { return shape[d] > 1; }) ? std::optional(order) : std::nullopt;
}

} // namespace

void turnConstants(Network &network) {
  std::map<std::pair<TensorId, std::vector<size_t>>, TensorId> turned;
  std::vector<Node> nodes;
  for (Node &node : network.nodes) {
    if (Nest *nest = std::get_if<Nest>(&node); nest && nest->reduction)
      for (Access &access : nest->operands) {
        const Tensor constant = network.tensors[size_t(access.tensor)];
        const auto order =
            constant.kind == Tensor::Kind::Constant ? turnedOrder(*nest, access, constant.shape) : std::nullopt;
        if (!order)
          continue;
        auto [found, added] = turned.emplace(std::pair(access.tensor, *order), TensorId(network.tensors.size()));
        std::vector<Index> map;
        for (size_t d : *order)
          map.push_back(access.map[d]);
        if (added) {
          Tensor result;
          result.name = constant.name;
          result.type = constant.type;
          for (size_t d : *order)
            result.shape.push_back(constant.shape[d]);
          const std::vector<int64_t> from = rowMajorStrides(constant.shape), to = rowMajorStrides(result.shape);
          Piece piece;
          piece.source = access.tensor;
          for (size_t d = 0; d < order->size(); ++d)
            piece.digits.push_back({result.shape[d], from[(*order)[d]], to[d]});
          network.tensors.push_back(std::move(result));
          nodes.push_back(Remap{constant.name, found->second, {normalised(std::move(piece))}});
        }
        access.map = std::move(map);
        access.tensor = found->second;
      }
    nodes.push_back(std::move(node));
  }
  network.nodes = std::move(nodes);
}

} // namespace wsc::spmd
