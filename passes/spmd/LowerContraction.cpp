// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix product and convolution: a multiply-add over the reduced iterators, then bias and rounding in one elementwise
// nest that the reader takes into the reduction's `finish`. Groups are an iterator of their own; where each has one
// output channel, or there is one group, the output channel stands for both and the result needs no reshape.
#include "dialects/nn/Nn.h"
#include "passes/spmd/NestBuilder.h"
#include "passes/spmd/NestLowering.h"
#include "passes/spmd/Windows.h"

using namespace mlir;

namespace wsc::spmd {

namespace {

/// What a conversion of integers of 8 or 16 bits to i32 reads, or null.
Value narrowSource(Value value) {
  auto cast = value.getDefiningOp<nn::CastOp>();
  if (!cast || !cast.getType().getElementType().isInteger(32))
    return {};
  auto from = dyn_cast<IntegerType>(cast.getInput().getType().getElementType());
  return from && (from.getWidth() == 8 || from.getWidth() == 16) ? cast.getInput() : Value();
}

/// A constant of i32 as one of a narrower type that holds its elements, or null.
Value narrowConstant(OpBuilder &builder, Value value, IntegerType type) {
  auto constant = value.getDefiningOp<nn::ConstantOp>();
  DenseElementsAttr dense = constant ? constant.getDense() : DenseElementsAttr();
  if (!dense || !dense.getElementType().isInteger(32))
    return {};
  const unsigned width = type.getWidth();
  bool holdsAll = true;
  for (const APInt &element : dense.getValues<APInt>())
    holdsAll &= type.isUnsigned() ? element.isIntN(width) : element.isSignedIntN(width);
  if (!holdsAll)
    return {};
  auto narrow = dense.mapValues(type, [&](const APInt &element) { return element.trunc(width); });
  return nn::ConstantOp::create(builder, constant.getLoc(), narrow.getType(), cast<TypedAttr>(Attribute(narrow)));
}

/// Factors converted to i32 from one narrower type are read in that type: the multiply-add converts them.
void readNarrow(OpBuilder &builder, Value &a, Value &b) {
  Value narrowA = narrowSource(a), narrowB = narrowSource(b);
  auto typeOf = [](Value value) { return cast<IntegerType>(cast<RankedTensorType>(value.getType()).getElementType()); };
  if (narrowA && !narrowB)
    narrowB = narrowConstant(builder, b, typeOf(narrowA));
  else if (narrowB && !narrowA)
    narrowA = narrowConstant(builder, a, typeOf(narrowB));
  if (!narrowA || !narrowB || typeOf(narrowA) != typeOf(narrowB))
    return;
  a = narrowA;
  b = narrowB;
}

/// The multiply-add of two operands, summed as accumulatorOf says, plus bias, as elements of `result`.
Value contract(NestBuilder &nests, RankedTensorType result, ArrayRef<int64_t> reduced, ArrayRef<NestOperand> factors,
               std::optional<NestOperand> bias) {
  const Type element = result.getElementType(), inside = accumulatorOf(element);
  Value sum = nests.reduce(result.clone(inside), reduced, factors, Combine::MultiplyAdd,
                           [&](ScalarBuilder &scalars, ArrayRef<Scalar> x) -> SmallVector<Scalar, 2> {
                             return {scalars.convert(x[0], inside), scalars.convert(x[1], inside)};
                           });
  if (!bias)
    return nests.convert(sum, element);
  return nests.elementwise(result, {nests.aligned(sum, result.getShape()), *bias},
                           [&](ScalarBuilder &scalars, ArrayRef<Scalar> x) {
                             return scalars.convert(scalars.add(x[0], scalars.convert(x[1], inside)), element);
                           });
}

struct MatmulNests : NestLowering::ExternalModel<MatmulNests, nn::MatmulOp> {
  FailureOr<Value> buildNests(Operation *op, OpBuilder &builder) const {
    auto layer = cast<nn::MatmulOp>(op);
    NestBuilder nests(builder, op->getLoc());
    auto result = cast<RankedTensorType>(layer.getType());
    const int64_t rank = result.getRank(), batch = rank - 2;
    const AffineExpr m = nests.iterator(rank - 2), n = nests.iterator(rank - 1), k = nests.iterator(rank);
    const int64_t depth = cast<RankedTensorType>(layer.getLhs().getType()).getShape().back();

    // The leading dimensions broadcast among themselves; the last two are the matrix.
    const auto matrix = [&](Value tensor, AffineExpr row, AffineExpr column) {
      ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
      NestOperand operand{tensor, {}};
      const int64_t own = int64_t(shape.size()) - 2;
      for (int64_t d = 0; d < own; ++d) {
        const int64_t to = batch - own + d;
        operand.indices.push_back(shape[size_t(d)] == result.getDimSize(to) ? nests.iterator(to) : nests.fixed(0));
      }
      operand.indices.append({row, column});
      return operand;
    };
    std::optional<NestOperand> bias;
    if (layer.getBias())
      bias = NestOperand{layer.getBias(), {n}};
    Value lhs = layer.getLhs(), rhs = layer.getRhs();
    readNarrow(builder, lhs, rhs);
    return contract(nests, result, depth,
                    {matrix(lhs, m, k), layer.getTransposeRhs() ? matrix(rhs, n, k) : matrix(rhs, k, n)}, bias);
  }
};

struct ConvNests : NestLowering::ExternalModel<ConvNests, nn::ConvOp> {
  FailureOr<Value> buildNests(Operation *op, OpBuilder &builder) const {
    auto layer = cast<nn::ConvOp>(op);
    NestBuilder nests(builder, op->getLoc());
    auto result = cast<RankedTensorType>(layer.getType());
    auto weight = cast<RankedTensorType>(layer.getWeight().getType());
    const int64_t groups = layer.getGroups(), perGroup = weight.getDimSize(0) / groups, depth = weight.getDimSize(1);
    const bool splits = groups > 1 && perGroup > 1; // output channels into group and channel of the group

    SmallVector<int64_t> shape(result.getShape());
    if (splits) {
      shape[1] = groups;
      shape.insert(shape.begin() + 2, perGroup);
    }
    ReducedIterators reduced(nests, int64_t(shape.size()));
    const AffineExpr output = splits ? nests.iterator(1) * perGroup + nests.iterator(2) : nests.iterator(1);
    const AffineExpr group = groups == 1 ? nests.fixed(0) : nests.iterator(1);
    const AffineExpr channel = reduced.add(depth);
    SmallVector<AffineExpr> taps;
    for (int64_t extent : weight.getShape().drop_front(2))
      taps.push_back(reduced.add(extent));

    Value input = layer.getInput(), weights = layer.getWeight();
    readNarrow(builder, input, weights);
    const Type narrow = cast<RankedTensorType>(input.getType()).getElementType();
    Value padded = padImage(nests, input, layer.getPads(), neutral(Combine::Add, narrow));
    NestOperand image{padded, {nests.iterator(0), group * depth + channel}}, kernel{weights, {output, channel}};
    addWindowIndices(nests, image.indices, splits ? 3 : 2, taps, layer.getStrides(), layer.getDilations());
    kernel.indices.append(taps);
    std::optional<NestOperand> bias;
    if (layer.getBias())
      bias = NestOperand{layer.getBias(), {output}};
    Value sum = contract(nests, RankedTensorType::get(shape, result.getElementType()), reduced.extents(),
                         {image, kernel}, bias);
    return nests.reshape(sum, result.getShape());
  }
};

} // namespace

void attachContractionLowerings(MLIRContext &context) {
  nn::MatmulOp::attachInterface<MatmulNests>(context);
  nn::ConvOp::attachInterface<ConvNests>(context);
}

} // namespace wsc::spmd
