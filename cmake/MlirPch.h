// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The MLIR headers nearly every file of the compiler half includes; precompiled once per library.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Pass/Pass.h"
