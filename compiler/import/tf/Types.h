// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TensorFlow's element types and shapes as MLIR's.
#pragma once
#include "absl/status/statusor.h"
#include "compiler/import/tf/tf.pb.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include <optional>
#include <string>
#include <vector>

namespace wsc::import::tf {

/// The type without its reference: DT_FLOAT for DT_FLOAT_REF.
wsc::tf::DataType valueType(wsc::tf::DataType type);

/// Unimplemented for types that nn has no tensors of.
absl::StatusOr<mlir::Type> elementType(mlir::MLIRContext &context, wsc::tf::DataType type);

/// Extents, -1 for unknown ones; nullopt for an unknown rank.
std::optional<std::vector<int64_t>> extentsOf(const wsc::tf::TensorShapeProto &shape);

/// A shape whose extents are all known, with no more than 2^63 elements and none above 2^31; `what` names it in the
/// error.
absl::StatusOr<llvm::SmallVector<int64_t>> knownShape(const wsc::tf::TensorShapeProto &shape, const std::string &what);

} // namespace wsc::import::tf
