// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/wafer/StateUses.h"

#include "passes/wafer/Constants.h"

using namespace mlir;

namespace wsc::wafer {

FailureOr<StateUses> findStateUses(KernelOp op) {
  StateUses uses;
  StringRef variable;
  for (Operation &layer : op.getBody().front()) {
    auto read = dyn_cast<nn::ReadOp>(layer);
    auto write = dyn_cast<nn::WriteOp>(layer);
    if (!read && !write)
      continue;
    StringRef name = read ? read.getVariable() : write.getVariable();
    if (uses.type && name != variable)
      return layer.emitOpError("of ") << name << " in a kernel on variable " << variable
                                      << "; a kernel has one variable";
    if (uses.write || (read && uses.read))
      return layer.emitOpError("of ")
             << name << " again; a kernel reads its variable at most once and then writes it at most once";
    variable = name;
    uses.type = read ? read.getResult().getType() : write.getValue().getType();
    if (read)
      uses.read = read;
    else
      uses.write = write;
  }
  if (!uses.type && !op.getResult())
    return op.emitOpError("has no result and no variable");
  if (uses.type && op.getResult() && op.getResult().getType() != uses.type)
    return op.emitOpError("has result type ")
           << op.getResult().getType() << ", its variable " << variable << " has type " << uses.type;
  return uses;
}

FailureOr<kernels::TileOperand> writtenConstant(nn::WriteOp write) {
  kernels::TileOperand constant;
  auto view = constantView(write.getValue());
  if (!view)
    return write.emitOpError("writes a constant without a form: ") << write.getValue().getType();
  auto splat = write.getValue().getDefiningOp<nn::ConstantOp>();
  if (auto dense = splat ? splat.getDense() : DenseElementsAttr(); dense && dense.isSplat()) {
    constant.scalar = dense.getSplatValue<APFloat>().convertToDouble();
  } else {
    constant.kind = kernels::TileOperand::Kind::PerPixel;
    constant.constant = *view;
  }
  return constant;
}

} // namespace wsc::wafer
