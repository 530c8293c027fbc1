// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layers that read all layers before them (DenseNet) concatenate the same tensors again and again, and each of these is
// a move of its own for each layer that reads it:
//
//     [a, b, c, d, e], [a, b, c, d, e, f]   ──►   [a, b, c, d, e], [that, f]
#include "compiler/spmd/network/Pieces.h"
#include "compiler/spmd/network/Simplify.h"

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

namespace wsc::spmd {

namespace {

using Coordinates = std::vector<int64_t>;

Coordinates coordinatesOf(int64_t number, const std::vector<int64_t> &shape) {
  Coordinates coordinates(shape.size(), 0);
  for (size_t d = shape.size(); d-- > 0; number /= shape[d])
    coordinates[d] = number % shape[d];
  return coordinates;
}

int64_t lastOf(const Piece &piece) {
  int64_t last = piece.resultOffset;
  for (const Piece::Digit &digit : piece.digits)
    last += (digit.extent - 1) * digit.resultStride;
  return last;
}

/// Whether both place the same elements at the same coordinates of their results.
bool placesAlike(const Piece &a, const std::vector<int64_t> &shapeA, const Piece &b,
                 const std::vector<int64_t> &shapeB) {
  const auto alike = [&](int64_t inA, int64_t inB) { return coordinatesOf(inA, shapeA) == coordinatesOf(inB, shapeB); };
  if (a.source != b.source || a.sourceOffset != b.sourceOffset || a.digits.size() != b.digits.size() ||
      !alike(a.resultOffset, b.resultOffset) || !alike(lastOf(a), lastOf(b)))
    return false;
  for (size_t i = 0; i < a.digits.size(); ++i)
    if (a.digits[i].extent != b.digits[i].extent || a.digits[i].sourceStride != b.digits[i].sourceStride ||
        !alike(a.digits[i].resultStride, b.digits[i].resultStride))
      return false;
  return true;
}

class Sharer {
public:
  explicit Sharer(Network &network) : network(network) {}

  void run() {
    for (Node &node : network.nodes)
      if (Remap *remap = std::get_if<Remap>(&node); remap && remap->pieces.size() > 1) {
        std::vector<const Remap *> &others = known[remap->pieces.front().source];
        given.push_back(std::make_unique<Remap>(*remap));
        if (sourcesOf(remap->pieces) > kMostSources)
          for (size_t i = others.size(); i-- > 0;)
            if (begins(*remap, *others[i])) {
              share(*remap, *others[i]);
              break;
            }
        others.push_back(given.back().get());
      }
  }

private:
  const std::vector<int64_t> &shapeOf(TensorId tensor) const { return network.tensors[size_t(tensor)].shape; }

  /// Whether a remap has, before others, the pieces of another one, which fill that one's result.
  bool begins(const Remap &remap, const Remap &other) const {
    const std::vector<int64_t> &shape = shapeOf(remap.result), &shapeOfOther = shapeOf(other.result);
    if (other.pieces.size() >= remap.pieces.size() || shape.size() != shapeOfOther.size() ||
        network.tensors[size_t(remap.result)].type != network.tensors[size_t(other.result)].type)
      return false;
    int64_t elements = 0;
    for (size_t i = 0; i < other.pieces.size(); ++i) {
      if (!placesAlike(other.pieces[i], shapeOfOther, remap.pieces[i], shape))
        return false;
      elements += elementsOf(other.pieces[i]);
    }
    return elements == network.tensors[size_t(other.result)].elements();
  }

  void share(Remap &remap, const Remap &other) const {
    const std::vector<int64_t> &shape = shapeOf(other.result);
    const std::vector<int64_t> zeros(shape.size(), 0), ones(shape.size(), 1);
    const auto whole = boxPiece(shape, zeros, shape, ones, shapeOf(remap.result), zeros);
    if (!whole)
      return;
    std::vector<Piece> pieces{*whole};
    pieces[0].source = other.result;
    pieces.insert(pieces.end(), remap.pieces.begin() + ptrdiff_t(other.pieces.size()), remap.pieces.end());
    remap.pieces = std::move(pieces);
  }

  Network &network;
  std::vector<std::unique_ptr<const Remap>> given;      // as they were
  std::map<TensorId, std::vector<const Remap *>> known; // by the first tensor that they read
};

} // namespace

void shareConcatenations(Network &network) { Sharer(network).run(); }

} // namespace wsc::spmd
