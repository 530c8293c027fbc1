// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the greatest and least elements along an axis are, the greatest in order, and running sums.
#pragma once
#include "compiler/import/common/Functions.h"

namespace wsc::import {

/// 0 … count - 1 along dimension `axis` of a tensor of `rank` dimensions, the others of extent 1.
Expression numbersAlong(LayerBuilder &layers, int64_t count, int64_t axis, int64_t rank, mlir::Type element);

/// Number (i32) of the first or last greatest or least element along an axis, which stays with extent 1.
Expression extremeIndex(const Expression &x, int64_t axis, bool greatest, bool last);

/// The `count` greatest or least elements along an axis in their order, and their numbers (i32). Of equal ones the
/// first comes first. `count` is in [1, extent].
struct Sorted {
  Expression values, numbers;
};
Sorted sortedAlong(const Expression &x, int64_t axis, int64_t count, bool largest);

/// The sum or product, for each place along an axis, of the elements up to it: without itself if `exclusive`, from the
/// end if `reverse`.
Expression running(nn::ReduceKind kind, const Expression &x, int64_t axis, bool exclusive, bool reverse);

} // namespace wsc::import
