// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar functions of the reference; see NnReferenceScalar.h.
#include "test/support/NnReferenceScalar.h"
#include <cmath>
#include <limits>

using namespace wsc::nn;

namespace wsc::test {

double unaryFloat(UnaryKind kind, double x) {
  switch (kind) {
  case UnaryKind::Relu:
    return x < 0 ? 0 : x;
  case UnaryKind::Neg:
    return -x;
  case UnaryKind::Abs:
    return std::fabs(x);
  case UnaryKind::Exp:
    return std::exp(x);
  case UnaryKind::Log:
    return std::log(x);
  case UnaryKind::Sqrt:
    return std::sqrt(x);
  case UnaryKind::Rsqrt:
    return 1 / std::sqrt(x);
  case UnaryKind::Reciprocal:
    return 1 / x;
  case UnaryKind::Tanh:
    return std::tanh(x);
  case UnaryKind::Erf:
    return std::erf(x);
  case UnaryKind::Sigmoid:
    return 1 / (1 + std::exp(-x));
  case UnaryKind::Floor:
    return std::floor(x);
  case UnaryKind::Ceil:
    return std::ceil(x);
  case UnaryKind::Round:
    return std::nearbyint(x);
  case UnaryKind::Sign:
    return x > 0 ? 1 : x < 0 ? -1 : x;
  case UnaryKind::Sin:
    return std::sin(x);
  case UnaryKind::Cos:
    return std::cos(x);
  case UnaryKind::Not:
    return x == 0;
  }
  return NAN;
}

int64_t unaryInteger(UnaryKind kind, int64_t x, bool isUnsigned) {
  if (isUnsigned && kind != UnaryKind::Neg)
    return kind == UnaryKind::Sign ? x != 0 : x;
  switch (kind) {
  case UnaryKind::Relu:
    return x < 0 ? 0 : x;
  case UnaryKind::Neg:
    return static_cast<int64_t>(0 - static_cast<uint64_t>(x));
  case UnaryKind::Abs:
    return x < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(x)) : x;
  case UnaryKind::Sign:
    return x > 0 ? 1 : x < 0 ? -1 : 0;
  default:
    return x == 0; // Not: the verifier lets no other kind through
  }
}

double binaryFloat(BinaryKind kind, double a, double b) {
  switch (kind) {
  case BinaryKind::Add:
    return a + b;
  case BinaryKind::Sub:
    return a - b;
  case BinaryKind::Mul:
    return a * b;
  case BinaryKind::Div:
    return a / b;
  case BinaryKind::Min:
    return std::isnan(a) || a < b ? a : b;
  case BinaryKind::Max:
    return std::isnan(a) || a > b ? a : b;
  case BinaryKind::Pow:
    return std::pow(a, b);
  case BinaryKind::Mod: {
    double rest = std::fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  case BinaryKind::Rem:
    return std::fmod(a, b);
  case BinaryKind::Equal:
    return a == b;
  case BinaryKind::Less:
    return a < b;
  case BinaryKind::LessEqual:
    return a <= b;
  default:
    return NAN;
  }
}

/// Square and multiply, wrapping; a negative exponent gives the truncated reciprocal.
template <typename Number> static Number power(Number base, Number exponent) {
  if (exponent < 0)
    return base == 1 ? 1 : base == static_cast<Number>(-1) ? (exponent % 2 == 0 ? 1 : base) : 0;
  uint64_t result = 1, square = static_cast<uint64_t>(base);
  for (uint64_t left = static_cast<uint64_t>(exponent); left > 0; left >>= 1, square *= square)
    if (left & 1)
      result *= square;
  return static_cast<Number>(result);
}

template <typename Number> static Number shift(BinaryKind kind, Number a, Number count, unsigned bits) {
  const bool out = count < 0 || static_cast<uint64_t>(count) >= bits;
  if (kind == BinaryKind::ShiftLeft)
    return out ? 0 : static_cast<Number>(static_cast<uint64_t>(a) << count);
  return out ? (a < 0 ? -1 : 0) : a >> count;
}

template <typename Number> static Number apply(BinaryKind kind, Number a, Number b, unsigned bits) {
  uint64_t ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  // The lowest number divided by -1 wraps to itself.
  bool overflows = std::numeric_limits<Number>::is_signed && b == static_cast<Number>(-1);
  switch (kind) {
  case BinaryKind::Add:
    return static_cast<Number>(ua + ub);
  case BinaryKind::Sub:
    return static_cast<Number>(ua - ub);
  case BinaryKind::Mul:
    return static_cast<Number>(ua * ub);
  case BinaryKind::Div:
    return b == 0 ? 0 : overflows ? static_cast<Number>(0 - ua) : a / b;
  case BinaryKind::Rem:
    return b == 0 || overflows ? 0 : a % b;
  case BinaryKind::Mod: {
    Number rest = b == 0 || overflows ? 0 : a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  case BinaryKind::Min:
    return a < b ? a : b;
  case BinaryKind::Max:
    return a > b ? a : b;
  case BinaryKind::Pow:
    return power(a, b);
  case BinaryKind::Equal:
    return a == b;
  case BinaryKind::Less:
    return a < b;
  case BinaryKind::LessEqual:
    return a <= b;
  case BinaryKind::And:
    return a & b;
  case BinaryKind::Or:
    return a | b;
  case BinaryKind::Xor:
    return a ^ b;
  case BinaryKind::ShiftLeft:
  case BinaryKind::ShiftRight:
    return shift(kind, a, b, bits);
  }
  return 0;
}

int64_t binaryInteger(BinaryKind kind, int64_t a, int64_t b, unsigned bits, bool isUnsigned) {
  if (isUnsigned)
    return static_cast<int64_t>(apply<uint64_t>(kind, static_cast<uint64_t>(a), static_cast<uint64_t>(b), bits));
  return apply<int64_t>(kind, a, b, bits);
}

} // namespace wsc::test
