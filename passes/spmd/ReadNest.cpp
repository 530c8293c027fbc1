// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Iterators are renumbered (parallel ones as the result has them, then the reduced ones), maps become indices, the body
// is split at the operation that combines the old value of the result with a new one.
#include "passes/spmd/ReadNest.h"

#include "passes/spmd/ElementTypes.h"
#include "passes/spmd/NestBuilder.h"
#include "passes/spmd/ReadBody.h"

#include "dialects/nn/Nn.h"
#include "dialects/wafer/Wafer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace wsc::spmd {

using format::ElementType;
using format::Opcode;

/// The value behind casts between ui8 and i8.
static Value behindCasts(Value value) {
  while (auto cast = value.getDefiningOp<UnrealizedConversionCastOp>())
    value = cast.getOperand(0);
  return value;
}

Attribute fillOf(Value tensor) {
  Operation *op = tensor.getDefiningOp();
  if (auto fill = dyn_cast_or_null<linalg::FillOp>(op)) {
    auto number = behindCasts(fill.getInputs()[0]).getDefiningOp<arith::ConstantOp>();
    return number ? Attribute(number.getValue()) : Attribute();
  }
  if (auto remap = dyn_cast_or_null<wafer::RemapOp>(op); remap && remap.getPieces().empty())
    return remap.getFillAttr();
  DenseElementsAttr dense;
  if (auto constant = dyn_cast_or_null<nn::ConstantOp>(op))
    dense = constant.getDense();
  else if (auto constant = dyn_cast_or_null<arith::ConstantOp>(op))
    dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  return dense && dense.isSplat() ? dense.getSplatValue<Attribute>() : Attribute();
}

namespace {

class NestReader {
public:
  NestReader(linalg::GenericOp op, TensorOf tensorOf, ConstantOf constantOf)
      : op(op), tensorOf(tensorOf),
        body(nest.body, [=, this](const Element &element) { return addOperand(constantOf(element), {}); }) {}

  FailureOr<Nest> read() {
    if (op.getNumResults() != 1 || op.getNumDpsInits() != 1)
      return op.emitError() << "has " << op.getNumResults() << " results; a nest has one, split it";
    type = cast<RankedTensorType>(op.getResult(0).getType());
    auto element = elementTypeOf(type.getElementType());
    if (!element)
      return op.emitError() << "computes elements of " << type.getElementType() << ", which no core computes with";
    resultType = *element;
    if (failed(readIterators()) || failed(readOperands()))
      return failure();
    if (failed(nest.numParallel == int32_t(nest.extents.size()) ? readElementwise() : readReduction()))
      return failure();
    return std::move(nest);
  }

private:
  InFlightDiagnostic error() { return op.emitError(); }
  static std::string text(AffineExpr expr) {
    std::string result;
    llvm::raw_string_ostream(result) << expr;
    return result;
  }

  /// Parallel iterators in the order of the result's dimensions; an iterator of extent 1 for a dimension of index 0.
  LogicalResult readIterators() {
    const SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    const SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
    position.assign(ranges.size(), -1);
    const AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    for (auto [d, index] : llvm::enumerate(map.getResults())) {
      auto iterator = dyn_cast<AffineDimExpr>(index);
      auto constant = dyn_cast<AffineConstantExpr>(index);
      const bool isIterator = iterator && position[iterator.getPosition()] < 0 &&
                              kinds[iterator.getPosition()] == utils::IteratorType::parallel;
      if (!isIterator && !(constant && constant.getValue() == 0 && type.getDimSize(unsigned(d)) == 1))
        return error() << "writes dimension " << d << " of its result at " << text(index)
                       << "; each dimension is a parallel iterator of its own";
      if (isIterator)
        position[iterator.getPosition()] = int64_t(d);
      nest.extents.push_back(type.getDimSize(unsigned(d)));
    }
    nest.numParallel = int32_t(nest.extents.size());
    for (auto [i, range] : llvm::enumerate(ranges)) {
      if (ShapedType::isDynamic(range))
        return error() << "has an iterator of unknown extent; shapes are static";
      if (position[i] >= 0 || (range == 1 && kinds[i] == utils::IteratorType::parallel))
        continue;
      if (kinds[i] != utils::IteratorType::reduction)
        return error() << "has parallel iterator " << i << " of extent " << range << " that its result does not have";
      position[i] = int64_t(nest.extents.size());
      nest.extents.push_back(range);
    }
    return success();
  }

  LogicalResult addTerms(AffineExpr expr, int64_t factor, Index &index) {
    if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
      index.constant += factor * constant.getValue();
      return success();
    }
    if (auto iterator = dyn_cast<AffineDimExpr>(expr)) {
      if (position[iterator.getPosition()] >= 0) // else an iterator of extent 1
        index.perIterator[size_t(position[iterator.getPosition()])] += factor;
      return success();
    }
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    if (binary && binary.getKind() == AffineExprKind::Add)
      return success(succeeded(addTerms(binary.getLHS(), factor, index)) &&
                     succeeded(addTerms(binary.getRHS(), factor, index)));
    if (binary && binary.getKind() == AffineExprKind::Mul)
      for (auto [scale, rest] :
           {std::pair(binary.getRHS(), binary.getLHS()), std::pair(binary.getLHS(), binary.getRHS())})
        if (auto constant = dyn_cast<AffineConstantExpr>(scale))
          return addTerms(rest, factor * constant.getValue(), index);
    return error() << "reads at index " << text(expr) << "; indices are sums of iterators times constants";
  }

