// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Facts about element types and opcodes: one table in the order of the enums, looked up by index or by name.
#include "runtime/format/Isa.h"

#include <array>

namespace wsc::format {

namespace {

struct TypeInfo {
  ElementType type;
  std::string_view name;
  int64_t bytes;
};

constexpr std::array<TypeInfo, kNumElementTypes> kTypes{{
    {ElementType::F32, "f32", 4},
    {ElementType::F16, "f16", 2},
    {ElementType::BF16, "bf16", 2},
    {ElementType::I32, "i32", 4},
    {ElementType::I64, "i64", 8},
    {ElementType::U8, "u8", 1},
    {ElementType::I8, "i8", 1},
    {ElementType::Bool, "bool", 1},
    {ElementType::F64, "f64", 8},
    {ElementType::I16, "i16", 2},
    {ElementType::U16, "u16", 2},
    {ElementType::U32, "u32", 4},
    {ElementType::U64, "u64", 8},
}};

// Columns: opcode, name, sources, readsDst, floatOnly, summary.
constexpr std::array<OpcodeInfo, kNumOpcodes> kOpcodes{{
    {Opcode::Move, "move", 1, false, false, "dst = a, bit for bit"},
    {Opcode::Convert, "convert", 1, false, false, "dst = a converted from the source type"},
    {Opcode::Add, "add", 2, false, false, "dst = a + b"},
    {Opcode::Sub, "sub", 2, false, false, "dst = a - b"},
    {Opcode::Mul, "mul", 2, false, false, "dst = a * b"},
    {Opcode::Div, "div", 2, false, false, "dst = a / b; integers truncate, x / 0 is 0"},
    {Opcode::Min, "min", 2, false, false, "dst = the smaller of a and b; NaN propagates, -0 < +0"},
    {Opcode::Max, "max", 2, false, false, "dst = the larger of a and b; NaN propagates, -0 < +0"},
    {Opcode::Pow, "pow", 2, false, false, "dst = a to the power b"},
    {Opcode::Mod, "mod", 2, false, false, "dst = remainder of a / b with the sign of a"},
    {Opcode::Neg, "neg", 1, false, false, "dst = -a"},
    {Opcode::Abs, "abs", 1, false, false, "dst = |a|"},
    {Opcode::Exp, "exp", 1, false, true, "dst = e^a"},
    {Opcode::Log, "log", 1, false, true, "dst = natural logarithm of a"},
    {Opcode::Sqrt, "sqrt", 1, false, true, "dst = square root of a"},
    {Opcode::Rsqrt, "rsqrt", 1, false, true, "dst = 1 / square root of a"},
    {Opcode::Reciprocal, "reciprocal", 1, false, true, "dst = 1 / a"},
    {Opcode::Tanh, "tanh", 1, false, true, "dst = hyperbolic tangent of a"},
    {Opcode::Erf, "erf", 1, false, true, "dst = error function of a"},
    {Opcode::Sigmoid, "sigmoid", 1, false, true, "dst = 1 / (1 + e^-a)"},
    {Opcode::Floor, "floor", 1, false, true, "dst = largest integer not above a"},
    {Opcode::Ceil, "ceil", 1, false, true, "dst = smallest integer not below a"},
    {Opcode::Round, "round", 1, false, true, "dst = nearest integer to a, halves to even"},
    {Opcode::Sign, "sign", 1, false, false, "dst = -1, 0 or 1 by the sign of a"},
    {Opcode::Sin, "sin", 1, false, true, "dst = sine of a radians"},
    {Opcode::Cos, "cos", 1, false, true, "dst = cosine of a radians"},
    {Opcode::Not, "not", 1, false, false, "dst = 1 if a is zero, else 0"},
    {Opcode::Fma, "fma", 2, true, false, "dst = dst + a * b, rounded once"},
    {Opcode::ReduceAdd, "reduce_add", 1, true, false, "dst = dst + a in iteration order"},
    {Opcode::ReduceMul, "reduce_mul", 1, true, false, "dst = dst * a in iteration order"},
    {Opcode::ReduceMin, "reduce_min", 1, true, false, "dst = min(dst, a) in iteration order"},
    {Opcode::ReduceMax, "reduce_max", 1, true, false, "dst = max(dst, a) in iteration order"},
    {Opcode::CompareEq, "compare_eq", 2, false, false, "dst = 1 if a == b, else 0"},
    {Opcode::CompareLt, "compare_lt", 2, false, false, "dst = 1 if a < b, else 0"},
    {Opcode::CompareLe, "compare_le", 2, false, false, "dst = 1 if a <= b, else 0"},
    {Opcode::Select, "select", 2, true, false, "dst = a where b is not zero, else unchanged"},
    {Opcode::And, "and", 2, false, false, "dst = bitwise a and b"},
    {Opcode::Or, "or", 2, false, false, "dst = bitwise a or b"},
    {Opcode::Xor, "xor", 2, false, false, "dst = bitwise a exclusive-or b"},
    {Opcode::ShiftLeft, "shift_left", 2, false, false, "dst = a shifted left by b bits (integers)"},
    {Opcode::ShiftRight, "shift_right", 2, false, false, "dst = a shifted right by b bits (integers)"},
    {Opcode::Gather, "gather", 2, false, false, "dst[i] = a[b[i]] in own SRAM, numbers clamped"},
    {Opcode::Scatter, "scatter", 2, false, false, "dst[b[i]] = a[i] in own SRAM, numbers clamped"},
    {Opcode::Loop, "loop", 0, false, false, "repeats up to the matching end_loop, a static number of times"},
    {Opcode::EndLoop, "end_loop", 0, false, false, "closes the innermost loop"},
    {Opcode::SendControl, "send_control", 0, false, false, "sends one control word on an output queue"},
}};

constexpr bool tablesFollowEnums() {
  for (size_t i = 0; i < kOpcodes.size(); ++i)
    if (kOpcodes[i].opcode != Opcode(i) || kOpcodes[i].name.empty())
      return false;
  for (size_t i = 0; i < kTypes.size(); ++i)
    if (kTypes[i].type != ElementType(i) || kTypes[i].name.empty())
      return false;
  return true;
}
static_assert(tablesFollowEnums(), "rows of the tables are in the order of the enums");

} // namespace

// A value outside the enum (a damaged file) has no bytes and no name; callers check before they divide by it.
int64_t elementBytes(ElementType type) { return size_t(type) < kTypes.size() ? kTypes[size_t(type)].bytes : 0; }

std::string_view elementTypeName(ElementType type) {
  return size_t(type) < kTypes.size() ? kTypes[size_t(type)].name : std::string_view("invalid");
}

const OpcodeInfo &opcodeInfo(Opcode opcode) {
  static constexpr OpcodeInfo kInvalid{Opcode::Move, "invalid", 0, false, false, "not an opcode"};
  return size_t(opcode) < kOpcodes.size() ? kOpcodes[size_t(opcode)] : kInvalid;
}

bool mayMix(Opcode opcode, ElementType source, ElementType result) {
  switch (opcode) {
  case Opcode::CompareEq:
  case Opcode::CompareLt:
  case Opcode::CompareLe:
    return result == ElementType::Bool;
  case Opcode::Add:
  case Opcode::Sub:
  case Opcode::Mul:
  case Opcode::Fma:
  case Opcode::ReduceAdd:
    break;
  default:
    return false;
  }
  switch (source) {
  case ElementType::F16:
  case ElementType::BF16:
    return result == ElementType::F32;
  case ElementType::F32:
    return result == ElementType::F64;
  case ElementType::I8:
  case ElementType::U8:
  case ElementType::I16:
  case ElementType::U16:
    return result == ElementType::I32;
  default:
    return false;
  }
}

const OpcodeInfo *findOpcode(std::string_view name) {
  for (const OpcodeInfo &info : kOpcodes)
    if (info.name == name)
      return &info;
  return nullptr;
}

} // namespace wsc::format
