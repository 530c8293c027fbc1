// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dimensions of tensors and iterators of nests that walk each other one to one are one *class*: they are cut alike, or
// not at all. Cuts begin where remaps of one piece read a part of a dimension as a dimension of its own, and spread
// over remaps and classes until nothing changes. A class that an input or output has, or that is read in any other way
// (windows, slices, gathers), stays whole, as does one whose cuts a piece of chained remaps would cross.
#include "compiler/spmd/network/Pieces.h"
#include "compiler/spmd/network/Simplify.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>

namespace wsc::spmd {

namespace {

constexpr size_t kMostDims = 6; // of a tensor, of more than one element; iterators of a nest: more take long to plan

class DimSplitter {
public:
  explicit DimSplitter(Network &network) : network(network) {
    for (const Tensor &tensor : network.tensors) {
      firstOfTensor.push_back(extents.size());
      extents.insert(extents.end(), tensor.shape.begin(), tensor.shape.end());
    }
    for (const Node &node : network.nodes) {
      firstOfNode.push_back(extents.size());
      if (const Nest *nest = std::get_if<Nest>(&node))
        extents.insert(extents.end(), nest->extents.begin(), nest->extents.end());
    }
    parent.resize(extents.size());
    std::iota(parent.begin(), parent.end(), size_t(0));
    isWhole.resize(extents.size(), false);
    cuts.resize(extents.size());
  }

  void run() {
    for (size_t t = 0; t < network.tensors.size(); ++t)
      if (network.tensors[t].kind == Tensor::Kind::Input)
        keepWhole(TensorId(t));
    for (const NamedTensor &output : network.outputs)
      keepWhole(output.tensor);
    for (const State &state : network.states)
      for (TensorId tensor : {state.read, state.written})
        if (tensor >= 0)
          keepWhole(tensor);
    for (size_t n = 0; n < network.nodes.size(); ++n)
      if (const Nest *nest = std::get_if<Nest>(&network.nodes[n]))
        link(*nest, n);
    spreadCuts();
    keepChains();
    keepPiecesWhole();
    if (std::any_of(cuts.begin(), cuts.end(), [](const std::set<int64_t> &those) { return !those.empty(); }))
      rewrite();
  }

private:
  size_t dimOf(TensorId tensor, size_t d) const { return firstOfTensor[size_t(tensor)] + d; }

  size_t find(size_t x) {
    while (parent[x] != x)
      x = parent[x] = parent[parent[x]];
    return x;
  }

  void keepWhole(TensorId tensor) {
    for (size_t d = 0; d < network.tensors[size_t(tensor)].shape.size(); ++d)
      isWhole[find(dimOf(tensor, d))] = true;
  }

  void unite(size_t a, size_t b) {
    a = find(a);
    b = find(b);
    isWhole[a] = isWhole[a] || isWhole[b];
    parent[b] = a;
  }

  void link(const Nest &nest, size_t n) {
    for (size_t d = 0; d < size_t(nest.numParallel); ++d)
      unite(dimOf(nest.result, d), firstOfNode[n] + d);
    for (const Access &access : nest.operands)
      for (size_t d = 0; d < access.map.size(); ++d) {
        const Index &index = access.map[d];
        const size_t dim = dimOf(access.tensor, d);
        std::vector<size_t> walkers;
        for (size_t k = 0; k < index.perIterator.size(); ++k)
          if (index.perIterator[k] != 0)
            walkers.push_back(k);
        const bool isGathered = access.gatherDim == int32_t(d);
        if (walkers.empty() && !isGathered && index.constant >= 0 && index.constant < extents[dim])
          continue; // one element, wherever the cuts are
        if (walkers.size() == 1 && !isGathered && index.constant == 0 && index.perIterator[walkers[0]] == 1 &&
            extents[dim] == nest.extents[walkers[0]]) {
          unite(dim, firstOfNode[n] + walkers[0]);
          continue;
        }
        isWhole[find(dim)] = true;
        for (size_t k : walkers)
          isWhole[find(firstOfNode[n] + k)] = true;
      }
  }

  /// Cuts the dimension of a tensor in which a stride of flat numbers lies.
  bool cut(TensorId tensor, int64_t stride) {
    const std::vector<int64_t> &shape = network.tensors[size_t(tensor)].shape;
    int64_t pitch = 1;
    for (size_t d = shape.size(); d-- > 0; pitch *= shape[d])
      if (stride > pitch && stride < pitch * shape[d] && stride % pitch == 0 && shape[d] % (stride / pitch) == 0)
        return cuts[find(dimOf(tensor, d))].insert(stride / pitch).second;
    return false;
  }

