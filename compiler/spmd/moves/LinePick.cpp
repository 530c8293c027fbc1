// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/moves/LinePick.h"

#include "compiler/spmd/collectives/GroupReduce.h"
#include "compiler/spmd/sharding/Divide.h"

#include <algorithm>
#include <set>
#include <utility>

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
    int32_t number; // among all
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
    mostPicks = std::min(kMostPicks, lists.blockBytes / std::max<int64_t>(1, rest * block.elementBytes));
    end = std::max(end, lists.takerEnd);
    holders.resize(size_t(numIds));
    for (const auto &ofClass : lists.wanted)
      for (const FactorList &list : ofClass)
        leastPicks = std::max(leastPicks, std::count_if(list.begin(), list.end(),
                                                        [](const FactorEntry &entry) { return entry.id >= 0; }));
    return leastPicks > 0 && leastPicks <= mostPicks && end > 1;
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
    if (numHolders > 0)
      return;
    for (int32_t k = 0; k < length; ++k)
      for (const FactorEntry &entry : lists.held[size_t(k)])
        if (entry.id >= 0 && (holders[size_t(entry.id)].empty() || holders[size_t(entry.id)].back().core != k))
          holders[size_t(entry.id)].push_back({k, numHolders++, entry.offset});
    wantedBy.assign(size_t(numHolders), -1);
    rankOf.resize(size_t(numHolders));
  }

  /// The first core that holds an entry, of the segment that begins at core `first`; null: none.
  const Holding *holderOf(int64_t id, int32_t first, int32_t cores) const {
    if (id >= int64_t(holders.size()))
      return nullptr;
    const std::vector<Holding> &all = holders[size_t(id)];
    const auto found = std::lower_bound(all.begin(), all.end(), first,
                                        [](const Holding &holding, int32_t core) { return holding.core < core; });
    return found == all.end() || found->core >= first + cores ? nullptr : &*found;
  }

  /// Visits the wanted lists of a class as (coordinate, list); stops at the first false. On whole lines uniform lists
  /// count once.
  template <typename Visit> bool forWanted(size_t c, bool isWhole, Visit visit) const {
    for (int32_t k = lists.takerBegin; k < lists.takerEnd; ++k) {
      const FactorList &list = lists.wanted[c][lists.isUniform ? 0 : size_t(k)];
      if (!list.empty() && !visit(k, list))
        return false;
      if (lists.isUniform && isWhole)
        break;
    }
    return true;
  }

  /// Where the entries lie that a class wants, in the blocks of a segment, one behind another: each place once, in
  /// order; notes the rank of each holder's place. False: an entry lies nowhere, or there are too many.
  bool pickOf(size_t c, int32_t segment, bool isWhole, std::vector<int64_t> &picks) {
    std::vector<std::pair<int64_t, int32_t>> places; // with the holder's number
    const bool found = forWanted(c, isWhole, [&](int32_t k, const FactorList &list) {
      const int32_t first = k / segment * segment;
      for (const FactorEntry &entry : list) {
        if (entry.id < 0)
          continue;
        const Holding *holding = holderOf(entry.id, first, segment);
        if (holding == nullptr)
          return false;
        if (std::exchange(wantedBy[size_t(holding->number)], round) == round)
          continue;
        places.emplace_back((holding->core - first) * block.elements + holding->offset, holding->number);
        if (isWhole && int64_t(places.size()) > mostPicks)
          return false; // each has a place of its own
      }
      return true;
    });
    ++round;
    if (!found)
      return false;
    std::sort(places.begin(), places.end());
    for (const auto &[place, number] : places) {
      if (picks.empty() || picks.back() != place)
        picks.push_back(place);
      rankOf[size_t(number)] = int64_t(picks.size()) - 1;
    }
    return int64_t(picks.size()) <= mostPicks;
  }

  bool pick(LinePlan &plan) {
    indexHolders();
    const bool isWhole = plan.units == plan.segment;
    plan.isUniform = lists.isUniform && isWhole;
    plan.picks.assign(lists.wanted.size(), {});
    plan.positions.assign(lists.wanted.size(), {});
    plan.blocks = 1;
    for (size_t c = 0; c < lists.wanted.size(); ++c) {
      if (!pickOf(c, plan.segment, isWhole, plan.picks[c]))
        return false;
      plan.blocks = std::max(plan.blocks, int64_t(plan.picks[c].size()));
      plan.positions[c].resize(plan.isUniform ? 1 : size_t(length));
      forWanted(c, isWhole, [&](int32_t k, const FactorList &list) {
        std::vector<int64_t> &positions = plan.positions[c][plan.isUniform ? 0 : size_t(k)];
        positions.reserve(list.size());
        for (const FactorEntry &entry : list)
          positions.push_back(
              entry.id < 0
                  ? entry.id
                  : rankOf[size_t(holderOf(entry.id, k / plan.segment * plan.segment, plan.segment)->number)] * rest);
        return true;
      });
    }
    return true;
  }

  const LineLists &lists;
  const LineBlock block;
  const int32_t length;
  int32_t end = 0;        // behind the last core that holds or wants something
  int64_t rest = 1;       // elements of a block for each entry
  int64_t leastPicks = 0; // of some line
  int64_t mostPicks = kMostPicks;
  int32_t numHolders = 0, round = 0;
  std::vector<std::vector<Holding>> holders; // by number of the entry
  std::vector<int32_t> wantedBy;             // per holder: the last round that wanted it
  std::vector<int64_t> rankOf;               // per holder: of its place among the picks of the class in hand
};

} // namespace

std::optional<LinePlan> planPick(const LineLists &lists, const LineBlock &block, int64_t atMost) {
  return PickPlanner(lists, block).plan(atMost);
}

} // namespace wsc::spmd
