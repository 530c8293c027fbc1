// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shapes a kernel can take: what the sizing solver chooses from.
#pragma once

#include "compiler/kernels/Spec.h"
#include "compiler/solver/Sizing.h"
#include "runtime/target/Target.h"

#include "absl/status/statusor.h"

namespace wsc::kernels {

// Slices of a kernel of so many shares (bands of a contraction, columns of others), as many as its groups have rows
// for. Sets the bands of a contraction and the columns of other kernels.
void chooseSlices(const NetworkPlan &network, KernelPlan &plan, int64_t shares);

struct Candidates {
  solver::sizing::Kernel kernel;    // with predicted intervals
  // Of each candidate, between samples: its issue slots and lanes alone. What its column's links carry depends on where
  // producers cut their channels and send from.
  std::vector<int64_t> leastCycles;
};

// Candidates of kernel `index`: contractions by bands and output channels per column, one for each number of columns;
// windows and elementwise kernels by columns. Each is costed by Cost.h; where tiles do not fit SRAM the kernel works
// channel by channel. Leaves slices and blocks as `chooseSlices` for one column and `chooseNominalBlocks` have them.
// Errors: no candidate fits (bytes, limit).
absl::StatusOr<Candidates> candidatesOf(const target::Target &target, NetworkPlan &network, int32_t index);

// Gives kernel `index` the mapping of a candidate, and its output the channel blocks that go with it and with the
// mapping its receivers have.
void applyCandidate(NetworkPlan &network, int32_t index, const solver::sizing::Candidate &candidate);

} // namespace wsc::kernels
