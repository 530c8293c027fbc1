// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ways to spread a nest's iterations over a rectangle that are worth a look.
#pragma once

#include "compiler/spmd/plan/Distribution.h"

namespace wsc::spmd {

/// Each axis takes nothing, blocks of one parallel iterator, or of two, or of one (or none) with a reduction inside; a
/// parallel iterator with a reduction inside is cut into all, a half, a quarter … of its blocks. No iterator is on both
/// axes. `withoutTaps`: iterators that walk a window stay on one core. Cost grows with the square of the iterators,
/// whatever the rectangle.
std::vector<Distribution> candidatesOf(const Network &network, const Nest &nest, const Rectangle &rectangle,
                                       bool withoutTaps);

} // namespace wsc::spmd
