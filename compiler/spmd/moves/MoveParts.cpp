// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Halves the stretches of wanted elements until the lines of all parts keep to the room.
#include "compiler/spmd/moves/Move.h"

#include <algorithm>

namespace wsc::spmd {

MoveProblem partOf(const MoveProblem &problem, int64_t begin, int64_t width) {
  MoveProblem part = problem;
  part.width = width;
  part.packs = true;
  part.wanted = [wanted = problem.wanted, begin, width](int32_t row, int32_t col, std::vector<int64_t> &ids) {
    wanted(row, col, ids);
    if (ids.empty())
      return;
    ids.erase(ids.begin(), ids.begin() + ptrdiff_t(begin));
    ids.resize(size_t(width));
  };
  return part;
}

absl::StatusOr<std::vector<MovePart>> planMoveInParts(const MoveProblem &problem) {
  auto whole = planMove(problem);
  if (!whole.ok())
    return whole.status();
  std::vector<MovePart> best{{0, problem.width, *std::move(whole)}};
  int64_t bestBytes = best[0].plan.lineBytes;
  int64_t count = 2;
  while (count * problem.roomBytes < bestBytes && count < problem.width)
    count *= 2;
  constexpr int64_t kMostParts = 64;
  for (; bestBytes > problem.roomBytes && count <= std::min(problem.width, kMostParts); count *= 2) {
    std::vector<MovePart> parts;
    const int64_t width = (problem.width + count - 1) / count;
    int64_t bytes = 0;
    for (int64_t begin = 0; begin < problem.width; begin += width) {
      MovePart part{begin, std::min(width, problem.width - begin), {}};
      auto plan = planMove(partOf(problem, part.begin, part.width));
      if (!plan.ok())
        return plan.status();
      part.plan = *std::move(plan);
      bytes = std::max(bytes, part.plan.lineBytes);
      parts.push_back(std::move(part));
    }
    if (bytes < bestBytes) {
      best = std::move(parts);
      bestBytes = bytes;
    }
  }
  return best;
}

} // namespace wsc::spmd
