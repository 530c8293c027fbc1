// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The core engine on whole kernels: both schedules, every CPU level and thread count give the bits of the definition.
#include "runtime/emulator/CoreEngine.h"
#include "runtime/emulator/Interpreter.h"
#include "runtime/emulator/LatticeWalk.h"
#include "test/unit/emulator/ConvKernel.h"

#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <random>

using namespace wsc;
using namespace wsc::emulator;
using wsc::testing::ConvKernel;
using wsc::testing::ConvShape;

namespace {

std::vector<float> randomFloats(std::mt19937 &rng, size_t n) {
  std::uniform_real_distribution<float> values(-1, 1);
  std::vector<float> v(n);
  for (float &x : v)
    x = values(rng);
  return v;
}

HostTensor tensor(const std::vector<float> &v) {
  const auto *bytes = reinterpret_cast<const std::byte *>(v.data());
  return {{bytes, bytes + v.size() * 4}};
}

std::vector<float> floats(const HostTensor &t) {
  std::vector<float> v(t.bytes.size() / 4);
  std::memcpy(v.data(), t.bytes.data(), t.bytes.size());
  return v;
}

// The kernel's definition, with the chain's order of sums.
std::vector<float> reference(const ConvShape &s, const std::vector<float> &x, const std::vector<float> &w,
                             const std::vector<float> &bias) {
  std::vector<float> y(size_t(s.groups * s.columns * s.accumulators()));
  for (int g = 0; g < s.groups; ++g)
    for (int n = 0; n < s.columns; ++n)
      for (int co = 0; co < s.outputs; ++co)
        for (int h = 0; h < s.height; ++h)
          for (int v = 0; v < s.width; ++v) {
            float sum = 0;
            for (int r = 0; r < s.chain; ++r) {
              float acc = r == 0 ? bias[n * s.outputs + co] : 0.0f;
              const float *lane = x.data() + (g * s.chain + r) * s.lane();
              const float *weights = w.data() + (r * s.columns + n) * s.taps() * s.outputs;
              for (int ci = 0, tap = 0; ci < s.inputs; ++ci)
                for (int kh = 0; kh < s.kernelH; ++kh)
                  for (int kw = 0; kw < s.kernelW; ++kw, ++tap)
                    acc = std::fma(lane[(ci * s.inHeight() + h * s.stride + kh) * s.inWidth() + v * s.stride + kw],
                                   weights[tap * s.outputs + co], acc);
              sum = r == 0 ? acc : sum + acc;
            }
            const int64_t pixel = h * s.width + v;
            y[(g * s.columns + n) * s.accumulators() +
              (s.channelsLast ? pixel * s.outputs + co : int64_t(co) * s.height * s.width + pixel)] =
                std::max(sum, 0.0f);
          }
  return y;
}

struct Made {
  ConvShape shape;
  std::vector<float> x, w, bias;
  std::unique_ptr<ConvKernel> kernel;
};
Made makeConv(const ConvShape &s, uint32_t seed) {
  std::mt19937 rng(seed);
  Made m{s, randomFloats(rng, size_t(s.groups * s.chain * s.lane())),
         randomFloats(rng, size_t(s.chain * s.columns * s.taps() * s.outputs)),
         randomFloats(rng, size_t(s.columns * s.outputs)), nullptr};
  m.kernel = std::make_unique<ConvKernel>(s, m.w, m.bias);
  return m;
}

void expectSame(const std::vector<float> &got, const std::vector<float> &want, const std::string &what) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i)
    ASSERT_EQ(std::bit_cast<uint32_t>(got[i]), std::bit_cast<uint32_t>(want[i])) << what << ", element " << i;
}

