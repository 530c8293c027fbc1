// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every family of layers, lowered to nests and evaluated as a network, against the reference of nn. In double precision
// both agree to rounding, which checks indices, order of operations and reductions; in the network's own types they
// agree to the precision of these, which checks conversions and accumulators.
#include "test/unit/lowering/LoweringFixture.h"
#include "test/unit/lowering/RandomLayers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

namespace {

using namespace wsc::test;
using wsc::format::ElementType;

uint64_t seedOf() {
  const char *text = std::getenv("WSC_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 1;
}

/// Of one rounding to the type, relative.
double precisionOf(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return 0x1p-11;
  case ElementType::BF16:
    return 0x1p-8;
  case ElementType::F64:
    return 0x1p-53;
  case ElementType::F32:
    return 0x1p-24;
  default:
    return 0;
  }
}

/// The least precision of any tensor of the network: a result can be no better.
double precisionOf(const wsc::spmd::Network &network) {
  double precision = 0;
  for (const auto &tensor : network.tensors)
    precision = std::max(precision, precisionOf(tensor.type));
  return precision;
}

void expectClose(const std::vector<double> &expected, const std::vector<double> &actual, double tolerance,
                 const std::string &what) {
  ASSERT_EQ(expected.size(), actual.size()) << what;
  for (size_t i = 0; i < expected.size(); ++i)
    ASSERT_TRUE(std::abs(actual[i] - expected[i]) <= tolerance * (1 + std::abs(expected[i])) ||
                actual[i] == expected[i] || (std::isnan(actual[i]) && std::isnan(expected[i])))
        << what << ": element " << i << " is " << actual[i] << ", expected " << expected[i];
}

class Lowering : public testing::TestWithParam<LayerFamily> {};

TEST_P(Lowering, ComputesWhatTheLayerMeans) {
  constexpr int kLayers = 150;
  const uint64_t seed = seedOf();
  SCOPED_TRACE("WSC_SEED=" + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int n = 0; n < kLayers; ++n) {
    const std::string text = GetParam().make(random);
    SCOPED_TRACE(text);
    const LoweredRun run = runLowered(text, random, n % 2);
    ASSERT_EQ(run.error, "");
    const double precision = precisionOf(run.network), exact = 1e-6 + precision; // the reference rounds each result
    expectClose(run.expected, run.exact, exact, "in double precision");
    expectClose(run.expected, run.rounded, exact + 16 * precision, "in its own types");
    EXPECT_TRUE(run.foldsAlike);
    if (HasFailure())
      return;
  }
}

INSTANTIATE_TEST_SUITE_P(Families, Lowering, testing::ValuesIn(layerFamilies()),
                         [](const auto &info) { return info.param.name; });

} // namespace
