// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface of layers that become nests, and its registration for the layers of nn.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/OpDefinition.h"

#include "passes/spmd/NestLowering.h.inc"

namespace wsc::spmd {

/// Attaches NestLowering to every layer of nn that computes or moves elements, and loads what the nests are made of.
void registerNestLowerings(mlir::DialectRegistry &registry);

// One per family; each is called when the nn dialect is loaded.
void attachElementwiseLowerings(mlir::MLIRContext &context);
void attachContractionLowerings(mlir::MLIRContext &context);
void attachPoolingLowerings(mlir::MLIRContext &context);
void attachReductionLowerings(mlir::MLIRContext &context);
void attachSoftmaxLowerings(mlir::MLIRContext &context);
void attachNormalisationLowerings(mlir::MLIRContext &context);
void attachMovementLowerings(mlir::MLIRContext &context);
void attachGatherLowerings(mlir::MLIRContext &context);

} // namespace wsc::spmd
