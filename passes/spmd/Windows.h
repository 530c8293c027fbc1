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

/// Appends, for each spatial dimension, where the taps `taps` of the windows lie; the spatial dimensions of the result
/// are the iterators from `first` on.
void addWindowIndices(const NestBuilder &nests, llvm::SmallVectorImpl<mlir::AffineExpr> &indices, int64_t first,
                      llvm::ArrayRef<mlir::AffineExpr> taps, llvm::ArrayRef<int64_t> strides,
                      llvm::ArrayRef<int64_t> dilations);

/// An image [N, C, spatial…] with `fill` around it: `pads` holds what comes before each spatial dimension, then what
/// comes behind each; negative ones take away. The image itself if all are 0.
mlir::Value padImage(NestBuilder &nests, mlir::Value image, llvm::ArrayRef<int64_t> pads, mlir::TypedAttr fill);

} // namespace wsc::spmd
