// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which bytes of a role's scratch buffers matter at each operation of its thread: those that it or a later one may read
// before they are surely written. A core that waits there needs no others kept.
#pragma once

#include "runtime/emulator/RoleProgram.h"

#include <span>
#include <vector>

namespace wsc::emulator {

struct ScratchRange {
  int32_t begin = 0, bytes = 0;
  bool operator==(const ScratchRange &) const = default;
};

inline int64_t packedBytes(std::span<const ScratchRange> ranges) {
  int64_t bytes = 0;
  for (const ScratchRange &range : ranges)
    bytes += range.bytes;
  return bytes;
}

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
