// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program of a configuration under construction, one for all cores of its rectangle alike (SPMD): buffers and the
// instructions of the main thread. What differs from core to core is affine in the core's place: in every
// format::Affine, perDim[2] is the step per row and perDim[3] the step per column of the rectangle. Roles come later
// (Roles.h).
//
// Scratch buffers are virtual: each may be asked for freely, lives from the first instruction that names it to the
// last, and gets its bytes in packScratch, which lets buffers with disjoint lives share SRAM.
#pragma once

#include "runtime/format/Executable.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace wsc::spmd {

constexpr int kRowDim = 2, kColDim = 3; // of format::Affine::perDim and Lattice::dims

/// The cores that execute an instruction: rows and columns of the rectangle in [begin, end), and of one parity only.
struct Guard {
  int32_t rowBegin = 0, rowEnd = INT32_MAX, rowParity = -1; // parity: 0, 1, or -1 for both
  int32_t colBegin = 0, colEnd = INT32_MAX, colParity = -1;
  bool operator==(const Guard &) const = default;
};

struct Code {
  std::vector<format::Buffer> buffers;
  std::vector<format::Instruction> main;
  std::vector<Guard> guards; // of main's first instructions; those beyond run on all cores

  std::set<int16_t> bounded; // buffers read by index where no number is beyond their end: they may share SRAM,
  std::set<int16_t> clamped; // unless another reader relies on the end of the buffer

  void append(format::Instruction instruction, const Guard &guard);

  /// Index of a scratch buffer of `elements` elements of `type`; elements past its first write are undefined.
  int16_t scratch(std::string name, format::ElementType type, int64_t elements);
};

/// Memory operand: byte base + Σ i_d·strides[d] of `buffer`; missing outer strides are 0 (strides are of the innermost
/// dimensions).
format::Operand memory(int16_t buffer, int64_t baseBytes, const std::vector<int64_t> &strideBytes = {});
format::Operand immediate(double value);

/// Instruction over extents (innermost last, at most four; missing outer ones are 1).
format::Instruction instruction(format::Opcode opcode, format::ElementType type, const std::vector<int64_t> &extents,
                                format::Operand dst, format::Operand a, format::Operand b = {});

} // namespace wsc::spmd
