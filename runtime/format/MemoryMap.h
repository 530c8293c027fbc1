// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The SRAM of a role's cores as a list of stretches: runtime reserve, stack, code and descriptors from address 0, then
// the buffers where the role puts them (windows of residents where they are in iteration 0), with the free stretches
// between. For reports; whether it all fits is the
// Verifier's judgement.
#pragma once

#include "runtime/format/Executable.h"

#include <cstdint>
#include <string>
#include <vector>

namespace wsc::format {

struct MemoryRegion {
  int64_t address = 0, bytes = 0;
  std::string name;    // "runtime", "stack", "code", the buffer's name, or "free"
  int32_t buffer = -1; // index into Role::buffers, -1 for the others
};

struct MemoryMap {
  std::vector<MemoryRegion> regions; // by address; buffers that overlap (an error elsewhere) are all listed
  int64_t codeBytes = 0;             // instructions and descriptors
  int64_t usedBytes = 0;             // sum of everything that is not free; what windows of residents share once
  int64_t freeBytes = 0;             // sramBytes - usedBytes, negative if it does not fit
};

// instructionBytes per instruction and descriptorBytes per memory operand.
int64_t codeBytes(const target::Target &target, const Role &role);
MemoryMap memoryMap(const target::Target &target, const Role &role);

} // namespace wsc::format
