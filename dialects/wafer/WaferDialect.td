// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The wafer dialect: the mapping of a network onto the mesh. Rationale.md says why.
#ifndef WSC_DIALECTS_WAFER_DIALECT_TD
#define WSC_DIALECTS_WAFER_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Wafer_Dialect : Dialect {
  let name = "wafer";
  let cppNamespace = "::wsc::wafer";
  let summary = "Kernels on rectangles of the mesh, joined by streams of words";
  let description = [{
    A function in this dialect is a dataflow graph: `wafer.enter` brings an input onto the wafer, `wafer.kernel`
    computes one tensor from streams on one rectangle, and its SSA results are the streams. Attributes fill in phase by
    phase: `mapping` and `layout` when sized, `rect` when placed, `colours` and `lane_colours` when routed. The function
    attribute `wafer.rows_used` says over how many rows of the mesh tiles are spread, `wafer.rows_spare` that windows'
    outputs lie in the middle of their inputs, and how many more rows that may take. Variables stay `nn.variable`; the
    attribute `wafer.state` on them says where they lie. In networks of nests, `wafer.remap` moves elements between
    tensors, and `linalg.generic` computes.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    /// Attribute of an nn.variable: where it lies (StateAttr).
    static constexpr ::llvm::StringLiteral getStateAttrName() { return "wafer.state"; }
    /// Function attribute: rows of the mesh in use (i64).
    static constexpr ::llvm::StringLiteral getRowsUsedAttrName() { return "wafer.rows_used"; }
    /// Function attribute: windows' outputs lie in the middle of their inputs, by up to so many rows further south
    /// (i64).
    static constexpr ::llvm::StringLiteral getRowsSpareAttrName() { return "wafer.rows_spare"; }
    /// Module attribute: the target the IR was made for, a name or a whole description (string).
    static constexpr ::llvm::StringLiteral getTargetAttrName() { return "wafer.target"; }
    static constexpr ::llvm::StringLiteral getBoundsAttrName() { return "wafer.bounds"; }
    static constexpr ::llvm::StringLiteral getLinkAttrName() { return "wafer.link"; }
    static constexpr ::llvm::StringLiteral getLinkWordsAttrName() { return "wafer.link_words"; }
    /// Words times links per sample, of all that moves.
    static constexpr ::llvm::StringLiteral getWordHopsAttrName() { return "wafer.word_hops"; }
  }];
}

#endif
