// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A core has a product of entries if it has what it wants of every factor, so no product is formed here.
#include "compiler/spmd/moves/HeldEntries.h"

#include "compiler/spmd/moves/WantedLists.h"

#include <map>
#include <set>

namespace wsc::spmd {

namespace {

constexpr int64_t kMostNumbers = 1 << 18; // in the lists of one factor that are looked at

/// What a core wants of a factor: nothing but padding, what it holds, or something else, too.
enum class Part : uint8_t { Nothing, Has, Lacks };

/// Per place of the goal along the axis, on line `l`.
std::vector<Part> partsAlong(const Factors &factors, size_t f, Axis axis, int32_t l, const Rectangle &goal) {
  std::vector<Part> parts;
  std::vector<int32_t> holder(size_t(factors.factors[f].size), -1); // the last place that holds a number
  for (int32_t k = goal.first(axis); k < goal.first(axis) + goal.count(axis); ++k) {
    const auto [heldRow, heldCol] = placeOnLine(axis, k, factors.source().rectangle.first(other(axis)));
    for (const FactorEntry &entry : factors.held(f, heldRow, heldCol))
      if (entry.id >= 0)
        holder[size_t(entry.id)] = k;
    const auto [r, c] = placeOnLine(axis, k, l);
    Part part = Part::Nothing;
    for (const FactorEntry &entry : factors.wanted(f, r, c))
      if (entry.id >= 0 && part != Part::Lacks)
        part = holder[size_t(entry.id)] == k ? Part::Has : Part::Lacks;
    parts.push_back(part);
  }
  return parts;
}

/// Calls visit(row, col) for one core of the rectangle for each list there may be; stops where it returns false.
template <typename Visit> void forCores(const Rectangle &rectangle, bool byRow, bool byCol, Visit visit) {
  for (int32_t r = rectangle.row; r < rectangle.row + (byRow ? rectangle.rows : 1); ++r)
    for (int32_t c = rectangle.col; c < rectangle.col + (byCol ? rectangle.cols : 1); ++c)
      if (!visit(r, c))
        return;
}

} // namespace

bool isSpread(const Factors &factors, const std::vector<size_t> &along, Axis axis, const Rectangle &goal) {
  const Axis line = other(axis);
  const Rectangle &source = factors.source().rectangle;
  const int32_t begin = goal.first(axis), end = begin + goal.count(axis);
  if (begin < source.first(axis) || end > source.first(axis) + source.count(axis))
    return true;
  std::vector<std::map<std::vector<int64_t>, std::vector<Part>>> known(along.size()); // per factor, by key
  std::set<std::vector<const std::vector<Part> *>> seen;
  for (int32_t l = goal.first(line); l < goal.first(line) + goal.count(line); ++l) {
    std::vector<const std::vector<Part> *> parts;
    for (size_t i = 0; i < along.size(); ++i) {
      auto [found, added] = known[i].try_emplace(factors.wantedKey(along[i], axis, l));
      if (added)
        found->second = partsAlong(factors, along[i], axis, l, goal);
      parts.push_back(&found->second);
    }
    if (!seen.insert(parts).second)
      continue;
    for (size_t k = 0; k < size_t(end - begin); ++k) {
      bool lacks = false, wants = true;
      for (const std::vector<Part> *part : parts) {
        lacks |= (*part)[k] == Part::Lacks;
        wants &= (*part)[k] != Part::Nothing;
      }
      if (lacks && wants)
        return true;
    }
  }
  return false;
}

std::vector<size_t> usefulEntries(const Factors &factors, size_t factor, const Rectangle &goal) {
  const Factor &what = factors.factors[factor];
  std::vector<bool> isWanted(size_t(what.size), false);
  int64_t left = what.size, numbers = 0;
  forCores(goal, what.wantedByRow, what.wantedByCol, [&](int32_t r, int32_t c) {
    const FactorList list = factors.wanted(factor, r, c);
    for (const FactorEntry &entry : list)
      if (entry.id >= 0 && !isWanted[size_t(entry.id)]) {
        isWanted[size_t(entry.id)] = true;
        --left;
      }
    numbers += int64_t(list.size());
    return left > 0 && numbers < kMostNumbers;
  });
  if (numbers >= kMostNumbers) // not all are known
    isWanted.assign(isWanted.size(), true);
  std::vector<bool> isUseful;
  size_t useless = 0;
  int64_t visit = 0;
  std::vector<int64_t> seen(size_t(what.size), 0); // in which visit last
  const Rectangle &source = factors.source().rectangle;
  forCores(source, what.heldByRow, what.heldByCol, [&](int32_t r, int32_t c) {
    const FactorList list = factors.held(factor, r, c);
    if (visit++ == 0) {
      isUseful.assign(list.size(), false);
      useless = list.size();
    }
    for (size_t i = 0; i < list.size(); ++i) {
      const int64_t id = list[i].id;
      if (id < 0 || !isWanted[size_t(id)] || std::exchange(seen[size_t(id)], visit) == visit || isUseful[i])
        continue;
      isUseful[i] = true;
      --useless;
    }
    return useless > 0;
  });
  std::vector<size_t> entries;
  for (size_t i = 0; i < isUseful.size(); ++i)
    if (isUseful[i])
      entries.push_back(i);
  return entries;
}

} // namespace wsc::spmd
