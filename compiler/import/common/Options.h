// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all importers take and tell: options, errors that name the inputs to bind, lists of unsupported operators.
#pragma once
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/import/common/Literal.h"
#include "mlir/IR/Value.h"
#include <cstdint>
#include <map>
#include <optional>
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
  /// --signature KEY of a SavedModel; empty: serving_default, or the only one.
  std::string signature = {};
  /// --keep-variables: variables stay states although nothing writes them.
  bool keepVariables = false;
  /// --tensorflow-js: operators as TensorFlow.js computes them where it leaves TensorFlow's definition: it passes over
  /// the axis of OneHot, and over data_format of pools and batch normalisation, whose channels are always last.
  bool likeTensorFlowJs = false;
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

/// A status with the place it is about in front.
absl::Status at(const std::string &where, const absl::Status &status);

/// The error about a value that must be known while importing: says which of the function's inputs it depends on.
/// `what` names it.
absl::Status unknownValue(const std::string &what, mlir::Value value);

/// An --input option taken apart.
struct InputOption {
  std::string name;
  std::optional<std::vector<int64_t>> shape;
  std::string elementType; ///< "f32", or empty
};

/// "1x3x224x224" or "1x3xf32" or "f32" (0-d). False if it is something else.
bool parseShape(const std::string &text, InputOption &option);
/// The element type that an option names; InvalidArgument for what is none.
absl::StatusOr<mlir::Type> parseElementType(mlir::MLIRContext &context, const InputOption &option);

/// The elements of a tensor as a list of numbers with commas in between; InvalidArgument for another count of them, for
/// what is no number and for what the element type does not hold.
absl::StatusOr<Literal> parseElements(mlir::RankedTensorType type, const std::string &text);

} // namespace wsc::import
