// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Words that come to all cores of a line, of which each core reads a few. The cores take all of them into scratch, as
// the program says; but a run that is written down (WaveRecord.h) needs to bring only what is read there:
//
//     move x ← queue      254 words from the others of the line
//     move b ← x[8·c …]   8 of them, others in each column
//
// Which bytes a core reads is known from its place: operands begin at affine functions of it.
//
// Where many cores get the same words they need not be brought at all, if whoever reads them can do so where they are:
// they stay there until the run is over (WaveFusion.h, WaveRecorder::letStay).
#pragma once

#include "runtime/emulator/LiveScratch.h"

#include <optional>
#include <utility>
#include <vector>

namespace wsc::emulator {

// A stretch of scratch to which operation `copy` copies words. What is there before any of operations `first` to `last`
// is read up to `last` only, and of that the parts alone.
struct NarrowScratch {
  size_t copy = 0, first = 0, last = 0;
  ScratchRange range;
  bool mayStay = false; // whoever reads it can read the words where they are
  // What an operation reads on a core: `bytes` bytes from begin + base's value on.
  struct Part {
    int64_t begin = 0, bytes = 0;
    const format::Affine *base = nullptr;
  };
  std::vector<Part> parts;

  // Of the bytes [begin, end) of scratch, whole words from `begin` on, those between the first and the last that the
  // core reads; end ≤ begin: none.
  std::pair<int64_t, int64_t> readOf(int64_t begin, int64_t end, const format::LatticeIndex &index) const;
};

// Those of a thread of which each core reads less than half, or which may stay, in ascending order of `copy`. `live`,
// `touched`: of its operations (LiveScratch.h). `mayStay`: numbers of copies of the second sort, in ascending order.
std::vector<NarrowScratch> findNarrowReads(const RoleProgram &program, std::span<const DecodedOp> thread,
                                           std::span<const int64_t> offsets,
                                           std::span<const std::vector<ScratchRange>> live,
                                           std::span<const std::vector<ScratchRange>> touched,
                                           std::span<const size_t> mayStay);

// What a gather of known numbers chooses from, on all cores, if none goes beyond an end of its buffer, where another
// one counts: bytes behind the operand's base. `trips`: of the loops around it.
std::optional<OperandHull> hullChosen(const DecodedOp &op, std::span<const int64_t> trips, const format::Role &role);

} // namespace wsc::emulator
