// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random small convolutional networks: a chain of layers in which any earlier tensor of the same size may be added or
// concatenated, ending in an image or in a classifier. The seed determines the network.
#pragma once

#include "test/models/NetBuilder.h"

namespace wsc::test {

OnnxBuilder randomNetwork(uint64_t seed);

} // namespace wsc::test
