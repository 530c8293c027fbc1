// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f64 routines. The same reductions as in Float32.h with their low parts carried along:
//  exp      k·ln 2 removed in two parts, Taylor to degree 13, scaled in two steps so that denormal results stay right
//  log      2·artanh s with s, its cube term and k·ln 2 as double-doubles; pow uses the double-double as it is
//  sin cos  Cody-Waite by π/2 in four parts or Payne-Hanek, then Taylor with the first-order effect of the low part
//  erf      Cody's rational approximations (1969)
#include "runtime/numerics/Float64.h"

#include "runtime/numerics/Constants.h"
#include "runtime/numerics/Float32.h"
#include "runtime/numerics/Reduction.h"

namespace wsc::numerics {

namespace {

using namespace detail;

constexpr double kInfinity = __builtin_inf();

// Taylor coefficients, highest power first. (e^r - 1 - r - r²/2)/r³ to degree 10.
constexpr double kExpTail[11] = {1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800,
                                 1.0 / 362880,     1.0 / 40320,     1.0 / 5040,     1.0 / 720,
                                 1.0 / 120,        1.0 / 24,        1.0 / 6};
// Series of 2·artanh(s)/s from s⁴ on, in s², divided by s⁴.
constexpr double kArtanhTail[9] = {2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13,
                                   2.0 / 11, 2.0 / 9,  2.0 / 7,  2.0 / 5};
// (sin r - r)/r³ and (cos r - 1 + r²/2)/r⁴ in r².
constexpr double kSinTail[8] = {1.0 / 355687428096000, -1.0 / 1307674368000, 1.0 / 6227020800, -1.0 / 39916800,
                                1.0 / 362880,          -1.0 / 5040,          1.0 / 120,        -1.0 / 6};
constexpr double kCosTail[7] = {1.0 / 20922789888000, -1.0 / 87178291200, 1.0 / 479001600, -1.0 / 3628800,
                                1.0 / 40320,          -1.0 / 720,         1.0 / 24};

// Unevaluated sum high + low.
struct Pair {
  double high, low;
};

Pair twoSum(double a, double b) {
  double sum = a + b;
  double part = sum - a;
  return {sum, (a - (sum - part)) + (b - part)};
}

Pair fastTwoSum(double a, double b) {
  double sum = a + b;
  return {sum, b - (sum - a)};
}

// a·b and its error, by Dekker's splitting; operands far from overflow.
Pair twoProduct(double a, double b) {
  auto top = [](double v) { return doubleOf(bitsOf(v) & 0xfffffffff8000000ull); };
  double product = a * b;
  double ah = top(a), al = a - ah, bh = top(b), bl = b - bh;
  return {product, ((ah * bh - product) + ah * bl + al * bh) + al * bl};
}

Pair multiply(Pair a, Pair b) {
  Pair p = twoProduct(a.high, b.high);
  return fastTwoSum(p.high, p.low + (a.high * b.low + a.low * b.high));
}

// The reduced argument of e^x: x + low = k·ln 2 + r + c.
struct ExpReduction {
  double r, c;
  double shifted; // k in the low bits
};

ExpReduction reduceExp(double x, double low) {
  double shifted = x * kLog2E + kRoundShift;
  double k = shifted - kRoundShift;
  double head = x - k * kLn2High;
  double tail = k * kLn2Low - low;
  double r = head - tail;
  return {r, (head - r) - tail, shifted};
}

// e^(r+c) - 1 for the reduced argument, relatively accurate.
double expm1Reduced(const ExpReduction &e) {
  double r = e.r;
  double tail = r * r * (0.5 + r * polynomial(kExpTail, r)) + (e.c + e.c * r);
  return r + tail;
}

// 2^k·y for k in the low bits of `shifted`, |k| < 2000, with one rounding when the result is denormal.
double scaleBy(double y, double shifted) {
  auto k = int64_t(bitsOf(shifted) - bitsOf(kRoundShift));
  int64_t half = k / 2;
  return (y * doubleOf(uint64_t(half + 1023) << 52)) * doubleOf(uint64_t(k - half + 1023) << 52);
}

// e^(x + low) for finite x or infinities.
double expPair(double x, double low) {
  if (x > 710)
    return kInfinity;
  if (x < -746)
    return 0;
  ExpReduction e = reduceExp(x, low);
  return scaleBy(1.0 + expm1Reduced(e), e.shifted);
}

// ln x for finite x > 0.
Pair logPair(double x) {
  double extra = 0;
  if (x < 0x1p-1022) {
    x *= 0x1p54;
    extra = -54;
  }
  double k;
  double m = splitAtSqrtHalf(x, k);
  k += extra;
  double f = m - 1.0;
  Pair g = twoSum(m, 1.0);
  double s = f / g.high;
  Pair back = twoProduct(s, g.high);
  Pair sPair{s, (((f - back.high) - back.low) - s * g.low) / g.high};
  Pair square = multiply(sPair, sPair);
  // 2 + s²·(2/3 + s²·tail), the outer steps in pairs.
  double tail = square.high * polynomial(kArtanhTail, square.high);
  Pair inner = twoSum(0x1.5555555555555p-1, tail);
  inner.low += 0x1.5555555555555p-55;
  Pair cubic = multiply(square, fastTwoSum(inner.high, inner.low));
  Pair series = twoSum(2.0, cubic.high);
  series.low += cubic.low;
  Pair logM = multiply(sPair, fastTwoSum(series.high, series.low));
  if (k == 0)
    return logM;
  // k·ln2High is exact; the low part with its own error in ln 2 is below 2^-100.
  Pair kLow = twoProduct(k, kLn2Low);
  Pair sum = twoSum(k * kLn2High, logM.high);
  Pair sum2 = twoSum(sum.high, kLow.high);
  return fastTwoSum(sum2.high, sum2.low + (sum.low + logM.low + kLow.low));
}

double sinReduced(double r, double low) {
  double z = r * r;
  return r + (r * z * polynomial(kSinTail, z) + low * (1.0 - 0.5 * z));
}

double cosReduced(double r, double low) {
  Pair z = twoProduct(r, r);
  double half = 0.5 * z.high;
  double w = 1.0 - half;
  double rest = z.high * z.high * polynomial(kCosTail, z.high) - (r * low + 0.5 * z.low);
  return w + (((1.0 - w) - half) + rest);
}

// sin(x + shift·π/2).
double sinShifted(double x, int shift) {
  if (!(x > -kInfinity && x < kInfinity))
    return doubleOf(kNanF64);
  Angle angle{x, 0, 0};
  double magnitude = x < 0 ? -x : x;
  if (magnitude > kCodyWaiteLimit) {
    angle = reduceAngle(x);
  } else if (magnitude > 0.78) {
    double shifted = x * kTwoOverPi + kRoundShift;
    double k = shifted - kRoundShift;
    Pair first = twoSum(x - k * kHalfPi1, -(k * kHalfPi2));
    Pair second = twoSum(first.high, -(k * kHalfPi3));
    Pair sum = fastTwoSum(second.high, second.low + first.low - k * kHalfPi4);
    angle = {sum.high, sum.low, int(bitsOf(shifted) & 3)};
  }
  int quadrant = (angle.quadrant + shift) & 3;
  double value = quadrant & 1 ? cosReduced(angle.high, angle.low) : sinReduced(angle.high, angle.low);
  return canonical(quadrant & 2 ? -value : value);
}

double expm1Wide(double x) {
  ExpReduction e = reduceExp(x, 0);
  double scale = powerOfTwo(e.shifted);
  return scale * expm1Reduced(e) + (scale - 1.0);
}

} // namespace

double exp(double x) { return x != x ? doubleOf(kNanF64) : expPair(x, 0); }

double log(double x) {
  if (!(x >= 0))
    return doubleOf(kNanF64);
  if (x == 0)
    return -kInfinity;
  return x == kInfinity ? x : logPair(x).high;
}

double sigmoid(double x) {
  double e = numerics::exp(x > 0 ? -x : x);
  return canonical(x > 0 ? 1.0 / (1.0 + e) : e / (1.0 + e));
}

double tanh(double x) {
  double y = doubleOf(bitsOf(x) & 0x7fffffffffffffffull);
  if (y != y)
    return doubleOf(kNanF64);
  if (y < 0x1p-28)
    return x;
  if (y > 22)
    return copySign(1.0, x);
  double e = expm1Wide(y + y);
  return copySign(e / (e + 2.0), x);
}

double erf(double x) {
  double y = doubleOf(bitsOf(x) & 0x7fffffffffffffffull);
  if (y != y)
    return doubleOf(kNanF64);
  if (y > 6)
    return copySign(1.0, x);
  double z = y * y;
  if (y <= 0.46875)
    return y < 0x1p-28 ? x * 0x1.20dd750429b6dp+0 : x * (polynomial(kErfA, z) / polynomial(kErfB, z));
  double complement = numerics::exp(-z) * (polynomial(kErfC, y) / polynomial(kErfD, y));
  return copySign(1.0 - complement, x);
}

double pow(double a, double b) {
  if (a == 1 || b == 0)
    return 1;
  if (a != a || b != b)
    return doubleOf(kNanF64);
  double magnitudeA = doubleOf(bitsOf(a) & 0x7fffffffffffffffull);
  double magnitudeB = doubleOf(bitsOf(b) & 0x7fffffffffffffffull);
  bool integer = numerics::round(magnitudeB) == magnitudeB;
  bool odd = integer && magnitudeB < 0x1p53 && numerics::round(magnitudeB * 0.5) != magnitudeB * 0.5;
  double sign = odd ? a : 1.0;
  if (a < 0 && magnitudeA < kInfinity && !integer)
    return doubleOf(kNanF64);
  if (magnitudeA == 1)
    return copySign(1.0, sign);
  if (magnitudeA == 0 || magnitudeA == kInfinity || magnitudeB == kInfinity) {
    bool grows = (magnitudeA > 1) == (b > 0);
    return copySign(grows ? kInfinity : 0.0, sign);
  }
  // |ln a| < 745 and >= 2^-53: beyond |b| = 2^64 the result has long overflowed or vanished.
  Pair logarithm = logPair(magnitudeA);
  if (magnitudeB > 0x1p64)
    return copySign((logarithm.high > 0) == (b > 0) ? kInfinity : 0.0, sign);
  Pair exponent = multiply(logarithm, {b, 0});
  return copySign(expPair(exponent.high, exponent.low), sign);
}

double sin(double x) { return x > -0x1p-27 && x < 0x1p-27 ? x : sinShifted(x, 0); }
double cos(double x) { return sinShifted(x, 1); }

double round(double x) {
  double magnitude = doubleOf(bitsOf(x) & 0x7fffffffffffffffull);
  return canonical(magnitude < 0x1p52 ? copySign((magnitude + 0x1p52) - 0x1p52, x) : x);
}
double floor(double x) {
  double nearest = numerics::round(x);
  return canonical(copySign(nearest > x ? nearest - 1.0 : nearest, x));
}
double ceil(double x) {
  double nearest = numerics::round(x);
  return canonical(copySign(nearest < x ? nearest + 1.0 : nearest, x));
}

// Long division of mantissas: 64 bits of the exponent difference at a time.
double mod(double a, double b) {
  constexpr uint64_t kMagnitude = 0x7fffffffffffffffull, kInf = 0x7ff0000000000000ull;
  uint64_t ua = bitsOf(a) & kMagnitude, ub = bitsOf(b) & kMagnitude;
  if (ua >= kInf || ub > kInf || ub == 0)
    return doubleOf(kNanF64);
  if (ua < ub)
    return a;
  auto split = [](uint64_t bits, int &exponent) {
    uint64_t fraction = bits & ((1ull << 52) - 1);
    exponent = bits >> 52 ? int(bits >> 52) : 1;
    return bits >> 52 ? fraction | 1ull << 52 : fraction;
  };
  int ea, eb;
  uint64_t rest = split(ua, ea), divisor = split(ub, eb);
  rest %= divisor;
  for (int left = ea - eb; left > 0 && rest;) {
    int step = left < 64 ? left : 64;
    rest = uint64_t(((unsigned __int128)rest << step) % divisor);
    left -= step;
  }
  // rest · 2^(eb - 1075), below the divisor: exact.
  int shift = rest ? std::countl_zero(rest) - 11 : 0;
  if (shift >= eb)
    shift = eb - 1;
  rest <<= shift;
  uint64_t biased = rest >> 52 ? uint64_t(eb - shift) : 0;
  return copySign(doubleOf(biased << 52 | (rest & ((1ull << 52) - 1))), a);
}

float mod(float a, float b) { return canonical(float(numerics::mod(double(a), double(b)))); }

} // namespace wsc::numerics
