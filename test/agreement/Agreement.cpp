// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/agreement/Agreement.h"

#include "runtime/emulator/Network.h"
#include "runtime/emulator/Timing.h"
#include "runtime/emulator/cycle/CycleEngine.h"

#include "gtest/gtest.h"

#include <cmath>
#include <cstdio>
#include <optional>

namespace wsc::test {

namespace {

void setQueues(target::Target &target, int32_t words) {
  for (std::vector<int32_t> *queues : {&target.inputQueueWords, &target.outputQueueWords})
    for (int32_t &queue : *queues)
      queue = words;
}

std::optional<TimeErrors> compare(const std::string &name, const format::Executable &executable, int samples) {
  auto networks =
      emulator::resolveNetworks(executable.target, executable.configurations[0], emulator::bindingTypes(executable, 0));
  EXPECT_TRUE(networks.ok()) << name << ": " << networks.status();
  if (!networks.ok())
    return std::nullopt;
  auto analytic = emulator::analyseTiming(executable, 0, *networks);
  auto alone = emulator::runCycles(executable, 0, {.samples = 1});
  auto many = emulator::runCycles(executable, 0, {.samples = samples});
  EXPECT_TRUE(analytic.ok()) << name << ": " << analytic.status();
  EXPECT_TRUE(alone.ok()) << name << ": " << alone.status();
  EXPECT_TRUE(many.ok()) << name << ": " << many.status();
  if (!analytic.ok() || !alone.ok() || !many.ok())
    return std::nullopt;
  const int from = samples / 3, to = 2 * samples / 3;
  const double interval = double(many->sampleDone[to] - many->sampleDone[from]) / (to - from);
  const TimeErrors errors{double(analytic->latencyCycles) / double(alone->sampleDone[0]) - 1,
                          double(analytic->intervalCycles) / interval - 1};
  std::printf("%-28s latency %7lld against %7lld (%+5.1f %%), interval %7lld against %9.1f (%+5.1f %%)\n", name.c_str(),
              (long long)analytic->latencyCycles, (long long)alone->sampleDone[0], 100 * errors.latency,
              (long long)analytic->intervalCycles, interval, 100 * errors.interval);
  return errors;
}

} // namespace

const std::vector<Variation> &variations() {
  static const std::vector<Variation> all = {
      {"base", [](target::Target &) {}},
      {"hop 3",
       [](target::Target &t) {
         t.hopLatencyCycles = 3;
         t.routerQueueWords = 4;
       }},
      {"ramp 5", [](target::Target &t) { t.rampLatencyCycles = 5; }},
      {"deep queues",
       [](target::Target &t) {
         setQueues(t, 12);
         t.routerQueueWords = 5;
       }},
      {"shallow queues", [](target::Target &t) { setQueues(t, 2); }},
      {"half the rates",
       [](target::Target &t) {
         t.fmaPerCycleF32 /= 2;
         t.elementsPerCycleF32 /= 2;
       }},
      {"long set-ups",
       [](target::Target &t) {
         t.vectorSetupCycles = 20;
         t.loopCycles = 3;
         t.taskStartCycles = 9;
       }},
  };
  return all;
}

bool TimeErrors::within() const { return std::abs(latency) <= 0.10 && std::abs(interval) <= 0.05; }

std::vector<TimeErrors> timeErrors(const std::string &name, const format::Executable &executable, int samples) {
  std::vector<TimeErrors> all;
  for (const Variation &variation : variations()) {
    format::Executable varied = executable;
    variation.change(varied.target);
    const std::optional<TimeErrors> errors = compare(name + ", " + variation.name, varied, samples);
    if (!errors)
      return {};
    all.push_back(*errors);
  }
  return all;
}

void expectAgreement(const std::string &name, const format::Executable &executable, int samples) {
  const std::vector<TimeErrors> errors = timeErrors(name, executable, samples);
  for (size_t v = 0; v < errors.size(); ++v)
    EXPECT_TRUE(errors[v].within()) << name << ", " << variations()[v].name << ": the analytic latency is off by "
                                    << 100 * errors[v].latency << " %, the interval by " << 100 * errors[v].interval
                                    << " %";
}

} // namespace wsc::test
