// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "RandomFabric.h"

#include "runtime/emulator/cycle/CycleEngine.h"
#include "runtime/format/Verifier.h"

#include "absl/strings/str_cat.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace wsc::fabric {

using namespace format;

namespace {

constexpr int64_t FabricCounts::*kCounts[] = {
    &FabricCounts::sharedLinks,      &FabricCounts::unevenMulticasts,   &FabricCounts::switchAdvances,
    &FabricCounts::sharedSlots,      &FabricCounts::bankConflicts,      &FabricCounts::portsRefused,
    &FabricCounts::partialBatches,   &FabricCounts::filteredMulticasts, &FabricCounts::filteredEnds,
    &FabricCounts::filteredPastRamp, &FabricCounts::priorities};

void add(Tally &tally, const FabricRun &run) {
  ++tally.programs;
  switch (run.outcome) {
  case Outcome::Done:
    ++tally.live;
    break;
  case Outcome::Deadlock:
    ++tally.deadlocks;
    break;
  case Outcome::LeftoverWords:
    ++tally.leftovers;
    break;
  case Outcome::StrayControl:
    ++tally.strayControls;
    break;
  }
  tally.cycles += run.endCycle;
  for (auto count : kCounts) {
    tally.programsWith.*count += run.counts.*count > 0;
    tally.times.*count += run.counts.*count;
  }
}

std::string firstDifference(const std::vector<std::byte> &expected, const std::vector<std::byte> &actual) {
  const auto at = std::mismatch(expected.begin(), expected.end(), actual.begin(), actual.end());
  if (at.first == expected.end() && at.second == actual.end())
    return "";
  return absl::StrCat(" differs between the reference and the core engine from byte ", at.first - expected.begin(),
                      " on");
}

// What the program computes, against the core engine on one schedule: outputs of all samples, scratch memory after the
// last.
std::string compareValues(const RandomProgram &program, const FabricRun &run,
                          const emulator::CoreEngineOptions &options) {
  auto engine = emulator::CoreEngine::create(program.executable, options);
  if (!engine.ok())
    return absl::StrCat("the core engine refuses it: ", engine.status().ToString());
  std::vector<emulator::CorePlace> cores;
  for (const CoreSram &core : run.sram)
    cores.push_back({0, 0, core.role, core.index});
  for (size_t sample = 0; sample < program.inputs.size(); ++sample) {
    std::vector<emulator::HostTensor> outputs;
    auto traces = (*engine)->runTraced(0, program.inputs[sample], cores, outputs);
    if (!traces.ok())
      return absl::StrCat("the core engine fails in sample ", sample, ": ", traces.status().ToString());
    for (size_t o = 0; o < outputs.size(); ++o)
      if (std::string difference = firstDifference(run.outputs[sample][o].bytes, outputs[o].bytes); !difference.empty())
        return absl::StrCat("sample ", sample, ", output ", o, difference);
    for (size_t c = 0; sample + 1 == program.inputs.size() && c < cores.size(); ++c) {
      const Role &role = program.executable.configurations[0].roles[size_t(cores[c].role)];
      for (size_t b = 0; b < role.buffers.size(); ++b)
        if (role.buffers[b].kind == BufferKind::Scratch)
          if (std::string difference = firstDifference(run.sram[c].buffers[b], (*traces)[c].buffersAfter[b]);
              !difference.empty())
            return absl::StrCat(role.name, ", buffer ", role.buffers[b].name, difference);
    }
  }
  return "";
}

template <typename Value> std::string differ(const std::string &what, const Value &expected, const Value &actual) {
  if (expected == actual)
    return "";
  return absl::StrCat(what, " is ", expected, " in the reference and ", actual, " in the cycle engine");
}

std::string text(const emulator::CoreStalls &stalls) {
  return absl::StrCat("busy ", stalls.busy, ", bank ", stalls.bank, ", words ", stalls.words, ", space ", stalls.room);
}

// When it happens, against the cycle engine on `threads` threads.
std::string compareTimes(const RandomProgram &program, const FabricRun &run, int threads) {
  emulator::CycleOptions options;
  options.samples = int(program.inputs.size());
  options.threads = threads;
  options.perCore = true;
  options.mostCycles = 1000000;
  const auto cycles = emulator::runCycles(program.executable, 0, options);
  const auto failed = [&](const char *what) {
    return cycles.status().code() == absl::StatusCode::kFailedPrecondition &&
           cycles.status().message().find(what) != std::string::npos;
  };
  if (run.outcome == Outcome::Deadlock)
    return failed("deadlock")
               ? ""
               : absl::StrCat("the reference stands still in cycle ", run.endCycle,
                              ", the cycle engine says: ", cycles.status().ToString(), "\n", run.waiting);
  if (run.outcome == Outcome::LeftoverWords)
    return failed("unbalanced words")
               ? ""
               : absl::StrCat("words are left in the reference, the cycle engine says: ", cycles.status().ToString(),
                              "\n", run.waiting);
  if (run.outcome == Outcome::StrayControl)
    return failed("control word")
               ? ""
               : absl::StrCat("a control word leaves the fabric of the reference, the cycle engine says: ",
                              cycles.status().ToString());
  if (!cycles.ok())
    return absl::StrCat("the cycle engine fails: ", cycles.status().ToString());
  std::string difference;
  for (size_t s = 0; s < run.sampleDone.size() && difference.empty(); ++s)
    difference = differ(absl::StrCat("the cycle in which sample ", s, " is done"), run.sampleDone[s],
                        s < cycles->sampleDone.size() ? cycles->sampleDone[s] : -1);
  if (difference.empty())
    difference = differ("the end", run.endCycle, cycles->endCycle);
  if (difference.empty())
    difference = differ("the number of words over links", run.wordHops, cycles->wordHops);
  if (difference.empty())
    difference = differ("the number of cores with slots", run.stalls.size(), cycles->cores.size());
  for (size_t c = 0; c < run.stalls.size() && difference.empty(); ++c) {
    const CoreStalls &expected = run.stalls[c];
    const emulator::CoreCycles &actual = cycles->cores[c];
    const std::string core = absl::StrCat("core (", expected.row, ", ", expected.col, ")");
    difference = differ("the core", core, absl::StrCat("core (", actual.row, ", ", actual.col, ")"));
    if (difference.empty())
      difference =
          differ(core, text({expected.busy, expected.bank, expected.words, expected.room}), text(actual.stalls));
  }
  return difference;
}

} // namespace

