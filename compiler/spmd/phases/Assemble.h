// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the phases of an entry to configurations: roles and routers, residents, addresses, bindings, steps.
#pragma once

#include "compiler/emit/SectionRecipe.h"
#include "compiler/spmd/phases/Constants.h"
#include "compiler/spmd/phases/Phase.h"
#include "runtime/format/Executable.h"

#include "absl/status/status.h"

namespace wsc::spmd {

struct GeneratedProgram {
  format::Executable executable; // its `sections` are not used; execution is "phased"
  std::vector<emit::SectionRecipe> sections;
};

/// Appends the phases, run one after another, and `entry` (name, inputs and outputs given; steps are filled in) to `program`.
/// Errors: SRAM, colours or queues do not suffice (ResourceExhausted, who needs what); nothing is appended then.
absl::Status assembleEntry(format::Entry entry, const Rectangle &rectangle, const target::Target &target,
                           std::vector<Phase> phases, ConstantTable constants, GeneratedProgram &program);

} // namespace wsc::spmd
