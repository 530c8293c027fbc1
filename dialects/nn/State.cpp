// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants, variables and their uses.
#include "dialects/nn/Nn.h"

using namespace mlir;

namespace wsc::nn {

LogicalResult ConstantOp::verify() {
  if (!getWeights() && !getDense())
    return emitOpError() << "value must be #nn.weights or dense elements, found " << getValue();
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

LogicalResult VariableOp::verify() {
  auto initial = getInitialAttr();
  if (!initial)
    return success();
  if (!isa<WeightsAttr, DenseElementsAttr>(Attribute(initial)))
    return emitOpError() << "initial value must be #nn.weights or dense elements, found " << initial;
  if (initial.getType() != getType())
    return emitOpError() << "type " << getType() << " and initial value of type " << initial.getType() << " differ";
  return success();
}

static LogicalResult verifyUse(Operation *op, FlatSymbolRefAttr name, Type type, SymbolTableCollection &symbols) {
  auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(op, name);
  if (!variable)
    return op->emitOpError() << "no nn.variable named " << name;
  if (variable.getType() != type)
    return op->emitOpError() << "variable " << name << " has type " << variable.getType() << ", used as " << type;
  return success();
}

LogicalResult ReadOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyUse(*this, getVariableAttr(), getResult().getType(), symbols);
}

LogicalResult WriteOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyUse(*this, getVariableAttr(), getValue().getType(), symbols);
}

} // namespace wsc::nn
