// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Walks the windows of a filter and the segments side by side; neighbouring pieces of one source are joined.
#include "runtime/emulator/FilterSegments.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::emulator {

using namespace format;

absl::StatusOr<std::vector<Segment>> filterSegments(const std::vector<Segment> &segments, const Filter &filter,
                                                    const LatticeIndex &index) {
  constexpr int64_t kMostPieces = 1 << 20;
  const int64_t begin = filter.begin.at(index), words = filter.words.at(index);
  int64_t total = 0;
  for (const Segment &segment : segments)
    total += segment.count;
  if (begin < 0 || words < 0 || begin + words > filter.period)
    return absl::InvalidArgumentError(
        absl::StrCat("passes words ", begin, " to ", begin + words, " of ", filter.period));
  if (total % filter.period != 0)
    return absl::InvalidArgumentError(
        absl::StrCat("is met by ", total, " words per sample, no multiple of its period of ", filter.period));
  if (total / filter.period > kMostPieces)
    return absl::InvalidArgumentError(absl::StrCat("cuts a sample into more than ", kMostPieces, " pieces"));
  std::vector<Segment> passed;
  size_t at = 0;     // segment that holds word `first`
  int64_t first = 0; // its first word's number
  for (int64_t window = begin; window < total; window += filter.period)
    for (int64_t word = window, end = window + words; word < end;) {
      while (first + segments[at].count <= word)
        first += segments[at++].count;
      const Segment &segment = segments[at];
      const auto count = int32_t(std::min(end, first + segment.count) - word),
                 from = int32_t(segment.begin + word - first);
      if (!passed.empty() && passed.back().source == segment.source &&
          passed.back().begin + passed.back().count == from)
        passed.back().count += count;
      else
        passed.push_back({segment.source, from, count});
      word += count;
    }
  return passed;
}

} // namespace wsc::emulator
