// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The nodes of the first repetition become the body. Each read of it names, instead of what the first repetition reads,
// a tensor that stands for what all repetitions do: the alias of a list of constants, a value that goes round, a slice
// of a stack. Behind the loop, results of the repetitions are elements of stacks, or, where only the last one is read,
// what the body leaves. Remaps of a repetition that are read behind the loop are made there again.
#include "compiler/spmd/plan/Loop.h"

#include "compiler/spmd/network/Pieces.h"
#include "compiler/spmd/plan/FindLoop.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

namespace wsc::spmd {

namespace {

/// Joins pieces of one source that follow each other at equal distances in it and in the result.
void joinPieces(Remap &remap) {
  std::sort(remap.pieces.begin(), remap.pieces.end(), [](const Piece &a, const Piece &b) {
    return std::tie(a.source, a.resultOffset) < std::tie(b.source, b.resultOffset);
  });
  auto alike = [](const Piece &a, const Piece &b) {
    auto same = [](const Piece::Digit &x, const Piece::Digit &y) {
      return x.extent == y.extent && x.sourceStride == y.sourceStride && x.resultStride == y.resultStride;
    };
    return a.source == b.source && std::equal(a.digits.begin(), a.digits.end(), b.digits.begin(), b.digits.end(), same);
  };
  std::vector<Piece> joined;
  for (size_t from = 0, to; from < remap.pieces.size(); from = to) {
    const std::vector<Piece> &pieces = remap.pieces;
    auto distance = [&](size_t n) {
      return std::pair(pieces[n].sourceOffset - pieces[n - 1].sourceOffset,
                       pieces[n].resultOffset - pieces[n - 1].resultOffset);
    };
    to = from + 1;
    while (to < pieces.size() && alike(pieces[from], pieces[to]) && distance(to) == distance(from + 1))
      ++to;
    Piece piece = pieces[from];
    if (to - from > 1)
      piece.digits.insert(piece.digits.begin(),
                          {int64_t(to - from), distance(from + 1).first, distance(from + 1).second});
    joined.push_back(normalised(std::move(piece)));
  }
  remap.pieces = std::move(joined);
}

class LoopRoller {
public:
  LoopRoller(RolledNetwork from, const FoundLoop &found)
      : from(std::move(from)), old(this->from.network), found(found), count(size_t(found.count)),
        place(old.nodes.size(), -1), producer(old.tensors.size(), -1) {
    for (size_t n = 0; n < found.nodes.size(); ++n)
      place[found.nodes[n]] = int64_t(n);
    for (size_t n = 0; n < old.nodes.size(); ++n)
      producer[size_t(resultOf(old.nodes[n]))] = int64_t(n);
    tensors = old.tensors;
  }

  RolledNetwork roll() {
    findUses();
    std::vector<Node> before, body, behind;
    for (size_t n = 0; n <= found.nodes.back(); ++n)
      if (place[n] < 0)
        before.push_back(old.nodes[n]);
    for (size_t p = 0; p < found.period; ++p)
      body.push_back(bodyNode(p));
    std::move(stacks.begin(), stacks.end(), std::back_inserter(before));
    collect();
    for (size_t n : remade)
      behind.push_back(remakeRemap(n));
    for (size_t n = found.nodes.back() + 1; n < old.nodes.size(); ++n)
      behind.push_back(rewritten(old.nodes[n]));
    loop.count = found.count;
    loop.begin = before.size();
    loop.end = before.size() + body.size();
    return assemble(std::move(before), std::move(body), std::move(behind));
  }

private:
  TensorId add(std::string name, format::ElementType type, std::vector<int64_t> shape) {
    Tensor tensor;
    tensor.name = std::move(name);
    tensor.type = type;
    tensor.shape = std::move(shape);
    tensors.push_back(std::move(tensor));
    return TensorId(tensors.size() - 1);
  }

