// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random ONNX graphs of 5 to 40 operators on small tensors, and inputs for them. Every graph is valid; the same seed
// gives the same graph. Values stay below about 20, and what jumps (comparisons, rounding, sorting) is applied to exact
// tensors only, so two correct implementations differ by rounding.
#pragma once
#include "test/support/OnnxBuilder.h"
#include <string>
#include <vector>

namespace wsc::test {

struct RandomGraph {
  OnnxBuilder model{20, 10};
  /// TensorProtos of the inputs, in the model's order.
  std::vector<wsc::onnx::TensorProto> inputs;
  /// Operators in order, for messages.
  std::vector<std::string> operators;
};

/// A graph of `operators` operators, or of a random number of 5 to 40 where that is 0.
RandomGraph makeRandomGraph(uint64_t seed, int operators = 0);

/// A model of one operator of ai.onnx.ml: trees, support vectors, linear models, preparation of features.
RandomGraph makeRandomLearner(uint64_t seed);

/// A model of one operator of com.microsoft.
RandomGraph makeRandomFused(uint64_t seed);

/// A quantised model, a small convolutional net or a layer of an encoder, of QuantizeLinear and DequantizeLinear around
/// layers in f32. Elements of the result are multiples of `quantisedStep`.
RandomGraph makeRandomQuantised(uint64_t seed);
inline constexpr double quantisedStep = 8.0 / 127;

/// Writes model.onnx and test_data_set_0/input_K.pb below `folder`, which is created. False where that fails.
bool writeCase(const RandomGraph &graph, const std::string &folder);

} // namespace wsc::test
