// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quotients of whole numbers by positive divisors, rounded up and down.
#pragma once

#include <cstdint>

namespace wsc::spmd {

/// Of a number that is not negative.
constexpr int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

/// Of any number.
constexpr int64_t floorDiv(int64_t a, int64_t b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

} // namespace wsc::spmd
