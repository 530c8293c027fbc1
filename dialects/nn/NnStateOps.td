// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants and state: weights, and variables that outlive a sample.
#ifndef WSC_DIALECTS_NN_STATE_OPS_TD
#define WSC_DIALECTS_NN_STATE_OPS_TD

include "dialects/nn/NnAttributes.td"

def Nn_ConstantOp : Nn_PureOp<"constant", [ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "constant tensor: elements in a file or, when small, in the IR";
  let description = [{
        %w = nn.constant #nn.weights<"model.onnx", offset = 96, bytes = 400, hash = 0> : tensor<10x10xf32>
        %s = nn.constant dense<[1, 2]> : tensor<2xi64>
  }];
  let arguments = (ins TypedAttrInterface:$value);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// The value as elements in a file, or null.
    ::wsc::nn::WeightsAttr getWeights() {
      return ::llvm::dyn_cast<::wsc::nn::WeightsAttr>(::mlir::Attribute(getValue()));
    }
    /// The value as elements in the IR, or null.
    ::mlir::DenseElementsAttr getDense() {
      return ::llvm::dyn_cast<::mlir::DenseElementsAttr>(::mlir::Attribute(getValue()));
    }
  }];
}

def Nn_VariableOp : Nn_Op<"variable", [Symbol]> {
  let summary = "module-level tensor that keeps its value between samples and runs";
  let description = [{
        nn.variable @hidden : tensor<1x128xf32> = dense<0.0> : tensor<1x128xf32>
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<Nn_Tensor>:$type,
      OptionalAttr<TypedAttrInterface>:$initial);
  let assemblyFormat = "$sym_name attr-dict `:` $type (`=` $initial^)?";
  let hasVerifier = 1;
}

def Nn_ReadOp : Nn_Op<"read", [DeclareOpInterfaceMethods<SymbolUserOpInterface>, MemoryEffects<[MemRead]>]> {
  let summary = "value of a variable";
  let description = [{
        %h = nn.read @hidden : tensor<1x128xf32>
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable);
  let results = (outs Nn_Tensor:$result);
  let assemblyFormat = "$variable attr-dict `:` type($result)";
}

def Nn_WriteOp : Nn_Op<"write", [DeclareOpInterfaceMethods<SymbolUserOpInterface>, MemoryEffects<[MemWrite]>]> {
  let summary = "new value of a variable";
  let description = [{
        nn.write @hidden, %h : tensor<1x128xf32>
  }];
  let arguments = (ins FlatSymbolRefAttr:$variable, Nn_Tensor:$value);
  let assemblyFormat = "$variable `,` $value attr-dict `:` type($value)";
}

#endif
