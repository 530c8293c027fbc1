// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A model's inputs and outputs: those of the signature, of the options, or the graph's own placeholders and ends.
#pragma once
#include "compiler/import/common/Options.h"
#include "compiler/import/tf/Load.h"
#include "compiler/import/tf/Reach.h"
#include "mlir/IR/BuiltinTypes.h"

namespace wsc::import::tf {

struct GraphInput {
  std::string name; ///< as the caller names it: the signature's key, or the tensor
  Edge edge;
  mlir::RankedTensorType type;
};

struct GraphOutput {
  std::string name;
  Edge edge;
  bool isAsked = false; ///< by name; else a node without a tensor is passed over
};

struct Interface {
  std::vector<GraphInput> inputs;
  std::vector<GraphOutput> outputs;
  Reach reach;
};

/// Outputs first, then the inputs they need. An unknown first extent of an input is its batch and becomes 1; all other
/// unknown ones are named in one error, with the option to give. `typed` false leaves the types of inputs out.
absl::StatusOr<Interface> interfaceOf(mlir::MLIRContext &context, const Body &body, const LoadedModel &model,
                                      const ImportOptions &options, bool typed);

} // namespace wsc::import::tf
