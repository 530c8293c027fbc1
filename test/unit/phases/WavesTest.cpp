// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs whose cores wait for each other in circles: waves give the worklist's bits on any number of threads and
// every CPU level, and find the same programs stuck.
#include "test/unit/phases/BroadcastTwice.h"
#include "test/unit/phases/ChainRounds.h"
#include "test/unit/phases/FewWords.h"
#include "test/unit/phases/GatherRounds.h"
#include "test/unit/phases/PhaseProgram.h"

#include <cstdlib>

using namespace wsc::format;
using namespace wsc::emulator;
using namespace wsc::testing;

namespace {

// The variable after four samples. Of programs with states nothing is written down: all four are run in waves.
std::vector<std::byte> stateAfter(const Executable &executable, Schedule schedule, int threads) {
  auto engine = engineOf(executable, schedule, threads);
  for (int sample = 0; sample < 4; ++sample) {
    auto outputs = engine->run(0, {});
    EXPECT_TRUE(outputs.ok()) << outputs.status();
  }
  return engine->readState(0).bytes;
}

void expectSameBits(const Executable &executable) {
  const std::vector<std::byte> want = stateAfter(executable, Schedule::Worklist, 1);
  for (int threads : {1, 2})
    EXPECT_EQ(stateAfter(executable, Schedule::Waves, threads), want) << threads << " threads";
  EXPECT_EQ(stateAfter(executable, Schedule::Units, 2), want) << "falls back to waves";
  for (const char *level : {"portable", "avx2"}) {
    setenv("WSC_CPU", level, 1);
    EXPECT_EQ(stateAfter(executable, Schedule::Waves, 2), want) << level;
    unsetenv("WSC_CPU");
  }
}

} // namespace

TEST(Waves, GatherAndMulticastInRounds) {
  for (const GatherShape &shape :
       {GatherShape{}, GatherShape{3, 4, 5, 1}, GatherShape{2, 9, 1, 5}, GatherShape{.unrolled = true},
        GatherShape{40, 20, 4, 16}, GatherShape{40, 20, 4, 16, true}}) {
    SCOPED_TRACE(testing::Message() << shape.rows << " rows, " << shape.cols << " columns, " << shape.rounds
                                    << " rounds, " << shape.words << " words" << (shape.unrolled ? ", unrolled" : ""));
    expectSameBits(gatherRounds(shape).result);
  }
}

TEST(Waves, AllReducesInRounds) {
  for (const ChainShape &shape :
       {ChainShape{}, ChainShape{1, 3, 1, 1}, ChainShape{5, 8, 4, 3}, ChainShape{20, 30, 3, 12}}) {
    SCOPED_TRACE(testing::Message() << shape.rows << " rows, " << shape.cols << " columns, " << shape.rounds
                                    << " rounds, " << shape.words << " words");
    expectSameBits(chainRounds(shape).result);
  }
}

// Of the words that come to a core only those that it reads are brought there when a run is repeated, and kept while
// the core waits for the others; or, where all of them come at once, they are read where they are.
TEST(Waves, FewOfManyWords) {
  for (const auto &[n, inParts] : {std::pair(40, true), std::pair(200, true), std::pair(200, false)}) {
    const PhaseProgram program = fewWords(n, inParts);
    for (const auto &[schedule, threads] : {std::pair(Schedule::Worklist, 1), std::pair(Schedule::Waves, 1),
                                            std::pair(Schedule::Waves, 2), std::pair(Schedule::Units, 2)}) {
      auto engine = engineOf(program.result, schedule, threads);
      for (int sample = 0; sample < 4; ++sample) {
        Floats x, want;
        for (int32_t k = 0; k < n; ++k) {
          x.push_back(float(1000 * sample + k));
          want.insert(want.end(), {x.back(), -2 * x.back()});
        }
        EXPECT_EQ(runOn(*engine, {x}), std::vector<Floats>{want})
            << n << " words, " << threads << " threads, sample " << sample;
      }
    }
  }
}

// Words that are read where they are stay there while others are on their way.
TEST(Waves, WordsThatStay) {
  constexpr int32_t kWords = 200;
  const PhaseProgram program = broadcastTwice(kWords);
  for (const auto &[schedule, threads] :
       {std::pair(Schedule::Worklist, 1), std::pair(Schedule::Waves, 1), std::pair(Schedule::Waves, 2)}) {
    auto engine = engineOf(program.result, schedule, threads);
    for (int sample = 0; sample < 4; ++sample) {
      Floats x, want;
      for (int32_t k = 0; k < kWords; ++k) {
        x.push_back(float(1000 * sample + k));
        want.insert(want.end(), {-2 * x.back(), 3 * x.back()});
      }
      EXPECT_EQ(runOn(*engine, {x}), std::vector<Floats>{want}) << threads << " threads, sample " << sample;
    }
  }
}

TEST(Waves, AStateMayBeWrittenBetweenSamples) {
  const ExecutableBuilder program = chainRounds({});
  auto engine = engineOf(program.result, Schedule::Waves), fresh = engineOf(program.result, Schedule::Worklist);
  ASSERT_TRUE(engine->run(0, {}).ok());
  HostTensor value = engine->readState(0);
  for (size_t i = 0; i < value.bytes.size(); i += 4) // other values
    std::memcpy(value.bytes.data() + i, value.bytes.data() + (i + 40) % value.bytes.size(), 4);
  for (CoreEngine *e : {engine.get(), fresh.get()}) {
    ASSERT_TRUE(e->writeState(0, value).ok());
    ASSERT_TRUE(e->run(0, {}).ok());
  }
  EXPECT_EQ(engine->readState(0).bytes, fresh->readState(0).bytes);
}

TEST(Waves, EveryCoreReplays) {
  for (bool unrolled : {false, true}) {
    const ExecutableBuilder program =
        gatherRounds({.rows = 2, .cols = 5, .rounds = 3, .words = 6, .unrolled = unrolled});
    auto engine = engineOf(program.result, Schedule::Waves);
    expectReplays(*engine, program.result, {});
  }
  const ExecutableBuilder chain = chainRounds({});
  expectReplays(*engineOf(chain.result, Schedule::Waves), chain.result, {});
}
