// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/moves/LinePick.h"

#include "compiler/spmd/collectives/GroupReduce.h"
#include "compiler/spmd/sharding/Divide.h"

#include <algorithm>
#include <set>

namespace wsc::spmd {

namespace {

constexpr int64_t kMostPicks = 2048;    // entries of a line: each core has a table of them
constexpr int32_t kMostRoundingUp = 16; // cores added to a group for shorter chains

class PickPlanner {
public:
  PickPlanner(const LineLists &lists, const LineBlock &block)
      : lists(lists), block(block), length(int32_t(lists.held.size())) {}

  std::optional<LinePlan> plan(int64_t atMost) {
    if (!findExtent())
      return std::nullopt;
    std::set<std::pair<int32_t, int32_t>> choices{{wholeGroup(), 1}}; // cores of a group, groups
    for (int64_t cores : lists.segments)
      if (cores < end && ceilDiv(end, cores) * cores <= length)
        choices.emplace(int32_t(cores), int32_t(ceilDiv(end, cores)));
    std::optional<LinePlan> best;
    for (const auto &[group, groups] : choices) {
      LinePlan plan;
      plan.kind = LinePlan::Kind::Pick;
      plan.segment = group;
      plan.units = group * groups;
      plan.entryElements = rest;
      plan.blocks = leastPicks;
      if (plan.cycles(block) >= atMost || !pick(plan) || plan.cycles(block) >= atMost)
        continue;
      atMost = plan.cycles(block);
      best = std::move(plan);
    }
    return best;
  }

private:
  struct Holding {
    int32_t core;
    int64_t offset;
  };

  /// The cores that matter, and how many elements a block has for each entry of the lists.
  bool findExtent() {
    size_t entries = 0;
    int64_t numIds = 0;
    for (int32_t k = 0; k < length; ++k) {
      const FactorList &held = lists.held[size_t(k)];
      if (held.empty())
        continue;
      if (entries != 0 && held.size() != entries)
        return false;
      entries = held.size();
      end = k + 1;
      for (const FactorEntry &entry : held)
        numIds = std::max(numIds, entry.id + 1);
    }
    if (entries == 0 || block.elements % int64_t(entries) != 0)
      return false;
    rest = block.elements / int64_t(entries);
    end = std::max(end, lists.takerEnd);
    holders.resize(size_t(numIds));
    for (const auto &ofClass : lists.wanted)
      for (const FactorList &list : ofClass)
        leastPicks = std::max(leastPicks, std::count_if(list.begin(), list.end(),
                                                        [](const FactorEntry &entry) { return entry.id >= 0; }));
    return leastPicks > 0 && leastPicks <= kMostPicks && end > 1;
  }

  /// A few cores more may divide into shorter chains.
  int32_t wholeGroup() const {
    auto links = [](int32_t group) {
      const int32_t run = reduceRun(group);
      return run == group ? group : run + group / run;
    };
    int32_t best = end;
    for (int32_t group = end + 1; group <= std::min(length, end + kMostRoundingUp); ++group)
      if (links(group) + group - best < links(best))
        best = group;
    return best;
  }

  /// By number, in the order of cores; found when the first choice needs them.
  void indexHolders() {
    if (isIndexed)
      return;
    isIndexed = true;
    for (int32_t k = 0; k < length; ++k)
      for (const FactorEntry &entry : lists.held[size_t(k)])
        if (entry.id >= 0 && (holders[size_t(entry.id)].empty() || holders[size_t(entry.id)].back().core != k))
          holders[size_t(entry.id)].push_back({k, entry.offset});
  }

  /// Where an entry lies in the blocks of the segment that begins at core `first`, one behind another; −1: nowhere.
  int64_t placeOf(int64_t id, int32_t first, int32_t cores) const {
    if (id >= int64_t(holders.size()))
      return -1;
    const std::vector<Holding> &all = holders[size_t(id)];
    const auto found = std::lower_bound(all.begin(), all.end(), first,
                                        [](const Holding &holding, int32_t core) { return holding.core < core; });
    if (found == all.end() || found->core >= first + cores)
      return -1;
    return (found->core - first) * block.elements + found->offset;
  }

  /// Visits (class, coordinate, list); stops at the first false. On whole lines uniform lists count once.
  template <typename Visit> bool forWanted(bool isWhole, Visit visit) const {
    for (size_t c = 0; c < lists.wanted.size(); ++c)
      for (int32_t k = lists.takerBegin; k < lists.takerEnd; ++k) {
        const FactorList &list = lists.wanted[c][lists.isUniform ? 0 : size_t(k)];
        if (!list.empty() && !visit(c, k, list))
          return false;
        if (lists.isUniform && isWhole)
          break;
      }
    return true;
  }

  bool pick(LinePlan &plan) {
    indexHolders();
    const bool isWhole = plan.units == plan.segment;
    plan.isUniform = lists.isUniform && isWhole;
    plan.picks.assign(lists.wanted.size(), {});
    const bool found = forWanted(isWhole, [&](size_t c, int32_t k, const FactorList &list) {
      for (const FactorEntry &entry : list) {
        if (entry.id < 0)
          continue;
        const int64_t place = placeOf(entry.id, k / plan.segment * plan.segment, plan.segment);
        if (place < 0)
          return false;
        plan.picks[c].push_back(place);
      }
      return true;
    });
    if (!found)
      return false;
    plan.blocks = 1;
    for (std::vector<int64_t> &places : plan.picks) {
      std::sort(places.begin(), places.end());
      places.erase(std::unique(places.begin(), places.end()), places.end());
      plan.blocks = std::max(plan.blocks, int64_t(places.size()));
    }
    if (plan.blocks > kMostPicks)
      return false;
    plan.positions.assign(lists.wanted.size(), {});
    for (auto &ofClass : plan.positions)
      ofClass.resize(plan.isUniform ? 1 : size_t(length));
    return forWanted(isWhole, [&](size_t c, int32_t k, const FactorList &list) {
      const std::vector<int64_t> &places = plan.picks[c];
      std::vector<int64_t> &positions = plan.positions[c][plan.isUniform ? 0 : size_t(k)];
      for (const FactorEntry &entry : list) {
        if (entry.id < 0) {
          positions.push_back(-1);
          continue;
        }
        const int64_t place = placeOf(entry.id, k / plan.segment * plan.segment, plan.segment);
        positions.push_back((std::lower_bound(places.begin(), places.end(), place) - places.begin()) * rest);
      }
      return true;
    });
  }

  const LineLists &lists;
  const LineBlock block;
  const int32_t length;
  int32_t end = 0;        // behind the last core that holds or wants something
  int64_t rest = 1;       // elements of a block for each entry
  int64_t leastPicks = 0; // of some line
  bool isIndexed = false;
  std::vector<std::vector<Holding>> holders;
};

} // namespace

std::optional<LinePlan> planPick(const LineLists &lists, const LineBlock &block, int64_t atMost) {
  return PickPlanner(lists, block).plan(atMost);
}

} // namespace wsc::spmd
