// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// SRAM for the virtual scratch buffers of a program: windows of one buffer, the arena, shared by buffers with disjoint
// lives, and of a second one for those that are read by index.
#pragma once

#include "compiler/spmd/program/Code.h"
#include "runtime/target/Target.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace wsc::spmd {

struct PackedScratch {
  /// Of all scratch buffers that are left: the arena and the indexed ones.
  int64_t bytes = 0;
  int16_t arena = -1;             // index of the arena in Code::buffers, its last; -1: there is none
  std::vector<int16_t> newBuffer; // per buffer before: where it is now, -1 if nothing named it
};

/// Replaces the scratch buffers of `code` by one of type I64, so that its address is a multiple of 8 bytes, and
/// rewrites all operands; other buffers keep their order and may get other numbers. A buffer lives from the first
/// instruction that names it to the last, one that is named inside a loop over the whole outermost loop. A buffer that
/// is accessed by index stays on its own, with its bytes: indices are clamped to a buffer, and may not reach into what
/// others hold. Those in Code::bounded share a buffer of their own, unless they also receive what another is read for.
/// Windows begin at multiples of 8 bytes; those that one instruction walks begin in different banks of `target` as far
/// as possible if all then needs at most `roomBytes`, else (or if that is not enough either) as low as possible.
/// `bankOf`: the bank in which a buffer that is no scratch begins (a resident's first byte), −1: not known.
/// Errors: those of solver::allocation (more than 2^16 buffers or 2^40 bytes).
using BankOf = std::function<int(const format::Buffer &)>;
absl::StatusOr<PackedScratch> packScratch(Code &code, const target::Target &target, int64_t roomBytes,
                                          const BankOf &bankOf = {});

} // namespace wsc::spmd
