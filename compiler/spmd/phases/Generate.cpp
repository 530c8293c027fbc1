// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/phases/Generate.h"

#include "compiler/spmd/network/Simplify.h"
#include "compiler/spmd/phases/EntryWriter.h"
#include "compiler/spmd/phases/FewerChanges.h"
#include "compiler/spmd/phases/SampleGroups.h"
#include "compiler/spmd/phases/States.h"
#include "runtime/timing/Phases.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace wsc::spmd {

using namespace format;

namespace {

TensorType typeOf(const Network &network, const NamedTensor &named) {
  const Tensor &tensor = network.tensors[size_t(named.tensor)];
  return {named.name, tensor.type, tensor.shape};
}

constexpr double kWorthGenerating = 1.25; // of the least estimate: others are hardly the quickest
constexpr size_t kMostGenerated = 4, kMostImproved = 2;
constexpr int kMostAnew = 3;            // rectangles planned once more
constexpr double kNearlyAsQuick = 1.04; // of the quickest rectangle's prediction
constexpr int64_t kWorthGroups = 10000; // cycles of a program that groups of samples may make quicker
constexpr double kGatherShare = 0.125;  // of SRAM for a line of a gathered dimension

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

/// Plans of the rectangle with room for the constants of `failed` from the first nest on.
absl::StatusOr<ProgramPlan> planAnew(const ProgramPlan &failed, const std::vector<Network> &networks,
                                     std::vector<Views> &views, const target::Target &target,
                                     const std::vector<std::vector<Loop>> &loops, PlanPolicy policy,
                                     EstimateCaches &caches) {
  ProgramPlan anew{failed.rectangle, {}, 0};
  for (size_t n = 0; n < networks.size(); ++n) {
    policy.reservedBytes = failed.entries[n].constantBytes;
    auto plan = planNetwork(networks[n], views[n], target, failed.rectangle, loops[n], policy,
                            &caches[{failed.rectangle.rows, failed.rectangle.cols}]);
    if (!plan.ok())
      return plan.status();
    anew.estimatedCycles += plan->estimatedCycles;
    anew.entries.push_back(*std::move(plan));
  }
  return anew;
}

/// Plans all networks on the same rectangles and generates the most promising one that fits.
absl::StatusOr<PlannedProgram> generateBest(const std::vector<Network> &networks, std::vector<Views> &views,
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
  std::stable_sort(candidates.begin(), candidates.end(),
                   [](const ProgramPlan *a, const ProgramPlan *b) { return a->estimatedCycles < b->estimatedCycles; });
  struct Generated {
    Rectangle rectangle;
    GeneratedProgram program;
    std::vector<NetworkPlan> plans;
    int64_t cycles;
    int64_t cores() const { return int64_t(rectangle.rows) * rectangle.cols; }
  };
  std::vector<Generated> generated;
  int anew = 0;
  absl::Status status = absl::ResourceExhaustedError("no rectangle of the mesh holds all entries");
  for (const ProgramPlan *candidate : candidates) {
    if (!generated.empty() &&
        (generated.size() >= kMostGenerated ||
         double(candidate->estimatedCycles) > kWorthGenerating * double(candidates.front()->estimatedCycles)))
      break;
    std::vector<NetworkPlan> plans = candidate->entries;
    auto program = generateWith(networks, views, target, plans);
    if (absl::IsResourceExhausted(program.status()) && anew++ < kMostAnew)
      if (auto roomier = planAnew(*candidate, networks, views, target, loops, policy, caches); roomier.ok()) {
        plans = std::move(roomier->entries);
        program = generateWith(networks, views, target, plans);
      }
    if (program.ok()) {
      const int64_t cycles = predictedCycles(program->executable);
      generated.push_back({candidate->rectangle, *std::move(program), std::move(plans), cycles});
      continue;
    }
    if (!absl::IsResourceExhausted(program.status()))
      return program.status();
    status = program.status();
  }
  if (generated.empty())
    return status;
  std::stable_sort(generated.begin(), generated.end(),
                   [](const Generated &a, const Generated &b) { return a.cycles < b.cycles; });
  // The quickest, and the smallest of nearly as quick ones.
  const auto smallest =
      std::min_element(generated.begin(), generated.end(), [&](const Generated &a, const Generated &b) {
        auto key = [&](const Generated &each) {
          return std::pair(double(each.cycles) > kNearlyAsQuick * double(generated.front().cycles), each.cores());
        };
        return key(a) < key(b);
      });
  if (generated.size() > kMostImproved && smallest - generated.begin() >= int64_t(kMostImproved))
    std::iter_swap(smallest, generated.begin() + kMostImproved - 1);
  if (generated.size() > kMostImproved)
    generated.erase(generated.begin() + kMostImproved, generated.end());
  for (Generated &each : generated) {
    makeFewerChanges(each.program, each.plans, networks, views, target, policy, caches);
    each.cycles = predictedCycles(each.program.executable);
  }
  // Of nearly as quick ones the smallest, with the least work: cores and slots that save little cost power, and time to
  // compile, to load and to emulate.
  int64_t least = INT64_MAX;
  for (const Generated &each : generated)
    least = std::min(least, each.cycles);
  auto work = [&](const Generated &each) {
    double slots = 0;
    for (const format::Entry &entry : each.program.executable.entries)
      slots += timing::busySlots(each.program.executable, entry);
    return slots;
  };
  auto key = [&](const Generated &each) {
    const bool isQuick = double(each.cycles) <= kNearlyAsQuick * double(least);
    return std::tuple(!isQuick, isQuick ? each.cores() : each.cycles, isQuick ? work(each) : 0);
  };
  Generated &best = *std::min_element(generated.begin(), generated.end(),
                                      [&](const Generated &a, const Generated &b) { return key(a) < key(b); });
  return PlannedProgram{networks, std::move(best.plans), std::move(best.program)};
}

} // namespace

