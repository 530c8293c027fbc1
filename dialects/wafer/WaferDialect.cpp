// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration, attributes and verifiers of the wafer dialect.
#include "dialects/wafer/Wafer.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace wsc::wafer;

#include "dialects/wafer/WaferDialect.cpp.inc"

/// `[1, 2]`, or `[]`: a kernel that only reads a variable takes no stream.
static ParseResult parseNumbers(AsmParser &parser, SmallVectorImpl<int64_t> &numbers) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(numbers.emplace_back()); });
}
static void printNumbers(AsmPrinter &printer, ArrayRef<int64_t> numbers) {
  printer << '[';
  llvm::interleaveComma(numbers, printer);
  printer << ']';
}

#define GET_ATTRDEF_CLASSES
#include "dialects/wafer/WaferAttributes.cpp.inc"

/// `[<over …>, <over …>]`: the pieces of a remap without the name of their attribute.
static ParseResult parsePieces(OpAsmParser &parser, ArrayAttr &pieces) {
  SmallVector<Attribute> list;
  auto parseOne = [&]() -> ParseResult {
    PieceAttr piece;
    if (parser.parseCustomAttributeWithFallback(piece))
      return failure();
    list.push_back(piece);
    return success();
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, parseOne))
    return failure();
  pieces = parser.getBuilder().getArrayAttr(list);
  return success();
}
static void printPieces(OpAsmPrinter &printer, Operation *, ArrayAttr pieces) {
  printer << '[';
  llvm::interleaveComma(pieces.getAsRange<PieceAttr>(), printer, [&](PieceAttr piece) { piece.print(printer); });
  printer << ']';
}

#define GET_OP_CLASSES
#include "dialects/wafer/WaferOps.cpp.inc"

void WaferDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/wafer/WaferAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/wafer/WaferOps.cpp.inc"
      >();
}

// Far beyond any mesh or channel count, and small enough that sums and products of two stay far from overflow.
static constexpr int64_t kMostUnits = 1 << 24;

static bool isColour(int64_t colour) { return colour >= 0 && colour <= 255; }

static LogicalResult verifyLaneColours(Operation *op, DenseI32ArrayAttr colours) {
  if (colours)
    for (int32_t colour : colours.asArrayRef())
      if (!isColour(colour))
        return op->emitOpError("has lane colour ") << colour << "; colours are numbers from 0 to 255";
  return success();
}

static LogicalResult verifyTurns(Operation *op, DenseI32ArrayAttr turns) {
  if (turns)
    for (int32_t turn : turns.asArrayRef())
      if (turn < -kMostUnits || turn > kMostUnits)
        return op->emitOpError("has a lane that turns ")
               << turn << " columns west; they are numbers from -" << kMostUnits << " to " << kMostUnits;
  return success();
}

LogicalResult MappingAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t slice, int64_t column,
                                  ArrayRef<int64_t> fifo, bool streamed, int64_t bands, bool exitsNear, int64_t feeder,
                                  bool) {
  if (slice < 1 || column < 1)
    return emitError() << "slice and column are at least 1 channel, got " << slice << " and " << column;
  if (bands < 1 || bands > kMostUnits)
    return emitError() << "bands are 1 to " << kMostUnits << ", got " << bands;
  if (feeder < 0 || feeder > column)
    return emitError() << "a feeder makes 0 to " << column << " channels, as many as a column at most, got " << feeder;
  for (int64_t samples : fifo)
    if (samples < 1)
      return emitError() << "a FIFO holds at least 1 sample, got " << samples;
  if (slice > kMostUnits || column > kMostUnits ||
      llvm::any_of(fifo, [](int64_t samples) { return samples > kMostUnits; }))
    return emitError() << "slice, column and fifo are at most " << kMostUnits;
  return success();
}

LogicalResult PinAttr::verify(function_ref<InFlightDiagnostic()> emitError, std::optional<int64_t> columns,
                              std::optional<int64_t> col) {
  if (!columns && !col)
    return emitError() << "a pin says columns, col or both";
  if ((columns && (*columns < 1 || *columns > kMostUnits)) || (col && (*col < 0 || *col > kMostUnits)))
    return emitError() << "a pin has at least 1 column and begins at column >= 0, both at most " << kMostUnits;
  return success();
}

