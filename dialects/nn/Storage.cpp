// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/nn/Storage.h"
#include "dialects/nn/Nn.h"

using namespace mlir;

namespace wsc::nn {

Type byteTypeOf(Type element) {
  auto unsignedByte = [&] { return IntegerType::get(element.getContext(), 8, IntegerType::Unsigned); };
  if (auto floats = dyn_cast<FloatType>(element))
    return floats.getWidth() == 8 || floats.getWidth() == 4 ? unsignedByte() : Type();
  auto integer = dyn_cast<IntegerType>(element);
  if (!integer || (integer.getWidth() != 4 && integer.getWidth() != 2))
    return {};
  return integer.isUnsigned() ? unsignedByte() : IntegerType::get(element.getContext(), 8);
}

static APInt byteOf(const APInt &bits, Type byte) { return byte.isUnsignedInteger() ? bits.zext(8) : bits.sext(8); }

TypedAttr storedAsBytes(TypedAttr elements) {
  auto type = cast<RankedTensorType>(elements.getType());
  Type byte = byteTypeOf(type.getElementType());
  auto bytes = RankedTensorType::get(type.getShape(), byte);
  if (auto weights = dyn_cast<WeightsAttr>(elements))
    return WeightsAttr::get(bytes, weights.getFile(), weights.getOffset(), weights.getBytes(), weights.getHash());
  auto dense = cast<DenseElementsAttr>(Attribute(elements));
  auto convert = [&](const APInt &bits) { return bits.getBitWidth() == 8 ? bits : byteOf(bits, byte); };
  SmallVector<APInt> values;
  if (isa<FloatType>(type.getElementType())) {
    auto all = dense.getValues<APFloat>();
    for (int64_t i = 0, count = dense.isSplat() ? 1 : dense.getNumElements(); i < count; ++i)
      values.push_back(convert(all[i].bitcastToAPInt()));
  } else {
    auto all = dense.getValues<APInt>();
    for (int64_t i = 0, count = dense.isSplat() ? 1 : dense.getNumElements(); i < count; ++i)
      values.push_back(convert(all[i]));
  }
  return DenseElementsAttr::get(bytes, values);
}

TypedAttr elementAsByte(TypedAttr element) {
  Type byte = byteTypeOf(element.getType());
  APInt bits = isa<FloatAttr>(element) ? cast<FloatAttr>(element).getValue().bitcastToAPInt()
                                       : cast<IntegerAttr>(element).getValue();
  return IntegerAttr::get(byte, bits.getBitWidth() == 8 ? bits : byteOf(bits, byte));
}

} // namespace wsc::nn
