// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random elements and random bodies of nests, for tests that compare two ways of computing the same.
#pragma once

#include "compiler/spmd/network/Network.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace wsc::test {

/// Numbers drawn from a seed, the same on every host.
class Draw {
public:
  explicit Draw(uint64_t seed) : engine(seed) {}
  int64_t in(int64_t low, int64_t high) { return low + int64_t(engine() % uint64_t(high - low + 1)); } // both included
  bool oneIn(int64_t n) { return in(1, n) == 1; }
  template <typename T> const T &of(const std::vector<T> &choices) {
    return choices[size_t(in(0, int64_t(choices.size()) - 1))];
  }

private:
  std::mt19937_64 engine;
};

/// The types that elements can have in memory.
const std::vector<format::ElementType> &elementTypes();

/// Finite numbers of moderate size, and now and then a special one where `specials`: infinities, NaN, zeros, limits.
std::vector<std::byte> drawElements(Draw &draw, format::ElementType type, int64_t count, bool specials);

/// Grows the body of a nest, then its finish, operation by operation. Values are taken from what is there; where none
/// has the type asked for, one is converted.
class RandomBody {
public:
  /// `operandTypes`: as the nest's operands.
  RandomBody(Draw &draw, spmd::Nest &nest, const std::vector<format::ElementType> &operandTypes);

  /// Appends an operation on `type` that is defined there.
  spmd::BodyValue operation(format::ElementType type);
  /// A value of `type`: there already, an immediate, or a conversion that is appended.
  spmd::BodyValue value(format::ElementType type);
  /// From here on, operations are appended to `finish`: they see the reduced value and operands that do not change
  /// along the reduction iterators.
  void finish();

private:
  struct Known {
    spmd::BodyValue value;
    format::ElementType type;
  };

  Draw &draw;
  spmd::Nest &nest;
  std::vector<format::ElementType> operandTypes;
  std::vector<Known> known;
  bool finishing = false;

  spmd::BodyValue append(const spmd::BodyOp &op);
};

} // namespace wsc::test
