// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `linalg.generic` and the upstream scalar dialects lack for a network of nests: movement of elements between
// tensors, and the scalar functions that are opcodes of a core but no operations of arith or math.
#ifndef WSC_DIALECTS_WAFER_NEST_OPS_TD
#define WSC_DIALECTS_WAFER_NEST_OPS_TD

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"

def Wafer_PiecesAttr : TypedArrayAttrBase<Wafer_PieceAttr, "pieces of a remap">;

def Wafer_RemapOp : Wafer_Op<"remap", [Pure]> {
  let summary = "elements of the result are elements of other tensors, at places known at compile time";
  let description = [{
    Reshape, transpose, slice, pad, concatenation and repetition are all remaps. No element of the result is in two
    pieces; those in none are `fill`, which may be left out only if there are none. Within a piece, the strides of the
    result nest: each exceeds what all smaller ones reach together.

        %y = wafer.remap %a, %b [<over [2, 3] from 0 at 0 by [1, 2] to 0 by [4, 1]>, <over [2] from 1 at 0 by [1] to 3
        by [4]>]
            : (tensor<3x2xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
        %p = wafer.remap %a [<over [3, 2] from 0 at 0 by [2, 1] to 1 by [4, 1]>] fill 0.0 : f32 : (tensor<3x2xf32>) ->
        tensor<3x4xf32>
  }];
  let arguments = (ins Variadic<Wafer_Tensor>:$sources, Wafer_PiecesAttr:$pieces,
      OptionalAttr<TypedAttrInterface>:$fill);
  let results = (outs Wafer_Tensor:$result);
  let assemblyFormat = "($sources^)? custom<Pieces>($pieces) (`fill` $fill^)? attr-dict `:` functional-type($sources, "
      "$result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    auto getPieceRange() { return getPieces().getAsRange<PieceAttr>(); }
    /// Whether every element of the result is in a piece.
    bool isCovered();
  }];
}

class Wafer_ScalarOp<string mnemonic, Type type> : Wafer_Op<mnemonic, [Pure, SameOperandsAndResultType]> {
  let arguments = (ins type:$input);
  let results = (outs type:$result);
  let assemblyFormat = "$input attr-dict `:` type($result)";
}

def Wafer_SigmoidOp : Wafer_ScalarOp<"sigmoid", AnyFloat> {
  let summary = "1 / (1 + e^-x) of a scalar";
  let description = [{
        %y = wafer.sigmoid %x : f32
  }];
}

def Wafer_SignOp : Wafer_ScalarOp<"sign", AnyTypeOf<[AnyFloat, AnySignlessInteger]>> {
  let summary = "-1, 0 or 1 by the sign of a scalar; integers are signed";
  let description = [{
    A NaN stays a NaN.

        %y = wafer.sign %x : f32
  }];
}

#endif
