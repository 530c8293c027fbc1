// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From the roles of a variable's cores to lattices and the bindings that say which elements lie where.
#pragma once

#include "compiler/kernels/KernelRows.h"

namespace wsc::kernels {

// Whether kernel `index` is the first of its variable in the network: its roles hold what all of them do.
bool isFirstOnVariable(const NetworkPlan &network, int32_t index);

// Merges the rows of one variable, given with the elements each holds (channels, rows), and appends roles and state
// bindings.
void mergeStateRoles(const VariablePlan &variable, std::vector<std::pair<Region, format::Role>> rows,
                     format::Configuration &configuration);

// The variables as the executable lists them. `sections` receives their initial elements.
std::vector<format::StateVariable> stateVariables(const std::vector<VariablePlan> &variables, SectionTable &sections);

} // namespace wsc::kernels
