// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quantised tensors as numbers and back. Scales and zero points have shapes that broadcast; a zero point may be null.
#pragma once
#include "compiler/import/common/Functions.h"

namespace wsc::import {

/// round(x / scale) + zero point, saturated to an integer type. A float type rounds itself, and saturates if it shall.
Expression quantized(const Expression &x, const Expression &scale, const Expression &zeroPoint, mlir::Type element,
                     bool saturate = true);
/// x - zero point in i32.
Expression centred(const Expression &x, const Expression &zeroPoint);
/// (x - zero point)·scale in the scale's type, f32 at least.
Expression dequantized(const Expression &x, const Expression &scale, const Expression &zeroPoint);

} // namespace wsc::import
