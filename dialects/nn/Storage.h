// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Storage types: element types that tensors are kept in and nothing is computed with. Each has a byte type that holds
// one element per byte: floats of 8 and 4 bits (f8E4M3FN, f8E4M3FNUZ, f8E5M2, f8E5M2FNUZ, f8E8M0FNU, f4E2M1FN) as
// their bits and ui4, ui2 as their value in ui8; i4, i2 as their value in i8.
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace wsc::nn {

/// The byte type of a storage type; null for a type that is computed with.
mlir::Type byteTypeOf(mlir::Type element);
inline bool isStorage(mlir::Type element) { return static_cast<bool>(byteTypeOf(element)); }

/// The same elements of a tensor of a storage type as bytes. `elements` is a DenseElementsAttr or #nn.weights.
mlir::TypedAttr storedAsBytes(mlir::TypedAttr elements);
/// One element, a float or integer attribute of a storage type, as a byte.
mlir::TypedAttr elementAsByte(mlir::TypedAttr element);

} // namespace wsc::nn
