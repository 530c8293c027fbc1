// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/plan/Candidates.h"

#include "compiler/spmd/plan/Neutral.h"
#include "compiler/spmd/sharding/Divide.h"

#include <algorithm>
#include <set>

namespace wsc::spmd {

namespace {

constexpr int kMostHalvings[] = {5, 7}; // usual, of all: of a parallel iterator's blocks, to make room for a reduction
constexpr size_t kMostReductions = 2;   // the longest ones
constexpr size_t kMostParallel = 5;     // likewise

class CandidateMaker {
public:
  CandidateMaker(const Network &network, Views &views, const Nest &nest, const Rectangle &rectangle, bool withoutTaps,
                 CandidateRange range)
      : network(network), nest(nest), rectangle(rectangle), withoutTaps(withoutTaps),
        isWide(range == CandidateRange::All), grains(nest.extents.size()) {
    for (int32_t d = 0; d < nest.numParallel; ++d)
      grains[size_t(d)] = views.grainsOf(nest.result)[size_t(d)];
    for (const Access &access : nest.operands)
      for (size_t d = 0; d < access.map.size(); ++d)
        for (size_t k = 0; k < nest.extents.size(); ++k)
          if (access.map[d].perIterator[k] == 1)
            grains[k].merge(std::set<int64_t>(views.grainsOf(access.tensor)[d]));
    parallel = longest(0, nest.numParallel, kMostParallel);
    reductions = longest(nest.numParallel, int32_t(nest.extents.size()), kMostReductions);
  }

  std::vector<Distribution> make(const std::vector<AxisUse> &moreRows, const std::vector<AxisUse> &moreCols) const {
    std::vector<Distribution> candidates;
    std::vector<AxisUse> rowUses = usesOf(rectangle.rows), colUses = usesOf(rectangle.cols);
    for (const auto &[uses, more] : {std::pair(&rowUses, &moreRows), std::pair(&colUses, &moreCols)})
      for (const AxisUse &use : *more)
        if (std::find(uses->begin(), uses->end(), use) == uses->end())
          uses->push_back(use);
    for (const AxisUse &rows : rowUses)
      for (const AxisUse &cols : colUses)
        if (isWide ? mayMeet(rows, cols) : !share(rows, cols)) {
          Distribution made{rectangle, rows, cols};
          if (rows.cores() > 0)
            made.rectangle.rows = int32_t(rows.cores());
          if (cols.cores() > 0)
            made.rectangle.cols = int32_t(cols.cores());
          candidates.push_back(made);
        }
    return candidates;
  }

private:
  /// Whether the iterator walks a window: spread over cores its blocks would overlap everywhere.
  bool isTap(int32_t iterator) const {
    for (const Access &access : nest.operands)
      for (const Index &index : access.map)
        if (index.perIterator[size_t(iterator)] != 0 &&
            std::count_if(index.perIterator.begin(), index.perIterator.end(), [](int64_t step) { return step != 0; }) >
                1)
          return true;
    return false;
  }

  std::vector<int32_t> longest(int32_t begin, int32_t end, size_t most) const {
    std::vector<int32_t> iterators;
    for (int32_t k = begin; k < end; ++k)
      if (nest.extents[size_t(k)] > 1 && (!withoutTaps || k < nest.numParallel || !isTap(k)))
        iterators.push_back(k);
    std::stable_sort(iterators.begin(), iterators.end(),
                     [&](int32_t a, int32_t b) { return nest.extents[size_t(a)] > nest.extents[size_t(b)]; });
    if (iterators.size() > most)
      iterators.resize(most);
    return iterators;
  }

  /// The least block of at least `least` iterations that divides the extent and the grains, or is a multiple of those
  /// that it does not divide; up to twice `least` where there are grains. 0: none.
  int64_t evenBlock(int32_t k, int64_t least) const {
    const int64_t extent = nest.extents[size_t(k)];
    const std::set<int64_t> &cuts = grains[size_t(k)];
    for (int64_t block = least; 2 * block <= (cuts.empty() ? 3 : 4) * least; ++block)
      if (extent % block == 0 &&
          std::all_of(cuts.begin(), cuts.end(), [&](int64_t cut) { return cut % block == 0 || block % cut == 0; }))
        return block;
    return 0;
  }

