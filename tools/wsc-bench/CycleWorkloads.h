// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that suite `cycle` times the cycle engine on. Each is one configuration on a target whose mesh is made as
// large as said.
#pragma once

#include "runtime/format/Executable.h"

#include <cstdint>

namespace wsc::bench {

// 2 × 2 points per core, fp32: each core sends two points to each of its neighbours, takes theirs, and computes. A
// sample is one step. Edge cores take zeros for what is not there (they have fewer sends).
format::Executable stencilExchange(target::Target target, int32_t rows, int32_t cols);

// Four streams of `words` words through each router, one in each direction, from ports to ports; off-wafer bandwidth is
// set so that it does not limit them.
format::Executable saturatedRelays(target::Target target, int32_t rows, int32_t cols, int64_t words);

// Row 0 of a mesh of `rows` rows: every core adds its `words` words to those from the west and sends them on east.
format::Executable chainReduce(target::Target target, int32_t rows, int32_t cols, int64_t words);

} // namespace wsc::bench
