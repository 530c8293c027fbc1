// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Merging of descriptor dimensions, and which dst elements are distinct: dimensions sorted by dst stride are injective
// when each steps over all that the smaller ones span.
//
// A dst that stands still along some dimensions (a reduction) takes its sources in program order. Where the other
// dimensions are injective, those dimensions may go outermost: every dst element still meets its sources in order, and
// the elements inside are independent. With few such elements, or integers, a chain along the innermost dimension is
// quicker.
#include "runtime/emulator/RowShape.h"

#include "runtime/numerics/Elements.h"

#include <algorithm>
#include <cstdlib>

namespace wsc::emulator {

using namespace format;

namespace {

// Rows across chains pay from this many chains on.
constexpr int64_t kChainsForRows = 8;

struct Dim {
  int64_t extent = 1;
  int64_t stride[3] = {};
};

std::vector<Dim> mergedDims(const Instruction &instruction, const int64_t (&bytes)[3], const LatticeIndex &index) {
  const Operand *operands[3] = {&instruction.dst, &instruction.a, &instruction.b};
  std::vector<Dim> dims; // innermost first
  int64_t before = 1;    // elements of the dimensions inside
  for (int d = kMaxDims - 1; d >= 0; --d) {
    Dim dim;
    dim.extent = instruction.extent[d].at(index);
    for (int k = 0; k < 3; ++k) {
      const OperandKind kind = operands[k]->kind;
      const bool indexed =
          (instruction.opcode == Opcode::Gather && k == 1) || (instruction.opcode == Opcode::Scatter && k == 0);
      if (kind == OperandKind::Memory)
        dim.stride[k] = indexed && d == kMaxDims - 1 ? 0 : operands[k]->stride[d];
      else if (kind == OperandKind::Queue || kind == OperandKind::Fifo)
        dim.stride[k] = before * bytes[k];
    }
    before *= dim.extent;
    if (dim.extent == 1)
      continue;
    bool merge = !dims.empty();
    for (int k = 0; k < 3 && merge; ++k)
      merge = dim.stride[k] == dims.back().stride[k] * dims.back().extent;
    if (merge)
      dims.back().extent *= dim.extent;
    else
      dims.push_back(dim);
  }
  return dims;
}

// How many of the innermost dimensions have distinct dst elements.
int distinctDims(std::span<const Dim> dims, int64_t bytes) {
  int count = 0;
  for (; count < int(dims.size()); ++count) {
    std::vector<std::pair<int64_t, int64_t>> steps; // stride, extent
    for (const Dim &dim : dims.first(size_t(count) + 1))
      steps.emplace_back(std::abs(dim.stride[0]), dim.extent);
    std::sort(steps.begin(), steps.end());
    int64_t span = 0;
    for (const auto &[stride, extent] : steps) {
      if (stride < span + bytes)
        return count;
      span += stride * (extent - 1);
    }
  }
  return count;
}

} // namespace

RowShape rowShape(const Instruction &instruction, const int64_t (&bytes)[3], bool apart, const LatticeIndex &index) {
  RowShape shape;
  for (const Affine &extent : instruction.extent)
    if (extent.at(index) <= 0)
      return shape;
  std::vector<Dim> dims = mergedDims(instruction, bytes, index);
  const bool discards = instruction.dst.kind == OperandKind::Null;
  const auto still = [](const Dim &dim) { return dim.stride[0] == 0; };
  int free = discards ? int(dims.size()) : distinctDims(dims, bytes[0]);
  const bool reduces = instruction.opcode >= Opcode::ReduceAdd && instruction.opcode <= Opcode::ReduceMax;
  if (free < int(dims.size()) && reduces) {
    std::vector<Dim> inner, outer;
    int64_t chains = 1;
    for (const Dim &dim : dims) {
      (still(dim) ? outer : inner).push_back(dim);
      chains *= still(dim) ? 1 : dim.extent;
    }
    const bool mayReorder = apart && distinctDims(inner, bytes[0]) == int(inner.size());
    shape.chain = still(dims[0]) && !(mayReorder && chains >= kChainsForRows && numerics::isFloat(instruction.type));
    if (mayReorder && !shape.chain) {
      free = int(inner.size());
      dims = inner;
      dims.insert(dims.end(), outer.begin(), outer.end());
    }
  }
  shape.elements = 1;
  for (size_t d = 0; d < dims.size(); ++d) {
    const size_t to = kMaxDims - 1 - d;
    shape.extent[to] = dims[d].extent;
    shape.elements *= dims[d].extent;
    for (int k = 0; k < 3; ++k) {
      shape.stride[k][to] = dims[d].stride[k];
      (dims[d].stride[k] < 0 ? shape.low : shape.high)[k] += dims[d].stride[k] * (dims[d].extent - 1);
    }
  }
  for (int k = 0; k < 3; ++k)
    shape.high[k] += bytes[k];
  // Dimensions that were left out have one element: nothing to keep in order there.
  shape.freeDims = free == int(dims.size()) ? kMaxDims : free;
  return shape;
}

std::vector<int64_t> nestKey(const Instruction &instruction, std::span<const Instruction *const> loops,
                             const LatticeIndex &index) {
  std::vector<int64_t> key;
  for (const Affine &extent : instruction.extent)
    key.push_back(extent.at(index));
  for (const Instruction *loop : loops)
    key.push_back(loop->extent[0].at(index));
  return key;
}

} // namespace wsc::emulator
