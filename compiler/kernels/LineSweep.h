// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Words along straight lines of links: segments are told apart by their lines, and each line is swept from end to end.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace wsc::kernels {

// Links of routers [begin, end) on a line carry `words` each.
struct LineSegment {
  int32_t line = 0, begin = 0, end = 0;
  int64_t words = 0;
  int32_t net = 0;
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

// Words along a line, swept from end to end.
class LineSweep {
public:
  // Calls visit(begin, end, words) for stretches of links that carry the same, ascending; not those that carry nothing.
  template <typename Visit> void over(std::span<const LineSegment> line, Visit visit) {
    int32_t first = line.front().begin, last = line.front().end;
    for (const LineSegment &segment : line) {
      first = std::min(first, segment.begin);
      last = std::max(last, segment.end);
    }
    // Few segments are sorted; of many, what changes is noted link by link.
    changes.clear();
    if (constexpr size_t kFewLinks = 8; size_t(last - first) <= kFewLinks * line.size()) {
      atLink.assign(size_t(last - first) + 1, 0);
      for (const LineSegment &segment : line)
        if (segment.begin < segment.end) {
          atLink[size_t(segment.begin - first)] += segment.words;
          atLink[size_t(segment.end - first)] -= segment.words;
        }
      for (size_t link = 0; link < atLink.size(); ++link)
        if (atLink[link] != 0)
          changes.push_back({first + int32_t(link), atLink[link]});
    } else {
      for (const LineSegment &segment : line)
        if (segment.begin < segment.end) {
          changes.push_back({segment.begin, segment.words});
          changes.push_back({segment.end, -segment.words});
        }
      std::sort(changes.begin(), changes.end());
    }
    int64_t words = 0;
    for (size_t c = 0; c + 1 < changes.size(); ++c)
      if ((words += changes[c].second) > 0 && changes[c].first < changes[c + 1].first)
        visit(changes[c].first, changes[c + 1].first, words);
  }

private:
  std::vector<std::pair<int32_t, int64_t>> changes;
  std::vector<int64_t> atLink;
};

} // namespace wsc::kernels