  TensorId addStack(TensorId of) {
    const Tensor tensor = tensors[size_t(of)];
    std::vector<int64_t> shape = tensor.shape;
    shape.insert(shape.begin(), int64_t(count));
    return add(absl::StrCat(tensor.name, " of all"), tensor.type, std::move(shape));
  }

  /// Whether a node of the loop makes the tensor; which one of all repetitions.
  int64_t placeOf(TensorId tensor) const {
    const int64_t made = producer[size_t(tensor)];
    return made < 0 ? -1 : place[size_t(made)];
  }

  //===- Body
  //-----------------------------------------------------------------------------------------------------------===//

  Node bodyNode(size_t p) {
    Node node = old.nodes[found.nodes[p]];
    size_t k = 0;
    auto *nest = std::get_if<Nest>(&node);
    forEachRead(node, [&](TensorId &tensor) {
      const LoopRead &read = found.reads[p][k];
      switch (read.kind) {
      case LoopRead::Kind::Inside:
      case LoopRead::Kind::Same:
        break;
      case LoopRead::Kind::Constants:
        tensor = aliasOf(read.tensors);
        break;
      case LoopRead::Kind::Carried:
        tensor = carried(tensor, read.place);
        break;
      case LoopRead::Kind::Moving:
        tensor = movingSlice(*nest, nest->operands[k], read);
        break;
      case LoopRead::Kind::Values:
        tensor = sliceOf(read.tensors);
        break;
      }
      ++k;
    });
    return node;
  }

  TensorId aliasOf(const std::vector<TensorId> &all) {
    auto [found, added] = aliases.emplace(all, -1);
    if (!added)
      return found->second;
    const Tensor first = tensors[size_t(all[0])];
    if (first.kind == Tensor::Kind::Constant) {
      tensors.push_back(first);
      found->second = TensorId(tensors.size() - 1);
    } else {
      found->second = add(first.name, first.type, first.shape);
      stacks.push_back(Remap{first.name, found->second, {normalised(whole(all[0], 0))}});
    }
    loop.constants.emplace(found->second, all);
    return found->second;
  }

  TensorId carried(TensorId initial, size_t made) {
    auto [found, added] = values.emplace(std::pair(initial, made), -1);
    if (added) {
      const Tensor first = tensors[size_t(initial)];
      const TensorId makes = resultOf(old.nodes[this->found.nodes[made]]);
      found->second = add(first.name, first.type, first.shape);
      loop.carried.push_back({initial, found->second, makes});
    }
    return found->second;
  }

  /// Piece that is all of a tensor.
  Piece whole(TensorId tensor, int64_t resultOffset) const {
    Piece piece;
    piece.source = tensor;
    piece.resultOffset = resultOffset;
    piece.digits = {{tensors[size_t(tensor)].elements(), 1, 1}};
    return piece;
  }

  /// Reads through remaps of one piece.
  Piece throughRemaps(Piece piece) const {
    for (;;) {
      const int64_t made = producer[size_t(piece.source)];
      const Remap *remap = made < 0 ? nullptr : std::get_if<Remap>(&old.nodes[size_t(made)]);
      if (!remap || remap->pieces.size() != 1)
        return normalised(std::move(piece));
      auto through = composed(piece, remap->pieces[0]);
      if (!through)
        return normalised(std::move(piece));
      piece = *std::move(through);
    }
  }

  TensorId sliceOf(const std::vector<TensorId> &all) {
    auto [found, added] = slices.emplace(all, -1);
    if (added) {
      const Tensor first = tensors[size_t(all[0])];
      found->second = add(first.name, first.type, first.shape);
      const TensorId stack = addStack(all[0]);
      Remap remap{first.name, stack, {}};
      for (size_t i = 0; i < count; ++i)
        remap.pieces.push_back(throughRemaps(whole(all[i], int64_t(i) * first.elements())));
      joinPieces(remap);
      stacks.push_back(std::move(remap));
      loop.slices.push_back({found->second, stack});
    }
    return found->second;
  }

