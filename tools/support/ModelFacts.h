// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tools need to know of an ONNX model before it is compiled: its inputs' declared shapes and how many bytes
// its weights take. Read by the importer's wire scan: weights are not copied.
#pragma once

#include "compiler/driver/Compiler.h"
#include "runtime/session/TensorFile.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace wsc::tools {

struct ModelDim {
  int64_t extent = -1; // -1: not given
  std::string symbol;  // empty: unnamed
};

struct ModelInput {
  std::string name;
  bool hasShape = false;
  std::vector<ModelDim> dims;
};

struct ModelFacts {
  std::vector<ModelInput> inputs; // graph inputs that are no initializers, in order
  std::set<std::string> symbols;  // of all values the graph describes
  int64_t weightBytes = 0;        // initializers and tensors of nodes, at their element type's width
};

absl::StatusOr<ModelFacts> readModelFacts(const std::string &path);

// Fixes what the model leaves open: dimensions named in `given`, then those that the shapes of a data set's inputs
// determine; inputs with unnamed open dimensions get their whole shape. Returns the options used, as they would be
// written for wsc-compile ("--dim N=1", "--input x:1x3"); those from `given` are not among them.
std::vector<std::string> fixShapes(const ModelFacts &facts, const std::vector<Tensor> &inputs,
                                   const std::map<std::string, int64_t> &given, driver::CompileOptions &options);

// Binds the inputs `names` to their values in a data set, where they have at most one dimension: a model whose shapes
// depend on them compiles for these values only. Returns the options used ("--bind axes=0,1").
std::vector<std::string> bindInputs(const ModelFacts &facts, const std::vector<Tensor> &inputs,
                                    const std::vector<std::string> &names, driver::CompileOptions &options);

// The inputs of a data set that are not bound.
std::vector<Tensor> withoutBound(const ModelFacts &facts, std::vector<Tensor> inputs,
                                 const std::map<std::string, std::string> &bindings);

} // namespace wsc::tools
