// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Depths of the FIFOs where paths rejoin, in samples.
#pragma once

#include "compiler/kernels/mapping/MapNetwork.h"

namespace wsc::kernels {

// Sets every kernel's `fifoSamples`: as deep as the longer path is late at `intervalCycles` between samples, and a few
// more so that groups of rows may drift apart, shortened to what the cores hold. Where a join holds less than it wants,
// `requests` gets a kernel to put before it. Errors: a kernel that fits with no depth.
absl::Status chooseFifos(const target::Target &target, NetworkPlan &network, int64_t intervalCycles,
                         std::vector<PassRequest> &requests);

} // namespace wsc::kernels
