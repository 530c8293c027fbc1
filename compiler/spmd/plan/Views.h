// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Remaps need no cores of their own: a tensor that a remap makes is a *view*, every element of it an element of a
// *root* (an input, a constant, a state, a nest's result) or a fill value. Moves bring elements straight from the
// roots.
#pragma once

#include "compiler/spmd/moves/Move.h"
#include "compiler/spmd/network/Network.h"

#include "absl/status/statusor.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

namespace wsc::spmd {

struct View {
  struct Root {
    TensorId tensor = -1; // negative for a fill value beside `fill`: see Views::fillOf
    int64_t firstId = 0;  // its elements have the numbers firstId + row-major number
  };
  std::vector<Root> roots;
  int64_t numIds = 0; // of all roots together
  double fill = 0;
  bool fills = false;      // some element is `fill`
  bool isIdentity = false; // a root itself, or nothing: element e has number e

  bool isRoot() const { return isIdentity && roots.size() == 1; }
};

/// Number per element of a view, −1 for its fill; null: element e has number e.
using ElementNumbers = std::shared_ptr<const std::vector<int64_t>>;

class Views {
public:
  explicit Views(const Network &network);
  /// Of any tensor; computed when first asked for.
  const View &of(TensorId tensor);
  /// Of a view's elements among those of its roots; computed when first asked for.
  const ElementNumbers &numbersOf(TensorId tensor);
  /// The pieces of a view whose sources are its roots, by their numbers; elements in none of them are `fill`. A root is
  /// one piece. Nothing where the view has many, or rearranges what is rearranged already.
  std::optional<std::vector<StridedPiece>> piecesOf(TensorId tensor);
  /// Per dimension of a tensor, the steps at which pieces of views cut it: 64 where [12·64] is read as [12, 64]. Blocks
  /// that divide them, or that they divide, move block by block.
  const std::vector<std::set<int64_t>> &grainsOf(TensorId tensor);
  /// Tensors −1, −2, … are single elements of a value: fills that meet in one view with another fill.
  double fillOf(TensorId tensor) const { return fillValues[size_t(-1 - tensor)]; }

private:
  View make(TensorId tensor);
  ElementNumbers number(TensorId tensor, const View &view);
  TensorId fillTensor(double value);

  const Network &network;
  std::vector<const Remap *> remaps; // per tensor, null for roots
  std::map<TensorId, View> known;
  std::map<TensorId, ElementNumbers> numbers;
  std::vector<double> fillValues;
  std::vector<std::vector<std::set<int64_t>>> grains; // per tensor and dimension; empty: not looked at yet
};

} // namespace wsc::spmd
