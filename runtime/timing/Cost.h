// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one instruction and one route cost in cycles on a target: the rules every predictor and engine shares.
// docs/Timing.md has the whole model.
//
// A vector instruction takes issue slots of its core:
//   vectorSetupCycles, then batches of `elements` elements every `slots` slots, then taskStartCycles if an operand is a
//   queue.
// A batch is what the target's rate for opcode and type, the accesses to SRAM (sramReadsPerCycle, sramWritesPerCycle of
// sramAccessBytes each) and one word per queue and slot allow; operands that begin in the same bank double its slots.
// Route: a word needs rampLatency to enter the fabric, hopLatency per router-to-router hop, rampLatency to arrive.
#pragma once

#include "runtime/format/Executable.h"
#include "runtime/target/Target.h"

#include <cstdint>

namespace wsc::timing {

// Whether an element takes a routine of several instructions: divisions, roots, exponentials and the like.
bool isRoutine(format::Opcode opcode);

// Elements per cycle once an instruction streams, before accesses to SRAM and queues are looked at. Types without a
// rate of their own in the target have one derived from others (runtime/target/README.md).
double elementsPerCycle(const target::Target &target, format::Opcode opcode, format::ElementType type);
// The same for an instruction, whose sources may be of another type.
double elementsPerCycle(const target::Target &target, const format::Instruction &instruction);

// Up to `elements` elements every `slots` issue slots.
struct InstructionRate {
  int32_t elements = 1, slots = 1;
  bool bankConflict = false; // slots are doubled
};

// The rate of a vector instruction (not Loop, EndLoop, SendControl) on core `index` of `role`.
//  - Reads: a, b, and dst where the opcode reads it; writes: dst. A unit-stride memory operand or a FIFO moves its
//  element's bytes, a strided one a whole access per
//    element; a stride of 0 and immediates stay in a register. slots ≥ read bytes / (reads · access) and ≥ written
//    bytes / (writes · access).
//  - Two streaming memory operands at different addresses whose first elements lie in the same bank conflict. Banks are
//  judged at the first element and iteration: operands
//    of one instruction advance together.
//  - With a queue operand a batch holds at most one word of it.
InstructionRate instructionRate(const target::Target &target, const format::Role &role,
                                const format::Instruction &instruction, const format::LatticeIndex &index);

// Issue slots of one execution of an instruction in its three phases.
struct InstructionSlots {
  int64_t setup = 0, stream = 0, finish = 0;
  int64_t total() const { return setup + stream + finish; }
};
// `elements`: the product of its extents; none costs nothing.
InstructionSlots instructionSlots(const target::Target &target, const format::Role &role,
                                  const format::Instruction &instruction, const format::LatticeIndex &index,
                                  int64_t elements);

// Fabric words that carry `elements` elements of a type in one instruction.
int64_t fabricWords(format::ElementType type, int64_t elements);

// Cycles that a word needs from core to core over `hops` router-to-router hops: 2 · rampLatency + hops · hopLatency.
int64_t routeLatencyCycles(const target::Target &target, int64_t hops);

} // namespace wsc::timing
