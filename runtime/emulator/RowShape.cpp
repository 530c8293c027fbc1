// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Merging of descriptor dimensions and the proof, by stride arithmetic, that an instruction's elements are independent.
#include "runtime/emulator/RowShape.h"

#include <algorithm>
#include <cstdlib>

namespace wsc::emulator {

using namespace format;

namespace {

void stridesOf(const Operand &operand, const int64_t (&extent)[kMaxDims], int64_t (&stride)[kMaxDims]) {
  int64_t packed = 1;
  for (int d = kMaxDims - 1; d >= 0; --d) {
    stride[d] = operand.kind == OperandKind::Memory                                                   ? operand.stride[d] / 4
                : operand.kind == OperandKind::Queue || operand.kind == OperandKind::Fifo ? packed
                                                                                          : 0;
    packed *= extent[d];
  }
}

} // namespace

RowOperands rowShape(const Instruction &instruction, const LatticeIndex &index) {
  RowOperands rows{};
  int64_t extent[kMaxDims], strides[3][kMaxDims];
  for (int d = 0; d < kMaxDims; ++d)
    if (extent[d] = instruction.extent[d].at(index); extent[d] <= 0)
      return rows;
  stridesOf(instruction.dst, extent, strides[0]);
  stridesOf(instruction.a, extent, strides[1]);
  stridesOf(instruction.b, extent, strides[2]);
  // Merge from the innermost outwards.
  int64_t e[kMaxDims], s[3][kMaxDims];
  int n = 0;
  for (int d = kMaxDims - 1; d >= 0; --d) {
    if (extent[d] == 1)
      continue;
    bool merge = n > 0;
    for (int k = 0; k < 3 && merge; ++k)
      merge = strides[k][d] == s[k][n - 1] * e[n - 1];
    if (merge) {
      e[n - 1] *= extent[d];
      continue;
    }
    e[n] = extent[d];
    for (int k = 0; k < 3; ++k)
      s[k][n] = strides[k][d];
    ++n;
  }
  for (int d = 0; d < kMaxDims; ++d) {
    const int to = kMaxDims - 1 - d;
    rows.extent[to] = d < n ? e[d] : 1;
    rows.dstStride[to] = d < n ? s[0][d] : 1;
    rows.aStride[to] = d < n ? s[1][d] : 1;
    rows.bStride[to] = d < n ? s[2][d] : 1;
  }
  if (n == 0) // one element; immediates and absent operands stay scalars
    rows.aStride[kMaxDims - 1] = rows.bStride[kMaxDims - 1] = 0;
  return rows;
}

bool rowsAreIndependent(const Role &, const Instruction &instruction, bool usesB) {
  const Operand &dst = instruction.dst;
  if (dst.kind != OperandKind::Memory)
    return true;
  int64_t extent[kMaxDims];
  for (int d = 0; d < kMaxDims; ++d) {
    if (!instruction.extent[d].isConstant())
      return false;
    extent[d] = std::max<int64_t>(1, instruction.extent[d].constant);
  }
  int order[kMaxDims] = {0, 1, 2, 3};
  std::sort(order, order + kMaxDims, [&](int x, int y) { return std::abs(dst.stride[x]) < std::abs(dst.stride[y]); });
  int64_t span = 0;
  for (int d : order) {
    if (extent[d] == 1)
      continue;
    if (std::abs(int64_t(dst.stride[d])) < span + 4)
      return false;
    span += std::abs(int64_t(dst.stride[d])) * (extent[d] - 1);
  }
  auto range = [&](const Operand &operand) {
    int64_t low = operand.base.constant, high = low + 4;
    for (int d = 0; d < kMaxDims; ++d)
      (operand.stride[d] < 0 ? low : high) += operand.stride[d] * (extent[d] - 1);
    return std::make_pair(low, high);
  };
  auto apart = [&](const Operand &source) {
    if (source.kind != OperandKind::Memory || source.buffer != dst.buffer)
      return true;
    if (source.base.perDim != dst.base.perDim || source.loopStep != dst.loopStep)
      return false;
    bool equal = source.base == dst.base;
    for (int d = 0; d < kMaxDims; ++d)
      equal &= extent[d] == 1 || source.stride[d] == dst.stride[d];
    if (equal)
      return true;
    const auto [low, high] = range(source);
    const auto [dstLow, dstHigh] = range(dst);
    return high <= dstLow || dstHigh <= low;
  };
  return apart(instruction.a) && (!usesB || apart(instruction.b));
}

std::vector<int64_t> nestKey(const Instruction &instruction, std::span<const Instruction *const> loops, const LatticeIndex &index) {
  std::vector<int64_t> key;
  for (const Affine &extent : instruction.extent)
    key.push_back(extent.at(index));
  for (const Instruction *loop : loops)
    key.push_back(loop->extent[0].at(index));
  return key;
}

} // namespace wsc::emulator
