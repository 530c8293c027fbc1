// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds nests (linalg.generic) and remaps (wafer.remap) from what a layer knows: shapes, indices, a body. Iterators
// are numbered: first one per dimension of the result, then the reduced ones.
#pragma once

#include "compiler/spmd/network/Network.h"
#include "passes/spmd/ScalarBuilder.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"

#include <vector>

namespace wsc::spmd {

/// How a nest reads a tensor: the index along each dimension of it, over the nest's iterators.
struct NestOperand {
  mlir::Value tensor;
  llvm::SmallVector<mlir::AffineExpr> indices;
};

enum class Combine { Add, Multiply, Min, Max, MultiplyAdd };

using Elementwise = llvm::function_ref<Scalar(ScalarBuilder &, llvm::ArrayRef<Scalar>)>;
using Reduced = llvm::function_ref<llvm::SmallVector<Scalar, 2>(ScalarBuilder &, llvm::ArrayRef<Scalar>)>;

class NestBuilder {
public:
  NestBuilder(mlir::OpBuilder &builder, mlir::Location loc) : builder(builder), loc(loc) {}

  mlir::AffineExpr iterator(int64_t number) const { return mlir::getAffineDimExpr(unsigned(number), context()); }
  mlir::AffineExpr fixed(int64_t index) const { return mlir::getAffineConstantExpr(index, context()); }

  /// `tensor` element by element, or broadcast to a result of this shape as numpy does.
  NestOperand aligned(mlir::Value tensor, llvm::ArrayRef<int64_t> resultShape) const;

  /// Every element of the result is `body` of elements of the operands.
  mlir::Value elementwise(mlir::RankedTensorType result, llvm::ArrayRef<NestOperand> operands, Elementwise body);
  /// The same with all operands aligned.
  mlir::Value aligned(mlir::RankedTensorType result, llvm::ArrayRef<mlir::Value> operands, Elementwise body);

  /// Every element of the result is `combine` over the reduced iterators of what `body` gives: one value of the
  /// result's element type, or for MultiplyAdd two factors.
  mlir::Value reduce(mlir::RankedTensorType result, llvm::ArrayRef<int64_t> reducedExtents,
                     llvm::ArrayRef<NestOperand> operands, Combine combine, Reduced body);

  /// `tensor` converted to another element type; itself if it has that.
  mlir::Value convert(mlir::Value tensor, mlir::Type element);

  /// The remap of these pieces (Piece::source is a number of `sources`); `fill` may be null if they place every
  /// element.
  mlir::Value remap(mlir::RankedTensorType result, mlir::ValueRange sources, llvm::ArrayRef<Piece> pieces,
                    mlir::TypedAttr fill = {});
  /// The same elements in row-major order in another shape; of a constant, a constant.
  mlir::Value reshape(mlir::Value tensor, llvm::ArrayRef<int64_t> shape);

private:
  mlir::MLIRContext *context() const { return builder.getContext(); }

  mlir::OpBuilder &builder;
  mlir::Location loc;
};

/// What combining leaves as it is: 0, 1, the greatest or the least value of `element`.
mlir::TypedAttr neutral(Combine combine, mlir::Type element);

inline std::vector<int64_t> toVector(llvm::ArrayRef<int64_t> numbers) { return {numbers.begin(), numbers.end()}; }

} // namespace wsc::spmd
