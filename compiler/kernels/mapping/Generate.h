// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a placed and coloured network to everything an executable holds.
#pragma once

#include "compiler/kernels/network/PosedProblem.h"
#include "compiler/kernels/roles/RoleLattice.h"
#include "compiler/kernels/routes/Routes.h"

namespace wsc::kernels {

// Programs and routes of `network` as one configuration; `sections` receives the constants it views;
// `counts`, if given, is added to.
absl::StatusOr<format::Configuration> generateConfiguration(const target::Target &target, const NetworkPlan &network,
                                                            SectionTable &sections, GenerationCounts *counts = nullptr);

// Chooses where lanes turn (ChooseTurns.h), finds their routes, colours them and writes turns and colours into the
// plan. If colours do not suffice for that, lanes turn in their consumers' columns only. `posed`, if given, receives
// the problems solved, and the routes as a problem for general routers. Errors: pinned turns that cannot be kept; the
// saturated router and who holds it.
absl::Status routeNetwork(const target::Target &target, NetworkPlan &network,
                          std::vector<PosedProblem> *posed = nullptr);
// The turns that routeNetwork() chooses, without colours, which take longer: only whether they suffice is found out.
// Errors: where routeNetwork() has one.
absl::Status turnNetwork(const target::Target &target, NetworkPlan &network);

} // namespace wsc::kernels
