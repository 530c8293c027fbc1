// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a placed and coloured network to everything an executable holds.
#pragma once

#include "compiler/kernels/RoleLattice.h"
#include "compiler/kernels/Routes.h"

namespace wsc::kernels {

// Programs and routes of `network` as one configuration; `sections` receives the constants it views;
// `counts`, if given, is added to.
absl::StatusOr<format::Configuration> generateConfiguration(const target::Target &target, const NetworkPlan &network,
                                                            SectionTable &sections, GenerationCounts *counts = nullptr);

// Finds lane routes, colours them and writes the colours into the plan. Errors name the saturated router and who holds
// it.
absl::Status routeNetwork(const target::Target &target, NetworkPlan &network);

} // namespace wsc::kernels
