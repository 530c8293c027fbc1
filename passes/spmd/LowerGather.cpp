// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nn.gather: a nest over the result that extracts elements of the table at the place which the indices, as i32, say.
#include "dialects/nn/Nn.h"
#include "passes/spmd/NestBuilder.h"
#include "passes/spmd/NestLowering.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace wsc::spmd {

namespace {

/// The indices as i32; of a constant in the IR, a constant.
Value narrowIndices(NestBuilder &nests, OpBuilder &builder, Value indices) {
  auto constant = indices.getDefiningOp<nn::ConstantOp>();
  DenseElementsAttr dense = constant ? constant.getDense() : DenseElementsAttr();
  if (!dense || dense.getElementType().isInteger(32))
    return nests.convert(indices, builder.getI32Type());
  auto narrow = dense.mapValues(builder.getI32Type(), [](const APInt &index) { return index.trunc(32); });
  return nn::ConstantOp::create(builder, indices.getLoc(), cast<TypedAttr>(Attribute(narrow)));
}

struct GatherNests : NestLowering::ExternalModel<GatherNests, nn::GatherOp> {
  FailureOr<Value> buildNests(Operation *op, OpBuilder &builder) const {
    auto layer = cast<nn::GatherOp>(op);
    NestBuilder nests(builder, op->getLoc());
    auto result = cast<RankedTensorType>(layer.getType());
    auto table = cast<RankedTensorType>(layer.getInput().getType());
    const int64_t axis = layer.getAxis(), extent = table.getDimSize(unsigned(axis));
    if (result.getNumElements() == 0)
      return nests.remap(result, {}, {});
    if (extent == 0 || extent > INT32_MAX)
      return op->emitOpError() << "cannot pick from axis " << axis << " of extent " << extent
                               << "; indices are 32-bit numbers of at least one element";
    Value indices = narrowIndices(nests, builder, layer.getIndices());
    const int64_t indexRank = cast<RankedTensorType>(indices.getType()).getRank(), rank = result.getRank();

    SmallVector<AffineExpr> where;
    for (int64_t d = 0; d < indexRank; ++d)
      where.push_back(nests.iterator(axis + d));
    const SmallVector<AffineMap> maps{AffineMap::get(unsigned(rank), 0, where, builder.getContext()),
                                      AffineMap::getMultiDimIdentityMap(unsigned(rank), builder.getContext())};
    const SmallVector<utils::IteratorType> kinds(size_t(rank), utils::IteratorType::parallel);
    Value empty = tensor::EmptyOp::create(builder, op->getLoc(), result.getShape(), result.getElementType());
    auto generic = linalg::GenericOp::create(
        builder, op->getLoc(), result, indices, empty, maps, kinds,
        [&](OpBuilder &inside, Location loc, ValueRange elements) {
          SmallVector<Value> at;
          for (int64_t d = 0; d < table.getRank(); ++d)
            at.push_back(d == axis
                             ? Value(arith::IndexCastOp::create(inside, loc, inside.getIndexType(), elements[0]))
                             : Value(linalg::IndexOp::create(inside, loc, uint64_t(d < axis ? d : d + indexRank - 1))));
          Value picked = tensor::ExtractOp::create(inside, loc, layer.getInput(), at);
          linalg::YieldOp::create(inside, loc, picked);
        });
    return generic.getResult(0);
  }
};

} // namespace

void attachGatherLowerings(MLIRContext &context) { nn::GatherOp::attachInterface<GatherNests>(context); }

} // namespace wsc::spmd
