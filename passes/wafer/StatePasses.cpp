// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// nn-forward-state: reads and writes of variables inside a function become values, but for the first read and the last
// write. wafer-lay-out-state: gives every variable of the module its place.
#include "compiler/kernels/mapping/Embed.h"
#include "compiler/kernels/network/StateLayout.h"
#include "passes/wafer/Passes.h"
#include "passes/wafer/Variables.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace wsc::wafer {
#define GEN_PASS_DEF_FORWARDSTATE
#define GEN_PASS_DEF_LAYOUTSTATE
#include "passes/wafer/Passes.h.inc"

namespace {

struct ForwardStatePass : impl::ForwardStateBase<ForwardStatePass> {
  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    llvm::MapVector<StringRef, Value> current;
    llvm::MapVector<StringRef, nn::WriteOp> pending;
    for (Operation &op : llvm::make_early_inc_range(getOperation().getBody().front())) {
      if (auto read = dyn_cast<nn::ReadOp>(op)) {
        Value &value = current[read.getVariable()];
        if (!value) {
          value = read.getResult();
          continue;
        }
        read.getResult().replaceAllUsesWith(value);
        read.erase();
      } else if (auto write = dyn_cast<nn::WriteOp>(op)) {
        current[write.getVariable()] = write.getValue();
        nn::WriteOp &last = pending[write.getVariable()];
        if (last)
          last.erase();
        last = write;
      }
    }
  }
};

struct LayOutStatePass : impl::LayOutStateBase<LayOutStatePass> {
  using LayOutStateBase::LayOutStateBase;
  void runOnOperation() override {
    auto machine = kernels::loadUsableMesh(target, defects);
    if (!machine.ok()) {
      getOperation().emitError(std::string(machine.status().message()));
      return signalPassFailure();
    }
    auto variables = readVariables(getOperation());
    if (failed(variables))
      return signalPassFailure();
    if (variables->empty())
      return;
    if (absl::Status status = kernels::layOutVariables(machine->target, *variables); !status.ok()) {
      getOperation().emitError(std::string(status.message()));
      return signalPassFailure();
    }
    writeVariables(getOperation(), *variables);
  }
};

} // namespace
} // namespace wsc::wafer
