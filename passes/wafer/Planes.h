// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How tensors are seen as planes (channels × rows × width), and how chains of reshapes and transposes are seen through.
#pragma once

#include "compiler/kernels/network/Layout.h"
#include "compiler/kernels/network/Spec.h"

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

#include <array>
#include <optional>
#include <vector>

namespace wsc::wafer {

// [1, C, H, W] → C × H × W; [B, F] → F × 1 × B; [F] → F × 1 × 1; a scalar → 1 × 1 × 1. Nothing else has a plane yet.
std::optional<kernels::Plane> planeOf(mlir::Type type);

// The tensor dimension that is the plane's channels, rows, width (-1: none) of tensors of a rank that has planes.
std::optional<std::array<int, 3>> planeDims(int64_t rank);

// True if a reshape between these types leaves every element at its place in the plane.
bool preservesPlane(mlir::RankedTensorType from, mlir::RankedTensorType to);

// Whether broadcasting `from` to `to`, which aligns the last dimensions, aligns their planes too.
bool broadcastsInPlane(mlir::Type from, mlir::Type to);

// Reshape, transpose: ops that only rename elements.
bool isMovement(mlir::Operation *op);

// The value at the beginning of the chain of movement ops that ends in `value`.
mlir::Value movementRoot(mlir::Value value);

// One digit of a mixed-radix index: `extent` steps of `stride` elements of the root tensor.
struct Digit {
  int64_t extent = 1, stride = 0;
};

// `value` seen through its chain of movement ops: for each of its dimensions the digits, outermost first, in row-major
// elements of the root. Nothing if the chain cannot be seen through (a reshape that cuts a digit unevenly).
std::optional<std::vector<std::vector<Digit>>> digitsOf(mlir::Value value);

// Where element (channel, row, column) of the plane of `value` lies in its movement root; the channel may fall into two
// digits.
std::optional<kernels::StreamPlan::Host> hostOfInput(mlir::Value value);
// Where element (channel, row, column) of the plane of value's movement root lies in `value`.
std::optional<kernels::StreamPlan::Host> hostOfOutput(mlir::Value value);

} // namespace wsc::wafer
