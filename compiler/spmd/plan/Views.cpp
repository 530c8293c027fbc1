// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/plan/Views.h"

#include "compiler/spmd/network/Pieces.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

namespace wsc::spmd {

namespace {

/// visit(result element, source element) for all elements of a piece.
template <typename Visit> void forPiece(const Piece &piece, Visit visit) {
  std::vector<int64_t> index(piece.digits.size(), 0);
  for (const Piece::Digit &digit : piece.digits)
    if (digit.extent <= 0)
      return;
  int64_t source = piece.sourceOffset, result = piece.resultOffset;
  for (;;) {
    visit(result, source);
    size_t d = piece.digits.size();
    for (; d-- > 0;) {
      const Piece::Digit &digit = piece.digits[d];
      source += digit.sourceStride;
      result += digit.resultStride;
      if (++index[d] < digit.extent)
        break;
      source -= digit.sourceStride * digit.extent;
      result -= digit.resultStride * digit.extent;
      index[d] = 0;
      if (d == 0)
        return;
    }
    if (piece.digits.empty())
      return;
  }
}

/// The borders of a digit that lie within a dimension.
void addGrains(const std::vector<int64_t> &shape, int64_t stride, int64_t extent,
               std::vector<std::set<int64_t>> &grains) {
  int64_t pitch = 1;
  for (size_t d = shape.size(); d-- > 0; pitch *= shape[d])
    for (const int64_t border : {std::abs(stride), std::abs(stride) * extent})
      if (border > pitch && border < pitch * shape[d] && border % pitch == 0)
        grains[d].insert(border / pitch);
}

bool sameFill(const View &source, const Remap &remap) {
  return std::bit_cast<uint64_t>(source.fill) == std::bit_cast<uint64_t>(remap.fill);
}

} // namespace

Views::Views(const Network &network) : network(network), remaps(network.tensors.size(), nullptr) {
  for (const Node &node : network.nodes)
    if (const Remap *remap = std::get_if<Remap>(&node))
      remaps[size_t(remap->result)] = remap;
}

TensorId Views::fillTensor(double value) {
  for (size_t i = 0; i < fillValues.size(); ++i)
    if (std::bit_cast<uint64_t>(fillValues[i]) == std::bit_cast<uint64_t>(value))
      return TensorId(-1 - int32_t(i));
  fillValues.push_back(value);
  return TensorId(-int32_t(fillValues.size()));
}

const View &Views::of(TensorId tensor) {
  if (auto found = known.find(tensor); found != known.end())
    return found->second;
  View view = make(tensor);
  return known.emplace(tensor, std::move(view)).first->second;
}

std::optional<std::vector<StridedPiece>> Views::piecesOf(TensorId tensor) {
  const Remap *remap = remaps[size_t(tensor)];
  if (!remap) {
    const std::vector<int64_t> &shape = network.tensors[size_t(tensor)].shape;
    StridedPiece whole;
    int64_t stride = 1;
    for (size_t d = shape.size(); d-- > 0; stride *= shape[d])
      whole.digits.insert(whole.digits.begin(), {shape[d], stride, stride});
    return std::vector<StridedPiece>{std::move(whole)};
  }
  if (remap->pieces.size() > kMostPieces)
    return std::nullopt;
  const std::vector<View::Root> &roots = of(tensor).roots;
  std::vector<StridedPiece> pieces;
  for (const Piece &piece : remap->pieces) {
    const auto root = std::find_if(roots.begin(), roots.end(),
                                   [&](const View::Root &candidate) { return candidate.tensor == piece.source; });
    if (root == roots.end())
      return std::nullopt; // a remap of a remap
    pieces.push_back({int32_t(root - roots.begin()), piece.sourceOffset, piece.resultOffset, piece.digits});
  }
  return pieces;
}

const std::vector<std::set<int64_t>> &Views::grainsOf(TensorId tensor) {
  if (grains.empty()) {
    for (const Tensor &each : network.tensors)
      grains.emplace_back(each.shape.size());
    for (size_t t = 0; t < network.tensors.size(); ++t)
      if (remaps[t])
        if (const auto pieces = piecesOf(TensorId(t)))
          for (const StridedPiece &piece : *pieces) {
            const TensorId root = of(TensorId(t)).roots[size_t(piece.source)].tensor;
            for (const Piece::Digit &digit : piece.digits) {
              addGrains(network.tensors[t].shape, digit.resultStride, digit.extent, grains[t]);
              if (root >= 0)
                addGrains(network.tensors[size_t(root)].shape, digit.sourceStride, digit.extent, grains[size_t(root)]);
            }
          }
  }
  return grains[size_t(tensor)];
}

const ElementNumbers &Views::numbersOf(TensorId tensor) {
  const View &view = of(tensor);
  auto [found, added] = numbers.emplace(tensor, nullptr);
  if (added && !view.isIdentity)
    found->second = number(tensor, view);
  return found->second;
}

View Views::make(TensorId tensor) {
  View view;
  const int64_t elements = network.tensors[size_t(tensor)].elements();
  const Remap *remap = remaps[size_t(tensor)];
  view.isIdentity = !remap || elements == 0;
  if (!remap) {
    view.roots.push_back({tensor, 0});
    view.numIds = elements;
    return view;
  }
  view.fill = remap->fill;
  auto addRoot = [&](TensorId root, int64_t count) {
    for (const View::Root &other : view.roots)
      if (other.tensor == root)
        return;
    view.roots.push_back({root, view.numIds});
    view.numIds += count;
  };
  int64_t covered = 0;
  bool mayReadFill = false; // of a source, the same value as the remap's
  for (const Piece &piece : remap->pieces) {
    const View &source = of(piece.source);
    for (const View::Root &root : source.roots)
      addRoot(root.tensor, root.tensor < 0 ? 1 : network.tensors[size_t(root.tensor)].elements());
    if (source.fills && sameFill(source, *remap))
      mayReadFill = true;
    else if (source.fills)
      addRoot(fillTensor(source.fill), 1);
    covered += elementsOf(piece);
  }
  view.fills = covered < elements;
  if (!view.fills && mayReadFill) {
    const ElementNumbers all = numbers[tensor] = number(tensor, view);
    view.fills = std::find(all->begin(), all->end(), -1) != all->end();
  }
  return view;
}

ElementNumbers Views::number(TensorId tensor, const View &view) {
  const Remap *remap = remaps[size_t(tensor)];
  const auto firstIdOf = [&](TensorId root) {
    size_t r = 0;
    while (view.roots[r].tensor != root)
      ++r;
    return view.roots[r].firstId;
  };
  std::vector<int64_t> ids(size_t(network.tensors[size_t(tensor)].elements()), -1);
  for (const Piece &piece : remap->pieces) {
    const View &source = of(piece.source);
    const ElementNumbers &sourceIds = numbersOf(piece.source);
    std::vector<int64_t> shift; // of each of the source's roots
    for (const View::Root &root : source.roots)
      shift.push_back(firstIdOf(root.tensor) - root.firstId);
    const int64_t fillId = source.fills && !sameFill(source, *remap) ? firstIdOf(fillTensor(source.fill)) : -1;
    forPiece(piece, [&](int64_t result, int64_t element) {
      const int64_t id = sourceIds ? (*sourceIds)[size_t(element)] : element;
      int64_t mapped = fillId;
      if (id >= 0) {
        size_t root = source.roots.size() - 1;
        while (source.roots[root].firstId > id)
          --root;
        mapped = id + shift[root];
      }
      ids[size_t(result)] = mapped;
    });
  }
  return std::make_shared<const std::vector<int64_t>>(std::move(ids));
}

} // namespace wsc::spmd
