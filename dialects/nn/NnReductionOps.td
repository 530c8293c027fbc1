// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions and the layers built on them that stay whole until kernels are formed.
#ifndef WSC_DIALECTS_NN_REDUCTION_OPS_TD
#define WSC_DIALECTS_NN_REDUCTION_OPS_TD

include "dialects/nn/NnAttributes.td"

def Nn_ReduceOp : Nn_InferredOp<"reduce"> {
  let summary = "reduction over axes";
  let description = [{
    `axes` are strictly increasing; with `keepdims` they stay with extent 1. Integers wrap; a mean takes floats only. Of
    no elements a sum is 0 and a product 1; the others need one.

        %y = nn.reduce mean %x axes [2, 3] {keepdims} : (tensor<1x8x7x7xf32>) -> tensor<1x8x1x1xf32>
  }];
  let arguments = (ins Nn_ReduceKind:$kind, Nn_NumberTensor:$input, DenseI64ArrayAttr:$axes, UnitAttr:$keepdims);
  let results = (outs Nn_NumberTensor:$result);
  let assemblyFormat = "`` $kind $input `axes` $axes attr-dict `:` functional-type(operands, results)";
}

def Nn_SoftmaxOp : Nn_PureOp<"softmax", [SameOperandsAndResultType]> {
  let summary = "softmax along one axis, or its logarithm";
  let description = [{
        %y = nn.softmax %x axis 1 {log} : tensor<1x10xf32>
  }];
  let arguments = (ins Nn_FloatTensor:$input, I64Attr:$axis, UnitAttr:$log);
  let results = (outs Nn_FloatTensor:$result);
  let assemblyFormat = "$input `axis` $axis attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Nn_BatchNormOp : Nn_PureOp<"batch_norm", [AllTypesMatch<["input", "result"]>, AllTypesMatch<["scale", "bias",
    "mean", "variance"]>]> {
  let summary = "normalisation over axis 1 with given statistics";
  let description = [{
    result = (input - mean) / sqrt(variance + epsilon) · scale + bias, the four parameters being [C].

        %y = nn.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-5 : f64} : tensor<1x4x8x8xf32>, tensor<4xf32>
  }];
  let arguments = (ins Nn_FloatTensor:$input, Nn_FloatTensor:$scale, Nn_FloatTensor:$bias, Nn_FloatTensor:$mean,
    Nn_FloatTensor:$variance, DefaultValuedAttr<F64Attr, "1.0e-5">:$epsilon);
  let results = (outs Nn_FloatTensor:$result);
  let assemblyFormat = [{$input `,` $scale `,` $bias `,` $mean `,` $variance attr-dict `:` type($input) `,`
      type($scale)}];
  let hasVerifier = 1;
}

#endif
