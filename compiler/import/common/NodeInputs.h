// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the node contexts of all front ends have in common: errors that stick to the layer builder, inputs whose
// elements must be known while importing, axes.
#pragma once
#include "compiler/import/common/Functions.h"
#include <optional>
#include <string>
#include <vector>

namespace wsc::import {

class NodeInputs {
public:
  explicit NodeInputs(LayerBuilder &layers) : layers(layers) {}
  virtual ~NodeInputs() = default;

  LayerBuilder &layers;

  bool failed() const { return layers.failed(); }
  void fail(const std::string &message) { layers.fail(message); }
  void unsupported(const std::string &message) { layers.fail(absl::UnimplementedError(message)); }

  /// Input i; null where it is left out or after an error.
  virtual Tensor input(size_t i) = 0;
  /// The same to calculate with.
  Expression in(size_t i) { return {layers, input(i)}; }
  /// Elements of an input that must be known; `what` names it in the error.
  std::optional<Literal> known(size_t i, const char *what);
  /// Fails because a value of the graph must be known; says which inputs it depends on.
  void failUnknown(const std::string &what, const Tensor &tensor);
  /// The elements of a known integer tensor of at most one dimension.
  std::vector<int64_t> constantInts(size_t i, const char *what);
  /// The single element of a known input.
  double constantScalar(size_t i, const char *what);
  /// The same where it must be whole; floats count by their value.
  int64_t constantInt(size_t i, const char *what);

  /// axis in [-rank, rank) made non-negative.
  int64_t normalizedAxis(int64_t axis, int64_t rank);
  /// The same of several, each of which may be given once.
  std::vector<int64_t> normalizedAxes(std::vector<int64_t> axes, int64_t rank);
};

} // namespace wsc::import
