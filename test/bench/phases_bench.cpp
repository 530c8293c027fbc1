// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Speed of the core engine where cores wait for each other in circles: rounds of a gather along each row, a multicast
// back and a product of a vector and a matrix on each core (test/unit/phases/GatherRounds.h). `phases_bench` prints,
// per schedule and number of threads, the time of a sample, nanoseconds per instruction and per word that a core takes
// from its queues.
#include "runtime/emulator/CoreEngine.h"
#include "test/unit/phases/GatherRounds.h"

#include <benchmark/benchmark.h>

using namespace wsc;

namespace {

void rounds(benchmark::State &state, emulator::Schedule schedule, testing::GatherShape shape) {
  const testing::ExecutableBuilder program = testing::gatherRounds(shape);
  auto engine = emulator::CoreEngine::create(program.result, {int(state.range(0)), schedule});
  if (!engine.ok()) {
    state.SkipWithError(std::string(engine.status().message()).c_str());
    return;
  }
  for (auto _ : state)
    if (auto result = (*engine)->run(0, {}); !result.ok())
      state.SkipWithError(std::string(result.status().message()).c_str());
  // Per core and round: five moves, a nest of multiply-adds, a send of two.
  const double cores = double(shape.rows) * shape.cols, turns = cores * double(shape.rounds);
  const auto perSecond = benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert;
  state.counters["s/instruction"] = benchmark::Counter(turns * 9, perSecond);
  state.counters["s/word"] = benchmark::Counter(turns * double(shape.cols * shape.words), perSecond);
  state.counters["s/fma"] = benchmark::Counter(turns * double(shape.words * shape.words), perSecond);
}

constexpr testing::GatherShape k64{.rows = 64, .cols = 64, .rounds = 20, .words = 64};
constexpr testing::GatherShape kThin{.rows = 64, .cols = 64, .rounds = 20, .words = 4};
constexpr testing::GatherShape kWide{.rows = 256, .cols = 256, .rounds = 20, .words = 4};

} // namespace

BENCHMARK_CAPTURE(rounds, waves_64x64_64words, emulator::Schedule::Waves, k64)
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(rounds, worklist_64x64_64words, emulator::Schedule::Worklist, k64)
    ->Arg(1)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(rounds, waves_64x64_4words, emulator::Schedule::Waves, kThin)
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(rounds, worklist_64x64_4words, emulator::Schedule::Worklist, kThin)
    ->Arg(1)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(rounds, waves_256x256_4words, emulator::Schedule::Waves, kWide)
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_MAIN();