  /// The borders of a tensor's dimensions and of its cuts, as strides of flat numbers.
  std::vector<int64_t> bordersOf(TensorId tensor) {
    const std::vector<int64_t> &shape = network.tensors[size_t(tensor)].shape;
    std::vector<int64_t> borders;
    int64_t pitch = 1;
    for (size_t d = shape.size(); d-- > 0; pitch *= shape[d]) {
      borders.push_back(pitch);
      for (int64_t step : cuts[find(dimOf(tensor, d))])
        borders.push_back(pitch * step);
    }
    return borders;
  }

  /// Borders of one side of a piece are borders of the other; those of the source alone are not cut where it is one of
  /// several pieces.
  bool spread(const Piece &piece, TensorId result, bool isAlone) {
    bool changed = false;
    const std::vector<int64_t> ofSource = bordersOf(piece.source), ofResult = bordersOf(result);
    for (const Piece::Digit &digit : normalised(piece).digits) {
      const int64_t from = std::abs(digit.sourceStride), to = digit.resultStride;
      if (from == 0)
        continue;
      auto within = [&](int64_t border, int64_t stride) {
        return border % stride == 0 && border / stride < digit.extent && digit.extent % (border / stride) == 0;
      };
      for (int64_t border : ofSource)
        if (isAlone && border >= from && within(border, from))
          changed |= cut(result, border / from * to);
      for (int64_t border : ofResult)
        if (border >= to && within(border, to))
          changed |= cut(piece.source, border / to * from);
      // Where the digit ends.
      if (isAlone)
        changed |= cut(result, to * digit.extent);
      changed |= cut(piece.source, from * digit.extent);
    }
    return changed;
  }

  void spreadCuts() {
    for (bool changed = true; changed;) {
      changed = false;
      for (const Node &node : network.nodes)
        if (const Remap *remap = std::get_if<Remap>(&node))
          for (const Piece &piece : remap->pieces)
            changed |= spread(piece, remap->result, remap->pieces.size() == 1);
    }
  }

  /// Cuts of whole classes go, and of others those that do not divide the next one.
  void keepChains() {
    for (size_t x = 0; x < cuts.size(); ++x) {
      if (parent[x] != x)
        continue;
      if (isWhole[x])
        cuts[x].clear();
      int64_t before = 1;
      std::erase_if(cuts[x], [&](int64_t step) {
        if (step % before != 0)
          return true;
        before = step;
        return false;
      });
    }
    auto dims = [&](size_t first, size_t count) {
      size_t sum = 0;
      for (size_t d = 0; d < count; ++d)
        sum += size_t(extents[first + d] > 1) + cuts[find(first + d)].size();
      return sum;
    };
    // Where a tensor or nest would get too many, its classes stay whole.
    for (bool changed = true; changed;) {
      changed = false;
      auto limit = [&](size_t first, size_t count) {
        if (dims(first, count) <= kMostDims)
          return;
        for (size_t d = 0; d < count; ++d) {
          changed |= !cuts[find(first + d)].empty();
          cuts[find(first + d)].clear();
        }
      };
      for (size_t t = 0; t < network.tensors.size(); ++t)
        limit(firstOfTensor[t], network.tensors[t].shape.size());
      for (size_t n = 0; n < network.nodes.size(); ++n)
        if (const Nest *nest = std::get_if<Nest>(&network.nodes[n]))
          limit(firstOfNode[n], nest->extents.size());
    }
  }

  /// Pieces of remaps that others read must not cross cuts in the middle, or they would not merge: a mirrored border, a
  /// rolled image that is cut into windows.
  void keepPiecesWhole() {
    std::vector<bool> isRemapped(network.tensors.size(), false), isRead(isRemapped);
    for (const Node &node : network.nodes)
      if (const Remap *remap = std::get_if<Remap>(&node)) {
        isRemapped[size_t(remap->result)] = true;
        for (const Piece &piece : remap->pieces)
          isRead[size_t(piece.source)] = true;
      }
    const auto keep = [&](TensorId tensor, int64_t offset, const Piece &piece, int64_t Piece::Digit::*stride) {
      const size_t first = firstOfTensor[size_t(tensor)], count = network.tensors[size_t(tensor)].shape.size();
      if (walks(partsOf(first, count), offset, piece.digits, stride))
        return false;
      bool changed = false;
      for (size_t d = 0; d < count; ++d) {
        changed |= !cuts[find(first + d)].empty();
        cuts[find(first + d)].clear();
      }
      return changed;
    };
    for (bool changed = true; changed;) {
      changed = false;
      for (const Node &node : network.nodes)
        if (const Remap *remap = std::get_if<Remap>(&node))
          for (const Piece &each : remap->pieces) {
            const Piece piece = normalised(each);
            if (isRemapped[size_t(piece.source)])
              changed |= keep(piece.source, piece.sourceOffset, piece, &Piece::Digit::sourceStride);
            if (isRead[size_t(remap->result)])
              changed |= keep(remap->result, piece.resultOffset, piece, &Piece::Digit::resultStride);
          }
    }
  }

