// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/plan/ConstantShare.h"

#include <algorithm>

namespace wsc::spmd {

using namespace format;

namespace {

constexpr double kShare = 0.6;       // of the bytes for tensors, for the constants of all nests together
constexpr int64_t kLeastBytes = 512; // of a nest, where there is room for as many of each
// Copies of constants of more bytes than this cost the file and who loads it more than they save.
constexpr int64_t kLargeConstant = int64_t(64) << 20, kMostCopies = 4;

int64_t copiesOf(TensorId tensor, const Loop *loop) {
  return loop && loop->constants.contains(tensor) ? loop->count : 1;
}

} // namespace

ConstantShare::ConstantShare(const Network &network, Views &views, const Rectangle &rectangle, int64_t tensorBytes)
    : network(network), views(views), cores(int64_t(rectangle.rows) * rectangle.cols), tensorBytes(tensorBytes) {
  for (const Tensor &tensor : network.tensors)
    if (tensor.kind == Tensor::Kind::Constant)
      allBytes += tensor.elements() * elementBytes(tensor.type);
  int64_t nests = 0;
  for (const Node &node : network.nodes)
    if (const Nest *nest = std::get_if<Nest>(&node))
      nests += std::any_of(nest->operands.begin(), nest->operands.end(),
                           [&](const Access &access) { return isConstant(access.tensor); });
  leastBytes = std::min(kLeastBytes, tensorBytes / std::max<int64_t>(1, nests));
}

bool ConstantShare::isConstant(TensorId tensor) const {
  for (const View::Root &root : views.of(tensor).roots)
    if (root.tensor >= 0 && network.tensors[size_t(root.tensor)].kind != Tensor::Kind::Constant)
      return false;
  return true;
}

int64_t ConstantShare::bytesOf(const Nest &nest, const Distribution &distribution, const Loop *loop) const {
  int64_t bytes = 0;
  for (const Access &access : nest.operands)
    if (isConstant(access.tensor)) {
      const Tensor &tensor = network.tensors[size_t(access.tensor)];
      bytes += operandSharding(nest, access, tensor.shape, distribution).localElements() * elementBytes(tensor.type) *
               copiesOf(access.tensor, loop);
    }
  return bytes;
}

int64_t ConstantShare::limitOf(const Nest &nest, const Loop *loop) const {
  int64_t own = 0;
  for (const Access &access : nest.operands)
    if (isConstant(access.tensor))
      own += network.tensors[size_t(access.tensor)].elements() *
             elementBytes(network.tensors[size_t(access.tensor)].type) * copiesOf(access.tensor, loop);
  const double share = double(own) / double(std::max<int64_t>(1, allBytes));
  int64_t limit = int64_t(kShare * double(tensorBytes) * share);
  if (own > kLargeConstant)
    limit = std::min(limit, kMostCopies * own / cores);
  return std::max(leastBytes, limit);
}

} // namespace wsc::spmd
