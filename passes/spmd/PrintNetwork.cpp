// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// spmd-print-network.
#include "compiler/spmd/network/Text.h"
#include "passes/spmd/Passes.h"
#include "passes/spmd/ReadNetwork.h"

using namespace mlir;

namespace wsc::spmd {
#define GEN_PASS_DEF_PRINTNETWORK
#include "passes/spmd/Passes.h.inc"

namespace {

struct PrintNetworkPass : impl::PrintNetworkBase<PrintNetworkPass> {
  void runOnOperation() override {
    auto network = readNetwork(getOperation());
    if (!network.ok())
      return signalPassFailure(); // after a diagnostic
    llvm::outs() << printNetwork(*network);
    markAllAnalysesPreserved();
  }
};

} // namespace
} // namespace wsc::spmd