  /// The box that the nest reads along the dimension in which it moves on, of all repetitions.
  TensorId movingSlice(const Nest &nest, Access &access, const LoopRead &read) {
    Index &index = access.map[read.dim];
    int64_t least = 0, most = 0;
    for (size_t j = 0; j < nest.extents.size(); ++j) {
      const int64_t reach = index.perIterator[j] * (nest.extents[j] - 1);
      (reach < 0 ? least : most) += reach;
    }
    const int64_t at = index.constant + least, length = most - least + 1;
    index.constant = -least;
    auto [found, added] =
        boxes.emplace(std::vector<int64_t>{access.tensor, int64_t(read.dim), at, length, read.step}, -1);
    if (!added)
      return found->second;
    const Tensor source = tensors[size_t(access.tensor)];
    std::vector<int64_t> shape = source.shape;
    shape[read.dim] = length;
    found->second = add(source.name, source.type, shape);
    const std::vector<int64_t> strides = rowMajorStrides(source.shape), own = rowMajorStrides(shape);
    Piece piece;
    piece.source = access.tensor;
    piece.sourceOffset = at * strides[read.dim];
    piece.digits = {{int64_t(count), read.step * strides[read.dim], tensors[size_t(found->second)].elements()}};
    for (size_t d = 0; d < shape.size(); ++d)
      piece.digits.push_back({shape[d], strides[d], own[d]});
    const TensorId stack = addStack(found->second);
    stacks.push_back(Remap{source.name, stack, {throughRemaps(std::move(piece))}});
    loop.slices.push_back({found->second, stack});
    return found->second;
  }

  //===- Behind the loop
  //------------------------------------------------------------------------------------------------===//

  /// Results of repetitions that are read behind the loop, and the remaps of the loop to be made there again.
  void findUses() {
    auto use = [&](auto &&self, TensorId tensor) -> void {
      if (tensor < 0 || placeOf(tensor) < 0)
        return;
      const auto node = size_t(producer[size_t(tensor)]);
      if (std::holds_alternative<Remap>(old.nodes[node])) {
        if (remade.insert(node).second)
          forEachRead(old.nodes[node], [&](TensorId read) { self(self, read); });
        return;
      }
      uses[size_t(placeOf(tensor)) % found.period].insert(size_t(placeOf(tensor)) / found.period);
    };
    for (size_t n = found.nodes.back() + 1; n < old.nodes.size(); ++n)
      forEachRead(old.nodes[n], [&](TensorId tensor) { use(use, tensor); });
    for (const NamedTensor &output : old.outputs)
      use(use, output.tensor);
    for (const State &state : old.states)
      use(use, state.written);
    for (const Loop &other : from.loops)
      if (other.begin > found.nodes.back())
        for (const Loop::Carried &carried : other.carried)
          use(use, carried.initial);
  }

  void collect() {
    for (const auto &[p, repetitions] : uses)
      if (*repetitions.begin() + 1 < count) {
        const TensorId made = resultOf(old.nodes[found.nodes[p]]);
        loop.collected.push_back({made, addStack(made)});
        stackOf[p] = loop.collected.back().stack;
      }
  }

  Node remakeRemap(size_t n) {
    Remap remap = std::get<Remap>(old.nodes[n]);
    const Tensor result = tensors[size_t(remap.result)];
    const TensorId again = add(result.name, result.type, result.shape);
    replaced[remap.result] = again;
    remap.result = again;
    rewritePieces(remap);
    return remap;
  }

  void rewritePieces(Remap &remap) {
    bool collected = false;
    for (Piece &piece : remap.pieces) {
      const auto at = size_t(placeOf(piece.source));
      if (placeOf(piece.source) >= 0 && stackOf.contains(at % found.period)) {
        piece.sourceOffset += int64_t(at / found.period) * tensors[size_t(piece.source)].elements();
        piece.source = stackOf[at % found.period];
        collected = true;
      } else {
        piece.source = outside(piece.source);
      }
    }
    if (collected)
      joinPieces(remap);
  }

