// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element types of IR as those of a core.
#pragma once

#include "runtime/format/Isa.h"

#include "mlir/IR/BuiltinTypes.h"

#include <optional>

namespace wsc::spmd {

/// Signless integers have a sign; `isUnsigned` says that a signless one has none. i1 is Bool. Nothing for what no core
/// computes with (i4, f8 …).
std::optional<format::ElementType> elementTypeOf(mlir::Type type, bool isUnsigned = false);

} // namespace wsc::spmd
