// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What emitNest asks of a local nest: as many places as operands, strides as iterators, and types that fit together.
#pragma once

#include "compiler/spmd/local/LocalNest.h"

namespace wsc::spmd {

/// InvalidArgument, naming the nest. `reduced`: of finishNest, else null.
absl::Status checkLocal(const Code &code, const LocalNest &local, const LocalOperand *reduced);

} // namespace wsc::spmd
