// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/ScratchMoves.h"

#include <algorithm>

namespace wsc::emulator {

namespace {

using Ranges = std::vector<ScratchRange>; // ascending, apart

int32_t endOf(const ScratchRange &range) { return range.begin + range.bytes; }

Ranges unite(const Ranges &x, const Ranges &y) {
  Ranges all(x.size() + y.size()), united;
  std::merge(x.begin(), x.end(), y.begin(), y.end(), all.begin(),
             [](const ScratchRange &a, const ScratchRange &b) { return a.begin < b.begin; });
  for (const ScratchRange &range : all)
    if (!united.empty() && range.begin <= endOf(united.back()))
      united.back().bytes = std::max(endOf(united.back()), endOf(range)) - united.back().begin;
    else
      united.push_back(range);
  return united;
}

Ranges intersect(const Ranges &x, const Ranges &y) {
  Ranges both;
  for (size_t i = 0, k = 0; i < x.size() && k < y.size();) {
    const int32_t begin = std::max(x[i].begin, y[k].begin), end = std::min(endOf(x[i]), endOf(y[k]));
    if (begin < end)
      both.push_back({begin, end - begin});
    endOf(x[i]) < endOf(y[k]) ? ++i : ++k;
  }
  return both;
}

Ranges subtract(const Ranges &x, const Ranges &y) {
  Ranges rest;
  size_t k = 0;
  for (const ScratchRange &range : x) {
    int32_t at = range.begin;
    for (; k < y.size() && endOf(y[k]) <= at; ++k)
      ;
    for (size_t m = k; m < y.size() && y[m].begin < endOf(range); ++m) {
      if (y[m].begin > at)
        rest.push_back({at, y[m].begin - at});
      at = std::max(at, endOf(y[m]));
    }
    if (at < endOf(range))
      rest.push_back({at, endOf(range) - at});
  }
  return rest;
}

// Calls visit(begin, where, bytes) for the parts of `ranges` in the layout, `where` they lie in it.
template <typename Visit> void forKept(const Ranges &ranges, const Ranges &layout, Visit visit) {
  int32_t packed = 0;
  for (const ScratchRange &kept : layout) {
    for (const ScratchRange &part : intersect(ranges, {kept}))
      visit(part.begin, packed + part.begin - kept.begin, part.bytes);
    packed += kept.bytes;
  }
}

ScratchCopies outOf(const Ranges &layout, const Ranges &ranges) {
  ScratchCopies copies;
  forKept(ranges, layout,
          [&](int32_t begin, int32_t where, int32_t bytes) { copies.push_back({where, begin, bytes}); });
  return copies;
}
ScratchCopies into(const Ranges &layout, const Ranges &ranges) {
  ScratchCopies copies;
  forKept(ranges, layout,
          [&](int32_t begin, int32_t where, int32_t bytes) { copies.push_back({begin, where, bytes}); });
  return copies;
}
// `inSlot`: is filled with where each copy's bytes begin in the slot.
ScratchCopies between(const Ranges &from, const Ranges &to, const Ranges &ranges, std::vector<int32_t> &inSlot) {
  ScratchCopies copies;
  for (const ScratchCopy &copy : outOf(from, ranges))
    forKept({{copy.to, copy.bytes}}, to, [&](int32_t begin, int32_t where, int32_t bytes) {
      copies.push_back({copy.from + begin - copy.to, where, bytes});
      inSlot.push_back(begin);
    });
  return copies;
}
ScratchCopies inPlace(const Ranges &ranges) {
  ScratchCopies copies;
  for (const ScratchRange &range : ranges)
    copies.push_back({range.begin, range.begin, range.bytes});
  return copies;
}

// The entry of `pc`, made by make() where there is none.
template <typename List, typename Make> const auto &findOrMake(List &list, int32_t pc, Make make) {
  const auto found = std::ranges::find(list, pc, [](const auto &entry) { return entry.first; });
  if (found != list.end())
    return *found->second;
  list.emplace_back(pc, make());
  return *list.back().second;
}

} // namespace

const std::vector<ScratchRange> &ScratchPlan::keptAt(int32_t pc) const {
  static const std::vector<ScratchRange> kNothing;
  return size_t(pc) < layoutAt.size() && layoutAt[size_t(pc)] >= 0 ? layouts[size_t(layoutAt[size_t(pc)])] : kNothing;
}

void ScratchPlan::layOut() {
  layoutAt.assign(live.size(), -1);
  int64_t least = 0; // that matters at one of the waits of the last layout
  for (size_t pc = 0; pc < live.size(); ++pc) {
    if (!mayWait[pc])
      continue;
    const int64_t bytes = packedBytes(live[pc]);
    Ranges together = layouts.empty() ? live[pc] : unite(layouts.back(), live[pc]);
    constexpr int64_t kFew = 64;
    const int64_t most = std::min(least, bytes) * 3 / 2 + kFew;
    if (layouts.empty() || hasLoops || packedBytes(together) > most) {
      layouts.push_back(live[pc]);
      least = bytes;
    } else {
      layouts.back() = std::move(together);
      least = std::min(least, bytes);
    }
    layoutAt[pc] = int32_t(layouts.size()) - 1;
  }
}

int32_t ScratchPath::nextWait(int32_t pc) const {
  for (++pc; size_t(pc) < plan.live.size() && !plan.mayWait[size_t(pc)];)
    ++pc;
  return pc;
}

// What operations from `pc` on touch before the core may wait again.
std::vector<ScratchRange> ScratchPath::entering(int32_t pc, const std::vector<ScratchRange> &inSlot) const {
  if (plan.hasLoops)
    return pc == begin ? plan.live[size_t(pc)] : Ranges();
  Ranges there = inSlot, entered;
  for (int32_t end = nextWait(pc); pc < end; ++pc) {
    const Ranges &touched = plan.touched[size_t(pc)];
    entered = unite(entered, subtract(intersect(touched, plan.live[size_t(pc)]), there));
    there = unite(there, touched);
  }
  return entered;
}

ScratchPath::Sets ScratchPath::before(int32_t pc) const {
  Sets sets;
  for (int32_t from = begin; from < pc;) {
    sets.inSlot = unite(sets.inSlot, entering(from, sets.inSlot));
    for (const int32_t end = std::min(nextWait(from), pc); from < end; ++from) {
      sets.inSlot = unite(sets.inSlot, plan.touched[size_t(from)]);
      sets.changed = unite(sets.changed, plan.changed[size_t(from)]);
    }
  }
  return sets;
}

const ScratchCopies &ScratchPath::enter(int32_t pc) {
  return findOrMake(enters, pc, [&] {
    const Ranges inSlot = plan.hasLoops ? Ranges() : before(pc).inSlot;
    return std::make_unique<const ScratchCopies>(outOf(plan.keptAt(begin), entering(pc, inSlot)));
  });
}

const ScratchPath::Leave &ScratchPath::leave(int32_t pc) {
  return findOrMake(leaves, pc, [&] {
    auto leave = std::make_unique<Leave>();
    const Ranges &layout = plan.keptAt(pc);
    const bool isDone = size_t(pc) >= plan.live.size();
    if (plan.hasLoops && !isDone) {
      leave->fromSlot = into(layout, plan.live[size_t(pc)]);
    } else if (!isDone) {
      const Ranges &live = plan.live[size_t(pc)];
      const Sets sets = before(pc);
      leave->stays = plan.layoutAt[size_t(pc)] == plan.layoutAt[size_t(begin)];
      leave->fromSlot = into(layout, intersect(live, leave->stays ? sets.changed : sets.inSlot));
      if (!leave->stays)
        leave->fromKept = between(plan.keptAt(begin), layout, subtract(live, sets.inSlot), leave->inSlot);
    }
    return std::unique_ptr<const Leave>(std::move(leave));
  });
}

const NarrowedCopies &ScratchPath::narrowed(int32_t pc, Way way) {
  return findOrMake(narrowedCopies[size_t(way)], pc, [&] {
    auto narrowed = std::make_unique<NarrowedCopies>();
    const ScratchCopies &copies = way == Way::Enter      ? enter(pc)
                                  : way == Way::FromSlot ? leave(pc).fromSlot
                                                         : leave(pc).fromKept;
    for (size_t i = 0; i < copies.size(); ++i) {
      const ScratchCopy &copy = copies[i];
      const int32_t inSlot = way == Way::Enter ? copy.to : way == Way::FromSlot ? copy.from : leave(pc).inSlot[i];
      const auto partOf = [&](const ScratchRange &range) -> ScratchCopy {
        const int32_t skipped = range.begin - inSlot;
        return {copy.from + skipped, copy.to + skipped, range.bytes};
      };
      Ranges rest{{inSlot, copy.bytes}};
      for (const NarrowScratch &narrow : plan.narrow) {
        if (pc < int32_t(narrow.first) || pc > int32_t(narrow.last))
          continue;
        for (const ScratchRange &range : intersect(rest, {narrow.range})) {
          if (range.bytes % 4 != 0)
            continue;
          narrowed->parts.push_back({partOf(range), range.begin, &narrow});
          rest = subtract(rest, {range});
        }
      }
      for (const ScratchRange &range : rest)
        narrowed->common.push_back(partOf(range));
    }
    return std::unique_ptr<const NarrowedCopies>(std::move(narrowed));
  });
}

const ScratchCopies &ScratchPath::unpack() {
  return findOrMake(unpacks, begin, [&] {
    return std::make_unique<const ScratchCopies>(outOf(plan.keptAt(begin), plan.live[size_t(begin)]));
  });
}
const ScratchCopies &ScratchPath::pack() {
  return findOrMake(packs, begin, [&] {
    return std::make_unique<const ScratchCopies>(into(plan.keptAt(begin), plan.live[size_t(begin)]));
  });
}

const ScratchCopies &ScratchPath::settle(int32_t pc) {
  return findOrMake(settles, pc, [&] { return std::make_unique<const ScratchCopies>(inPlace(plan.live[size_t(pc)])); });
}

} // namespace wsc::emulator
