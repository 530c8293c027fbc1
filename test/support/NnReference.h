// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executes an imported @main of nn operations, one plain loop per operation: floats in double precision, each
// operation's result rounded to its element type, and integers exactly. It is the meaning of the dialect written down a
// second time, to compare importers (and, with a tolerance, the emulator) against.
#pragma once
#include "dialects/nn/Nn.h"
#include "mlir/IR/BuiltinOps.h"
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace wsc::test {

struct Array {
  std::vector<int64_t> shape;
  std::vector<double> values;
  /// The same elements of an integer tensor, exact beyond 2^53 (unsigned ones as their bits). An argument may leave it
  /// empty: then `values` count.
  std::vector<int64_t> ints = {};
  int64_t size() const {
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    return count;
  }
};

/// Raw little-endian elements of a tensor type.
Array decode(mlir::RankedTensorType type, const std::string &bytes);
Array decode(mlir::DenseElementsAttr elements);

/// Results of @main for its arguments in order; weights are read from their files. nullopt with `error` set for an
/// operation not covered. `states` holds the variables' values from call to call; without an entry a variable begins
/// with its initial value.
std::optional<std::vector<Array>> runReference(mlir::ModuleOp module, const std::vector<Array> &arguments,
                                               std::string &error, std::map<std::string, Array> *states = nullptr);

} // namespace wsc::test
