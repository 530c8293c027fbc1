// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which rectangles a contest kernel can take when it may run no longer than a target time: for every height the least
// width, found by complete enumeration of the execution arguments; and the lower bound on the time term that follows.
//
// With p = h·w, a shape's height is p·(c+1) and its memory depends on h and w through p alone. So of all splits of p
// only those matter whose tile counts ⌈H/h⌉⌈W/w⌉ (one per convolution) are not beaten by another split, and given p and
// c the least k of every convolution is a quotient: about S·ln S cases for a grid of side S.
#pragma once

#include "compiler/solver/contest/Contest.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <vector>

namespace wsc::solver::contest {

// Sides of grids the solver takes: extents, and sums of two, stay in 16 bits.
constexpr int64_t kMostSide = 4096;

// No rectangle: larger than any side, and so is nothing that is added to it.
constexpr int16_t kNoExtent = 16383;

// The least extent one way for each extent the other way, 0 to the grid's longer side: never increasing.
using Staircase = std::vector<int16_t>;

// What one kernel can be at a target time.
struct ShapeCurve {
  Staircase outline;      // least y for each x, in whichever orientation
  int64_t leastArea = -1; // tiles, of the shapes that fit the grid; -1: there are none
  int64_t slowest = 0;    // ticks: no shape of the outline takes longer, so smaller targets down to it change nothing
};

// The kernels of a problem, equal ones counted once. Times are whole numbers of ticks.
class ShapeTable {
public:
  // ResourceExhausted: a kernel fits the memory or the grid with no arguments at all; InvalidArgument: sides above
  // kMostSide or zero, or a problem without kernels.
  static absl::StatusOr<ShapeTable> create(const Problem &problem);

  int32_t numTypes() const { return int32_t(types.size()); }
  // -1 for input and output.
  int32_t typeOf(int32_t kernel) const { return typeOfKernel[kernel]; }
  int64_t kernelsOf(int32_t type) const { return kernelsOfType[type]; }
  // Times of all kernels are multiples of 1 / ticksPerUnit where the strides allow it, else rounded up to one.
  int64_t ticksPerUnit() const { return perUnit; }
  // The least time that no kernel needs more of, whatever its arguments.
  int64_t mostTicks() const { return most; }

  ShapeCurve curve(int32_t type, int64_t ticks) const;
  // Arguments of the fastest shape of exactly that height and width (tiles, before rotation) within the target; none if
  // there is no such shape.
  std::optional<Execution> execution(int32_t type, int64_t height, int64_t width, int64_t ticks) const;
  // Ticks, rounded up.
  int64_t ticksOf(const Fraction &time) const;

  // No legal placement has a time term, in ticks, below it: the least target at which every kernel has a shape that
  // fits the grid and the least areas sum to no more than the grid's.
  int64_t leastTicks() const;
  // Whether leastTicks() is set by a kernel that has no faster shape, not by the sum of areas.
  bool isBoundByOneKernel() const;

private:
  struct Split {
    int64_t h = 0, w = 0;
    std::vector<int64_t> tiles; // per convolution
  };
  struct Type {
    Kernel kernel;
    std::vector<std::vector<Split>> splits; // by p
  };
  // Calls `visit(p, split, c, width, time in ticks, ks)` for every p, split and c that meet the target with the least
  // width.
  template <typename Visit> void enumerate(const Type &type, int64_t ticks, int64_t mostHeight, Visit visit) const;
  bool fits(int64_t a, int64_t b) const {
    return (a <= gridWidth && b <= gridHeight) || (b <= gridWidth && a <= gridHeight);
  }
  // Sum of least areas; -1 if a kernel has no shape.
  int64_t areaAt(int64_t ticks) const;

  std::vector<Type> types;
  std::vector<int32_t> typeOfKernel;
  std::vector<int64_t> kernelsOfType;
  int64_t gridWidth = 0, gridHeight = 0, side = 0, memoryLimit = 0, perUnit = 1, most = 0;
};

} // namespace wsc::solver::contest
