// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/phases/Generate.h"

#include "compiler/solver/Allocation.h"
#include "compiler/spmd/network/Simplify.h"
#include "compiler/spmd/phases/EntryWriter.h"
#include "compiler/spmd/phases/FewerChanges.h"
#include "compiler/spmd/phases/SampleGroups.h"
#include "compiler/spmd/phases/States.h"
#include "runtime/timing/Phases.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace wsc::spmd {

using namespace format;

namespace {

TensorType typeOf(const Network &network, const NamedTensor &named) {
  const Tensor &tensor = network.tensors[size_t(named.tensor)];
  return {named.name, tensor.type, tensor.shape};
}

constexpr double kWorthGenerating = 1.5; // of the least estimate: others are hardly the quickest
constexpr size_t kMostGenerated = 12, kMostImproved = 4;
constexpr int kMostAnew = 6;               // plans of rectangles whose programs did not fit
constexpr double kCoresExponent = 1.0 / 3; // of a program's cost
constexpr double kIdleShare = 1.0 / 32;    // power of a mesh that idles, of that of all its cores
constexpr int64_t kWorthGroups = 10000;    // cycles of a program that groups of samples may make quicker
constexpr double kGatherShare = 0.125;     // of SRAM for a line of a gathered dimension

/// Plans of all networks on one rectangle.
struct ProgramPlan {
  Rectangle rectangle;
  std::vector<NetworkPlan> entries;
  int64_t estimatedCycles = 0;

  int64_t cores() const { return int64_t(rectangle.rows) * rectangle.cols; }
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

/// A plan's program, of so many cycles by the cost model, and of no less once it changes configurations less often.
struct Generated {
  ProgramPlan plan;
  GeneratedProgram program;
  int64_t cycles = 0, leastCycles = 0;

  void count() {
    cycles = predictedCycles(program.executable);
    leastCycles = cycles - timing::repeatedConfigurationCycles(program.executable);
  }
};

/// Programs of networks that share a rectangle.
class Generator {
public:
  Generator(const std::vector<Network> &networks, std::vector<Views> &views, const target::Target &target,
            const std::vector<std::vector<Loop>> &loops, const PlanPolicy &policy, EstimateCaches &caches,
            const PlanHost &host)
      : networks(networks), views(views), target(target), loops(loops), policy(policy), caches(caches), host(host) {}

  /// Plans all networks on the same rectangles, generates the most promising ones that fit, and improves those of them
  /// that could become the best.
  absl::StatusOr<PlannedProgram> run() {
    auto plans = candidates();
    if (!plans.ok())
      return plans.status();
    const auto cheaper = [this](const Generated &a, const Generated &b) { return key(a, a.cycles) < key(b, b.cycles); };
    const auto couldBeCheaper = [this](const Generated &a, const Generated &b) {
      return key(a, a.leastCycles) < key(b, b.leastCycles);
    };
    std::vector<Generated> all; // the cheapest so far, and those that could become the cheapest
    size_t generated = 0;
    absl::Status status = absl::ResourceExhaustedError("no rectangle of the mesh holds all entries");
    for (const size_t number : inOrderOfPromise(*plans)) {
      if (status = host.goesOn(); !status.ok())
        return status;
      const ProgramPlan &plan = (*plans)[number];
      if (!all.empty() && (generated >= kMostGenerated || !isPromising(plan, *plans)))
        break;
      auto made = generate(plan);
      if (!made.ok()) {
        if (status = made.status(); !absl::IsResourceExhausted(status))
          return status;
        continue;
      }
      ++generated;
      all.push_back(*std::move(made));
      std::sort(all.begin(), all.end(), couldBeCheaper);
      if (all.size() > kMostImproved) {
        const bool lastIsBest = std::min_element(all.begin(), all.end(), cheaper) + 1 == all.end();
        all.erase(all.end() - (lastIsBest ? 2 : 1));
      }
    }
    if (all.empty())
      return status;
    for (Generated &each : all) {
      const Generated &best = *std::min_element(all.begin(), all.end(), cheaper);
      if (each.leastCycles == each.cycles || key(best, best.cycles) < key(each, each.leastCycles))
        continue;
      makeFewerChanges(each.program, each.plan.entries, networks, views, target, caches, host);
      each.count();
    }
    if (status = host.goesOn(); !status.ok())
      return status;
    Generated &best = *std::min_element(all.begin(), all.end(), cheaper);
    return PlannedProgram{networks, std::move(best.plan.entries), std::move(best.program)};
  }

private:
  /// What a program of so many cycles costs. Cores that save little cost power, and time to compile, to load and to
  /// emulate: twice as many have to save a fifth of the cycles, less where the rest of the wafer takes as much, which
  /// idles. Of programs that cost the same, one on fewer rows.
  std::pair<double, int32_t> key(const Generated &made, int64_t cycles) const {
    const double idle = kIdleShare * double(target.rows) * double(target.cols);
    return {double(cycles) * std::pow(double(made.plan.cores()) + idle, kCoresExponent), made.plan.rectangle.rows};
  }

