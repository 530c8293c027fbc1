// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A hash that is the same in every run: times must not depend on the process.
#pragma once

#include <cstdint>

namespace wsc::emulator::timing {

// The hash of what `hash` stands for, followed by `value`.
inline uint64_t mix(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15ull;
  return hash ^ hash >> 29;
}

} // namespace wsc::emulator::timing
