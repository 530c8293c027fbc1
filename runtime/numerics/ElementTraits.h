// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each element type as a template: how it is stored (unsigned bits), in what type it is computed, and the conversions
// between types. Storage that is narrower than 32 bits is widened exactly before it is computed on, and cut (integers,
// bool) or rounded once (f16, bf16) afterwards.
#pragma once

#include "runtime/format/Isa.h"
#include "runtime/numerics/Convert.h"

#include <type_traits>

namespace wsc::numerics {

template <int Bytes>
using UnsignedOf =
    std::conditional_t<Bytes == 1, uint8_t,
                       std::conditional_t<Bytes == 2, uint16_t, std::conditional_t<Bytes == 4, uint32_t, uint64_t>>>;

// An integer or bool type: Stored gives width and signedness.
template <typename Stored, typename Computed> struct IntegerTraits {
  using Storage = std::make_unsigned_t<Stored>;
  using Value = Computed;
  static WSC_INLINE Value widen(Storage bits) { return Value(Stored(bits)); }
  static WSC_INLINE Storage narrow(Value value) { return Storage(value); }
};

template <format::ElementType E> struct ElementTraits;
template <> struct ElementTraits<format::ElementType::F32> {
  using Storage = uint32_t;
  using Value = float;
  static WSC_INLINE Value widen(Storage bits) { return floatOf(bits); }
  static WSC_INLINE Storage narrow(Value value) { return bitsOf(value); }
};
template <> struct ElementTraits<format::ElementType::F64> {
  using Storage = uint64_t;
  using Value = double;
  static WSC_INLINE Value widen(Storage bits) { return doubleOf(bits); }
  static WSC_INLINE Storage narrow(Value value) { return bitsOf(value); }
};
template <> struct ElementTraits<format::ElementType::F16> {
  using Storage = uint16_t;
  using Value = float;
  static WSC_INLINE Value widen(Storage bits) { return f16ToF32(bits); }
  static WSC_INLINE Storage narrow(Value value) { return f32ToF16(value); }
};
template <> struct ElementTraits<format::ElementType::BF16> {
  using Storage = uint16_t;
  using Value = float;
  static WSC_INLINE Value widen(Storage bits) { return bf16ToF32(bits); }
  static WSC_INLINE Storage narrow(Value value) { return f32ToBF16(value); }
};
template <> struct ElementTraits<format::ElementType::I32> : IntegerTraits<int32_t, int32_t> {};
template <> struct ElementTraits<format::ElementType::U32> : IntegerTraits<uint32_t, uint32_t> {};
template <> struct ElementTraits<format::ElementType::I64> : IntegerTraits<int64_t, int64_t> {};
template <> struct ElementTraits<format::ElementType::U64> : IntegerTraits<uint64_t, uint64_t> {};
template <> struct ElementTraits<format::ElementType::I8> : IntegerTraits<int8_t, int32_t> {};
template <> struct ElementTraits<format::ElementType::U8> : IntegerTraits<uint8_t, int32_t> {};
template <> struct ElementTraits<format::ElementType::I16> : IntegerTraits<int16_t, int32_t> {};
template <> struct ElementTraits<format::ElementType::U16> : IntegerTraits<uint16_t, int32_t> {};
// 0 or 1; any other byte reads as 1.
template <> struct ElementTraits<format::ElementType::Bool> {
  using Storage = uint8_t;
  using Value = int32_t;
  static WSC_INLINE Value widen(Storage bits) { return bits != 0; }
  static WSC_INLINE Storage narrow(Value value) { return value != 0; }
};

// Calls X(ElementType) for every type.
#define WSC_FOR_ELEMENT_TYPES(X)                                                                                       \
  X(F32) X(F16) X(BF16) X(I32) X(I64) X(U8) X(I8) X(Bool) X(F64) X(I16) X(U16) X(U32) X(U64)

// A value as an element of type To, by the rules of conversion. From: float, double or an integer of 32 or 64 bits.
template <format::ElementType To, typename From> WSC_INLINE typename ElementTraits<To>::Storage convertTo(From value) {
  using enum format::ElementType;
  using Storage = typename ElementTraits<To>::Storage;
  constexpr bool fromFloat = std::is_floating_point_v<From>;
  constexpr bool wideInteger = !fromFloat && sizeof(From) == 8; // may not fit in a double
  if constexpr (To == Bool) {
    return value != 0;
  } else if constexpr (To == F64) {
    return bitsOf(canonical(double(value)));
  } else if constexpr (To == F32) {
    return bitsOf(canonical(float(value)));
  } else if constexpr (To == F16 || To == BF16) {
    if constexpr (std::is_same_v<From, float>)
      return To == F16 ? f32ToF16(value) : f32ToBF16(value);
    else if constexpr (wideInteger)
      return To == F16 ? f64ToF16(integerToF64Odd(value)) : f64ToBF16(integerToF64Odd(value));
    else
      return To == F16 ? f64ToF16(double(value)) : f64ToBF16(double(value));
  } else if constexpr (!fromFloat) {
    return Storage(value);
  } else if constexpr (To == I64) {
    return Storage(f64ToI64(double(value)));
  } else if constexpr (To == U64) {
    return f64ToU64(double(value));
  } else if constexpr (To == U32) {
    return Storage(f64ToInteger<int64_t>(double(value), 0, 4294967295.0));
  } else {
    using Signed = std::make_signed_t<Storage>;
    constexpr bool isSigned = To == I8 || To == I16 || To == I32;
    constexpr double low = isSigned ? double(Signed(Storage(1) << (8 * sizeof(Storage) - 1))) : 0.0;
    constexpr double high = isSigned ? -1.0 - low : double(Storage(-1));
    return Storage(f64ToInteger<int32_t>(double(value), low, high));
  }
}

} // namespace wsc::numerics
