// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/plan/QuickEstimate.h"

#include <algorithm>
#include <array>

namespace wsc::spmd {

namespace {

constexpr int64_t kTurnCycles = 10, kStageCycles = 40;

int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

std::vector<MeshDigit> digitsOn(const DimSharding &dim, Axis axis) {
  std::vector<MeshDigit> digits;
  for (const MeshDigit &digit : dim.mesh)
    if (digit.axis == axis && digit.step != 0)
      digits.push_back(digit);
  return digits;
}

/// Elements from the first to the last local position.
int64_t spanOf(const DimSharding &dim) {
  int64_t span = 1;
  for (const LocalDigit &digit : dim.local)
    span += (digit.count - 1) * std::abs(digit.step);
  return span;
}

/// How a dimension's elements come to the cores along one axis.
struct Way {
  bool isBus = false;
  int64_t reach = 0; // of a window, in units, both sides together
  int64_t unit = 1;
};

Way wayOf(const DimSharding &from, const DimSharding &to, Axis axis) {
  Way way;
  const std::vector<MeshDigit> held = digitsOn(from, axis), wanted = digitsOn(to, axis);
  int64_t step = INT64_MAX;
  for (const MeshDigit &digit : held)
    if (std::abs(digit.step) < step) {
      step = std::abs(digit.step);
      way.unit = digit.divisor;
    }
  // Halo: blocks of one digit each, at the same places, with equal or nearly equal steps.
  const bool sameDigits = held == wanted && digitsOn(to, other(axis)).empty();
  if (!sameDigits) {
    way.isBus = true;
    return way;
  }
  const int64_t before = from.base - to.base, behind = to.base + spanOf(to) - from.base - spanOf(from);
  way.reach = ceilDiv(std::max<int64_t>(before, 0), step) + ceilDiv(std::max<int64_t>(behind, 0), step);
  return way;
}

} // namespace

int64_t quickMoveCycles(const Sharding &from, const Sharding &to, const Rectangle &mesh, int64_t bytes) {
  struct Line {
    bool moves = false, isBus = false;
    int64_t reach = 0, unit = 1;
    double growth = 1, kept = 1;
    std::vector<size_t> dims;
  };
  std::array<Line, 2> lines; // along rows (columns vary), along columns
  for (size_t d = 0; d < from.dims.size(); ++d) {
    const bool onRows = !digitsOn(from.dims[d], Axis::Row).empty(), onCols = !digitsOn(from.dims[d], Axis::Col).empty();
    if (onRows && onCols) // element by element
      return 4 * ceilDiv(from.elements() * bytes, 4) / std::max(1, std::min(mesh.rows, mesh.cols)) +
             24 * (mesh.rows + mesh.cols) + 4 * to.localElements() +
             int64_t(mesh.rows) * mesh.cols * to.localElements() / 1000;
    if (!onRows && !onCols)
      continue;
    Line &line = lines[onCols ? 0 : 1];
    const Way way = wayOf(from.dims[d], to.dims[d], onCols ? Axis::Col : Axis::Row);
    line.dims.push_back(d);
    line.isBus |= way.isBus;
    line.reach = std::max(line.reach, way.reach);
    line.unit = std::max(line.unit, way.unit);
    line.moves |= way.isBus || way.reach > 0;
    line.growth *= double(to.dims[d].localExtent()) / double(std::max<int64_t>(1, from.dims[d].localExtent()));
  }
  const Rectangle &a = from.rectangle, &b = to.rectangle;
  if (b.col < a.col || b.col + b.cols > a.col + a.cols)
    lines[0].moves = lines[0].isBus = true;
  if (b.row < a.row || b.row + b.rows > a.row + a.rows)
    lines[1].moves = lines[1].isBus = true;
  int64_t cycles = kStageCycles + to.localElements();
  double box = double(from.localElements());
  const bool rowsFirst = lines[0].growth <= lines[1].growth;
  for (int i : {rowsFirst ? 0 : 1, rowsFirst ? 1 : 0}) {
    const Line &line = lines[size_t(i)];
    const double words = box * double(bytes) / 4;
    if (line.moves) {
      const int64_t length = i == 0 ? mesh.cols : mesh.rows, held = i == 0 ? a.cols : a.rows;
      const int64_t units = line.dims.empty() ? 1 : std::max<int64_t>(1, held / line.unit);
      cycles += kStageCycles + int64_t(box * line.growth);
      if (line.isBus || 2 * line.reach > units)
        cycles += int64_t(double(units) * words + std::max(words, words * line.growth)) + 4 * length + 6 * units;
      else
        cycles += 2 * line.reach * (int64_t(words) + kTurnCycles) + 2 * line.unit + int64_t(words);
    }
    box *= line.growth;
  }
  return cycles;
}

} // namespace wsc::spmd
