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
  let arguments = (ins Nn_UnaryKind:$kind, Nn_Tensor:$input);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "`` $kind $input attr-dict `:` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Nn_BinaryOp : Nn_InferredOp<"binary"> {
  let summary = "elementwise function of two tensors with broadcasting";
  let description = [{
    Both element types are equal; the comparisons give i1. Integer division truncates. `mod` has the sign of the divisor,
    `rem` that of the dividend. `and`, `or`, `xor` take integers, bit by bit.

        %y = nn.binary add %a, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  }];
  let arguments = (ins Nn_BinaryKind:$kind, Nn_Tensor:$lhs, Nn_Tensor:$rhs);
  let results = (outs Nn_Tensor:$result);
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

def Nn_CastOp : Nn_PureOp<"cast", [SameOperandsAndResultShape, Elementwise]> {
  let summary = "conversion of the element type";
  let description = [{
    Float to integer truncates; float to a narrower float rounds to nearest even; anything to i1 is "differs from zero".

        %y = nn.cast %x : tensor<4xi64> -> tensor<4xf32>
  }];
  let arguments = (ins Nn_Tensor:$input);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasFolder = 1;
}

#endif