  /// Whether the digits, from an offset on, each walk single dimensions of a shape.
  static bool walks(const std::vector<int64_t> &shape, int64_t offset, const std::vector<Piece::Digit> &digits,
                    int64_t Piece::Digit::*stride) {
    std::vector<Term> radices, terms;
    const std::vector<int64_t> strides = rowMajorStrides(shape);
    for (size_t d = 0; d < shape.size(); ++d)
      if (shape[d] > 1)
        radices.push_back({shape[d], strides[d]});
    for (const Piece::Digit &digit : cutAt(digits, radices, stride))
      terms.push_back({digit.extent, digit.*stride});
    return digitsOf(offset, terms, radices).has_value();
  }

  /// The steps of a dimension's parts, the outermost first: its cuts and 1.
  std::vector<int64_t> stepsOf(size_t x) {
    const std::set<int64_t> &those = cuts[find(x)];
    std::vector<int64_t> steps(those.rbegin(), those.rend());
    steps.push_back(1);
    return steps;
  }

  std::vector<int64_t> partsOf(size_t first, size_t count) {
    std::vector<int64_t> parts;
    for (size_t d = 0; d < count; ++d) {
      int64_t rest = extents[first + d];
      for (int64_t step : stepsOf(first + d)) {
        parts.push_back(rest / step);
        rest = step;
      }
    }
    return parts;
  }

  void rewrite() {
    for (size_t n = 0; n < network.nodes.size(); ++n) {
      Nest *nest = std::get_if<Nest>(&network.nodes[n]);
      if (!nest)
        continue;
      const size_t count = nest->extents.size();
      for (Access &access : nest->operands)
        rewrite(access, n, count);
      nest->extents = partsOf(firstOfNode[n], count);
      int32_t parallel = 0;
      for (int32_t k = 0; k < nest->numParallel; ++k)
        parallel += int32_t(stepsOf(firstOfNode[n] + size_t(k)).size());
      nest->numParallel = parallel;
    }
    for (size_t t = 0; t < network.tensors.size(); ++t)
      network.tensors[t].shape = partsOf(firstOfTensor[t], network.tensors[t].shape.size());
  }

  void rewrite(Access &access, size_t n, size_t count) {
    std::vector<Index> map;
    for (size_t d = 0; d < access.map.size(); ++d) {
      const Index &old = access.map[d];
      const std::vector<int64_t> steps = stepsOf(dimOf(access.tensor, d));
      int64_t constant = old.constant;
      for (size_t s = 0; s < steps.size(); ++s) {
        Index index;
        index.constant = steps.size() == 1 ? constant : constant / steps[s];
        if (steps.size() > 1)
          constant %= steps[s];
        // A dimension of several parts has one iterator of as many, or none.
        for (size_t k = 0; k < count; ++k) {
          const std::vector<int64_t> parts = stepsOf(firstOfNode[n] + k);
          for (size_t p = 0; p < parts.size(); ++p)
            index.perIterator.push_back(steps.size() == 1 ? old.perIterator[k] * parts[p]
                                                          : int64_t(old.perIterator[k] != 0 && p == s));
        }
        map.push_back(std::move(index));
      }
      if (access.gatherDim == int32_t(d))
        gathered = int32_t(map.size()) - 1;
    }
    if (access.gatherDim >= 0)
      access.gatherDim = gathered; // is whole
    access.map = std::move(map);
  }

  Network &network;
  std::vector<size_t> firstOfTensor, firstOfNode; // numbers of dimensions and iterators
  std::vector<int64_t> extents;
  std::vector<size_t> parent; // union and find
  // Of classes, by their first member.
  std::vector<bool> isWhole;
  std::vector<std::set<int64_t>> cuts;
  int32_t gathered = -1;
};

} // namespace

void splitDims(Network &network) { DimSplitter(network).run(); }

} // namespace wsc::spmd
