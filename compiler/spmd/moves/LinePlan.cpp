// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/moves/LinePlan.h"

#include <algorithm>
#include <cstdlib>
#include <set>
#include <unordered_map>

namespace wsc::spmd {

namespace {

// Set-up and ramp of a unit's stream in a window; of a bus.
constexpr int64_t kTurnCycles = 10, kBusCycles = 30;

using Spot = LinePlan::Spot;

int64_t floorDiv(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

class LinePlanner {
public:
  LinePlanner(const LineLists &lists, int64_t blockWords)
      : lists(lists), blockWords(blockWords), length(int32_t(lists.held.size())) {}

  std::optional<LinePlan> plan() {
    if (auto local = this->local())
      return local;
    if (!findUnits())
      return std::nullopt;
    indexUnits();
    std::optional<LinePlan> best;
    auto consider = [&](std::optional<LinePlan> plan) {
      if (plan && (!best || plan->cycles(blockWords, length) < best->cycles(blockWords, length)))
        best = std::move(plan);
    };
    consider(window());
    std::set<int32_t> segments;
    for (int64_t cores : lists.segments)
      if (base.begin == 0 && cores % base.unit == 0 && cores / base.unit < base.units)
        segments.insert(int32_t(cores / base.unit));
    for (int32_t segment : segments)
      consider(bus(segment));
    if (!best || best->kind != LinePlan::Kind::Bus)
      consider(bus(base.units));
    return best;
  }

  bool isLocal() const { return local().has_value(); }

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

  void emptySpots(LinePlan &plan) const {
    plan.spots.resize(lists.wanted.size());
    for (size_t c = 0; c < lists.wanted.size(); ++c)
      plan.spots[c].resize(plan.isUniform ? 1 : size_t(length));
  }

  static std::unordered_map<int64_t, int64_t> offsetsOf(const FactorList &list) {
    std::unordered_map<int64_t, int64_t> offsets;
    for (const FactorEntry &entry : list)
      if (entry.id >= 0)
        offsets.emplace(entry.id, entry.offset);
    return offsets;
  }

  std::optional<LinePlan> local() const {
    LinePlan plan;
    plan.units = length;
    emptySpots(plan);
    std::vector<std::unordered_map<int64_t, int64_t>> own(lists.held.size());
    std::vector<bool> known(lists.held.size(), false);
    const bool found = forWanted(true, [&](size_t c, int32_t k, const FactorList &list) {
      if (lists.held[size_t(k)].empty())
        return false;
      if (!known[size_t(k)]) {
        own[size_t(k)] = offsetsOf(lists.held[size_t(k)]);
        known[size_t(k)] = true;
      }
      std::vector<Spot> &spots = plan.spots[c][size_t(k)];
      for (const FactorEntry &entry : list) {
        if (entry.id < 0) {
          spots.push_back({});
          continue;
        }
        auto at = own[size_t(k)].find(entry.id);
        if (at == own[size_t(k)].end())
          return false;
        spots.push_back({0, at->second});
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

  struct Holding {
    int32_t unit;
    int64_t offset;
  };

  void indexUnits() {
    for (int32_t u = 0; u < base.units; ++u)
      for (const FactorEntry &entry : lists.held[size_t(base.begin + u * base.unit)])
        if (entry.id >= 0) {
          std::vector<Holding> &holdings = holders[entry.id];
          if (holdings.empty() || holdings.back().unit != u)
            holdings.push_back({u, entry.offset});
        }
  }

  int32_t unitOf(int32_t k) const { return int32_t(floorDiv(k - base.begin, base.unit)); }

  std::optional<LinePlan> window() const {
    if (base.begin != 0 || base.units * base.unit > length)
      return std::nullopt;
    LinePlan plan = base;
    plan.kind = LinePlan::Kind::Window;
    auto nearest = [&](int64_t id, int32_t u) -> const Holding * {
      auto found = holders.find(id);
      if (found == holders.end())
        return nullptr;
      const Holding *best = nullptr;
      for (const Holding &holding : found->second)
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
    emptySpots(plan);
    forWanted(true, [&](size_t c, int32_t k, const FactorList &list) {
      const int32_t u = unitOf(k);
      for (const FactorEntry &entry : list) {
        Spot spot;
        if (entry.id >= 0) {
          const Holding *holding = nearest(entry.id, u);
          spot = {holding->unit - u + plan.reachBefore, holding->offset};
        }
        plan.spots[c][size_t(k)].push_back(spot);
      }
      return true;
    });
    return plan;
  }

  std::optional<LinePlan> bus(int32_t segment) const {
    LinePlan plan = base;
    plan.kind = LinePlan::Kind::Bus;
    plan.segment = segment;
    const bool whole = segment >= base.units;
    if (!whole && (base.units % segment != 0 || base.units * base.unit > length))
      return std::nullopt;
    auto find = [&](int64_t id, int32_t first) -> const Holding * {
      auto found = holders.find(id);
      if (found == holders.end())
        return nullptr;
      for (const Holding &holding : found->second)
        if (holding.unit >= first && holding.unit < first + segment)
          return &holding;
      return nullptr;
    };
    std::vector<int64_t> first(lists.wanted.size(), INT64_MAX), last(lists.wanted.size(), -1);
    plan.isUniform = lists.isUniform && whole;
    emptySpots(plan);
    const bool found = forWanted(!whole, [&](size_t c, int32_t k, const FactorList &list) {
      const int32_t from = whole ? 0 : unitOf(k) / segment * segment;
      if (!whole && (unitOf(k) < 0 || unitOf(k) >= base.units))
        return false;
      for (const FactorEntry &entry : list) {
        Spot spot;
        if (entry.id >= 0) {
          const Holding *holding = find(entry.id, from);
          if (!holding)
            return false;
          spot = {holding->unit - from, holding->offset};
          first[c] = std::min(first[c], spot.block);
          last[c] = std::max(last[c], spot.block);
        }
        plan.spots[c][plan.isUniform ? 0 : size_t(k)].push_back(spot);
      }
      return true;
    });
    if (!found)
      return std::nullopt;
    plan.blocks = 1;
    for (size_t c = 0; c < lists.wanted.size(); ++c) {
      if (last[c] < 0)
        first[c] = last[c] = 0;
      plan.blocks = std::max(plan.blocks, last[c] - first[c] + 1);
    }
    const int64_t available = std::min(segment, base.units);
    for (size_t c = 0; c < lists.wanted.size(); ++c) {
      first[c] = std::min(first[c], available - plan.blocks);
      for (std::vector<Spot> &spots : plan.spots[c])
        for (Spot &spot : spots)
          if (spot.block >= 0)
            spot.block -= first[c];
    }
    plan.firstBlock = std::move(first);
    return plan;
  }

  const LineLists &lists;
  const int64_t blockWords;
  const int32_t length;
  LinePlan base;
  std::unordered_map<int64_t, std::vector<Holding>> holders;
};

} // namespace

bool LinePlan::isMissing(int32_t coordinate, int64_t block) const {
  if (kind != Kind::Window)
    return false;
  const int64_t unit = coordinate / this->unit + block - reachBefore;
  return unit < 0 || unit >= units;
}

int64_t LinePlan::cycles(int64_t blockWords, int32_t length) const {
  switch (kind) {
  case Kind::Local:
    return 0;
  case Kind::Window:
    return 2 * (reachBefore + reachBehind) * (blockWords + kTurnCycles) + 2 * unit + blockWords;
  case Kind::Bus: {
    const int64_t given = std::min(segment, units);
    return (given + blocks) * blockWords + 3 * (given < units ? given * int64_t(unit) : length) + kBusCycles;
  }
  }
  return 0;
}

bool isLocal(const LineLists &lists) { return LinePlanner(lists, 1).isLocal(); }

std::optional<LinePlan> planLine(const LineLists &lists, int64_t blockWords) {
  return LinePlanner(lists, blockWords).plan();
}

} // namespace wsc::spmd
