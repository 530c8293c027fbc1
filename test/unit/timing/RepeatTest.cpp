// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Samples that repeat the moves of the one before are timed like samples whose moves are decided anew: every process
// finishes at the same cycle and has waited as long, on random programs of the fabric.
#include "runtime/emulator/timing/Simulation.h"
#include "test/support/Seed.h"
#include "test/support/fabric/RandomProgram.h"

#include <gtest/gtest.h>

#include <iostream>

namespace wsc::test {
namespace {

using namespace emulator::timing;

constexpr int kPrograms = 1000;
constexpr int kSamples = 12;

// Calls use(model) for random programs, every core of which is looked at on its own; returns how many there are. A
// failure names the seed, and ends it.
template <typename Use> int forModels(Use use) {
  const uint64_t first = test::seedOf(1), programs = uint64_t(test::casesOf(kPrograms));
  for (uint64_t seed = first; seed < first + programs && !::testing::Test::HasFatalFailure(); ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const format::Executable executable = fabric::programOf(fabric::randomPlan(seed)).executable;
    const auto networks = emulator::resolveNetworks(executable.target, executable.configurations[0],
                                                    emulator::bindingTypes(executable, 0));
    const auto model = networks.ok() ? buildModel(executable, 0, *networks, true) : networks.status();
    if (model.ok())
      use(*model);
    else
      ADD_FAILURE() << model.status();
  }
  return int(programs);
}

TEST(Repeat, MovesTakeTheSameTimes) {
  int live = 0, repeating = 0;
  const int programs = forModels([&](const Model &model) {
    Simulation repeats(model), decides(model, Simulation::Notes::Look);
    bool runs = true;
    for (int sample = 0; sample < kSamples && runs; ++sample) {
      runs = decides.runSample();
      ASSERT_EQ(repeats.runSample(), runs) << "sample " << sample;
      for (int32_t p = 0; p < int32_t(model.processes.size()); ++p) {
        const ProcessState &expected = decides.process(p), &actual = repeats.process(p);
        ASSERT_EQ(actual.finished, expected.finished) << "sample " << sample << ", process " << p;
        ASSERT_EQ(actual.waitWords, expected.waitWords) << "sample " << sample << ", process " << p;
        ASSERT_EQ(actual.waitRoom, expected.waitRoom) << "sample " << sample << ", process " << p;
      }
      repeats.trim();
      decides.trim();
    }
    live += runs;
    repeating += repeats.repeating();
    EXPECT_FALSE(decides.repeating());
  });
  std::cout << live << " live, " << repeating << " repeat their moves\n";
  EXPECT_GE(live, programs / 2);
  EXPECT_GE(repeating, live * 9 / 10);
}

// Where a simulation without notes does not ask for another look, its times are those of one that does.
TEST(Repeat, OneSampleWithoutNotesTakesTheSameTimes) {
  int looksOnce = 0;
  const int programs = forModels([&](const Model &model) {
    Simulation looks(model, Simulation::Notes::Look), once(model, Simulation::Notes::None);
    const bool runs = looks.runSample();
    ASSERT_EQ(once.runSample(), runs);
    if (!runs || once.lacksNotes())
      return;
    ++looksOnce;
    for (int32_t p = 0; p < int32_t(model.processes.size()); ++p)
      ASSERT_EQ(once.process(p).finished, looks.process(p).finished) << "process " << p;
  });
  std::cout << looksOnce << " look once\n";
  EXPECT_GE(looksOnce, programs / 50);
}

} // namespace
} // namespace wsc::test
