// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Building of nn operations with exact folding of constants; see LayerBuilder.h.
#include "compiler/import/common/LayerBuilder.h"
#include "compiler/import/common/Fold.h"
#include "compiler/import/common/StorageCasts.h"
#include "dialects/nn/Shape.h"
#include "dialects/nn/Storage.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace wsc::import {

static std::optional<Literal> noFold() { return std::nullopt; }

void LayerBuilder::fail(absl::Status status) {
  if (status_.ok())
    status_ = std::move(status);
}

bool LayerBuilder::usable(ArrayRef<Tensor> operands) {
  if (failed())
    return false;
  for (const Tensor &operand : operands)
    if (!operand) {
      fail(absl::InternalError("an operand is missing"));
      return false;
    }
  return true;
}

Tensor LayerBuilder::fromValue(Value value) { return {cast<RankedTensorType>(value.getType()), {}, value}; }

Tensor LayerBuilder::fromAttribute(TypedAttr attribute) {
  return {cast<RankedTensorType>(attribute.getType()), attribute, {}};
}

Tensor LayerBuilder::fromLiteral(const Literal &literal) {
  if (literal.size() > maxLiteralElements)
    madeElements_ += literal.size();
  if (madeElements_ > maxMadeElements)
    fail(absl::ResourceExhaustedError("constants made while importing come to more than " +
                                      std::to_string(maxMadeElements) + " elements"));
  return failed() ? Tensor() : fromAttribute(literal.toAttribute());
}

/// The nearest integer of 64 bits; 0 for NaN.
static int64_t saturated(double value) {
  if (std::isnan(value))
    return 0;
  if (value >= 0x1p63)
    return std::numeric_limits<int64_t>::max();
  return value <= -0x1p63 ? std::numeric_limits<int64_t>::min() : static_cast<int64_t>(value);
}

Tensor LayerBuilder::scalar(Type element, double value) {
  if (!element)
    return {};
  Literal literal = Literal::zeros(RankedTensorType::get({}, element));
  if (literal.isFloat())
    literal.floats[0] = value;
  else
    literal.ints[0] = saturated(value);
  literal.normalize();
  return fromLiteral(literal);
}

Tensor LayerBuilder::integers(ArrayRef<int64_t> values) {
  Literal literal;
  literal.type = RankedTensorType::get({static_cast<int64_t>(values.size())}, builder_.getI64Type());
  literal.ints.assign(values.begin(), values.end());
  return fromLiteral(literal);
}

std::optional<Literal> LayerBuilder::literal(const Tensor &tensor) {
  if (!tensor || !tensor.constant || tensor.type.getNumElements() > maxLiteralElements)
    return std::nullopt;
  if (auto dense = dyn_cast<DenseElementsAttr>(Attribute(tensor.constant)))
    return Literal::fromAttribute(dense);
  auto weights = dyn_cast<nn::WeightsAttr>(Attribute(tensor.constant));
  if (!weights)
    return std::nullopt;
  auto bytes = files_.slice(weights.getFile().str(), weights.getOffset(), weights.getBytes());
  if (!bytes.ok()) {
    fail(bytes.status());
    return std::nullopt;
  }
  return Literal::fromBytes(tensor.type, *bytes);
}

Value LayerBuilder::materialize(const Tensor &tensor) {
  if (tensor.value)
    return tensor.value;
  TypedAttr attribute = tensor.constant;
  // A few bytes are worth more in the IR, where folders see them, than in the file.
  if (auto weights = dyn_cast<nn::WeightsAttr>(Attribute(attribute)); weights && weights.getBytes() <= 16)
    if (auto small = literal(tensor))
      attribute = small->toAttribute();
  Value &value = materialized_[attribute];
  if (!value)
    value = nn::ConstantOp::create(builder_, location_, attribute).getResult();
  return value;
}

