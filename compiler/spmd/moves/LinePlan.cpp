// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/moves/LinePlan.h"

#include "compiler/spmd/collectives/GroupReduce.h"
#include "compiler/spmd/collectives/SegmentGather.h"
#include "compiler/spmd/sharding/Divide.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <set>
#include <span>
#include <utility>

namespace wsc::spmd {

namespace {

// Instructions and ramps of one direction of a window; of a gather, a bus.
constexpr int64_t kWindowCycles = 40, kGatherCycles = 40, kBusCycles = 30;
constexpr int64_t kQueueWords = 2; // of blocks that queues hold, so that both directions of a gather go on together
// Instructions of a shift in one direction, in both.
constexpr int64_t kShiftCycles = 30, kShiftBothCycles = 50;
// Instructions that prepare a pick; the way over both ramps; from the end of an instruction to the next one's first
// word.
constexpr int64_t kPickCycles = 50, kFlightCycles = 5, kAnswerCycles = 10;

class LinePlanner {
public:
  LinePlanner(const LineLists &lists, const LineBlock &block)
      : lists(lists), block(block), pitch(block.pitch()), length(int32_t(lists.held.size())),
        mostBlocks(lists.blockBytes / std::max<int64_t>(1, block.pitch() * block.elementBytes)) {
    for (const FactorList &list : lists.held)
      for (const FactorEntry &entry : list)
        numIds = std::max(numIds, entry.id + 1);
  }

  std::optional<LinePlan> plan() {
    if (auto local = this->local())
      return local;
    if (!findUnits())
      return std::nullopt;
    indexUnits();
    std::optional<LinePlan> best;
    auto consider = [&](std::optional<LinePlan> plan) {
      if (plan && (!best || plan->cycles(block) < best->cycles(block)))
        best = std::move(plan);
    };
    if (auto near = window()) {
      consider(shift(*near));
      if (std::max(near->reachBefore, near->reachBehind) <= kMostSegment && near->blocks <= mostBlocks)
        consider(std::move(near));
    }
    std::set<int32_t> segments;
    for (int64_t cores : lists.segments)
      if (base.begin == 0 && cores % base.unit == 0 && cores / base.unit < base.units && holdToEnd(cores))
        segments.insert(int32_t(cores / base.unit));
    for (int32_t segment : segments) {
      consider(gather(segment));
      consider(bus(segment));
    }
    consider(gather(base.units));
    if (!best || best->kind != LinePlan::Kind::Bus)
      consider(bus(base.units));
    return best;
  }

private:
  /// Visits (class, coordinate, list), of uniform lists for the first coordinate only unless `all`; stops at the first
  /// false.
  template <typename Visit> bool forWanted(bool all, Visit visit) const {
    for (size_t c = 0; c < lists.wanted.size(); ++c) {
      if (lists.isUniform) {
        for (int32_t k = lists.takerBegin; k < (all ? lists.takerEnd : lists.takerBegin + 1); ++k)
          if (!visit(c, k, lists.wanted[c][0]))
            return false;
        continue;
      }
      for (int32_t k = 0; k < length; ++k)
        if (!lists.wanted[c][size_t(k)].empty() && !visit(c, k, lists.wanted[c][size_t(k)]))
          return false;
    }
    return true;
  }

  /// The list of a class at a coordinate, with room for the positions of `entries`.
  std::vector<int64_t> &positionsAt(LinePlan &plan, size_t c, int32_t k, const FactorList &entries) const {
    plan.positions.resize(lists.wanted.size());
    auto &all = plan.positions[c];
    all.resize(plan.isUniform ? 1 : size_t(length));
    std::vector<int64_t> &positions = all[plan.isUniform ? 0 : size_t(k)];
    positions.reserve(entries.size());
    return positions;
  }

  std::optional<LinePlan> local() const {
    LinePlan plan;
    plan.units = length;
    // Per number the offset on the core in hand, and which core that is. Classes are visited one after the other.
    std::vector<int64_t> offset(size_t(numIds), 0);
    std::vector<int64_t> owner(size_t(numIds), -1);
    int64_t visit = -1;
    const bool found = forWanted(true, [&](size_t c, int32_t k, const FactorList &list) {
      if (lists.held[size_t(k)].empty())
        return false;
      ++visit;
      for (const FactorEntry &entry : lists.held[size_t(k)])
        if (entry.id >= 0 && owner[size_t(entry.id)] != visit) {
          owner[size_t(entry.id)] = visit;
          offset[size_t(entry.id)] = entry.offset;
        }
      std::vector<int64_t> &positions = positionsAt(plan, c, k, list);
      for (const FactorEntry &entry : list) {
        if (entry.id >= 0 && (entry.id >= numIds || owner[size_t(entry.id)] != visit))
          return false;
        positions.push_back(entry.id < 0 ? entry.id : offset[size_t(entry.id)]);
      }
      return true;
    });
    return found ? std::optional(std::move(plan)) : std::nullopt;
  }

