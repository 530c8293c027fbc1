// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The name of a layer, for people: that of its location.
#pragma once

#include "mlir/IR/Location.h"

#include <string>

namespace wsc::spmd {

/// The names in a location, joined by '+' where several layers were fused; "" if there is none.
std::string layerName(mlir::Location loc);

} // namespace wsc::spmd