  static bool isPromising(const ProgramPlan &plan, const std::vector<ProgramPlan> &plans) {
    return double(plan.estimatedCycles) <= kWorthGenerating * double(plans.front().estimatedCycles);
  }

  /// Numbers of plans, which are sorted by estimate: of promising ones in turns the quickest and the smallest.
  static std::vector<size_t> inOrderOfPromise(const std::vector<ProgramPlan> &plans) {
    std::vector<size_t> quickest, smallest, order;
    for (size_t i = 0; i < plans.size(); ++i) {
      quickest.push_back(i);
      if (isPromising(plans[i], plans))
        smallest.push_back(i);
    }
    std::sort(smallest.begin(), smallest.end(),
              [&](size_t a, size_t b) { return std::pair(plans[a].cores(), a) < std::pair(plans[b].cores(), b); });
    std::vector<bool> taken(plans.size(), false);
    for (size_t i = 0; i < plans.size(); ++i)
      for (const std::vector<size_t> *from : {&quickest, &smallest})
        if (i < from->size() && !taken[(*from)[i]]) {
          taken[(*from)[i]] = true;
          order.push_back((*from)[i]);
        }
    return order;
  }

  /// Plans of rectangles that hold all networks, the quickest first.
  absl::StatusOr<std::vector<ProgramPlan>> candidates() {
    std::map<std::pair<int32_t, int32_t>, ProgramPlan> programs;
    for (size_t n = 0; n < networks.size(); ++n) {
      auto plans = planCandidates(networks[n], views[n], target, loops[n], policy, caches, host);
      if (!plans.ok())
        return plans.status();
      for (NetworkPlan &plan : *plans) {
        ProgramPlan &program = programs[{plan.rectangle.rows, plan.rectangle.cols}];
        program.rectangle = plan.rectangle;
        program.estimatedCycles += plan.estimatedCycles;
        program.entries.push_back(std::move(plan));
      }
    }
    std::vector<ProgramPlan> all;
    for (auto &[size, program] : programs)
      if (program.entries.size() == networks.size())
        all.push_back(std::move(program));
    std::sort(all.begin(), all.end(), [](const ProgramPlan &a, const ProgramPlan &b) {
      const auto key = [](const ProgramPlan &each) {
        return std::tuple(each.estimatedCycles, each.rectangle.rows, each.rectangle.cols);
      };
      return key(a) < key(b);
    });
    return all;
  }

