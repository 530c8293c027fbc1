// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/wafer/Variables.h"

#include "dialects/nn/Nn.h"
#include "dialects/wafer/Wafer.h"
#include "passes/wafer/Constants.h"
#include "passes/wafer/Planes.h"

using namespace mlir;

namespace wsc::wafer {

using kernels::VariablePlan;

std::optional<std::array<int64_t, 3>> planeStrides(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto plane = planeOf(type);
  if (!tensor || !plane)
    return std::nullopt;
  if (tensor.getRank() == 4)
    return std::array<int64_t, 3>{plane->rows * plane->width, plane->width, 1};
  return std::array<int64_t, 3>{1, 0, plane->channels}; // [B, F] and below
}

FailureOr<std::vector<VariablePlan>> readVariables(ModuleOp module) {
  std::vector<VariablePlan> variables;
  for (auto op : module.getOps<nn::VariableOp>()) {
    auto type = cast<RankedTensorType>(op.getType());
    auto plane = planeOf(type);
    if (!plane || !type.getElementType().isF32())
      return op.emitOpError("has type ")
             << type << "; state variables are mapped as [1, C, H, W], [B, F], [F] or scalars of f32";
    VariablePlan variable;
    variable.tensor = {op.getSymName().str(), format::ElementType::F32, type.getShape().vec()};
    variable.plane = *plane;
    variable.strides = *planeStrides(type);
    if (auto initial = op.getInitialAttr()) {
      variable.initial = constantView(Attribute(initial));
      if (!variable.initial)
        return op.emitOpError("has an initial value without a form: ") << initial.getType();
    }
    if (auto state = op->getAttrOfType<StateAttr>(WaferDialect::getStateAttrName())) {
      variable.tileRows = state.getTileRows();
      variable.channelsPerSlice = state.getSlice();
      variable.rows = state.getRows();
      variable.col = int32_t(state.getCol());
      variable.address = state.getAddress();
    }
    variables.push_back(std::move(variable));
  }
  return variables;
}

void writeVariables(ModuleOp module, const std::vector<VariablePlan> &variables) {
  for (auto [op, variable] : llvm::zip(module.getOps<nn::VariableOp>(), variables))
    op->setAttr(WaferDialect::getStateAttrName(),
                StateAttr::get(op.getContext(), variable.tileRows, variable.channelsPerSlice, variable.rows,
                               variable.col, variable.address));
}

} // namespace wsc::wafer
