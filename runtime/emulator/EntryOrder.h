// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The order in which the steps of an entry are done: each after those that it names, else as they are listed.
#pragma once

#include "runtime/format/Executable.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <vector>

namespace wsc::emulator {

// Indices of the entry's steps. Error: they wait for each other in a circle.
absl::StatusOr<std::vector<int32_t>> orderedSteps(const format::Entry &entry);

} // namespace wsc::emulator
