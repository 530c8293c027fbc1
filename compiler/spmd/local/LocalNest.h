// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of a nest that one core computes, as instructions: all operands lie in the core's own SRAM as dense boxes,
// extents are those of the core's share, and every core runs the same code.
#pragma once

#include "compiler/spmd/network/Network.h"
#include "compiler/spmd/program/Code.h"

#include "absl/status/status.h"

namespace wsc::spmd {

/// Where an operand or result lies: the element for iterators i_k is at byte baseBytes + Σ i_k·strideBytes[k] of
/// `buffer`. A gathered operand: strideBytes as if its gathered index were 0; `gatherStrideBytes` is the distance
/// between consecutive numbers, and `gatherCount` how many there are.
struct LocalOperand {
  int16_t buffer = -1;
  int64_t baseBytes = 0;
  std::vector<int64_t> strideBytes; // one per iterator; the result's: one per parallel iterator, 0 for reductions
  int64_t gatherStrideBytes = 0, gatherCount = 0;
};

struct LocalNest {
  const Nest *nest = nullptr;
  std::vector<int64_t> extents; // of this core's share, as many as nest->extents
  std::vector<format::ElementType> operandTypes;
  std::vector<LocalOperand> operands;
  LocalOperand result;
  format::ElementType resultType = format::ElementType::F32;
  /// The sum over all cores is still to be formed: `result` receives the accumulators (of the reduction's type) and
  /// `finish` is left to finishNest.
  bool partial = false;
};

/// Appends the instructions (with whatever scratch they need) to `code`. Temporaries hold at most `temporaryBytes` for
/// each value of the body; larger shares are computed slice by slice in a loop. Errors: more iterators or loops than
/// descriptors and loops can walk even when neighbouring ones are merged (an element count of 0 emits nothing but the
/// initial values).
absl::Status emitNest(Code &code, const LocalNest &local, int64_t temporaryBytes);

/// The `finish` operations of a partial nest: `reduced` holds the accumulators as emitNest leaves them (strides per
/// parallel iterator), `local.result` is where results go (local.partial is ignored).
absl::Status finishNest(Code &code, const LocalNest &local, const LocalOperand &reduced, int64_t temporaryBytes);

} // namespace wsc::spmd
