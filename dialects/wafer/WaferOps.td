// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations of the wafer dialect.
#ifndef WSC_DIALECTS_WAFER_OPS_TD
#define WSC_DIALECTS_WAFER_OPS_TD

include "dialects/wafer/WaferAttributes.td"

class Wafer_Op<string mnemonic, list<Trait> traits = []> : Op<Wafer_Dialect, mnemonic, traits>;
def Wafer_Tensor : StaticShapeTensorOf<[AnyFloat, AnySignlessInteger, AnyUnsignedInteger]>;

def Wafer_TurnsAttr : TypedArrayAttrBase<DenseI32ArrayAttr, "turns of the lanes of each stream">;

def Wafer_EnterOp : Wafer_Op<"enter", [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "an input of the network becomes a stream";
  let description = [{
    The words of `input` enter at the west edge, one lane per tile of `layout`. `via` says where lanes are to turn, see
    `wafer.kernel`.

        %s = wafer.enter %x {layout = #wafer.layout<tile_rows = 4, blocks = [0, 3], order = 3>} :
        tensor<1x3x224x224xf32>
  }];
  let arguments = (ins Wafer_Tensor:$input, OptionalAttr<Wafer_LayoutAttr>:$layout,
                       OptionalAttr<DenseI32ArrayAttr>:$lane_colours, OptionalAttr<DenseI32ArrayAttr>:$via);
  let results = (outs Wafer_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Wafer_KernelOp : Wafer_Op<"kernel", [IsolatedFromAbove, SingleBlock]> {
  let summary = "a fused group of layers on one rectangle";
  let description = [{
    The region holds the layers, on whole tensors; its arguments are the streams taken in, constants stand inside. One
    result, sent on lanes as `layout` says. `predicted_cycles` is sizing's interval between samples. `pin` says what the
    user wants of the rectangle.

    `turns` says, for each stream taken in, how many columns west of the kernel's own (negative: east) its lanes leave
    their trunks: lane i takes entry i mod size (or turns as near to that as it can); without it, or with an empty
    entry, all turn in the column itself. `via` is the user's wish for the result's lanes, the same for all who take it.

    A *state kernel* reads or writes one variable with `nn.read` and `nn.write` in its region and lies on the cores that
    hold it. It may take no stream and may have no result; several state kernels of one variable run on the same cores
    in the order of the operations.

        %1 = wafer.kernel "conv1"(%0) attributes {layers = ["conv1", "relu1"]}
            : (tensor<1x3x8x8xf32>) -> tensor<1x4x8x8xf32> {
        ^bb0(%x: tensor<1x3x8x8xf32>):
          %w = nn.constant #nn.weights<"m.onnx", offset = 0, bytes = 432, hash = 0> : tensor<4x3x3x3xf32>
          %y = nn.conv %x, %w pads [1, 1, 1, 1] : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x8xf32>
          %r = nn.unary relu %y : tensor<1x4x8x8xf32>
          wafer.yield %r : tensor<1x4x8x8xf32>
        }
  }];
  let arguments = (ins StrAttr:$name, Variadic<Wafer_Tensor>:$inputs, OptionalAttr<StrArrayAttr>:$layers,
                       OptionalAttr<Wafer_MappingAttr>:$mapping, OptionalAttr<Wafer_LayoutAttr>:$layout,
                       OptionalAttr<I64Attr>:$predicted_cycles, OptionalAttr<Wafer_RectAttr>:$rect,
                       OptionalAttr<Wafer_ColoursAttr>:$colours, OptionalAttr<DenseI32ArrayAttr>:$lane_colours,
                       OptionalAttr<Wafer_PinAttr>:$pin, OptionalAttr<DenseI32ArrayAttr>:$via,
                       OptionalAttr<Wafer_TurnsAttr>:$turns);
  let results = (outs Optional<Wafer_Tensor>:$result);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name `(` $inputs `)` attr-dict-with-keyword `:` functional-type($inputs, $result) $body";
  let hasVerifier = 1;
}

def Wafer_YieldOp : Wafer_Op<"yield", [Pure, Terminator, HasParent<"KernelOp">]> {
  let summary = "result of a kernel's layers, if it has one";
  let arguments = (ins Optional<Wafer_Tensor>:$value);
  let assemblyFormat = "($value^ `:` type($value))? attr-dict";
  let builders = [OpBuilder<(ins)>];
}

include "dialects/wafer/WaferNestOps.td"

#endif
