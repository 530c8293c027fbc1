// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which bytes of a role's scratch buffers matter at each operation of its thread: those that one before may have
// written and that it or a later one may read before they are surely written. A core that waits there needs no others
// kept.
#pragma once

#include "runtime/emulator/RoleProgram.h"

#include <span>
#include <vector>

namespace wsc::emulator {

struct ScratchRange {
  int32_t begin = 0, bytes = 0;
  bool operator==(const ScratchRange &) const = default;
};

inline bool meet(const ScratchRange &x, const ScratchRange &y) {
  return x.begin < y.begin + y.bytes && y.begin < x.begin + x.bytes;
}
inline bool meetAny(std::span<const ScratchRange> ranges, const ScratchRange &range) {
  for (const ScratchRange &other : ranges)
    if (meet(other, range))
      return true;
  return false;
}
inline int64_t packedBytes(std::span<const ScratchRange> ranges) {
  int64_t bytes = 0;
  for (const ScratchRange &range : ranges)
    bytes += range.bytes;
  return bytes;
}

// Bytes that an operand touches, from the place where it begins on.
struct OperandHull {
  int64_t low = 0, high = 0;
};
// From the first to the last byte along the first `dims` dimensions, in loops of so many trips (outermost first), of
// elements of `width` bytes, with the largest extents on any core of the role.
OperandHull hullOf(const format::Operand &operand, int64_t width, const format::Instruction &instruction,
                   std::span<const int64_t> trips, int dims, const format::Role &role);
// The most trips of a loop on any core.
int64_t mostTrips(const format::Instruction &loop, const format::Role &role);

// Per operation of the thread, bytes that it may read or write on some core; those that it may write.
std::vector<std::vector<ScratchRange>> touchedScratch(const RoleProgram &program, std::span<const DecodedOp> thread,
                                                      std::span<const int64_t> offsets, int64_t areaBytes);
std::vector<std::vector<ScratchRange>> changedScratch(const RoleProgram &program, std::span<const DecodedOp> thread,
                                                      std::span<const int64_t> offsets, int64_t areaBytes);

// Per operation of the thread, in ascending order; ranges that lie close together become one. `offsets`: where each
// buffer lies in the area of all scratch buffers, -1 for those of other kinds; `areaBytes`: of the area.
std::vector<std::vector<ScratchRange>> liveScratch(const RoleProgram &program, std::span<const DecodedOp> thread,
                                                   std::span<const int64_t> offsets, int64_t areaBytes);

} // namespace wsc::emulator
