// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Seeds and numbers of cases of random tests: a fixed seed, or the one in WSC_SEED; as many cases as usual, or those in
// WSC_CASES. The seed is printed, so that a failure can be repeated.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>

namespace wsc::test {

inline uint64_t seedOf(uint64_t fixed) {
  const char *given = std::getenv("WSC_SEED");
  const uint64_t seed = given ? std::strtoull(given, nullptr, 10) : fixed;
  std::cout << "seed " << seed << std::endl;
  return seed;
}

inline int casesOf(int usual) {
  const char *given = std::getenv("WSC_CASES");
  return given ? std::atoi(given) : usual;
}

} // namespace wsc::test
