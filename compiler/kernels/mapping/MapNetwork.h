// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the mapping of a whole network: tiles, slices, columns, FIFO depths; then places its kernels.
#pragma once

#include "compiler/kernels/network/Effort.h"
#include "compiler/kernels/network/Variant.h"
#include "compiler/kernels/sizing/CandidateCache.h"
#include "compiler/kernels/sizing/Cost.h"
#include "compiler/kernels/sizing/SplitWidth.h"
#include "compiler/solver/Sizing.h"

namespace wsc::kernels {

// A kernel that only passes a stream on, to be put between `stream` and `consumer`: either its FIFO is wanted, or its
// larger tiles.
struct PassRequest {
  int32_t stream = 0, consumer = 0;
};

// What sizing may ask for: kernels put in or cut first.
struct Asking {
  bool passes = false, splits = false;
};

// What looking for other mappings came to (SearchMapping.h).
struct SearchOutcome {
  int64_t tried = 0;       // other mappings that were sized
  bool isBetter = false;   // one of them was chosen
  int64_t timedCycles = 0; // interval of the mapping by SearchOptions::timer, in dataflow order; 0: it was not timed
};

struct SizingReport {
  int64_t intervalCycles = 0; // predicted, slowest kernel
  int64_t columns = 0;
  int32_t bottleneckKernel = -1;
  // Changes of the network that would serve it better; after them it is to be sized again.
  std::vector<PassRequest> passes;
  std::vector<SplitRequest> splits; // the network is sized as it is, too: who cuts can tell what was gained
  Variant variant;                  // that was sized
  SearchOutcome search;
  // What the solver was asked, and the candidates chosen in the end.
  solver::sizing::Problem problem;
  solver::sizing::Solution solution;
};

// Fills `grid`, `bounds`, every kernel's `mapping` and `predictedIntervalCycles` and every stream's `layout`. Steps:
//  1. Tiles, consumers before producers: as many tiles as the mesh has rows for, but no receiver takes more lanes than
//  a core has input queues.
//  2. Slices: input channels over the rows of a group.
//  3. Columns: candidates by output channels per column, costed by Cost.h; the sizing solver picks the least interval
//  that fits the mesh's columns; columns left over buy speed and simple shapes (LeftoverColumns.h).
//     A kernel whose tiles do not fit SRAM works channel by channel.
//  4. FIFOs where paths rejoin: as deep as the longer path is late, in samples, within the SRAM that is left.
// Errors: a kernel that fits no rectangle (bytes, limit), or a network that needs more columns than the mesh has.
// A network that wants kernels put in or cut first, and `mayAsk` for that: the report says which. With tiles to be
// joined first it is left unsized.
// With `equalColumns` every kernel gets its quickest candidate within an equal share of the columns: the naive mapping.
// As far as `options` allow, other mappings are tried once there is nothing to ask for (SearchMapping.h). `cache`, if
// given, has what was costed before for this target: for a network that is sized again with kernels put in or cut.
absl::StatusOr<SizingReport> sizeNetwork(const target::Target &target, NetworkPlan &network,
                                         Asking mayAsk = {.passes = true}, bool equalColumns = false,
                                         const SearchOptions &options = {}, CandidateCache *cache = nullptr);

// Where candidates come from, and on how many of the host's threads kernels are costed side by side; 0: all.
struct Costing {
  CandidateCache &cache;
  int threads = 1;
};

// One way to do all of that: with the wishes of `variant`, whose colour share is kept to.
absl::StatusOr<SizingReport> sizeVariant(const target::Target &target, NetworkPlan &network, Asking mayAsk,
                                         bool equalColumns, const Variant &variant, const Costing &costing);

} // namespace wsc::kernels