  bool isNothing(int32_t k) const {
    const FactorList &list = lists.held[size_t(k)];
    return std::all_of(list.begin(), list.end(), [](const FactorEntry &entry) { return entry.id < 0; });
  }

  /// Runs of cores that hold the same, all of one length but the last.
  bool findUnits() {
    int32_t begin = 0, end = length;
    while (begin < end && isNothing(begin))
      ++begin;
    while (end > begin && isNothing(end - 1))
      --end;
    if (begin == end)
      return false;
    int32_t unit = 1;
    while (begin + unit < end && lists.held[size_t(begin + unit)] == lists.held[size_t(begin)])
      ++unit;
    for (int32_t k = begin; k < end; ++k)
      if ((k - begin) % unit != 0 && lists.held[size_t(k)] != lists.held[size_t(k - 1)])
        unit = 1;
    base.begin = begin;
    base.unit = unit;
    base.units = (end - begin + unit - 1) / unit;
    return true;
  }

  /// Whether the cores up to the end of the last segment have blocks, if only of padding.
  bool holdToEnd(int64_t segment) const {
    const int64_t end = (int64_t(base.units) * base.unit + segment - 1) / segment * segment;
    if (end > length)
      return false;
    for (int64_t k = int64_t(base.units) * base.unit; k < end; ++k)
      if (lists.held[size_t(k)].empty())
        return false;
    return true;
  }

  struct Holding {
    int32_t unit;
    int64_t offset;
  };

  void indexUnits() {
    // Counted first, then filled in; of a number that a unit has twice the first place counts.
    auto forHeld = [&](auto visit) {
      std::vector<int32_t> seen(size_t(numIds), -1);
      for (int32_t u = 0; u < base.units; ++u)
        for (const FactorEntry &entry : lists.held[size_t(base.begin + u * base.unit)])
          if (entry.id >= 0 && std::exchange(seen[size_t(entry.id)], u) != u)
            visit(u, entry);
    };
    firstHolding.assign(size_t(numIds) + 1, 0);
    forHeld([&](int32_t, const FactorEntry &entry) { ++firstHolding[size_t(entry.id) + 1]; });
    std::partial_sum(firstHolding.begin(), firstHolding.end(), firstHolding.begin());
    holdings.resize(firstHolding.back());
    std::vector<size_t> next(firstHolding.begin(), firstHolding.end() - 1);
    forHeld([&](int32_t u, const FactorEntry &entry) { holdings[next[size_t(entry.id)]++] = {u, entry.offset}; });
  }

  std::span<const Holding> holdersOf(int64_t id) const {
    if (id >= numIds)
      return {};
    return std::span(holdings).subspan(firstHolding[size_t(id)],
                                       firstHolding[size_t(id) + 1] - firstHolding[size_t(id)]);
  }

  int32_t unitOf(int32_t k) const { return int32_t(floorDiv(k - base.begin, base.unit)); }

  std::optional<LinePlan> window() const {
    if (base.begin != 0 || base.units * base.unit > length)
      return std::nullopt;
    LinePlan plan = base;
    plan.kind = LinePlan::Kind::Window;
    auto nearest = [&](int64_t id, int32_t u) -> const Holding * {
      const Holding *best = nullptr;
      for (const Holding &holding : holdersOf(id))
        if (!best || std::abs(holding.unit - u) < std::abs(best->unit - u))
          best = &holding;
      return best;
    };
    const bool found = forWanted(true, [&](size_t, int32_t k, const FactorList &list) {
      const int32_t u = unitOf(k);
      if (u >= base.units)
        return false;
      for (const FactorEntry &entry : list) {
        if (entry.id < 0)
          continue;
        const Holding *holding = nearest(entry.id, u);
        if (!holding)
          return false;
        plan.reachBefore = std::max(plan.reachBefore, u - holding->unit);
        plan.reachBehind = std::max(plan.reachBehind, holding->unit - u);
      }
      // Hopeless windows are given up early.
      return plan.reachBefore * 2 <= base.units && plan.reachBehind * 2 <= base.units;
    });
    if (!found || plan.reachBefore * 2 > base.units || plan.reachBehind * 2 > base.units)
      return std::nullopt;
    plan.blocks = plan.reachBefore + 1 + plan.reachBehind;
    forWanted(true, [&](size_t c, int32_t k, const FactorList &list) {
      const int32_t u = unitOf(k);
      std::vector<int64_t> &positions = positionsAt(plan, c, k, list);
      for (const FactorEntry &entry : list) {
        const Holding *holding = entry.id < 0 ? nullptr : nearest(entry.id, u);
        positions.push_back(holding ? (holding->unit - u + plan.reachBefore) * pitch + holding->offset : entry.id);
      }
      return true;
    });
    return plan;
  }

