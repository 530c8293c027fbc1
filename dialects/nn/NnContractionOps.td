// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions and windows: convolution, matrix product, pooling.
#ifndef WSC_DIALECTS_NN_CONTRACTION_OPS_TD
#define WSC_DIALECTS_NN_CONTRACTION_OPS_TD

include "dialects/nn/NnAttributes.td"

def Nn_ConvOp : Nn_InferredOp<"conv"> {
  let summary = "two-dimensional convolution";
  let description = [{
    Input [N, C, H, W], weight [O, C/groups, kh, kw], optional bias [O]; cross-correlation with zero padding
    `pads` = [top, left, bottom, right]. Output height is
    floor((H + top + bottom - ((kh - 1)·dilation + 1)) / stride) + 1, width alike. Negative padding takes rows and columns away: with pads = [1, -3, 1, 1] the
    windows begin at column 3.

        %y = nn.conv %x, %w bias %b strides [2, 2] pads [1, 1, 1, 1]
            : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>) -> tensor<1x4x4x4xf32>
  }];
  let arguments = (ins Nn_FloatTensor:$input, Nn_FloatTensor:$weight, Optional<Nn_FloatTensor>:$bias,
    DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$strides,
    DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$dilations,
    DefaultValuedAttr<DenseI64ArrayAttr, "{0, 0, 0, 0}">:$pads,
    DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs Nn_FloatTensor:$result);
  let assemblyFormat = [{$input `,` $weight (`bias` $bias^)? (`strides` $strides^)? (`dilations` $dilations^)?
    (`pads` $pads^)? (`groups` $groups^)? attr-dict `:` functional-type(operands, results)}];
}

def Nn_MatmulOp : Nn_InferredOp<"matmul"> {
  let summary = "matrix product over the last two dimensions";
  let description = [{
    lhs [.., M, K] times rhs [.., K, N], or rhs [.., N, K] with `transpose_rhs`; leading dimensions broadcast as
    numpy's do; optional bias [N] is added to every row.

        %y = nn.matmul %x, %w bias %b {transpose_rhs}
            : (tensor<1x784xf32>, tensor<10x784xf32>, tensor<10xf32>) -> tensor<1x10xf32>
  }];
  let arguments = (ins Nn_Tensor:$lhs, Nn_Tensor:$rhs, Optional<Nn_Tensor>:$bias, UnitAttr:$transpose_rhs);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$lhs `,` $rhs (`bias` $bias^)? attr-dict `:` functional-type(operands, results)";
}

def Nn_PoolOp : Nn_InferredOp<"pool"> {
  let summary = "maximum or average over a sliding window";
  let description = [{
    Input [N, C, H, W]; `kernel` = [kh, kw]; sizes as in `nn.conv`. Padding never wins a maximum. An average divides by the number
    of elements inside the input, or by kh·kw with `count_include_pad`. Padding is smaller than the (dilated) kernel.

        %y = nn.pool max %x kernel [3, 3] strides [2, 2] pads [1, 1, 1, 1]
            : (tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32>
  }];
  let arguments = (ins Nn_PoolKind:$kind, Nn_Tensor:$input, DenseI64ArrayAttr:$kernel,
    DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$strides,
    DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$dilations,
    DefaultValuedAttr<DenseI64ArrayAttr, "{0, 0, 0, 0}">:$pads,
    UnitAttr:$count_include_pad);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = [{`` $kind $input `kernel` $kernel (`strides` $strides^)? (`dilations` $dilations^)? (`pads` $pads^)?
    attr-dict `:` functional-type(operands, results)}];
}

#endif
