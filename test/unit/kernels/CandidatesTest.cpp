// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shapes that a contraction can take.
#include "compiler/kernels/sizing/Candidates.h"
#include "compiler/kernels/network/Tiling.h"

#include "ConvThenRelu.h"

#include <gtest/gtest.h>

namespace wsc::kernels {
namespace {

class ShapesOfContractions : public testing::Test {
protected:
  /// Candidates of a 3 × 3 convolution of 32 output channels on a mesh of 104 rows.
  void SetUp() override {
    auto loaded = target::loadTarget("mesh-104x64");
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    plan = convThenRelu({64, 4, 30}, 32, 3, 3, 1, 1);
    ASSERT_TRUE(chooseTiles(*loaded, plan).ok());
    plan.kernels[0].mapping.fifoSamples = plan.kernels[1].mapping.fifoSamples = {1};
    for (KernelPlan &kernel : plan.kernels)
      chooseSlices(plan, kernel, 1);
    auto found = candidatesOf(*loaded, plan, 0);
    ASSERT_TRUE(found.ok()) << found.status();
    candidates = *std::move(found);
  }
  const solver::sizing::Candidate *withTag(const std::string &tag) const {
    for (const solver::sizing::Candidate &candidate : candidates.kernel.candidates)
      if (candidate.tag == tag)
        return &candidate;
    return nullptr;
  }

  NetworkPlan plan;
  Candidates candidates;
};

/// A feeder gets fewer channels than the others where they can take more: seven columns of five, one channel less each.
TEST_F(ShapesOfContractions, FeedersMakeFewerChannels) {
  const auto *balanced = withTag("1x5f2");
  ASSERT_TRUE(balanced);
  EXPECT_EQ(balanced->columns, 7);
}

/// Eight columns would leave it none: they share all channels evenly, rather than feed from a ninth.
TEST_F(ShapesOfContractions, FeedersMakeAsManyWhereElseTheyWouldMakeNone) {
  const auto *even = withTag("1x4f4"), *feedsOnly = withTag("1x4");
  ASSERT_TRUE(even && feedsOnly);
  EXPECT_EQ(even->columns, 8);
  EXPECT_EQ(feedsOnly->columns, 9);
  EXPECT_GT(even->intervalCycles, feedsOnly->intervalCycles);
}

} // namespace
} // namespace wsc::kernels
