// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion of literals from and to bytes and attributes; see Literal.h.
#include "compiler/import/common/Literal.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/APInt.h"

using namespace mlir;

namespace wsc::import {

Literal Literal::zeros(RankedTensorType type) {
  Literal literal;
  literal.type = type;
  if (literal.isFloat())
    literal.floats.assign(type.getNumElements(), 0.0);
  else
    literal.ints.assign(type.getNumElements(), 0);
  return literal;
}

static double toDouble(llvm::APFloat value) {
  bool loses = false;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &loses);
  return value.convertToDouble();
}

static llvm::APFloat toApFloat(double value, FloatType type) {
  llvm::APFloat result(value);
  bool loses = false;
  result.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &loses);
  return result;
}

std::optional<Literal> Literal::fromBytes(RankedTensorType type, std::string_view bytes) {
  Type element = type.getElementType();
  unsigned bits = element.getIntOrFloatBitWidth();
  size_t width = (bits + 7) / 8;
  if (width > 8 || bytes.size() != width * static_cast<size_t>(type.getNumElements()))
    return std::nullopt;
  Literal literal = zeros(type);
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    uint64_t word = 0;
    for (size_t b = 0; b < width; ++b)
      word |= static_cast<uint64_t>(static_cast<unsigned char>(bytes[i * width + b])) << (8 * b);
    if (auto floatType = dyn_cast<FloatType>(element))
      literal.floats[i] = toDouble(llvm::APFloat(floatType.getFloatSemantics(), llvm::APInt(bits, word)));
    else
      literal.ints[i] = bits == 1 ? word != 0 : static_cast<int64_t>(word);
  }
  literal.normalize();
  return literal;
}

Literal Literal::fromAttribute(DenseElementsAttr attribute) {
  Literal literal;
  literal.type = cast<RankedTensorType>(attribute.getType());
  Type element = literal.type.getElementType();
  if (isa<FloatType>(element)) {
    for (const llvm::APFloat &value : attribute.getValues<llvm::APFloat>())
      literal.floats.push_back(toDouble(value));
  } else {
    bool isSigned = !element.isUnsignedInteger() && !element.isInteger(1);
    for (const llvm::APInt &value : attribute.getValues<llvm::APInt>())
      literal.ints.push_back(isSigned ? value.getSExtValue() : static_cast<int64_t>(value.getZExtValue()));
  }
  return literal;
}

DenseElementsAttr Literal::toAttribute() const {
  Type element = type.getElementType();
  if (element.isF64())
    return DenseElementsAttr::get(type, ArrayRef<double>(floats));
  if (element.isF32())
    return DenseElementsAttr::get(type, ArrayRef<float>(std::vector<float>(floats.begin(), floats.end())));
  if (auto floatType = dyn_cast<FloatType>(element)) {
    std::vector<llvm::APFloat> values;
    for (double value : floats)
      values.push_back(toApFloat(value, floatType));
    return DenseElementsAttr::get(type, values);
  }
  std::vector<llvm::APInt> values;
  for (int64_t value : ints)
    values.push_back(llvm::APInt(64, static_cast<uint64_t>(value)).trunc(element.getIntOrFloatBitWidth()));
  return DenseElementsAttr::get(type, values);
}

void Literal::normalize() {
  Type element = type.getElementType();
  if (auto floatType = dyn_cast<FloatType>(element)) {
    if (!floatType.isF64())
      for (double &value : floats)
        value = toDouble(toApFloat(value, floatType));
    return;
  }
  unsigned bits = element.getIntOrFloatBitWidth();
  if (bits >= 64)
    return;
  bool isSigned = !element.isUnsignedInteger() && bits != 1;
  for (int64_t &value : ints) {
    uint64_t word = static_cast<uint64_t>(value) << (64 - bits);
    value = isSigned ? static_cast<int64_t>(word) >> (64 - bits) : static_cast<int64_t>(word >> (64 - bits));
  }
}

} // namespace wsc::import
