// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Movement: operations that place elements elsewhere and compute nothing.
#ifndef WSC_DIALECTS_NN_MOVEMENT_OPS_TD
#define WSC_DIALECTS_NN_MOVEMENT_OPS_TD

include "dialects/nn/NnAttributes.td"

def Nn_ReshapeOp : Nn_PureOp<"reshape", [SameOperandsAndResultElementType]> {
  let summary = "same elements in row-major order, other shape";
  let description = [{
        %y = nn.reshape %x : tensor<1x4x2x2xf32> -> tensor<1x16xf32>
  }];
  let arguments = (ins Nn_Tensor:$input);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Nn_TransposeOp : Nn_InferredOp<"transpose"> {
  let summary = "permutation of dimensions: result dimension i is input dimension permutation[i]";
  let description = [{
        %y = nn.transpose %x permutation [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  }];
  let arguments = (ins Nn_Tensor:$input, DenseI64ArrayAttr:$permutation);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input `permutation` $permutation attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Nn_SliceOp : Nn_InferredOp<"slice"> {
  let summary = "strided box of a tensor";
  let description = [{
    Element i along dimension d is input element starts[d] + i·steps[d]; a negative step walks backwards.

        %y = nn.slice %x starts [0, 3] sizes [2, 4] steps [1, -1] : (tensor<2x4xf32>) -> tensor<2x4xf32>
  }];
  let arguments = (ins Nn_Tensor:$input, DenseI64ArrayAttr:$starts, DenseI64ArrayAttr:$sizes, DenseI64ArrayAttr:$steps);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input `starts` $starts `sizes` $sizes `steps` $steps attr-dict `:` functional-type(operands, "
      "results)";
  let hasFolder = 1;
}

def Nn_PadOp : Nn_InferredOp<"pad"> {
  let summary = "constant elements before and after each dimension";
  let description = [{
        %y = nn.pad %x low [0, 1] high [0, 2] value 0.0 : f32 : (tensor<2x3xf32>) -> tensor<2x6xf32>
  }];
  let arguments = (ins Nn_Tensor:$input, DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high, TypedAttrInterface:$value);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input `low` $low `high` $high `value` $value attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Nn_ConcatOp : Nn_InferredOp<"concat"> {
  let summary = "tensors one after another along an axis";
  let description = [{
        %y = nn.concat %a, %b axis 1 : (tensor<2x3xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
  }];
  let arguments = (ins Variadic<Nn_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$inputs `axis` $axis attr-dict `:` functional-type(operands, results)";
  let hasFolder = 1;
}

def Nn_BroadcastToOp : Nn_PureOp<"broadcast_to", [SameOperandsAndResultElementType]> {
  let summary = "repetition along extents of 1 and new leading dimensions";
  let description = [{
        %y = nn.broadcast_to %x : tensor<1x3xf32> -> tensor<4x2x3xf32>
  }];
  let arguments = (ins Nn_Tensor:$input);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Nn_GatherOp : Nn_InferredOp<"gather"> {
  let summary = "slices of a tensor picked by index along an axis";
  let description = [{
    The result shape is the input's with dimension `axis` replaced by the shape of the indices. Indices lie in
    [0, extent).

        %y = nn.gather %table, %i axis 0 : (tensor<1000x64xf32>, tensor<2x7xi64>) -> tensor<2x7x64xf32>
  }];
  let arguments = (ins Nn_Tensor:$input, Nn_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input `,` $indices `axis` $axis attr-dict `:` functional-type(operands, results)";
}

def Nn_GatherElementsOp : Nn_InferredOp<"gather_elements"> {
  let summary = "for each place, an element along an axis picked by an index of its own";
  let description = [{
    Indices and input have equal extents but along the axis; the result has the shape of the indices. Element
    [.., i, ..] is input element [.., indices[.., i, ..], ..]. Indices lie in [0, extent).

        %y = nn.gather_elements %scores, %class axis 1 : (tensor<8x10x28xf32>, tensor<8x1x28xi64>) -> tensor<8x1x28xf32>
  }];
  let arguments = (ins Nn_Tensor:$input, Nn_IndexTensor:$indices, I64Attr:$axis);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$input `,` $indices `axis` $axis attr-dict `:` functional-type(operands, results)";
}

#endif
