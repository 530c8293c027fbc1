// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test cases of TensorFlow graphs. A graph does not say what is fed and fetched: the tensors of the data set do, by the
// names in their files. Data may hold 32-bit integers where the graph has 64-bit ones, as runtimes without the latter
// write them; whole numbers count by their value.
#pragma once

#include "tools/support/ModelFacts.h"

namespace wsc::tools {

// Whether a case's model is a TensorFlow graph or SavedModel.
bool isTensorFlowCase(const std::string &model);

// Options that feed the inputs, with their shapes, and fetch the outputs; facts of the inputs.
ModelFacts nameTensors(const std::vector<Tensor> &inputs, const std::vector<Tensor> &outputs,
                       driver::CompileOptions &options);

// A tensor of integers as another integer type; others as they are.
Tensor withIntegerType(Tensor tensor, format::ElementType type);

} // namespace wsc::tools
