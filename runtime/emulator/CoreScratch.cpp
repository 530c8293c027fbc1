// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/CoreScratch.h"

#include "runtime/emulator/WaveRecord.h"

#include <utility>

namespace wsc::emulator {

void CoreScratch::point(std::byte *begin) const {
  std::byte **buffers = state.buffers.data() + role.buffer + ordinal * int64_t(role.role->buffers.size());
  for (size_t b = 0; b < role.bufferOffset.size(); ++b)
    if (role.role->buffers[b].kind == format::BufferKind::Scratch)
      buffers[b] = begin + role.bufferOffset[b];
}

void CoreScratch::pack(int32_t pc, WaveWorker &worker) const {
  if (isKept())
    return;
  exchangeRoom(pc, worker);
  if (kept()) {
    const ScratchCopies &copies = pathOf(worker, role, pc).pack();
    if (worker.recorder)
      worker.recorder->addScratch(copies, whole(), kept());
    copyScratch(copies, whole(), kept());
  }
  state.isKept[size_t(core)] = true;
}

void CoreScratch::unpack(int32_t pc, WaveWorker &worker) const {
  if (!isKept())
    return;
  if (kept()) {
    const ScratchCopies &copies = pathOf(worker, role, pc).unpack();
    if (worker.recorder)
      worker.recorder->addScratch(copies, kept(), whole());
    copyScratch(copies, kept(), whole());
  }
  settle(worker);
}

void CoreScratch::settle(WaveWorker &worker) const {
  if (WaveChunk *chunk = std::exchange(state.kept[size_t(core)], nullptr))
    worker.release(chunk);
  state.isKept[size_t(core)] = false;
  point(whole());
}

WaveChunk *CoreScratch::exchangeRoom(int32_t pc, WaveWorker &worker) const {
  const int64_t bytes = packedBytes(role.kept.keptAt(pc));
  return std::exchange(state.kept[size_t(core)],
                       bytes == 0 ? nullptr : worker.chunks.take(state.arena, (bytes + 3) / 4));
}

ScratchPath &pathOf(WaveWorker &worker, const WaveRole &role, int32_t pc) {
  std::unique_ptr<ScratchPath> &path = worker.paths[{&role, pc}];
  if (!path)
    path = std::make_unique<ScratchPath>(role.kept, pc);
  return *path;
}

} // namespace wsc::emulator
