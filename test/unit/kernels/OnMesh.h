// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fixture for tests of mapping: a target and random numbers.
#pragma once

#include "runtime/target/Target.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace wsc::kernels {

class OnMesh : public ::testing::Test {
protected:
  explicit OnMesh(std::string name, uint64_t seed = 1) : random(seed), name(std::move(name)) {}
  void SetUp() override {
    auto loaded = target::loadTarget(name);
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    target = *std::move(loaded);
  }
  int64_t pick(int64_t low, int64_t high) { return low + int64_t(random() % uint64_t(high - low + 1)); }

  std::mt19937_64 random;
  target::Target target;

private:
  std::string name;
};

} // namespace wsc::kernels
