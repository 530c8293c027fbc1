// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// spmd-narrow-floats: says of every f32 tensor whether it is stored narrow, then changes types in place, operation by
// operation. A tensor that is read in both types has a copy in the other, made behind it.
#include "passes/spmd/NarrowBody.h"
#include "passes/spmd/NestBuilder.h"
#include "passes/spmd/NestKind.h"
#include "passes/spmd/Passes.h"

#include "dialects/nn/Nn.h"
#include "dialects/wafer/Wafer.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/Support/Debug.h"

#define DEBUG_TYPE "spmd-narrow-floats"

using namespace mlir;

namespace wsc::spmd {
#define GEN_PASS_DEF_NARROWFLOATS
#include "passes/spmd/Passes.h.inc"

namespace {

bool isWide(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getElementType().isF32();
}

bool isConstant(Value value) { return isa_and_nonnull<nn::ConstantOp, arith::ConstantOp>(value.getDefiningOp()); }

/// Whether a constant has one long dimension at most: a bias, the factors of a normalisation, a number.
bool isSlim(Value value) {
  return llvm::count_if(cast<RankedTensorType>(value.getType()).getShape(),
                        [](int64_t extent) { return extent > 1; }) <= 1;
}

/// Which values are stored as the narrow type.
class Storage {
public:
  Storage(Block &block, bool contractionsOnly, bool narrowSums)
      : contractionsOnly(contractionsOnly), narrowSums(narrowSums) {
    if (contractionsOnly) {
      for (Operation &op : llvm::reverse(block))
        for (Value result : op.getResults())
          if (mayChange(result) && !result.use_empty() &&
              llvm::all_of(result.getUses(), [&](OpOperand &use) { return needOf(use) == Need::Narrow; }))
            narrow.insert(result);
      return;
    }
    for (Operation &op : block)
      for (Value result : op.getResults())
        if (mayChange(result) && shallBeNarrow(&op, result))
          narrow.insert(result);
  }

  bool isNarrow(Value value) const { return narrow.contains(value); }

  /// What a use takes: the value as it is stored, or one type.
  enum class Need { Any, Narrow, Wide };
  Need needOf(OpOperand &use) const {
    Operation *user = use.getOwner();
    if (isa<func::ReturnOp, nn::WriteOp>(user))
      return Need::Wide;
    if (isa<wafer::RemapOp>(user))
      return narrow.contains(user->getResult(0)) ? Need::Narrow : Need::Wide;
    if (auto generic = dyn_cast<linalg::GenericOp>(user)) {
      if (generic.isDpsInit(&use))
        return Need::Wide;
      const bool isExtremum = kindOf(generic) == NestKind::Extremum; // of rounded elements: the rounded one
      if (isFactor(generic, use) || (isExtremum && narrow.contains(generic.getResult(0))))
        return Need::Narrow;
    }
    if (!contractionsOnly && isConstant(use.get()))
      return isSlim(use.get()) ? Need::Wide : Need::Narrow;
    return Need::Any;
  }

private:
  /// Inputs, variables and constants keep their type; narrow copies of them are made where they are needed.
  static bool mayChange(Value value) {
    return isWide(value.getType()) && isa<linalg::GenericOp, wafer::RemapOp>(value.getDefiningOp());
  }

  bool shallBeNarrow(Operation *op, Value result) {
    if (llvm::any_of(result.getUsers(), [](Operation *user) { return isa<func::ReturnOp, nn::WriteOp>(user); }))
      return false;
    auto generic = dyn_cast<linalg::GenericOp>(op);
    switch (generic ? kindOf(generic) : NestKind::Elementwise) {
    case NestKind::Reduction:
      statistics.insert(result);
      return false;
    case NestKind::Extremum:
      return llvm::any_of(op->getOperands(), [&](Value operand) { return isNarrow(operand); });
    case NestKind::Contraction:
      return narrowSums || !goesOnInPlace(result);
    case NestKind::Elementwise:
      if (!takesStatisticsOnly(op))
        return true;
      statistics.insert(result);
      return false;
    }
    llvm_unreachable("a kind of nest");
  }