std::string findDifference(const Plan &plan, Tally *tally, bool lawful) {
  const RandomProgram program = programOf(plan);
  if (const auto violations = findViolations(program.executable, 1); lawful && !violations.empty())
    return absl::StrCat("the verifier refuses it: ", violations[0].rule, ": ", violations[0].message);
  const auto run = runReference(program.executable, 0, program.inputs);
  if (!run.ok())
    return absl::StrCat("the reference fails: ", run.status().ToString());
  if (lawful && run->outcome != Outcome::Done && run->outcome != Outcome::Deadlock)
    return absl::StrCat("words are left or leave:\n", run->waiting);
  if (tally)
    add(*tally, *run);
  std::string difference;
  if (lawful && run->outcome == Outcome::Done)
    for (const emulator::CoreEngineOptions &options : {emulator::CoreEngineOptions{1, emulator::Schedule::Units},
                                                       {2, emulator::Schedule::Waves},
                                                       {1, emulator::Schedule::Worklist}})
      if (difference = compareValues(program, *run, options); !difference.empty()) {
        absl::StrAppend(&difference, "; schedule ", int(options.schedule));
        break;
      }
  return difference.empty() ? compareTimes(program, *run, 1 + int(plan.codeSeed % 3)) : difference;
}

Tally compareMany(uint64_t firstSeed, int count, const std::function<Plan(uint64_t)> &planOf, bool lawful) {
  Tally tally;
  for (uint64_t seed = firstSeed; seed < firstSeed + uint64_t(count); ++seed) {
    const Plan plan = planOf(seed);
    const std::string difference = findDifference(plan, &tally, lawful);
    if (difference.empty())
      continue;
    const Plan small = shrink(plan, lawful);
    ADD_FAILURE() << "seed " << seed << ": " << difference << "\nwith " << small.streams.size() << " of its "
                  << plan.streams.size() << " streams, " << small.samples
                  << " samples: " << findDifference(small, nullptr, lawful) << "\n"
                  << describe(programOf(small).executable);
    break;
  }
  return tally;
}

} // namespace wsc::fabric
