// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs whose cores wait for each other in circles: waves give the worklist's bits on any number of threads and
// every CPU level, and find the same programs stuck.
#include "test/unit/phases/GatherRounds.h"
#include "test/unit/phases/PhaseProgram.h"

#include <cstdlib>

using namespace wsc::format;
using namespace wsc::emulator;
using namespace wsc::testing;

namespace {

// The variable after two samples.
std::vector<std::byte> stateAfter(const Executable &executable, Schedule schedule, int threads) {
  auto engine = engineOf(executable, schedule, threads);
  for (int sample = 0; sample < 2; ++sample) {
    auto outputs = engine->run(0, {});
    EXPECT_TRUE(outputs.ok()) << outputs.status();
  }
  return engine->readState(0).bytes;
}

} // namespace

TEST(Waves, GatherAndMulticastInRounds) {
  for (const GatherShape &shape :
       {GatherShape{}, GatherShape{3, 4, 5, 1}, GatherShape{2, 9, 1, 5}, GatherShape{.unrolled = true},
        GatherShape{40, 20, 4, 16}, GatherShape{40, 20, 4, 16, true}}) {
    SCOPED_TRACE(testing::Message() << shape.rows << " rows, " << shape.cols << " columns, " << shape.rounds
                                    << " rounds, " << shape.words << " words" << (shape.unrolled ? ", unrolled" : ""));
    const ExecutableBuilder program = gatherRounds(shape);
    const std::vector<std::byte> want = stateAfter(program.result, Schedule::Worklist, 1);
    for (int threads : {1, 2})
      EXPECT_EQ(stateAfter(program.result, Schedule::Waves, threads), want) << threads << " threads";
    EXPECT_EQ(stateAfter(program.result, Schedule::Units, 2), want) << "falls back to waves";
    for (const char *level : {"portable", "avx2"}) {
      setenv("WSC_CPU", level, 1);
      EXPECT_EQ(stateAfter(program.result, Schedule::Waves, 2), want) << level;
      unsetenv("WSC_CPU");
    }
  }
}

TEST(Waves, EveryCoreReplays) {
  for (bool unrolled : {false, true}) {
    const ExecutableBuilder program =
        gatherRounds({.rows = 2, .cols = 5, .rounds = 3, .words = 6, .unrolled = unrolled});
    auto engine = engineOf(program.result, Schedule::Waves);
    expectReplays(*engine, program.result, {});
  }
}
