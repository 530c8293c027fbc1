// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/network/OneSample.h"

#include "compiler/spmd/network/Pieces.h"

#include <algorithm>
#include <cstdlib>

namespace wsc::spmd {

namespace {

class Divider {
public:
  Divider(const Network &network, int64_t samples)
      : network(network), samples(samples), varies(network.tensors.size(), false) {
    result.network = network;
    result.samples = samples;
  }

  std::optional<OneSample> divide() {
    for (const NamedTensor &input : network.inputs) {
      const std::vector<int64_t> &shape = tensorOf(input.tensor).shape;
      const bool isBatch = !shape.empty() && shape[0] == samples;
      result.sharedInputs.push_back(!isBatch);
      if (isBatch && !vary(input.tensor))
        return std::nullopt;
    }
    for (size_t n = 0; n < network.nodes.size(); ++n) {
      Node &node = result.network.nodes[n];
      if (!(std::holds_alternative<Nest>(node) ? divideNest(std::get<Nest>(node)) : divideRemap(std::get<Remap>(node))))
        return std::nullopt;
    }
    for (const NamedTensor &output : network.outputs)
      if (!varies[size_t(output.tensor)])
        return std::nullopt;
    if (!result.network.check().ok())
      return std::nullopt;
    return std::move(result);
  }

private:
  const Tensor &tensorOf(TensorId tensor) const { return network.tensors[size_t(tensor)]; }

  /// The dimension that numbers samples.
  size_t sampleDim(TensorId tensor) const {
    const std::vector<int64_t> &shape = tensorOf(tensor).shape;
    return size_t(std::find_if(shape.begin(), shape.end(), [](int64_t extent) { return extent != 1; }) - shape.begin());
  }

  /// The tensor depends on the sample; whether it has a part for each.
  bool vary(TensorId tensor) {
    const size_t dim = sampleDim(tensor);
    std::vector<int64_t> &shape = result.network.tensors[size_t(tensor)].shape;
    if (dim == shape.size() || shape[dim] == 0 || shape[dim] % samples != 0)
      return false;
    shape[dim] /= samples;
    varies[size_t(tensor)] = true;
    return true;
  }

  bool divideNest(Nest &nest) {
    if (std::none_of(nest.operands.begin(), nest.operands.end(),
                     [&](const Access &access) { return varies[size_t(access.tensor)]; }))
      return true;
    const size_t k = sampleDim(nest.result);
    if (!vary(nest.result) || k >= size_t(nest.numParallel))
      return false;
    for (const Access &access : nest.operands) {
      const size_t dim = sampleDim(access.tensor);
      for (size_t d = 0; d < access.map.size(); ++d) {
        const Index &index = access.map[d];
        const bool isSamples = varies[size_t(access.tensor)] && d == dim;
        if (!isSamples && index.perIterator[k] != 0)
          return false;
        if (!isSamples)
          continue;
        // The iterator walks this dimension, all of it, and nothing else does.
        if (!index.isIterator(k) || access.gatherDim == int32_t(d) ||
            tensorOf(access.tensor).shape[d] != nest.extents[k])
          return false;
      }
    }
    nest.extents[k] /= samples;
    nest.macs /= samples;
    return true;
  }

  bool divideRemap(Remap &remap) {
    if (std::none_of(remap.pieces.begin(), remap.pieces.end(),
                     [&](const Piece &piece) { return varies[size_t(piece.source)]; }))
      return true;
    if (!vary(remap.result))
      return false;
    const int64_t part = tensorOf(remap.result).elements() / samples;
    for (Piece &piece : remap.pieces) {
      piece = normalised(std::move(piece));
      const int64_t sourcePart = varies[size_t(piece.source)] ? tensorOf(piece.source).elements() / samples : 0;
      const auto digit = std::find_if(piece.digits.begin(), piece.digits.end(), [&](const Piece::Digit &each) {
        return each.extent % samples == 0 && each.extent / samples * each.resultStride == part &&
               each.extent / samples * each.sourceStride == sourcePart;
      });
      if (digit == piece.digits.end())
        return false;
      digit->extent /= samples;
      if (!staysWithin(piece, part, sourcePart > 0 ? sourcePart : tensorOf(piece.source).elements()))
        return false;
    }
    return true;
  }

  /// Whether all elements of the piece are among the first ones of result and source.
  static bool staysWithin(const Piece &piece, int64_t resultElements, int64_t sourceElements) {
    int64_t last = piece.resultOffset, least = piece.sourceOffset, most = piece.sourceOffset;
    for (const Piece::Digit &digit : piece.digits) {
      last += (digit.extent - 1) * digit.resultStride;
      (digit.sourceStride < 0 ? least : most) += (digit.extent - 1) * digit.sourceStride;
    }
    return last < resultElements && least >= 0 && most < sourceElements;
  }

  const Network &network;
  const int64_t samples;
  OneSample result;
  std::vector<bool> varies; // per tensor: depends on the sample
};

} // namespace

std::optional<OneSample> oneSample(const Network &network) {
  if (!network.states.empty() || network.outputs.empty())
    return std::nullopt;
  for (const NamedTensor &input : network.inputs) {
    const std::vector<int64_t> &shape = network.tensors[size_t(input.tensor)].shape;
    if (!shape.empty() && shape[0] > 1)
      return Divider(network, shape[0]).divide();
  }
  return std::nullopt;
}

} // namespace wsc::spmd
