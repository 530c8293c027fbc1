// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the greatest and least elements along an axis are.
#pragma once
#include "compiler/import/common/Functions.h"

namespace wsc::import {

/// 0 … count - 1 along dimension `axis` of a tensor of `rank` dimensions, the others of extent 1.
Expression numbersAlong(LayerBuilder &layers, int64_t count, int64_t axis, int64_t rank, mlir::Type element);

/// Number (i32) of the first or last greatest or least element along an axis, which stays with extent 1.
Expression extremeIndex(const Expression &x, int64_t axis, bool greatest, bool last);

} // namespace wsc::import
