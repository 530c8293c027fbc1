// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A list of positions is strided if it is a sum of up to four digits: found on one core by peeling off runs from the
// inside, then held against all others, whose bases must be affine in (row, column). Otherwise each core gets a table;
// where all tables repeat with one stride, only the inner part is kept.
#include "compiler/spmd/moves/Select.h"

#include <algorithm>
#include <span>

namespace wsc::spmd {

namespace {

constexpr size_t kMostDigits = 4;
constexpr size_t kSampleCores = 61; // a prime: samples do not fall in step with rows and columns

using Positions = std::vector<int64_t>;

/// The digits of a complete list, relative to its first position.
std::optional<std::vector<Selection::Digit>> digitsOf(const Positions &list) {
  std::vector<Selection::Digit> digits; // innermost first
  int64_t done = 1;
  const int64_t width = int64_t(list.size());
  while (done < width) {
    const int64_t stride = list[size_t(done)] - list[0];
    int64_t count = 2;
    while (count * done < width && list[size_t(count * done)] - list[0] == stride * count)
      ++count;
    while (count > 1 && width % (count * done) != 0)
      --count;
    if (count == 1 || digits.size() == kMostDigits)
      return std::nullopt;
    digits.push_back({count, stride});
    done *= count;
  }
  std::reverse(digits.begin(), digits.end());
  return digits;
}

int64_t offsetOf(const std::vector<Selection::Digit> &digits, int64_t number) {
  int64_t offset = 0;
  for (size_t d = digits.size(); d-- > 0;) {
    offset += number % digits[d].count * digits[d].stride;
    number /= digits[d].count;
  }
  return offset;
}

class Finder {
public:
  Finder(const Rectangle &rectangle, int64_t width, int64_t count, const std::vector<Positions> &positions)
      : rectangle(rectangle), width(width), count(count), positions(positions) {}

  std::optional<Selection> strided() const {
    const Positions *whole = nullptr;
    for (const Positions &list : positions)
      if (!list.empty()) {
        if (std::find(list.begin(), list.end(), -1) != list.end())
          return std::nullopt; // padding must be filled
        if (!whole && std::find(list.begin(), list.end(), kAnything) == list.end())
          whole = &list;
      }
    Selection selection;
    selection.width = width;
    if (!whole)
      return std::nullopt;
    auto digits = digitsOf(*whole);
    if (!digits)
      return std::nullopt;
    selection.digits = *digits;
    std::vector<int64_t> offsets(static_cast<size_t>(width));
    for (int64_t i = 0; i < width; ++i)
      offsets[size_t(i)] = offsetOf(selection.digits, i);
    // The base of every core that wants something, or nothing.
    std::vector<std::optional<int64_t>> bases(positions.size());
    for (size_t core = 0; core < positions.size(); ++core)
      for (size_t i = 0; i < positions[core].size(); ++i) {
        if (positions[core][i] == kAnything)
          continue;
        const int64_t base = positions[core][i] - offsets[i];
        if (bases[core] && *bases[core] != base)
          return std::nullopt;
        bases[core] = base;
      }
    if (!fit(bases, selection))
      return std::nullopt;
    int64_t low = 0, high = 0;
    for (const Selection::Digit &digit : selection.digits)
      (digit.stride < 0 ? low : high) += digit.stride * (digit.count - 1);
    for (int32_t r : {0, rectangle.rows - 1})
      for (int32_t c : {0, rectangle.cols - 1}) {
        const int64_t base = selection.base + selection.baseRow * r + selection.baseCol * c;
        if (base + low < 0 || base + high >= count)
          return std::nullopt;
      }
    return selection;
  }

