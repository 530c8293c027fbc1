// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/phases/Generate.h"

#include "compiler/spmd/phases/EntryWriter.h"

namespace wsc::spmd {

using namespace format;

static TensorType typeOf(const Network &network, const NamedTensor &named) {
  const Tensor &tensor = network.tensors[size_t(named.tensor)];
  return {named.name, tensor.type, tensor.shape};
}

absl::Status generateEntry(const Network &network, Views &views, const target::Target &target, const NetworkPlan &plan,
                           GeneratedProgram &program) {
  ConstantTable constants;
  EntryWriter writer(network, views, target, plan, constants);
  if (absl::Status status = writer.write(); !status.ok())
    return status;
  Entry entry;
  entry.name = network.name;
  for (const NamedTensor &input : network.inputs)
    entry.inputs.push_back(typeOf(network, input));
  for (const NamedTensor &output : network.outputs)
    entry.outputs.push_back(typeOf(network, output));
  return assembleEntry(std::move(entry), plan.rectangle, target, std::move(writer.phases), std::move(constants), program);
}

absl::StatusOr<GeneratedProgram> generatePhases(const std::vector<Network> &networks, const target::Target &target) {
  GeneratedProgram program;
  program.executable.target = target;
  program.executable.execution = "phased";
  for (const Network &network : networks) {
    if (absl::Status status = network.check(); !status.ok())
      return status;
    Views views(network);
    auto plans = planCandidates(network, views, target);
    if (!plans.ok())
      return plans.status();
    absl::Status status;
    for (const NetworkPlan &plan : *plans) {
      status = generateEntry(network, views, target, plan, program);
      if (status.ok() || !absl::IsResourceExhausted(status))
        break;
    }
    if (!status.ok())
      return status;
  }
  return program;
}

} // namespace wsc::spmd