  /// The plan of the same rectangle with room for the constants of `failed` from the first nest on, and `moreBytes`
  /// more to spare.
  absl::StatusOr<ProgramPlan> planAnew(const ProgramPlan &failed, int64_t moreBytes) {
    ProgramPlan made{failed.rectangle, {}, 0};
    for (size_t n = 0; n < networks.size(); ++n) {
      PlanPolicy roomier = failed.entries[n].policy;
      roomier.starts = policy.starts;
      roomier.marginBytes += moreBytes;
      roomier.reservedBytes = failed.entries[n].constantBytes;
      auto plan = planNetwork(networks[n], views[n], target, failed.rectangle, loops[n], roomier,
                              &caches[{failed.rectangle.rows, failed.rectangle.cols}]);
      if (!plan.ok())
        return plan.status();
      made.estimatedCycles += plan->estimatedCycles;
      made.entries.push_back(*std::move(plan));
    }
    return made;
  }

  /// A plan knows the constants of the nests behind only from the plan before; what its program lacks beyond that, as
  /// estimates leave out some of what programs need, the next plan has to spare.
  absl::StatusOr<Generated> generate(ProgramPlan plan) {
    auto program = generateWith(networks, views, target, plan.entries);
    for (bool isFirst = true; absl::IsResourceExhausted(program.status()) && anew < kMostAnew; isFirst = false) {
      const int64_t missing = solver::allocation::missingBytes(program.status());
      if (!isFirst && missing == 0)
        break;
      ++anew;
      auto roomier = planAnew(plan, isFirst ? 0 : missing);
      if (!roomier.ok())
        break;
      plan = *std::move(roomier);
      program = generateWith(networks, views, target, plan.entries);
    }
    if (!program.ok())
      return program.status();
    Generated made{std::move(plan), *std::move(program)};
    made.count();
    return made;
  }

  const std::vector<Network> &networks;
  std::vector<Views> &views;
  const target::Target &target;
  const std::vector<std::vector<Loop>> &loops;
  const PlanPolicy policy;
  EstimateCaches &caches;
  const PlanHost &host;
  int anew = 0; // plans made anew
};

} // namespace

absl::StatusOr<PlannedProgram> planProgram(std::vector<Network> networks, const target::Target &target,
                                           PlanPolicy policy, const PlanHost &host) {
  policy.shifts = target.inputFilters >= int32_t(target.inputQueueWords.size());
  std::vector<Network> rolled;
  std::vector<std::vector<Loop>> loops;
  bool anyLoop = false;
  for (Network &network : networks) {
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
    auto program = Generator(each, views, target, loopsOf, policy, caches, host).run();
    if (!absl::IsResourceExhausted(program.status()))
      return program;
    policy.picks = false;
    auto other = Generator(each, views, target, loopsOf, policy, caches, host).run();
    return other.ok() ? std::move(other) : std::move(program);
  };
  EstimateCaches caches;
  // Where loops do not fit, their repetitions are written out.
  if (anyLoop)
    if (auto program = generate(rolled, loops, policy, caches); program.ok() || absl::IsCancelled(program.status()))
      return program;
  const std::vector<std::vector<Loop>> none(networks.size());
  auto program = generate(networks, none, policy, caches);
  if (program.ok() || !absl::IsResourceExhausted(program.status()))
    return program;
  policy.inputIsFree = false;
  return generate(networks, none, policy, caches);
}

absl::StatusOr<GeneratedProgram> generatePhases(const std::vector<Network> &networks, const target::Target &target,
                                                const PlanHost &host) {
  for (const Network &network : networks)
    if (absl::Status status = network.check(); !status.ok())
      return status;
  auto together = planProgram(networks, target, {}, host);
  if (!together.ok() && !absl::IsResourceExhausted(together.status()))
    return together.status();
  const int64_t cycles = together.ok() ? predictedCycles(together->program.executable) : INT64_MAX;
  if (const auto one = networks.size() == 1 && cycles > kWorthGroups ? oneSample(networks[0]) : std::nullopt)
    if (auto grouped = generateInGroups(networks[0], *one, target, host);
        grouped.ok() && predictedCycles(grouped->executable) < cycles)
      return grouped;
  if (absl::Status status = host.goesOn(); !status.ok())
    return status;
  if (!together.ok())
    return together.status();
  return std::move(together->program);
}

} // namespace wsc::spmd
