// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/Generate.h"

#include "compiler/kernels/Merge.h"
#include "compiler/kernels/StateRows.h"

#include <map>
#include <string>

namespace wsc::kernels {

absl::Status routeNetwork(const target::Target &target, NetworkPlan &network) {
  std::vector<LaneRoute> lanes = laneRoutes(target, network);
  solver::colouring::Problem problem = colouringProblem(target, network, lanes);
  if (auto status = problem.check(); !status.ok())
    return status;
  auto solution = solver::colouring::solve(problem);
  if (!solution.ok())
    return solution.status();
  if (auto status = solution->verify(problem); !status.ok())
    return status;
  applyColours(network, lanes, *solution);
  return absl::OkStatus();
}

absl::StatusOr<format::Configuration> generateConfiguration(const target::Target &target, const NetworkPlan &network,
                                                            SectionTable &sections) {
  format::Configuration configuration;
  configuration.name = network.name;
  for (size_t k = 0; k < network.kernels.size(); ++k) {
    const KernelPlan &plan = network.kernels[k];
    format::Kernel kernel;
    kernel.name = plan.spec.name;
    kernel.layers = plan.spec.layers;
    kernel.row = 0;
    kernel.col = plan.placement.col;
    kernel.rows = int32_t(network.grid.rowsUsed);
    kernel.cols = plan.width();
    kernel.macs = plan.spec.macs;
    kernel.predictedIntervalCycles = plan.predictedIntervalCycles;
    configuration.kernels.push_back(std::move(kernel));

    KernelRows rows(target, network, int32_t(k));
    if (plan.spec.state) {
      if (!isFirstOnVariable(network, int32_t(k)))
        continue;
      std::vector<std::pair<Region, format::Role>> cores;
      for (int64_t group = 0; group < rows.numGroups(); ++group)
        for (int64_t slice = 0; slice < rows.slices(); ++slice) {
          KernelRow row = rows.row(group, slice);
          std::vector<format::Role> role;
          if (auto status = rows.roles(row, sections, role); !status.ok())
            return status;
          cores.emplace_back(row.out, std::move(role.front()));
        }
      mergeStateRoles(network.variables[plan.spec.state->variable], std::move(cores), configuration);
      continue;
    }
    std::vector<format::Role> roles;
    for (int64_t group = 0; group < rows.numGroups(); ++group)
      for (int64_t slice = 0; slice < rows.slices(); ++slice)
        if (auto status = rows.roles(rows.row(group, slice), sections, roles); !status.ok())
          return status;
    std::map<std::string, int> named;
    for (format::Role &role : mergeRoles(std::move(roles))) {
      if (int count = named[role.name]++)
        role.name += "." + std::to_string(count);
      configuration.roles.push_back(std::move(role));
    }
  }
  emitRoutes(target, network, laneRoutes(target, network), configuration);
  return configuration;
}

} // namespace wsc::kernels
