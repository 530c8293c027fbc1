// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The count-only run against the cycle engine on random programs of the fabric: none that stops is missed, none that
// runs is refused, and what is wrong has the same name.
#include "runtime/emulator/cycle/CycleEngine.h"
#include "runtime/emulator/liveness/Liveness.h"
#include "test/support/Seed.h"
#include "test/support/fabric/RandomProgram.h"

#include <gtest/gtest.h>

#include <array>

namespace wsc::fabric {
namespace {

using test::casesOf;
using test::seedOf;

// The first word after the configuration's name that errors of both begin with; empty: none.
std::string kindOf(const absl::Status &status) {
  if (status.ok())
    return "";
  for (const char *kind : {"deadlock", "unbalanced words", "control word", "switch", "filter"})
    if (status.message().find(std::string(": ") + kind) != std::string::npos)
      return kind;
  return status.ToString();
}

absl::Status cycles(const format::Executable &executable, int samples) {
  return emulator::runCycles(executable, 0, {.samples = samples, .mostCycles = 3000000}).status();
}

struct Tally {
  int live = 0, deadlocks = 0, others = 0;
  emulator::LivenessStats stats;
};

// What is live for one sample is live for all of them, and what stops stops with any number of samples.
TEST(LivenessRandom, LawfulProgramsAreJudgedAsTheCycleEngineDoes) {
  const uint64_t seed = seedOf(1);
  Tally tally;
  const int cases = casesOf(1500);
  for (uint64_t s = seed; s < seed + uint64_t(cases); ++s) {
    const RandomProgram program = programOf(randomPlan(s));
    const std::string judged = kindOf(emulator::checkLiveness(program.executable, 0, {}, &tally.stats));
    const int samples = std::max(3, int(program.inputs.size()));
    ASSERT_EQ(judged, kindOf(cycles(program.executable, 1))) << "seed " << s;
    ASSERT_EQ(judged, kindOf(cycles(program.executable, samples))) << "seed " << s << ", " << samples << " samples";
    (judged.empty() ? tally.live : tally.deadlocks) += 1;
  }
  std::cout << tally.live << " live, " << tally.deadlocks << " dead; " << tally.stats.flows << " flows, "
            << tally.stats.routerSteps << " words by single routers\n";
  EXPECT_GE(tally.live, cases / 4);
  EXPECT_GE(tally.deadlocks, cases / 20);
  EXPECT_GT(tally.stats.routerSteps, cases);
}

TEST(LivenessRandom, FaultsAreToldAsTheCycleEngineTellsThem) {
  const uint64_t seed = seedOf(1);
  Tally tally;
  const int cases = casesOf(700);
  for (uint64_t s = seed; s < seed + uint64_t(cases); ++s) {
    const RandomProgram program = programOf(faultyPlan(s));
    const absl::Status status = emulator::checkLiveness(program.executable, 0);
    const std::string judged = kindOf(status), expected = kindOf(cycles(program.executable, 1));
    // A switch that a sample leaves in another position is an error only for the samples that follow.
    if (!(expected.empty() && (judged == "switch" || judged == "filter")))
      ASSERT_EQ(judged, expected) << "seed " << s << ": " << status;
    (judged.empty() ? tally.live : judged == "deadlock" ? tally.deadlocks : tally.others) += 1;
  }
  std::cout << tally.live << " live, " << tally.deadlocks << " dead, " << tally.others << " with other faults\n";
  EXPECT_GE(tally.deadlocks, cases / 10);
  EXPECT_GE(tally.others, cases / 10);
}

// Shallower queues than the program was drawn for: more of them stop.
TEST(LivenessRandom, ShallowQueuesAreJudgedAsTheCycleEngineDoes) {
  const uint64_t seed = seedOf(1);
  Tally tally;
  const int cases = casesOf(700);
  for (uint64_t s = seed; s < seed + uint64_t(cases); ++s) {
    RandomProgram program = programOf(randomPlan(s));
    target::Target &target = program.executable.target;
    target.routerQueueWords = 1;
    target.rampLatencyCycles = 1;
    for (auto *depths : {&target.inputQueueWords, &target.outputQueueWords})
      for (int32_t &depth : *depths)
        depth = 1;
    const absl::Status status = emulator::checkLiveness(program.executable, 0);
    const std::string judged = kindOf(status);
    ASSERT_EQ(judged, kindOf(cycles(program.executable, 2))) << "seed " << s << ": " << status;
    (judged.empty() ? tally.live : tally.deadlocks) += 1;
  }
  std::cout << tally.live << " live, " << tally.deadlocks << " dead\n";
  EXPECT_GE(tally.live, cases / 20);
  EXPECT_GE(tally.deadlocks, cases / 20);
}

} // namespace
} // namespace wsc::fabric
