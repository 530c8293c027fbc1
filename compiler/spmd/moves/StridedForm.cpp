// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/moves/StridedForm.h"

#include "compiler/spmd/sharding/Divide.h"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

namespace wsc::spmd {

namespace {

constexpr size_t kMostPatches = 3; // of a group: instructions that few cores execute

/// The coordinates that are true, as far as they are known.
std::optional<BlockCopy::Remainders> remaindersOf(const std::vector<std::optional<bool>> &values,
                                                  const std::set<int64_t> &moduli) {
  if (std::none_of(values.begin(), values.end(), [](const auto &value) { return value && !*value; }))
    return BlockCopy::Remainders();
  for (const int64_t m : moduli) {
    std::vector<std::optional<bool>> ofRemainder(size_t(m), std::nullopt);
    bool fits = true;
    BlockCopy::Remainders made{int32_t(m), INT32_MAX, 0};
    for (size_t k = 0; k < values.size() && fits; ++k) {
      if (!values[k])
        continue;
      std::optional<bool> &known = ofRemainder[k % size_t(m)];
      fits = !known || *known == *values[k];
      known = values[k];
      if (*values[k]) {
        made.begin = std::min(made.begin, int32_t(k % size_t(m)));
        made.end = std::max(made.end, int32_t(k % size_t(m)) + 1);
      }
    }
    for (int32_t r = made.begin; r < made.end && fits; ++r)
      fits = ofRemainder[size_t(r)].value_or(true);
    if (fits && made.begin < made.end)
      return made;
  }
  return std::nullopt;
}

/// Of a problem of several pieces: the cores of the group that get elements of this one, the others leave theirs
/// alone. Nothing where a core gets some of the entries only, or the cores have no such form.
std::optional<std::pair<BlockCopy::Remainders, BlockCopy::Remainders>> takersOfPiece(const MoveProblem &problem,
                                                                                     const EntryPoints &points,
                                                                                     const std::vector<size_t> &kept,
                                                                                     const CoreModuli &moduli) {
  // Per class and coordinate, then of the coordinates of classes that take part, and of the lines.
  std::vector<std::optional<bool>> alongAxis, byLine(points.classOf.size());
  std::vector<std::optional<bool>> takes(points.lists.size());
  for (size_t c = 0; c < points.lists.size(); ++c) {
    std::vector<std::optional<bool>> own(points.lists[c].size());
    for (size_t k = 0; k < own.size(); ++k) {
      const std::vector<int64_t> &list = points.lists[c][k];
      if (list.empty())
        continue;
      for (size_t i : kept) {
        if (list[i] == kBeyond && !problem.fillMatters)
          continue;
        if (own[k] && (list[i] >= 0) != *own[k])
          return std::nullopt;
        own[k] = list[i] >= 0;
      }
      takes[c] = takes[c].value_or(false) || own[k].value_or(false);
    }
    if (!takes[c].value_or(false))
      continue;
    alongAxis.resize(std::max(alongAxis.size(), own.size()));
    for (size_t k = 0; k < own.size(); ++k) {
      if (own[k] && alongAxis[k] && *own[k] != *alongAxis[k])
        return std::nullopt;
      if (own[k])
        alongAxis[k] = own[k];
    }
  }
  for (size_t l = 0; l < byLine.size(); ++l)
    if (points.classOf[l] >= 0)
      byLine[l] = takes[size_t(points.classOf[l])];
  const bool acrossRows = points.axis == Axis::Row;
  const auto along = remaindersOf(alongAxis, acrossRows ? moduli.cols : moduli.rows);
  const auto across = remaindersOf(byLine, acrossRows ? moduli.rows : moduli.cols);
  if (!along || !across)
    return std::nullopt;
  return acrossRows ? std::pair(*across, *along) : std::pair(*along, *across);
}

/// Padding of a group's entries that lies where cores have anything but the fill, per core along the axis. Nothing
/// where it has no form. `positionAt`: of a line, a coordinate along the axis and an entry's number among `kept`.
std::optional<std::vector<BlockCopy::Patch>>
patchesOf(const FactoredStage &stage, const EntryPoints &points, const std::vector<size_t> &kept,
          const std::vector<int64_t> &to,
          const std::function<int64_t(int32_t line, int32_t coordinate, size_t entry)> &positionAt) {
  // Per coordinate which of the entries are padding elsewhere than in missing blocks; the same on all lines.
  struct Run {
    size_t begin = 0, end = 0;
    bool operator==(const Run &) const = default;
  };
  std::optional<std::vector<Run>> runs;
  for (size_t l = 0; l < points.classOf.size(); ++l) {
    if (points.classOf[l] < 0)
      continue;
    const auto &lists = points.lists[size_t(points.classOf[l])];
    std::vector<Run> own(lists.size());
    for (size_t k = 0; k < lists.size(); ++k)
      for (size_t i = 0; i < kept.size() && !lists[k].empty(); ++i) {
        if (lists[k][kept[i]] >= 0)
          continue;
        if (!points.isLine)
          return std::nullopt;
        const int64_t block = floorDiv(positionAt(int32_t(l), int32_t(k), i), stage.pitch);
        if (stage.line.isMissing(int32_t(k), block))
          continue;
        if (block < 0 || block >= stage.line.blocks)
          return std::nullopt;
        if (own[k].end != 0 && own[k].end != i)
          return std::nullopt;
        if (own[k].end == 0)
          own[k].begin = i;
        own[k].end = i + 1;
      }
    if (runs && *runs != own)
      return std::nullopt;
    runs = std::move(own);
    if (points.lists.size() == 1)
      break;
  }
  std::vector<BlockCopy::Patch> patches;
  const Run *last = nullptr;
  for (size_t k = 0; runs && k < runs->size(); ++k) {
    const Run &run = (*runs)[k];
    if (run.end == 0)
      continue;
    if (last && *last == run && patches.back().end == int32_t(k)) {
      ++patches.back().end;
      continue;
    }
    const int64_t count = int64_t(run.end - run.begin), stride = count > 1 ? to[run.begin + 1] - to[run.begin] : 1;
    for (size_t i = run.begin; i < run.end; ++i)
      if (to[i] != to[run.begin] + int64_t(i - run.begin) * stride)
        return std::nullopt;
    if (points.isUniform || patches.size() == kMostPatches)
      return std::nullopt;
    patches.push_back({points.axis, int32_t(k), int32_t(k) + 1, to[run.begin] - to[0], {{count, 0, stride, 0}}});
    last = &run;
  }
  return patches;
}

} // namespace

std::optional<std::pair<int64_t, GroupNumber>> fit(const std::vector<std::optional<int64_t>> &values,
                                                   const std::set<int64_t> &moduli) {
  std::vector<int64_t> tries{1};
  tries.insert(tries.end(), moduli.begin(), moduli.end());
  const auto isKnown = [](const std::optional<int64_t> &value) { return value.has_value(); };
  const auto begin = std::find_if(values.begin(), values.end(), isKnown);
  if (begin == values.end())
    return std::pair(int64_t(0), GroupNumber());
  const int64_t k0 = begin - values.begin();
  // Where the first progression breaks off a group may end.
  for (size_t k = size_t(k0) + 1; k + 1 < values.size() && values[k] && values[k + 1]; ++k)
    if (*values[k + 1] - *values[k] != *values[k] - *values[k - 1]) {
      // A group may be one step long, or repeat one value: the break is before or behind k.
      for (int64_t m : {int64_t(k), int64_t(k) + 1})
        if (m > 1 && !moduli.contains(m))
          tries.push_back(m);
      break;
    }
  for (int64_t m : tries) {
    GroupNumber part{m, 0, 0};
    // Two neighbours in one group give perSub, one place in two groups perGroup.
    std::optional<int64_t> perSub, perGroup;
    for (size_t k = size_t(k0); k + 1 < values.size() && !perSub && m > 1; ++k)
      if (values[k] && values[k + 1] && (int64_t(k) + 1) % m != 0)
        perSub = *values[k + 1] - *values[k];
    part.perSub = perSub.value_or(0);
    for (size_t k = size_t(k0); k + size_t(m) < values.size() && !perGroup; ++k)
      if (values[k] && values[k + size_t(m)])
        perGroup = *values[k + size_t(m)] - *values[k];
    part.perGroup = perGroup.value_or(0);
    const int64_t constant = *values[size_t(k0)] - part.at(int32_t(k0));
    bool fits = true;
    for (size_t k = 0; k < values.size() && fits; ++k)
      fits = !values[k] || *values[k] == constant + part.at(int32_t(k));
    if (fits)
      return std::pair(constant, part);
  }
  return std::nullopt;
}

std::optional<std::vector<BlockCopy::Loop>> loopsOf(const std::vector<int64_t> &from, const std::vector<int64_t> &to) {
  std::vector<BlockCopy::Loop> loops; // innermost first
  const size_t size = to.size();
  for (size_t done = 1; done < size;) {
    const int64_t fromStride = from[done] - from[0], toStride = to[done] - to[0];
    size_t count = 2;
    while (count * done < size && from[count * done] - from[0] == fromStride * int64_t(count) &&
           to[count * done] - to[0] == toStride * int64_t(count))
      ++count;
    while (count > 1 && size % (count * done) != 0)
      --count;
    if (count == 1)
      return std::nullopt;
    loops.push_back({int64_t(count), fromStride, toStride, 0});
    done *= count;
  }
  for (size_t i = 0; i < size; ++i) {
    int64_t number = int64_t(i), fromAt = from[0], toAt = to[0];
    for (const BlockCopy::Loop &loop : loops) {
      fromAt += number % loop.count * loop.fromStride;
      toAt += number % loop.count * loop.toStride;
      number /= loop.count;
    }
    if (fromAt != from[i] || toAt != to[i])
      return std::nullopt;
  }
  std::reverse(loops.begin(), loops.end());
  return loops;
}

std::optional<StridedForm> stridedForm(const MoveProblem &problem, const FactoredStage &stage,
                                       const EntryPoints &points, const std::vector<size_t> &kept,
                                       const std::vector<int64_t> &to, const CoreModuli &moduli) {
  StridedForm form;
  form.to = to[0];
  std::vector<int64_t> from(kept.size());
  const std::vector<int64_t> *whole = nullptr;
  for (const auto &lists : points.lists)
    for (const std::vector<int64_t> &list : lists)
      if (!whole && !list.empty() && std::all_of(kept.begin(), kept.end(), [&](size_t i) { return list[i] >= 0; }))
        whole = &list;
  if (!whole)
    return std::nullopt;
  for (size_t i = 0; i < kept.size(); ++i)
    from[i] = (*whole)[kept[i]];
  const auto found = loopsOf(from, to);
  if (!found)
    return std::nullopt;
  // Of several pieces each leaves alone what belongs to another, which differs from core to core.
  if (problem.pieces.size() > 1) {
    const auto takers = takersOfPiece(problem, points, kept, moduli);
    if (!takers)
      return std::nullopt;
    std::tie(form.rows, form.cols) = *takers;
  }
  // Where each core begins.
  std::vector<std::vector<std::optional<int64_t>>> bases(points.lists.size());
  for (size_t c = 0; c < points.lists.size(); ++c) {
    bases[c].resize(points.lists[c].size());
    for (size_t k = 0; k < points.lists[c].size(); ++k) {
      const std::vector<int64_t> &list = points.lists[c][k];
      if (list.empty())
        continue;
      std::optional<int64_t> base;
      for (size_t i = 0; i < kept.size(); ++i)
        if (list[kept[i]] >= 0) {
          const int64_t here = list[kept[i]] - (from[i] - from[0]);
          if (base && *base != here)
            return std::nullopt;
          base = here;
        }
      bases[c][k] = base;
    }
  }
  // Base of class 0 by coordinate, then what other classes add.
  const std::set<int64_t> &along = points.axis == Axis::Row ? moduli.cols : moduli.rows;
  const std::set<int64_t> &across = points.axis == Axis::Row ? moduli.rows : moduli.cols;
  const auto alongPart = fit(bases[0], along);
  if (!alongPart)
    return std::nullopt;
  std::vector<std::optional<int64_t>> byClass(points.lists.size());
  for (size_t c = 0; c < points.lists.size(); ++c)
    for (size_t k = 0; k < bases[c].size(); ++k)
      if (bases[c][k]) {
        const int64_t more = *bases[c][k] - alongPart->first - alongPart->second.at(int32_t(k));
        if (byClass[c] && *byClass[c] != more)
          return std::nullopt;
        byClass[c] = more;
      }
  std::vector<std::optional<int64_t>> byLine(points.classOf.size());
  for (size_t l = 0; l < byLine.size(); ++l)
    if (points.classOf[l] >= 0)
      byLine[l] = byClass[size_t(points.classOf[l])];
  const auto acrossPart = fit(byLine, across);
  if (!acrossPart)
    return std::nullopt;
  // Padding comes to lie in missing blocks, which hold the fill, or is filled afterwards.
  if (problem.fillMatters && problem.pieces.size() == 1) {
    auto made = patchesOf(stage, points, kept, to, [&](int32_t line, int32_t coordinate, size_t entry) {
      return alongPart->first + alongPart->second.at(coordinate) + acrossPart->first + acrossPart->second.at(line) +
             from[entry] - from[0];
    });
    if (!made)
      return std::nullopt;
    form.patches = *std::move(made);
  }
  form.from.constant = alongPart->first + acrossPart->first;
  (points.axis == Axis::Row ? form.from.col : form.from.row) = alongPart->second;
  (points.axis == Axis::Row ? form.from.row : form.from.col) = acrossPart->second;
  form.loops = *found;
  return form;
}

} // namespace wsc::spmd
