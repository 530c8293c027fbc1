// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that front ends share and nn has no operation for, as formulas of its operations. In f32 and f64 they are
// accurate to a few units in the last place over their whole range, and no intermediate overflows where the result does
// not; 16-bit floats are widened before.
#pragma once
#include "compiler/import/common/Expression.h"

namespace wsc::import {

/// e^min(x, 0) - 1
Expression expMinusOneNegative(const Expression &x);
/// log(1 + x) for finite x >= -1.
Expression logOnePlus(const Expression &x);
/// log(1 + e^x)
Expression softplus(const Expression &x);
/// max(0, min(1, alpha·x + beta))
Expression hardSigmoid(const Expression &x, double alpha, double beta);
Expression tan(const Expression &x);
Expression sinh(const Expression &x);
Expression cosh(const Expression &x);
Expression asin(const Expression &x);
Expression acos(const Expression &x);
Expression atan(const Expression &x);
Expression asinh(const Expression &x);
Expression acosh(const Expression &x);
Expression atanh(const Expression &x);

/// i1: x is not a number; x is infinite.
Expression isNan(const Expression &x);
Expression isInfinite(const Expression &x, bool positive = true, bool negative = true);

/// log(Σ e^x) over axes.
Expression logSumExp(const Expression &x, llvm::ArrayRef<int64_t> axes, bool keepdims);
/// (x - mean) / sqrt(variance + epsilon) over axes.
Expression normalized(const Expression &x, llvm::ArrayRef<int64_t> axes, double epsilon);

/// Constants made while importing hold at most this many elements: their making takes about 60 bytes for each.
inline constexpr int64_t maxConstantElements = 6'000'000;
/// 0, 1 … count - 1 of an element type, as a constant [count].
Expression countingUp(LayerBuilder &layers, int64_t count, mlir::Type element);
/// Constants of small tensors: integers i64, floats of a float type.
Expression constant(LayerBuilder &layers, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> values);
Expression constant(LayerBuilder &layers, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> values,
                    mlir::Type element);
/// The least and greatest value of an element type: infinities of floats.
Expression lowest(LayerBuilder &layers, mlir::Type element);
Expression highest(LayerBuilder &layers, mlir::Type element);
/// Sum, product, minimum or maximum; i1 counts as 0 and 1, and no elements give the neutral value of the element type.
Expression reduceAny(nn::ReduceKind kind, const Expression &x, llvm::ArrayRef<int64_t> axes, bool keepdims);

/// 16-bit floats as f32, in which sums of many elements are formed; others as they are.
Expression widened(const Expression &x);
/// Indices in [-extent, extent) made non-negative.
Expression wrappedIndices(const Expression &indices, int64_t extent);
/// Elements of an axis by their numbers, which lie in [0, extent): slices of evenly spaced runs joined where there are
/// few, else a gather.
Expression picked(const Expression &x, int64_t axis, llvm::ArrayRef<int64_t> numbers);
/// Product of extents; 0 where it overflows, which only tensors without elements have.
int64_t productOf(llvm::ArrayRef<int64_t> extents);
/// [0, rank) without `axes`; [first, last).
llvm::SmallVector<int64_t> otherAxes(int64_t rank, llvm::ArrayRef<int64_t> axes);
llvm::SmallVector<int64_t> axesBetween(int64_t first, int64_t last);

} // namespace wsc::import
