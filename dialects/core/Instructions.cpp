// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions: `fma %acc[0 by 4], %w[0 loop 4], %x[0 by 4] over [20] : f32`. The mnemonic is the opcode; a dialect
// hook turns it into `core.instruction`, and the operation's printer writes it back in the place of a name. Which
// operands an opcode may have is checked here, from the table behind runtime/format/Isa.h.
#include "dialects/core/CoreDialect.h"

#include "dialects/core/Syntax.h"

using namespace mlir;

namespace wsc::core {

static const format::OpcodeInfo *findVectorOpcode(StringRef name) {
  const format::OpcodeInfo *info = format::findOpcode(std::string_view(name.data(), name.size()));
  if (!info || info->opcode == format::Opcode::Loop || info->opcode == format::Opcode::EndLoop ||
      info->opcode == format::Opcode::SendControl)
    return nullptr;
  return info;
}

std::optional<Dialect::ParseOpHook> CoreDialect::getParseOperationHook(StringRef opName) const {
  StringRef mnemonic = opName;
  mnemonic.consume_front("core.");
  const format::OpcodeInfo *info = findVectorOpcode(mnemonic);
  if (!info)
    return std::nullopt;
  // One function per opcode: the hook is a function_ref, so what it refers to must outlive this call.
  static const std::vector<std::function<ParseResult(OpAsmParser &, OperationState &)>> hooks = [] {
    std::vector<std::function<ParseResult(OpAsmParser &, OperationState &)>> result;
    for (int i = 0; i < format::kNumOpcodes; ++i)
      result.push_back([name = format::opcodeInfo(format::Opcode(i)).name](OpAsmParser &parser, OperationState &state) {
        return InstructionOp::parseWithOpcode(StringRef(name.data(), name.size()), parser, state);
      });
    return result;
  }();
  return ParseOpHook(hooks[size_t(info->opcode)]);
}

ParseResult InstructionOp::parseWithOpcode(StringRef opcode, OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  MLIRContext *context = parser.getContext();
  SmallVector<Attribute, 3> operands;
  auto parseOperand = [&]() -> ParseResult {
    OpAsmParser::UnresolvedOperand reference;
    OptionalParseResult isReference = parser.parseOptionalOperand(reference);
    if (isReference.has_value()) {
      if (failed(*isReference))
        return failure();
      OperandAttr operand = OperandAttr::getKindOnly(context, OperandAttr::Stream);
      Type type = StreamType::get(context);
      if (succeeded(parser.parseOptionalLSquare())) {
        if (syntax::parseAccess(parser, operand) || parser.parseRSquare())
          return failure();
        type = MemoryType::get(context);
      }
      operands.push_back(operand);
      return parser.resolveOperand(reference, type, result.operands);
    }
    if (succeeded(parser.parseOptionalKeyword("null"))) {
      operands.push_back(OperandAttr::getKindOnly(context, OperandAttr::Null));
      return success();
    }
    llvm::APFloat value(0.0);
    if (parser.parseFloat(llvm::APFloat::IEEEdouble(), value))
      return failure();
    operands.push_back(OperandAttr::getImmediate(context, value.convertToDouble()));
    return success();
  };
  ArrayAttr extents;
  Type elementType;
  if (parser.parseCommaSeparatedList(parseOperand) || syntax::parseExtents(parser, extents) ||
      parser.parseColonType(elementType))
    return failure();
  Properties &properties = result.getOrAddProperties<Properties>();
  if (succeeded(parser.parseOptionalArrow())) {
    properties.sourceType = TypeAttr::get(elementType);
    if (parser.parseType(elementType))
      return failure();
  }
  int32_t priority = 0;
  if (succeeded(parser.parseOptionalKeyword("priority")) && parser.parseInteger(priority))
    return failure();
  properties.priority = builder.getI32IntegerAttr(priority);
  result.name = OperationName(getOperationName(), context);
  properties.opcode = builder.getStringAttr(opcode);
  properties.operandList = builder.getArrayAttr(operands);
  properties.extents = extents;
  properties.elementType = TypeAttr::get(elementType);
  return parser.parseOptionalAttrDict(result.attributes);
}

void InstructionOp::print(OpAsmPrinter &printer) {
  size_t next = 0;
  printer << " ";
  llvm::interleaveComma(getOperandList(), printer, [&](Attribute attr) {
    auto operand = dyn_cast<OperandAttr>(attr);
    if (!operand || (operand.isReference() && next >= getReferences().size())) {
      printer << "<invalid>";
      return;
    }
    if (operand.isReference())
      printer << getReferences()[next++];
    if (operand.getKind() == OperandAttr::Memory) {
      printer << "[";
      syntax::printAccess(printer, operand);
      printer << "]";
    } else if (operand.getKind() == OperandAttr::Null) {
      printer << "null";
    } else if (operand.getKind() == OperandAttr::Immediate) {
      printer << llvm::APFloat(operand.getImmediate());
    }
  });
  syntax::printExtents(printer, getExtents());
  printer << " : ";
  if (getSourceType())
    printer << *getSourceType() << " -> ";
  printer << getElementType();
  if (getPriority() != 0)
    printer << " priority " << getPriority();
  printer.printOptionalAttrDict((*this)->getDiscardableAttrDictionary().getValue());
}

OperationName::PrintAssemblyFn InstructionOp::getPrintAssemblyFn() {
  return [](Operation *op, OpAsmPrinter &printer, StringRef defaultDialect) {
    auto instruction = cast<InstructionOp>(op);
    if (defaultDialect != CoreDialect::getDialectNamespace())
      printer << CoreDialect::getDialectNamespace() << ".";
    printer << instruction.getOpcode();
    instruction.print(printer);
  };
}

//===- Structure of instructions
//--------------------------------------------------------------------------------------===//

static int loopDepth(Operation *op) {
  int depth = 0;
  for (Operation *parent = op->getParentOp(); isa_and_nonnull<LoopOp>(parent); parent = parent->getParentOp())
    ++depth;
  return depth;
}

// One operand of an instruction, with the value behind it (null for immediates and null).
struct ResolvedOperand {
  OperandAttr attr;
  Value value;
};

static LogicalResult checkReference(InstructionOp op, StringRef role, const ResolvedOperand &operand) {
  bool isMemory = isa<MemoryType>(operand.value.getType());
  if (isMemory != (operand.attr.getKind() == OperandAttr::Memory))
    return op.emitOpError() << role << " must be "
                            << (isMemory ? "memory: write `[0]` for its first byte" : "a FIFO or queue");
  if (operand.attr.getStrides().size() > 4 || operand.attr.getLoopSteps().size() > 4)
    return op.emitOpError() << role << " has " << operand.attr.getStrides().size() << " strides and "
                            << operand.attr.getLoopSteps().size() << " loop steps, limit is 4 of each";
  int depth = loopDepth(op);
  if (int(operand.attr.getLoopSteps().size()) > depth)
    return op.emitOpError() << role << " has " << operand.attr.getLoopSteps().size()
                            << " loop steps, but the instruction is inside " << depth << " loops";
  return success();
}

static LogicalResult checkDestination(InstructionOp op, const format::OpcodeInfo &info, const ResolvedOperand &dst) {
  OperandAttr::Kind kind = OperandAttr::Kind(dst.attr.getKind());
  if (kind == OperandAttr::Immediate)
    return op.emitOpError("destination must not be a number");
  if (kind == OperandAttr::Null && info.opcode != format::Opcode::Move)
    return op.emitOpError("only `move` may discard its result with `null`");
  bool inPlace = info.readsDst || info.opcode == format::Opcode::Scatter;
  if (kind == OperandAttr::Stream && inPlace)
    return op.emitOpError("destination must be memory, because its old value takes part");
  if (kind == OperandAttr::Null)
    return success();
  if (auto queue = dst.value.getDefiningOp<QueueOp>(); queue && !queue.getOutput())
    return op.emitOpError("destination is an input queue; words leave through `queue out`");
  if (auto buffer = dst.value.getDefiningOp<BufferOp>(); buffer && buffer.getKind() == "constant")
    return op.emitOpError() << "destination is the constant buffer \"" << buffer.getName() << "\", which is read-only";
  return checkReference(op, "destination", dst);
}

static LogicalResult checkSource(InstructionOp op, const format::OpcodeInfo &info, int index,
                                 const ResolvedOperand &source) {
  StringRef role = index == 0 ? "first source" : "second source";
  if (source.attr.getKind() == OperandAttr::Null)
    return op.emitOpError() << role << " must not be `null`";
  bool indexed = info.opcode == format::Opcode::Gather && index == 0;
  if (indexed && source.attr.getKind() != OperandAttr::Memory)
    return op.emitOpError("first source must be memory, because it is indexed");
  if (!source.value)
    return success();
  if (auto queue = source.value.getDefiningOp<QueueOp>(); queue && queue.getOutput())
    return op.emitOpError() << role << " is an output queue; words arrive through `queue in`";
  return checkReference(op, role, source);
}

LogicalResult InstructionOp::verify() {
  const format::OpcodeInfo *info = findVectorOpcode(getOpcode());
  if (!info)
    return emitOpError() << "has the unknown opcode \"" << getOpcode() << "\"";
  std::optional<format::ElementType> type = toElementType(getElementType());
  if (!type)
    return emitOpError() << "element type " << getElementType() << " is none of " << kElementTypes;
  if (info->floatOnly && !isa<FloatType>(getElementType()))
    return emitOpError() << "`" << getOpcode() << "` needs a floating-point type, not " << getElementType();
  bool isConvert = info->opcode == format::Opcode::Convert;
  if (isConvert && !getSourceType())
    return emitOpError("`convert` needs two types: `source -> result`");
  if (getSourceType()) {
    std::optional<format::ElementType> source = toElementType(*getSourceType());
    if (!source)
      return emitOpError() << "source type " << *getSourceType() << " is no element type";
    if (!isConvert && !format::mayMix(info->opcode, *source, *type))
      return emitOpError()
             << "`" << getOpcode() << "` gives no " << getElementType() << " from sources of type " << *getSourceType()
             << "; legal are f16 or bf16 to f32, 8- or 16-bit integers to i32 and f32 to f64 in add, sub, "
                "mul, fma and reduce_add, and comparisons to i1";
  }
  if (getPriority() < 0 || getPriority() > 255)
    return emitOpError() << "has priority " << getPriority() << ", legal are 0 to 255";
  if (getExtents().size() > 4)
    return emitOpError() << "has " << getExtents().size() << " extents, limit is 4";
  for (Attribute extent : getExtents())
    if (!isa<AffineNumberAttr>(extent))
      return emitOpError() << "extent " << extent << " is no affine number";
  size_t expected = size_t(info->sources) + 1;
  if (getOperandList().size() != expected)
    return emitOpError() << "`" << getOpcode() << "` takes a destination and " << info->sources << " source"
                         << (info->sources == 1 ? "" : "s") << ", has " << getOperandList().size() << " operands";
  size_t next = 0;
  for (size_t i = 0; i < expected; ++i) {
    auto attr = dyn_cast<OperandAttr>(getOperandList()[i]);
    if (!attr)
      return emitOpError() << "operand " << i << " is no #core.operand";
    if (attr.isReference() && next >= getReferences().size())
      return emitOpError("has fewer values than memory and stream operands");
    ResolvedOperand operand{attr, attr.isReference() ? getReferences()[next++] : Value()};
    if (failed(i == 0 ? checkDestination(*this, *info, operand) : checkSource(*this, *info, int(i) - 1, operand)))
      return failure();
  }
  if (next != getReferences().size())
    return emitOpError("has more values than memory and stream operands");
  return success();
}

LogicalResult LoopOp::verify() {
  if (int depth = loopDepth(*this) + 1; depth > 4)
    return emitOpError() << "is nested " << depth << " deep, limit is 4";
  return success();
}

LogicalResult SendControlOp::verify() {
  auto queue = getQueue().getDefiningOp<QueueOp>();
  if (!queue || !queue.getOutput())
    return emitOpError("needs an output queue");
  if (getCount() < 1 || getCount() > 255)
    return emitOpError() << "count is " << getCount() << ", must be 1 to 255";
  if (getPriority() < 0 || getPriority() > 255)
    return emitOpError() << "has priority " << getPriority() << ", legal are 0 to 255";
  return success();
}

} // namespace wsc::core
