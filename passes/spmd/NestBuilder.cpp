// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands that are one number become constants of the body. linalg takes the extents of iterators from the shapes of
// operands: for iterators that no operand has as a plain index (those of a window) an empty tensor stands in as an
// operand that the body does not use. Nests over no elements never come into being.
#include "passes/spmd/NestBuilder.h"

#include "compiler/spmd/network/Pieces.h"
#include "dialects/nn/Nn.h"
#include "passes/spmd/RemapPieces.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace wsc::spmd {

namespace {

/// The number that all elements of a constant are; null if it is no such constant.
TypedAttr splatOf(Value tensor) {
  auto constant = tensor.getDefiningOp<nn::ConstantOp>();
  DenseElementsAttr dense = constant ? constant.getDense() : DenseElementsAttr();
  return dense && dense.isSplat() ? cast<TypedAttr>(dense.getSplatValue<Attribute>()) : TypedAttr();
}

/// One nest: operands, where they are read, and the body, which gets the operands' elements and then the result's.
class Generic {
public:
  Generic(OpBuilder &builder, Location loc, size_t iterators) : builder(builder), loc(loc), iterators(iterators) {}

  void add(ArrayRef<NestOperand> operands) {
    for (const NestOperand &operand : operands) {
      numbers.push_back(splatOf(operand.tensor));
      if (numbers.back())
        continue;
      inputs.push_back(operand.tensor);
      maps.push_back(AffineMap::get(unsigned(iterators), 0, operand.indices, builder.getContext()));
    }
  }

  Value create(Value init, size_t rank, ArrayRef<int64_t> reducedExtents,
               llvm::function_ref<Scalar(ScalarBuilder &, ArrayRef<Scalar>, Scalar)> body) {
    const size_t operands = inputs.size();
    addExtents(rank, reducedExtents);
    SmallVector<AffineExpr> parallel;
    for (size_t d = 0; d < rank; ++d)
      parallel.push_back(builder.getAffineDimExpr(unsigned(d)));
    maps.push_back(AffineMap::get(unsigned(iterators), 0, parallel, builder.getContext()));
    SmallVector<utils::IteratorType> kinds(iterators, utils::IteratorType::parallel);
    std::fill(kinds.begin() + long(rank), kinds.end(), utils::IteratorType::reduction);
    auto generic =
        linalg::GenericOp::create(builder, loc, init.getType(), inputs, init, maps, kinds,
                                  [&](OpBuilder &inside, Location at, ValueRange elements) {
                                    ScalarBuilder scalars(inside, at);
                                    SmallVector<Scalar> values;
                                    size_t next = 0;
                                    for (auto [i, number] : llvm::enumerate(numbers))
                                      values.push_back(number ? scalars.constant(number.getType(), number)
                                                              : scalars.fromElement(elements[next++]));
                                    assert(next == operands);
                                    Scalar old{elements.back(), elements.back().getType()};
                                    if (rank < iterators)
                                      old = scalars.fromElement(elements.back());
                                    linalg::YieldOp::create(inside, at, scalars.toElement(body(scalars, values, old)));
                                  });
    return generic.getResult(0);
  }

private:
  /// An operand for the extents of the reduced iterators that are no plain index of any operand.
  void addExtents(size_t rank, ArrayRef<int64_t> reducedExtents) {
    SmallVector<int64_t> shape;
    SmallVector<AffineExpr> indices;
    for (auto [r, extent] : llvm::enumerate(reducedExtents)) {
      AffineExpr iterator = builder.getAffineDimExpr(unsigned(rank + r));
      if (llvm::any_of(maps, [&](AffineMap map) { return llvm::is_contained(map.getResults(), iterator); }))
        continue;
      shape.push_back(extent);
      indices.push_back(iterator);
    }
    if (shape.empty())
      return;
    inputs.push_back(tensor::EmptyOp::create(builder, loc, shape, builder.getI8Type()));
    maps.push_back(AffineMap::get(unsigned(iterators), 0, indices, builder.getContext()));
  }

  OpBuilder &builder;
  Location loc;
  size_t iterators;
  SmallVector<TypedAttr> numbers; // per operand; null: the next of `inputs`
  SmallVector<Value> inputs;
  SmallVector<AffineMap> maps;
};

Scalar combined(ScalarBuilder &scalars, Combine combine, Scalar old, ArrayRef<Scalar> values) {
  switch (combine) {
  case Combine::Add:
    return scalars.add(old, values[0]);
  case Combine::Multiply:
    return scalars.mul(old, values[0]);
  case Combine::Min:
    return scalars.min(old, values[0]);
  case Combine::Max:
    return scalars.max(old, values[0]);
  case Combine::MultiplyAdd:
    return scalars.fma(values[0], values[1], old);
  }
  llvm_unreachable("a kind of Combine");
}

} // namespace