  /// The number of the operand that reads `tensor` at `indices`, which may be there already.
  FailureOr<int32_t> addOperand(Value tensor, ArrayRef<AffineExpr> indices, int32_t gatherDim = -1,
                                int32_t gatherIndices = -1) {
    FailureOr<TensorId> id = tensorOf(tensor);
    if (failed(id))
      return failure();
    return addOperand(*id, indices, gatherDim, gatherIndices);
  }

  FailureOr<int32_t> addOperand(TensorId tensor, ArrayRef<AffineExpr> indices, int32_t gatherDim = -1,
                                int32_t gatherIndices = -1) {
    Access access;
    access.tensor = tensor;
    access.gatherDim = gatherDim;
    access.gatherIndices = gatherIndices;
    for (AffineExpr expr : indices) {
      Index &index = access.map.emplace_back();
      index.perIterator.resize(nest.extents.size());
      if (failed(addTerms(expr, 1, index)))
        return failure();
    }
    for (auto [i, other] : llvm::enumerate(nest.operands))
      if (other.tensor == access.tensor && other.map == access.map && other.gatherDim == gatherDim &&
          other.gatherIndices == gatherIndices)
        return int32_t(i);
    nest.operands.push_back(access);
    return int32_t(nest.operands.size()) - 1;
  }

  LogicalResult defineOperand(OpOperand *operand) {
    Value argument = op.getMatchingBlockArgument(operand);
    auto constant = operand->get().getDefiningOp<arith::ConstantOp>();
    if (!isa<RankedTensorType>(operand->get().getType())) {
      if (!constant)
        return error() << "takes a scalar that is no constant: " << operand->get();
      return body.defineConstant(argument, constant.getValue());
    }
    auto element = elementTypeOf(argument.getType());
    if (!element)
      return error() << "reads elements of " << argument.getType() << ", which no core computes with";
    auto number = addOperand(operand->get(), op.getMatchingIndexingMap(operand).getResults());
    if (succeeded(number))
      body.define(argument, *number, *element);
    return number;
  }

  /// Defines the inputs that the body uses; the others only gave iterators their extents.
  LogicalResult readOperands() {
    for (OpOperand *operand : op.getDpsInputOperands())
      if (!op.getMatchingBlockArgument(operand).use_empty() && failed(defineOperand(operand)))
        return failure();
    return success();
  }

  LogicalResult readBody(const SmallPtrSetImpl<Operation *> &apart) {
    const auto extract = [&](Value table, ArrayRef<AffineExpr> indices, int32_t gatherDim, int32_t gatherIndices) {
      return addOperand(table, indices, gatherDim, gatherIndices);
    };
    for (Operation &inner : op.getBody()->without_terminator())
      if (!apart.contains(&inner) && failed(body.read(&inner, extract)))
        return failure();
    return success();
  }

  Value yielded() { return op.getBody()->getTerminator()->getOperand(0); }

  LogicalResult readElementwise() {
    OpOperand *init = op.getDpsInitOperand(0);
    if (!op.getMatchingBlockArgument(init).use_empty() && failed(defineOperand(init)))
      return failure();
    if (failed(readBody(SmallPtrSet<Operation *, 1>())))
      return failure();
    FailureOr<BodyValue> value = body.as(yielded(), resultType);
    if (failed(value))
      return failure();
    nest.values = {*value};
    nest.resultValue = *value;
    return success();
  }

  /// The operation that makes the new value of the result from the old, what it combines that with, and how.
  struct Combiner {
    Operation *op = nullptr;
    SmallVector<Value, 2> values;
    Opcode opcode = Opcode::ReduceAdd;
    Combine combine = Combine::Add;
  };

  std::optional<Combiner> findCombiner(Value old) {
    Combiner found;
    Operation *last = found.op = behindCasts(yielded()).getDefiningOp();
    if (isa_and_nonnull<math::FmaOp>(last)) {
      found.opcode = Opcode::Fma;
      found.combine = Combine::MultiplyAdd;
    } else if (isa_and_nonnull<arith::AddFOp, arith::AddIOp>(last)) {
      found.opcode = Opcode::ReduceAdd;
    } else if (isa_and_nonnull<arith::MulFOp, arith::MulIOp>(last)) {
      found.opcode = Opcode::ReduceMul;
      found.combine = Combine::Multiply;
    } else if (isa_and_nonnull<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp>(last)) {
      found.opcode = Opcode::ReduceMin;
      found.combine = Combine::Min;
    } else if (isa_and_nonnull<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp>(last)) {
      found.opcode = Opcode::ReduceMax;
      found.combine = Combine::Max;
    } else {
      return std::nullopt;
    }
    // Minima and maxima of integers are those of the tensor's sign.
    const bool isUnsigned = type.getElementType().isUnsignedInteger();
    if (isUnsigned ? isa<arith::MinSIOp, arith::MaxSIOp>(last) : isa<arith::MinUIOp, arith::MaxUIOp>(last))
      return std::nullopt;
    int uses = 0;
    for (Value operand : last->getOperands()) {
      if (behindCasts(operand) == old)
        ++uses;
      else
        found.values.push_back(operand);
    }
    if (uses != 1 || (found.opcode == Opcode::Fma && behindCasts(last->getOperand(2)) != old) || !last->hasOneUse())
      return std::nullopt;
    return found;
  }

