// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Speed of the core engine on one kernel of ResNet-50's size: `engine_bench` prints multiply-adds and cores per second;
// the argument is the number of threads.
#include "runtime/emulator/CoreEngine.h"
#include "test/unit/emulator/ConvKernel.h"

#include <benchmark/benchmark.h>

using namespace wsc;

namespace {

void runKernel(benchmark::State &state, const testing::ConvShape &shape) {
  std::vector<float> weights(size_t(shape.chain * shape.columns * shape.taps() * shape.outputs), 0.5f);
  testing::ConvKernel kernel(shape, std::move(weights),
                             std::vector<float>(size_t(shape.columns * shape.outputs), 1.0f));
  auto engine = emulator::CoreEngine::create(kernel.executable, {int(state.range(0)), emulator::Schedule::Units});
  if (!engine.ok()) {
    state.SkipWithError(std::string(engine.status().message()).c_str());
    return;
  }
  std::vector<emulator::HostTensor> inputs{
      {std::vector<std::byte>(size_t(shape.groups * shape.chain * shape.lane() * 4))}};
  for (auto _ : state) {
    auto result = (*engine)->run(0, inputs);
    if (!result.ok())
      state.SkipWithError(std::string(result.status().message()).c_str());
  }
  state.counters["MAC/s"] = benchmark::Counter(double(shape.macs()), benchmark::Counter::kIsIterationInvariantRate);
  state.counters["cores/s"] = benchmark::Counter(double(shape.groups * shape.chain * shape.columns),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

void loadKernel(benchmark::State &state, const testing::ConvShape &shape) {
  std::vector<float> weights(size_t(shape.chain * shape.columns * shape.taps() * shape.outputs), 0.5f);
  testing::ConvKernel kernel(shape, std::move(weights),
                             std::vector<float>(size_t(shape.columns * shape.outputs), 1.0f));
  for (auto _ : state) {
    auto engine = emulator::CoreEngine::create(kernel.executable, {1, emulator::Schedule::Units});
    if (!engine.ok())
      state.SkipWithError(std::string(engine.status().message()).c_str());
  }
}

const testing::ConvShape k28x1{
    .groups = 86, .chain = 7, .columns = 20, .outputs = 12, .inputs = 3, .height = 1, .width = 28};
const testing::ConvShape k14x2{
    .groups = 86, .chain = 7, .columns = 20, .outputs = 12, .inputs = 3, .height = 2, .width = 14};
const testing::ConvShape k7x7{
    .groups = 4, .chain = 150, .columns = 20, .outputs = 8, .inputs = 3, .height = 7, .width = 7};
const testing::ConvShape kStride2{
    .groups = 86, .chain = 7, .columns = 20, .outputs = 12, .inputs = 3, .stride = 2, .height = 1, .width = 28};
const testing::ConvShape kPointwise{.groups = 86,
                                    .chain = 7,
                                    .columns = 20,
                                    .outputs = 12,
                                    .inputs = 32,
                                    .kernelH = 1,
                                    .kernelW = 1,
                                    .height = 1,
                                    .width = 28};
const testing::ConvShape kChannelsLast{.groups = 86,
                                       .chain = 7,
                                       .columns = 20,
                                       .outputs = 32,
                                       .inputs = 3,
                                       .height = 1,
                                       .width = 14,
                                       .channelsLast = true};
const testing::ConvShape kWafer{
    .groups = 3, .chain = 250, .columns = 800, .outputs = 12, .inputs = 3, .height = 1, .width = 28};

} // namespace

BENCHMARK_CAPTURE(runKernel, conv3x3_28x1, k28x1)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(runKernel, conv3x3_14x2, k14x2)->Arg(1)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(runKernel, conv3x3_7x7, k7x7)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(runKernel, conv3x3_stride2, kStride2)->Arg(1)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(runKernel, pointwise, kPointwise)->Arg(1)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(runKernel, channels_last, kChannelsLast)->Arg(1)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(runKernel, wafer, kWafer)->Arg(1)->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(loadKernel, wafer, kWafer)->Unit(benchmark::kMillisecond);
BENCHMARK_MAIN();
