// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/timing/SharedSlots.h"

#include <algorithm>

namespace wsc::emulator::timing {

size_t SharedSlots::find(int64_t cycle) const {
  return size_t(
      std::partition_point(stretches.begin(), stretches.end(), [&](const Stretch &s) { return s.end <= cycle; }) -
      stretches.begin());
}

// Water rises evenly: who uses less than the level leaves the rest to the others.
int64_t SharedSlots::turn(const Stretch &stretch, Claim claim) {
  int64_t parts = kWhole, equals = 1;
  for (const Share &share : stretch.shares)
    if (share.priority > claim.priority)
      parts -= share.used;
    else if (share.priority == claim.priority && share.thread != claim.thread)
      ++equals;
  int64_t level = std::max<int64_t>(0, parts) / equals;
  for (int64_t before = -1; level > before && equals > 1;) {
    before = level;
    int64_t small = 0, others = 1;
    for (const Share &share : stretch.shares)
      if (share.priority == claim.priority && share.thread != claim.thread) {
        if (share.used < level)
          small += share.used;
        else
          ++others;
      }
    level = std::max<int64_t>(level, (parts - small) / others);
  }
  return level;
}

int64_t SharedSlots::entitled(const Stretch &stretch, Claim claim) {
  int64_t own = 0, others = 0;
  for (const Share &share : stretch.shares) {
    if (share.thread == claim.thread)
      own += share.used;
    else if (share.priority >= claim.priority)
      others += share.used;
  }
  if (others == 0)
    return kWhole - own;
  return std::max<int64_t>(0, std::max(kWhole - others, turn(stretch, claim)) - own);
}

int64_t SharedSlots::after(int64_t from, int64_t slots, Claim claim) const {
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
    if (const int64_t rate = entitled(stretch, claim); rate > 0) {
      if (left <= (stretch.end - from) * rate)
        return from + (left + rate - 1) / rate;
      left -= (stretch.end - from) * rate;
    }
    from = stretch.end;
  }
  return from + (left + kWhole - 1) / kWhole;
}

// Adds to the claimant's share; what the slots cannot bear is taken from lower priorities, then from equals beyond
// their turn.
void SharedSlots::give(Stretch &stretch, Claim claim, int64_t parts) {
  int64_t total = parts;
  Share *own = nullptr;
  for (Share &share : stretch.shares) {
    total += share.used;
    if (share.thread == claim.thread)
      own = &share;
  }
  const int64_t level = total > kWhole ? turn(stretch, claim) : 0;
  if (own) {
    own->used += int32_t(parts);
    own->priority = std::max(own->priority, int16_t(claim.priority));
  } else {
    stretch.shares.push_back({int16_t(claim.thread), int16_t(claim.priority), int32_t(parts)});
  }
  const int64_t length = stretch.end - stretch.begin;
  for (int32_t priority = 0; priority <= claim.priority && total > kWhole; ++priority) {
    const int64_t kept = priority < claim.priority ? 0 : level;
    int64_t excess = 0;
    for (const Share &share : stretch.shares)
      if (share.thread != claim.thread && share.priority == priority)
        excess += std::max<int64_t>(0, share.used - kept);
    if (excess == 0)
      continue;
    const int64_t cut = std::min(excess, total - kWhole);
    for (Share &share : stretch.shares)
      if (share.thread != claim.thread && share.priority == priority && share.used > kept) {
        const int64_t lost = (share.used - kept) * cut / excess;
        share.used -= int32_t(lost);
        owedParts[size_t(share.thread)] += lost * length;
        total -= lost;
      }
  }
}

void SharedSlots::take(int64_t from, int64_t to, int64_t slots, Claim claim) {
  if (slots <= 0 || from >= to)
    return;
  const size_t first = find(from);
  int64_t free = (to - from) * kWhole;
  size_t past = first;
  for (; past < stretches.size() && stretches[past].begin < to; ++past) {
    const Stretch &stretch = stretches[past];
    free -= (std::min(stretch.end, to) - std::max(stretch.begin, from)) * (kWhole - entitled(stretch, claim));
  }
  if (free <= 0)
    return;
  // The share of what it is entitled to that is taken, in parts of kWhole.
  const int64_t share = std::min(kWhole, int64_t(__int128(slots) * kWhole * kWhole / free));
  pieced.clear();
  const auto add = [&](int64_t begin, int64_t end, const Shares &shares, bool inside) {
    if (begin >= end)
      return;
    pieced.push_back({begin, end, shares});
    if (!inside)
      return;
    Stretch &next = pieced.back();
    give(next, claim, entitled(next, claim) * share / kWhole);
    if (pieced.size() > 1 && pieced[pieced.size() - 2].end == begin &&
        pieced[pieced.size() - 2].shares == next.shares) {
      pieced.pop_back();
      pieced.back().end = end;
    }
  };
  int64_t at = from;
  for (size_t i = first; i < past; ++i) {
    const Stretch &stretch = stretches[i];
    add(at, std::min(stretch.begin, to), {}, true);
    add(stretch.begin, std::min(stretch.end, from), stretch.shares, false);
    add(std::max(stretch.begin, from), std::min(stretch.end, to), stretch.shares, true);
    add(std::max(stretch.begin, to), stretch.end, stretch.shares, false);
    at = std::max(at, stretch.end);
  }
  add(at, to, {}, true);
  const size_t replaced = std::min(past - first, pieced.size());
  std::move(pieced.begin(), pieced.begin() + long(replaced), stretches.begin() + long(first));
  if (past - first > replaced)
    stretches.erase(stretches.begin() + long(first + replaced), stretches.begin() + long(past));
  else
    stretches.insert(stretches.begin() + long(past), std::make_move_iterator(pieced.begin() + long(replaced)),
                     std::make_move_iterator(pieced.end()));
}

void SharedSlots::trim(int64_t cycle) {
  const auto keep = std::find_if(stretches.begin(), stretches.end(), [&](const Stretch &s) { return s.end > cycle; });
  stretches.erase(stretches.begin(), keep);
}

} // namespace wsc::emulator::timing