LogicalResult RectAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t row, int64_t col, int64_t rows,
                               int64_t cols) {
  if (row < 0 || col < 0 || rows < 1 || cols < 1)
    return emitError() << "a rectangle begins at row and column >= 0 and has at least one row and column";
  if (row > kMostUnits || col > kMostUnits || rows > kMostUnits || cols > kMostUnits)
    return emitError() << "row, col, rows and cols are at most " << kMostUnits;
  return success();
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t tileRows,
                                 ArrayRef<int64_t> blocks, int64_t order) {
  if (tileRows < 1 || order < 1)
    return emitError() << "tile_rows and order are at least 1, got " << tileRows << " and " << order;
  if (tileRows > kMostUnits || order > kMostUnits)
    return emitError() << "tile_rows and order are at most " << kMostUnits;
  if (blocks.size() < 2 || blocks.front() != 0)
    return emitError() << "blocks lists the beginnings of channel blocks from 0 on, and the number of channels";
  for (size_t i = 1; i < blocks.size(); ++i)
    if (blocks[i] <= blocks[i - 1])
      return emitError() << "blocks must increase, got " << blocks[i - 1] << " before " << blocks[i];
  return success();
}

LogicalResult StateAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t tileRows, int64_t slice,
                                int64_t rows, int64_t col, int64_t address) {
  if (tileRows < 1 || slice < 1 || rows < 1)
    return emitError() << "tile_rows, slice and rows are at least 1, got " << tileRows << ", " << slice << " and "
                       << rows;
  if (col < 0 || address < 0 || address % 8 != 0)
    return emitError() << "a variable lies at a column >= 0 and an address that is a multiple of 8, got " << col
                       << " and " << address;
  return success();
}

LogicalResult WaferDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != getStateAttrName())
    return success();
  if (op->getName().getStringRef() != "nn.variable" || !isa<StateAttr>(attribute.getValue()))
    return op->emitOpError() << getStateAttrName() << " is a #wafer.state on an nn.variable";
  return success();
}

LogicalResult ColoursAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t row, ArrayRef<int64_t> chain) {
  if (chain.size() != 2)
    return emitError() << "a chain reduce alternates between two colours, got " << chain.size();
  for (int64_t colour : {row, chain[0], chain[1]})
    if (!isColour(colour))
      return emitError() << "colours are numbers from 0 to 255, got " << colour;
  if (row == chain[0] || row == chain[1] || chain[0] == chain[1])
    return emitError() << "row and chain colours must differ";
  return success();
}

void YieldOp::build(OpBuilder &, OperationState &) {}

LogicalResult EnterOp::verify() {
  if (getLaneColoursAttr() && !getLayoutAttr())
    return emitOpError("has lane_colours but no layout");
  if (failed(verifyTurns(*this, getViaAttr())))
    return failure();
  return verifyLaneColours(*this, getLaneColoursAttr());
}

LogicalResult KernelOp::verify() {
  if (failed(verifyTurns(*this, getViaAttr())))
    return failure();
  if (ArrayAttr turns = getTurnsAttr())
    for (Attribute of : turns)
      if (failed(verifyTurns(*this, cast<DenseI32ArrayAttr>(of))))
        return failure();
  Block &block = getBody().front();
  if (block.getNumArguments() != getInputs().size())
    return emitOpError("takes ") << getInputs().size() << " streams but its region has " << block.getNumArguments()
                                 << " arguments";
  for (auto [argument, input] : llvm::zip(block.getArguments(), getInputs()))
    if (argument.getType() != input.getType())
      return emitOpError("region argument ")
             << argument.getArgNumber() << " has type " << argument.getType() << ", the stream has " << input.getType();
  auto yield = dyn_cast<YieldOp>(block.getTerminator());
  if (!yield)
    return emitOpError("region must end in wafer.yield");
  if (bool(yield.getValue()) != bool(getResult()))
    return emitOpError(getResult() ? "has a result but yields none" : "yields a value but has no result");
  if (getResult() && yield.getValue().getType() != getResult().getType())
    return emitOpError("yields ") << yield.getValue().getType() << " but has result type " << getResult().getType();
  if (getRectAttr() && !getMappingAttr())
    return emitOpError("is placed but not sized: rect needs mapping");
  if (getLaneColoursAttr() && !getLayoutAttr())
    return emitOpError("has lane_colours but no layout");
  return verifyLaneColours(*this, getLaneColoursAttr());
}
