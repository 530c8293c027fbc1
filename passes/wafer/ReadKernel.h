// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the layers in a wafer.kernel's region into what code generation is told.
#pragma once

#include "compiler/kernels/network/Spec.h"
#include "dialects/wafer/Wafer.h"

namespace wsc::wafer {

// `streams` are the stream numbers of the kernel's inputs. Fails with a diagnostic on what code generation has no form
// for.
mlir::FailureOr<kernels::KernelSpec> readKernel(KernelOp op, llvm::ArrayRef<int32_t> streams);

// The opcode that computes an nn elementwise kind on f32, if there is one.
std::optional<format::Opcode> opcodeOf(mlir::Operation *op);

// Whether `op` is an elementwise layer with a kernel form.
bool isElementwise(mlir::Operation *op);

} // namespace wsc::wafer
