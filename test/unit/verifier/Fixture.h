// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small executables written by hand for the tests of the verifier, and short names for their parts.
#pragma once

#include "runtime/format/Verifier.h"

#include <memory>
#include <string>
#include <vector>

namespace wsc::format::fixture {

// Operands over `stride` bytes along the innermost dimension.
Operand memory(int buffer, int stride = 4, Affine base = 0);
Operand fifo(int buffer);
Operand queue(int index);
Operand immediate(double value);
Operand discard();

// `count` elements along the innermost dimension.
Instruction instruction(Opcode opcode, Affine count, Operand dst, Operand a = {}, Operand b = {});
Instruction loop(Affine trips);
Instruction endLoop();
Instruction control(int queue, int count);

Lattice cores(int row, int col, int rows = 1, int cols = 1);
Buffer scratch(std::string name, int64_t address, int64_t bytes);
constexpr PortMask mask(Port port) { return PortMask(1u << unsigned(port)); }
RouterRole router(Lattice where, int colour, int net, std::vector<SwitchPosition> positions);

target::Target meshTarget(const std::string &name);

// A section whose bytes live in the executable's storage.
void addSection(Executable &executable, const std::string &name, size_t bytes);

// The good executable of the specification, on a mesh of 8 x 8 cores; 16 words of f32 travel so:
//
//   x → (0,0) (0,1) (0,2) (0,3)      colour 0: multicast along the row, a FIFO between the two threads of each core
//         └──────┴──────┴──────┴→ (0,4)      colour 1: gather of 4, 3, 5 and 4 words along the row
//                                 (1,4)      colours 2 and 3: chain down the column, one addition per core
//                                 (2,4) → (2,5) (2,6) (2,7) → y     colour 4
//
// Roles: 0 first, 1 middle (two cores), 2 last, 3 collect, 4 chain, 5 finish (with a state variable).
// Router roles: 0-1 multicast, 2-4 gather, 5-6 and 7-8 chain, 9-10 exit.
Executable goodExecutable();
enum RoleIndex { kFirst, kMiddle, kLast, kCollect, kChain, kFinish };
// Buffers of the roles first, middle and last; queues of all.
enum WorkerBuffer { kWeights, kInput, kSum, kFifoBuffer };
enum WorkerQueue { kTake, kSend };

// Two neighbours: (0,0) sends what `send` gives on colour 0, (0,1) takes what `take` gives. In both, queue 0 and buffer
// 0 (scratch, 512 bytes, written).
Executable pairExecutable(std::vector<Instruction> send, std::vector<Instruction> take);

// "rule: message" of all violations, one per line.
std::string list(const std::vector<Violation> &violations);

} // namespace wsc::format::fixture
