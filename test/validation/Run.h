// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs validation programs for their time.
#pragma once

#include "test/validation/Published.h"
#include "test/validation/Workloads.h"

namespace wsc::validation {

struct Timed {
  int64_t cycles = 0; // of the engine: latency or interval, as the measure asks
  double value = 0;   // with what the measure adds, in the asked unit
  std::string engine; // "cycle" or "analytic"
};

// Units: cycles, us, ns.
absl::StatusOr<Timed> timeProgram(const Program &program, const std::string &unit);

// A row, reproduced or not.
struct Reproduction {
  Timed timed;
  Program program;
  double error = 0; // relative: ours / published − 1
  bool within = false;
  bool fitted = false; // constants of the target were fitted to this row (its description names it)
};
absl::StatusOr<Reproduction> reproduce(const PublishedRow &row);

} // namespace wsc::validation
