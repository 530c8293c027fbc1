// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The independent verifier of I3 and I10: judges an Executable against its embedded target. Shares no code with
// placement, routing, allocation or the engines.
#pragma once

#include "runtime/format/Executable.h"

#include "absl/status/status.h"

#include <string>
#include <vector>

namespace wsc::format {

struct Violation {
  std::string rule;    // short stable name of the rule, e.g. "sram-overflow"
  std::string message; // what, where, value, limit
};

// All violations found, at most `limit`. Empty: the executable respects every hardware limit and is determinate.
std::vector<Violation> findViolations(const Executable &executable, size_t limit = 20);

// The first violations as one error, or OK.
absl::Status verifyExecutable(const Executable &executable);

} // namespace wsc::format
