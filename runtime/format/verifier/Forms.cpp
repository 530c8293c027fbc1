// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic of affine forms. The extreme of an affine form over a box is taken at the corner its signs point to.
#include "runtime/format/verifier/Forms.h"

namespace wsc::format::verifier {

std::string number(Wide value) {
  if (value < 0)
    return "-" + number(-value);
  std::string digits;
  do {
    digits.insert(digits.begin(), char('0' + int(value % 10)));
    value /= 10;
  } while (value != 0);
  return digits;
}

Form::Form(const Affine &affine) : constant(affine.constant) {
  for (int d = 0; d < kMaxDims; ++d)
    perDim[d] = affine.perDim[d];
}

Form &Form::operator+=(const Form &other) {
  constant += other.constant;
  for (int d = 0; d < kMaxDims; ++d)
    perDim[d] += other.perDim[d];
  return *this;
}

Form Form::operator*(Wide factor) const {
  Form result;
  result.constant = constant * factor;
  for (int d = 0; d < kMaxDims; ++d)
    result.perDim[d] = perDim[d] * factor;
  return result;
}

Wide Form::at(const LatticeIndex &index) const {
  Wide value = constant;
  for (int d = 0; d < kMaxDims; ++d)
    value += perDim[d] * index[d];
  return value;
}

Extreme maximum(const Form &form, const Lattice &lattice) {
  Extreme result;
  for (int d = 0; d < kMaxDims; ++d)
    if (form.perDim[d] > 0)
      result.index[d] = lattice.dims[d].count - 1;
  result.value = form.at(result.index);
  return result;
}

Extreme minimum(const Form &form, const Lattice &lattice) {
  Extreme result = maximum(form * -1, lattice);
  result.value = -result.value;
  return result;
}

unsigned dependsOn(const Form &form, const Lattice &lattice) {
  unsigned mask = 0;
  for (int d = 0; d < kMaxDims; ++d)
    if (form.perDim[d] != 0 && lattice.dims[d].count > 1)
      mask |= 1u << d;
  return mask;
}

unsigned countDependsOn(const Instruction &instruction, const LoopNest &loops, const Lattice &lattice) {
  unsigned mask = 0;
  for (const Affine &extent : instruction.extent)
    mask |= dependsOn(extent, lattice);
  for (int k = 0; k < loops.depth; ++k)
    mask |= dependsOn(*loops.trips[k], lattice);
  return mask;
}

int64_t elementsAt(const Instruction &instruction, const LoopNest &loops, const LatticeIndex &index) {
  int64_t count = 1;
  auto scale = [&](const Affine &factor) {
    Wide value = Form(factor).at(index);
    count = value <= 0 ? 0 : multiply(count, int64_t(std::min<Wide>(value, kMost)));
  };
  for (const Affine &extent : instruction.extent)
    scale(extent);
  for (int k = 0; k < loops.depth; ++k)
    scale(*loops.trips[k]);
  return count;
}

bool everExecutes(const Instruction &instruction, const LoopNest &loops, const Lattice &lattice) {
  for (const Affine &extent : instruction.extent)
    if (maximum(extent, lattice).value <= 0)
      return false;
  for (int k = 0; k < loops.depth; ++k)
    if (maximum(*loops.trips[k], lattice).value <= 0)
      return false;
  return true;
}

std::optional<Extreme> exceeds(const Form &form, Wide limit, const Instruction &instruction, const LoopNest &loops,
                               const Lattice &lattice, Report &report) {
  Extreme most = maximum(form, lattice);
  if (most.value <= limit)
    return std::nullopt;
  if (elementsAt(instruction, loops, most.index) > 0)
    return most;
  std::optional<Extreme> found;
  unsigned mask = dependsOn(form, lattice) | countDependsOn(instruction, loops, lattice);
  forEachIndex(lattice, mask, [&](const LatticeIndex &index) {
    if (!report.spend(1))
      return false;
    Wide value = form.at(index);
    if (value > limit && elementsAt(instruction, loops, index) > 0)
      found = Extreme{value, index};
    return !found;
  });
  return found;
}

bool isIndexed(const Instruction &instruction, const Operand &operand) {
  return (instruction.opcode == Opcode::Gather && &operand == &instruction.a) ||
         (instruction.opcode == Opcode::Scatter && &operand == &instruction.dst);
}

static void extend(Walk &walk, int64_t step, const Affine &count) {
  if (step != 0)
    (step < 0 ? walk.lo : walk.hi) += (Form(count) - Form(1)) * step;
}

Walk walkOf(const Instruction &instruction, const Operand &operand, const LoopNest &loops, bool allIterations) {
  Walk walk{operand.base, Form(operand.base) + Form(elementBytes(accessType(instruction, operand)))};
  for (int d = 0; d < kMaxDims; ++d)
    if (!(isIndexed(instruction, operand) && d == kMaxDims - 1))
      extend(walk, operand.stride[d], instruction.extent[d]);
  for (int k = 0; allIterations && k < loops.depth; ++k)
    extend(walk, operand.loopStep[k], *loops.trips[k]);
  return walk;
}

ElementType accessType(const Instruction &instruction, const Operand &operand) {
  return &operand == &instruction.a   ? typeOfA(instruction)
         : &operand == &instruction.b ? typeOfB(instruction)
                                      : instruction.type;
}

} // namespace wsc::format::verifier
