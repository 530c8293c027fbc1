// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products onto short rows of accumulators: this machine's kernels give the bits of the portable ones.
#include "runtime/emulator/NestPlan.h"
#include "test/support/Seed.h"
#include "test/unit/emulator/TinyMesh.h"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>

using namespace wsc;
using namespace wsc::format;
using namespace wsc::testing;

namespace {

struct Product {
  int64_t rows, lanes, taps, stride; // stride: from row to row of the scalars, at least `taps`
};

// acc[r][l] += x[r][t] · w[t][l].
std::optional<emulator::NestPlan> planOf(const Product &product) {
  Instruction fma = vectorOp(Opcode::Fma, product.lanes, memoryOperand(0, 4), memoryOperand(1, 0), memoryOperand(2, 4));
  fma.extent[2] = product.rows;
  fma.dst.stride[2] = int32_t(4 * product.lanes);
  fma.a.stride[2] = int32_t(4 * product.stride);
  fma.a.loopStep[0] = 4;
  fma.b.loopStep[0] = int32_t(4 * product.lanes);
  const emulator::NestLoop loop{product.taps, 0};
  return emulator::planNest(fma, {1, 1, product.rows, product.lanes}, std::span(&loop, 1), 0, 0,
                            emulator::kernels(emulator::cpuLevel()).wideVectors);
}

} // namespace

TEST(ShortRows, GiveTheBitsOfThePortableKernels) {
  std::mt19937_64 random(test::seedOf(1));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float special[] = {0.0f, -0.0f, kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(), 1e-40f, 3e38f};
  int shortRows = 0;
  for (int i = 0; i < test::casesOf(2000); ++i) {
    Product product{int64_t(1 + random() % 40), int64_t(2 + random() % 8), int64_t(2 + random() % 9), 0};
    product.stride = product.taps + int64_t(random() % 3);
    SCOPED_TRACE(::testing::Message() << "case " << i << ": " << product.rows << " rows of " << product.lanes << ", "
                                      << product.taps << " taps, scalars " << product.stride << " apart");
    const auto plan = planOf(product);
    ASSERT_TRUE(plan);
    shortRows += plan->shortRows;
    const bool hasSpecials = random() % 4 == 0;
    const auto draw = [&](int64_t count) {
      std::vector<float> values(size_t(count) + 16); // kernels may load past the end
      for (float &value : values)
        value = hasSpecials && random() % 8 == 0 ? special[random() % std::size(special)]
                                                 : float(int64_t(random() % 2001) - 1000) / 64;
      return values;
    };
    const std::vector<float> x = draw(product.rows * product.stride), w = draw(product.taps * product.lanes);
    std::vector<float> want = draw(product.rows * product.lanes), got = want;
    const auto run = [&](emulator::CpuLevel level, std::vector<float> &acc) {
      const auto &scalars = plan->swapped ? x : w, &vectors = plan->swapped ? w : x;
      emulator::runNest(emulator::kernels(level), *plan, acc.data(), vectors.data(), scalars.data());
    };
    run(emulator::CpuLevel::Portable, want);
    run(emulator::cpuLevel(), got);
    ASSERT_EQ(std::memcmp(want.data(), got.data(), want.size() * sizeof(float)), 0); // and nothing behind them
  }
  EXPECT_GT(shortRows * 4, test::casesOf(2000));
}

TEST(ShortRows, AreThoseOfNoWholeVectors) {
  for (int64_t lanes = 2; lanes <= 9; ++lanes)
    EXPECT_EQ(planOf({16, lanes, 3, 3})->shortRows, lanes <= 7) << lanes;
  EXPECT_FALSE(planOf({7, 3, 3, 3})->shortRows);
}
