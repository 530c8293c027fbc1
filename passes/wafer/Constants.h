// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants of a kernel's region: views for code generation, values for folding.
#pragma once

#include "compiler/kernels/network/Spec.h"

#include "mlir/IR/Value.h"
#include "mlir/Support/LLVM.h"

#include <optional>
#include <vector>

namespace wsc::wafer {

// True if `value` is an nn.constant, possibly reshaped.
bool isConstant(mlir::Value value);

// Its elements where they are. Row-major, f32.
std::optional<kernels::ConstantView> constantView(mlir::Value value);

// Elements of a constant's or variable's value.
std::optional<kernels::ConstantView> constantView(mlir::Attribute value);

// Its elements as doubles; reads the file. Meant for small parameters. Fails with a diagnostic when the file cannot be
// read.
mlir::FailureOr<std::vector<double>> constantValues(mlir::Value value);

// A view on values held in memory as f32.
kernels::ConstantView inlineConstant(const std::vector<double> &values);

} // namespace wsc::wafer
