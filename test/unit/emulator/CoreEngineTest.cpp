// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The core engine on whole kernels: both schedules, every CPU level and thread count give the bits of the definition.
#include "runtime/emulator/CoreEngine.h"
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
std::vector<float> reference(const ConvShape &s, const std::vector<float> &x, const std::vector<float> &w, const std::vector<float> &bias) {
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
              (s.channelsLast ? pixel * s.outputs + co : int64_t(co) * s.height * s.width + pixel)] = std::max(sum, 0.0f);
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
         randomFloats(rng, size_t(s.chain * s.columns * s.taps() * s.outputs)), randomFloats(rng, size_t(s.columns * s.outputs)), nullptr};
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
      for (Schedule schedule : {Schedule::Units, Schedule::Worklist}) {
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
TEST(CoreEngine, ConvolutionWideRows) { runAll({.groups = 3, .chain = 5, .columns = 19, .outputs = 5, .width = 28}); }
TEST(CoreEngine, ConvolutionStride2) { runAll({.stride = 2, .height = 3, .width = 14}); }
TEST(CoreEngine, ConvolutionChannelsLast) { runAll({.outputs = 12, .stride = 2, .channelsLast = true}); }
TEST(CoreEngine, Pointwise) { runAll({.chain = 2, .columns = 2, .outputs = 33, .inputs = 9, .kernelH = 1, .kernelW = 1, .height = 7}); }

TEST(CoreEngine, TraceAgreesBetweenSchedules) {
  const ConvShape shape{.columns = 5};
  Made m = makeConv(shape, 3);
  std::vector<std::vector<CoreEngine::CoreTrace>> traces;
  std::vector<std::pair<int32_t, format::LatticeIndex>> cores;
  for (size_t r = 0; r < m.kernel->executable.configurations[0].roles.size(); ++r)
    cores.push_back({int32_t(r), {0, 1, 0, 0}});
  cores.push_back({2, {0, 0, 0, 1}});
  for (Schedule schedule : {Schedule::Units, Schedule::Worklist}) {
    auto engine = CoreEngine::create(m.kernel->executable, {1, schedule});
    ASSERT_TRUE(engine.ok()) << engine.status();
    std::vector<HostTensor> outputs;
    auto t = (*engine)->runTraced(0, std::vector<HostTensor>{tensor(m.x)}, cores, outputs);
    ASSERT_TRUE(t.ok()) << t.status();
    expectSame(floats(outputs[0]), reference(shape, m.x, m.w, m.bias), "traced");
    traces.push_back(*t);
  }
  for (size_t i = 0; i < cores.size(); ++i) {
    EXPECT_EQ(traces[0][i].role, cores[i].first);
    EXPECT_EQ(traces[0][i].buffersBefore, traces[1][i].buffersBefore) << i;
    EXPECT_EQ(traces[0][i].buffersAfter, traces[1][i].buffersAfter) << i;
    EXPECT_EQ(traces[0][i].queueWords, traces[1][i].queueWords) << i;
    EXPECT_FALSE(traces[0][i].queueWords[0].empty());
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
