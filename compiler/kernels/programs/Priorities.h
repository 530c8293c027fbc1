// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Who goes first on a core.
//
// Taking in, and feeding a row: the cores of a row or of a lane receive together, so one that works meanwhile on
// something else holds up all of them. Then sending: the cores of a gather send one after another, so one that computes
// every other cycle holds up those after it. Computing has the slots that are left; it has FIFOs before and behind it.
// Where the target knows two levels, sending counts as computing: it must not take turns with taking in.
#pragma once

#include "runtime/target/Target.h"

namespace wsc::kernels {

struct Priorities {
  uint8_t compute = 0, send = 0, take = 0;
};
inline Priorities prioritiesOf(const target::Target &target) {
  return {0, uint8_t(target.issuePriorities > 2 ? 1 : 0), uint8_t(target.issuePriorities > 2 ? 2 : 1)};
}

} // namespace wsc::kernels
