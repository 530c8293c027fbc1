// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types of the arguments: declared shapes with --dim values put in, or the shapes --input gives.
#pragma once
#include "absl/status/statusor.h"
#include "compiler/import/onnx/Graph.h"
#include "mlir/IR/BuiltinTypes.h"

namespace wsc::import {

struct GraphInput {
  std::string name;
  mlir::RankedTensorType type;
};

/// Inputs in the graph's order, then cuts in the order of the options. With cuts, graph inputs that nothing reads are
/// left out. All unresolved dimensions are named in one error, with the option to give.
absl::StatusOr<std::vector<GraphInput>> inferInputTypes(mlir::MLIRContext &context, const Graph &graph,
                                                        const ImportOptions &options);

} // namespace wsc::import