template <typename Op, typename Fold>
Tensor LayerBuilder::emitTyped(RankedTensorType type, const typename Op::Properties &properties,
                               ArrayRef<Tensor> operands, Fold fold) {
  if (!usable(operands))
    return {};
  if (std::string problem = nn::shapeProblem(type.getShape()); !problem.empty()) {
    fail("result " + nn::formatShape(type.getShape()) + " " + problem);
    return {};
  }
  if (std::optional<Literal> folded = fold())
    return fromLiteral(*folded);
  if (++madeLayers_ > maxMadeLayers) {
    fail(absl::UnimplementedError("the model becomes more than " + std::to_string(maxMadeLayers) +
                                  " layers; loops and tensors that are taken apart row by row make many"));
    return {};
  }
  OperationState state(location_, Op::getOperationName());
  for (const Tensor &operand : operands)
    state.addOperands(materialize(operand));
  state.getOrAddProperties<typename Op::Properties>() = properties;
  state.addTypes(type);
  std::string message;
  ScopedDiagnosticHandler handler(builder_.getContext(), [&](Diagnostic &diagnostic) {
    if (message.empty())
      message = diagnostic.str();
    return success();
  });
  Operation *operation = builder_.create(state);
  if (mlir::failed(mlir::verify(operation))) {
    operation->erase();
    fail(message);
    return {};
  }
  return fromValue(operation->getResult(0));
}

template <typename Op, typename Fold>
Tensor LayerBuilder::emit(const typename Op::Properties &properties, ArrayRef<Tensor> operands, Fold fold) {
  if (!usable(operands))
    return {};
  // Inference looks at types only: a constant operand that may fold away is stood for by a detached value of its type.
  SmallVector<Value> values;
  Block standIns;
  for (const Tensor &operand : operands)
    values.push_back(operand.value ? operand.value : Value(standIns.addArgument(operand.type, location_)));
  std::string message;
  SmallVector<Type, 1> types;
  {
    ScopedDiagnosticHandler handler(builder_.getContext(), [&](Diagnostic &diagnostic) {
      if (message.empty())
        message = diagnostic.str();
      return success();
    });
    typename Op::Properties copy = properties;
    OpaqueProperties opaque(&copy);
    if (mlir::failed(Op::inferReturnTypes(builder_.getContext(), location_, values, DictionaryAttr(), opaque,
                                          RegionRange(), types))) {
      fail(message);
      return {};
    }
  }
  auto type = cast<RankedTensorType>(types.front());
  return emitTyped<Op>(type, properties, operands, [&] { return fold(type); });
}

template <typename Op> Tensor LayerBuilder::emit(const typename Op::Properties &properties, ArrayRef<Tensor> operands) {
  return emit<Op>(properties, operands, [](RankedTensorType) { return noFold(); });
}

Tensor LayerBuilder::unary(nn::UnaryKind kind, const Tensor &x) {
  nn::UnaryOp::Properties properties;
  properties.kind = nn::UnaryKindAttr::get(builder_.getContext(), kind);
  auto a = literal(x);
  return emitTyped<nn::UnaryOp>(x.type, properties, {x}, [&] { return a ? foldUnary(kind, *a) : noFold(); });
}

Tensor LayerBuilder::binary(nn::BinaryKind kind, const Tensor &x, const Tensor &y) {
  nn::BinaryOp::Properties properties;
  properties.kind = nn::BinaryKindAttr::get(builder_.getContext(), kind);
  return emit<nn::BinaryOp>(properties, {x, y}, [&](RankedTensorType type) {
    auto a = literal(x), b = literal(y);
    return a && b ? foldBinary(kind, *a, *b, type) : noFold();
  });
}

Tensor LayerBuilder::select(const Tensor &condition, const Tensor &x, const Tensor &y) {
  return emit<nn::SelectOp>({}, {condition, x, y}, [&](RankedTensorType type) {
    auto c = literal(condition), a = literal(x), b = literal(y);
    return c && a && b ? foldSelect(*c, *a, *b, type) : noFold();
  });
}

Tensor LayerBuilder::cast(const Tensor &x, Type element) {
  if (!usable({x}) || x.elementType() == element)
    return x;
  if (nn::isStorage(x.elementType()) || nn::isStorage(element))
    return castStorage({*this, x}, element, {});
  auto type = RankedTensorType::get(x.shape(), element);
  return emitTyped<nn::CastOp>(type, {}, {x}, [&] {
    auto a = literal(x);
    return a ? foldCast(*a, type) : noFold();
  });
}