  /// Whether what follows a sum takes it before it is stored.
  static bool goesOnInPlace(Value sum) {
    if (!sum.hasOneUse())
      return false;
    auto next = dyn_cast<linalg::GenericOp>(*sum.user_begin());
    return next && kindOf(next) == NestKind::Elementwise && next.getMatchingIndexingMap(&*sum.use_begin()).isIdentity();
  }

  bool takesStatisticsOnly(Operation *op) const {
    bool takesSome = false;
    const auto isOther = [&](Value operand) {
      takesSome |= statistics.contains(operand);
      return isWide(operand.getType()) && !statistics.contains(operand) && !isConstant(operand) &&
             !operand.getDefiningOp<tensor::EmptyOp>();
    };
    bool others = llvm::any_of(op->getOperands(), isOther);
    op->walk([&](tensor::ExtractOp extract) { others |= isOther(extract.getTensor()); });
    return takesSome && !others;
  }

  const bool contractionsOnly, narrowSums;
  llvm::DenseSet<Value> narrow, statistics; // sums other than of products, and what is computed from these alone
};

class Narrowing {
public:
  Narrowing(func::FuncOp function, FloatType type, const Storage &storage, bool narrowSums)
      : function(function), type(type), storage(storage), narrowSums(narrowSums) {}

  void run() {
    SmallVector<Operation *> operations;
    for (Operation &op : function.getBody().front())
      operations.push_back(&op);
    for (Operation *op : operations) {
      takeOperands(op);
      if (auto generic = dyn_cast<linalg::GenericOp>(op))
        narrowNest(generic);
      else if (auto remap = dyn_cast<wafer::RemapOp>(op); remap && storage.isNarrow(remap.getResult()))
        narrowRemap(remap);
    }
  }

private:
  RankedTensorType narrowType(Value value) const { return cast<RankedTensorType>(value.getType()).clone(type); }

  void takeOperands(Operation *op) {
    SmallVector<OpOperand *> uses;
    op->walk([&](Operation *inner) {
      for (OpOperand &use : inner->getOpOperands())
        if (isa<RankedTensorType>(use.get().getType()))
          uses.push_back(&use);
    });
    for (OpOperand *use : uses) {
      const auto need = storage.needOf(*use);
      if (need != Storage::Need::Any)
        use->set(as(use->get(), need == Storage::Need::Narrow));
    }
  }

  /// The value in the type that is wanted: itself or a copy.
  Value as(Value value, bool narrow) {
    const Type element = getElementTypeOrSelf(value.getType()),
               wanted = narrow ? Type(type) : Type(Float32Type::get(type.getContext()));
    if (element == wanted || (!element.isF32() && element != type) || value.getDefiningOp<tensor::EmptyOp>() ||
        value.getDefiningOp<linalg::FillOp>())
      return value;
    Value &copy = copies[value];
    if (copy)
      return copy;
    OpBuilder builder(type.getContext());
    builder.setInsertionPointAfterValue(value);
    auto constant = value.getDefiningOp<nn::ConstantOp>();
    if (DenseFPElementsAttr dense =
            constant && narrow ? dyn_cast_or_null<DenseFPElementsAttr>(constant.getDense()) : DenseFPElementsAttr()) {
      const Attribute cut = dense.mapValues(type, [&](const APFloat &number) {
        return narrowed(FloatAttr::get(dense.getElementType(), number), type).getValue().bitcastToAPInt();
      });
      copy = nn::ConstantOp::create(builder, value.getLoc(), cast<TypedAttr>(cut));
    } else {
      copy = NestBuilder(builder, value.getLoc()).convert(value, wanted);
    }
    return copy;
  }

  void narrowRemap(wafer::RemapOp remap) {
    remap.getResult().setType(narrowType(remap.getResult()));
    if (auto fill = dyn_cast_or_null<FloatAttr>(remap.getFillAttr()))
      remap.setFillAttr(narrowed(fill, type));
  }