void runAll(const ConvShape &shape) {
  Made m = makeConv(shape, 7);
  const std::vector<float> want = reference(shape, m.x, m.w, m.bias);
  for (const char *cpu : {"portable", "avx2", "avx512"})
    for (int threads : {1, 2})
      for (Schedule schedule : {Schedule::Units, Schedule::Waves, Schedule::Worklist}) {
        setenv("WSC_CPU", cpu, 1);
        auto engine = CoreEngine::create(m.kernel->executable, {threads, schedule});
        unsetenv("WSC_CPU");
        ASSERT_TRUE(engine.ok()) << engine.status();
        for (int sample = 0; sample < 2; ++sample) {
          auto y = (*engine)->run(0, std::vector<HostTensor>{tensor(m.x)});
          ASSERT_TRUE(y.ok()) << y.status();
          expectSame(floats((*y)[0]), want, cpu);
        }
        EXPECT_EQ((*engine)->counters(0).macs, shape.macs());
        EXPECT_EQ((*engine)->counters(0).coresFma, shape.groups * shape.chain * shape.columns);
        EXPECT_EQ((*engine)->counters(0).kernelMacs, std::vector<int64_t>{shape.macs()});
      }
}

} // namespace

TEST(CoreEngine, Convolution) { runAll({}); }
TEST(CoreEngine, ConvolutionWideRows) {
  runAll({.groups = 1, .chain = 3, .columns = 19, .outputs = 5, .height = 1, .width = 28});
}
TEST(CoreEngine, ConvolutionStride2) { runAll({.stride = 2, .height = 3, .width = 14}); }
TEST(CoreEngine, ConvolutionChannelsLast) { runAll({.outputs = 12, .stride = 2, .channelsLast = true}); }
TEST(CoreEngine, Pointwise) {
  runAll({.chain = 2, .columns = 2, .outputs = 33, .inputs = 9, .kernelH = 1, .kernelW = 1, .height = 7});
}

// Every core, alone in the scalar interpreter with the words it received, leaves the same SRAM and sends the same
// words.
TEST(CoreEngine, EveryCoreReplaysInTheInterpreter) {
  const ConvShape shape{.chain = 4, .columns = 5, .stride = 2};
  Made m = makeConv(shape, 3);
  const format::Executable &executable = m.kernel->executable;
  std::vector<CorePlace> cores;
  for (size_t r = 0; r < executable.configurations[0].roles.size(); ++r)
    forEachPoint(executable.configurations[0].roles[r].cores, [&](const format::LatticeIndex &index, int32_t, int32_t) {
      cores.push_back({0, 0, int32_t(r), index});
      return true;
    });
  ASSERT_EQ(cores.size(), size_t(2 * 4 * 6));
  for (Schedule schedule : {Schedule::Units, Schedule::Waves, Schedule::Worklist}) {
    auto engine = CoreEngine::create(executable, {1, schedule});
    ASSERT_TRUE(engine.ok()) << engine.status();
    std::vector<HostTensor> outputs;
    auto traces = (*engine)->runTraced(0, std::vector<HostTensor>{tensor(m.x)}, cores, outputs);
    ASSERT_TRUE(traces.ok()) << traces.status();
    expectSame(floats(outputs[0]), reference(shape, m.x, m.w, m.bias), "traced");
    for (const CoreEngine::CoreTrace &trace : *traces) {
      const format::Role &role = executable.configurations[0].roles[trace.role];
      std::vector<std::vector<std::byte>> received = trace.queueWords;
      for (size_t q = 0; q < role.queues.size(); ++q)
        if (role.queues[q].output)
          received[q].clear();
      auto run = interpretCore(executable, role, trace.index, {trace.buffersBefore}, received);
      ASSERT_TRUE(run.ok()) << run.status();
      EXPECT_EQ(run->image.buffers, trace.buffersAfter) << role.name;
      for (size_t q = 0; q < role.queues.size(); ++q)
        EXPECT_EQ(run->queueWords[q], role.queues[q].output ? trace.queueWords[q] : std::vector<std::byte>{})
            << role.name << " queue " << q;
    }
  }
}

TEST(CoreEngine, RefusesWrongInputs) {
  Made m = makeConv({}, 1);
  auto engine = CoreEngine::create(m.kernel->executable, {});
  ASSERT_TRUE(engine.ok()) << engine.status();
  EXPECT_FALSE((*engine)->run(0, {}).ok());
  EXPECT_FALSE((*engine)->run(1, {}).ok());
  EXPECT_FALSE((*engine)->run(0, std::vector<HostTensor>{HostTensor{}}).ok());
}
