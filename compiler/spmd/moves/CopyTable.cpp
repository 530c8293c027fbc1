// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/moves/CopyTable.h"

#include "compiler/spmd/moves/Factors.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace wsc::spmd {

CopyTable::CopyTable(std::vector<Factor> parts, const Rectangle &mesh, const Rectangle &takers, int64_t ownPosition)
    : factors(std::move(parts)), mesh(mesh), takers(takers), ownPosition(ownPosition) {
  for (const Factor &factor : factors) {
    byRow |= factor.dependsOn(Axis::Row);
    byCol |= factor.dependsOn(Axis::Col);
    perCore *= factor.lists.empty() ? 0 : int64_t(factor.lists.front().size());
  }
  findChoices();
  bool any = false;
  for (const std::vector<int32_t> &choice : choices) {
    int64_t most = 0;
    bool isAllPadding = false;
    for (size_t f = 0; f < factors.size(); ++f) {
      const std::vector<int64_t> &list = factors[f].lists[size_t(choice[f])];
      const auto [least, greatest] = std::minmax_element(list.begin(), list.end());
      padded |= *least < 0;
      isAllPadding |= *greatest < 0;
      most += *greatest;
    }
    if (isAllPadding)
      continue;
    largest = any ? std::max(largest, most) : most;
    any = true;
  }
  if (!any || readsOwn || padded)
    largest = any ? std::max(largest, ownPosition) : ownPosition;
}

template <typename Fn> void CopyTable::forEachCore(Fn fn) const {
  std::vector<int32_t> lists(factors.size()), before;
  for (int32_t r = 0; r < rows(); ++r)
    for (int32_t c = 0; c < cols(); ++c) {
      // An axis that nothing depends on is represented by the takers' first line.
      const int32_t row = byRow ? r : takers.row, col = byCol ? c : takers.col;
      bool wants = true;
      for (size_t f = 0; f < factors.size() && wants; ++f) {
        lists[f] = factors[f].at(row, col);
        wants = lists[f] >= 0;
      }
      if (!wants)
        continue;
      const bool isOther = lists != before;
      fn(size_t(r) * size_t(cols()) + size_t(c), lists, isOther);
      if (isOther)
        before = lists;
    }
}

void CopyTable::findChoices() {
  // Numbers for the choices of the first factors, by (that of the factors before, list).
  std::vector<std::map<std::pair<int32_t, int32_t>, int32_t>> known(factors.size());
  std::vector<std::vector<std::pair<int32_t, int32_t>>> byNumber(factors.size());
  int64_t wanting = 0;
  forEachCore([&](size_t, const std::vector<int32_t> &lists, bool isOther) {
    ++wanting;
    int32_t number = 0;
    for (size_t f = 0; f < factors.size() && isOther; ++f) {
      const auto [found, added] = known[f].try_emplace(std::pair(number, lists[f]), int32_t(byNumber[f].size()));
      if (added)
        byNumber[f].emplace_back(number, lists[f]);
      number = found->second;
    }
  });
  readsOwn = wanting < int64_t(rows()) * cols();
  for (size_t last = 0; last < byNumber.back().size(); ++last) {
    std::vector<int32_t> choice(factors.size());
    auto number = int32_t(last);
    for (size_t f = factors.size(); f-- > 0;)
      std::tie(number, choice[f]) = byNumber[f][size_t(number)];
    choices.push_back(std::move(choice));
  }
}

void CopyTable::positionsOf(const std::vector<int32_t> &lists, std::vector<int64_t> &positions) const {
  positions.assign(1, 0);
  std::vector<int64_t> next;
  for (size_t f = 0; f < factors.size(); ++f) {
    const std::vector<int64_t> &list = factors[f].lists[size_t(lists[f])];
    next.clear();
    next.reserve(positions.size() * list.size());
    for (int64_t outer : positions)
      for (int64_t inner : list)
        next.push_back(joined(outer, inner, outer + inner));
    positions.swap(next);
  }
}

std::vector<int64_t> CopyTable::places() const {
  std::vector<uint8_t> isThere(size_t(largest) + 1, 0);
  if (readsOwn || padded)
    isThere[size_t(ownPosition)] = 1;
  std::vector<int64_t> positions;
  for (const std::vector<int32_t> &choice : choices) {
    positionsOf(choice, positions);
    for (int64_t position : positions)
      if (position >= 0)
        isThere[size_t(position)] = 1;
  }
  std::vector<int64_t> places;
  for (size_t i = 0; i < isThere.size(); ++i)
    if (isThere[i])
      places.push_back(int64_t(i));
  return places;
}

std::vector<int32_t> CopyTable::numbers() const {
  std::vector<int32_t> numbers(static_cast<size_t>(size()), int32_t(ownPosition));
  std::vector<int64_t> positions;
  forEachCore([&](size_t core, const std::vector<int32_t> &lists, bool isOther) {
    if (isOther)
      positionsOf(lists, positions);
    for (size_t i = 0; i < positions.size(); ++i)
      if (positions[i] >= 0)
        numbers[core * size_t(perCore) + i] = int32_t(positions[i]);
  });
  return numbers;
}

std::vector<uint8_t> CopyTable::inside() const {
  std::vector<uint8_t> inside(static_cast<size_t>(size()), 1);
  std::vector<int64_t> positions;
  forEachCore([&](size_t core, const std::vector<int32_t> &lists, bool isOther) {
    if (isOther)
      positionsOf(lists, positions);
    for (size_t i = 0; i < positions.size(); ++i)
      inside[core * size_t(perCore) + i] = positions[i] >= 0;
  });
  return inside;
}

} // namespace wsc::spmd
