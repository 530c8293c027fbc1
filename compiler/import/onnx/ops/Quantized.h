// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quantised tensors as numbers and back. Scales and zero points have shapes that broadcast; a zero point may be null.
#pragma once
#include "compiler/import/common/Functions.h"
#include <optional>

namespace wsc::import {

/// round(x / scale) + zero point, saturated to an integer type. A float type rounds itself, and saturates if it shall.
Expression quantized(const Expression &x, const Expression &scale, const Expression &zeroPoint, mlir::Type element,
                     bool saturate = true);
/// x - zero point in i32.
Expression centred(const Expression &x, const Expression &zeroPoint);
/// Factors of a product whose sums are formed in i32.
struct Factors {
  Expression a, b;
};
/// Both centred, for i32 products: conversions of i8, u8 or i16, one type for both, so that multiply-adds take the
/// narrow type.
Factors centredFactors(const Expression &a, const Expression &aZero, const Expression &b, const Expression &bZero);

/// A product of two f32 tensors made from whole numbers of up to 8 bits: that of the numbers, and the scale of its
/// sums, one number or one per place of `channels` of b.
struct IntegerProduct {
  Factors factors;
  Expression scale;
};
/// Nothing where a tensor is not made so, a has several scales, b's are along another dimension, or sums of `terms`
/// products may pass the range of i32.
std::optional<IntegerProduct> integerProduct(LayerBuilder &layers, const Tensor &a, const Tensor &b, int64_t channels,
                                             int64_t terms);
/// (x - zero point)·scale in the scale's type, f32 at least.
Expression dequantized(const Expression &x, const Expression &scale, const Expression &zeroPoint);

} // namespace wsc::import
