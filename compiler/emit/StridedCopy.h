// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Copies a strided view into packed row-major order with good locality.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wsc::emit {

// out[row-major (i0, i1, …) over extents] = source[Σ i_d·strides[d]], elements of `elementBytes` (1, 2, 4 or 8) bytes
// at any alignment. The caller has checked that all elements lie in the source.
void stridedCopy(std::byte *out, const std::byte *source, int64_t elementBytes, const std::vector<int64_t> &extents,
                 const std::vector<int64_t> &strides);

} // namespace wsc::emit
