// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface through which a layer becomes nests. Layers get it as external models, one file per family
// (Lower*.cpp): a new layer needs an entry there and nothing else.
#ifndef WSC_PASSES_SPMD_NEST_LOWERING_TD
#define WSC_PASSES_SPMD_NEST_LOWERING_TD

include "mlir/IR/OpBase.td"

def NestLowering : OpInterface<"NestLowering"> {
  let cppNamespace = "::wsc::spmd";
  let description = [{ A layer with one result that is computed by a sequence of nests and remaps. }];
  let methods = [InterfaceMethod<
    "Builds nests and remaps in front of the operation that compute its result, and returns that; a diagnostic and "
        "failure where the layer "
    "has no such form.",
    "::mlir::FailureOr<::mlir::Value>", "buildNests", (ins "::mlir::OpBuilder &":$builder)>];
}

#endif
