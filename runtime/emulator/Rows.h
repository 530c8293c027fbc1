// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One instruction as array operations: which kernels it takes, and how it runs over its rows.
#pragma once

#include "runtime/emulator/Kernels.h"
#include "runtime/emulator/RowShape.h"

#include <optional>

namespace wsc::emulator {

// The kernels of an instruction. Operands in the order dst, a, b.
struct RowOp {
  enum class Kind : uint8_t { Compute, Copy, Gather, Scatter };
  Kind kind = Kind::Compute;
  bool readsDst = false, usesB = false;
  bool toBool = false;        // indexed copies: any byte but 0 becomes 1
  bool chainIsStored = false; // `chain` works on stored elements, not on widened ones
  bool mayAlias[3] = {};      // whether a source may lie in dst's memory
  int64_t bytes[3] = {};      // of a stored element
  ArrayOp widen[3] = {};      // from stored to widened elements; null where they are the same
  ArrayOp narrow = nullptr;   // back to dst's; null where the result is stored as computed
  ArrayOp compute = nullptr, computeScalarB = nullptr, chain = nullptr;

  bool operator==(const RowOp &) const = default;
};

// Whether memory operands in two buffers of the role may meet: one buffer, or windows of one resident.
bool mayShareMemory(const format::Role &role, int buffer, int other);

// Nothing for what runs element by element: control, and two sources that take turns at one queue or FIFO.
std::optional<RowOp> rowOp(const format::Role &role, const format::Instruction &instruction, const Kernels &kernels);

// The one kernel that does all of it where every operand is packed, or b (of a copy: a) a single element, and nothing
// is to be widened: called on all elements at once, as long as sources are dst itself or apart from it. Null elsewhere.
ArrayOp singleKernel(const RowOp &op, const RowShape &shape);

// The element numbered 0 of an indexed operand lies `origin` bytes into its buffer of `bytes` bytes and is stepped by
// `step` bytes.
struct IndexedPlace {
  int64_t origin = 0, bytes = 0, step = 0;
};

// Runs it. Pointers are those of each operand's first element; dst is null when results are discarded. Gives the bits
// of applyScalar over the elements in program order, also where operands overlap.
void runRows(const RowOp &op, const RowShape &shape, std::byte *dst, const std::byte *a, const std::byte *b,
             const IndexedPlace &indexed);

} // namespace wsc::emulator
