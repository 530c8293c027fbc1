// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// StridedSlice's numbers and masks as a box: x[begin:end:stride, ..., newaxis, index].
#pragma once
#include "compiler/import/tf/NodeContext.h"

namespace wsc::import::tf {

struct StridedBox {
  llvm::SmallVector<int64_t> starts, sizes, steps; ///< per dimension of the input
  llvm::SmallVector<int64_t> shape;                ///< of the result, new axes in, single indices out
};

/// Reads begin, end and strides (inputs `first` on) and the masks, for an input of shape `shape`.
StridedBox readStridedBox(NodeContext &node, llvm::ArrayRef<int64_t> shape, size_t first);

} // namespace wsc::import::tf
