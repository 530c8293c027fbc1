// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The random numbers of searches and seeded inputs: the same on every host, so that a seed gives one result.
#pragma once

#include <cstdint>

namespace wsc {

// splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = (state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  // In [0, limit); the limit is from 1 to 2^32.
  uint64_t below(uint64_t limit) { return ((next() >> 32) * limit) >> 32; }
  // In [least, most].
  int64_t in(int64_t least, int64_t most) { return least + int64_t(next() % uint64_t(most - least + 1)); }
  // In (0, 1).
  double unit() { return (double(next() >> 11) + 0.5) * 0x1p-53; }

private:
  uint64_t state;
};

} // namespace wsc
