// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared by the solvers' tests: a portable random source, messages compared as text, and time.
#pragma once

#include "test/support/Seed.h"

#include "absl/status/status.h"
#include "gtest/gtest.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <string>

namespace wsc::solver::test {

// splitmix64: the same numbers on every host. The seed, or that in WSC_SEED, is printed.
class Random {
public:
  explicit Random(uint64_t seed) : state(wsc::test::seedOf(seed)) {}
  // In [least, most].
  int32_t in(int32_t least, int32_t most) {
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return least + int32_t((z ^ (z >> 31)) % uint64_t(most - least + 1));
  }

private:
  uint64_t state;
};

inline std::string message(const absl::Status &status) { return std::string(status.message()); }

// Milliseconds a call takes, printed with its name.
template <typename Call> double milliseconds(const char *name, Call call) {
  auto begin = std::chrono::steady_clock::now();
  call();
  double ms = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%s: %.1f ms\n", name, ms);
  return ms;
}

} // namespace wsc::solver::test
