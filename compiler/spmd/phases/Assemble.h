// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the phases of an entry to configurations: roles and routers, residents, addresses, bindings, steps.
#pragma once

#include "compiler/emit/SectionRecipe.h"
#include "compiler/spmd/phases/Constants.h"
#include "compiler/spmd/phases/Phase.h"
#include "compiler/spmd/phases/Tiles.h"
#include "runtime/format/Executable.h"

#include "absl/status/status.h"

#include <optional>
#include <utility>

namespace wsc::spmd {

struct GeneratedProgram {
  format::Executable executable; // its `sections` are not used; execution is "phased"
  std::vector<emit::SectionRecipe> sections;
};

/// An entry before assembly: its name, inputs and outputs (steps are filled in), and the phases to run one after
/// another.
struct EntryPhases {
  format::Entry entry;
  std::vector<Phase> phases;
  /// Phases that run on every tile of a grid, and the residents (of the first tile) that they alone name.
  struct OnTiles {
    Tiling tiling;
    size_t begin = 0, end = 0;
    size_t residentBegin = 0, residentEnd = 0;
  };
  std::optional<OnTiles> onTiles;
  /// Stretches of phases in the order in which they run, some of them several times: then tensors that several phases
  /// name keep their place all the time. None: all phases, once.
  std::vector<std::pair<size_t, size_t>> order;
};

/// The entries of a program, on one rectangle. They share `constants` (weights, tables, the residents of state
/// variables). Errors: SRAM, colours or queues do not suffice (ResourceExhausted, who needs what).
absl::StatusOr<GeneratedProgram> assemble(std::vector<EntryPhases> entries, std::vector<format::StateVariable> states,
                                          const Rectangle &rectangle, const target::Target &target,
                                          ConstantTable constants);

} // namespace wsc::spmd
