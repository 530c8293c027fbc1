// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The coordinates of one axis of a rectangle, divided into classes in which all guards agree. A class is a lattice of
// coordinates on which every affine number of the instructions that run there stays affine:
//
//     x = first + Σ index[d]·step[d]
//
// Guards with a modulus make classes of two dimensions (group, sub-index), with units of several coordinates of three.
#pragma once

#include "compiler/spmd/program/Code.h"

#include "absl/status/statusor.h"

#include <functional>
#include <vector>

namespace wsc::spmd {

struct AxisDim {
  int32_t count = 1, step = 1;
  bool operator==(const AxisDim &) const = default;
};

struct AxisClass {
  int32_t first = 0;
  std::vector<AxisDim> dims; // outermost first, each of at least two coordinates
};

/// What cuts an axis: guards, and whether numbers of the instructions they guard depend on their sub-index.
class AxisCuts {
public:
  void add(const AxisGuard &guard, bool usesSub);
  /// Classes of [0, length), in ascending order of their first coordinate, of at most `mostDims` dimensions each.
  /// `kind`: coordinates of different kinds are in different classes. Of the ways to step through groups the one with
  /// the fewest classes is taken. Errors: moduli that do not divide each other, or more of them than dimensions, make
  /// more than 256 classes (ResourceExhausted).
  absl::StatusOr<std::vector<AxisClass>> classes(int32_t length, int mostDims,
                                                 const std::function<int(int32_t)> &kind = nullptr) const;

private:
  std::vector<std::pair<AxisGuard, bool>> parts; // sorted, each once
};

} // namespace wsc::spmd
