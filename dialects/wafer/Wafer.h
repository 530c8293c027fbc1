// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The wafer dialect: dialect class, attributes and operations. Include this one to use them.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/wafer/WaferDialect.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/wafer/WaferAttributes.h.inc"

#define GET_OP_CLASSES
#include "dialects/wafer/WaferOps.h.inc"
