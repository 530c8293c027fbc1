// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executes an imported @main of nn operations in double precision, one plain loop per operation: the meaning of the
// dialect written down a second time, to compare importers (and, with a tolerance, the emulator) against. Integers are
// held as doubles, exact up to 2^53.
#pragma once
#include "dialects/nn/Nn.h"
#include "mlir/IR/BuiltinOps.h"
#include <optional>
#include <string>
#include <vector>

namespace wsc::test {

struct Array {
  std::vector<int64_t> shape;
  std::vector<double> values;
  int64_t size() const {
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    return count;
  }
};

/// Raw little-endian elements of a tensor type as doubles.
Array decode(mlir::RankedTensorType type, const std::string &bytes);

/// Results of @main for its arguments in order; weights are read from their files. nullopt with `error` set for an
/// operation not covered.
std::optional<std::vector<Array>> runReference(mlir::ModuleOp module, const std::vector<Array> &arguments,
                                               std::string &error);

} // namespace wsc::test