Tensor LayerBuilder::bitcast(const Tensor &x, Type element) {
  if (!usable({x}) || x.elementType() == element)
    return x;
  auto type = RankedTensorType::get(x.shape(), element);
  return emitTyped<nn::BitcastOp>(type, {}, {x}, [&] {
    auto a = literal(x);
    return a ? foldBitcast(*a, type) : noFold();
  });
}

Tensor LayerBuilder::conv(const Tensor &x, const Tensor &weight, const Tensor &bias, const Window &window,
                          int64_t groups) {
  nn::ConvOp::Properties properties;
  properties.strides = builder_.getDenseI64ArrayAttr(window.strides);
  properties.dilations = builder_.getDenseI64ArrayAttr(window.dilations);
  properties.pads = builder_.getDenseI64ArrayAttr(window.pads);
  properties.groups = builder_.getI64IntegerAttr(groups);
  SmallVector<Tensor, 3> operands{x, weight};
  if (bias)
    operands.push_back(bias);
  return emit<nn::ConvOp>(properties, operands);
}

Tensor LayerBuilder::pool(nn::PoolKind kind, const Tensor &x, ArrayRef<int64_t> kernel, const Window &window,
                          bool countIncludePad) {
  nn::PoolOp::Properties properties;
  properties.kind = nn::PoolKindAttr::get(builder_.getContext(), kind);
  properties.kernel = builder_.getDenseI64ArrayAttr(kernel);
  properties.strides = builder_.getDenseI64ArrayAttr(window.strides);
  properties.dilations = builder_.getDenseI64ArrayAttr(window.dilations);
  properties.pads = builder_.getDenseI64ArrayAttr(window.pads);
  if (countIncludePad)
    properties.count_include_pad = builder_.getUnitAttr();
  return emit<nn::PoolOp>(properties, {x});
}

Tensor LayerBuilder::matmul(const Tensor &a, const Tensor &b, const Tensor &bias, bool transposeRhs) {
  nn::MatmulOp::Properties properties;
  if (transposeRhs)
    properties.transpose_rhs = builder_.getUnitAttr();
  SmallVector<Tensor, 3> operands{a, b};
  if (bias)
    operands.push_back(bias);
  return emit<nn::MatmulOp>(properties, operands);
}

Tensor LayerBuilder::reduce(nn::ReduceKind kind, const Tensor &x, ArrayRef<int64_t> axes, bool keepdims) {
  SmallVector<int64_t> sorted(axes);
  llvm::sort(sorted);
  nn::ReduceOp::Properties properties;
  properties.kind = nn::ReduceKindAttr::get(builder_.getContext(), kind);
  properties.axes = builder_.getDenseI64ArrayAttr(sorted);
  if (keepdims)
    properties.keepdims = builder_.getUnitAttr();
  return emit<nn::ReduceOp>(properties, {x}, [&](RankedTensorType type) {
    auto a = literal(x);
    return a ? foldReduce(kind, *a, sorted, type) : noFold();
  });
}

Tensor LayerBuilder::softmax(const Tensor &x, int64_t axis, bool log) {
  nn::SoftmaxOp::Properties properties;
  properties.axis = builder_.getI64IntegerAttr(axis);
  if (log)
    properties.log = builder_.getUnitAttr();
  return emitTyped<nn::SoftmaxOp>(x.type, properties, {x}, noFold);
}

Tensor LayerBuilder::batchNorm(const Tensor &x, const Tensor &scale, const Tensor &bias, const Tensor &mean,
                               const Tensor &variance, double epsilon) {
  nn::BatchNormOp::Properties properties;
  properties.epsilon = builder_.getF64FloatAttr(epsilon);
  return emitTyped<nn::BatchNormOp>(x.type, properties, {x, scale, bias, mean, variance}, noFold);
}

Tensor LayerBuilder::reshape(const Tensor &x, ArrayRef<int64_t> shape) {
  if (!usable({x}) || x.shape() == shape)
    return x;
  auto type = RankedTensorType::get(shape, x.elementType());
  if (x.constant && nn::shapeProblem(shape).empty() && nn::elementCount(shape) == nn::elementCount(x.shape())) {
    if (auto weights = dyn_cast<nn::WeightsAttr>(Attribute(x.constant)))
      return fromAttribute(
          nn::WeightsAttr::get(type, weights.getFile(), weights.getOffset(), weights.getBytes(), weights.getHash()));
    return fromAttribute(mlir::cast<DenseElementsAttr>(Attribute(x.constant)).reshape(type));
  }
  return emitTyped<nn::ReshapeOp>(type, {}, {x}, noFold);
}

