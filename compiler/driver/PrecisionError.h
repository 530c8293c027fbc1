// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How far an executable of a narrow precision is from the same network in f32, measured.
#pragma once

#include "runtime/report/Report.h"

#include "absl/status/status.h"

#include <string>

namespace wsc::driver {

/// Runs `facts.samples` seeded samples (runtime/session/RandomInputs.h), one after another, through both files on the
/// emulator and fills facts.outputs: the float outputs of entry `main`, or of the first one. Where they cannot be
/// compared, facts.unknown says why. Errors: a file that cannot be opened or run.
absl::Status measureError(const std::string &narrowFile, const std::string &wideFile, int threads,
                          report::PrecisionFacts &facts);

} // namespace wsc::driver
