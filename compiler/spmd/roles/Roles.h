// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From one Code for all cores to roles and routers (I4): rows and columns are cut where guards begin and end, and by
// parity where a guard asks for it; each product of a row class and a column class is a role. Routers are cut likewise,
// family by family, by who sends and who takes. Cost: classes times instructions, whatever the number of cores.
#pragma once

#include "compiler/spmd/collectives/Family.h"
#include "runtime/target/Target.h"

#include "absl/status/statusor.h"

#include <array>

namespace wsc::spmd {

/// The colour of each family: the target's usable ones in order. Errors: the target has too few (ResourceExhausted).
absl::StatusOr<std::array<uint8_t, kNumFamilies>> familyColours(const target::Target &target);

/// Fills roles, routers and nets of `configuration`; the rectangle's origin on the mesh is (0, 0). Buffers that a role
/// does not name are left out of it. `kernel`: index for Role::kernel. Errors: a core needs more queues than the target
/// has (ResourceExhausted).
absl::Status makeRoles(const target::Target &target, const Rectangle &rectangle, const Code &code, int32_t kernel,
                       format::Configuration &configuration);

/// Most output queues that some core of the code needs at once.
int outputQueues(const Code &code);

} // namespace wsc::spmd
