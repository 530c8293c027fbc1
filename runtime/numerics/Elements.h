// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements as raw 64-bit payloads (the element's bits, zero-extended) and the one function that says what each opcode
// does to one element. The scalar interpreter is built on it; the engines' fast paths are tested against it.
#pragma once

#include "runtime/format/Isa.h"
#include "runtime/numerics/Bits.h"

#include <cstddef>
#include <cstdint>

namespace wsc::numerics {

bool isFloat(format::ElementType type);
// Whether it is one of u8, u16, u32, u64 and bool.
bool isUnsigned(format::ElementType type);
// The value of an integer or bool payload, sign- or zero-extended; u64 modulo 2^64.
int64_t integerValue(uint64_t payload, format::ElementType type);

// Little-endian, unaligned. A bool is 1 for any non-zero byte.
uint64_t loadElement(const std::byte *address, format::ElementType type);
void storeElement(std::byte *address, format::ElementType type, uint64_t payload);

// An immediate operand as an element: converted like an F64 element (ElementTraits.h), so integers beyond 2^53 are
// those that a double holds.
uint64_t encodeImmediate(double value, format::ElementType type);

uint64_t convertElement(uint64_t payload, format::ElementType from, format::ElementType to);

// Whether `opcode` has a meaning on elements of `type`: false for control opcodes, for float routines on integers and
// bool and for shifts of floats.
bool isDefined(format::Opcode opcode, format::ElementType type);

// The new dst of one element. `dst` is its old value and matters only where opcodeInfo(opcode).readsDst. Gather and
// Scatter move `a`. `sourceType`, the type of `a`, and of `b` unless it is an index, differs from `type` for Convert
// and where mayMix(…). 0 where isDefined is false.
uint64_t applyScalar(format::Opcode opcode, format::ElementType type, uint64_t dst, uint64_t a, uint64_t b,
                     format::ElementType sourceType);
inline uint64_t applyScalar(format::Opcode opcode, format::ElementType type, uint64_t dst, uint64_t a, uint64_t b) {
  return applyScalar(opcode, type, dst, a, b, type);
}

} // namespace wsc::numerics
