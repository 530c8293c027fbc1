// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Products onto short rows of accumulators: this machine's kernels give the bits of the portable ones.
#include "runtime/emulator/NestPlan.h"
#include "runtime/numerics/Arithmetic.h"
#include "test/support/Seed.h"
#include "test/unit/emulator/TinyMesh.h"

#include <gtest/gtest.h>

#include <algorithm>
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

// acc[r][l] += x[r][t] · w[t][l], in the vectors of a CPU level.
std::optional<emulator::NestPlan> planOf(const Product &product, emulator::CpuLevel level = emulator::cpuLevel()) {
  Instruction fma = vectorOp(Opcode::Fma, product.lanes, memoryOperand(0, 4), memoryOperand(1, 0), memoryOperand(2, 4));
  fma.extent[2] = product.rows;
  fma.dst.stride[2] = int32_t(4 * product.lanes);
  fma.a.stride[2] = int32_t(4 * product.stride);
  fma.a.loopStep[0] = 4;
  fma.b.loopStep[0] = int32_t(4 * product.lanes);
  const emulator::NestLoop loop{product.taps, 0};
  return emulator::planNest(fma, {1, 1, product.rows, product.lanes}, std::span(&loop, 1), 0, 0,
                            emulator::kernels(level).wideVectors);
}

} // namespace

// With what a nest does along with its own, too: accumulators that begin as zeros, results that are added to others.
TEST(ShortRows, GiveTheBitsOfThePortableKernels) {
  std::mt19937_64 random(test::seedOf(1));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float special[] = {0.0f, -0.0f, kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN(), 1e-40f, 3e38f};
  int shortRows = 0;
  for (int i = 0; i < test::casesOf(2000); ++i) {
    Product product{int64_t(1 + random() % 40), int64_t(1 + random() % 9), int64_t(1 + random() % 12), 0};
    product.stride = product.taps + int64_t(random() % 3);
    if (product.lanes == 1) // closer rows are deinterleaved
      product.stride = std::max<int64_t>(product.stride, 5);
    SCOPED_TRACE(::testing::Message() << "case " << i << ": " << product.rows << " rows of " << product.lanes << ", "
                                      << product.taps << " taps, scalars " << product.stride << " apart");
    const auto plan = planOf(product), portable = planOf(product, emulator::CpuLevel::Portable);
    if (product.taps == 1 && (product.rows == 1 || product.lanes == 1)) { // no outer product: a row as it stands
      ASSERT_FALSE(plan || portable);
      continue;
    }
    ASSERT_TRUE(plan && portable);
    ASSERT_EQ(plan->swapped, portable->swapped);
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
    const std::vector<float> added = draw(product.rows * product.lanes);
    std::vector<float> sums(want.size()), gotSums = sums;
    const bool fresh = random() % 2 == 0, adds = random() % 2 == 0;
    const auto run = [&](emulator::CpuLevel level, std::vector<float> &acc, std::vector<float> &out) {
      const auto &scalars = plan->swapped ? x : w, &vectors = plan->swapped ? w : x;
      emulator::NestEnds ends{fresh, nullptr, nullptr};
      if (adds)
        ends = {fresh, added.data(), out.data()};
      emulator::runNest(emulator::kernels(level), level == emulator::CpuLevel::Portable ? *portable : *plan, acc.data(),
                        vectors.data(), scalars.data(), ends);
    };
    // One operation after the other: zeros, products, sum.
    std::vector<float> plain = want;
    if (fresh)
      std::fill_n(plain.begin(), product.rows * product.lanes, 0.0f);
    emulator::runNest(emulator::kernels(emulator::CpuLevel::Portable), *portable, plain.data(),
                      (plan->swapped ? w : x).data(), (plan->swapped ? x : w).data());
    for (int64_t e = 0; e < product.rows * product.lanes && adds; ++e)
      plain[size_t(e)] = numerics::add(added[size_t(e)], plain[size_t(e)]);
    run(emulator::CpuLevel::Portable, want, sums);
    run(emulator::cpuLevel(), got, gotSums);
    ASSERT_EQ(std::memcmp((adds ? sums : want).data(), plain.data(), size_t(product.rows * product.lanes) * 4), 0);
    ASSERT_EQ(std::memcmp(want.data(), got.data(), want.size() * sizeof(float)), 0); // and nothing behind them
    ASSERT_EQ(std::memcmp(sums.data(), gotSums.data(), sums.size() * sizeof(float)), 0);
  }
  EXPECT_GT(shortRows * 4, test::casesOf(2000));
}