  Selection indexed() const {
    Selection selection;
    selection.width = width;
    selection.strided = false;
    bool fills = false;
    for (const Positions &list : positions)
      fills |= std::find(list.begin(), list.end(), -1) != list.end();
    selection.inner = width;
    // A sample rules out most sizes.
    std::vector<Positions> sample;
    for (size_t core = 0; core < positions.size(); core += std::max<size_t>(1, positions.size() / kSampleCores))
      if (!positions[core].empty())
        sample.push_back(positions[core]);
    for (int64_t inner = 1; inner < width; ++inner) {
      if (width % inner != 0 || !repeats(sample, inner))
        continue;
      if (auto stride = repeats(positions, inner)) {
        selection.inner = inner;
        selection.outer = width / inner;
        selection.outerStride = *stride;
        break;
      }
    }
    const bool masks = fills && selection.outer > 1;
    selection.fillElement = fills && !masks;
    selection.indices.assign(size_t(selection.inner) * positions.size(), 0);
    if (masks)
      selection.masks.assign(selection.indices.size(), 1);
    for (size_t core = 0; core < positions.size(); ++core)
      for (int64_t i = 0; i < selection.inner && !positions[core].empty(); ++i) {
        const size_t at = core * size_t(selection.inner) + size_t(i);
        const int64_t position = representative(positions[core], i, selection);
        if (position >= 0)
          selection.indices[at] = int32_t(position);
        else if (position == -1 && masks)
          selection.masks[at] = 0;
        else if (position == -1)
          selection.indices[at] = int32_t(count);
      }
    return selection;
  }

private:
  /// Of the repeated list: some entries may not matter in one repetition and do in another.
  int64_t representative(const Positions &list, int64_t i, const Selection &selection) const {
    for (int64_t o = 0; o < selection.outer; ++o)
      if (int64_t position = list[size_t(o * selection.inner + i)]; position != kAnything)
        return position < 0 ? position : position - o * selection.outerStride;
    return kAnything;
  }

  /// Bases as base + baseRow·row + baseCol·col.
  bool fit(const std::vector<std::optional<int64_t>> &bases, Selection &selection) const {
    auto at = [&](int32_t r, int32_t c) { return bases[size_t(r) * size_t(rectangle.cols) + size_t(c)]; };
    std::optional<int64_t> rowStep, colStep;
    for (int32_t r = 0; r < rectangle.rows && !colStep; ++r)
      for (int32_t c = 0; c + 1 < rectangle.cols && !colStep; ++c)
        if (at(r, c) && at(r, c + 1))
          colStep = *at(r, c + 1) - *at(r, c);
    for (int32_t c = 0; c < rectangle.cols && !rowStep; ++c)
      for (int32_t r = 0; r + 1 < rectangle.rows && !rowStep; ++r)
        if (at(r, c) && at(r + 1, c))
          rowStep = *at(r + 1, c) - *at(r, c);
    selection.baseRow = rowStep.value_or(0);
    selection.baseCol = colStep.value_or(0);
    std::optional<int64_t> base;
    for (int32_t r = 0; r < rectangle.rows; ++r)
      for (int32_t c = 0; c < rectangle.cols; ++c)
        if (at(r, c)) {
          const int64_t here = *at(r, c) - selection.baseRow * r - selection.baseCol * c;
          if (base && *base != here)
            return false;
          base = here;
        }
    selection.base = base.value_or(0);
    return true;
  }

  /// The stride with which every list repeats its first `inner` entries.
  std::optional<int64_t> repeats(std::span<const Positions> lists, int64_t inner) const {
    std::optional<int64_t> stride;
    for (const Positions &list : lists)
      for (int64_t i = 0; i < inner && !list.empty(); ++i) {
        int64_t known = kAnything, knownOuter = 0;
        for (int64_t o = 0; o * inner < width; ++o) {
          const int64_t position = list[size_t(o * inner + i)];
          if (position == kAnything)
            continue;
          if (known == kAnything) {
            known = position;
            knownOuter = o;
            continue;
          }
          if ((position < 0) != (known < 0))
            return std::nullopt;
          if (position < 0)
            continue;
          const int64_t steps = o - knownOuter, distance = position - known;
          if (distance % steps != 0 || (stride && *stride != distance / steps) || distance < 0)
            return std::nullopt;
          stride = distance / steps;
        }
      }
    // Places must exist in all repetitions for entries that only matter in one.
    const int64_t step = stride.value_or(0), outer = width / inner;
    for (const Positions &list : lists)
      for (size_t i = 0; i < list.size(); ++i) {
        const int64_t repetition = int64_t(i) / inner;
        if (list[i] >= 0 && (list[i] < step * repetition || list[i] + step * (outer - 1 - repetition) >= count))
          return std::nullopt;
      }
    return stride.value_or(0);
  }

  const Rectangle &rectangle;
  const int64_t width, count;
  const std::vector<Positions> &positions;
};

} // namespace

Selection findSelection(const Rectangle &rectangle, int64_t width, int64_t count,
                        const std::vector<Positions> &positions) {
  const Finder finder(rectangle, width, count, positions);
  if (auto selection = finder.strided())
    return *std::move(selection);
  return finder.indexed();
}

} // namespace wsc::spmd
