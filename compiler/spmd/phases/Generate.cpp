// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/phases/Generate.h"

#include "compiler/spmd/network/Simplify.h"
#include "compiler/spmd/phases/EntryWriter.h"
#include "compiler/spmd/phases/FewerChanges.h"
#include "compiler/spmd/phases/States.h"

#include <algorithm>
#include <map>

namespace wsc::spmd {

using namespace format;

namespace {

TensorType typeOf(const Network &network, const NamedTensor &named) {
  const Tensor &tensor = network.tensors[size_t(named.tensor)];
  return {named.name, tensor.type, tensor.shape};
}

constexpr double kNearlyAsQuick = 1.1; // of the quickest rectangle's estimate
constexpr double kGatherShare = 0.125; // of SRAM for a line of a gathered dimension

/// Plans of all networks on one rectangle.
struct ProgramPlan {
  Rectangle rectangle;
  std::vector<NetworkPlan> entries;
  int64_t estimatedCycles = 0;
};

} // namespace

absl::StatusOr<GeneratedProgram> generateWith(const std::vector<Network> &networks, std::vector<Views> &views,
                                              const target::Target &target, const std::vector<NetworkPlan> &plans) {
  const Rectangle &rectangle = plans.front().rectangle;
  ConstantTable constants;
  auto states = StateTable::create(networks, rectangle, constants);
  if (!states.ok())
    return states.status();
  std::vector<EntryPhases> entries;
  for (size_t n = 0; n < networks.size(); ++n) {
    const Network &network = networks[n];
    EntryWriter writer(network, views[n], target, plans[n], constants, *states);
    if (absl::Status status = writer.write(); !status.ok())
      return status;
    EntryPhases entry;
    entry.entry.name = network.name;
    for (const NamedTensor &input : network.inputs)
      entry.entry.inputs.push_back(typeOf(network, input));
    for (const NamedTensor &output : network.outputs)
      entry.entry.outputs.push_back(typeOf(network, output));
    entry.phases = std::move(writer.phases);
    entries.push_back(std::move(entry));
  }
  return assemble(std::move(entries), std::move(states->variables), rectangle, target, std::move(constants));
}

namespace {

/// Plans all networks on the same rectangles and generates the most promising one that fits.
absl::StatusOr<GeneratedProgram> generateBest(const std::vector<Network> &networks, std::vector<Views> &views,
                                              const target::Target &target, const std::vector<std::vector<Loop>> &loops,
                                              PlanPolicy policy, EstimateCaches &caches, int threads) {
  std::map<std::pair<int32_t, int32_t>, ProgramPlan> programs;
  for (size_t n = 0; n < networks.size(); ++n) {
    auto plans = planCandidates(networks[n], views[n], target, loops[n], policy, caches, threads);
    if (!plans.ok())
      return plans.status();
    for (NetworkPlan &plan : *plans) {
      ProgramPlan &program = programs[{plan.rectangle.rows, plan.rectangle.cols}];
      program.rectangle = plan.rectangle;
      program.estimatedCycles += plan.estimatedCycles;
      program.entries.push_back(std::move(plan));
    }
  }
  std::vector<const ProgramPlan *> candidates; // rectangles that hold all entries, the quickest first
  for (const auto &[size, program] : programs)
    if (program.entries.size() == networks.size())
      candidates.push_back(&program);
  // Of nearly as quick ones the smallest: cores that save little cost time to compile, to load and to emulate.
  int64_t least = INT64_MAX;
  for (const ProgramPlan *candidate : candidates)
    least = std::min(least, candidate->estimatedCycles);
  auto key = [&](const ProgramPlan *plan) {
    const int64_t cores = int64_t(plan->rectangle.rows) * plan->rectangle.cols;
    return double(plan->estimatedCycles) <= kNearlyAsQuick * double(least)
               ? std::pair<int64_t, int64_t>(0, cores)
               : std::pair<int64_t, int64_t>(1, plan->estimatedCycles);
  };
  std::sort(candidates.begin(), candidates.end(),
            [&](const ProgramPlan *a, const ProgramPlan *b) { return key(a) < key(b); });
  absl::Status status = absl::ResourceExhaustedError("no rectangle of the mesh holds all entries");
  for (const ProgramPlan *candidate : candidates) {
    auto program = generateWith(networks, views, target, candidate->entries);
    if (program.ok())
      return withFewerChanges(*std::move(program), candidate->entries, networks, views, target, policy, caches);
    if (!absl::IsResourceExhausted(program.status()))
      return program;
    status = program.status();
  }
  return status;
}

} // namespace

absl::StatusOr<GeneratedProgram> generatePhases(const std::vector<Network> &given, const target::Target &target,
                                                int threads) {
  std::vector<Network> networks = given, rolled;
  std::vector<std::vector<Loop>> loops;
  bool anyLoop = false;
  for (Network &network : networks) {
    if (absl::Status status = network.check(); !status.ok())
      return status;
    copyMirrored(network);
    splitGathers(network, int64_t(kGatherShare * double(tensorBytes(target))), std::min(target.rows, target.cols));
    RolledNetwork loopsOf = rollLoops(network);
    anyLoop |= !loopsOf.loops.empty();
    rolled.push_back(std::move(loopsOf.network));
    loops.push_back(std::move(loopsOf.loops));
  }
  EstimateCaches caches;
  // Where loops do not fit, their repetitions are written out.
  if (anyLoop) {
    std::vector<Views> views(rolled.begin(), rolled.end());
    if (auto program = generateBest(rolled, views, target, loops, {}, caches, threads); program.ok())
      return program;
  }
  std::vector<Views> views(networks.begin(), networks.end());
  const std::vector<std::vector<Loop>> none(networks.size());
  auto program = generateBest(networks, views, target, none, {}, caches, threads);
  if (program.ok() || !absl::IsResourceExhausted(program.status()))
    return program;
  return generateBest(networks, views, target, none, {.inputIsFree = false}, caches, threads);
}

} // namespace wsc::spmd
