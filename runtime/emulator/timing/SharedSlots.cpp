// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads ask for slots near the end of what is taken: stretches are looked for from there.
#include "runtime/emulator/timing/SharedSlots.h"

#include "absl/container/fixed_array.h"
#include "absl/container/inlined_vector.h"

#include <algorithm>

namespace wsc::emulator::timing {

// Mostly one of the last stretches; the others are halved.
const int64_t *SharedSlots::find(int64_t cycle) const {
  constexpr int kNear = 8;
  const int64_t *const first = stretches(), *here = pastStretches();
  for (int k = 0; k < kNear; ++k, here -= width)
    if (here == first || (here - width)[kEnd] <= cycle)
      return here;
  size_t count = size_t(here - first) / width; // those before `here`; its own end is behind the cycle
  for (const int64_t *low = first;;) {
    if (count == 0)
      return low;
    const size_t half = count / 2;
    if (const int64_t *middle = low + half * width; middle[kEnd] <= cycle) {
      low = middle + width;
      count -= half + 1;
    } else {
      count = half;
    }
  }
}

// Water rises evenly: who uses less than the level leaves the rest to the others.
int64_t SharedSlots::turn(const int64_t *stretch, Claim claim) const {
  const int64_t *shares = stretch + kShares;
  int64_t parts = kWhole, equals = 1;
  for (size_t t = 0; t < threads; ++t)
    if (priorityOf(shares[t]) > claim.priority)
      parts -= usedOf(shares[t]);
    else if (priorityOf(shares[t]) == claim.priority && t != size_t(claim.thread))
      ++equals;
  int64_t level = std::max<int64_t>(0, parts) / equals;
  for (int64_t before = -1; level > before && equals > 1;) {
    before = level;
    int64_t small = 0, others = 1;
    for (size_t t = 0; t < threads; ++t)
      if (priorityOf(shares[t]) == claim.priority && t != size_t(claim.thread)) {
        if (usedOf(shares[t]) < level)
          small += usedOf(shares[t]);
        else
          ++others;
      }
    level = std::max<int64_t>(level, (parts - small) / others);
  }
  return level;
}

int64_t SharedSlots::entitled(const int64_t *stretch, Claim claim) const {
  const int64_t *shares = stretch + kShares;
  const int64_t own = usedOf(shares[claim.thread]);
  int64_t others = -own, most = 0; // most: of one that it takes turns with
  for (size_t t = 0; t < threads; ++t) {
    const int64_t priority = priorityOf(shares[t]), used = usedOf(shares[t]);
    others += priority >= claim.priority || t == size_t(claim.thread) ? used : 0;
    most = priority == claim.priority && t != size_t(claim.thread) ? std::max(most, used) : most;
  }
  const int64_t rest = kWhole - others;
  // Its turn is more than what the others leave only if one of its equals has more than that.
  return std::max<int64_t>(0, (most > rest ? std::max(rest, turn(stretch, claim)) : rest) - own);
}

int64_t SharedSlots::afterOthers(int64_t from, int64_t slots, Claim claim) const {
  int64_t left = slots * kWhole;
  for (const int64_t *here = find(from), *past = pastStretches(); here != past; here += width) {
    if (here[kBegin] > from) {
      if (left <= (here[kBegin] - from) * kWhole)
        return from + (left + kWhole - 1) / kWhole;
      left -= (here[kBegin] - from) * kWhole;
      from = here[kBegin];
    }
    if (const int64_t rate = entitled(here, claim); rate > 0) {
      if (left <= (here[kEnd] - from) * rate)
        return from + (left + rate - 1) / rate;
      left -= (here[kEnd] - from) * rate;
    }
    from = here[kEnd];
  }
  return from + (left + kWhole - 1) / kWhole;
}

// Adds to the claimant's share; what the slots cannot bear is taken from lower priorities, then from equals beyond
// their turn.
void SharedSlots::give(int64_t *stretch, Claim claim, int64_t parts) {
  int64_t *shares = stretch + kShares;
  int64_t total = parts;
  for (size_t t = 0; t < threads; ++t)
    total += usedOf(shares[t]);
  const int64_t level = total > kWhole ? turn(stretch, claim) : 0;
  int64_t &own = shares[claim.thread];
  own = shareOf(usedOf(own) + parts, std::max<int64_t>(priorityOf(own), claim.priority));
  const int64_t length = stretch[kEnd] - stretch[kBegin];
  for (int32_t priority = 0; priority <= claim.priority && total > kWhole; ++priority) {
    const int64_t kept = priority < claim.priority ? 0 : level;
    int64_t excess = 0;
    for (size_t t = 0; t < threads; ++t)
      if (t != size_t(claim.thread) && priorityOf(shares[t]) == priority)
        excess += std::max<int64_t>(0, usedOf(shares[t]) - kept);
    if (excess == 0)
      continue;
    const int64_t cut = std::min(excess, total - kWhole);
    for (size_t t = 0; t < threads; ++t)
      if (const int64_t used = usedOf(shares[t]);
          t != size_t(claim.thread) && priorityOf(shares[t]) == priority && used > kept) {
        const int64_t lost = (used - kept) * cut / excess;
        shares[t] = shareOf(used - lost, priority);
        numbers[t] += lost * length;
        total -= lost;
      }
  }
}

// Takes slots after all that are taken.
void SharedSlots::append(int64_t from, int64_t to, int64_t slots, Claim claim) {
  const int64_t parts = slots >= to - from ? kWhole : slots * kWhole / (to - from);
  const int64_t share = shareOf(parts, claim.priority);
  if (freeFrom() == from) {
    int64_t *last = numbers.data() + numbers.size() - width, *shares = last + kShares;
    bool same = shares[claim.thread] == share;
    for (size_t t = 0; t < threads && same; ++t)
      same = shares[t] == kNone || t == size_t(claim.thread);
    if (same) {
      last[kEnd] = to;
      return;
    }
  }
  numbers.resize(numbers.size() + width, kNone);
  int64_t *last = numbers.data() + numbers.size() - width;
  last[kBegin] = from;
  last[kEnd] = to;
  last[kShares + size_t(claim.thread)] = share;
}

void SharedSlots::take(int64_t from, int64_t to, int64_t slots, Claim claim) {
  if (slots <= 0 || from >= to)
    return;
  if (freeFrom() <= from) {
    append(from, to, slots, claim);
    return;
  }
  const int64_t *first = find(from), *past = first;
  int64_t free = (to - from) * kWhole;
  absl::InlinedVector<int64_t, 16> rates; // that it is entitled to, in the stretches up to `past`
  for (; past != pastStretches() && past[kBegin] < to; past += width) {
    rates.push_back(entitled(past, claim));
    free -= (std::min(past[kEnd], to) - std::max(past[kBegin], from)) * (kWhole - rates.back());
  }
  if (free <= 0)
    return;
  // The share of what it is entitled to that is taken, in parts of kWhole.
  const int64_t share = std::min(
      kWhole, slots < (int64_t(1) << 30) ? (slots << 32) / free : int64_t(__int128(slots) * kWhole * kWhole / free));
  absl::FixedArray<int64_t, 128> pieced(2 * size_t(past - first) + 3 * width);
  int64_t *next = pieced.data();
  // Adds a row; without `shares` of a stretch nothing is used yet. Outside of what is taken `rate` is kOutside.
  constexpr int64_t kOutside = -1;
  const auto add = [&](int64_t begin, int64_t end, const int64_t *shares, int64_t rate) {
    if (begin >= end)
      return;
    next[kBegin] = begin;
    next[kEnd] = end;
    if (shares)
      std::copy_n(shares, threads, next + kShares);
    else
      std::fill_n(next + kShares, threads, kNone);
    if (rate >= 0) {
      give(next, claim, rate * share / kWhole);
      if (int64_t *before = next - width; next != pieced.data() && before[kEnd] == begin &&
                                          std::equal(before + kShares, before + width, next + kShares)) {
        before[kEnd] = end;
        return;
      }
    }
    next += width;
  };
  int64_t at = from;
  for (const int64_t *here = first; here != past; here += width) {
    const int64_t *shares = here + kShares;
    const int64_t begin = here[kBegin], end = here[kEnd];
    add(at, std::min(begin, to), nullptr, kWhole);
    add(begin, std::min(end, from), shares, kOutside);
    add(std::max(begin, from), std::min(end, to), shares, rates[size_t(here - first) / width]);
    add(std::max(begin, to), end, shares, kOutside);
    at = std::max(at, end);
  }
  add(at, to, nullptr, kWhole);
  const auto place = numbers.begin() + (first - numbers.data());
  const auto size = next - pieced.data(), replaced = past - first;
  std::copy_n(pieced.data(), std::min(size, replaced), place);
  if (size > replaced)
    numbers.insert(place + replaced, pieced.data() + replaced, next);
  else
    numbers.erase(place + size, place + replaced);
}

int64_t SharedSlots::free(int64_t from, int64_t to) const {
  int64_t parts = std::max<int64_t>(0, to - from) * kWhole;
  for (const int64_t *here = find(from); here != pastStretches() && here[kBegin] < to; here += width) {
    int64_t used = 0;
    for (size_t t = 0; t < threads; ++t)
      used += usedOf(here[kShares + t]);
    parts -= (std::min(to, here[kEnd]) - std::max(from, here[kBegin])) * std::min(used, kWhole);
  }
  return parts;
}

SharedSlots::Holders SharedSlots::holders(int64_t cycle, Claim claim) const {
  Holders holders;
  const int64_t *here = find(cycle - 1);
  if (here == pastStretches() || here[kBegin] >= cycle)
    return holders;
  const int64_t *shares = here + kShares;
  for (size_t t = 0; t < threads; ++t)
    if (t != size_t(claim.thread) && usedOf(shares[t]) > 0)
      (priorityOf(shares[t]) < claim.priority ? holders.lower : holders.equal) = true;
  return holders;
}

void SharedSlots::trim(int64_t cycle) {
  const auto first = numbers.begin() + long(threads);
  numbers.erase(first, first + (find(cycle) - stretches()));
}

} // namespace wsc::emulator::timing
