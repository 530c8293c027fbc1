// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions from and to storage types (dialects/nn/Storage.h) as arithmetic on bits.
#pragma once
#include "compiler/import/common/Expression.h"

namespace wsc::import {

/// How floats become storage types. The rules are those of ONNX's Cast.
struct StorageRounding {
  /// What lies beyond the greatest finite value, infinity included, becomes that value; else infinity, or NaN where the
  /// type has none. f4E2M1FN has neither and saturates always.
  bool saturate = true;
  enum Direction { Nearest, Down, Up };
  /// Of f8E8M0FNU, whose values are powers of two; other types round to nearest even.
  Direction direction = Up;
};

/// Floats and integers to a storage type and back. NaN stays NaN where the type has one; -0 is 0 in the types without
/// it. Floats to integers truncate, and integers keep their low
/// bits. Wider than f32 only f64 is
/// converted without rounding twice.
Expression castStorage(const Expression &x, mlir::Type element, const StorageRounding &rounding);

} // namespace wsc::import
