// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The small arithmetic of executables: sizes of lattices and tensors, values of affine expressions. Everything that a
// loaded file holds is bounded by the reader, so plain 64-bit arithmetic is exact here.
#include "runtime/format/Executable.h"

namespace wsc::format {

int64_t Lattice::size() const {
  int64_t product = 1;
  for (const Dim &dim : dims)
    product *= dim.count;
  return product;
}

int64_t Affine::at(const LatticeIndex &index) const {
  int64_t value = constant;
  for (int d = 0; d < kMaxDims; ++d)
    value += perDim[d] * index[d];
  return value;
}

bool Affine::isConstant() const { return perDim == std::array<int64_t, kMaxDims>{}; }

ElementType typeOfA(const Instruction &instruction) {
  return instruction.opcode == Opcode::Convert || instruction.mixed ? instruction.sourceType : instruction.type;
}

ElementType typeOfB(const Instruction &instruction) {
  if (instruction.opcode == Opcode::Gather || instruction.opcode == Opcode::Scatter)
    return ElementType::I32;
  return instruction.mixed ? instruction.sourceType : instruction.type;
}

int64_t TensorType::elements() const {
  int64_t product = 1;
  for (int64_t extent : shape)
    product *= extent;
  return product;
}

} // namespace wsc::format
