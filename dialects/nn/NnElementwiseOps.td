// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise operations, with numpy broadcasting where they take more than one operand.
#ifndef WSC_DIALECTS_NN_ELEMENTWISE_OPS_TD
#define WSC_DIALECTS_NN_ELEMENTWISE_OPS_TD

include "dialects/nn/NnAttributes.td"

def Nn_UnaryOp : Nn_PureOp<"unary", [SameOperandsAndResultType, Elementwise]> {
  let summary = "elementwise function of one tensor";
  let description = [{
    `round` rounds halves to even; `rsqrt` is 1/sqrt; `not` takes i1 only; relu, neg, abs and sign also take integers.

        %y = nn.unary relu %x : tensor<1x10xf32>
  }];
  let arguments = (ins Nn_UnaryKind:$kind, Nn_NumberTensor:$input);
  let results = (outs Nn_NumberTensor:$result);
  let assemblyFormat = "`` $kind $input attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Nn_BinaryOp : Nn_InferredOp<"binary"> {
  let summary = "elementwise function of two tensors with broadcasting";
  let description = [{
    Both element types are equal; the comparisons give i1. Integers wrap; their division truncates, and division by zero
    and its remainder give 0. `mod` has the sign of the divisor, `rem` that of the dividend. `and`, `or`, `xor` take
    integers, bit by bit; `shift_left` and `shift_right` too, except i1: counts outside of [0, width) shift everything
    out, and `shift_right` copies the sign of signless integers. i1 takes `equal`, `and`, `or`, `xor` only.

        %y = nn.binary add %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  }];
  let arguments = (ins Nn_BinaryKind:$kind, Nn_NumberTensor:$lhs, Nn_NumberTensor:$rhs);
  let results = (outs Nn_NumberTensor:$result);
  let assemblyFormat = "`` $kind $lhs `,` $rhs attr-dict `:` functional-type(operands, results)";
}

def Nn_SelectOp : Nn_InferredOp<"select"> {
  let summary = "elementwise choice by an i1 tensor, with broadcasting";
  let description = [{
        %y = nn.select %c, %a, %b : (tensor<3xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  }];
  let arguments = (ins Nn_BoolTensor:$condition, Nn_Tensor:$true_value, Nn_Tensor:$false_value);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$condition `,` $true_value `,` $false_value attr-dict `:` functional-type(operands, results)";
}

def Nn_BitcastOp : Nn_PureOp<"bitcast", [SameOperandsAndResultShape, Elementwise]> {
  let summary = "the same bits as another element type of the same width";
  let description = [{
    i1 takes no part: its width in memory is a byte. A storage type narrower than a byte has the width of the byte type
    it is kept in: ui4, ui2 and f4E2M1FN are the low bits of ui8, i4 and i2 values of i8. Bytes that are no element of
    the storage type have no meaning there.

        %y = nn.bitcast %x : tensor<4xf32> -> tensor<4xi32>
        %z = nn.bitcast %w : tensor<4xf8E4M3FN> -> tensor<4xui8>
  }];
  let arguments = (ins Nn_Tensor:$input);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Nn_CastOp : Nn_PureOp<"cast", [SameOperandsAndResultShape, Elementwise]> {
  let summary = "conversion of the element type";
  let description = [{
    Float to integer truncates and saturates, NaN gives 0; integer to integer wraps; float to a narrower float and
    integer to float round to nearest even; anything to i1 is "differs from zero".

        %y = nn.cast %x : tensor<4xi64> -> tensor<4xf32>
  }];
  let arguments = (ins Nn_NumberTensor:$input);
  let results = (outs Nn_NumberTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasFolder = 1;
}

#endif
