// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/collectives/Family.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::spmd {

using namespace format;

Operand queue(Code &code, const Route &route, bool output) {
  Operand operand;
  operand.kind = OperandKind::Queue;
  operand.queue = queueOf(code.family(route), output);
  return operand;
}

std::string nameOf(const Route &route) {
  const char *axis = route.axis == Axis::Row ? "row" : "column", *parity = route.parity ? "odd" : "even";
  const char *direction = route.backward ? "backward" : "forward";
  switch (route.kind) {
  case Route::Kind::Input:
    return "input";
  case Route::Kind::Output:
    return "output";
  case Route::Kind::Segments:
    return absl::StrCat(axis, " segments ", direction, " ", route.segment,
                        route.unit > 1 ? absl::StrCat("*", route.unit) : "", " of ", route.units,
                        route.overlap ? absl::StrCat(" ", parity) : "");
  case Route::Kind::Shift:
    return absl::StrCat(axis, " shift ", direction, " by ", route.segment, " of ", route.units, ", ", route.words,
                        " words ", parity);
  case Route::Kind::Chain:
    return absl::StrCat(axis, route.unit > 1 ? absl::StrCat(" runs of ", route.unit) : "", " chain ", parity,
                        route.segment ? absl::StrCat(" ", route.segment) : "");
  case Route::Kind::BusIn:
  case Route::Kind::BusOut:
    return absl::StrCat(axis, route.kind == Route::Kind::BusIn ? " bus in" : " bus out",
                        route.segment ? absl::StrCat(" ", route.segment) : "",
                        route.unit > 1 ? absl::StrCat("*", route.unit) : "",
                        route.segment ? absl::StrCat(" of ", route.units) : "");
  }
  return "";
}

void addNumber(Axis axis, const GroupNumber &number, int64_t scale, Affine &affine, AxisGuard &part) {
  if (number.modulus == 1) {
    affine.perDim[alongDim(axis)] += number.perGroup * scale;
    return;
  }
  if (number.isZero())
    return;
  part.modulus = kWholeAxis;
  part.unit = int32_t(number.modulus);
  affine.perDim[alongDim(axis)] += number.perSub * scale;
  affine.perDim[subDim(axis)] += (number.perGroup - number.perSub * number.modulus) * scale;
}

Guard withAlong(Guard guard, Axis axis, const AxisGuard &part) {
  if (axis == Axis::Row) {
    guard.colBegin = part.begin, guard.colEnd = part.end, guard.colParity = part.parity;
    guard.colModulus = part.modulus, guard.colSubBegin = part.subBegin, guard.colSubEnd = part.subEnd;
    guard.colUnit = part.unit, guard.colPlaceBegin = part.placeBegin, guard.colPlaceEnd = part.placeEnd;
  } else {
    guard.rowBegin = part.begin, guard.rowEnd = part.end, guard.rowParity = part.parity;
    guard.rowModulus = part.modulus, guard.rowSubBegin = part.subBegin, guard.rowSubEnd = part.subEnd;
    guard.rowUnit = part.unit, guard.rowPlaceBegin = part.placeBegin, guard.rowPlaceEnd = part.placeEnd;
  }
  return guard;
}

Guard narrowed(Guard guard, Axis axis, int64_t begin, int64_t end, int parity) {
  int32_t &low = axis == Axis::Row ? guard.colBegin : guard.rowBegin;
  int32_t &high = axis == Axis::Row ? guard.colEnd : guard.rowEnd;
  low = int32_t(std::max<int64_t>(low, begin));
  high = int32_t(std::min<int64_t>(high, end));
  if (parity >= 0)
    (axis == Axis::Row ? guard.colParity : guard.rowParity) = parity;
  return guard;
}

Guard guardOf(const Rectangle &part, const Rectangle &whole) {
  Guard guard;
  if (part.row > 0)
    guard.rowBegin = part.row;
  if (part.row + part.rows < whole.rows)
    guard.rowEnd = part.row + part.rows;
  if (part.col > 0)
    guard.colBegin = part.col;
  if (part.col + part.cols < whole.cols)
    guard.colEnd = part.col + part.cols;
  return guard;
}

void guardFrom(Code &code, size_t begin, const Guard &guard) {
  if (guard == Guard())
    return;
  code.guards.resize(code.main.size());
  for (size_t i = begin; i < code.main.size(); ++i)
    code.guards[i] = guard;
}

} // namespace wsc::spmd
