// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/CoreScratch.h"

#include <utility>

namespace wsc::emulator {

void CoreScratch::point(std::byte *begin) const {
  std::byte **buffers = state.buffers.data() + role.buffer + ordinal * int64_t(role.role->buffers.size());
  for (size_t b = 0; b < role.bufferOffset.size(); ++b)
    if (role.role->buffers[b].kind == format::BufferKind::Scratch)
      buffers[b] = begin + role.bufferOffset[b];
}

void CoreScratch::enter(int32_t pc, std::byte *slot) const {
  if (const std::byte *from = isKept() ? kept() : whole())
    copyRanges(rangesAt(role, pc), from, isKept(), slot, false);
  point(slot);
}

void CoreScratch::keep(int32_t pc, const std::byte *slot) const {
  if (std::byte *to = kept())
    copyRanges(rangesAt(role, pc), slot, false, to, true);
  state.isKept[size_t(core)] = true;
}

void CoreScratch::settle(int32_t pc, const std::byte *slot) const {
  copyRanges(rangesAt(role, pc), slot, false, whole(), false);
  state.isKept[size_t(core)] = false;
  point(whole());
}

void CoreScratch::unpack(int32_t pc, WaveWorker &worker) const {
  if (!isKept())
    return;
  if (const std::byte *from = kept())
    copyRanges(rangesAt(role, pc), from, true, whole(), false);
  giveRoom(worker);
  state.isKept[size_t(core)] = false;
  point(whole());
}

void CoreScratch::makeRoom(int32_t pc, WaveWorker &worker) const {
  const int64_t bytes = packedBytes(rangesAt(role, pc));
  if (bytes == 0)
    return;
  state.kept[size_t(core)] = worker.chunks.take(state.arena, (bytes + 3) / 4);
}

void CoreScratch::giveRoom(WaveWorker &worker) const {
  if (WaveChunk *chunk = std::exchange(state.kept[size_t(core)], nullptr))
    worker.release(chunk);
}

} // namespace wsc::emulator
