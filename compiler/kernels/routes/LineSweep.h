// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Words along straight lines of links: segments are told apart by their lines, and each line is swept from end to end.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

namespace wsc::kernels {

// Links of routers [begin, end) on a line carry words: the first `words`, each next one `step` more.
struct LineSegment {
  int32_t line = 0, begin = 0, end = 0, net = 0;
  int64_t words = 0, step = 0;
};

// The segments of all lines of one direction.
using LineSegments = std::vector<LineSegment>;

// Calls visit(segments of a line) for each line, ascending; within a line they stay in order. Sorts `lines`.
template <typename Visit> void forEachLine(LineSegments &lines, Visit visit) {
  if (lines.empty())
    return;
  const auto [least, most] = std::minmax_element(
      lines.begin(), lines.end(), [](const LineSegment &a, const LineSegment &b) { return a.line < b.line; });
  const int32_t first = least->line;
  std::vector<size_t> end(size_t(most->line - first) + 2, 0); // of each line's segments; first, where the next one goes
  for (const LineSegment &segment : lines)
    ++end[size_t(segment.line - first) + 1];
  for (size_t line = 1; line < end.size(); ++line)
    end[line] += end[line - 1];
  LineSegments sorted(lines.size());
  for (const LineSegment &segment : lines)
    sorted[end[size_t(segment.line - first)]++] = segment;
  lines = std::move(sorted);
  for (size_t line = 0, begin = 0; line + 1 < end.size(); begin = end[line++])
    if (begin < end[line])
      visit(std::span(lines).subspan(begin, end[line] - begin));
}

// Words along a line, swept from end to end. What changes from a link to the next is noted in a flat array, with a bit
// for each link where something may.
class LineSweep {
public:
  // Calls visit(begin, end, words, step) for stretches of links, ascending: the first carries `words`, each next one
  // `step` more. Not for those where no segment is.
  template <typename Visit> void over(std::span<const LineSegment> line, Visit visit) {
    int32_t first = line.front().begin, last = line.front().end;
    for (const LineSegment &segment : line) {
      first = std::min(first, segment.begin);
      last = std::max(last, segment.end);
    }
    if (changes.size() <= size_t(last - first)) {
      changes.resize(size_t(last - first) + 1);
      isChanged.resize(changes.size() / 64 + 1, 0);
    }
    for (const LineSegment &segment : line)
      if (segment.begin < segment.end) {
        const int64_t beyond = segment.words + (segment.end - segment.begin) * segment.step;
        change(size_t(segment.begin - first), segment.words, segment.step, 1);
        change(size_t(segment.end - first), -beyond, -segment.step, -1);
      }
    int64_t words = 0, step = 0, segments = 0;
    size_t begin = 0;
    for (size_t part = 0; part <= size_t(last - first) / 64; ++part)
      for (; isChanged[part] != 0; isChanged[part] &= isChanged[part] - 1) {
        const size_t link = 64 * part + size_t(std::countr_zero(isChanged[part]));
        if (segments > 0)
          visit(first + int32_t(begin), first + int32_t(link), words, step);
        words += int64_t(link - begin) * step + changes[link].words;
        step += changes[link].step;
        segments += changes[link].segments;
        changes[link] = {};
        begin = link;
      }
  }

private:
  struct Change {
    int64_t words = 0, step = 0, segments = 0;
  };
  void change(size_t link, int64_t words, int64_t step, int64_t segments) {
    changes[link].words += words;
    changes[link].step += step;
    changes[link].segments += segments;
    isChanged[link / 64] |= uint64_t(1) << link % 64;
  }

  std::vector<Change> changes; // all 0 between calls
  std::vector<uint64_t> isChanged;
};

} // namespace wsc::kernels