// As nest by nest. Chains of a call share scalars, all or some.
TEST(ShortRows, ChainsGiveTheBitsOfNestsOneByOne) {
  std::mt19937_64 random(test::seedOf(2));
  for (int i = 0; i < test::casesOf(500); ++i) {
    Product product{int64_t(8 + random() % 300), int64_t(2 + random() % 7), int64_t(1 + random() % 10), 0};
    product.stride = product.taps + int64_t(random() % 3);
    const auto plan = planOf(product);
    ASSERT_TRUE(plan && plan->shortRows);
    const auto chains = size_t(1 + random() % 5), most = size_t(1 + random() % 70);
    SCOPED_TRACE(::testing::Message() << "case " << i << ": " << chains << " chains of up to " << most << ", "
                                      << product.rows << " rows of " << product.lanes << ", " << product.taps
                                      << " taps, scalars " << product.stride << " apart");
    const auto draw = [&](int64_t count) {
      std::vector<float> values(size_t(count) + 16); // kernels may load past the end
      for (float &value : values)
        value =
            random() % 500 == 0 ? std::numeric_limits<float>::infinity() : float(int64_t(random() % 2001) - 1000) / 64;
      return values;
    };
    const int64_t elements = product.rows * product.lanes;
    std::vector<std::vector<float>> x, w, added, want, got;
    for (size_t n = 0; n < 2 * most; ++n)
      x.push_back(draw(product.rows * product.stride));
    for (size_t n = 0; n < chains * most; ++n)
      w.push_back(draw(product.taps * product.lanes));
    std::vector<std::vector<const float *>> vec(chains), scl(chains);
    std::vector<emulator::NestChain> all;
    for (size_t c = 0; c < chains; ++c) {
      const auto nests = size_t(1 + random() % most);
      for (size_t n = 0; n < nests; ++n) {
        vec[c].push_back(w[c * most + n].data());
        scl[c].push_back(x[n + (random() % 3 == 0 ? most : 0)].data());
      }
      added.push_back(draw(elements));
      want.emplace_back(size_t(elements));
      got.emplace_back(size_t(elements) + 8, 5.0f);
      const bool adds = random() % 2 == 0;
      if (adds)
        std::copy_n(added[c].begin(), elements, want[c].begin());
      for (size_t n = 0; n < nests; ++n) {
        emulator::NestEnds ends{true, want[c].data(), want[c].data()};
        emulator::runNest(emulator::kernels(emulator::CpuLevel::Portable), *plan, nullptr,
                          plan->swapped ? vec[c][n] : scl[c][n], plan->swapped ? scl[c][n] : vec[c][n], ends);
      }
      all.push_back({plan->swapped ? vec[c].data() : scl[c].data(), plan->swapped ? scl[c].data() : vec[c].data(),
                     int32_t(nests), adds ? added[c].data() : nullptr, got[c].data()});
    }
    for (emulator::CpuLevel level : {emulator::CpuLevel::Portable, emulator::cpuLevel()}) {
      emulator::runNestChains(emulator::kernels(level), *plan, all);
      for (size_t c = 0; c < chains; ++c) {
        ASSERT_EQ(std::memcmp(got[c].data(), want[c].data(), size_t(elements) * 4), 0) << "chain " << c;
        ASSERT_EQ(got[c][size_t(elements)], 5.0f); // and nothing behind them
        std::fill(got[c].begin(), got[c].end(), 5.0f);
      }
    }
  }
}

TEST(ShortRows, AreThoseOfOneVector) {
  for (int64_t lanes = 2; lanes <= 9; ++lanes)
    EXPECT_EQ(planOf({16, lanes, 3, 3})->shortRows, lanes <= 8) << lanes;
  EXPECT_FALSE(planOf({7, 3, 3, 3})->shortRows);
}
