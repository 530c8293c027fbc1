// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/mapping/Generate.h"

#include "compiler/kernels/programs/StateRows.h"
#include "compiler/kernels/routes/ChooseTurns.h"
#include "compiler/kernels/routes/RoutingProblem.h"

#include <map>
#include <string>

namespace wsc::kernels {

static absl::Status colourNetwork(const target::Target &target, NetworkPlan &network,
                                  std::vector<PosedProblem> *posed) {
  std::vector<LaneRoute> lanes = laneRoutes(target, network);
  solver::colouring::Problem problem = colouringProblem(target, network, lanes);
  if (auto status = problem.check(); !status.ok())
    return status;
  auto solution = colourLanes(network, lanes, problem);
  if (!solution.ok())
    return solution.status();
  if (auto status = solution->verify(problem); !status.ok())
    return status;
  applyColours(network, lanes, *solution);
  if (posed) {
    solver::routing::Solution routes;
    const solver::routing::Problem nets = routingProblem(target, network, lanes, routes);
    posed->push_back({"routing", printProblem(nets)});
    posed->push_back({"routing.solution", printSolution(nets, routes)});
    posed->push_back({"colouring", printProblem(problem)});
    posed->push_back({"colouring.solution", printSolution(problem, *solution)});
  }
  return absl::OkStatus();
}

// Whether a kernel or a lane may lie outside the mesh.
static bool leavesMesh(const target::Target &target, const NetworkPlan &network) {
  const RowGrid &grid = network.grid;
  for (const KernelPlan &plan : network.kernels) {
    const int64_t groups = network.streams[plan.spec.outStream].layout.numTiles();
    const int64_t endRow = grid.groupBegin(groups - 1, groups) + plan.mapping.bands * plan.mapping.slices;
    if (plan.placement.col < 0 || plan.placement.col + plan.width() > target.cols || endRow > target.rows)
      return true;
  }
  for (const StreamPlan &stream : network.streams)
    for (int32_t row : stream.layout.laneRows)
      if (row < 0 || row >= target.rows)
        return true;
  return grid.height() > target.rows;
}

// Rectangles outside the mesh are refused before anything is counted on it.
static absl::Status checkInside(const target::Target &target, const NetworkPlan &network) {
  return leavesMesh(target, network) ? colouringProblem(target, network, laneRoutes(target, network)).check()
                                     : absl::OkStatus();
}

// Lets lanes turn if `colour` finds colours for that, else in their consumers' columns only.
template <typename Colour>
static absl::Status turnWithinColours(const target::Target &target, NetworkPlan &network, Colour colour) {
  if (auto status = chooseTurns(target, network); !status.ok())
    return status;
  absl::Status status = colour();
  if (!absl::IsResourceExhausted(status))
    return status;
  if (auto kept = keepPinnedTurns(target, network); !kept.ok())
    return kept;
  return colour();
}

absl::Status routeNetwork(const target::Target &target, NetworkPlan &network, std::vector<PosedProblem> *posed) {
  if (auto status = checkInside(target, network); !status.ok())
    return status;
  if (posed) {
    std::vector<TurnOwner> owners;
    posed->push_back({"alternatives", printProblem(turnProblem(target, network, owners))});
  }
  return turnWithinColours(target, network, [&] { return colourNetwork(target, network, posed); });
}

absl::Status turnNetwork(const target::Target &target, NetworkPlan &network) {
  if (auto status = checkInside(target, network); !status.ok())
    return status;
  return turnWithinColours(target, network, [&]() -> absl::Status {
    const std::vector<LaneRoute> lanes = laneRoutes(target, network);
    const solver::colouring::Problem problem = colouringProblem(target, network, lanes);
    if (auto status = problem.check(); !status.ok())
      return status;
    return checkColours(network, lanes, problem);
  });
}

// The kernels that run on the cores of kernel `k`, itself first: those of its state variable, or it alone. Empty: they
// are another kernel's.
static std::vector<KernelRows> kernelsOnCores(const target::Target &target, const NetworkPlan &network, int32_t k) {
  std::vector<KernelRows> together;
  if (network.kernels[k].host >= 0)
    return together;
  const auto &state = network.kernels[k].spec.state;
  if (!state)
    together.emplace_back(target, network, k);
  else if (isFirstOnVariable(network, k))
    for (int32_t other = k; other < int32_t(network.kernels.size()); ++other)
      if (const auto &use = network.kernels[other].spec.state; use && use->variable == state->variable)
        together.emplace_back(target, network, other);
  return together;
}

absl::StatusOr<format::Configuration> generateConfiguration(const target::Target &target, const NetworkPlan &network,
                                                            SectionTable &sections, GenerationCounts *counts) {
  format::Configuration configuration;
  configuration.name = network.name;
  GenerationCounts made;
  for (size_t k = 0; k < network.kernels.size(); ++k) {
    const KernelPlan &plan = network.kernels[k];
    format::Kernel kernel;
    kernel.name = plan.spec.name;
    kernel.layers = plan.spec.layers;
    kernel.row = 0;
    kernel.col = plan.placement.col;
    kernel.rows = int32_t(network.grid.height());
    kernel.cols = plan.width();
    kernel.macs = plan.spec.macs;
    kernel.predictedIntervalCycles = plan.predictedIntervalCycles;
    configuration.kernels.push_back(std::move(kernel));

    std::vector<KernelRows> together = kernelsOnCores(target, network, int32_t(k));
    if (together.empty())
      continue;
    std::map<std::string, int> named;
    std::vector<ClassRole> roles;
    for (RoleClass &rowClass : roleClasses(network, together))
      if (auto status = generateRoles(together.front(), std::move(rowClass), sections, made, roles); !status.ok())
        return status;
    for (ClassRole &of : roles) {
      if (int count = named[of.role.name]++)
        of.role.name += "." + std::to_string(count);
      configuration.roles.push_back(std::move(of.role));
      if (plan.spec.state)
        bindState(network.variables[plan.spec.state->variable], of.held, int32_t(configuration.roles.size()) - 1,
                  configuration);
    }
  }
  emitRoutes(target, network, laneRoutes(target, network), configuration);
  if (counts) {
    counts->programs += made.programs;
    counts->roles += made.roles;
  }
  return configuration;
}

} // namespace wsc::kernels
