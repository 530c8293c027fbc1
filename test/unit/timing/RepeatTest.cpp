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

absl::StatusOr<Model> modelOf(const format::Executable &executable) {
  const auto networks =
      emulator::resolveNetworks(executable.target, executable.configurations[0], emulator::bindingTypes(executable, 0));
  if (!networks.ok())
    return networks.status();
  return buildModel(executable, 0, *networks, true);
}

TEST(Repeat, MovesTakeTheSameTimes) {
  int live = 0, repeating = 0;
  const uint64_t first = test::seedOf(1), programs = uint64_t(test::casesOf(kPrograms));
  for (uint64_t seed = first; seed < first + programs; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const format::Executable executable = fabric::programOf(fabric::randomPlan(seed)).executable;
    const absl::StatusOr<Model> model = modelOf(executable);
    ASSERT_TRUE(model.ok()) << model.status();
    Simulation repeats(*model), decides(*model, Simulation::Notes::Look);
    bool runs = true;
    for (int sample = 0; sample < kSamples && runs; ++sample) {
      runs = decides.runSample();
      ASSERT_EQ(repeats.runSample(), runs) << "sample " << sample;
      for (int32_t p = 0; p < int32_t(model->processes.size()); ++p) {
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
  }
  std::cout << live << " live, " << repeating << " repeat their moves\n";
  EXPECT_GE(live, int(programs) / 2);
  EXPECT_GE(repeating, live * 9 / 10);
}

// Of programs that take nothing from each other, and only of those, the one sample needs no second look.
TEST(Repeat, OneSampleWithoutNotesTakesTheSameTimes) {
  int looksOnce = 0;
  const uint64_t first = test::seedOf(1), programs = uint64_t(test::casesOf(kPrograms));
  for (uint64_t seed = first; seed < first + programs; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    const format::Executable executable = fabric::programOf(fabric::randomPlan(seed)).executable;
    const absl::StatusOr<Model> model = modelOf(executable);
    ASSERT_TRUE(model.ok()) << model.status();
    Simulation noted(*model), once(*model, Simulation::Notes::None);
    const bool runs = noted.runSample();
    ASSERT_EQ(once.runSample(), runs);
    if (!runs || once.lacksNotes())
      continue;
    ++looksOnce;
    for (int32_t p = 0; p < int32_t(model->processes.size()); ++p)
      ASSERT_EQ(once.process(p).finished, noted.process(p).finished) << "process " << p;
  }
  std::cout << looksOnce << " look once\n";
  EXPECT_GE(looksOnce, int(programs) / 50);
}

} // namespace
} // namespace wsc::test
