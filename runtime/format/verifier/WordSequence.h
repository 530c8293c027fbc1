// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What passes a queue in one sample, as counts: runs of whole words, blocks of narrow elements whose last word is
// padded, control words.
#pragma once

#include "runtime/format/verifier/Forms.h"

#include <vector>

namespace wsc::format::verifier {

// unit 0: `count` whole words. unit > 0, not a multiple of 4: `count` blocks of `unit` bytes, each padded to whole
// words. unit < 0: `count` control words with count -unit.
struct Segment {
  int64_t count = 0;
  int64_t unit = 0;
  int64_t words() const { return unit >= 0 ? multiply(count, unit == 0 ? 1 : (unit + 3) / 4) : 0; }
};
using Segments = std::vector<Segment>;

// Appends, joining with the last segment where both are of one kind.
void append(Segments &segments, Segment segment);
int64_t totalWords(const Segments &segments);

// The words of `elements` elements moved by one instruction.
Segment segmentOf(int64_t elements, int64_t bytesPerElement);

// Most segments a sequence may have: beyond, the executable is refused rather than judged for minutes.
constexpr size_t kMostSegments = size_t(1) << 16;

// The sequence of one queue of a role as a function of the lattice point.
class WordSequence {
public:
  WordSequence(const Role &role, int queue);
  // Dimensions of the lattice on which the sequence depends.
  unsigned dependsOn() const { return mask; }
  int64_t length() const { return int64_t(items.size()); }
  // False: more than kMostSegments segments, or kMost words.
  bool at(const LatticeIndex &index, Segments &segments) const;

private:
  struct Item {
    const Instruction *instruction;
    int64_t bytesPerElement = 0; // 0: a loop's begin or end, or a control word
  };
  bool evaluate(size_t &item, const LatticeIndex &index, Segments &segments) const;

  std::vector<Item> items;
  unsigned mask = 0;
};

// True when both sequences are the same words with padding at the same places.
bool sameWords(const Segments &a, const Segments &b);

} // namespace wsc::format::verifier
