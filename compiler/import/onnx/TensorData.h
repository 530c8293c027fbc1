// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From TensorProto to constants: elements in the model file, in an external file, or in the message.
#pragma once
#include "absl/status/statusor.h"
#include "compiler/import/common/FileStore.h"
#include "compiler/import/onnx/onnx.pb.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/MLIRContext.h"

namespace wsc::import {

/// Element type of an ONNX data type (unsigned ones as ui8…ui64); InvalidArgument or Unimplemented for others, strings included.
absl::StatusOr<mlir::Type> elementType(mlir::MLIRContext &context, int dataType);

/// Reads TensorProtos of one model.
class TensorReader {
public:
  TensorReader(mlir::MLIRContext &context, FileStore &files, std::string modelPath)
      : context_(context), files_(files), modelPath_(std::move(modelPath)) {}

  /// #nn.weights for elements that lie raw in a file, DenseElementsAttr for the others. Checks type, shape, size and place.
  absl::StatusOr<mlir::TypedAttr> read(const wsc::onnx::TensorProto &tensor);

private:
  absl::StatusOr<mlir::TypedAttr> readExternal(const wsc::onnx::TensorProto &tensor, mlir::RankedTensorType type, uint64_t bytes);

  mlir::MLIRContext &context_;
  FileStore &files_;
  std::string modelPath_;
};

} // namespace wsc::import
