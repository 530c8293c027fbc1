// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Distance of a result from a reference of higher precision, in units of the last place of the reference.
#pragma once

#include <cmath>

namespace wsc::numerics::testing {

// digits and lowest exponent of the result's type: (24, -149) for float, (53, -1074) for double.
inline double ulpError(long double result, long double reference, int digits, int lowest) {
  if (std::isnan(reference) || std::isnan(result))
    return std::isnan(reference) && std::isnan(result) ? 0 : INFINITY;
  long double largest = std::ldexp(2.0L - std::ldexp(1.0L, 1 - digits), digits == 24 ? 127 : 1023);
  if (std::isinf(result)) // the reference may round to infinity although it is finite
    return std::fabs(reference) > largest && std::signbit(reference) == std::signbit(result) ? 0 : INFINITY;
  if (std::isinf(reference))
    return INFINITY;
  int exponent = reference == 0 ? lowest : std::max(std::ilogb(reference) - digits + 1, lowest);
  return double(std::fabs(result - reference) / std::ldexp(1.0L, exponent));
}
inline double ulpErrorF32(float result, long double reference) { return ulpError(result, reference, 24, -149); }
inline double ulpErrorF64(double result, long double reference) { return ulpError(result, reference, 53, -1074); }

} // namespace wsc::numerics::testing
