// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The nn dialect: framework-neutral neural network layers with value semantics. Rationale.md says why.
#ifndef WSC_DIALECTS_NN_DIALECT_TD
#define WSC_DIALECTS_NN_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"

def Nn_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::wsc::nn";
  let summary = "Neural network layers on statically shaped tensors";
  let description = [{
    Layers of a network as the importers leave them and as kernel formation reads them. All tensors are ranked and
    statically shaped; every operation except `nn.read` and `nn.write` is pure. Images are [N, C, H, W].
    An entry point is a `func.func`; its argument and result attribute `nn.name` gives the name a caller binds.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Argument and result attribute holding the external name of an input or output.
    static constexpr ::llvm::StringLiteral getNameAttrName() { return "nn.name"; }
  }];
}

/// Every operand and result: element type float or integer (signless; ui8…ui64 for unsigned), static shape. Floats of 8
/// and 4 bits and integers of 4 and 2 bits are storage (Storage.h): they are moved and take part in `nn.bitcast`.
def Nn_Tensor : StaticShapeTensorOf<[AnyFloat, AnySignlessInteger, AnyUnsignedInteger]>;
/// What is computed with.
def Nn_NumberTensor : StaticShapeTensorOf<[F16, BF16, F32, F64, I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64]>;
def Nn_FloatTensor : StaticShapeTensorOf<[F16, BF16, F32, F64]>;
def Nn_BoolTensor : StaticShapeTensorOf<[I1]>;
def Nn_IndexTensor : StaticShapeTensorOf<[I32, I64]>;

class Nn_Op<string mnemonic, list<Trait> traits = []> : Op<Nn_Dialect, mnemonic, traits>;
class Nn_PureOp<string mnemonic, list<Trait> traits = []> : Nn_Op<mnemonic, !listconcat(traits, [Pure])>;
/// A pure op whose result type follows from operands and attributes; the inferred type is verified.
class Nn_InferredOp<string mnemonic, list<Trait> traits = []>
    : Nn_PureOp<mnemonic, !listconcat(traits, [InferTypeOpAdaptor])>;

#endif
