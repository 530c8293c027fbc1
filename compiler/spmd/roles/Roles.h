// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From one Code for all cores to roles and routers (I4): rows and columns are cut where guards begin and end, by parity
// and by sub-index where a guard asks for it; each product of a row class and a column class is a role, one for all
// groups of cores that do the same. Routers are cut likewise, family by family, by who sends and who takes and where
// streams begin and end. Cost: classes times instructions, plus guards times the length of the axes.
#pragma once

#include "compiler/spmd/collectives/Family.h"
#include "runtime/target/Target.h"

#include "absl/status/statusor.h"

#include <vector>

namespace wsc::spmd {

/// The colour of each family of the code's palette: the target's usable ones in order. Errors: the target has too few
/// (ResourceExhausted).
absl::StatusOr<std::vector<uint8_t>> familyColours(const target::Target &target, const Code &code);

/// Fills roles, routers and nets of `configuration`; the rectangle's origin on the mesh is (0, 0). Buffers that a role
/// does not name are left out of it. `kernel`: index for Role::kernel. Errors: colours do not suffice, a core needs
/// more queues than the target has, groups of cores make too many classes (all ResourceExhausted).
absl::Status makeRoles(const target::Target &target, const Rectangle &rectangle, const Code &code, int32_t kernel,
                       format::Configuration &configuration);

/// What a code asks of the fabric: the most input and output queues on one core of the rectangle, and colours.
struct RouteNeeds {
  int inputs = 0, outputs = 0, colours = 0;
  /// The target has as many.
  bool fit(const target::Target &target) const;
};
RouteNeeds routeNeeds(const Code &code, const Rectangle &rectangle);

} // namespace wsc::spmd
