// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Executables of the general mapping in memory: what generation makes, with the bytes of its sections.
#pragma once

#include "compiler/spmd/phases/Generate.h"

namespace wsc::test {

struct PhasesProgram {
  format::Executable executable;
  std::vector<std::shared_ptr<const std::vector<std::byte>>> bytes; // of the sections
};

/// Sections become views of their recipes' bytes.
absl::StatusOr<PhasesProgram> inMemory(spmd::GeneratedProgram program);

} // namespace wsc::test
