// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passage from routes (who is connected) to words (what passes), per colour.
#pragma once

#include "runtime/format/verifier/ColourMap.h"

namespace wsc::format::verifier {

// Most segments moved through routers for one configuration: a few seconds. A well-formed wafer needs a few million.
constexpr int64_t kMostSteps = int64_t(1) << 26;

// Moves the counts of one sample through the routers of a connected colour and judges what arrives. `budget` is what is
// left of kMostSteps.
void checkWords(const ColourMap &map, int64_t &budget);

} // namespace wsc::format::verifier
