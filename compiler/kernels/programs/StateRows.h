// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the cores of state variables hold.
#pragma once

#include "compiler/kernels/programs/KernelRows.h"

namespace wsc::kernels {

// Whether kernel `index` is the first of its variable in the network: its roles hold what all of them do.
bool isFirstOnVariable(const NetworkPlan &network, int32_t index);

// Appends the state bindings of role `roleIndex`, whose cores hold `held` (channels × rows) of the variable each.
void bindState(const VariablePlan &variable, const Region &held, int32_t roleIndex,
               format::Configuration &configuration);

// The variables as the executable lists them. `sections` receives their initial elements.
std::vector<format::StateVariable> stateVariables(const std::vector<VariablePlan> &variables, SectionTable &sections);

} // namespace wsc::kernels