TypedAttr neutral(Combine combine, Type element) {
  const bool least = combine == Combine::Max, greatest = combine == Combine::Min;
  if (auto type = dyn_cast<FloatType>(element)) {
    if (least || greatest)
      return FloatAttr::get(type, APFloat::getInf(type.getFloatSemantics(), least));
    return FloatAttr::get(type, combine == Combine::Multiply ? 1.0 : 0.0);
  }
  const unsigned bits = element.getIntOrFloatBitWidth();
  const bool hasSign = !element.isUnsignedInteger() && bits > 1;
  APInt value(bits, combine == Combine::Multiply ? 1 : 0);
  if (least && hasSign)
    value = APInt::getSignedMinValue(bits);
  if (greatest)
    value = hasSign ? APInt::getSignedMaxValue(bits) : APInt::getMaxValue(bits);
  return IntegerAttr::get(element, value);
}

NestOperand NestBuilder::aligned(Value tensor, ArrayRef<int64_t> resultShape) const {
  NestOperand operand{tensor, {}};
  ArrayRef<int64_t> shape = cast<RankedTensorType>(tensor.getType()).getShape();
  const size_t lead = resultShape.size() - shape.size();
  for (auto [d, extent] : llvm::enumerate(shape))
    operand.indices.push_back(extent == resultShape[lead + d] ? iterator(int64_t(lead + d)) : fixed(0));
  return operand;
}

Value NestBuilder::elementwise(RankedTensorType result, ArrayRef<NestOperand> operands, Elementwise body) {
  if (result.getNumElements() == 0)
    return remap(result, {}, {});
  const size_t rank = size_t(result.getRank());
  Generic generic(builder, loc, rank);
  generic.add(operands);
  Value empty = tensor::EmptyOp::create(builder, loc, result.getShape(), result.getElementType());
  return generic.create(empty, rank, {}, [&](ScalarBuilder &scalars, ArrayRef<Scalar> elements, Scalar) {
    return body(scalars, elements);
  });
}

Value NestBuilder::aligned(RankedTensorType result, ArrayRef<Value> operands, Elementwise body) {
  SmallVector<NestOperand> reads;
  for (Value operand : operands)
    reads.push_back(aligned(operand, result.getShape()));
  return elementwise(result, reads, body);
}

Value NestBuilder::reduce(RankedTensorType result, ArrayRef<int64_t> reducedExtents, ArrayRef<NestOperand> operands,
                          Combine combine, Reduced body) {
  const TypedAttr initial = neutral(combine, result.getElementType());
  if (result.getNumElements() == 0 || llvm::is_contained(reducedExtents, 0))
    return remap(result, {}, {}, initial);
  if (reducedExtents.empty())
    return elementwise(result, operands, [&](ScalarBuilder &scalars, ArrayRef<Scalar> elements) {
      const auto values = body(scalars, elements);
      return values.size() == 1 ? values[0] : scalars.mul(values[0], values[1]);
    });
  const size_t rank = size_t(result.getRank());
  Generic generic(builder, loc, rank + reducedExtents.size());
  generic.add(operands);
  ScalarBuilder outside(builder, loc);
  Value empty = tensor::EmptyOp::create(builder, loc, result.getShape(), result.getElementType());
  Value number = outside.toElement(outside.constant(result.getElementType(), initial));
  Value init = linalg::FillOp::create(builder, loc, number, empty).getResult(0);
  return generic.create(init, rank, reducedExtents, [&](ScalarBuilder &scalars, ArrayRef<Scalar> elements, Scalar old) {
    return combined(scalars, combine, old, body(scalars, elements));
  });
}

Value NestBuilder::convert(Value tensor, Type element) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getElementType() == element)
    return tensor;
  return aligned(type.clone(element), tensor,
                 [&](ScalarBuilder &scalars, ArrayRef<Scalar> x) { return scalars.convert(x[0], element); });
}

Value NestBuilder::remap(RankedTensorType result, ValueRange sources, ArrayRef<Piece> pieces, TypedAttr fill) {
  SmallVector<Attribute> list;
  for (const Piece &piece : pieces)
    list.push_back(attributeOf(context(), piece));
  return wafer::RemapOp::create(builder, loc, result, sources, builder.getArrayAttr(list), fill);
}

Value NestBuilder::reshape(Value tensor, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(tensor.getType());
  if (type.getShape() == shape)
    return tensor;
  auto to = RankedTensorType::get(shape, type.getElementType());
  if (auto constant = tensor.getDefiningOp<nn::ConstantOp>()) {
    if (DenseElementsAttr dense = constant.getDense())
      return nn::ConstantOp::create(builder, loc, cast<TypedAttr>(Attribute(dense.reshape(to))));
    nn::WeightsAttr file = constant.getWeights();
    return nn::ConstantOp::create(
        builder, loc, nn::WeightsAttr::get(to, file.getFile(), file.getOffset(), file.getBytes(), file.getHash()));
  }
  const int64_t count = type.getNumElements();
  if (count == 0)
    return remap(to, {}, {});
  Piece whole;
  whole.source = 0;
  whole.digits = {{count, 1, 1}};
  return remap(to, tensor, normalised(whole));
}

} // namespace wsc::spmd