  /// Blocks of equal length (the last one may be shorter), about as many as there may be.
  int64_t partsFor(int32_t k, int64_t most) const {
    const int64_t extent = nest.extents[size_t(k)], least = ceilDiv(extent, std::min(most, extent));
    const int64_t even = evenBlock(k, least);
    return ceilDiv(extent, even > 0 ? even : least);
  }
  /// The same of a reduction: where it may not run beyond its end, blocks must divide it.
  int64_t reducedParts(int32_t k, int64_t most) const {
    if (mayOverrun(network, nest, k))
      return partsFor(k, most);
    const int64_t extent = nest.extents[size_t(k)];
    int64_t parts = std::min(most, extent);
    if (const int64_t even = evenBlock(k, ceilDiv(extent, parts)); even > 0)
      return extent / even;
    while (extent % parts != 0)
      --parts;
    return parts;
  }

  std::vector<AxisUse> usesOf(int32_t length) const {
    std::vector<AxisUse> uses{{}};
    if (length <= 1)
      return uses;
    auto add = [&](AxisUse use) {
      if (std::find(uses.begin(), uses.end(), use) == uses.end())
        uses.push_back(use);
    };
    for (int32_t k : reductions) {
      const int64_t parts = reducedParts(k, length);
      if (parts > 1)
        add({-1, 1, k, parts});
      for (int32_t outer : reductions)
        if (outer != k && parts > 1 && parts * 2 <= length)
          if (const int64_t outerParts = reducedParts(outer, length / parts); outerParts > 1)
            add({outer, outerParts, k, parts});
    }
    for (int32_t k : parallel) {
      const int64_t all = partsFor(k, length);
      add({k, all, -1, 1});
      for (int32_t inner : parallel)
        if (inner != k && all * 2 <= length)
          if (const int64_t innerParts = partsFor(inner, length / all); innerParts > 1)
            add({k, all, inner, innerParts});
      int64_t parts = all;
      for (int halved = 0; halved < kMostHalvings[isWide] && parts > 1;
           ++halved, parts = partsFor(k, ceilDiv(parts, 2))) {
        if (parts * 2 > length)
          continue;
        for (int32_t inner : reductions)
          if (const int64_t innerParts = reducedParts(inner, length / parts); innerParts > 1)
            add({k, parts, inner, innerParts});
        if (!isWide)
          continue;
        add({k, parts, -1, length / parts});
        for (int32_t inner : parallel)
          if (const int64_t innerParts = inner == k ? 1 : partsFor(inner, length / parts); innerParts > 1)
            add({k, parts, inner, innerParts});
      }
    }
    return uses;
  }

  /// A parallel iterator may be on both axes where all its parts hold something.
  bool mayMeet(const AxisUse &rows, const AxisUse &cols) const {
    for (const auto &[k, parts] : {std::pair(rows.iterator, rows.parts), std::pair(rows.inner, rows.innerParts)})
      for (const auto &[l, more] : {std::pair(cols.iterator, cols.parts), std::pair(cols.inner, cols.innerParts)})
        if (k >= 0 && k == l && (k >= nest.numParallel || parts * more > nest.extents[size_t(k)]))
          return false;
    return true;
  }

  static bool share(const AxisUse &a, const AxisUse &b) {
    for (int32_t k : {a.iterator, a.inner})
      if (k >= 0 && (k == b.iterator || k == b.inner))
        return true;
    return false;
  }

  const Network &network;
  const Nest &nest;
  const Rectangle rectangle;
  const bool withoutTaps, isWide;
  std::vector<std::set<int64_t>> grains; // per iterator
  std::vector<int32_t> parallel, reductions;
};

} // namespace

std::vector<Distribution> candidatesOf(const Network &network, Views &views, const Nest &nest,
                                       const Rectangle &rectangle, bool withoutTaps,
                                       const std::vector<AxisUse> &moreRows, const std::vector<AxisUse> &moreCols,
                                       CandidateRange range) {
  return CandidateMaker(network, views, nest, rectangle, withoutTaps, range).make(moreRows, moreCols);
}

} // namespace wsc::spmd
