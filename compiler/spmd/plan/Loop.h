// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Equal layers one after another as a loop: a stretch of nodes that repeats, alike but for its constants, each
// repetition going on with what the one before made. Such a stretch needs one configuration, run as often as it
// repeats.
#pragma once

#include "compiler/spmd/network/Network.h"

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

namespace wsc::spmd {

struct Loop {
  size_t begin = 0, period = 0; // nodes [begin, begin + period) are the first repetition
  int32_t count = 1;
  /// Constants that differ from repetition to repetition: the first one's → all of them.
  std::map<TensorId, std::vector<TensorId>> constants;
  /// A value that goes round: what the first repetition takes, what it makes in its place, and what the last one makes.
  struct Carried {
    TensorId initial = -1, made = -1, last = -1;
  };
  std::vector<Carried> carried;

  size_t end() const { return begin + period * size_t(count); }
  /// Nodes of the second repetition and later.
  bool repeats(size_t node) const { return node >= begin + period && node < end(); }
};

/// The loop that leaves out the most nodes, at least `leastNodes`. Values of a repetition are used in it, in the next
/// one, or (of the last one) behind the loop, and there only those that go round; what goes in at first is used nowhere
/// else.
std::optional<Loop> findLoop(const Network &network, size_t leastNodes = 4);

} // namespace wsc::spmd
