// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/CoreScratch.h"

namespace wsc::emulator {

void CoreScratch::point(std::byte *begin) const {
  std::byte **buffers = state.buffers.data() + role.buffer + ordinal * int64_t(role.role->buffers.size());
  for (size_t b = 0; b < role.bufferOffset.size(); ++b)
    if (role.role->buffers[b].kind == format::BufferKind::Scratch)
      buffers[b] = begin + role.bufferOffset[b];
}

void CoreScratch::enter(int32_t pc, std::byte *slot) const {
  copyRanges(rangesAt(role, pc), isKept() ? kept() : whole(), isKept(), slot, false);
  point(slot);
}

void CoreScratch::keep(int32_t pc, const std::byte *slot) const {
  copyRanges(rangesAt(role, pc), slot, false, kept(), true);
  state.isKept[size_t(core)] = true;
}

void CoreScratch::settle(int32_t pc, const std::byte *slot) const {
  copyRanges(rangesAt(role, pc), slot, false, whole(), false);
  state.isKept[size_t(core)] = false;
  point(whole());
}

void CoreScratch::unpack(int32_t pc) const {
  if (!isKept())
    return;
  copyRanges(rangesAt(role, pc), kept(), true, whole(), false);
  state.isKept[size_t(core)] = false;
  point(whole());
}

} // namespace wsc::emulator
