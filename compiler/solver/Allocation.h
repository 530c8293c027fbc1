// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Addresses for the buffers of one core's SRAM.
//
// Buffers whose lifetimes overlap must not overlap in memory. Algorithm: first fit, largest first; where that exceeds
// the range, first fit in two other orders (longest-lived first, earliest first).
#pragma once

#include "compiler/solver/Stats.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace wsc::solver::allocation {

constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

struct Buffer {
  std::string name;
  int64_t bytes = 0;                    // ≥ 0
  int64_t alignment = 1;                // bytes, a power of two; of the address itself
  std::optional<int32_t> preferredBank; // wish, not a demand: the bank of the first byte
  // Live in [lifeBegin, lifeEnd), in the caller's steps; by default always.
  int64_t lifeBegin = 0, lifeEnd = kForever;
};

// At most 2^16 buffers, 2^40 bytes.
struct Problem {
  int64_t begin = 0, limit = 0; // addresses available: [begin, limit), bytes
  int64_t bankBytes = 0;        // bank b is [b·bankBytes, (b+1)·bankBytes); 0: no banks
  std::vector<Buffer> buffers;

  // InvalidArgument: limit below begin, negative sizes, alignment not a power of two, empty lifetime, preferred bank
  // without banks.
  absl::Status check() const;
};

struct Solution {
  std::vector<int64_t> addressOf; // per buffer, bytes

  // FailedPrecondition: a buffer outside the range or not aligned, two live buffers that overlap (both named).
  absl::Status verify(const Problem &problem) const;
};

// Errors: what check() says; ResourceExhausted with the buffer that found no space, the bytes needed, those there are,
// and the largest buffers.
absl::StatusOr<Solution> solve(const Problem &problem);

// Of such an error: at least so many bytes fewer would have to live at one time; 0 of others.
int64_t missingBytes(const absl::Status &status);
void setMissingBytes(absl::Status &status, int64_t bytes);

// Value: bytes from Problem::begin to the end of the highest buffer. Bound: most bytes live at one time.
struct AllocationStats : Stats {
  int64_t preferredBanks = 0;    // buffers that asked for a bank
  int64_t preferredBanksMet = 0; // and start in it
};
AllocationStats evaluate(const Problem &problem, const Solution &solution);

// Text: `wsc-problem allocation 1`, `range BEGIN LIMIT`, optional `banks BYTES`, then `buffer NAME BYTES [align N]
// [bank B] [life BEGIN END]`. Solutions: `wsc-solution allocation 1`, then `buffer NAME ADDRESS` per buffer in order.
absl::StatusOr<Problem> parseProblem(const std::string &text);
std::string printProblem(const Problem &problem);
absl::StatusOr<Solution> parseSolution(const std::string &text, const Problem &problem);
std::string printSolution(const Problem &problem, const Solution &solution);

} // namespace wsc::solver::allocation