  /// Whether `old`, also behind casts, is used by `combiner` alone; adds the casts to `apart`.
  static bool isOnlyCombined(Value old, Operation *combiner, SmallPtrSetImpl<Operation *> &apart) {
    return llvm::all_of(old.getUsers(), [&](Operation *user) {
      if (!isa<UnrealizedConversionCastOp>(user))
        return user == combiner;
      apart.insert(user);
      return isOnlyCombined(user->getResult(0), combiner, apart);
    });
  }

  LogicalResult readReduction() {
    OpOperand *init = op.getDpsInitOperand(0);
    Value old = op.getMatchingBlockArgument(init);
    auto combiner = findCombiner(old);
    SmallPtrSet<Operation *, 4> apart;
    if (!combiner || !isOnlyCombined(old, combiner->op, apart))
      return error()
             << "reduces in a way that has no opcode: the new value is the old one plus, times, minimum or maximum "
             << "another, or math.fma of two others and the old one, and the old one has no further use";
    for (Operation *end = yielded().getDefiningOp(); end != combiner->op; end = end->getOperand(0).getDefiningOp())
      apart.insert(end);
    apart.insert(combiner->op);
    // Products of integers are exact: added up, they are multiply-adds.
    auto product = combiner->values[0].getDefiningOp<arith::MulIOp>();
    if (isa<arith::AddIOp>(combiner->op) && product && product->hasOneUse()) {
      apart.insert(product);
      combiner->values = {product.getLhs(), product.getRhs()};
      combiner->opcode = Opcode::Fma;
    }
    if (failed(readBody(apart)))
      return failure();
    nest.reduction = Reduction{combiner->opcode, resultType, 0};
    for (Value value : combiner->values) {
      FailureOr<BodyValue> read = body.as(value, resultType);
      if (failed(read))
        return failure();
      nest.values.push_back(*read);
    }
    if (combiner->opcode == Opcode::Fma) {
      nest.macs = 1;
      for (int64_t extent : nest.extents)
        nest.macs *= extent;
    }
    return readInitial(init, *combiner);
  }

  /// What the reduction starts from: a number that may be taken once for each core, or else its neutral value with the
  /// rest in `finish`.
  LogicalResult readInitial(OpOperand *init, const Combiner &combiner) {
    const bool isExtremum = combiner.combine == Combine::Min || combiner.combine == Combine::Max;
    nest.reduction->initial = *elementOf(neutral(combiner.combine, type.getElementType()), resultType).immediate;
    nest.resultValue = BodyValue::reduced();
    const Attribute fill = fillOf(init->get());
    const std::optional<double> number = fill ? elementOf(fill, resultType).immediate : std::nullopt;
    if (number && (isExtremum || *number == nest.reduction->initial)) {
      nest.reduction->initial = *number;
      return success();
    }
    FailureOr<BodyValue> start = failure();
    if (fill)
      start = body.constant(fill, resultType);
    else if (auto operand = addOperand(init->get(), op.getMatchingIndexingMap(init).getResults()); succeeded(operand))
      start = BodyValue::operand(*operand);
    if (failed(start))
      return failure();
    BodyOp join;
    join.opcode = combiner.combine == Combine::Multiply ? Opcode::Mul
                  : combiner.combine == Combine::Min    ? Opcode::Min
                  : combiner.combine == Combine::Max    ? Opcode::Max
                                                        : Opcode::Add;
    join.type = join.sourceType = resultType;
    join.a = BodyValue::reduced();
    join.b = *start;
    join.c = BodyValue::constant(0);
    nest.finish.push_back(join);
    nest.resultValue = BodyValue::operation(int32_t(nest.body.size()));
    return success();
  }

  linalg::GenericOp op;
  TensorOf tensorOf;
  RankedTensorType type;
  ElementType resultType = ElementType::F32;
  Nest nest;
  BodyReader body;
  SmallVector<int64_t> position; // of linalg's iterators in the nest; -1: of extent 1 and in no place
};

} // namespace

FailureOr<Nest> readNest(Operation *generic, TensorOf tensorOf, ConstantOf constantOf) {
  return NestReader(cast<linalg::GenericOp>(generic), tensorOf, constantOf).read();
}

} // namespace wsc::spmd
