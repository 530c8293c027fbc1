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
  /// Number per element, −1 for `fill`; empty for a root itself: element e has number e.
  std::vector<int64_t> ids;
  int64_t numIds = 0; // of all roots together
  double fill = 0;
  bool fills = false; // some element is `fill`

  bool isRoot() const { return ids.empty() && roots.size() == 1; }
  int64_t idOf(int64_t element) const { return ids.empty() ? element : ids[size_t(element)]; }
};

class Views {
public:
  explicit Views(const Network &network);
  /// Of any tensor; computed when first asked for.
  const View &of(TensorId tensor);
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
  TensorId fillTensor(double value);

  const Network &network;
  std::vector<const Remap *> remaps; // per tensor, null for roots
  std::map<TensorId, View> known;
  std::vector<double> fillValues;
  std::vector<std::vector<std::set<int64_t>>> grains; // per tensor and dimension; empty: not looked at yet
};

} // namespace wsc::spmd
