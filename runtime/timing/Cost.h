// What one instruction and one route cost in cycles on a target: the rules every predictor and engine shares.
//
// Issue: a core issues in order, one vector instruction at a time per thread, threads share the issue slots. A vector instruction takes
//   vectorSetupCycles + elements / rate
// slots, rate being the target's for its opcode class and element type; words of a queue move at most one per cycle.
// Route: a word needs rampLatency to enter the fabric, hopLatency per router-to-router hop, rampLatency to arrive.
#pragma once

#include "runtime/format/Isa.h"
#include "runtime/target/Target.h"

#include <cstdint>

namespace wsc::timing {

// Elements per cycle once an instruction streams.
double elementsPerCycle(const target::Target &target, format::Opcode opcode, format::ElementType type);

// Issue slots (cycles) of one vector instruction over `elements` elements; `queueWords` is the largest number of words any one of
// its queue operands moves (0 if none).
int64_t instructionCycles(const target::Target &target, format::Opcode opcode, format::ElementType type, int64_t elements,
                          int64_t queueWords);

// Fabric words that carry `elements` elements of a type in one instruction.
int64_t fabricWords(format::ElementType type, int64_t elements);

// Cycles from the issue of a word to its arrival over `hops` router-to-router hops.
int64_t routeLatencyCycles(const target::Target &target, int64_t hops);

} // namespace wsc::timing
