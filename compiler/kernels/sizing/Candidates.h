// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shapes a kernel can take: what the sizing solver chooses from.
#pragma once

#include "compiler/kernels/network/Spec.h"
#include "compiler/solver/Sizing.h"
#include "runtime/target/Target.h"

#include "absl/status/statusor.h"

#include <limits>

namespace wsc::kernels {

// Slices of a kernel of so many shares (bands of a contraction, columns of others), as many as its groups have rows
// for; of column kernels fewer, if each is to hold more channels than it must. Sets the bands of a contraction and the
// columns of other kernels.
void chooseSlices(NetworkPlan &network, KernelPlan &plan, int64_t shares, int64_t moreChannels = 0);

// Which shapes of contractions to cost.
struct Wanted {
  bool feedersCompute = true; // some of them; otherwise all feeders only feed
  // Also where they then make about as many channels as the others, and are busier: not where rows wait for off-wafer
  // words anyway.
  bool evenShares = true;
  // Shapes whose multiply-adds alone take more are left out, unless the kernel is pinned.
  int64_t mostCycles = std::numeric_limits<int64_t>::max();
  bool operator==(const Wanted &) const = default;
};

struct Candidates {
  solver::sizing::Kernel kernel; // with predicted intervals
  // Of each candidate, between samples: its issue slots and lanes alone. What its column's links carry depends on where
  // producers cut their channels and send from.
  std::vector<int64_t> leastCycles;
  // Of each: words over the busiest link of its column, where lanes of several tiles meet; else 0.
  std::vector<int64_t> branchWords;
  // Of each: issue slots of its feeders without their multiply-adds.
  std::vector<int64_t> feedCycles;
};

// Candidates of kernel `index`: contractions by bands and output channels per column, one for each number of columns;
// windows and elementwise kernels by columns, and where links of a column bind them also with fewer slices, after the
// candidate with all slices. Each is costed by Cost.h; where tiles do not fit SRAM the kernel works
// channel by channel. Leaves slices and blocks as `chooseSlices` for one column and `chooseNominalBlocks` have them.
// Errors: no candidate fits (bytes, limit), or none is as pinned.
absl::StatusOr<Candidates> candidatesOf(const target::Target &target, NetworkPlan &network, int32_t index,
                                        const Wanted &wanted = {});

// Whether its slices hold more channels than they must.
bool hasFewerSlices(const solver::sizing::Candidate &candidate);
// Leaves out those with fewer slices whose kin with all slices needs no more than `intervalCycles`, waiting included,
// and those whose column's links leave too little space to spare in it, where others within it leave enough.
void dropNeedless(Candidates &candidates, int64_t intervalCycles);

// Gives kernel `index` the mapping of a candidate, and its output the channel blocks that go with it and with the
// mapping its receivers have.
void applyCandidate(NetworkPlan &network, int32_t index, const solver::sizing::Candidate &candidate);

} // namespace wsc::kernels
