// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pieces of text shared by attributes and operations: affine numbers, lattices, memory accesses, lists. Each has a
// parse and a print function; the forms are described in CoreOps.td.
#pragma once

#include "dialects/core/CoreDialect.h"

namespace wsc::core::syntax {

using mlir::AsmParser;
using mlir::AsmPrinter;
using mlir::OpAsmParser;
using mlir::OpAsmPrinter;
using mlir::Operation;
using mlir::ParseResult;

ParseResult parseAffineNumber(AsmParser &parser, AffineNumberAttr &number);
void printAffineNumber(AsmPrinter &printer, AffineNumberAttr number);
ParseResult parseLattice(AsmParser &parser, LatticeAttr &lattice);
void printLattice(AsmPrinter &printer, LatticeAttr lattice);

// `[BASE by S0, S1 loop L0, L1]` without the brackets.
ParseResult parseAccess(AsmParser &parser, OperandAttr &operand);
void printAccess(AsmPrinter &printer, OperandAttr operand);

// ` over [e0, e1]`, nothing when there are no extents.
ParseResult parseExtents(AsmParser &parser, mlir::ArrayAttr &extents);
void printExtents(AsmPrinter &printer, mlir::ArrayAttr extents);

// `configure @main` or `run @main times 12 after (0)`.
ParseResult parseStep(AsmParser &parser, StepAttr &step);
void printStep(AsmPrinter &printer, StepAttr step);

// One of the given keywords; the error lists them.
ParseResult parseKeywordOf(AsmParser &parser, llvm::StringRef &keyword, llvm::ArrayRef<llvm::StringRef> allowed);
ParseResult parsePort(AsmParser &parser, int32_t &port);

} // namespace wsc::core::syntax
