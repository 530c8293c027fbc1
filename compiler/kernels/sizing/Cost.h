// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a mapped kernel costs, read off the very programs generation would write: no second model to drift away from the
// first.
#pragma once

#include "compiler/kernels/programs/KernelRows.h"

namespace wsc::kernels {

struct KernelCost {
  // Between samples, at least: issue slots of its busiest core, or words of its busiest lane.
  int64_t intervalCycles = 0;
  // What it is expected to take, with what cores and lanes wait for each other.
  int64_t predictedCycles = 0;
  // The same with what the cores of a row wait for their input because results leave over the row's links, too. A
  // choice among shapes that only just fit the mesh would pay for it everywhere; where there is space, it is avoided
  // (Repair.h).
  int64_t contendedCycles = 0;
  int64_t feedCycles = 0;    // issue slots of a core that feeds a row, without its multiply-adds
  int64_t latencyCycles = 0; // from its first input word to its last output word, uncontended
  int64_t sramBytes = 0;     // on its fullest core
};

// Cost of kernel `index` under the mapping it has in `network`; looks at the first, a middle and the last group. An
// error says why the mapping cannot be (a core's SRAM, too many queues).
absl::StatusOr<KernelCost> kernelCost(const target::Target &target, const NetworkPlan &network, int32_t index);

} // namespace wsc::kernels
