// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/moves/CopyForm.h"

#include "compiler/spmd/collectives/LineBus.h"
#include "compiler/spmd/sharding/Divide.h"

#include <algorithm>
#include <map>
#include <memory>
#include <utility>

namespace wsc::spmd {

namespace {

constexpr int64_t kMostTableNumbers = int64_t(1) << 24; // of all cores; larger tables cost too much memory

constexpr int64_t kLongestTable = 2048; // numbers on a core
constexpr int64_t kMostSlack = 64;
constexpr size_t kMostParts = 3;    // blocks of a window that are copied one by one
constexpr int64_t kMostStretch = 4; // times the blocks that one line needs

/// Loops over places of the result alone, the outermost first, as few as there are.
std::vector<BlockCopy::Loop> inOrderOfResult(std::vector<BlockCopy::Loop> loops) {
  std::stable_sort(loops.begin(), loops.end(),
                   [](const BlockCopy::Loop &a, const BlockCopy::Loop &b) { return a.toStride > b.toStride; });
  std::vector<BlockCopy::Loop> merged;
  for (const BlockCopy::Loop &loop : loops) {
    if (loop.count == 1)
      continue;
    if (!merged.empty() && merged.back().toStride == loop.toStride * loop.count)
      merged.back() = {merged.back().count * loop.count, 0, loop.toStride, 0};
    else
      merged.push_back({loop.count, 0, loop.toStride, 0});
  }
  return merged;
}

/// Leaves the coordinates that are in both. False where they have no form.
bool narrow(BlockCopy::Remainders &all, const BlockCopy::Remainders &more) {
  if (all.areAll())
    all = more;
  return more.areAll() || all == more;
}

/// Whether a guard of these remainders and a number of the coordinate may go together.
bool agree(const BlockCopy::Remainders &remainders, const GroupNumber &number) {
  return remainders.areAll() || number.modulus == 1 || number.isZero() || number.modulus == remainders.modulus;
}

/// Stretches of `blocks` blocks, on every line from base + a number of the line on.
struct Stretches {
  int64_t base = 0, blocks = 0;
  GroupNumber first;
};
/// The shortest stretches found that hold the first to the last block that each line needs (nothing: the line takes no
/// part), all within [0, available). About 4·(kMostModulus + moduli) tries, each a pass over the lines.
std::optional<Stretches> coverBelow(const std::vector<std::optional<std::pair<int64_t, int64_t>>> &needed,
                                    int64_t available, const std::set<int64_t> &moduli) {
  const auto isKnown = [](const auto &each) { return each.has_value(); };
  const auto begin = std::find_if(needed.begin(), needed.end(), isKnown);
  if (begin == needed.end())
    return std::nullopt;
  const auto end = std::find_if(needed.rbegin(), needed.rend(), isKnown).base() - 1;
  constexpr int64_t kMostModulus = 32;
  std::set<int64_t> tries = moduli;
  for (int64_t m = 1; m <= std::min<int64_t>(kMostModulus, end - begin + 1); ++m)
    tries.insert(m);
  std::optional<Stretches> best;
  for (int64_t m : tries) {
    // The steepest rise from group to group that stays below, as lines are on average, and one less.
    const int64_t rise = end == begin ? 0 : floorDiv((*end)->first * m - (*begin)->first * m, end - begin);
    for (int64_t perGroup : {rise, rise - 1})
      for (int64_t perSub : {floorDiv(perGroup, m), floorDiv(perGroup, m) + 1}) {
        Stretches made{INT64_MAX, 0, {m, perGroup, m == 1 ? 0 : perSub}};
        for (size_t l = 0; l < needed.size(); ++l)
          if (needed[l])
            made.base = std::min(made.base, needed[l]->first - made.first.at(int32_t(l)));
        int64_t low = INT64_MAX, high = INT64_MIN;
        for (size_t l = 0; l < needed.size(); ++l)
          if (needed[l]) {
            const int64_t first = made.base + made.first.at(int32_t(l));
            made.blocks = std::max(made.blocks, needed[l]->second - first + 1);
            low = std::min(low, first);
            high = std::max(high, first);
          }
        if (low >= 0 && high + made.blocks <= available && (!best || made.blocks < best->blocks))
          best = made;
      }
  }
  return best;
}

} // namespace

bool CopyForm::stretch(const LineLists &lists, EntryPoints &points, const std::set<int64_t> &moduli) {
  LinePlan &line = stage.line;
  const int64_t pitch = stage.pitch;
  std::vector<std::optional<std::pair<int64_t, int64_t>>> needed(lists.classOf.size());
  for (size_t l = 0; l < needed.size(); ++l)
    if (const int32_t c = lists.classOf[l]; c >= 0)
      needed[l] = std::pair(line.firstBlock[size_t(c)], line.firstBlock[size_t(c)] + line.blocks - 1);
  const auto made = coverBelow(needed, std::min(line.segment, line.units), moduli);
  if (!made || made->blocks > kMostStretch * line.blocks)
    return false;
  // Lines of one class may begin at different blocks: each such place is a class of its own.
  std::map<std::pair<int32_t, int64_t>, int32_t> classes;
  std::vector<std::vector<std::vector<int64_t>>> moved;
  for (size_t l = 0; l < needed.size(); ++l) {
    if (!needed[l])
      continue;
    const int64_t behind = needed[l]->first - made->base - made->first.at(int32_t(l));
    const auto [found, added] = classes.emplace(std::pair(lists.classOf[l], behind), int32_t(moved.size()));
    points.classOf[l] = found->second;
    if (!added)
      continue;
    moved.push_back(points.lists[size_t(lists.classOf[l])]);
    for (std::vector<int64_t> &list : moved.back())
      for (int64_t &position : list)
        if (position >= 0)
          position += behind * pitch;
  }
  points.lists = std::move(moved);
  line.blocks = made->blocks;
  stage.firstBlockBase = made->base;
  stage.firstBlock = made->first;
  return true;
}

void CopyForm::addLine(const LineLists &lists, const std::vector<int64_t> &to, const CoreModuli &moduli) {
  EntryPoints points;
  points.axis = lists.axis;
  points.classOf = lists.classOf;
  points.isLine = true;
  points.isUniform = stage.line.isUniform;
  points.lists = std::exchange(stage.line.positions, {});
  points.lists.resize(lists.wanted.size());
  for (auto &each : points.lists)
    each.resize(points.isUniform ? 1 : lists.held.size());
  const LinePlan &line = stage.line;
  CoreModuli all = moduli;
  std::set<int64_t> &along = lists.axis == Axis::Row ? all.cols : all.rows;
  for (int64_t m : {int64_t(line.unit), int64_t(line.unit) * line.segment})
    if (m > 1)
      along.insert(m);
  if (line.kind == LinePlan::Kind::Bus) {
    // Blocks that a bus passes over differ from line to line.
    std::vector<std::optional<int64_t>> first(lists.classOf.size());
    for (size_t l = 0; l < first.size(); ++l)
      if (lists.classOf[l] >= 0)
        first[l] = line.firstBlock[size_t(lists.classOf[l])];
    const std::set<int64_t> &across = lists.axis == Axis::Row ? moduli.rows : moduli.cols;
    if (const auto fitted = fit(first, across)) {
      stage.firstBlockBase = fitted->first;
      stage.firstBlock = fitted->second;
    } else if (!stretch(lists, points, across)) {
      failed = true;
      return;
    }
    LineBus bus;
    bus.begin = line.begin;
    bus.unit = line.unit;
    bus.firstBase = stage.firstBlockBase;
    bus.first = stage.firstBlock;
    if (!isSound(bus)) {
      failed = true;
      return;
    }
  }
  add(points, to, all);
}

void CopyForm::addFixed(const std::vector<int64_t> &from, const std::vector<int64_t> &to) {
  if (to.empty())
    return;
  const auto found = loopsOf(from, to);
  if (!found) {
    failed = true;
    return;
  }
  stage.copy.from.constant += from[0];
  stage.copy.to += to[0];
  loops.insert(loops.end(), found->begin(), found->end());
}

bool CopyForm::addLocal(const std::function<bool(int32_t row, int32_t col, std::vector<int64_t> &)> &positionsAt,
                        const std::vector<int32_t> &rowKinds, const std::vector<int32_t> &colKinds, bool alongRows,
                        const std::vector<int64_t> &to, const CoreModuli &moduli) {
  EntryPoints points;
  const Rectangle &takers = stage.takers;
  points.axis = alongRows ? Axis::Row : Axis::Col;
  const auto &lineKinds = alongRows ? rowKinds : colKinds, &placeKinds = alongRows ? colKinds : rowKinds;
  const int32_t lBegin = takers.first(other(points.axis)), kBegin = takers.first(points.axis);
  points.classOf.assign(size_t(problem.rectangle.count(other(points.axis))), -1);
  std::map<int32_t, int32_t> classes; // by kind of the line
  for (size_t l = 0; l < lineKinds.size(); ++l) {
    const auto [found, added] = classes.emplace(lineKinds[l], int32_t(points.lists.size()));
    points.classOf[size_t(lBegin) + l] = found->second;
    if (!added)
      continue;
    auto &lists = points.lists.emplace_back(size_t(problem.rectangle.count(points.axis)));
    std::map<int32_t, size_t> places; // by kind: the first one
    for (size_t k = 0; k < placeKinds.size(); ++k) {
      const size_t at = size_t(kBegin) + k;
      if (const auto [first, isNew] = places.emplace(placeKinds[k], at); !isNew) {
        lists[at] = lists[first->second];
        continue;
      }
      const int32_t row = int32_t(alongRows ? size_t(lBegin) + l : at),
                    col = int32_t(alongRows ? at : size_t(lBegin) + l);
      if (!positionsAt(row, col, lists[at]))
        return false;
    }
  }
  add(points, to, moduli);
  return true;
}

void CopyForm::add(const EntryPoints &points, const std::vector<int64_t> &to, const CoreModuli &moduli) {
  if (failed)
    return;
  // Entries that are padding on all cores are left out.
  std::vector<bool> matters(to.size(), false);
  for (const auto &lists : points.lists)
    for (const std::vector<int64_t> &list : lists)
      for (size_t i = 0; i < list.size(); ++i)
        matters[i] = matters[i] || list[i] >= 0;
  std::vector<size_t> kept;
  std::vector<int64_t> keptTo;
  for (size_t i = 0; i < to.size(); ++i)
    if (matters[i]) {
      kept.push_back(i);
      keptTo.push_back(to[i]);
    }
  if (kept.size() < to.size())
    stage.fillsResult = true;
  if (kept.empty()) {
    loops.push_back({0, 0, 0, 0});
    return;
  }
  if (const auto whole = stridedForm(problem, stage, points, kept, keptTo, moduli); whole && commit(*whole))
    return;
  if (!addParts(points, kept, keptTo, moduli))
    failed = !addTable(points, kept, keptTo);
}

bool CopyForm::commit(const StridedForm &form) {
  BlockCopy::Remainders rows = stage.copy.rows, cols = stage.copy.cols;
  const auto sum = stage.copy.from.plus(form.from);
  if (!sum || !narrow(rows, form.rows) || !narrow(cols, form.cols) || !agree(rows, sum->row) || !agree(cols, sum->col))
    return false;
  stage.copy.from = *sum;
  stage.copy.rows = rows;
  stage.copy.cols = cols;
  stage.copy.to += form.to;
  for (const BlockCopy::Patch &patch : form.patches)
    groupPatches.push_back({patch, loops.size(), loops.size() + form.loops.size()});
  loops.insert(loops.end(), form.loops.begin(), form.loops.end());
  return true;
}

bool CopyForm::addParts(const EntryPoints &points, const std::vector<size_t> &kept, const std::vector<int64_t> &to,
                        const CoreModuli &moduli) {
  if (!points.isLine || stage.line.kind != LinePlan::Kind::Window || problem.pieces.size() > 1)
    return false;
  // Which block an entry lies in, on any core.
  std::map<int64_t, std::pair<std::vector<size_t>, std::vector<int64_t>>>
      byBlock; // entries, their places in the result
  for (size_t i = 0; i < kept.size(); ++i) {
    std::optional<int64_t> block;
    for (const auto &lists : points.lists)
      for (const std::vector<int64_t> &list : lists)
        if (!list.empty() && list[kept[i]] >= 0 && !block)
          block = list[kept[i]] / stage.pitch;
    auto &[entries, places] = byBlock[block.value_or(0)];
    entries.push_back(kept[i]);
    places.push_back(to[i]);
  }
  if (byBlock.size() > kMostParts)
    return false;
  std::vector<StridedForm> made;
  for (const auto &[block, part] : byBlock) {
    auto form = stridedForm(problem, stage, points, part.first, part.second, moduli);
    if (!form)
      return false;
    made.push_back(*std::move(form));
  }
  parts = std::move(made);
  split = {points, kept, to};
  return true;
}

bool CopyForm::addTable(const EntryPoints &points, const std::vector<size_t> &kept, const std::vector<int64_t> &to) {
  std::vector<int64_t> numbers(kept.size());
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = int64_t(i);
  auto found = loopsOf(numbers, to);
  if (!found)
    return false;
  CopyTable::Factor factor{points.axis, points.classOf, {}, points.isUniform, {}};
  std::map<std::vector<int64_t>, int32_t> known;
  std::vector<int64_t> list(kept.size());
  for (const auto &lists : points.lists) {
    std::vector<int32_t> &numbersOf = factor.listOf.emplace_back(lists.size(), -1);
    for (size_t k = 0; k < lists.size(); ++k) {
      if (lists[k].empty())
        continue;
      for (size_t i = 0; i < kept.size(); ++i)
        list[i] = lists[k][kept[i]];
      const auto [number, added] = known.try_emplace(list, int32_t(factor.lists.size()));
      if (added)
        factor.lists.push_back(list);
      numbersOf[k] = number->second;
    }
  }
  stage.copy.to += to[0];
  tableGroups.push_back({std::move(factor), int64_t(kept.size()), *std::move(found)});
  return true;
}

bool CopyForm::makeTable() {
  int64_t length = 1, cores = 1;
  for (const TableGroup &group : tableGroups)
    length *= group.entries;
  for (Axis coordinate : {Axis::Row, Axis::Col})
    if (std::any_of(tableGroups.begin(), tableGroups.end(),
                    [&](const TableGroup &group) { return group.factor.dependsOn(coordinate); }))
      cores *= coordinate == Axis::Row ? problem.rectangle.rows : problem.rectangle.cols;
  if (length > kLongestTable || cores * length > kMostTableNumbers)
    return false;
  int64_t stride = length;
  std::vector<CopyTable::Factor> factors;
  for (TableGroup &group : tableGroups) {
    stride /= group.entries;
    for (const BlockCopy::Loop &loop : group.loops)
      tableLoops.push_back({loop.count, 0, loop.toStride, loop.fromStride * stride});
    factors.push_back(std::move(group.factor));
  }
  if (tableLoops.empty())
    tableLoops.push_back({1, 0, 0, 0});
  // Padding is read from the core's own block, which is always there; or from behind the blocks, where the fill is put,
  // if that is no more than a mask's two more passes over the result.
  const int64_t own = stage.line.kind == LinePlan::Kind::Window ? stage.line.ownBlock() * stage.pitch : 0;
  auto table = std::make_shared<CopyTable>(factors, problem.rectangle, stage.takers, own);
  stage.copy.masksPadding = table->isPadded() && (problem.fillMatters || problem.pieces.size() > 1);
  const auto [low, high] = reach(stage.copy);
  const bool copiesBlock = stage.line.kind == LinePlan::Kind::Local; // to have room behind it
  if (stage.copy.masksPadding && problem.pieces.size() == 1 &&
      high - low + (copiesBlock ? stage.blockElements : 0) < std::max(kMostSlack, stage.resultElements)) {
    table = std::make_shared<CopyTable>(std::move(factors), problem.rectangle, stage.takers, blocksEnd() - low);
    stage.copy.masksPadding = false;
    readsFill = true;
  }
  stage.copy.table = std::move(table);
  return true;
}

bool CopyForm::finish() {
  if (failed)
    return false;
  // One table for what has no other form.
  if (!parts.empty() && (!tableGroups.empty() || !finishParts()) && !addTable(split.points, split.kept, split.to))
    return false;
  if (!stage.otherCopies.empty())
    return true;
  return (tableGroups.empty() || makeTable()) && finish(stage.copy);
}

bool CopyForm::finishParts() {
  const BlockCopy common = stage.copy;
  const std::vector<BlockCopy::Loop> commonLoops = loops;
  const std::vector<GroupPatch> commonPatches = groupPatches;
  const int64_t slack = stage.slack;
  std::vector<BlockCopy> finished;
  bool haveForm = true;
  for (const StridedForm &part : parts) {
    haveForm = haveForm && commit(part) && finish(finished.emplace_back(stage.copy));
    stage.copy = common;
    loops = commonLoops;
    groupPatches = commonPatches;
  }
  if (!haveForm) {
    stage.slack = slack;
    return false;
  }
  stage.copy = std::move(finished.front());
  stage.otherCopies.assign(std::make_move_iterator(finished.begin() + 1), std::make_move_iterator(finished.end()));
  return true;
}

bool CopyForm::finish(BlockCopy &copy) {
  for (GroupPatch &each : groupPatches) {
    BlockCopy::Patch &patch = copy.patches.emplace_back(std::move(each.patch));
    patch.to += copy.to;
    for (size_t l = 0; l < loops.size(); ++l)
      if (l < each.begin || l >= each.end)
        patch.loops.push_back(loops[l]);
    patch.loops.insert(patch.loops.end(), tableLoops.begin(), tableLoops.end());
    patch.loops = inOrderOfResult(std::move(patch.loops));
  }
  // Loops in the order of the result; neighbours that go on where the inner one ends become one.
  std::stable_sort(loops.begin(), loops.end(),
                   [](const BlockCopy::Loop &a, const BlockCopy::Loop &b) { return a.toStride > b.toStride; });
  for (const BlockCopy::Loop &loop : loops) {
    if (loop.count == 1)
      continue;
    if (!copy.loops.empty()) {
      BlockCopy::Loop &outer = copy.loops.back();
      if (outer.fromStride == loop.fromStride * loop.count && outer.toStride == loop.toStride * loop.count) {
        outer = {outer.count * loop.count, loop.fromStride, loop.toStride, 0};
        continue;
      }
    }
    copy.loops.push_back(loop);
  }
  copy.loops.insert(copy.loops.end(), tableLoops.begin(), tableLoops.end());
  if (std::any_of(copy.loops.begin(), copy.loops.end(), [](const BlockCopy::Loop &loop) { return loop.count == 0; })) {
    copy.loops = {{0, 0, 0, 0}};
    copy.patches.clear();
    copy.table.reset();
    return true;
  }
  // All cores that copy stay within their blocks. What does not matter, or holds the fill, may lie behind them.
  auto [low, high] = reach(copy);
  if (copy.table) // its numbers are positions themselves
    high += copy.table->most();
  const int64_t size = blocksEnd();
  if (high >= size && high - size < (readsFill ? std::max(kMostSlack, stage.resultElements) : kMostSlack))
    stage.slack = std::max(stage.slack, high - size + 1);
  return low >= 0 && high < size + stage.slack;
}

int64_t CopyForm::blocksEnd() const {
  return stage.line.kind == LinePlan::Kind::Local ? stage.blockElements : stage.line.blocks * stage.pitch;
}

std::pair<int64_t, int64_t> CopyForm::reach(const BlockCopy &copy) const {
  int64_t low = copy.from.constant, high = copy.from.constant;
  for (const BlockCopy::Loop &loop : loops)
    (loop.fromStride < 0 ? low : high) += loop.fromStride * (loop.count - 1);
  auto range = [](const GroupNumber &part, const BlockCopy::Remainders &remainders, int32_t begin, int32_t count) {
    std::pair<int64_t, int64_t> range{INT64_MAX, INT64_MIN};
    if (!remainders.areAll()) {
      for (int32_t k = begin; k < begin + count; ++k)
        if (remainders.hold(k)) {
          range.first = std::min(range.first, part.at(k));
          range.second = std::max(range.second, part.at(k));
        }
      return range.first > range.second ? std::pair<int64_t, int64_t>(0, 0) : range;
    }
    // Linear within groups and from group to group: the ends of the first and last groups hold the extremes.
    const int64_t m = part.modulus, last = begin + count - 1, end = last / m;
    for (int64_t group : {begin / m, begin / m + 1, end - 1, end})
      for (int64_t k : {std::max<int64_t>(group * m, begin), std::min<int64_t>(group * m + m - 1, last)})
        if (k >= begin && k <= last) {
          range.first = std::min(range.first, part.at(int32_t(k)));
          range.second = std::max(range.second, part.at(int32_t(k)));
        }
    return range;
  };
  const auto rows = range(copy.from.row, copy.rows, stage.takers.row, stage.takers.rows),
             cols = range(copy.from.col, copy.cols, stage.takers.col, stage.takers.cols);
  return {low + rows.first + cols.first, high + rows.second + cols.second};
}

} // namespace wsc::spmd
