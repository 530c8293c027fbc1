// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a core puts on and takes from its queues in one sample: data word counts and control words, in order, from its
// program alone.
#pragma once

#include "runtime/format/Executable.h"

#include "absl/status/statusor.h"

#include <vector>

namespace wsc::emulator {

// controlCount = 0: `words` data words; else one control word with that count.
struct TrafficItem {
  int64_t words = 0;
  int32_t controlCount = 0;
};

// Per queue of the role: its items in one sample, neighbouring data items merged.
using CoreTraffic = std::vector<std::vector<TrafficItem>>;

// True when all cores of the role have the same traffic.
bool trafficIsUniform(const format::Role &role);

// Traffic of core `index`. Errors: more than 2^20 items on a queue, unbalanced loops.
absl::StatusOr<CoreTraffic> coreTraffic(const format::Role &role, const format::LatticeIndex &index);

// Element type of an operand of an instruction.
enum class OperandSlot : uint8_t { Dst, A, B };
format::ElementType operandType(const format::Instruction &instruction, OperandSlot slot);

// Elements an instruction processes on a core; 0 when any extent is 0 or negative.
int64_t instructionElements(const format::Instruction &instruction, const format::LatticeIndex &index);

} // namespace wsc::emulator
