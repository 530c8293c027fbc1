// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/spmd/BodyOpcodes.h"

#include "llvm/ADT/StringMap.h"

namespace wsc::spmd {

using format::Opcode;

const BodyOpcode *findBodyOpcode(llvm::StringRef operation) {
  static const llvm::StringMap<BodyOpcode> table{
      {"arith.addf", {Opcode::Add}},
      {"arith.addi", {Opcode::Add}},
      {"arith.subf", {Opcode::Sub}},
      {"arith.subi", {Opcode::Sub}},
      {"arith.mulf", {Opcode::Mul}},
      {"arith.muli", {Opcode::Mul}},
      {"arith.divf", {Opcode::Div}},
      {"arith.divsi", {Opcode::Div, Signed}},
      {"arith.divui", {Opcode::Div, Unsigned}},
      {"arith.remf", {Opcode::Mod}},
      {"arith.remsi", {Opcode::Mod, Signed}},
      {"arith.remui", {Opcode::Mod, Unsigned}},
      {"arith.minimumf", {Opcode::Min}},
      {"arith.minsi", {Opcode::Min, Signed}},
      {"arith.minui", {Opcode::Min, Unsigned}},
      {"arith.maximumf", {Opcode::Max}},
      {"arith.maxsi", {Opcode::Max, Signed}},
      {"arith.maxui", {Opcode::Max, Unsigned}},
      {"math.powf", {Opcode::Pow}},
      {"math.ipowi", {Opcode::Pow}},
      {"arith.negf", {Opcode::Neg}},
      {"math.absf", {Opcode::Abs}},
      {"math.absi", {Opcode::Abs, Signed}},
      {"math.exp", {Opcode::Exp}},
      {"math.log", {Opcode::Log}},
      {"math.sqrt", {Opcode::Sqrt}},
      {"math.rsqrt", {Opcode::Rsqrt}},
      {"math.tanh", {Opcode::Tanh}},
      {"math.erf", {Opcode::Erf}},
      {"wafer.sigmoid", {Opcode::Sigmoid}},
      {"math.floor", {Opcode::Floor}},
      {"math.ceil", {Opcode::Ceil}},
      {"math.roundeven", {Opcode::Round}},
      {"wafer.sign", {Opcode::Sign, Signed}},
      {"math.sin", {Opcode::Sin}},
      {"math.cos", {Opcode::Cos}},
      {"math.fma", {Opcode::Fma}},
      {"arith.andi", {Opcode::And}},
      {"arith.ori", {Opcode::Or}},
      {"arith.xori", {Opcode::Xor}},
      {"arith.shli", {Opcode::ShiftLeft}},
      {"arith.shrsi", {Opcode::ShiftRight, Signed}},
      {"arith.shrui", {Opcode::ShiftRight, Unsigned}},
  };
  auto it = table.find(operation);
  return it == table.end() ? nullptr : &it->second;
}

} // namespace wsc::spmd
