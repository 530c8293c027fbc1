// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where state variables lie: decided once for a module, from the variables and the target alone, so that all its
// functions find them at the same place.
//
//            free for kernels          one column per variable, in order
//      ┌──────────────────────────┬──┬──┐
//      │                          │u │v │   a variable's plane: tiles of rows × slices of channels, one core each,
//      │  conv1 ► conv2 ► …  ═════╪═►│  │   at the end of the core's SRAM
//      │    ▲                     │  │  │
//      │    ╰═════════════════════╪══╪══│   streams reach them from the west and leave them both ways
//      └──────────────────────────┴──┴──┘
#pragma once

#include "compiler/kernels/network/Spec.h"

#include "runtime/target/Target.h"

#include "absl/status/status.h"

namespace wsc::kernels {

// Fills tileRows, channelsPerSlice, rows, col and address of all variables. Variables that have a column already (>= 0)
// keep what they have.
//  - Tiles: half as many as a core has input queues, so that any kernel may take the whole variable beside a second
//  tensor; more if a core's part would fill
//    more than a quarter of its SRAM.
//  - Rows in use: as many as most tile counts divide; the grid of every function of the module.
//  - Columns: the eastmost, in order. Address: the end of SRAM.
// Errors: a part that no core holds (bytes, limit), more variables than columns, and all that checkVariables finds.
absl::Status layOutVariables(const target::Target &target, std::vector<VariablePlan> &variables);

// Whether the variables can lie as they say: inside the mesh and SRAM, one column each, all on the same rows. Errors
// name variable, value and limit.
absl::Status checkVariables(const target::Target &target, const std::vector<VariablePlan> &variables);

// Columns from the west that no variable has.
int32_t freeColumns(const target::Target &target, const NetworkPlan &network);

} // namespace wsc::kernels
