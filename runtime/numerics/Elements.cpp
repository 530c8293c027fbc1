// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads, stores and conversions of single elements. A conversion goes through double (exact for every float type) or int64 (exact
// for every integer type) and rounds once on the way out.
#include "runtime/numerics/Elements.h"

#include "runtime/numerics/Convert.h"

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

uint64_t fromDouble(double value, ElementType type) {
  switch (type) {
  case ElementType::F32:
    return bitsOf(f64ToF32(value));
  case ElementType::F16:
    return f64ToF16(value);
  case ElementType::BF16:
    return f64ToBF16(value);
  case ElementType::F64:
    return bitsOf(canonical(value));
  case ElementType::I32:
    return uint32_t(f64ToI32(value));
  case ElementType::I64:
    return uint64_t(f64ToI64(value));
  case ElementType::U8:
    return uint8_t(f64ToInteger(value, 0, 255));
  case ElementType::I8:
    return uint8_t(f64ToInteger(value, -128, 127));
  case ElementType::Bool:
    return value != 0;
  }
  return 0;
}

uint64_t fromInteger(int64_t value, ElementType type) {
  switch (type) {
  case ElementType::F32:
    return bitsOf(float(value));
  case ElementType::F16:
    return f64ToF16(i64ToF64Odd(value));
  case ElementType::BF16:
    return f64ToBF16(i64ToF64Odd(value));
  case ElementType::F64:
    return bitsOf(double(value));
  case ElementType::I32:
    return uint32_t(value);
  case ElementType::I64:
    return uint64_t(value);
  case ElementType::U8:
  case ElementType::I8:
    return uint8_t(value);
  case ElementType::Bool:
    return value != 0;
  }
  return 0;
}

} // namespace

bool isFloat(ElementType type) {
  return type == ElementType::F32 || type == ElementType::F16 || type == ElementType::BF16 || type == ElementType::F64;
}

int64_t integerValue(uint64_t payload, ElementType type) {
  switch (type) {
  case ElementType::I32:
    return int32_t(uint32_t(payload));
  case ElementType::I8:
    return int8_t(uint8_t(payload));
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

uint64_t encodeImmediate(double value, ElementType type) { return fromDouble(value, type); }

uint64_t convertElement(uint64_t payload, ElementType from, ElementType to) {
  return isFloat(from) ? fromDouble(widen(payload, from), to) : fromInteger(integerValue(payload, from), to);
}

} // namespace wsc::numerics
