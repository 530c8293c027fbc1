// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants of the IR as immediates of a core, which are f64 numbers converted to the type they are used as: that gives
// all constants but whole numbers beyond 2^53 and NaNs with other bits than the one that arithmetic makes.
#pragma once

#include "runtime/format/Isa.h"

#include "mlir/IR/Attributes.h"

#include <cstdint>
#include <optional>

namespace wsc::spmd {

/// One element of `type`: its bits, and the immediate that is converted to them, if there is one.
struct Element {
  format::ElementType type;
  uint64_t bits = 0;
  std::optional<double> immediate;
};

/// A float, integer or i1 attribute as an element. `type` has the attribute's kind and width, with or without a sign;
/// numbers of another type (i1 among them) are converted exactly where they can be.
Element elementOf(mlir::Attribute constant, format::ElementType type);

} // namespace wsc::spmd
