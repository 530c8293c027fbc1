// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// When words are sent or taken: a curve of linear pieces, with the arithmetic of parts of trains.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace wsc::emulator::timing {

// Words [begin, end) evenly from the slot of the first in cycle `first` to that of the last in cycle `last`. `pause`:
// in a sink's curve, cycles the sink needs between the word before and the first.
struct Piece {
  int64_t begin, end, first, last, pause = 0;
  int64_t own = 0; // of a sink's curve, cycles that it needs for all of them if nothing holds it up

  int64_t after(int64_t words) const { // cycles that so many words take
    return end - begin > 1 ? words * (last - first) / (end - begin - 1) : 0;
  }
  int64_t ownAfter(int64_t words) const { return words * own / (end - begin); }
  // The word's cycle; a word alone is there at the last, if it has first and last.
  int64_t done(int64_t word) const { return last - after(end - 1 - word); }
  int64_t start(int64_t word) const { return first + after(word - begin); }
};
using Curve = std::vector<Piece>;

// The piece that holds `word`; `hint` stays near, as words are asked for in order.
inline uint32_t findPiece(const Curve &curve, int64_t word, uint32_t hint) {
  uint32_t i = std::min<uint32_t>(hint, uint32_t(curve.size()) - 1);
  while (i > 0 && curve[i].begin > word)
    --i;
  while (i + 1 < curve.size() && curve[i].end <= word)
    ++i;
  return i;
}

// a·b/c rounded down; a, b, c ≥ 0, any product.
inline int64_t mulDiv(int64_t a, int64_t b, int64_t c) {
  if (b == c)
    return a;
  if (uint64_t(a) < (1u << 31) && uint64_t(b) < (1u << 31))
    return a * b / c;
  return int64_t(__int128(a) * b / c);
}
inline int64_t mulDivUp(int64_t a, int64_t b, int64_t c) {
  if (b == c)
    return a;
  if (uint64_t(a) < (1u << 31) && uint64_t(b) < (1u << 31))
    return (a * b + c - 1) / c;
  return int64_t((__int128(a) * b + c - 1) / c);
}

} // namespace wsc::emulator::timing
