// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes of the nn dialect: weights left in their file, and the kinds of the op families.
#ifndef WSC_DIALECTS_NN_ATTRIBUTES_TD
#define WSC_DIALECTS_NN_ATTRIBUTES_TD

include "dialects/nn/NnDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Nn_WeightsAttr : AttrDef<Nn_Dialect, "Weights", [TypedAttrInterface]> {
  let mnemonic = "weights";
  let summary = "Elements that stay where they are inside a file";
  let description = [{
    Raw little-endian, row-major elements: `bytes` bytes at byte `offset` of `file`. They are mapped when needed and
    never copied into the IR. `hash` is the XXH3 64-bit hash of the bytes, with which reading the IR compares them; 0
    means not hashed. A relative path is meant from the folder of the file that holds the IR. i1 takes one byte per
    element.

        #nn.weights<"model.onnx", offset = 1024, bytes = 400, hash = 0> : tensor<10x10xf32>
  }];
  let parameters = (ins StringRefParameter<"path of the file">:$file, "uint64_t":$offset, "uint64_t":$bytes,
                        "uint64_t":$hash, AttributeSelfTypeParameter<"">:$type);
  let builders = [AttrBuilderWithInferredContext<(ins "::mlir::RankedTensorType":$type, "::llvm::StringRef":$file,
      "uint64_t":$offset, "uint64_t":$bytes, "uint64_t":$hash), [{
    return $_get(type.getContext(), file, offset, bytes, hash, type);
  }]>];
  let assemblyFormat = "`<` $file `,` `offset` `=` $offset `,` `bytes` `=` $bytes `,` `hash` `=` $hash `>`";
  let genVerifyDecl = 1;
}

class Nn_Enum<string name, string summary, list<I32EnumAttrCase> cases> : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::wsc::nn";
  let genSpecializedAttr = 0;
}
class Nn_EnumAttr<EnumAttrInfo info, string mnemonic> : EnumAttr<Nn_Dialect, info, mnemonic> {
  let assemblyFormat = "$value";
}

def Nn_UnaryKindEnum : Nn_Enum<"UnaryKind", "elementwise function of one operand", [
  I32EnumAttrCase<"Relu", 0, "relu">, I32EnumAttrCase<"Neg", 1, "neg">, I32EnumAttrCase<"Abs", 2, "abs">,
  I32EnumAttrCase<"Exp", 3, "exp">, I32EnumAttrCase<"Log", 4, "log">, I32EnumAttrCase<"Sqrt", 5, "sqrt">,
  I32EnumAttrCase<"Rsqrt", 6, "rsqrt">, I32EnumAttrCase<"Reciprocal", 7, "reciprocal">,
  I32EnumAttrCase<"Tanh", 8, "tanh">, I32EnumAttrCase<"Erf", 9, "erf">, I32EnumAttrCase<"Sigmoid", 10, "sigmoid">,
  I32EnumAttrCase<"Floor", 11, "floor">, I32EnumAttrCase<"Ceil", 12, "ceil">, I32EnumAttrCase<"Round", 13, "round">,
  I32EnumAttrCase<"Sign", 14, "sign">, I32EnumAttrCase<"Sin", 15, "sin">, I32EnumAttrCase<"Cos", 16, "cos">,
  I32EnumAttrCase<"Not", 17, "not">]>;
def Nn_UnaryKind : Nn_EnumAttr<Nn_UnaryKindEnum, "unary_kind">;

def Nn_BinaryKindEnum : Nn_Enum<"BinaryKind", "elementwise function of two operands", [
  I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Sub", 1, "sub">, I32EnumAttrCase<"Mul", 2, "mul">,
  I32EnumAttrCase<"Div", 3, "div">, I32EnumAttrCase<"Min", 4, "min">, I32EnumAttrCase<"Max", 5, "max">,
  I32EnumAttrCase<"Pow", 6, "pow">, I32EnumAttrCase<"Mod", 7, "mod">, I32EnumAttrCase<"Rem", 8, "rem">,
  I32EnumAttrCase<"Equal", 9, "equal">, I32EnumAttrCase<"Less", 10, "less">,
  I32EnumAttrCase<"LessEqual", 11, "less_equal">, I32EnumAttrCase<"And", 12, "and">,
  I32EnumAttrCase<"Or", 13, "or">, I32EnumAttrCase<"Xor", 14, "xor">,
  I32EnumAttrCase<"ShiftLeft", 15, "shift_left">, I32EnumAttrCase<"ShiftRight", 16, "shift_right">]>;
def Nn_BinaryKind : Nn_EnumAttr<Nn_BinaryKindEnum, "binary_kind">;

def Nn_PoolKindEnum : Nn_Enum<"PoolKind", "windowed reduction",
  [I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Avg", 1, "avg">, I32EnumAttrCase<"Sum", 2, "sum">]>;
def Nn_PoolKind : Nn_EnumAttr<Nn_PoolKindEnum, "pool_kind">;

def Nn_ReduceKindEnum : Nn_Enum<"ReduceKind", "reduction over axes", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Prod", 1, "prod">, I32EnumAttrCase<"Min", 2, "min">,
  I32EnumAttrCase<"Max", 3, "max">, I32EnumAttrCase<"Mean", 4, "mean">]>;
def Nn_ReduceKind : Nn_EnumAttr<Nn_ReduceKindEnum, "reduce_kind">;

#endif
