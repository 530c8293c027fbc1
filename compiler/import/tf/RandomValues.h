// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Initial values of variables that a graph draws at random. TensorFlow's numbers depend on its version and device;
// these depend on the graph alone: on its seeds and the operator's name.
#pragma once
#include "absl/status/statusor.h"
#include "compiler/import/tf/Value.h"

namespace wsc::import::tf {

/// Seed of the numbers of one operator.
uint64_t seedOf(const std::string &node, int64_t seed, int64_t second);

/// A constant with the numbers of a distribution. Unimplemented for more than maxConstantElements and for integers.
absl::StatusOr<Tensor> drawnValues(const Random &random);

} // namespace wsc::import::tf
