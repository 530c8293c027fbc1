// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Held and Karp's scheme for linear arrangements: the cheapest way to place a set of strips westernmost does not depend
// on the order of the others. Adding strip k behind set S costs its width on every edge that passes over it, and the
// fixed part of its edges into S (1 hop eastward; both widths less one westward).
#include "compiler/solver/PlacementOrder.h"

#include <algorithm>
#include <array>
#include <limits>

namespace wsc::solver::placement {

BestOrder bestOrder(const Problem &problem, const std::vector<int32_t> &kernels) {
  size_t count = kernels.size();
  std::vector<int32_t> positionOf(problem.kernels.size(), -1);
  for (size_t i = 0; i < count; ++i)
    positionOf[kernels[i]] = int32_t(i);
  std::vector<std::array<int64_t, 16>> words(count, std::array<int64_t, 16>{});
  for (const Edge &edge : problem.edges)
    if (positionOf[edge.from] >= 0 && positionOf[edge.to] >= 0)
      words[positionOf[edge.from]][positionOf[edge.to]] += edge.wordsPerSample;

  // Strips that stand west of each one in every placement: pinned further west, or pinned to the mesh's western edge,
  // or itself pinned to the eastern; or sending to it eastward.
  std::vector<size_t> westOf(count, 0);
  for (size_t i = 0; i < count; ++i)
    for (size_t k = 0; k < count; ++k) {
      const Kernel &west = problem.kernels[kernels[i]], &east = problem.kernels[kernels[k]];
      if (i != k && ((west.pinnedCol && east.pinnedCol && *west.pinnedCol < *east.pinnedCol) || west.pinnedCol == 0 ||
                     (east.pinnedCol && *east.pinnedCol + east.cols == problem.cols)))
        westOf[k] |= size_t(1) << i;
    }
  for (const Edge &edge : problem.edges)
    if (edge.eastward && positionOf[edge.from] >= 0 && positionOf[edge.to] >= 0)
      westOf[positionOf[edge.to]] |= size_t(1) << positionOf[edge.from];

  size_t all = (size_t(1) << count) - 1;
  std::vector<int64_t> cost(all + 1, std::numeric_limits<int64_t>::max());
  std::vector<int8_t> last(all + 1, -1);
  cost[0] = 0;
  for (size_t set = 0; set < all; ++set) {
    if (cost[set] == std::numeric_limits<int64_t>::max())
      continue; // no order begins with this set
    // Words between the set and each strip outside it, and their sum.
    std::array<int64_t, 16> crossing{}, fixed{};
    int64_t sum = 0;
    for (size_t k = 0; k < count; ++k) {
      if (set >> k & 1)
        continue;
      int64_t width = problem.kernels[kernels[k]].cols;
      for (size_t i = 0; i < count; ++i)
        if (set >> i & 1) {
          crossing[k] += words[i][k] + words[k][i];
          fixed[k] += words[i][k] + words[k][i] * (width + problem.kernels[kernels[i]].cols - 1);
        }
      sum += crossing[k];
    }
    for (size_t k = 0; k < count; ++k) {
      if ((set >> k & 1) || (westOf[k] & ~set))
        continue;
      int64_t total = cost[set] + fixed[k] + (sum - crossing[k]) * problem.kernels[kernels[k]].cols;
      size_t next = set | size_t(1) << k;
      if (total < cost[next]) {
        cost[next] = total;
        last[next] = int8_t(k);
      }
    }
  }
  if (last[all] < 0)
    return {};
  BestOrder best{cost[all], {}};
  for (size_t set = all; set != 0; set ^= size_t(1) << last[set])
    best.order.push_back(kernels[last[set]]);
  std::reverse(best.order.begin(), best.order.end());
  return best;
}

} // namespace wsc::solver::placement
