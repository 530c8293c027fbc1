// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A network with ResNet-50's graph and seeded weights on the whole wafer: 53 convolutions, 16 residual adds.
#include "test/models/ModelCheck.h"

namespace wsc::test {
namespace {

TEST(ResNet50, OnTheWholeWafer) {
  CheckOptions options;
  options.targets = {"wse2"};
  options.worklist = false; // hundreds of thousands of cores, one at a time
  options.replayedCores = 20;
  checkModel(buildResNet50(50, 96, 32, 1000), 50, options);
}

} // namespace
} // namespace wsc::test
