// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes of the wafer dialect: what sizing, placement and routing decide.
#ifndef WSC_DIALECTS_WAFER_ATTRIBUTES_TD
#define WSC_DIALECTS_WAFER_ATTRIBUTES_TD

include "dialects/wafer/WaferDialect.td"

class Wafer_Attr<string name, string attrMnemonic> : AttrDef<Wafer_Dialect, name> {
  let mnemonic = attrMnemonic;
  let genVerifyDecl = 1;
}

def Wafer_MappingAttr : Wafer_Attr<"Mapping", "mapping"> {
  let summary = "how a kernel covers its rectangle";
  let description = [{
    Rows of a group are slices of `slice` channels (of the input for a contraction, of the output otherwise); columns
    are slices of `column` output channels (of kernels other than contractions: whole slices, and softmax and kernels on
    a variable have one column). `fifo` gives, per stream taken in, the samples its FIFO holds. `streamed`: cores work
    on one channel at a time, because a whole tile does not fit. `bands`: a contraction's group holds so many bands of
    rows, each with all slices, that share the columns. `feeder`: so many output channels of a contraction's band, the
    first ones, are made by the core that feeds the row; without it that core only feeds. `colocated`: the kernel only
    joins channels, and runs on the feeders of the contraction that takes its result, in its slices; its rectangle is
    the first column of that one's. `exits_near`: of a window's columns, the results leave near the rows on which their
    inputs arrive, not on rows spread over the group.

        #wafer.mapping<slice = 5, column = 4, fifo = [2]>
  }];
  let parameters = (ins "int64_t":$slice, "int64_t":$column, ArrayRefParameter<"int64_t">:$fifo,
                        DefaultValuedParameter<"bool", "false">:$streamed, DefaultValuedParameter<"int64_t",
                            "1">:$bands,
                        DefaultValuedParameter<"bool", "false">:$exitsNear, DefaultValuedParameter<"int64_t",
                            "0">:$feeder, DefaultValuedParameter<"bool", "false">:$coLocated);
  let assemblyFormat = "`<` `slice` `=` $slice `,` `column` `=` $column `,` (`feeder` `=` $feeder^ `,`)? (`bands` `=` "
      "$bands^ `,`)? (`exits_near` `=` $exitsNear^ `,`)? (`colocated` `=` $coLocated^ `,`)? `fifo` `=` "
      "custom<Numbers>($fifo) (`,` `streamed` `=` $streamed^)? `>`";
}

def Wafer_RectAttr : Wafer_Attr<"Rect", "rect"> {
  let summary = "a rectangle of cores";
  let description = [{
        #wafer.rect<row = 0, col = 12, rows = 728, cols = 21>
  }];
  let parameters = (ins "int64_t":$row, "int64_t":$col, "int64_t":$rows, "int64_t":$cols);
  let assemblyFormat = "`<` `row` `=` $row `,` `col` `=` $col `,` `rows` `=` $rows `,` `cols` `=` $cols `>`";
}

def Wafer_PinAttr : Wafer_Attr<"Pin", "pin"> {
  let summary = "what is wanted of a kernel's rectangle";
  let description = [{
    Its number of columns, its first column, or both; sizing and placement keep to it or refuse the network with the
    reason.

        #wafer.pin<columns = 12, col = 40>
  }];
  let parameters = (ins OptionalParameter<"std::optional<int64_t>">:$columns,
      OptionalParameter<"std::optional<int64_t>">:$col);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Wafer_LayoutAttr : Wafer_Attr<"Layout", "layout"> {
  let summary = "how a tensor lies on its lanes";
  let description = [{
    The tensor as a plane of channels × rows × width: rows are dealt in blocks of `tile_rows` (the last may be shorter)
    to tiles from north to south, channels in the blocks that begin at `blocks` (the last entry is the number of
    channels). One lane per tile and block carries its elements in the order channel, row, column. Receivers take lanes
    in the order of tile modulo `order`.

        #wafer.layout<tile_rows = 1, blocks = [0, 32, 64], order = 3>
  }];
  let parameters = (ins "int64_t":$tileRows, ArrayRefParameter<"int64_t">:$blocks, "int64_t":$order);
  let assemblyFormat = "`<` `tile_rows` `=` $tileRows `,` `blocks` `=` `[` $blocks `]` `,` `order` `=` $order `>`";
}

def Wafer_ColoursAttr : Wafer_Attr<"Colours", "colours"> {
  let summary = "colours used inside a contraction's rectangle";
  let description = [{
    `row` multicasts from the feeder along rows, `chain` alternates down the reduction.

        #wafer.colours<row = 3, chain = [4, 5]>
  }];
  let parameters = (ins "int64_t":$row, ArrayRefParameter<"int64_t">:$chain);
  let assemblyFormat = "`<` `row` `=` $row `,` `chain` `=` `[` $chain `]` `>`";
}

def Wafer_StateAttr : Wafer_Attr<"State", "state"> {
  let summary = "where a state variable lies";
  let description = [{
    Discardable attribute `wafer.state` of an `nn.variable`; the same for every function of the module. The variable's
    plane is cut into tiles of `tile_rows` rows, dealt over the first `rows` rows of the mesh as tensors are, and slices
    of `slice` channels; tile and slice name one core of column `col`, which keeps its part from SRAM address `address`
    on, in the order channel, row, column. The column belongs to the variable in every function.

        nn.variable @sum {wafer.state = #wafer.state<tile_rows = 2, slice = 1, rows = 8, col = 7, address = 49088>} :
        tensor<1x4x8x8xf32>
  }];
  let parameters = (ins "int64_t":$tileRows, "int64_t":$slice, "int64_t":$rows, "int64_t":$col, "int64_t":$address);
  let assemblyFormat = "`<` `tile_rows` `=` $tileRows `,` `slice` `=` $slice `,` `rows` `=` $rows `,` `col` `=` $col "
      "`,` `address` `=` $address `>`";
}

def Wafer_PieceAttr : Wafer_Attr<"Piece", "piece"> {
  let summary = "elements of one tensor at known places of another";
  let description = [{
    A piece of a `wafer.remap`. For all index tuples j within `over`, element `to` + Σ j_k · to strides_k of the result
    is element `at` + Σ j_k · strides_k of operand `from`, both numbered in row-major order. Strides may be negative,
    those of the operand also 0 (repetition).

        #wafer.piece<over [2, 3] from 1 at 0 by [1, 2] to 6 by [3, 1]>
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$extents, "int64_t":$operand, "int64_t":$sourceOffset,
                        ArrayRefParameter<"int64_t">:$sourceStrides, "int64_t":$resultOffset,
                        ArrayRefParameter<"int64_t">:$resultStrides);
  let assemblyFormat = [{`<` `over` custom<Numbers>($extents) `from` $operand `at` $sourceOffset `by`
    custom<Numbers>($sourceStrides) `to` $resultOffset `by` custom<Numbers>($resultStrides) `>`}];
  let extraClassDeclaration = [{
    /// Product of the extents; -1 at 2^63 or more.
    int64_t getNumElements() const;
  }];
}

#endif
