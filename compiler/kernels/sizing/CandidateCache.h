// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Candidates of kernels that were costed before. Costing is most of the time of sizing; a network has many kernels
// alike, and what changes between two variants of a mapping, or when kernels are put in or cut, changes it for few.
#pragma once

#include "compiler/kernels/sizing/Candidates.h"

#include <map>
#include <mutex>
#include <vector>

namespace wsc::kernels {

class CandidateCache {
public:
  // As candidatesOf(target, network, index, wanted), for one target and any network. May be called from several
  // threads.
  absl::StatusOr<Candidates> of(const target::Target &target, NetworkPlan &network, int32_t index,
                                const Wanted &wanted);
  size_t size() const { return entries.size(); } // while nobody else uses it

private:
  struct Entry {
    Candidates candidates;
    Mapping mappingAfter;
    std::vector<StreamLayout> layoutsAfter; // of streamsAt()
  };

  std::mutex mutex;
  std::map<std::vector<int64_t>, Entry> entries; // by surroundingsOf()
};

} // namespace wsc::kernels
