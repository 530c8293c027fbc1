// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Translation of an indexed graph into a module with one function of nn operations.
#pragma once
#include "absl/status/statusor.h"
#include "compiler/import/common/FileStore.h"
#include "compiler/import/onnx/Graph.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace wsc::import {

/// A model read and indexed; files stay mapped.
struct LoadedModel {
  FileStore files;
  wsc::onnx::ModelProto proto;
  Graph graph;
};

/// Version of the node's domain among `opsets`; InvalidArgument where there is none, Unimplemented where it is not
/// known.
absl::StatusOr<int64_t> opsetOf(const std::map<std::string, int64_t> &opsets, const wsc::onnx::NodeProto &node);

/// All operators of the graph must be known or be functions of the model.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> translate(mlir::MLIRContext &context, const std::string &path,
                                                            LoadedModel &model, const ImportOptions &options);

} // namespace wsc::import