absl::StatusOr<PlannedProgram> planProgram(std::vector<Network> networks, const target::Target &target,
                                           PlanPolicy policy, int threads) {
  std::vector<Network> rolled;
  std::vector<std::vector<Loop>> loops;
  bool anyLoop = false;
  for (Network &network : networks) {
    copyMirrored(network);
    splitGathers(network, int64_t(kGatherShare * double(tensorBytes(target))), std::min(target.rows, target.cols));
    RolledNetwork loopsOf = rollLoops(network);
    anyLoop |= !loopsOf.loops.empty();
    rolled.push_back(std::move(loopsOf.network));
    loops.push_back(std::move(loopsOf.loops));
  }
  // Where it does not fit with the tables of picks, without them.
  auto generate = [&](const std::vector<Network> &each, const std::vector<std::vector<Loop>> &loopsOf,
                      PlanPolicy policy, EstimateCaches &caches) {
    std::vector<Views> views(each.begin(), each.end());
    auto program = generateBest(each, views, target, loopsOf, policy, caches, threads);
    if (!absl::IsResourceExhausted(program.status()))
      return program;
    policy.picks = false;
    auto other = generateBest(each, views, target, loopsOf, policy, caches, threads);
    return other.ok() ? std::move(other) : std::move(program);
  };
  EstimateCaches caches;
  // Where loops do not fit, their repetitions are written out.
  if (anyLoop)
    if (auto program = generate(rolled, loops, policy, caches); program.ok())
      return program;
  const std::vector<std::vector<Loop>> none(networks.size());
  auto program = generate(networks, none, policy, caches);
  if (program.ok() || !absl::IsResourceExhausted(program.status()))
    return program;
  policy.inputIsFree = false;
  return generate(networks, none, policy, caches);
}

absl::StatusOr<GeneratedProgram> generatePhases(const std::vector<Network> &networks, const target::Target &target,
                                                int threads) {
  for (const Network &network : networks)
    if (absl::Status status = network.check(); !status.ok())
      return status;
  auto together = planProgram(networks, target, {}, threads);
  if (!together.ok() && !absl::IsResourceExhausted(together.status()))
    return together.status();
  const int64_t cycles = together.ok() ? predictedCycles(together->program.executable) : INT64_MAX;
  if (const auto one = networks.size() == 1 && cycles > kWorthGroups ? oneSample(networks[0]) : std::nullopt)
    if (auto grouped = generateInGroups(networks[0], *one, target, threads);
        grouped.ok() && predictedCycles(grouped->executable) < cycles)
      return grouped;
  if (!together.ok())
    return together.status();
  return std::move(together->program);
}

} // namespace wsc::spmd
