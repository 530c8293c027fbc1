// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions and windows: convolution, matrix product, pooling.
#ifndef WSC_DIALECTS_NN_CONTRACTION_OPS_TD
#define WSC_DIALECTS_NN_CONTRACTION_OPS_TD

include "dialects/nn/NnAttributes.td"

def Nn_ConvOp : Nn_InferredOp<"conv"> {
  let summary = "convolution over any number of spatial dimensions";
  let description = [{
    Input [N, C, spatial…], weight [O, C/groups, kernel…], optional bias [O], one element type of floats or integers;
    cross-correlation with zero padding. `pads` holds what comes before each spatial dimension, then what comes behind
    each: [top, left, bottom, right] for images. Output extents are
    floor((extent + before + after - ((kernel - 1)·dilation + 1)) / stride) + 1. Negative padding takes rows and columns
    away: with pads = [1, -3, 1, 1] the windows begin at column 3. The defaults are those of two spatial dimensions;
    for others all attributes are given.

        %y = nn.conv %x, %w bias %b strides [2, 2] pads [1, 1, 1, 1]
            : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x4x4xf32>
  }];
  let arguments = (ins Nn_NumberTensor:$input, Nn_NumberTensor:$weight, Optional<Nn_NumberTensor>:$bias,
    DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$strides,
    DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$dilations,
    DefaultValuedAttr<DenseI64ArrayAttr, "{0, 0, 0, 0}">:$pads,
    DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs Nn_NumberTensor:$result);
  let assemblyFormat = [{$input `,` $weight (`bias` $bias^)? (`strides` $strides^)? (`dilations` $dilations^)?
    (`pads` $pads^)? (`groups` $groups^)? attr-dict `:` functional-type(operands, results)}];
}

def Nn_MatmulOp : Nn_InferredOp<"matmul"> {
  let summary = "matrix product over the last two dimensions";
  let description = [{
    lhs [.., M, K] times rhs [.., K, N], or rhs [.., N, K] with `transpose_rhs`; leading dimensions broadcast as
    numpy's do; optional bias [N] is added to every row. One element type of floats or integers; without inner elements
    (K = 0) the products are 0.

        %y = nn.matmul %x, %w bias %b {transpose_rhs}
            : (tensor<1x784xf32>, tensor<10x784xf32>, tensor<10xf32>) -> tensor<1x10xf32>
  }];
  let arguments = (ins Nn_NumberTensor:$lhs, Nn_NumberTensor:$rhs, Optional<Nn_NumberTensor>:$bias,
      UnitAttr:$transpose_rhs);
  let results = (outs Nn_NumberTensor:$result);
  let assemblyFormat = "$lhs `,` $rhs (`bias` $bias^)? attr-dict `:` functional-type(operands, results)";
}

def Nn_PoolOp : Nn_InferredOp<"pool"> {
  let summary = "maximum, average or sum over a sliding window";
  let description = [{
    Input [N, C, spatial…]; `kernel` has an extent per spatial dimension; sizes and attributes as in `nn.conv`. Padding
    never wins a maximum and adds nothing to a sum. An average (floats only) divides by the number of elements inside
    the input, or by the kernel's with `count_include_pad`. Padding is smaller than the (dilated) kernel.

        %y = nn.pool max %x kernel [3, 3] strides [2, 2] pads [1, 1, 1, 1]
            : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
  }];
  let arguments = (ins Nn_PoolKind:$kind, Nn_NumberTensor:$input, DenseI64ArrayAttr:$kernel,
    DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$strides,
    DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$dilations,
    DefaultValuedAttr<DenseI64ArrayAttr, "{0, 0, 0, 0}">:$pads,
    UnitAttr:$count_include_pad);
  let results = (outs Nn_NumberTensor:$result);
  let assemblyFormat = [{`` $kind $input `kernel` $kernel (`strides` $strides^)? (`dilations` $dilations^)? (`pads`
      $pads^)?
    attr-dict `:` functional-type(operands, results)}];
}

#endif
