// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Import of ONNX models into the nn dialect. The model file is mapped; weights stay in it as #nn.weights. The module
// returned holds one func.func @main whose arguments and results carry their ONNX names as nn.name.
#pragma once
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace wsc::import {

struct ImportOptions {
  /// Values of symbolic dimensions (--dim NAME=VALUE), elements. A name the model does not have is an error.
  std::map<std::string, int64_t> dims;
  /// --input NAME[:SHAPE], SHAPE as in 1x3x224x224 or, with an element type, 1x3x224x224xf32. A graph input gets that
  /// shape; any other tensor becomes an input: what produces it is cut off, and graph inputs that only fed it vanish.
  std::vector<std::string> inputs;
  /// --output NAME: the results, in this order, instead of the graph's outputs. Any tensor of the graph.
  std::vector<std::string> outputs;
  /// --bind NAME=VALUE: the input becomes a constant and is no argument. VALUE lists its elements in row-major order,
  /// separated by commas; nothing for none. For inputs that shapes depend on: axes, extents, counts.
  std::map<std::string, std::string> bindings = {};
};

/// Names of the inputs on whose values a refused import depends where it must know a value; binding them (see
/// ImportOptions::bindings) takes it past that place. Empty for any other error.
std::vector<std::string> inputsToBind(const absl::Status &status);

/// An operator the importer has no translation for.
struct UnsupportedOperator {
  std::string domain; ///< empty for ONNX's own operators
  std::string type;
  int64_t opset = 0;     ///< version of the domain the model imports
  int64_t count = 0;     ///< nodes of this type that the outputs need
  std::string firstNode; ///< name of the first one, or of its first output if it has none
};

/// Imports the model at `path`. Every error names what is wrong, where and what would help; all unsupported operators
/// are listed in one (Unimplemented). Initializers that are also graph inputs are constants; `inputs` makes them
/// inputs.
absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> importOnnx(mlir::MLIRContext &context, const std::string &path,
                                                             const ImportOptions &options = {});

/// The operators of the model at `path` that importOnnx would refuse, in order of first use; empty if it knows all.
absl::StatusOr<std::vector<UnsupportedOperator>> listUnsupportedOperators(const std::string &path,
                                                                          const ImportOptions &options = {});

} // namespace wsc::import