  /// A window from which no core wants anything but its own block and the farthest ones.
  std::optional<LinePlan> shift(const LinePlan &window) const {
    const int32_t before = window.reachBefore, behind = window.reachBehind;
    if (!lists.shifts || window.unit != 1 || std::max(before, behind) < 2 ||
        (before > 0 && behind > 0 && before != behind))
      return std::nullopt;
    LinePlan plan = window;
    plan.isShift = true;
    plan.blocks = plan.ownBlock() + (behind > 0 ? 2 : 1);
    for (auto &lines : plan.positions)
      for (auto &list : lines)
        for (int64_t &position : list) {
          if (position < 0)
            continue;
          const int64_t from = position / pitch - before;
          if (from != 0 && from != -before && from != behind)
            return std::nullopt;
          position = (plan.ownBlock() + (from > 0 ? 1 : from < 0 ? -1 : 0)) * pitch + position % pitch;
        }
    return plan;
  }

  /// Fills in where wanted entries lie in the blocks of their core's segment, and calls taken(class, block) for each;
  /// false where one lies in no unit of it, or taken() says so. `whole`: the segment is the line.
  template <typename Taken> bool placeInSegments(LinePlan &plan, bool whole, Taken taken) const {
    auto find = [&](int64_t id, int32_t first) -> const Holding * {
      for (const Holding &holding : holdersOf(id))
        if (holding.unit >= first && holding.unit < first + plan.segment)
          return &holding;
      return nullptr;
    };
    plan.isUniform = lists.isUniform && whole;
    return forWanted(!whole, [&](size_t c, int32_t k, const FactorList &list) {
      const int32_t from = whole ? 0 : unitOf(k) / plan.segment * plan.segment;
      if (!whole && (unitOf(k) < 0 || unitOf(k) >= plan.units))
        return false;
      std::vector<int64_t> &positions = positionsAt(plan, c, k, list);
      for (const FactorEntry &entry : list) {
        if (entry.id < 0) {
          positions.push_back(entry.id);
          continue;
        }
        const Holding *holding = find(entry.id, from);
        if (!holding)
          return false;
        const int64_t block = holding->unit - from;
        if (!taken(c, block))
          return false;
        positions.push_back(block * pitch + holding->offset);
      }
      return true;
    });
  }

  std::optional<LinePlan> gather(int32_t segment) const {
    LinePlan plan = base;
    plan.kind = LinePlan::Kind::Gather;
    plan.segment = segment;
    plan.blocks = segment;
    const bool whole = segment >= base.units;
    if (base.begin != 0 || base.units * base.unit > length || segment < 2 || segment > kMostSegment ||
        segment * pitch * block.elementBytes > lists.gatherBytes || (whole && lists.takerEnd > base.units * base.unit))
      return std::nullopt;
    return placeInSegments(plan, whole, [](size_t, int64_t) { return true; }) ? std::optional(std::move(plan))
                                                                              : std::nullopt;
  }

  std::optional<LinePlan> bus(int32_t segment) const {
    LinePlan plan = base;
    plan.kind = LinePlan::Kind::Bus;
    plan.segment = segment;
    plan.takerEnd = lists.takerEnd;
    const bool whole = segment >= base.units;
    if (!whole) // what the last segment lacks are cores that hold nothing but padding
      plan.units = (base.units + segment - 1) / segment * segment;
    if (!whole && plan.units * base.unit > length)
      return std::nullopt;
    std::vector<int64_t> first(lists.wanted.size(), INT64_MAX), last(lists.wanted.size(), -1);
    const bool found = placeInSegments(plan, whole, [&](size_t c, int64_t block) {
      first[c] = std::min(first[c], block);
      last[c] = std::max(last[c], block);
      return last[c] - first[c] < mostBlocks;
    });
    if (!found)
      return std::nullopt;
    plan.blocks = 1;
    for (size_t c = 0; c < lists.wanted.size(); ++c) {
      if (last[c] < 0)
        first[c] = last[c] = 0;
      plan.blocks = std::max(plan.blocks, last[c] - first[c] + 1);
    }
    int64_t low = 0;
    if (whole) { // units before and behind what any line wants do not give
      low = *std::min_element(first.begin(), first.end());
      plan.begin += int32_t(low) * plan.unit;
      plan.units = int32_t(std::max(low, *std::max_element(last.begin(), last.end())) + 1 - low);
      plan.segment = plan.units;
    }
    const int64_t available = std::min(plan.segment, plan.units);
    for (size_t c = 0; c < lists.wanted.size(); ++c) {
      first[c] = std::min(first[c], low + available - plan.blocks);
      for (std::vector<int64_t> &positions : plan.positions[c])
        for (int64_t &position : positions)
          if (position >= 0)
            position -= first[c] * pitch;
      first[c] -= low;
    }
    plan.firstBlock = std::move(first);
    return plan;
  }

