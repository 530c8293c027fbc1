// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads, stores and conversions of single elements. A conversion goes through double (exact for every float type),
// int64 or uint64 (exact for every signed or unsigned integer type) and rounds once on the way out.
#include "runtime/numerics/Elements.h"

#include "runtime/numerics/ElementTraits.h"

#include <cstring>

namespace wsc::numerics {

using format::ElementType;

namespace {

template <typename T> uint64_t load(const std::byte *address) {
  T value;
  std::memcpy(&value, address, sizeof(T));
  return value;
}
template <typename T> void store(std::byte *address, uint64_t payload) {
  auto value = T(payload);
  std::memcpy(address, &value, sizeof(T));
}

template <typename From> uint64_t convertValue(From value, ElementType to) {
  switch (to) {
#define WSC_CASE(TYPE)                                                                                                 \
  case ElementType::TYPE:                                                                                              \
    return convertTo<ElementType::TYPE>(value);
    WSC_FOR_ELEMENT_TYPES(WSC_CASE)
#undef WSC_CASE
  }
  return 0;
}

double widen(uint64_t payload, ElementType type) {
  switch (type) {
  case ElementType::F16:
    return double(f16ToF32(uint16_t(payload)));
  case ElementType::BF16:
    return double(bf16ToF32(uint16_t(payload)));
  case ElementType::F64:
    return doubleOf(payload);
  default:
    return double(floatOf(uint32_t(payload)));
  }
}

} // namespace

bool isFloat(ElementType type) {
  return type == ElementType::F32 || type == ElementType::F16 || type == ElementType::BF16 || type == ElementType::F64;
}

bool isUnsigned(ElementType type) {
  switch (type) {
  case ElementType::U8:
  case ElementType::U16:
  case ElementType::U32:
  case ElementType::U64:
  case ElementType::Bool:
    return true;
  default:
    return false;
  }
}

int64_t integerValue(uint64_t payload, ElementType type) {
  switch (type) {
  case ElementType::I32:
    return int32_t(uint32_t(payload));
  case ElementType::I16:
    return int16_t(uint16_t(payload));
  case ElementType::I8:
    return int8_t(uint8_t(payload));
  case ElementType::U32:
    return uint32_t(payload);
  case ElementType::U16:
    return uint16_t(payload);
  case ElementType::U8:
    return uint8_t(payload);
  case ElementType::Bool:
    return payload != 0;
  default:
    return int64_t(payload);
  }
}

uint64_t loadElement(const std::byte *address, ElementType type) {
  switch (format::elementBytes(type)) {
  case 8:
    return load<uint64_t>(address);
  case 4:
    return load<uint32_t>(address);
  case 2:
    return load<uint16_t>(address);
  default:
    uint64_t byte = load<uint8_t>(address);
    return type == ElementType::Bool ? byte != 0 : byte;
  }
}

void storeElement(std::byte *address, ElementType type, uint64_t payload) {
  switch (format::elementBytes(type)) {
  case 8:
    return store<uint64_t>(address, payload);
  case 4:
    return store<uint32_t>(address, payload);
  case 2:
    return store<uint16_t>(address, payload);
  default:
    return store<uint8_t>(address, type == ElementType::Bool ? payload != 0 : payload);
  }
}

uint64_t encodeImmediate(double value, ElementType type) { return convertValue(value, type); }

uint64_t convertElement(uint64_t payload, ElementType from, ElementType to) {
  if (isFloat(from))
    return convertValue(widen(payload, from), to);
  const int64_t value = integerValue(payload, from);
  return isUnsigned(from) ? convertValue(uint64_t(value), to) : convertValue(value, to);
}

} // namespace wsc::numerics
