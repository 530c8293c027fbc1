// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/mapping/MapNetwork.h"

#include "ConvThenRelu.h"

#include <gtest/gtest.h>

namespace wsc::kernels {
namespace {

TEST(ColumnsOfPart, CoverTheWidthOnce) {
  for (int64_t width : {2, 7, 64, 113})
    for (int64_t parts : {2, 3, 4}) {
      int64_t end = 0;
      for (int64_t part = 0; part < parts; ++part) {
        const Columns columns = columnsOfPart(width, part, parts);
        EXPECT_EQ(columns.begin, end);
        end = columns.end;
      }
      EXPECT_EQ(end, width);
    }
}

/// A convolution alone in its plan, of a part's geometry.
KernelSpec convolution(int64_t outWidth, int64_t kernelW, int64_t strideW, int64_t padLeft) {
  KernelSpec spec;
  spec.kind = KernelKind::Contraction;
  spec.out = {4, 8, outWidth};
  spec.contraction.kernelW = kernelW;
  spec.contraction.strideW = strideW;
  spec.contraction.padLeft = padLeft;
  return spec;
}

TEST(TakenColumns, AreThoseThatWindowsReach) {
  const Plane plane{3, 8, 100};
  EXPECT_EQ(takenColumns(convolution(100, 3, 1, 1), plane), (Columns{0, 100}));
  EXPECT_EQ(takenColumns(convolution(50, 3, 1, 1), plane), (Columns{0, 51})); // the left half, and one more
  EXPECT_EQ(takenColumns(convolution(50, 3, 1, -49), plane), (Columns{49, 100}));
  EXPECT_EQ(takenColumns(convolution(25, 7, 2, -27), plane), (Columns{27, 82}));
  EXPECT_EQ(takenColumns(convolution(96, 1, 1, -2), plane), (Columns{0, 100})); // four more are no trouble
}

class Splits : public testing::Test {
protected:
  std::vector<SplitRequest> of(NetworkPlan plan, const char *targetName) {
    auto target = target::loadTarget(targetName);
    EXPECT_TRUE(target.ok());
    auto report = sizeNetwork(*target, plan, {.splits = true});
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? report->splits : std::vector<SplitRequest>();
  }
  const NetworkPlan wide = convThenRelu({6, 6, 66}, 4, 3, 3, 1);
};

TEST_F(Splits, AreAskedForWhereAFewChannelsSetTheInterval) {
  const std::vector<SplitRequest> splits = of(wide, "mesh-24x40");
  ASSERT_EQ(splits.size(), 1u);
  EXPECT_EQ(splits[0].kernel, 0);
  EXPECT_GE(splits[0].parts, 2);
}

TEST_F(Splits, NeedColumns) { EXPECT_TRUE(of(wide, "mesh-24x4").empty()); }

TEST_F(Splits, LeavePinnedKernelsWhole) {
  NetworkPlan pinned = wide;
  pinned.kernels[0].pinnedColumns = 5;
  EXPECT_TRUE(of(pinned, "mesh-24x40").empty());
}

TEST_F(Splits, AreNotForTheWaferEdge) {
  auto target = target::loadTarget("mesh-24x40");
  ASSERT_TRUE(target.ok());
  target->ioTerabitsPerSecond = 0.01;
  NetworkPlan plan = wide;
  auto report = sizeNetwork(*target, plan, {.splits = true});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->splits.empty());
}

} // namespace
} // namespace wsc::kernels
