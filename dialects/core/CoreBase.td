// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The core dialect itself, its two types and its attributes. Operations are in CoreOps.td.
#ifndef WSC_DIALECTS_CORE_BASE
#define WSC_DIALECTS_CORE_BASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"

def Core_Dialect : Dialect {
  let name = "core";
  let cppNamespace = "::wsc::core";
  let summary = "the assembly language of a wafer executable";
  let description = [{
    A `core.executable` holds everything a `.wse` holds: raw sections, state variables, residents, configurations
    (programs of core roles, switch settings of router roles, the words that enter and leave the wafer) and entry
    points. Text and file are two forms of the same content: `wsc-translate` converts either into the other.

    Inside `core.executable` the prefix `core.` is not written. Numbers that differ from core to core are affine in the
    lattice of their role: `96 + (0, 4)` is `96 + 0*i0 + 4*i1` for lattice index (i0, i1). A lattice is an origin and
    repeated steps, outermost first: `(4, 5) + 56 x (13, 0) + 20 x (0, 1)` is row 4, column 5, 56 times every 13 rows,
    20 columns wide. Addresses, strides and offsets in SRAM are bytes; numbers of elements are written as `240 x f32`.

    Each opcode of `runtime/format/Isa.h` is a mnemonic of its own (`fma`, `add`, `move`, …); all are one operation,
    `core.instruction`, which holds the opcode.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    // An opcode's mnemonic parses as `core.instruction`.
    std::optional<ParseOpHook> getParseOperationHook(::llvm::StringRef opName) const override;
    void registerAttributes();
    void registerTypes();
  }];
}

class Core_Type<string typeName, string typeMnemonic> : TypeDef<Core_Dialect, typeName> {
  let mnemonic = typeMnemonic;
}
def Core_Memory : Core_Type<"Memory", "memory"> {
  let summary = "a stretch of a core's SRAM";
}
def Core_Stream : Core_Type<"Stream", "stream"> {
  let summary = "a FIFO or a fabric queue: gives or takes one element per iteration, in order";
}

class Core_Attr<string attrName, string attrMnemonic> : AttrDef<Core_Dialect, attrName> {
  let mnemonic = attrMnemonic;
  let hasCustomAssemblyFormat = 1;
}
def Core_AffineNumber : Core_Attr<"AffineNumber", "affine"> {
  let summary = "a number affine in the indices of a lattice: `96 + (0, 4)`";
  let parameters = (ins "int64_t":$constant, ArrayRefParameter<"int64_t", "one step per lattice dimension">:$steps);
}
def Core_Lattice : Core_Attr<"Lattice", "lattice"> {
  let summary = "a set of cores: `(4, 5) + 56 x (13, 0) + 20 x (0, 1)`";
  let parameters = (ins "int32_t":$row, "int32_t":$col, ArrayRefParameter<"int32_t",
      "count, row step, column step">:$dims);
}
def Core_Operand : Core_Attr<"Operand", "operand"> {
  let summary = "how an instruction reaches one operand: `memory 0 by 80, 4 loop 320`, `stream`, `immediate 1.0` or "
      "`null`";
  let parameters = (ins "uint8_t":$kind, "AffineNumberAttr":$base, ArrayRefParameter<"int32_t", "bytes">:$strides,
                    ArrayRefParameter<"int32_t", "bytes">:$loopSteps, "uint64_t":$immediateBits);
  let extraClassDeclaration = [{
    enum Kind : uint8_t { Memory, Stream, Immediate, Null };
    bool isReference() const { return getKind() == Memory || getKind() == Stream; }
    static OperandAttr getKindOnly(::mlir::MLIRContext *context, Kind kind);
    static OperandAttr getMemory(AffineNumberAttr base, ::llvm::ArrayRef<int32_t> strides,
                                 ::llvm::ArrayRef<int32_t> loopSteps);
    static OperandAttr getImmediate(::mlir::MLIRContext *context, double value);
    double getImmediate() const;
  }];
}
def Core_Step : Core_Attr<"Step", "step"> {
  let summary = "a step of an entry: `configure @main` or `run @main times 12 from 3 after (0)`";
  let parameters = (ins "bool":$configure, "::mlir::StringAttr":$configuration, "int32_t":$count, "int32_t":$first,
                    ArrayRefParameter<"int32_t", "steps that come before">:$after);
}
def Core_File : Core_Attr<"File", "file"> {
  let summary = "bytes of a file: `#core.file<\"weights.bin\", offset = 4096, bytes = 9600, hash = 7>`";
  let description = [{
    `hash` is the XXH3 64-bit hash of the bytes, with which reading compares them; it may be left out. A relative path
    is meant from the folder of the file that holds the text.
  }];
  let parameters = (ins "::mlir::StringAttr":$path, "int64_t":$offset, "int64_t":$bytes,
                    DefaultValuedParameter<"uint64_t", "0">:$hash);
}

#endif
