// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts what a core holds by address and names the gaps.
#include "runtime/format/MemoryMap.h"

#include <algorithm>
#include <utility>

namespace wsc::format {

int64_t codeBytes(const target::Target &target, const Role &role) {
  int64_t bytes = 0;
  for (const Thread &thread : role.threads)
    for (const Instruction &instruction : thread) {
      bytes += target.instructionBytes;
      for (const Operand *operand : {&instruction.dst, &instruction.a, &instruction.b})
        if (operand->kind == OperandKind::Memory)
          bytes += target.descriptorBytes;
    }
  return bytes;
}

MemoryMap memoryMap(const target::Target &target, const Role &role) {
  MemoryMap map;
  map.codeBytes = codeBytes(target, role);
  std::vector<MemoryRegion> taken;
  int64_t address = 0;
  auto fixed = [&](const char *name, int64_t bytes) {
    if (bytes > 0)
      taken.push_back({address, bytes, name, -1});
    address += bytes;
  };
  fixed("runtime", target.runtimeReserveBytes);
  fixed("stack", target.stackBytes);
  fixed("code", map.codeBytes);
  for (size_t b = 0; b < role.buffers.size(); ++b)
    taken.push_back({role.buffers[b].address, role.buffers[b].bytes, role.buffers[b].name, int32_t(b)});
  std::sort(taken.begin(), taken.end(), [](const MemoryRegion &a, const MemoryRegion &b) {
    return std::pair(a.address, a.buffer) < std::pair(b.address, b.buffer);
  });
  int64_t end = 0;
  for (MemoryRegion &region : taken) {
    if (region.address > end)
      map.regions.push_back({end, region.address - end, "free", -1});
    const bool isWindow = region.buffer >= 0 && role.buffers[size_t(region.buffer)].kind == BufferKind::Resident;
    const int64_t begin = isWindow ? std::max(region.address, end) : region.address;
    map.usedBytes += std::max<int64_t>(0, region.address + region.bytes - begin);
    end = std::max(end, region.address + region.bytes);
    map.regions.push_back(std::move(region));
  }
  if (end < target.sramBytes)
    map.regions.push_back({end, target.sramBytes - end, "free", -1});
  map.freeBytes = target.sramBytes - map.usedBytes;
  return map;
}

} // namespace wsc::format
