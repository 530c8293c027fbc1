// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants of a TensorFlow graph. Elements that the wire scan left in the file become #nn.weights there; short lists
// of typed fields become elements in the IR, the last one repeated as TensorFlow does.
#pragma once
#include "compiler/import/common/FileStore.h"
#include "compiler/import/tf/Value.h"
#include "compiler/import/tf/tf.pb.h"

namespace wsc::import::tf {

class TensorReader {
public:
  /// `path` is the file that the wire scan's places are in.
  TensorReader(mlir::MLIRContext &context, FileStore &files, std::string path)
      : context_(context), files_(files), path_(std::move(path)) {}

  /// A tensor, or strings. Errors: element type, impossible extents, fewer or more bytes than the shape needs.
  absl::StatusOr<Value> read(const wsc::tf::TensorProto &tensor);

private:
  absl::StatusOr<mlir::TypedAttr> readBytes(const wsc::tf::TensorProto &tensor, mlir::RankedTensorType type);
  absl::StatusOr<mlir::TypedAttr> readFields(const wsc::tf::TensorProto &tensor, mlir::RankedTensorType type);

  mlir::MLIRContext &context_;
  FileStore &files_;
  std::string path_;
};

} // namespace wsc::import::tf
