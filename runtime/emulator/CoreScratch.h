// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the scratch of a core is in waves. At work it is in a slot of the worker, laid out like SRAM. While the core
// waits only the bytes that matter are kept (LiveScratch.h), one behind the other, in a chunk of the arena of words:
//
//     slot   [acc      |........|x   |..........]        kept   [acc      |x   ]
//
// So there is as much memory as what waiting cores keep at a time, and what one core has given back is in the caches
// when the next one takes it. A core that is run by itself works in an area as large as its SRAM, which costs address
// space only until then.
//
// Chunks are free when the wave is over (groups of a wave have nothing to do with each other), those of a single thread
// at once.
#pragma once

#include "runtime/emulator/WaveState.h"

namespace wsc::emulator {

class CoreScratch {
public:
  CoreScratch(WaveState &state, const WaveRole &role, int32_t core)
      : state(state), role(role), core(core), ordinal(core - role.core) {}

  bool isKept() const { return state.isKept[size_t(core)]; }
  // Null: it keeps nothing.
  std::byte *kept() const {
    WaveChunk *const chunk = state.kept[size_t(core)];
    return chunk ? chunk->data() : nullptr;
  }
  std::byte *whole() const { return state.scratch.get() + role.scratch + ordinal * role.scratchBytes; }

  // What matters at operation `pc`: into a slot, which buffers are in from then on; from there to the room that was
  // made for it; or to the core's own area, which buffers are in from then on.
  void enter(int32_t pc, std::byte *slot) const;
  void keep(int32_t pc, const std::byte *slot) const;
  void settle(int32_t pc, const std::byte *slot) const;
  // To the core's own area from where it is kept, if it is.
  void unpack(int32_t pc, WaveWorker &worker) const;

  // Room to keep what matters at `pc`, and back.
  void makeRoom(int32_t pc, WaveWorker &worker) const;
  void giveRoom(WaveWorker &worker) const;

private:
  void point(std::byte *begin) const;

  WaveState &state;
  const WaveRole &role;
  const int32_t core;
  const int64_t ordinal;
};

// Copies ranges between two areas that hold them in place, or `packed` one behind the other.
inline void copyRanges(const std::vector<ScratchRange> &ranges, const std::byte *from, bool fromPacked, std::byte *to,
                       bool toPacked) {
  int64_t at = 0;
  for (const ScratchRange &range : ranges) {
    std::memcpy(to + (toPacked ? at : range.begin), from + (fromPacked ? at : range.begin), size_t(range.bytes));
    at += range.bytes;
  }
}

// The ranges that matter at operation `pc` of the role's thread.
inline const std::vector<ScratchRange> &rangesAt(const WaveRole &role, int32_t pc) {
  static const std::vector<ScratchRange> kNone;
  return size_t(pc) < role.live.size() ? role.live[size_t(pc)] : kNone;
}

} // namespace wsc::emulator
