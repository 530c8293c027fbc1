// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/CoreGeneration.h"

#include "compiler/spmd/phases/Generate.h"
#include "passes/spmd/ReadNetwork.h"

namespace wsc::driver {

absl::StatusOr<emit::CoreModule> generatePhased(const target::Target &target, mlir::ModuleOp module,
                                                const CompileOptions &options) {
  std::vector<spmd::Network> networks;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    auto network = spmd::readNetwork(function);
    if (!network.ok())
      return network.status();
    networks.push_back(*std::move(network));
  }
  if (networks.empty())
    return absl::InvalidArgumentError("the module has no function to compile");
  auto program = spmd::generatePhases(networks, target, {options.search.threads, options.hooks.cancelled});
  if (!program.ok())
    return program.status();
  return emit::CoreModule{std::move(program->executable), std::move(program->sections)};
}

} // namespace wsc::driver
