// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows taken apart: for each tap the elements of the padded input that lie under it are a strided slice. Channels
// are first.
#pragma once
#include "compiler/import/common/Windows.h"

namespace wsc::import::tf {

/// Windows of more taps than this are refused: each makes layers of its own.
inline constexpr int64_t mostTaps = 1024;

/// x [N, C, spatial…] with the window's pads filled with `filler`, a number.
Expression paddedBy(const Expression &x, const SpatialWindow &window, const Expression &filler);

/// The elements under a tap: [N, C, output…].
Expression underTap(const Expression &padded, const SpatialWindow &window, llvm::ArrayRef<int64_t> tap,
                    llvm::ArrayRef<int64_t> output);

/// The next tap in row-major order; false after the last.
bool nextTap(llvm::MutableArrayRef<int64_t> tap, llvm::ArrayRef<int64_t> kernel);

} // namespace wsc::import::tf
