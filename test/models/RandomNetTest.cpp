// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Property test: random networks keep everything ModelCheck asks. WSC_SEED and WSC_CASES choose others.
#include "test/models/RandomNet.h"
#include "test/models/ModelCheck.h"
#include "test/support/Seed.h"

namespace wsc::test {
namespace {

TEST(RandomNetworks, AgreeWithTheReference) {
  const uint64_t seed = seedOf(7000);
  const int count = casesOf(40);
  for (int i = 0; i < count; ++i) {
    SCOPED_TRACE("WSC_SEED=" + std::to_string(seed + i) + " WSC_CASES=1");
    checkModel(randomNetwork(seed + i), seed + i);
  }
}

} // namespace
} // namespace wsc::test
