// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/program/Code.h"

#include <algorithm>
#include <map>

namespace wsc::spmd {

using namespace format;

bool AxisGuard::holds(int32_t coordinate) const {
  if (coordinate < begin || coordinate >= end)
    return false;
  if (modulus <= 1)
    return parity < 0 || coordinate % 2 == parity;
  const int32_t s = sub(coordinate), place = coordinate % unit;
  return s >= subBegin && s < subEnd && place >= placeBegin && place < placeEnd && (parity < 0 || s % 2 == parity);
}

AxisGuard along(const Guard &g, Axis axis) {
  if (axis == Axis::Row)
    return {g.colBegin,  g.colEnd,  g.colParity,     g.colModulus, g.colSubBegin,
            g.colSubEnd, g.colUnit, g.colPlaceBegin, g.colPlaceEnd};
  return {g.rowBegin,  g.rowEnd,  g.rowParity,     g.rowModulus, g.rowSubBegin,
          g.rowSubEnd, g.rowUnit, g.rowPlaceBegin, g.rowPlaceEnd};
}

std::vector<int32_t> oneOfEachSort(const std::set<AxisGuard> &parts, int32_t length) {
  std::map<std::vector<bool>, int32_t> sorts;
  for (int32_t x = 0; x < length; ++x) {
    std::vector<bool> holds;
    for (const AxisGuard &part : parts)
      holds.push_back(part.holds(x));
    sorts.emplace(std::move(holds), x);
  }
  std::vector<int32_t> coordinates;
  for (const auto &[sort, x] : sorts)
    coordinates.push_back(x);
  return coordinates;
}

bool runs(const Guard &guard, int32_t row, int32_t col) {
  return along(guard, Axis::Col).holds(row) && along(guard, Axis::Row).holds(col);
}

int16_t Code::findFamily(const Route &route) const {
  const auto found = std::find(routes.begin(), routes.end(), route);
  return found == routes.end() ? int16_t(-1) : int16_t(found - routes.begin());
}

int16_t Code::family(const Route &route) {
  const int16_t found = findFamily(route);
  if (found >= 0)
    return found;
  routes.push_back(route);
  return int16_t(routes.size() - 1);
}

void Code::append(Instruction instruction, const Guard &guard) {
  guards.resize(main.size());
  main.push_back(std::move(instruction));
  guards.push_back(guard);
}

int16_t Code::scratch(std::string name, ElementType type, int64_t elements) {
  Buffer buffer;
  buffer.name = std::move(name);
  buffer.kind = BufferKind::Scratch;
  buffer.type = type;
  buffer.bytes = elements * elementBytes(type);
  buffers.push_back(std::move(buffer));
  return int16_t(buffers.size() - 1);
}

Operand memory(int16_t buffer, int64_t baseBytes, const std::vector<int64_t> &strideBytes) {
  Operand operand;
  operand.kind = OperandKind::Memory;
  operand.buffer = buffer;
  operand.base = Affine(baseBytes);
  for (size_t d = 0; d < strideBytes.size(); ++d)
    operand.stride[kMaxDims - strideBytes.size() + d] = int32_t(strideBytes[d]);
  return operand;
}

Operand immediate(double value) {
  Operand operand;
  operand.kind = OperandKind::Immediate;
  operand.immediate = value;
  return operand;
}

Instruction instruction(Opcode opcode, ElementType type, const std::vector<int64_t> &extents, Operand dst, Operand a,
                        Operand b) {
  Instruction result;
  result.opcode = opcode;
  result.type = type;
  result.dst = std::move(dst);
  result.a = std::move(a);
  result.b = std::move(b);
  for (size_t d = 0; d < extents.size(); ++d)
    result.extent[kMaxDims - extents.size() + d] = Affine(extents[d]);
  return result;
}

} // namespace wsc::spmd
