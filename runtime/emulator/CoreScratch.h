// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the scratch of a core is in waves. At work it is in a slot of the worker, laid out like SRAM. While the core
// waits only the bytes that matter are kept, one behind the other, in a chunk of the arena of words:
//
//     slot   [acc      |........|x   |..........]        kept   [acc      |x   ]
//
// Which bytes move when is said by ScratchMoves.h. So there is as much memory as what waiting cores keep at a time. A
// core that is run by itself works in an area as large as its SRAM, which costs address space only until then.
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
  // Buffers are there from now on: in a slot, or in the core's own area.
  void point(std::byte *begin) const;
  // From its own area, where it is run by itself, to where it is kept at `pc`, or back.
  void pack(int32_t pc, WaveWorker &worker) const;
  void unpack(int32_t pc, WaveWorker &worker) const;
  // The core is in its own area from now on.
  void settle(WaveWorker &worker) const;

  // Room to keep what matters at `pc`. What it has had so far is given to the caller.
  WaveChunk *exchangeRoom(int32_t pc, WaveWorker &worker) const;

private:
  WaveState &state;
  const WaveRole &role;
  const int32_t core;
  const int64_t ordinal;
};

// Of cores of the role that go on at `pc`.
ScratchPath &pathOf(WaveWorker &worker, const WaveRole &role, int32_t pc);

} // namespace wsc::emulator
