// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The analytic time of a mapping that is still being chosen.
#pragma once

#include "compiler/kernels/network/Spec.h"
#include "runtime/target/Target.h"

#include "absl/status/statusor.h"

namespace wsc::driver {

// Cycles between samples of a routed network on a mesh without defects. Errors: what code generation, resolving its
// streams or the liveness of its programs say.
absl::StatusOr<int64_t> emulatedInterval(const target::Target &mesh, const kernels::NetworkPlan &network);

} // namespace wsc::driver