  /// What stands for a tensor behind the loop: an element of a stack, or what the last repetition leaves.
  TensorId outside(TensorId tensor) {
    if (auto found = replaced.find(tensor); found != replaced.end())
      return found->second;
    if (tensor < 0 || placeOf(tensor) < 0)
      return tensor;
    const auto at = size_t(placeOf(tensor));
    const auto stack = stackOf.find(at % found.period);
    if (stack == stackOf.end())
      return resultOf(old.nodes[found.nodes[at % found.period]]);
    const Tensor of = tensors[size_t(tensor)];
    Piece piece = whole(tensor, 0);
    piece.source = stack->second;
    piece.sourceOffset = int64_t(at / found.period) * of.elements();
    const TensorId element = add(of.name, of.type, of.shape);
    elements.push_back(Remap{of.name, element, {normalised(std::move(piece))}});
    replaced[tensor] = element;
    return element;
  }

  Node rewritten(Node node) {
    if (Remap *remap = std::get_if<Remap>(&node))
      rewritePieces(*remap);
    else
      forEachRead(node, [&](TensorId &tensor) { tensor = outside(tensor); });
    return node;
  }

  RolledNetwork assemble(std::vector<Node> before, std::vector<Node> body, std::vector<Node> behind) {
    RolledNetwork rolled;
    for (Loop &other : from.loops)
      if (other.begin > found.nodes.back())
        for (Loop::Carried &carried : other.carried)
          carried.initial = outside(carried.initial);
    rolled.network = old;
    std::vector<Node> &nodes = rolled.network.nodes;
    for (NamedTensor &output : rolled.network.outputs)
      output.tensor = outside(output.tensor);
    for (State &state : rolled.network.states)
      state.written = outside(state.written);
    nodes = std::move(before);
    nodes.insert(nodes.end(), body.begin(), body.end());
    nodes.insert(nodes.end(), elements.begin(), elements.end());
    nodes.insert(nodes.end(), behind.begin(), behind.end());
    rolled.network.tensors = std::move(tensors);
    // Other loops lie where their first node does.
    std::vector<size_t> placeOfResult(rolled.network.tensors.size());
    for (size_t n = 0; n < nodes.size(); ++n)
      placeOfResult[size_t(resultOf(nodes[n]))] = n;
    for (Loop &other : from.loops) {
      const size_t length = other.end - other.begin;
      other.begin = placeOfResult[size_t(resultOf(old.nodes[other.begin]))];
      other.end = other.begin + length;
      rolled.loops.push_back(std::move(other));
    }
    rolled.loops.push_back(std::move(loop));
    std::sort(rolled.loops.begin(), rolled.loops.end(), [](const Loop &a, const Loop &b) { return a.begin < b.begin; });
    return rolled;
  }

  RolledNetwork from;
  const Network &old;
  const FoundLoop &found;
  const size_t count;
  std::vector<int64_t> place;    // per node: its number in the loop, repetition by repetition; −1: none of it
  std::vector<int64_t> producer; // per tensor
  std::vector<Tensor> tensors;   // of the new network
  Loop loop;
  std::vector<Node> stacks, elements; // remaps before the loop and behind it
  std::map<std::vector<TensorId>, TensorId> aliases, slices;
  std::map<std::vector<int64_t>, TensorId> boxes;
  std::map<std::pair<TensorId, size_t>, TensorId> values;
  std::map<size_t, std::set<size_t>> uses; // node of the body → repetitions whose result is read behind the loop
  std::set<size_t> remade;
  std::map<size_t, TensorId> stackOf;    // node of the body → stack of its results
  std::map<TensorId, TensorId> replaced; // tensors of the loop that have nodes of their own behind it
};

} // namespace

RolledNetwork rollLoops(Network network, size_t leastNodes) {
  RolledNetwork rolled{std::move(network), {}};
  while (auto found = findLoop(rolled, leastNodes))
    rolled = LoopRoller(std::move(rolled), *found).roll();
  return rolled;
}

} // namespace wsc::spmd
