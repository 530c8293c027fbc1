// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/spmd/Immediates.h"

#include "passes/spmd/ElementTypes.h"

#include "runtime/numerics/Elements.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;

namespace wsc::spmd {

Element elementOf(Attribute constant, format::ElementType type) {
  Element element{type, 0, std::nullopt};
  double number = 0;
  APInt bits;
  bool isSameForm = false;
  if (auto real = dyn_cast<FloatAttr>(constant)) {
    number = real.getValueAsDouble();
    bits = real.getValue().bitcastToAPInt();
    isSameForm = elementTypeOf(real.getType()) == type;
  } else {
    auto integer = cast<IntegerAttr>(constant);
    bits = integer.getValue();
    number = bits.roundToDouble(!numerics::isUnsigned(type) && !integer.getType().isInteger(1));
    isSameForm = !numerics::isFloat(type) && type != format::ElementType::Bool &&
                 bits.getBitWidth() == 8 * unsigned(format::elementBytes(type));
  }
  element.bits = numerics::encodeImmediate(number, type);
  if (!isSameForm || element.bits == bits.getZExtValue())
    element.immediate = number;
  else
    element.bits = bits.getZExtValue();
  return element;
}

} // namespace wsc::spmd
