// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Equal layers one after another, and the steps of a recurrence, as loops: a stretch of nodes that repeats, alike but
// for what it reads, each repetition going on with what the one before made. Such a stretch is written once and run as
// often as it repeats (docs/Phases.md).
//
//   h1 = f(x[0], h0)                      value = h0
//   h2 = f(x[1], h1)         ──►          3 times:  made = f(slice, value);  collected[i] = made;  value = made
//   h3 = f(x[2], h2)                      y = g(collected)
//   y  = g(h1, h2, h3)
#pragma once

#include "compiler/spmd/network/Network.h"

#include <cstddef>
#include <map>
#include <vector>

namespace wsc::spmd {

/// A loop of a rolled network: the nodes of one repetition, and what differs from one to the next.
struct Loop {
  size_t begin = 0, end = 0; // nodes [begin, end) are the body
  int32_t count = 1;
  /// Constants that differ from repetition to repetition: the tensor that the body names → those of all repetitions.
  /// All may be views of constants.
  std::map<TensorId, std::vector<TensorId>> constants;
  /// What goes round: before the first repetition `value` takes what `initial` holds, behind each one what `made` does.
  /// No node makes `value`.
  struct Carried {
    TensorId initial = -1, value = -1, made = -1;
  };
  std::vector<Carried> carried;
  /// Repetition i finds element number i along the first dimension of `stack` in `slice`, which no node makes.
  struct Slice {
    TensorId slice = -1, stack = -1;
  };
  std::vector<Slice> slices;
  /// What repetition i makes is element number i along the first dimension of `stack` behind the loop. No node makes
  /// `stack`; `made` is the result of a nest.
  struct Collected {
    TensorId made = -1, stack = -1;
  };
  std::vector<Collected> collected;

  bool holds(size_t node) const { return node >= begin && node < end; }
};

struct RolledNetwork {
  /// Values that loops make have no node (see Loop), and remaps that nothing reads may be left; else as any network.
  Network network;
  std::vector<Loop> loops; // in the order of their nodes; none inside another
};

/// Rolls up the stretch that saves the most nodes, at least `leastNodes`, then the next one, until there is none.
RolledNetwork rollLoops(Network network, size_t leastNodes = 4);

/// Visits the tensors that a node reads, as references to them: operands of a nest, sources of a remap's pieces.
template <typename AnyNode, typename Visit> void forEachRead(AnyNode &node, Visit visit) {
  if (auto *nest = std::get_if<Nest>(&node))
    for (auto &access : nest->operands)
      visit(access.tensor);
  else
    for (auto &piece : std::get<Remap>(node).pieces)
      visit(piece.source);
}

inline TensorId resultOf(const Node &node) {
  return std::visit([](const auto &made) { return made.result; }, node);
}

} // namespace wsc::spmd
