// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small tensor whose elements are known while importing: shapes, axes, pads, scalars. Integers are held as int64 (bool as 0/1),
// floats as double rounded to the element type after every operation, which for f16, bf16 and f32 gives exactly the
// correctly rounded result of + - * / and square root.
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include <optional>
#include <string_view>
#include <vector>

namespace wsc::import {

/// Literals are formed up to this many elements; larger tensors are left to the graph.
inline constexpr int64_t maxLiteralElements = 16384;

struct Literal {
  mlir::RankedTensorType type;
  std::vector<int64_t> ints;   ///< elements, if the element type is an integer
  std::vector<double> floats;  ///< elements, if it is a float

  bool isFloat() const { return mlir::isa<mlir::FloatType>(type.getElementType()); }
  int64_t size() const { return type.getNumElements(); }

  /// Of zeros.
  static Literal zeros(mlir::RankedTensorType type);
  /// From raw little-endian elements (bool: one byte each); nullopt for element types it does not know.
  static std::optional<Literal> fromBytes(mlir::RankedTensorType type, std::string_view bytes);
  static Literal fromAttribute(mlir::DenseElementsAttr attribute);
  mlir::DenseElementsAttr toAttribute() const;

  /// Wraps integers and rounds floats to the element type.
  void normalize();
};

} // namespace wsc::import
