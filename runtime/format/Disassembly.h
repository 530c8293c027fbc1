// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Core programs and routes as text for people. One instruction is one line:
//
//   loop l0 < 3
//     fma.f16 acc[16 + 4*i0 + 32*l0], weights[2 + 2*i1], in2(colour 3) for i0 < 4, i1 < 8
//   end_loop
//
// i0… are the instruction's own indices, l0… those of the loops around it, c0… the core's indices in its role's lattice
// (resolved to numbers when a core is given). Bytes that are not printable are shown as '?', so that a file cannot
// drive the terminal.
#pragma once

#include "runtime/format/Executable.h"

#include <string>
#include <string_view>

namespace wsc::format {

// `index`: the core for which affine values are resolved; null prints them as expressions.
std::string disassemble(const Role &role, const Instruction &instruction, const LatticeIndex *index = nullptr);

// All instructions of a thread, one per line, loops indented by two; each line begins with `indent` spaces and its
// number.
std::string disassemble(const Role &role, const Thread &thread, const LatticeIndex *index = nullptr, int indent = 0);

std::string printAffine(const Affine &affine, const LatticeIndex *index = nullptr);

// "rows 2..6 step 2, cols 1..4" where the lattice is a grid along the axes, else its dimensions; "core (3, 4)" for one
// point.
std::string printLattice(const Lattice &lattice);

std::string_view portName(Port port);                            // N, S, E, W, RAMP
std::string printSwitchPosition(const SwitchPosition &position); // "W -> E RAMP"
std::string_view bufferKindName(BufferKind kind);
std::string printTensorType(const TensorType &type); // "x: f32[2,4,10]"

// "f32, 64 bytes at 8192, rows 0..1, cols 0..3, constant from section w at 0 + 256*c1"; affine values are resolved for
// the core at `index` of its lattice if one is given, which then is not printed.
std::string printResident(const Executable &executable, const Resident &resident, const LatticeIndex *index = nullptr);
// "run layer x 12 after 0 2"
std::string printStep(const Executable &executable, const Step &step);

// `text` with every byte that is not printable ASCII or part of well-formed UTF-8 replaced by '?'.
std::string printable(std::string_view text);

// The lattice index of (row, col), if the lattice holds that point.
bool findInLattice(const Lattice &lattice, int32_t row, int32_t col, LatticeIndex &index);

} // namespace wsc::format
