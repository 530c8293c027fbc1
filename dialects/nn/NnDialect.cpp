// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration of the nn dialect, its attributes, and the checks of attributes on entry points.
#include "dialects/nn/Nn.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "dialects/nn/NnDialect.cpp.inc"
#include "dialects/nn/NnEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/nn/NnAttributes.cpp.inc"

namespace wsc::nn {

void NnDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/nn/NnAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/nn/NnOps.cpp.inc"
      >();
}

Operation *NnDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto typed = dyn_cast<TypedAttr>(value);
  if (!typed || typed.getType() != type || !isa<WeightsAttr, DenseElementsAttr>(value))
    return nullptr;
  return ConstantOp::create(builder, loc, typed);
}

static LogicalResult verifyNameAttribute(Operation *op, NamedAttribute attribute) {
  if (attribute.getName() != NnDialect::getNameAttrName())
    return op->emitError() << "unknown attribute '" << attribute.getName().getValue()
                           << "' of dialect nn; arguments and results take '" << NnDialect::getNameAttrName() << "'";
  auto name = dyn_cast<StringAttr>(attribute.getValue());
  if (!name || name.getValue().empty())
    return op->emitError() << "'" << NnDialect::getNameAttrName() << "' must be a non-empty string, found "
                           << attribute.getValue();
  return success();
}

LogicalResult NnDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned, NamedAttribute attribute) {
  return verifyNameAttribute(op, attribute);
}

LogicalResult NnDialect::verifyRegionResultAttribute(Operation *op, unsigned, unsigned, NamedAttribute attribute) {
  return verifyNameAttribute(op, attribute);
}

LogicalResult WeightsAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef file, uint64_t offset,
                                  uint64_t bytes, uint64_t, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !tensor.hasStaticShape() || !tensor.getElementType().isIntOrFloat())
    return emitError() << "#nn.weights needs a statically shaped tensor of integers or floats, found " << type;
  if (file.empty())
    return emitError() << "#nn.weights needs a file name";
  uint64_t expected = (tensor.getElementTypeBitWidth() + 7) / 8;
  for (int64_t extent : tensor.getShape())
    if (__builtin_mul_overflow(expected, static_cast<uint64_t>(extent), &expected))
      return emitError() << "#nn.weights of type " << type << " has more than 2^64 bytes";
  if (bytes != expected)
    return emitError() << "#nn.weights of type " << type << " needs " << expected << " bytes, found " << bytes;
  if (offset + bytes < offset)
    return emitError() << "#nn.weights ends beyond 2^64: offset " << offset << ", bytes " << bytes;
  return success();
}

} // namespace wsc::nn
