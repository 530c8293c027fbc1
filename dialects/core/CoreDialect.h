// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C++ declarations of the core dialect: the textual assembly of a wafer executable. CoreBase.td and CoreOps.td describe
// the constructs, Rationale.md the choices behind them.
#pragma once

#include "runtime/format/Isa.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"

#include <optional>

#include "dialects/core/CoreDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/core/CoreTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/core/CoreAttrs.h.inc"

#define GET_OP_CLASSES
#include "dialects/core/CoreOps.h.inc"

namespace wsc::core {

// The MLIR type of an element type (u8 is `ui8`, u16 `ui16`, bool `i1`, …) and back; nullopt for a type that has no
// element type.
mlir::Type toMlirType(mlir::MLIRContext *context, format::ElementType type);
std::optional<format::ElementType> toElementType(mlir::Type type);

// The MLIR types that have an element type, for messages.
constexpr llvm::StringLiteral kElementTypes = "f32, f16, bf16, f64, i64, i32, i16, i8, ui64, ui32, ui16, ui8, i1";

// Names of router ports in the order of format::Port.
constexpr llvm::StringLiteral kPortNames[] = {"north", "south", "east", "west", "ramp"};

} // namespace wsc::core
