// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Minima and maxima over runs of elements: kernels that read them vector by vector give the bits of one after the
// other.
#include "runtime/emulator/NestPlan.h"
#include "runtime/numerics/Arithmetic.h"
#include "test/support/Seed.h"
#include "test/unit/emulator/TinyMesh.h"

#include <gtest/gtest.h>

#include <bit>
#include <limits>
#include <random>

using namespace wsc;
using namespace wsc::format;
using namespace wsc::testing;

TEST(Extremes, OfRunsAreThoseOfOneElementAfterTheOther) {
  std::mt19937_64 random(test::seedOf(1));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const float special[] = {0.0f, -0.0f, kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()};
  for (int i = 0; i < test::casesOf(2000); ++i) {
    const bool isMax = random() % 2 == 0, hasSpecials = random() % 2 == 0, fresh = random() % 4 == 0;
    const int64_t taps = 2 + int64_t(random() % (i % 2 == 0 ? 20 : 300));
    Instruction reduce =
        vectorOp(isMax ? Opcode::ReduceMax : Opcode::ReduceMin, taps, memoryOperand(0, 0), memoryOperand(1, 4));
    std::vector<float> values(size_t(taps) + 16); // kernels may load past the end
    for (float &value : values)
      value = hasSpecials && random() % 4 == 0 ? special[random() % (random() % 8 == 0 ? 5 : 2)]
                                               : float(int64_t(random() % 2001) - 1000) / 64;
    const float before = values[random() % values.size()], added = 0.75f;
    float want = fresh ? 0.0f : before;
    for (int64_t t = 0; t < taps; ++t)
      want = isMax ? numerics::max(want, values[size_t(t)]) : numerics::min(want, values[size_t(t)]);
    const bool adds = random() % 4 == 0;
    if (adds)
      want = numerics::add(added, want);
    for (emulator::CpuLevel level : {emulator::CpuLevel::Portable, emulator::cpuLevel()}) {
      const emulator::Kernels &kernels = emulator::kernels(level);
      const auto plan = emulator::planNest(reduce, {1, 1, 1, taps}, {}, 0, 0, kernels.wideVectors);
      ASSERT_TRUE(plan && plan->tapRun);
      float acc = before, out = 0;
      emulator::NestEnds ends{fresh, nullptr, nullptr};
      if (adds)
        ends = {fresh, &added, &out};
      emulator::runNest(kernels, *plan, &acc, values.data(), nullptr, ends);
      ASSERT_EQ(std::bit_cast<uint32_t>(adds ? out : acc), std::bit_cast<uint32_t>(want))
          << "case " << i << ", " << taps << " taps";
    }
  }
}
