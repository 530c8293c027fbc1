// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Products of tensors summed over labels.
#pragma once
#include "compiler/import/common/Functions.h"
#include <string>

namespace wsc::import {

/// The equation's result for its inputs, one term for each: "bij,bjk->bik", with ellipses, or without an arrow: then
/// the ellipsis and the labels that occur once, in alphabetical order.
Expression einsum(LayerBuilder &layers, std::string equation, llvm::ArrayRef<Expression> inputs);

} // namespace wsc::import
