// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between wafer IR and the plan code generation works on: the one place that knows how attributes spell a plan.
#pragma once

#include "compiler/kernels/mapping/MapNetwork.h"
#include "dialects/wafer/Wafer.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace wsc::wafer {

/// Of a function: what looking for other mappings came to. Other mappings tried, whether one of them was chosen, and
/// the interval of what was chosen by the analytic engine (0: it was not timed).
inline constexpr llvm::StringLiteral kSearchAttrName = "wafer.search";

struct NetworkIR {
  kernels::NetworkPlan plan;
  std::vector<KernelOp> kernelOps;          // as plan.kernels
  std::vector<mlir::Operation *> streamOps; // as plan.streams: the wafer.enter or wafer.kernel behind each
};

// How far a function's attributes have to be filled in.
enum class Phase { Kernels, Sized, Placed, Routed };

// Reads a function of wafer ops; attributes are read as far as `phase` says and must be there. Fails with a diagnostic.
mlir::FailureOr<NetworkIR> readNetwork(mlir::func::FuncOp func, Phase phase);

// Fails with a diagnostic unless all variables of the module have their places.
mlir::LogicalResult requirePlaces(mlir::func::FuncOp func, const kernels::NetworkPlan &plan);

// Writes what the phase decides back: mapping, layout and predictions; rectangles; turns and colours.
void writeSizes(mlir::func::FuncOp func, NetworkIR &network);
// A kernel of `streams` whose body `make(builder, arguments)` yields its result of `type`.
KernelOp createKernel(mlir::OpBuilder &builder, mlir::Location loc, mlir::ValueRange streams, mlir::Type type,
                      const llvm::Twine &name,
                      llvm::function_ref<mlir::Value(mlir::OpBuilder &, mlir::ValueRange)> make);
// A kernel that hands `stream` on unchanged.
KernelOp createPass(mlir::OpBuilder &builder, mlir::Value stream, const llvm::Twine &name);
// Puts a kernel that only passes words on between a stream and one of its consumers.
void insertPasses(NetworkIR &network, llvm::ArrayRef<kernels::PassRequest> requests);
void writePlaces(NetworkIR &network);
void writeRoutes(NetworkIR &network);

// f32, f16, … as the executable's element type; nothing for types that do not exist there.
std::optional<format::ElementType> elementTypeOf(mlir::Type type);

} // namespace wsc::wafer
