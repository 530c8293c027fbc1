// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nn-store-as-bytes: changes the types of values in place, operation by operation; constants and the values of pads are
// changed with them.
#include "passes/spmd/Passes.h"

#include "dialects/nn/Nn.h"
#include "dialects/nn/Storage.h"

using namespace mlir;

namespace wsc::spmd {
#define GEN_PASS_DEF_STOREASBYTES
#include "passes/spmd/Passes.h.inc"

namespace {

/// The type with bytes for elements of a storage type; null where it has none.
Type inBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  Type byte = tensor ? nn::byteTypeOf(tensor.getElementType()) : Type();
  return byte ? tensor.clone(byte) : Type();
}

/// Operations that give the elements they take, unchanged.
bool isMovement(Operation *op) {
  return isa<nn::ConstantOp, nn::ReshapeOp, nn::TransposeOp, nn::SliceOp, nn::PadOp, nn::ConcatOp, nn::BroadcastToOp,
             nn::GatherOp, nn::GatherElementsOp, nn::SelectOp, nn::BitcastOp, func::ReturnOp>(op);
}

void store(Value value) {
  if (Type bytes = inBytes(value.getType()))
    value.setType(bytes);
}

struct StoreAsBytesPass : impl::StoreAsBytesBase<StoreAsBytesPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    bool allKnown = true;
    function.walk([&](Operation *op) {
      if (op == function.getOperation() || isMovement(op))
        return;
      for (TypeRange types : {TypeRange(op->getOperandTypes()), TypeRange(op->getResultTypes())})
        for (Type type : types)
          if (allKnown && inBytes(type)) {
            op->emitOpError() << "takes no elements of the storage type "
                              << cast<RankedTensorType>(type).getElementType() << "; convert them before";
            allKnown = false;
          }
    });
    if (!allKnown)
      return signalPassFailure();
    for (BlockArgument argument : function.getArguments())
      store(argument);
    function.walk([](Operation *op) {
      if (auto constant = dyn_cast<nn::ConstantOp>(op); constant && inBytes(constant.getType()))
        constant.setValueAttr(nn::storedAsBytes(constant.getValue()));
      if (auto pad = dyn_cast<nn::PadOp>(op); pad && nn::isStorage(pad.getValue().getType()))
        pad.setValueAttr(nn::elementAsByte(pad.getValue()));
      for (Value result : op->getResults())
        store(result);
    });
    function.walk([](nn::BitcastOp op) {
      if (op.getInput().getType() != op.getType())
        return;
      op.replaceAllUsesWith(op.getInput());
      op.erase();
    });
    SmallVector<Type> results;
    for (Type type : function.getFunctionType().getResults())
      results.push_back(inBytes(type) ? inBytes(type) : type);
    function.setType(FunctionType::get(&getContext(), function.getBody().getArgumentTypes(), results));
  }
};

} // namespace
} // namespace wsc::spmd
