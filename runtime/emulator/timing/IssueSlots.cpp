// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/timing/IssueSlots.h"

#include <algorithm>

namespace wsc::emulator::timing {

size_t IssueSlots::find(int64_t cycle) const {
  // Threads are timed near the end, as a rule.
  size_t i = stretches.size();
  while (i > 0 && stretches[i - 1].end > cycle)
    --i;
  return i;
}

int64_t IssueSlots::after(int64_t from, int64_t slots) const {
  if (slots <= 0)
    return from;
  int64_t left = slots * kWhole;
  for (size_t i = find(from); i < stretches.size(); ++i) {
    const Stretch &stretch = stretches[i];
    if (stretch.begin > from) {
      if (left <= (stretch.begin - from) * kWhole)
        return from + (left + kWhole - 1) / kWhole;
      left -= (stretch.begin - from) * kWhole;
      from = stretch.begin;
    }
    if (const int64_t rate = kWhole - stretch.used; rate > 0) {
      if (left <= (stretch.end - from) * rate)
        return from + (left + rate - 1) / rate;
      left -= (stretch.end - from) * rate;
    }
    from = stretch.end;
  }
  return from + (left + kWhole - 1) / kWhole;
}

void IssueSlots::take(int64_t from, int64_t to, int64_t slots) {
  if (slots <= 0 || from >= to)
    return;
  const size_t first = find(from);
  int64_t free = (to - from) * kWhole;
  for (size_t i = first; i < stretches.size() && stretches[i].begin < to; ++i)
    free -= (std::min(stretches[i].end, to) - std::max(stretches[i].begin, from)) * stretches[i].used;
  if (free <= 0)
    return;
  // The share of the free slots that is taken, in parts of kWhole.
  const int64_t share = std::min(kWhole, int64_t(__int128(slots) * kWhole * kWhole / free));
  std::vector<Stretch> tail;
  const auto add = [&](int64_t begin, int64_t end, int64_t used) {
    if (begin >= end || used == 0)
      return;
    if (!tail.empty() && tail.back().end == begin && tail.back().used == used)
      tail.back().end = end;
    else
      tail.push_back({begin, end, used});
  };
  int64_t at = from;
  for (size_t i = first; i < stretches.size(); ++i) {
    const Stretch &stretch = stretches[i];
    add(at, std::min(stretch.begin, to), share);
    add(stretch.begin, std::min(stretch.end, from), stretch.used);
    add(std::max(stretch.begin, from), std::min(stretch.end, to),
        stretch.used + (kWhole - stretch.used) * share / kWhole);
    add(std::max(stretch.begin, to), stretch.end, stretch.used);
    at = std::max(at, stretch.end);
  }
  add(at, to, share);
  stretches.resize(first);
  stretches.insert(stretches.end(), tail.begin(), tail.end());
}

void IssueSlots::trim(int64_t cycle) {
  const auto keep = std::find_if(stretches.begin(), stretches.end(), [&](const Stretch &s) { return s.end > cycle; });
  stretches.erase(stretches.begin(), keep);
}

} // namespace wsc::emulator::timing
