// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parsing and printing of the `custom<…>` parts of the operations' assembly formats, and the generated operation
// classes.
#include "dialects/core/CoreDialect.h"

#include "dialects/core/Syntax.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace wsc::core {

using syntax::parseExtents;
using syntax::parsePort;

//===- custom<…> directives
//-------------------------------------------------------------------------------------------===//

static ParseResult parseBody(OpAsmParser &parser, Region &body) {
  if (parser.parseRegion(body))
    return failure();
  if (body.empty())
    body.emplaceBlock();
  return success();
}
static void printBody(OpAsmPrinter &printer, Operation *, Region &body) {
  printer.printRegion(body, /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/false);
}

static ParseResult parseAffineNumber(OpAsmParser &parser, AffineNumberAttr &number) {
  return syntax::parseAffineNumber(parser, number);
}
static void printAffineNumber(OpAsmPrinter &printer, Operation *, AffineNumberAttr number) {
  syntax::printAffineNumber(printer, number);
}

static ParseResult parseLattice(OpAsmParser &parser, LatticeAttr &lattice) {
  return syntax::parseLattice(parser, lattice);
}
static void printLattice(OpAsmPrinter &printer, Operation *, LatticeAttr lattice) {
  syntax::printLattice(printer, lattice);
}

static ParseResult parseHost(OpAsmParser &parser, AffineNumberAttr &host) {
  if (succeeded(parser.parseOptionalKeyword("host")))
    return syntax::parseAffineNumber(parser, host);
  host = AffineNumberAttr::get(parser.getContext(), 0, {});
  return success();
}
static void printHost(OpAsmPrinter &printer, Operation *, AffineNumberAttr host) {
  if (host.getConstant() == 0 && host.getSteps().empty())
    return;
  printer << " host ";
  syntax::printAffineNumber(printer, host);
}

static void printExtents(OpAsmPrinter &printer, Operation *, ArrayAttr extents) {
  syntax::printExtents(printer, extents);
}

static ParseResult parseStrides(OpAsmParser &parser, DenseI64ArrayAttr &strides) {
  SmallVector<int64_t, 4> values;
  if (succeeded(parser.parseOptionalKeyword("strides")) &&
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                     [&] { return parser.parseInteger(values.emplace_back()); }))
    return failure();
  while (!values.empty() && values.back() == 0)
    values.pop_back();
  strides = parser.getBuilder().getDenseI64ArrayAttr(values);
  return success();
}
static void printStrides(OpAsmPrinter &printer, Operation *, DenseI64ArrayAttr strides) {
  if (!strides.empty())
    printer << " strides [" << llvm::ArrayRef(strides.asArrayRef()) << "]";
}

static ParseResult parseInOrOut(OpAsmParser &parser, UnitAttr &output) {
  StringRef direction;
  if (syntax::parseKeywordOf(parser, direction, {"input", "output"}))
    return failure();
  if (direction == "output")
    output = parser.getBuilder().getUnitAttr();
  return success();
}
static void printInOrOut(OpAsmPrinter &printer, Operation *, UnitAttr output) {
  printer << (output ? "output" : "input");
}

static ParseResult parsePort(OpAsmParser &parser, IntegerAttr &port) {
  int32_t value = 0;
  if (parsePort(static_cast<AsmParser &>(parser), value))
    return failure();
  port = parser.getBuilder().getI32IntegerAttr(value);
  return success();
}
static StringRef portName(int64_t port) {
  return port >= 0 && port < 5 ? StringRef(kPortNames[port]) : StringRef("invalid");
}
static void printPort(OpAsmPrinter &printer, Operation *, IntegerAttr port) { printer << portName(port.getInt()); }

