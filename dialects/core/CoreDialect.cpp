// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration of the core dialect, its types and attributes, and the translation of element types.
#include "dialects/core/CoreDialect.h"

#include "dialects/core/Syntax.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

#include <bit>

#include "dialects/core/CoreDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/core/CoreTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/core/CoreAttrs.cpp.inc"

using namespace mlir;

namespace wsc::core {

void CoreDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/core/CoreTypes.cpp.inc"
      >();
}

void CoreDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/core/CoreAttrs.cpp.inc"
      >();
}

void CoreDialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialects/core/CoreOps.cpp.inc"
      >();
}

Type toMlirType(MLIRContext *context, format::ElementType type) {
  switch (type) {
  case format::ElementType::F32:
    return Float32Type::get(context);
  case format::ElementType::F16:
    return Float16Type::get(context);
  case format::ElementType::BF16:
    return BFloat16Type::get(context);
  case format::ElementType::F64:
    return Float64Type::get(context);
  case format::ElementType::I32:
    return IntegerType::get(context, 32);
  case format::ElementType::I64:
    return IntegerType::get(context, 64);
  case format::ElementType::I16:
    return IntegerType::get(context, 16);
  case format::ElementType::I8:
    return IntegerType::get(context, 8);
  case format::ElementType::U8:
    return IntegerType::get(context, 8, IntegerType::Unsigned);
  case format::ElementType::U16:
    return IntegerType::get(context, 16, IntegerType::Unsigned);
  case format::ElementType::U32:
    return IntegerType::get(context, 32, IntegerType::Unsigned);
  case format::ElementType::U64:
    return IntegerType::get(context, 64, IntegerType::Unsigned);
  case format::ElementType::Bool:
    return IntegerType::get(context, 1);
  }
  return {};
}

std::optional<format::ElementType> toElementType(Type type) {
  if (type.isF32())
    return format::ElementType::F32;
  if (type.isF16())
    return format::ElementType::F16;
  if (type.isBF16())
    return format::ElementType::BF16;
  if (type.isF64())
    return format::ElementType::F64;
  if (type.isSignlessInteger(32))
    return format::ElementType::I32;
  if (type.isSignlessInteger(64))
    return format::ElementType::I64;
  if (type.isSignlessInteger(16))
    return format::ElementType::I16;
  if (type.isSignlessInteger(8))
    return format::ElementType::I8;
  if (type.isUnsignedInteger(8))
    return format::ElementType::U8;
  if (type.isUnsignedInteger(16))
    return format::ElementType::U16;
  if (type.isUnsignedInteger(32))
    return format::ElementType::U32;
  if (type.isUnsignedInteger(64))
    return format::ElementType::U64;
  if (type.isSignlessInteger(1))
    return format::ElementType::Bool;
  return std::nullopt;
}

//===- Attributes
//-----------------------------------------------------------------------------------------------------===//

Attribute AffineNumberAttr::parse(AsmParser &parser, Type) {
  AffineNumberAttr number;
  if (parser.parseLess() || syntax::parseAffineNumber(parser, number) || parser.parseGreater())
    return {};
  return number;
}
void AffineNumberAttr::print(AsmPrinter &printer) const {
  printer << "<";
  syntax::printAffineNumber(printer, *this);
  printer << ">";
}

Attribute LatticeAttr::parse(AsmParser &parser, Type) {
  LatticeAttr lattice;
  if (parser.parseLess() || syntax::parseLattice(parser, lattice) || parser.parseGreater())
    return {};
  return lattice;
}
void LatticeAttr::print(AsmPrinter &printer) const {
  printer << "<";
  syntax::printLattice(printer, *this);
  printer << ">";
}

OperandAttr OperandAttr::getKindOnly(MLIRContext *context, Kind kind) {
  return get(context, kind, AffineNumberAttr::get(context, 0, {}), {}, {}, 0);
}
OperandAttr OperandAttr::getMemory(AffineNumberAttr base, ArrayRef<int32_t> strides, ArrayRef<int32_t> loopSteps) {
  return get(base.getContext(), Memory, base, strides, loopSteps, 0);
}
OperandAttr OperandAttr::getImmediate(MLIRContext *context, double value) {
  return get(context, Immediate, AffineNumberAttr::get(context, 0, {}), {}, {}, std::bit_cast<uint64_t>(value));
}
double OperandAttr::getImmediate() const { return std::bit_cast<double>(getImmediateBits()); }

Attribute OperandAttr::parse(AsmParser &parser, Type) {
  OperandAttr operand;
  StringRef kind;
  if (parser.parseLess() || syntax::parseKeywordOf(parser, kind, {"memory", "stream", "immediate", "null"}))
    return {};
  if (kind == "memory") {
    if (syntax::parseAccess(parser, operand))
      return {};
  } else if (kind == "immediate") {
    llvm::APFloat value(0.0);
    if (parser.parseFloat(llvm::APFloat::IEEEdouble(), value))
      return {};
    operand = getImmediate(parser.getContext(), value.convertToDouble());
  } else {
    operand = getKindOnly(parser.getContext(), kind == "null" ? Null : Stream);
  }
  return parser.parseGreater() ? Attribute() : operand;
}
void OperandAttr::print(AsmPrinter &printer) const {
  constexpr StringLiteral kKinds[] = {"memory", "stream", "immediate", "null"};
  printer << "<" << kKinds[getKind()];
  if (getKind() == Memory) {
    printer << " ";
    syntax::printAccess(printer, *this);
  } else if (getKind() == Immediate) {
    printer << " " << llvm::APFloat(getImmediate());
  }
  printer << ">";
}

Attribute StepAttr::parse(AsmParser &parser, Type) {
  StepAttr step;
  if (parser.parseLess() || syntax::parseStep(parser, step) || parser.parseGreater())
    return {};
  return step;
}
void StepAttr::print(AsmPrinter &printer) const {
  printer << "<";
  syntax::printStep(printer, *this);
  printer << ">";
}

Attribute FileAttr::parse(AsmParser &parser, Type) {
  std::string path;
  int64_t offset = 0, bytes = 0;
  uint64_t hash = 0;
  if (parser.parseLess() || parser.parseString(&path) || parser.parseComma() || parser.parseKeyword("offset") ||
      parser.parseEqual() || parser.parseInteger(offset) || parser.parseComma() || parser.parseKeyword("bytes") ||
      parser.parseEqual() || parser.parseInteger(bytes))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("hash") || parser.parseEqual() || parser.parseInteger(hash)))
    return {};
  if (parser.parseGreater())
    return {};
  return get(parser.getContext(), StringAttr::get(parser.getContext(), path), offset, bytes, hash);
}
void FileAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printString(getPath().getValue());
  printer << ", offset = " << getOffset() << ", bytes = " << getBytes();
  if (getHash() != 0)
    printer << ", hash = " << getHash();
  printer << ">";
}

} // namespace wsc::core
