// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Property test: random networks keep everything ModelCheck asks. WSC_SEED and WSC_COUNT choose others.
#include "test/models/RandomNet.h"
#include "test/models/ModelCheck.h"

#include <cstdlib>
#include <iostream>

namespace wsc::test {
namespace {

TEST(RandomNetworks, AgreeWithTheReference) {
  const char *seedText = std::getenv("WSC_SEED"), *countText = std::getenv("WSC_COUNT");
  uint64_t seed = seedText ? std::strtoull(seedText, nullptr, 10) : 7000;
  int count = countText ? std::atoi(countText) : 40;
  std::cout << "seeds " << seed << " to " << seed + count - 1 << std::endl;
  for (int i = 0; i < count; ++i) {
    SCOPED_TRACE("WSC_SEED=" + std::to_string(seed + i) + " WSC_COUNT=1");
    checkModel(randomNetwork(seed + i), seed + i);
  }
}

} // namespace
} // namespace wsc::test