  void narrowNest(linalg::GenericOp generic) {
    const NestKind kind = kindOf(generic);
    Value result = generic.getResult(0);
    const bool isNarrow = storage.isNarrow(result);
    OpOperand *init = generic.getDpsInitOperand(0);
    auto fill = init->get().getDefiningOp<linalg::FillOp>();
    const bool startsFromNumber = fill && fill.getInputs()[0].getDefiningOp<arith::ConstantOp>();
    bool inPlace = false; // the nest itself gives narrow elements
    if (kind == NestKind::Elementwise)
      inPlace = isNarrow && generic.getMatchingBlockArgument(init).use_empty();
    else if (kind == NestKind::Extremum)
      inPlace = isNarrow && startsFromNumber;
    else if (kind == NestKind::Contraction)
      inPlace = narrowSums && startsFromNumber && isWide(result.getType());
    OpBuilder builder(generic);
    if (inPlace) {
      Value empty = tensor::EmptyOp::create(builder, generic.getLoc(), narrowType(result).getShape(), type);
      if (kind != NestKind::Elementwise) {
        auto number = fill.getInputs()[0].getDefiningOp<arith::ConstantOp>();
        Value start =
            arith::ConstantOp::create(builder, number.getLoc(), narrowed(cast<FloatAttr>(number.getValue()), type));
        empty = linalg::FillOp::create(builder, generic.getLoc(), start, empty).getResult(0);
      }
      init->set(empty);
      result.setType(narrowType(result));
    }
    convertAtBorders(generic, type);
    if (kind == NestKind::Contraction)
      roundFactors(generic);
    if (inPlace)
      computeNarrow(generic, type);
    if (isNarrow != inPlace) {
      builder.setInsertionPointAfter(generic);
      const Type wanted = isNarrow ? Type(type) : Type(builder.getF32Type());
      Value copy = NestBuilder(builder, generic.getLoc()).convert(result, wanted);
      result.replaceAllUsesExcept(copy, copy.getDefiningOp());
    }
  }

  /// Factors that the body computes are rounded too.
  void roundFactors(linalg::GenericOp generic) {
    Operation *last = multiplyAddOf(generic);
    if (!last || !isa<math::FmaOp>(last)) // behind a rounding: narrow sums, whose factors are elements
      return;
    OpBuilder builder(last);
    for (unsigned i : {0u, 1u}) {
      Value factor = last->getOperand(i);
      if (auto widened = factor.getDefiningOp<arith::ExtFOp>(); !factor.getType().isF32() || widened)
        continue;
      Value rounded = arith::TruncFOp::create(builder, last->getLoc(), type, factor);
      last->setOperand(i, arith::ExtFOp::create(builder, last->getLoc(), factor.getType(), rounded));
    }
  }

  func::FuncOp function;
  FloatType type;
  const Storage &storage;
  const bool narrowSums;
  llvm::DenseMap<Value, Value> copies; // in the other type
};

struct NarrowFloatsPass : impl::NarrowFloatsBase<NarrowFloatsPass> {
  using NarrowFloatsBase::NarrowFloatsBase;
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal() || !function.getBody().hasOneBlock())
      return;
    FloatType narrow;
    if (type == "f16") {
      narrow = Float16Type::get(&getContext());
    } else if (type == "bf16") {
      narrow = BFloat16Type::get(&getContext());
    } else {
      function.emitError() << "cannot store floats as " << type << "; types are f16 and bf16";
      return signalPassFailure();
    }
    const Storage storage(function.getBody().front(), contractionsOnly, narrowSums);
    LLVM_DEBUG(function.walk([&](Operation *op) {
      if (isa<linalg::GenericOp, wafer::RemapOp>(op))
        llvm::dbgs() << op->getLoc() << (storage.isNarrow(op->getResult(0)) ? " in 16 bits" : " stays wide") << "\n";
    }));
    Narrowing(function, narrow, storage, narrowSums).run();
  }
};

} // namespace
} // namespace wsc::spmd