// `[west -> east, ramp -> east ramp]`; stored as pairs (input port, mask of output ports).
static ParseResult parsePositions(OpAsmParser &parser, DenseI32ArrayAttr &positions) {
  SmallVector<int32_t> values;
  auto parseOne = [&]() -> ParseResult {
    int32_t input = 0, output = 0, mask = 0;
    if (parsePort(static_cast<AsmParser &>(parser), input) || parser.parseArrow() ||
        parsePort(static_cast<AsmParser &>(parser), output))
      return failure();
    mask = 1 << output;
    StringRef more;
    while (succeeded(parser.parseOptionalKeyword(&more, {"north", "south", "east", "west", "ramp"})))
      mask |= 1 << (llvm::find(kPortNames, more) - std::begin(kPortNames));
    values.append({input, mask});
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  positions = parser.getBuilder().getDenseI32ArrayAttr(values);
  return success();
}
static void printPositions(OpAsmPrinter &printer, Operation *, DenseI32ArrayAttr positions) {
  printer << "[";
  for (int64_t i = 0; i + 1 < positions.size(); i += 2) {
    printer << (i ? ", " : "") << portName(positions[i]) << " ->";
    for (int port = 0; port < 5; ++port)
      if (positions[i + 1] & (1 << port))
        printer << " " << kPortNames[port];
  }
  printer << "]";
}

static ParseResult parseTensors(OpAsmParser &parser, ArrayAttr &names, ArrayAttr &types) {
  SmallVector<Attribute> nameList, typeList;
  auto parseOne = [&]() -> ParseResult {
    std::string name;
    Type type;
    if (parser.parseString(&name) || parser.parseColonType(type))
      return failure();
    nameList.push_back(parser.getBuilder().getStringAttr(name));
    typeList.push_back(TypeAttr::get(type));
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  names = parser.getBuilder().getArrayAttr(nameList);
  types = parser.getBuilder().getArrayAttr(typeList);
  return success();
}
static void printTensors(OpAsmPrinter &printer, Operation *, ArrayAttr names, ArrayAttr types) {
  printer << "[";
  for (size_t i = 0; i < std::min(names.size(), types.size()); ++i) {
    printer << (i ? ", " : "");
    printer.printString(cast<StringAttr>(names[i]).getValue());
    printer << " : " << cast<TypeAttr>(types[i]).getValue();
  }
  printer << "]";
}

static ParseResult parseSteps(OpAsmParser &parser, ArrayAttr &steps) {
  SmallVector<Attribute> list;
  auto parseOne = [&]() -> ParseResult {
    StepAttr step;
    if (syntax::parseStep(parser, step))
      return failure();
    list.push_back(step);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  steps = parser.getBuilder().getArrayAttr(list);
  return success();
}
static void printSteps(OpAsmPrinter &printer, Operation *, ArrayAttr steps) {
  printer << "[";
  llvm::interleaveComma(steps, printer, [&](Attribute step) { syntax::printStep(printer, cast<StepAttr>(step)); });
  printer << "]";
}

static ParseResult parseBufferKind(OpAsmParser &parser, StringAttr &kind) {
  StringRef keyword;
  if (syntax::parseKeywordOf(parser, keyword, {"scratch", "constant", "state", "resident"}))
    return failure();
  kind = parser.getBuilder().getStringAttr(keyword);
  return success();
}
static void printBufferKind(OpAsmPrinter &printer, Operation *, StringAttr kind) { printer << kind.getValue(); }

// `of @variable`, or `of @resident + OFFSET step RUNSTEP`; zeros are not written.
static ParseResult parseOrigin(OpAsmParser &parser, FlatSymbolRefAttr &state, FlatSymbolRefAttr &resident,
                               IntegerAttr &residentOffset, IntegerAttr &runStep, StringAttr kind) {
  if (failed(parser.parseOptionalKeyword("of")))
    return success();
  StringAttr name;
  if (parser.parseSymbolName(name))
    return failure();
  const bool isWindow = kind.getValue() == "resident";
  (isWindow ? resident : state) = FlatSymbolRefAttr::get(name);
  int64_t offset = 0, step = 0;
  if (isWindow && succeeded(parser.parseOptionalPlus()) && parser.parseInteger(offset))
    return failure();
  if (isWindow && succeeded(parser.parseOptionalKeyword("step")) && parser.parseInteger(step))
    return failure();
  residentOffset = parser.getBuilder().getI64IntegerAttr(offset);
  runStep = parser.getBuilder().getI64IntegerAttr(step);
  return success();
}
static void printOrigin(OpAsmPrinter &printer, Operation *, FlatSymbolRefAttr state, FlatSymbolRefAttr resident,
                        IntegerAttr residentOffset, IntegerAttr runStep, StringAttr) {
  if (state)
    printer << " of " << state;
  if (!resident)
    return;
  printer << " of " << resident;
  if (residentOffset.getInt() != 0)
    printer << " + " << residentOffset.getInt();
  if (runStep.getInt() != 0)
    printer << " step " << runStep.getInt();
}

// The name is written only when the SSA value is called something else.
static ParseResult parseResultName(OpAsmParser &parser, StringAttr &name) {
  std::string text;
  if (failed(parser.parseOptionalString(&text)))
    text = parser.getResultName(0).first.str();
  name = parser.getBuilder().getStringAttr(text);
  return success();
}
static void printResultName(OpAsmPrinter &printer, Operation *op, StringAttr name) {
  std::string value;
  llvm::raw_string_ostream os(value);
  printer.printOperand(op->getResult(0), os);
  if (StringRef(value).drop_front() == name.getValue())
    return;
  printer << " ";
  printer.printString(name.getValue());
}

// `240 x f32`, or `963 bytes f32` when the bytes are no multiple of the element.
static ParseResult parseSize(OpAsmParser &parser, IntegerAttr &bytes, TypeAttr &elementType) {
  int64_t count = 0;
  StringRef unit;
  Type type;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseInteger(count) || syntax::parseKeywordOf(parser, unit, {"x", "bytes"}) || parser.parseType(type))
    return failure();
  std::optional<format::ElementType> element = toElementType(type);
  if (!element)
    return parser.emitError(loc) << "element type " << type << " is none of " << kElementTypes;
  if (unit == "x" && __builtin_mul_overflow(count, format::elementBytes(*element), &count))
    return parser.emitError(loc, "size in bytes exceeds 64 bits");
  bytes = parser.getBuilder().getI64IntegerAttr(count);
  elementType = TypeAttr::get(type);
  return success();
}
static void printSize(OpAsmPrinter &printer, Operation *, IntegerAttr bytes, TypeAttr elementType) {
  std::optional<format::ElementType> element = toElementType(elementType.getValue());
  int64_t unit = element ? format::elementBytes(*element) : 0;
  if (unit > 0 && bytes.getInt() % unit == 0)
    printer << bytes.getInt() / unit << " x ";
  else
    printer << bytes.getInt() << " bytes ";
  printer << elementType.getValue();
}

//===- Names of values
//------------------------------------------------------------------------------------------------===//

void BufferOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getMemory(), getName()); }
void FifoOp::getAsmResultNames(OpAsmSetValueNameFn setName) { setName(getStream(), getName()); }
void QueueOp::getAsmResultNames(OpAsmSetValueNameFn setName) {
  setName(getStream(), (getOutput() ? "out" : "in") + std::to_string(getIndex()));
}

} // namespace wsc::core

#define GET_OP_CLASSES
#include "dialects/core/CoreOps.cpp.inc"
