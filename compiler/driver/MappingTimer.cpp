// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/MappingTimer.h"

#include "compiler/kernels/mapping/Generate.h"
#include "compiler/kernels/programs/StateRows.h"
#include "runtime/emulator/Network.h"
#include "runtime/emulator/Timing.h"

namespace wsc::driver {

// Enough to compare mappings: the first sample finds the network empty, the second fills it.
constexpr int kSamples = 4;

absl::StatusOr<int64_t> emulatedInterval(const target::Target &mesh, const kernels::NetworkPlan &network) {
  kernels::SectionTable sections;
  format::Executable executable;
  executable.target = mesh;
  executable.states = kernels::stateVariables(network.variables, sections);
  auto configuration = kernels::generateConfiguration(mesh, network, sections);
  if (!configuration.ok())
    return configuration.status();
  executable.configurations.push_back(*std::move(configuration));
  format::Entry entry;
  entry.name = network.name;
  entry.inputs = network.inputs;
  entry.outputs = network.outputs;
  entry.steps = {{format::StepKind::Configure, 0, {}}, {format::StepKind::Run, 0, {0}}};
  executable.entries.push_back(std::move(entry));
  auto networks = emulator::resolveNetworks(mesh, executable.configurations[0], emulator::bindingTypes(executable, 0));
  if (!networks.ok())
    return networks.status();
  auto timing = emulator::analyseTiming(executable, 0, *networks, kSamples);
  if (!timing.ok())
    return timing.status();
  return timing->intervalCycles;
}

} // namespace wsc::driver
