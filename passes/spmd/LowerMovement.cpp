// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layers that place elements elsewhere: one remap each.
#include "compiler/spmd/network/Pieces.h"
#include "dialects/nn/Nn.h"
#include "passes/spmd/NestBuilder.h"
#include "passes/spmd/NestLowering.h"

using namespace mlir;

namespace wsc::spmd {

namespace {

using Vector = std::vector<int64_t>;

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }
Vector shapeOf(Value value) { return toVector(typeOf(value).getShape()); }

/// The remap of one operand by at most one piece.
Value single(NestBuilder &nests, Value result, Value source, std::optional<Piece> piece, TypedAttr fill = {}) {
  SmallVector<Piece> pieces;
  if (piece) {
    piece->source = 0;
    pieces.push_back(*piece);
  }
  return nests.remap(typeOf(result), source, pieces, fill);
}

struct ReshapeNests : NestLowering::ExternalModel<ReshapeNests, nn::ReshapeOp> {
  FailureOr<Value> buildNests(Operation *op, OpBuilder &builder) const {
    auto layer = cast<nn::ReshapeOp>(op);
    return NestBuilder(builder, op->getLoc()).reshape(layer.getInput(), typeOf(layer).getShape());
  }
};

struct TransposeNests : NestLowering::ExternalModel<TransposeNests, nn::TransposeOp> {
  FailureOr<Value> buildNests(Operation *op, OpBuilder &builder) const {
    auto layer = cast<nn::TransposeOp>(op);
    NestBuilder nests(builder, op->getLoc());
    const Vector to = shapeOf(layer), from = rowMajorStrides(shapeOf(layer.getInput())), strides = rowMajorStrides(to);
    if (typeOf(layer).getNumElements() == 0)
      return single(nests, layer, layer.getInput(), std::nullopt);
    Piece piece;
    for (auto [d, source] : llvm::enumerate(layer.getPermutation()))
      piece.digits.push_back({to[d], from[size_t(source)], strides[d]});
    return single(nests, layer, layer.getInput(), normalised(piece));
  }
};

struct SliceNests : NestLowering::ExternalModel<SliceNests, nn::SliceOp> {
  FailureOr<Value> buildNests(Operation *op, OpBuilder &builder) const {
    auto layer = cast<nn::SliceOp>(op);
    NestBuilder nests(builder, op->getLoc());
    return single(nests, layer, layer.getInput(),
                  boxPiece(shapeOf(layer.getInput()), toVector(layer.getStarts()), toVector(layer.getSizes()),
                           toVector(layer.getSteps()), shapeOf(layer), Vector(layer.getSizes().size())));
  }
};

struct PadNests : NestLowering::ExternalModel<PadNests, nn::PadOp> {
  FailureOr<Value> buildNests(Operation *op, OpBuilder &builder) const {
    auto layer = cast<nn::PadOp>(op);
    NestBuilder nests(builder, op->getLoc());
    const Vector shape = shapeOf(layer.getInput());
    return single(
        nests, layer, layer.getInput(),
        boxPiece(shape, Vector(shape.size()), shape, Vector(shape.size(), 1), shapeOf(layer), toVector(layer.getLow())),
        cast<TypedAttr>(Attribute(layer.getValue())));
  }
};

struct ConcatNests : NestLowering::ExternalModel<ConcatNests, nn::ConcatOp> {
  FailureOr<Value> buildNests(Operation *op, OpBuilder &builder) const {
    auto layer = cast<nn::ConcatOp>(op);
    NestBuilder nests(builder, op->getLoc());
    const size_t axis = size_t(layer.getAxis()), rank = shapeOf(layer).size();
    SmallVector<Piece> pieces;
    Vector offsets(rank);
    for (auto [i, part] : llvm::enumerate(layer.getInputs())) {
      const Vector shape = shapeOf(part);
      if (auto piece = boxPiece(shape, Vector(rank), shape, Vector(rank, 1), shapeOf(layer), offsets)) {
        piece->source = TensorId(i);
        pieces.push_back(*piece);
      }
      offsets[axis] += shape[axis];
    }
    return nests.remap(typeOf(layer), layer.getInputs(), pieces);
  }
};

struct BroadcastToNests : NestLowering::ExternalModel<BroadcastToNests, nn::BroadcastToOp> {
  FailureOr<Value> buildNests(Operation *op, OpBuilder &builder) const {
    auto layer = cast<nn::BroadcastToOp>(op);
    NestBuilder nests(builder, op->getLoc());
    const Vector shape = shapeOf(layer.getInput()), to = shapeOf(layer);
    if (typeOf(layer).getNumElements() == 0)
      return single(nests, layer, layer.getInput(), std::nullopt);
    const Vector from = rowMajorStrides(shape), strides = rowMajorStrides(to);
    const size_t lead = to.size() - shape.size();
    Piece piece;
    for (size_t d = 0; d < to.size(); ++d)
      piece.digits.push_back({to[d], d < lead || shape[d - lead] == 1 ? 0 : from[d - lead], strides[d]});
    return single(nests, layer, layer.getInput(), normalised(piece));
  }
};

} // namespace

void attachMovementLowerings(MLIRContext &context) {
  nn::ReshapeOp::attachInterface<ReshapeNests>(context);
  nn::TransposeOp::attachInterface<TransposeNests>(context);
  nn::SliceOp::attachInterface<SliceNests>(context);
  nn::PadOp::attachInterface<PadNests>(context);
  nn::ConcatOp::attachInterface<ConcatNests>(context);
  nn::BroadcastToOp::attachInterface<BroadcastToNests>(context);
}

} // namespace wsc::spmd