Tensor LayerBuilder::transpose(const Tensor &x, ArrayRef<int64_t> permutation) {
  nn::TransposeOp::Properties properties;
  properties.permutation = builder_.getDenseI64ArrayAttr(permutation);
  return emit<nn::TransposeOp>(properties, {x}, [&](RankedTensorType type) {
    auto a = literal(x);
    return a ? foldTranspose(*a, permutation, type) : noFold();
  });
}

Tensor LayerBuilder::slice(const Tensor &x, ArrayRef<int64_t> starts, ArrayRef<int64_t> sizes,
                           ArrayRef<int64_t> steps) {
  nn::SliceOp::Properties properties;
  properties.starts = builder_.getDenseI64ArrayAttr(starts);
  properties.sizes = builder_.getDenseI64ArrayAttr(sizes);
  properties.steps = builder_.getDenseI64ArrayAttr(steps);
  return emit<nn::SliceOp>(properties, {x}, [&](RankedTensorType type) {
    auto a = literal(x);
    return a ? foldSlice(*a, starts, steps, type) : noFold();
  });
}

Tensor LayerBuilder::pad(const Tensor &x, ArrayRef<int64_t> low, ArrayRef<int64_t> high, double value) {
  if (!usable({x}))
    return {};
  nn::PadOp::Properties properties;
  properties.low = builder_.getDenseI64ArrayAttr(low);
  properties.high = builder_.getDenseI64ArrayAttr(high);
  auto scalarAttr = mlir::cast<DenseElementsAttr>(Attribute(scalar(x.elementType(), value).constant));
  properties.value = mlir::cast<TypedAttr>(*scalarAttr.getValues<Attribute>().begin());
  return emit<nn::PadOp>(properties, {x});
}

Tensor LayerBuilder::concat(ArrayRef<Tensor> parts, int64_t axis) {
  if (parts.size() == 1)
    return parts.front();
  nn::ConcatOp::Properties properties;
  properties.axis = builder_.getI64IntegerAttr(axis);
  return emit<nn::ConcatOp>(properties, parts, [&](RankedTensorType type) {
    std::vector<Literal> literals;
    for (const Tensor &part : parts) {
      auto a = literal(part);
      if (!a)
        return noFold();
      literals.push_back(std::move(*a));
    }
    return foldConcat(literals, axis, type);
  });
}

Tensor LayerBuilder::broadcastTo(const Tensor &x, ArrayRef<int64_t> shape) {
  if (!usable({x}) || x.shape() == shape)
    return x;
  auto joined = nn::broadcastShapes(x.shape(), shape);
  if (!joined || ArrayRef<int64_t>(*joined) != shape || !nn::elementCount(shape)) {
    fail("shape " + nn::formatShape(x.shape()) + " does not broadcast to " + nn::formatShape(shape));
    return {};
  }
  auto type = RankedTensorType::get(shape, x.elementType());
  return emitTyped<nn::BroadcastToOp>(type, {}, {x}, [&] {
    auto a = literal(x);
    return a ? foldBroadcast(*a, type) : noFold();
  });
}

Tensor LayerBuilder::gather(const Tensor &x, const Tensor &indices, int64_t axis) {
  nn::GatherOp::Properties properties;
  properties.axis = builder_.getI64IntegerAttr(axis);
  return emit<nn::GatherOp>(properties, {x, indices}, [&](RankedTensorType type) {
    auto a = literal(x), i = literal(indices);
    return a && i ? foldGather(*a, *i, axis, type) : noFold();
  });
}

Tensor LayerBuilder::gatherElements(const Tensor &x, const Tensor &indices, int64_t axis) {
  nn::GatherElementsOp::Properties properties;
  properties.axis = builder_.getI64IntegerAttr(axis);
  return emit<nn::GatherElementsOp>(properties, {x, indices}, [&](RankedTensorType type) {
    auto a = literal(x), i = literal(indices);
    return a && i ? foldGatherElements(*a, *i, axis, type) : noFold();
  });
}

} // namespace wsc::import
