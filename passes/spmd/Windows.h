// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What layers with windows share: padded images, and the indices of a window's taps.
#pragma once

#include "passes/spmd/NestBuilder.h"

namespace wsc::spmd {

/// Numbers the reduced iterators of a nest, which follow its `rank` parallel ones. An extent of 1 takes no iterator:
/// its index is 0.
class ReducedIterators {
public:
  ReducedIterators(const NestBuilder &nests, int64_t rank) : nests(nests), rank(rank) {}
  mlir::AffineExpr add(int64_t extent);
  llvm::ArrayRef<int64_t> extents() const { return all; }

private:
  const NestBuilder &nests;
  int64_t rank;
  llvm::SmallVector<int64_t> all;
};

/// Where tap `tap` of the window of output `output` lies.
mlir::AffineExpr windowIndex(mlir::AffineExpr output, mlir::AffineExpr tap, int64_t stride, int64_t dilation);

/// An image [N, C, H, W] with `pads` = [top, left, bottom, right] of `fill` around it; negative ones take away. The
/// image itself if all are 0.
mlir::Value padImage(NestBuilder &nests, mlir::Value image, llvm::ArrayRef<int64_t> pads, mlir::TypedAttr fill);

} // namespace wsc::spmd
