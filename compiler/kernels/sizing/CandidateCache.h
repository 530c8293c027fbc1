// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Candidates of kernels that were costed before. Costing is most of the time of sizing, and what changes between two
// variants of a mapping changes it for few kernels.
//
// What the candidates of a kernel follow from is kept beside them: the grid, the layouts of the streams that it takes
// and makes, and the mappings of all kernels at these streams, as they are when candidatesOf() is called; and what that
// leaves behind.
#pragma once

#include "compiler/kernels/sizing/Candidates.h"

#include <list>
#include <mutex>
#include <vector>

namespace wsc::kernels {

class CandidateCache {
public:
  // `threads`: of the host, on which kernels may be costed side by side; 0: all.
  explicit CandidateCache(int threads = 1) : numThreads(threads) {}
  int threads() const { return numThreads; }

  // As candidatesOf(target, network, index, wanted), for one target and networks that differ in grid, layouts and
  // mappings only. May be called from several threads.
  absl::StatusOr<Candidates> of(const target::Target &target, NetworkPlan &network, int32_t index,
                                const Wanted &wanted);

private:
  // What of a network matters to a kernel.
  struct Surroundings {
    RowGrid grid;
    std::vector<StreamLayout> layouts;
    std::vector<Mapping> mappings;
    Wanted wanted;
    int32_t guest = -1, host = -1;
    bool operator==(const Surroundings &) const = default;
  };
  struct Entry {
    Surroundings before;
    std::vector<StreamLayout> layoutsAfter;
    Mapping mappingAfter;
    absl::StatusOr<Candidates> candidates;
  };

  int numThreads;
  std::mutex mutex;
  std::vector<std::list<Entry>> entries; // by kernel; entries stay where they are
};

} // namespace wsc::kernels
