// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A piece that reverses elements has no form by factors, and windows read each of its elements many times. Its elements
// become a tensor of their own, written once by a nest that walks the source backwards; the remap reads that one
// forwards.
#include "compiler/spmd/network/Pieces.h"
#include "compiler/spmd/network/Simplify.h"

#include <algorithm>
#include <utility>

namespace wsc::spmd {

namespace {

bool isReversed(const Piece::Digit &digit) { return digit.extent > 1 && digit.sourceStride < 0; }

bool reverses(const Piece &piece) { return std::any_of(piece.digits.begin(), piece.digits.end(), isReversed); }

/// Tensors that a nest reads by windows (several iterators walk one dimension), directly or through remaps.
std::vector<bool> windowed(const Network &network) {
  std::vector<bool> is(network.tensors.size(), false);
  for (size_t n = network.nodes.size(); n-- > 0;) {
    if (const Nest *nest = std::get_if<Nest>(&network.nodes[n])) {
      for (const Access &access : nest->operands)
        for (const Index &index : access.map)
          if (std::count_if(index.perIterator.begin(), index.perIterator.end(),
                            [](int64_t step) { return step != 0; }) > 1)
            is[size_t(access.tensor)] = true;
    } else if (const Remap &remap = std::get<Remap>(network.nodes[n]); is[size_t(remap.result)]) {
      for (const Piece &piece : remap.pieces)
        is[size_t(piece.source)] = true;
    }
  }
  return is;
}

TensorId addTensor(Network &network, const std::string &name, TensorId like, std::vector<int64_t> shape) {
  Tensor tensor;
  tensor.name = name;
  tensor.type = network.tensors[size_t(like)].type;
  tensor.shape = std::move(shape);
  network.tensors.push_back(std::move(tensor));
  return TensorId(network.tensors.size()) - 1;
}

/// Adds the piece's elements, one dimension per digit, as they come forwards, then the nest that walks the reversed
/// dimensions backwards. Returns the piece that reads the nest's result.
Piece mirrored(Network &network, const std::string &name, const Piece &piece) {
  const size_t rank = piece.digits.size();
  std::vector<int64_t> shape;
  for (const Piece::Digit &digit : piece.digits)
    shape.push_back(digit.extent);
  const std::vector<int64_t> strides = rowMajorStrides(shape);
  const TensorId forwards = addTensor(network, name + ".border", piece.source, shape);
  const TensorId backwards = addTensor(network, name + ".mirrored", piece.source, shape);

  Piece taken{piece.source, piece.sourceOffset, 0, {}};
  Piece placed{backwards, 0, piece.resultOffset, {}};
  Nest nest;
  nest.name = name;
  nest.extents = shape;
  nest.numParallel = int32_t(rank);
  nest.result = backwards;
  Access &access = nest.operands.emplace_back();
  access.tensor = forwards;
  for (size_t d = 0; d < rank; ++d) {
    const Piece::Digit &digit = piece.digits[d];
    const bool reversed = isReversed(digit);
    if (reversed)
      taken.sourceOffset += digit.sourceStride * (digit.extent - 1);
    taken.digits.push_back({digit.extent, reversed ? -digit.sourceStride : digit.sourceStride, strides[d]});
    placed.digits.push_back({digit.extent, strides[d], digit.resultStride});
    Index &index = access.map.emplace_back();
    index.constant = reversed ? digit.extent - 1 : 0;
    index.perIterator.assign(rank, 0);
    index.perIterator[d] = reversed ? -1 : 1;
  }
  const format::ElementType type = network.tensors[size_t(forwards)].type;
  nest.body.push_back({format::Opcode::Move, type, type, BodyValue::operand(0), {}, {}});
  nest.values = {BodyValue::operation(0)};
  nest.resultValue = nest.values[0];
  network.nodes.emplace_back(Remap{name, forwards, {std::move(taken)}});
  network.nodes.emplace_back(std::move(nest));
  return placed;
}

} // namespace

void copyMirrored(Network &network) {
  const std::vector<bool> isWindowed = windowed(network);
  std::vector<Node> nodes = std::exchange(network.nodes, {});
  for (Node &node : nodes) {
    // A whole tensor that is reversed is read backwards by its nests (foldRemaps).
    if (Remap *remap = std::get_if<Remap>(&node);
        remap && remap->pieces.size() > 1 && isWindowed[size_t(remap->result)])
      for (Piece &piece : remap->pieces)
        if (reverses(piece))
          piece = mirrored(network, remap->name, piece);
    network.nodes.push_back(std::move(node));
  }
}

} // namespace wsc::spmd
