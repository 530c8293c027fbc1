// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise layers and the opcodes that compute them.
#include "passes/wafer/ReadKernel.h"

#include "dialects/nn/Nn.h"

using namespace mlir;

namespace wsc::wafer {

using format::Opcode;

std::optional<Opcode> opcodeOf(Operation *op) {
  if (auto unary = dyn_cast<nn::UnaryOp>(op))
    switch (unary.getKind()) {
    case nn::UnaryKind::Relu:
      return Opcode::Max;
    case nn::UnaryKind::Neg:
      return Opcode::Neg;
    case nn::UnaryKind::Abs:
      return Opcode::Abs;
    case nn::UnaryKind::Exp:
      return Opcode::Exp;
    case nn::UnaryKind::Log:
      return Opcode::Log;
    case nn::UnaryKind::Sqrt:
      return Opcode::Sqrt;
    case nn::UnaryKind::Rsqrt:
      return Opcode::Rsqrt;
    case nn::UnaryKind::Reciprocal:
      return Opcode::Reciprocal;
    case nn::UnaryKind::Tanh:
      return Opcode::Tanh;
    case nn::UnaryKind::Erf:
      return Opcode::Erf;
    case nn::UnaryKind::Sigmoid:
      return Opcode::Sigmoid;
    case nn::UnaryKind::Floor:
      return Opcode::Floor;
    case nn::UnaryKind::Ceil:
      return Opcode::Ceil;
    case nn::UnaryKind::Round:
      return Opcode::Round;
    case nn::UnaryKind::Sign:
      return Opcode::Sign;
    case nn::UnaryKind::Sin:
      return Opcode::Sin;
    case nn::UnaryKind::Cos:
      return Opcode::Cos;
    default:
      return std::nullopt;
    }
  if (auto binary = dyn_cast<nn::BinaryOp>(op))
    switch (binary.getKind()) {
    case nn::BinaryKind::Add:
      return Opcode::Add;
    case nn::BinaryKind::Sub:
      return Opcode::Sub;
    case nn::BinaryKind::Mul:
      return Opcode::Mul;
    case nn::BinaryKind::Div:
      return Opcode::Div;
    case nn::BinaryKind::Min:
      return Opcode::Min;
    case nn::BinaryKind::Max:
      return Opcode::Max;
    case nn::BinaryKind::Pow:
      return Opcode::Pow;
    default:
      return std::nullopt;
    }
  return std::nullopt;
}

bool isElementwise(Operation *op) {
  return isa<nn::BatchNormOp>(op) || (isa<nn::UnaryOp, nn::BinaryOp>(op) && opcodeOf(op));
}

} // namespace wsc::wafer
