// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/programs/TapNest.h"

#include <algorithm>

namespace wsc::kernels {

using format::Operand;
using format::OperandKind;

constexpr size_t kMostVectorDims = 3;

// Drops dimensions of one point and joins neighbours that walk evenly over all operands.
static std::vector<NestDim> joined(const std::vector<NestDim> &dims) {
  std::vector<NestDim> result;
  for (const NestDim &dim : dims) {
    if (dim.count == 1)
      continue;
    if (!result.empty()) {
      NestDim &outer = result.back();
      if (outer.dst == dim.dst * dim.count && outer.a == dim.a * dim.count && outer.b == dim.b * dim.count) {
        outer = {outer.count * dim.count, dim.dst, dim.a, dim.b};
        continue;
      }
    }
    result.push_back(dim);
  }
  return result;
}

void emitTaps(RoleBuilder &builder, int thread, format::Opcode opcode, const TapNest &nest, Operand dst, Operand a,
              Operand b, int openLoops) {
  std::vector<NestDim> taps = joined(nest.taps), dims = joined(nest.vector);
  if (dims.size() > kMostVectorDims) { // the shortest of the others becomes the outermost loop
    const auto shortest = std::min_element(dims.begin(), dims.end() - 1,
                                           [](const NestDim &a, const NestDim &b) { return a.count < b.count; });
    taps.insert(taps.begin(), *shortest);
    dims.erase(shortest);
  }
  // Taps that a reduction's descriptor has dimensions left for; a multiply-add meets every element of dst once.
  size_t inside = opcode == format::Opcode::Fma ? 0 : std::min(taps.size(), size_t(format::kMaxDims) - dims.size());
  size_t loops = taps.size() - inside;
  for (size_t l = 0; l < loops; ++l) {
    builder.loop(thread, taps[l].count);
    const int level = openLoops + int(l);
    dst.loopStep[level] = int32_t(taps[l].dst * kElementBytes);
    a.loopStep[level] = int32_t(taps[l].a * kElementBytes);
    if (b.kind == OperandKind::Memory)
      b.loopStep[level] = int32_t(taps[l].b * kElementBytes);
  }
  dims.insert(dims.begin(), taps.begin() + int64_t(loops), taps.end());
  Dims extents;
  int at = format::kMaxDims - int(dims.size());
  for (const NestDim &dim : dims) {
    extents.push_back(dim.count);
    dst.stride[at] = int32_t(dim.dst * kElementBytes);
    a.stride[at] = int32_t(dim.a * kElementBytes);
    if (b.kind == OperandKind::Memory)
      b.stride[at] = int32_t(dim.b * kElementBytes);
    ++at;
  }
  builder.emit(thread, opcode, extents, dst, a, b);
  for (; loops > 0; --loops)
    builder.endLoop(thread);
}

} // namespace wsc::kernels
