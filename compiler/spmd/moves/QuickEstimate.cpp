// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/moves/QuickEstimate.h"

#include "compiler/spmd/moves/LinePick.h"
#include "compiler/spmd/sharding/Divide.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace wsc::spmd {

namespace {

constexpr int64_t kTurnCycles = 15, kStageCycles = 40;
constexpr int64_t kLongChain = 160; // cores

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

/// Of a line of this many cores, what each wants of it comes together by a chain of or, in runs where it is long
/// (LinePick.h); besides the words, which pass two or three times.
int64_t chainCycles(int64_t cores) {
  const auto run = cores < kLongChain ? cores : int64_t(std::sqrt(double(cores)));
  return 6 * run + (cores > run ? (cores / run) * (5 + run) : 0) + cores + 30;
}

/// Different places along the axis of what is wanted of a dimension.
int64_t placesAlong(const DimSharding &dim, Axis axis, int64_t cores) {
  int64_t places = 1;
  for (const MeshDigit &digit : digitsOn(dim, axis))
    places *= digit.modulus > 0 ? digit.modulus : ceilDiv(cores, digit.divisor);
  return places;
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

/// The sharding in terms of digits of the tensor's row-major number: extents and strides, a dimension for each digit.
/// Where a block ends within a digit, the digit's share of it is rounded up.
Sharding overDigits(const Sharding &sharding, const std::vector<int64_t> &extents,
                    const std::vector<int64_t> &strides) {
  Sharding result;
  result.rectangle = sharding.rectangle;
  result.shape = extents;
  result.dims.resize(extents.size());
  int64_t pitch = 1;
  for (size_t d = sharding.dims.size(); d-- > 0; pitch *= sharding.shape[d]) {
    const DimSharding &dim = sharding.dims[d];
    std::vector<size_t> here; // digits of this dimension, the innermost first
    for (size_t k = 0; k < extents.size(); ++k)
      if (std::abs(strides[k]) >= pitch && std::abs(strides[k]) < pitch * sharding.shape[d])
        here.push_back(k);
    std::sort(here.begin(), here.end(),
              [&](size_t x, size_t y) { return std::abs(strides[x]) < std::abs(strides[y]); });
    auto stepOf = [&](size_t k) { return std::abs(strides[k]) / pitch; };
    for (const MeshDigit &digit : dim.mesh) {
      int64_t step = std::abs(digit.step), divisor = digit.divisor, modulus = digit.modulus;
      const int64_t cores = digit.axis == Axis::Row ? sharding.rectangle.rows : sharding.rectangle.cols;
      int64_t numbers = modulus > 0 ? modulus : ceilDiv(cores, divisor);
      for (size_t k : here) {
        const int64_t reach = stepOf(k) * extents[k];
        if (step == 0 || step >= reach || numbers <= 1)
          continue;
        const int64_t own = std::max(step, stepOf(k)), count = std::min(numbers, ceilDiv(reach, own));
        const bool isLast = count == numbers;
        result.dims[k].mesh.push_back(
            {digit.axis, divisor, isLast ? modulus : count, std::max<int64_t>(1, own / stepOf(k))});
        numbers = ceilDiv(numbers, count);
        modulus = modulus > 0 ? std::max<int64_t>(1, modulus / count) : 0;
        divisor *= count;
        step = std::max(step, reach);
      }
    }
    const int64_t span = spanOf(dim);
    for (size_t k : here)
      if (const int64_t extent = std::clamp<int64_t>(ceilDiv(span, stepOf(k)), 1, extents[k]); extent > 1)
        result.dims[k].local = {{extent, 1}};
  }
  return result;
}

} // namespace

int64_t quickMoveCycles(const Sharding &from, const Sharding &to, const Rectangle &mesh, int64_t bytes, bool picks) {
  struct Line {
    bool moves = false, isBus = false;
    int64_t reach = 0, unit = 1;
    double growth = 1;
    int64_t places = 1; // along it, of what is wanted
    std::vector<size_t> dims;
  };
  const Rectangle &a = from.rectangle, &b = to.rectangle;
  std::array<Line, 2> lines; // along rows (columns vary), along columns
  for (size_t d = 0; d < from.dims.size(); ++d) {
    const bool onRows = !digitsOn(from.dims[d], Axis::Row).empty(), onCols = !digitsOn(from.dims[d], Axis::Col).empty();
    if (!onRows && !onCols)
      continue;
    const double more = double(to.dims[d].localExtent()) / double(std::max<int64_t>(1, from.dims[d].localExtent()));
    if (onRows && onCols) {
      // First all of a row comes together, then what else is wanted.
      const double ofRow = std::clamp(more, 1.0, double(a.cols));
      for (int i : {0, 1}) {
        lines[size_t(i)].dims.push_back(d);
        lines[size_t(i)].moves = lines[size_t(i)].isBus = from.dims[d] != to.dims[d];
        lines[size_t(i)].growth *= i == 0 ? ofRow : more / ofRow;
        lines[size_t(i)].places *= placesAlong(to.dims[d], i == 0 ? Axis::Col : Axis::Row, i == 0 ? b.cols : b.rows);
      }
      continue;
    }
    Line &line = lines[onCols ? 0 : 1];
    const Way way = wayOf(from.dims[d], to.dims[d], onCols ? Axis::Col : Axis::Row);
    line.dims.push_back(d);
    line.isBus |= way.isBus;
    line.reach = std::max(line.reach, way.reach);
    line.unit = std::max(line.unit, way.unit);
    line.moves |= way.isBus || way.reach > 0;
    line.growth *= more;
    line.places *= placesAlong(to.dims[d], onCols ? Axis::Col : Axis::Row, onCols ? b.cols : b.rows);
  }
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
      if (line.isBus || 2 * line.reach > units) {
        const int64_t bus = int64_t(double(units) * words + std::max(words, words * line.growth)) + 3 * length;
        const double picked = words * line.growth * double(line.places);
        const int64_t pick = int64_t(2 * box + (length < kLongChain ? 4 : 5) * picked) +
                             chainCycles(std::max<int64_t>(held, i == 0 ? b.cols : b.rows));
        cycles += picks && kPickGain * pick < bus ? pick : bus;
      } else
        cycles += 2 * line.reach * (int64_t(words) + kTurnCycles + line.unit) + 2 * line.unit + int64_t(words);
    }
    box *= line.growth;
  }
  return cycles;
}

int64_t quickPieceCycles(const Sharding &from, const Sharding &to, const StridedPiece &piece, const Rectangle &mesh,
                         int64_t bytes, bool picks) {
  std::vector<int64_t> extents, held, wanted;
  for (const Piece::Digit &digit : piece.digits)
    if (digit.extent > 1) {
      extents.push_back(digit.extent);
      held.push_back(digit.sourceStride);
      wanted.push_back(digit.resultStride);
    }
  return quickMoveCycles(overDigits(from, extents, held), overDigits(to, extents, wanted), mesh, bytes, picks);
}

} // namespace wsc::spmd
