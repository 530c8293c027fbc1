// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instruction set of a core: opcodes, element types and what each opcode reads and writes.
//
// An instruction is limited to its own core: SRAM, queues and descriptors of at most four dimensions. It walks an
// iteration space of up to four extents in row-major order; each operand is an address plus one stride per dimension,
// or a queue, FIFO or immediate. Elements are processed strictly in that order, so every opcode has one defined result.
#pragma once

#include <cstdint>
#include <string_view>

namespace wsc::format {

// Element types of operands. Elements narrower than a 32-bit word are packed when they travel on the fabric.
enum class ElementType : uint8_t { F32, F16, BF16, I32, I64, U8, I8, Bool, F64, I16, U16, U32, U64 };
constexpr int kNumElementTypes = static_cast<int>(ElementType::U64) + 1;

int64_t elementBytes(ElementType type);
std::string_view elementTypeName(ElementType type);

// dst, a, b are the operands; all extents are common to them.
enum class Opcode : uint8_t {
  // Movement.
  Move, // dst = a                       (memory, FIFO, queue, immediate in any combination; dst may be Null: discard)
  Convert, // dst = (type) a                (a has element type `sourceType`)
  // Elementwise on two sources.
  Add,
  Sub,
  Mul,
  Div,
  Min,
  Max,
  Pow,
  Mod,
  // Elementwise on one source.
  Neg,
  Abs,
  Exp,
  Log,
  Sqrt,
  Rsqrt,
  Reciprocal,
  Tanh,
  Erf,
  Sigmoid,
  Floor,
  Ceil,
  Round,
  Sign,
  Sin,
  Cos,
  Not,
  // Multiply-add with a single rounding: dst = dst + a*b. dst must be injective over the iteration space.
  Fma,
  // Reductions: dst = dst op a, in iteration order. dst may have zero strides.
  ReduceAdd,
  ReduceMul,
  ReduceMin,
  ReduceMax,
  // Comparison (result 1 or 0 of the operand type) and selection (dst = b ? a : dst).
  CompareEq,
  CompareLt,
  CompareLe,
  Select,
  // Logic and shifts on integers.
  And,
  Or,
  Xor,
  ShiftLeft,
  ShiftRight,
  // Indexed access in own SRAM: Gather dst[i] = a[b[i]]; Scatter dst[b[i]] = a[i]; b holds I32 element numbers. The
  // indexed
  // operand's innermost stride is the distance between consecutive numbers; indices are clamped to its buffer.
  Gather,
  Scatter,
  // Control: Loop … EndLoop with a static trip count (extent[0]); SendControl sends one control word on an output
  // queue.
  Loop,
  EndLoop,
  SendControl,
};
constexpr int kNumOpcodes = static_cast<int>(Opcode::SendControl) + 1;
static_assert(kNumOpcodes <= 64, "the instruction set stays within 64 opcodes (I1)");

// Facts about one opcode. `sources` counts the source operands (a, then b); `readsDst` is true when the old
// value of dst takes part.
struct OpcodeInfo {
  Opcode opcode;
  std::string_view name;
  int sources;
  bool readsDst;
  bool floatOnly;
  std::string_view summary;
};
const OpcodeInfo &opcodeInfo(Opcode opcode);
// Whether the sources may be of type `source` and the result of another type `result` (Instruction::mixed): Add, Sub,
// Mul, Fma and ReduceAdd of f16 or bf16 sources give f32, of i8, u8, i16 or u16 ones i32, of f32 ones f64; comparisons
// of any type give bool. Sources are converted, which is exact, and the operation is one of `result`; comparisons are
// ones of `source`.
bool mayMix(Opcode opcode, ElementType source, ElementType result);

// Returns null when no opcode has this name.
const OpcodeInfo *findOpcode(std::string_view name);

} // namespace wsc::format
