// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes a failing plan small, and prints what is left.
#include "RandomFabric.h"

#include "runtime/format/Disassembly.h"
#include "runtime/format/Verifier.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>

namespace wsc::fabric {

using namespace format;

namespace {

bool differs(const Plan &plan, bool lawful) {
  return (!lawful || findViolations(programOf(plan).executable, 1).empty()) &&
         !findDifference(plan, nullptr, lawful).empty();
}

// No item longer than `most`; lengths that filled words still do.
Plan cut(const Plan &plan, size_t stream, int64_t most) {
  Plan result = plan;
  for (auto *parties : {&result.streams[stream].senders, &result.streams[stream].takers})
    for (Party &party : *parties)
      for (Item &item : party.items) {
        item.elements = std::min(item.elements, most);
        item.growth = 0;
      }
  for (Party &party : result.streams[stream].takers)
    if (!isWhole(party, result.streams[stream].type))
      party.window = {};
  return result;
}

// One step smaller each.
std::vector<Plan> smaller(const Plan &plan) {
  std::vector<Plan> plans;
  for (size_t s = 0; s < plan.streams.size(); ++s) {
    std::vector<bool> keep(plan.streams.size(), true);
    keep[s] = false;
    plans.push_back(without(plan, keep));
  }
  const auto with = [&](auto change) {
    Plan changed = plan;
    change(changed);
    if (!(changed.target == plan.target) || changed.samples != plan.samples ||
        changed.swapPercent != plan.swapPercent || changed.rounds != plan.rounds ||
        changed.priorities != plan.priorities)
      plans.push_back(changed);
  };
  with([](Plan &p) { p.samples = std::max(1, p.samples - 1); });
  with([](Plan &p) {
    p.target.rows -= p.copies > 1 ? p.rows : 0;
    p.copies = std::max(1, p.copies - 1);
  });
  with([](Plan &p) { p.swapPercent = 0; });
  with([](Plan &p) { p.rounds = 1; });
  with([](Plan &p) { p.priorities = 1; });
  for (size_t s = 0; s < plan.streams.size(); ++s)
    for (size_t t = 0; t < plan.streams[s].takers.size(); ++t)
      if (plan.streams[s].takers[t].window.period > 0) {
        plans.push_back(plan);
        plans.back().streams[s].takers[t].window = {};
      }
  for (size_t s = 0; s < plan.streams.size(); ++s)
    for (int64_t most : {4, 8, 12}) {
      const auto longer = [&](const Party &party) {
        return std::any_of(party.items.begin(), party.items.end(),
                           [&](const Item &item) { return item.elements > most; });
      };
      if (std::any_of(plan.streams[s].senders.begin(), plan.streams[s].senders.end(), longer))
        plans.push_back(cut(plan, s, most));
    }
  with([](Plan &p) { p.target.hopLatencyCycles = p.target.creditLatencyCycles = p.target.rampLatencyCycles = 1; });
  with([](Plan &p) { p.target.vectorSetupCycles = p.target.loopCycles = p.target.taskStartCycles = 0; });
  with([](Plan &p) {
    p.target.elementsPerCycleF32 = p.target.elementsPerCycleF16 = 1;
    p.target.fmaPerCycleF32 = p.target.fmaPerCycleF16 = p.target.routineCyclesPerElement = 1;
  });
  with([](Plan &p) { p.target.sramBanks = 8, p.target.sramReadsPerCycle = 3, p.target.sramWritesPerCycle = 2; });
  return plans;
}

} // namespace

Plan shrink(const Plan &plan, bool lawful) {
  Plan small = plan;
  for (int steps = 0; steps < 200; ++steps) {
    const std::vector<Plan> plans = smaller(small);
    const auto next = std::find_if(plans.begin(), plans.end(), [&](const Plan &p) { return differs(p, lawful); });
    if (next == plans.end())
      break;
    small = *next;
  }
  return small;
}

std::string describe(const Executable &executable) {
  std::string text;
  const target::Target &t = executable.target;
  absl::StrAppend(&text, "mesh ", t.rows, "x", t.cols, ", hop ", t.hopLatencyCycles, ", ramp ", t.rampLatencyCycles,
                  ", credit ", t.creditLatencyCycles, ", router queue ", t.routerQueueWords, ", input queues ",
                  absl::StrJoin(t.inputQueueWords, " "), ", output queues ", absl::StrJoin(t.outputQueueWords, " "),
                  "\nset-up ", t.vectorSetupCycles, ", loop ", t.loopCycles, ", task start ", t.taskStartCycles,
                  ", f32 ", t.elementsPerCycleF32, ", f16 ", t.elementsPerCycleF16, ", fma ", t.fmaPerCycleF32, " ",
                  t.fmaPerCycleF16, ", routine ", t.routineCyclesPerElement, ", banks ", t.sramBanks, " of ",
                  t.sramAccessBytes, ", reads ", t.sramReadsPerCycle, ", writes ", t.sramWritesPerCycle, ", I/O ",
                  t.ioWordsPerCycle(), "\n");
  const Configuration &configuration = executable.configurations[0];
  for (const RouterRole &role : configuration.routers) {
    absl::StrAppend(&text, "colour ", int(role.colour), ", ", printLattice(role.routers), ":");
    for (const SwitchPosition &position : role.positions)
      absl::StrAppend(&text, " {", printSwitchPosition(position), "}");
    absl::StrAppend(&text, "\n");
  }
  for (const IoBinding &binding : configuration.io)
    absl::StrAppend(&text, binding.output ? "output" : "input", " binding, colour ", int(binding.colour), ", ",
                    std::string(portName(binding.side)), " of ", printLattice(binding.ports), ", ",
                    printAffine(binding.extent[3]), " elements\n");
  for (const Role &role : configuration.roles) {
    absl::StrAppend(&text, role.name, ", ", printLattice(role.cores), ":");
    for (const Queue &queue : role.queues)
      absl::StrAppend(&text, queue.output ? " out" : " in", int(queue.index), "(colour ", int(queue.colour),
                      queue.filter.period == 0
                          ? std::string()
                          : absl::StrCat(", of every ", queue.filter.period, " words ", printAffine(queue.filter.words),
                                         " from ", printAffine(queue.filter.begin)),
                      ")");
    for (const Buffer &buffer : role.buffers)
      absl::StrAppend(&text, " ", buffer.name, "@", buffer.address, "+", buffer.bytes);
    absl::StrAppend(&text, "\n");
    for (size_t thread = 0; thread < role.threads.size(); ++thread)
      absl::StrAppend(&text, "  thread ", thread, "\n", disassemble(role, role.threads[thread], nullptr, 4));
  }
  return text;
}

} // namespace wsc::fabric
