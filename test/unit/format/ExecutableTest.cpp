// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arithmetic of executables: lattice sizes, affine values, tensor sizes.
#include "runtime/format/Executable.h"

#include <gtest/gtest.h>

namespace wsc::format {
namespace {

TEST(Lattice, SizeIsTheProductOfItsCounts) {
  Lattice lattice;
  EXPECT_EQ(lattice.size(), 1);
  lattice.dims[0] = {3, 2, 0};
  lattice.dims[3] = {100000, 0, 1};
  EXPECT_EQ(lattice.size(), 300000);
  lattice.dims[1] = {100000, 1, 0};
  EXPECT_EQ(lattice.size(), 30000000000);
}

TEST(Affine, IsItsConstantPlusStepsTimesIndex) {
  Affine affine(7);
  EXPECT_TRUE(affine.isConstant());
  EXPECT_EQ(affine.at({5, 6, 7, 8}), 7);
  affine.perDim = {100, 0, -1, int64_t(1) << 40};
  EXPECT_FALSE(affine.isConstant());
  EXPECT_EQ(affine.at({2, 9, 3, 1}), 7 + 200 - 3 + (int64_t(1) << 40));
}

TEST(TensorType, ElementsIsTheProductOfItsShape) {
  TensorType type;
  EXPECT_EQ(type.elements(), 1);
  type.shape = {2, 70000, 70000};
  EXPECT_EQ(type.elements(), 9800000000);
  type.shape = {2, 0, 3};
  EXPECT_EQ(type.elements(), 0);
}

} // namespace
} // namespace wsc::format