  const LineLists &lists;
  const LineBlock block;
  const int64_t pitch;
  const int32_t length;
  const int64_t mostBlocks; // that a core has room for
  int64_t numIds = 0;       // numbers that are held are smaller
  LinePlan base;
  std::vector<Holding> holdings;    // all of a number behind one another
  std::vector<size_t> firstHolding; // by number
};

} // namespace

bool LinePlan::isMissing(int32_t coordinate, int64_t block) const {
  if (kind != Kind::Window)
    return false;
  int64_t away = block - ownBlock();
  if (isShift && away != 0)
    away = away < 0 ? -reachBefore : reachBehind;
  const int64_t unit = coordinate / this->unit + away;
  return unit < 0 || unit >= units;
}

int64_t LinePlan::cycles(const LineBlock &block) const {
  const int64_t blockWords = block.words();
  switch (kind) {
  case Kind::Local:
    return 0;
  case Kind::Window:
    return windowCycles(blockWords, reachBefore > 0 ? blockWords : 0, reachBehind > 0 ? blockWords : 0);
  case Kind::Gather: { // as gatherCycles in Laws.h, and a copy of the core's own block
    const int64_t directions = blockWords > kQueueWords ? 2 : 1; // one after the other
    return directions * (segment - 1) * blockWords + int64_t(segment) * unit * (unit > 1 ? 2 : 1) + kGatherCycles +
           blockWords;
  }
  case Kind::Bus: {
    const int64_t given = std::min(segment, units);
    // Turns and the way to the relay, the way back (ShortBuses.h).
    const int64_t turns = begin + given * int64_t(unit), back = given < units ? turns : int64_t(takerEnd);
    return (given + blocks) * blockWords + (begin + given > 1 ? 2 * turns : 0) + back + kBusCycles;
  }
  case Kind::Pick: {
    // The core's own block with zeros around it, numbers and gather; a chain in runs, one from run to run, the way back
    // (allReduceCycles).
    const int64_t picked = blocks * entryElements, words = (picked * block.elementBytes + 3) / 4;
    const int64_t run = reduceRun(segment), runs = segment / run;
    int64_t cycles = kPickCycles + 2 * block.elements + blocks + picked;
    cycles += (run - 1) * (kFlightCycles + 1) + words;
    if (runs > 1)
      cycles += kAnswerCycles + (runs - 1) * (kFlightCycles + run) + words;
    return cycles + kAnswerCycles + kFlightCycles + segment - 1 + words;
  }
  }
  return 0;
}

int64_t LinePlan::windowCycles(int64_t blockWords, int64_t before, int64_t behind) const {
  if (isShift) {
    // As segmentShiftCycles in Laws.h, nearly.
    const int64_t segment = std::max(reachBefore, reachBehind), words = std::max(before, behind);
    const bool both = reachBefore > 0 && reachBehind > 0;
    const int64_t middle = both && segment % 2 != 0 ? 3 * words : 0;
    return 2 * segment * words + (both ? 3 : 1) * segment + middle + (both ? kShiftBothCycles : kShiftCycles) +
           blockWords;
  }
  // As segmentGatherCycles in Laws.h, nearly.
  const auto side = [&](int64_t reach, int64_t words) {
    return reach == 0
               ? 0
               : 2 * reach * (words + passOverCycles(words) + unit) + (reach == 1 ? kWindowCycles / 2 : kWindowCycles);
  };
  return side(reachBefore, before) + side(reachBehind, behind) + blockWords;
}

std::optional<LinePlan> planLine(const LineLists &lists, const LineBlock &block) {
  return LinePlanner(lists, block).plan();
}

} // namespace wsc::spmd
