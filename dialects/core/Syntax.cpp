// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parsing and printing of the pieces of text declared in Syntax.h. Trailing defaults are never stored or printed, so
// that a value has one form.
#include "dialects/core/Syntax.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace wsc::core::syntax {

namespace {

template <typename Int>
ParseResult parseIntegers(AsmParser &parser, SmallVectorImpl<Int> &values, AsmParser::Delimiter delimiter) {
  return parser.parseCommaSeparatedList(delimiter, [&] { return parser.parseInteger(values.emplace_back()); });
}

template <typename Int> void trimZeros(SmallVectorImpl<Int> &values) {
  while (!values.empty() && values.back() == 0)
    values.pop_back();
}

} // namespace

ParseResult parseAffineNumber(AsmParser &parser, AffineNumberAttr &number) {
  int64_t constant = 0;
  SmallVector<int64_t, 4> steps;
  if (parser.parseInteger(constant))
    return failure();
  if (succeeded(parser.parseOptionalPlus()) && parseIntegers(parser, steps, AsmParser::Delimiter::Paren))
    return failure();
  trimZeros(steps);
  number = AffineNumberAttr::get(parser.getContext(), constant, steps);
  return success();
}

void printAffineNumber(AsmPrinter &printer, AffineNumberAttr number) {
  printer << number.getConstant();
  if (number.getSteps().empty())
    return;
  printer << " + (";
  llvm::interleaveComma(number.getSteps(), printer);
  printer << ")";
}

ParseResult parseLattice(AsmParser &parser, LatticeAttr &lattice) {
  int32_t row = 0, col = 0;
  SmallVector<int32_t, 12> dims;
  if (parser.parseLParen() || parser.parseInteger(row) || parser.parseComma() || parser.parseInteger(col) ||
      parser.parseRParen())
    return failure();
  while (succeeded(parser.parseOptionalPlus())) {
    int32_t count = 0, rowStep = 0, colStep = 0;
    if (parser.parseInteger(count) || parser.parseKeyword("x") || parser.parseLParen() ||
        parser.parseInteger(rowStep) || parser.parseComma() || parser.parseInteger(colStep) || parser.parseRParen())
      return failure();
    dims.append({count, rowStep, colStep});
  }
  lattice = LatticeAttr::get(parser.getContext(), row, col, dims);
  return success();
}

void printLattice(AsmPrinter &printer, LatticeAttr lattice) {
  printer << "(" << lattice.getRow() << ", " << lattice.getCol() << ")";
  ArrayRef<int32_t> dims = lattice.getDims();
  for (size_t i = 0; i + 2 < dims.size(); i += 3)
    printer << " + " << dims[i] << " x (" << dims[i + 1] << ", " << dims[i + 2] << ")";
}

ParseResult parseAccess(AsmParser &parser, OperandAttr &operand) {
  AffineNumberAttr base;
  SmallVector<int32_t, 4> strides, loopSteps;
  if (parseAffineNumber(parser, base))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("by")) && parseIntegers(parser, strides, AsmParser::Delimiter::None))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("loop")) && parseIntegers(parser, loopSteps, AsmParser::Delimiter::None))
    return failure();
  trimZeros(strides);
  trimZeros(loopSteps);
  operand = OperandAttr::getMemory(base, strides, loopSteps);
  return success();
}

void printAccess(AsmPrinter &printer, OperandAttr operand) {
  printAffineNumber(printer, operand.getBase());
  if (!operand.getStrides().empty()) {
    printer << " by ";
    llvm::interleaveComma(operand.getStrides(), printer);
  }
  if (!operand.getLoopSteps().empty()) {
    printer << " loop ";
    llvm::interleaveComma(operand.getLoopSteps(), printer);
  }
}

ParseResult parseExtents(AsmParser &parser, ArrayAttr &extents) {
  SmallVector<Attribute, 4> values;
  if (succeeded(parser.parseOptionalKeyword("over"))) {
    auto parseOne = [&]() -> ParseResult {
      AffineNumberAttr number;
      if (parseAffineNumber(parser, number))
        return failure();
      values.push_back(number);
      return success();
    };
    if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
      return failure();
  }
  auto isOne = [](Attribute attr) {
    auto number = cast<AffineNumberAttr>(attr);
    return number.getConstant() == 1 && number.getSteps().empty();
  };
  while (!values.empty() && isOne(values.back()))
    values.pop_back();
  extents = parser.getBuilder().getArrayAttr(values);
  return success();
}

void printExtents(AsmPrinter &printer, ArrayAttr extents) {
  if (extents.empty())
    return;
  printer << " over [";
  llvm::interleave(
      extents, [&](Attribute extent) { printAffineNumber(printer, cast<AffineNumberAttr>(extent)); },
      [&] { printer << ", "; });
  printer << "]";
}

ParseResult parseStep(AsmParser &parser, StepAttr &step) {
  StringRef kind;
  StringAttr configuration;
  int32_t count = 1, first = 0;
  SmallVector<int32_t> after;
  if (parseKeywordOf(parser, kind, {"configure", "run"}) || parser.parseSymbolName(configuration))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("times")) && parser.parseInteger(count))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("from")) && parser.parseInteger(first))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("after")) && parseIntegers(parser, after, AsmParser::Delimiter::Paren))
    return failure();
  step = StepAttr::get(parser.getContext(), kind == "configure", configuration, count, first, after);
  return success();
}

void printStep(AsmPrinter &printer, StepAttr step) {
  printer << (step.getConfigure() ? "configure " : "run ");
  printer.printSymbolName(step.getConfiguration().getValue());
  if (step.getCount() != 1)
    printer << " times " << step.getCount();
  if (step.getFirst() != 0)
    printer << " from " << step.getFirst();
  if (step.getAfter().empty())
    return;
  printer << " after (";
  llvm::interleaveComma(step.getAfter(), printer);
  printer << ")";
}

ParseResult parseKeywordOf(AsmParser &parser, StringRef &keyword, ArrayRef<StringRef> allowed) {
  SMLoc loc = parser.getCurrentLocation();
  if (succeeded(parser.parseOptionalKeyword(&keyword, allowed)))
    return success();
  return parser.emitError(loc) << "expected one of: " << llvm::join(allowed, ", ");
}

ParseResult parsePort(AsmParser &parser, int32_t &port) {
  StringRef name;
  if (parseKeywordOf(parser, name, {"north", "south", "east", "west", "ramp"}))
    return failure();
  port = int32_t(llvm::find(kPortNames, name) - std::begin(kPortNames));
  return success();
}

} // namespace wsc::core::syntax
