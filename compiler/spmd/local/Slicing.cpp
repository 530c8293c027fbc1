// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An order of the iterators and a number of them that are cut give one slicing: the outer ones into single points, the
// last one into as many points as fit. Cut evenly, its last slice is shorter and needs code of its own; cut by a
// divisor it is not, but there may be more slices. Both are candidates; LocalNest.cpp emits and compares them.
#include "compiler/spmd/local/Slicing.h"

#include <algorithm>

namespace wsc::spmd {

namespace {

using Order = std::vector<size_t>;

class Candidates {
public:
  Candidates(const std::vector<int64_t> &extents, const std::vector<Temporary> &temporaries, int64_t temporaryBytes)
      : extents(extents), temporaries(temporaries), temporaryBytes(temporaryBytes) {}

  std::vector<Slicing> found;

  bool fits(const std::vector<int64_t> &block) const {
    return std::all_of(temporaries.begin(), temporaries.end(), [&](const Temporary &temporary) {
      int64_t bytes = temporary.elementBytes;
      for (size_t k = 0; k < block.size(); ++k)
        bytes *= temporary.support >> k & 1 ? block[k] : 1;
      return bytes <= temporaryBytes;
    });
  }

  // All slicings that cut the first iterators of `order`, as few of them as memory allows or more.
  void addPrefixes(const Order &order) {
    std::vector<int64_t> block = extents;
    Slicing outer;
    for (size_t k : order) {
      block[k] = 1;
      if (fits(block))
        addCut(outer, k, block);
      outer.push_back({k, 1});
    }
  }

  // One iterator alone. Cutting a reduced one inside of another would mix up the order of the sums.
  void addSingles(size_t numIterators, size_t numParallel) {
    for (size_t k = 0; k < std::min(numIterators, numParallel + 1); ++k) {
      std::vector<int64_t> block = extents;
      block[k] = 1;
      if (fits(block))
        addCut({}, k, block);
    }
  }

private:
  const std::vector<int64_t> &extents;
  const std::vector<Temporary> &temporaries;
  int64_t temporaryBytes;

  // Of iterator k, as many points as fit beside the rest of `block`, where it has one that does.
  void addCut(const Slicing &outer, size_t k, std::vector<int64_t> block) {
    const int64_t extent = extents[k];
    int64_t most = 1;
    for (int64_t above = extent + 1; above - most > 1;) {
      block[k] = (most + above) / 2;
      (fits(block) ? most : above) = block[k];
    }
    const int64_t slices = (extent + most - 1) / most, even = (extent + slices - 1) / slices;
    int64_t divisor = most;
    while (extent % divisor != 0)
      --divisor;
    for (int64_t points : {even, divisor}) {
      Slicing slicing = outer;
      if (points < extent)
        slicing.push_back({k, points});
      if (std::find(found.begin(), found.end(), slicing) == found.end())
        found.push_back(std::move(slicing));
    }
  }
};

} // namespace

std::vector<Slicing> slicings(const std::vector<int64_t> &extents, size_t numParallel, size_t numIterators,
                              const std::vector<Temporary> &temporaries, int64_t temporaryBytes) {
  Candidates candidates(extents, temporaries, temporaryBytes);
  if (candidates.fits(extents))
    candidates.found.push_back({});
  Order parallel, reduced;
  for (size_t k = 0; k < numIterators; ++k)
    (k < numParallel ? parallel : reduced).push_back(k);
  Order shortestFirst = parallel;
  std::stable_sort(shortestFirst.begin(), shortestFirst.end(),
                   [&](size_t x, size_t y) { return extents[x] < extents[y]; });
  candidates.addSingles(numIterators, numParallel);
  for (const Order &others : {parallel, shortestFirst}) {
    Order outside = reduced, inside = others;
    outside.insert(outside.end(), others.begin(), others.end());
    inside.insert(inside.end(), reduced.begin(), reduced.end());
    candidates.addPrefixes(outside);
    candidates.addPrefixes(inside);
  }
  return candidates.found;
}

} // namespace wsc::spmd
