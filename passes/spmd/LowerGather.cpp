// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nn.gather, nn.gather_elements: a nest over the result that extracts elements of the table at the place which the
// indices, as i32, say.
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

/// A nest over the result: iterators `indexed` say which index is read, and dimension d of the table is read at
/// iterator at[d], or where that is -1 (along `axis`) at the index.
FailureOr<Value> pick(OpBuilder &builder, Operation *op, Value table, Value indices, ArrayRef<int64_t> indexed,
                      ArrayRef<int64_t> at) {
  NestBuilder nests(builder, op->getLoc());
  auto result = cast<RankedTensorType>(op->getResult(0).getType());
  const int64_t axis = llvm::find(at, -1) - at.begin();
  const int64_t extent = cast<RankedTensorType>(table.getType()).getDimSize(unsigned(axis));
  if (result.getNumElements() == 0)
    return nests.remap(result, {}, {});
  if (extent == 0 || extent > INT32_MAX)
    return op->emitOpError() << "cannot pick from axis " << axis << " of extent " << extent
                             << "; indices are 32-bit numbers of at least one element";
  const size_t rank = size_t(result.getRank());
  SmallVector<AffineExpr> where;
  for (int64_t iterator : indexed)
    where.push_back(nests.iterator(iterator));
  const SmallVector<AffineMap> maps{AffineMap::get(unsigned(rank), 0, where, builder.getContext()),
                                    AffineMap::getMultiDimIdentityMap(unsigned(rank), builder.getContext())};
  const SmallVector<utils::IteratorType> kinds(rank, utils::IteratorType::parallel);
  Value narrow = narrowIndices(nests, builder, indices);
  Value empty = tensor::EmptyOp::create(builder, op->getLoc(), result.getShape(), result.getElementType());
  auto generic = linalg::GenericOp::create(
      builder, op->getLoc(), result, narrow, empty, maps, kinds,
      [&](OpBuilder &inside, Location loc, ValueRange elements) {
        SmallVector<Value> places;
        for (int64_t iterator : at)
          places.push_back(iterator < 0
                               ? Value(arith::IndexCastOp::create(inside, loc, inside.getIndexType(), elements[0]))
                               : Value(linalg::IndexOp::create(inside, loc, uint64_t(iterator))));
        linalg::YieldOp::create(inside, loc, Value(tensor::ExtractOp::create(inside, loc, table, places)));
      });
  return generic.getResult(0);
}

struct GatherNests : NestLowering::ExternalModel<GatherNests, nn::GatherOp> {
  FailureOr<Value> buildNests(Operation *op, OpBuilder &builder) const {
    auto layer = cast<nn::GatherOp>(op);
    const int64_t axis = layer.getAxis(), rank = cast<RankedTensorType>(layer.getInput().getType()).getRank();
    const int64_t indexRank = cast<RankedTensorType>(layer.getIndices().getType()).getRank();
    SmallVector<int64_t> indexed, at;
    for (int64_t d = 0; d < indexRank; ++d)
      indexed.push_back(axis + d);
    for (int64_t d = 0; d < rank; ++d)
      at.push_back(d < axis ? d : d == axis ? -1 : d + indexRank - 1);
    return pick(builder, op, layer.getInput(), layer.getIndices(), indexed, at);
  }
};

struct GatherElementsNests : NestLowering::ExternalModel<GatherElementsNests, nn::GatherElementsOp> {
  FailureOr<Value> buildNests(Operation *op, OpBuilder &builder) const {
    auto layer = cast<nn::GatherElementsOp>(op);
    SmallVector<int64_t> indexed, at;
    for (int64_t d = 0; d < cast<RankedTensorType>(layer.getType()).getRank(); ++d) {
      indexed.push_back(d);
      at.push_back(d == int64_t(layer.getAxis()) ? -1 : d);
    }
    return pick(builder, op, layer.getInput(), layer.getIndices(), indexed, at);
  }
};

} // namespace

void attachGatherLowerings(MLIRContext &context) {
  nn::GatherOp::attachInterface<GatherNests>(context);
  nn::GatherElementsOp::attachInterface<GatherElementsNests>(context);
}

} // namespace wsc::spmd
