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

TEST(Repeat, MovesTakeTheSameTimes) {
  int live = 0, repeating = 0;
  const uint64_t first = test::seedOf(1), programs = uint64_t(test::casesOf(kPrograms));
  for (uint64_t seed = first; seed < first + programs; ++seed) {
    const format::Executable executable = fabric::programOf(fabric::randomPlan(seed)).executable;
    const auto networks = emulator::resolveNetworks(executable.target, executable.configurations[0],
                                                    emulator::bindingTypes(executable, 0));
    ASSERT_TRUE(networks.ok()) << "seed " << seed << ": " << networks.status();
    const auto model = buildModel(executable, 0, *networks, true);
    ASSERT_TRUE(model.ok()) << "seed " << seed << ": " << model.status();
    Simulation repeats(*model), decides(*model, false);
    bool runs = true;
    for (int sample = 0; sample < kSamples && runs; ++sample) {
      runs = decides.runSample();
      ASSERT_EQ(repeats.runSample(), runs) << "seed " << seed << ", sample " << sample;
      for (int32_t p = 0; p < int32_t(model->processes.size()); ++p) {
        const ProcessState &expected = decides.process(p), &actual = repeats.process(p);
        ASSERT_EQ(actual.finished, expected.finished) << "seed " << seed << ", sample " << sample << ", process " << p;
        ASSERT_EQ(actual.waitWords, expected.waitWords)
            << "seed " << seed << ", sample " << sample << ", process " << p;
        ASSERT_EQ(actual.waitRoom, expected.waitRoom) << "seed " << seed << ", sample " << sample << ", process " << p;
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

} // namespace
} // namespace wsc::test
