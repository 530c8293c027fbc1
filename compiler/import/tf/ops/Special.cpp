// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Special functions of one and two tensors as formulas: the gamma function's logarithm and derivatives, inverses of the
// error function, Bessel functions, zeta functions; the next number of a type and the number of bits set. In f32 they
// are accurate to a few parts in a million.
#include "absl/strings/str_cat.h"
#include "compiler/import/tf/Registry.h"
#include <cmath>
#include <cstdint>
#include <cstring>

namespace wsc::import::tf {
namespace {

constexpr double pi = 3.14159265358979323846;

/// Σ coefficients[k] · x^(n - 1 - k)
Expression polynomial(const Expression &x, llvm::ArrayRef<double> coefficients) {
  Expression sum = x.filled(coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = sum * x + coefficient;
  return sum;
}

template <Expression (*function)(const Expression &)> void formula(NodeContext &node) {
  Expression x = node.in(0);
  if (node.failed())
    return;
  if (!x.isFloat())
    return node.fail("needs a tensor of floats");
  node.setResult(function(widened(x)).cast(x.elementType()));
}

// Lanczos' approximation: Γ(z + 1) = √(2π) · (z + 7.5)^(z + 0.5) · e^-(z + 7.5) · (c0 + Σ ck / (z + k)).
constexpr double lanczosShift = 7.5;
constexpr double lanczosBase = 0.99999999999980993227684700473478;
constexpr double lanczos[] = {676.520368121885098567009190444019, -1259.13921672240287047156078755283,
                              771.3234287776530788486528258894,   -176.61502916214059906584551354,
                              12.507343278686904814458936853,     -0.13857109526572011689554707,
                              9.984369578019570859563e-6,         1.50563273514931155834e-7};

/// log |Γ(x)|. Below one half by reflection, Γ(x) Γ(1 - x) = π / sin(πx).
Expression logGamma(const Expression &x) {
  Expression isReflected = less(x, 0.5), z = select(isReflected, -x, x - 1);
  Expression series = z.filled(lanczosBase);
  for (size_t k = 0; k < std::size(lanczos); ++k)
    series = series + lanczos[k] / (z + static_cast<double>(k + 1));
  Expression t = z + lanczosShift, logT = logOnePlus(z / lanczosShift) + std::log(lanczosShift);
  Expression value = (z + 0.5 - t / logT) * logT + log(series) + 0.5 * std::log(2 * pi);
  // Of x only the part behind the point turns the sine.
  Expression part = abs(x) - floor(abs(x)), turned = select(less(0.5, part), 1 - part, part);
  Expression reflected = std::log(pi) - log(sin(turned * pi)) - value;
  Expression result = select(isReflected, reflected, value);
  return select(isInfinite(x), abs(x), result);
}

/// Γ'(x) / Γ(x), from the derivative of the same approximation.
Expression digamma(const Expression &x) {
  Expression isReflected = less(x, 0.5), z = select(isReflected, -x, x - 1);
  Expression above = z.filled(0), below = z.filled(lanczosBase);
  for (size_t k = 0; k < std::size(lanczos); ++k) {
    Expression place = z + static_cast<double>(k + 1);
    above = above - lanczos[k] / square(place);
    below = below + lanczos[k] / place;
  }
  Expression t = z + lanczosShift, logT = logOnePlus(z / lanczosShift) + std::log(lanczosShift);
  Expression value = logT + above / below - 7 / t;
  Expression part = x - floor(x + 0.5); // tan(πx) has the period 1
  Expression isPole = lessEqual(x, 0) & equal(x, floor(x));
  Expression reflected = value - pi / tan(select(isPole, 0.25, part) * pi);
  return select(isPole, std::numeric_limits<double>::quiet_NaN(), select(isReflected, reflected, value));
}

/// The inverse of erf in terms of w = -log(1 - x²), after M. Giles, Approximating the erfinv function (2010).
Expression inverseErrorFunction(const Expression &x, const Expression &w) {
  static const double central[] = {2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
                                   -0.00125372503, -0.00417768164, 0.246640727,    1.50140941};
  static const double tail[] = {-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
                                -0.0076224613,   0.00943887047,  1.00167406,    2.83297682};
  Expression isCentral = less(w, 5);
  return select(isCentral, polynomial(minimum(w, 5) - 2.5, central), polynomial(sqrt(maximum(w, 5)) - 3, tail)) * x;
}

Expression erfInverse(const Expression &x) {
  Expression isEnd = equal(abs(x), 1), inner = select(isEnd, 0, x);
  Expression value = inverseErrorFunction(inner, -logOnePlus(-square(inner)));
  return select(isEnd, x * std::numeric_limits<double>::infinity(), value);
}

/// The quantile of the normal distribution, √2 · erf⁻¹(2p - 1); 1 - (2p - 1)² is 4p (1 - p).
Expression normalQuantile(const Expression &p) {
  Expression isEnd = equal(p, 0) | equal(p, 1), inner = select(isEnd, 0.5, p);
  Expression value = inverseErrorFunction(inner * 2 - 1, -log(inner * 4 * (1 - inner))) * std::sqrt(2.0);
  return select(isEnd, (p * 2 - 1) * std::numeric_limits<double>::infinity(), value);
}

// e^-|x| · I0(x) and e^-|x| · I1(x): Abramowitz and Stegun, 9.8.1 to 9.8.4.
Expression besselI0e(const Expression &x) {
  static const double inner[] = {0.0045813, 0.0360768, 0.2659732, 1.2067492, 3.0899424, 3.5156229, 1};
  static const double outer[] = {0.00392377,  -0.01647633, 0.02635537, -0.02057706, 0.00916281,
                                 -0.00157565, 0.00225319,  0.01328592, 0.39894228};
  Expression size = abs(x), t = square(minimum(size, 3.75) / 3.75), far = maximum(size, 3.75);
  return select(less(size, 3.75), polynomial(t, inner) * exp(-size), polynomial(3.75 / far, outer) * rsqrt(far));
}
Expression besselI1e(const Expression &x) {
  static const double inner[] = {0.00032411, 0.00301532, 0.02658733, 0.15084934, 0.51498869, 0.87890594, 0.5};
  static const double outer[] = {-0.00420059, 0.01787654,  -0.02895312, 0.02282967, -0.01031555,
                                 0.00163801,  -0.00362018, -0.03988024, 0.39894228};
  Expression size = abs(x), t = square(minimum(size, 3.75) / 3.75), far = maximum(size, 3.75);
  return select(less(size, 3.75), polynomial(t, inner) * exp(-size) * x,
                polynomial(3.75 / far, outer) * rsqrt(far) * sign(x));
}

/// Σ (q + k)^-s over k from 0 on, for s > 1 and q > 0: eight terms, and the rest by Euler and Maclaurin.
Expression hurwitzZeta(const Expression &s, const Expression &q) {
  constexpr int terms = 8;
  Expression sum = power(q, -s);
  for (int k = 1; k < terms; ++k)
    sum = sum + power(q + static_cast<double>(k), -s);
  Expression at = q + static_cast<double>(terms), last = power(at, -s);
  sum = sum + last * at / (s - 1) + last * 0.5;
  // B2k / (2k)! · s (s + 1) … (s + 2k - 2) · at^(-s - 2k + 1)
  constexpr double factors[] = {1.0 / 12, -1.0 / 720, 1.0 / 30240, -1.0 / 1209600};
  Expression term = last / at * s;
  for (size_t k = 0; k < std::size(factors); ++k) {
    sum = sum + term * factors[k];
    const double next = 2 * static_cast<double>(k) + 1;
    term = term * (s + next) * (s + (next + 1)) / square(at);
  }
  return sum;
}

void zeta(NodeContext &node) { node.setResult(hurwitzZeta(node.in(0), node.in(1))); }

/// The n-th derivative of digamma, (-1)^(n+1) · n! · ζ(n + 1, x); for n = 0 digamma itself.
void polygamma(NodeContext &node) {
  Expression n = node.in(0), x = node.in(1);
  if (node.failed())
    return;
  Expression isZero = equal(n, 0), order = select(isZero, 1, n);
  Expression side = select(equal(modulo(order, 2), 0), order.number(-1), order.number(1));
  Expression higher = side * exp(logGamma(order + 1)) * hurwitzZeta(order + 1, x);
  node.setResult(select(isZero, digamma(x), higher));
}

/// x · log(1 + y), 0 where x is 0.
void xTimesLog1p(NodeContext &node) {
  Expression x = node.in(0), y = node.in(1);
  node.setResult(select(equal(x, 0), 0, x * logOnePlus(y)));
}

/// The next f32 after a towards b: as integers, finite numbers of one sign follow each other.
void nextAfter(NodeContext &node) {
  Expression a = node.in(0), b = node.in(1);
  if (node.failed())
    return;
  if (!a.elementType().isF32() || !b.elementType().isF32())
    return node.unsupported("other element types than f32 are not supported");
  Expression bits{node.layers, node.layers.bitcast(a, node.i32())};
  Expression step = select(equal(less(a, b), less(0, a)), bits.number(1), bits.number(-1));
  Expression fromZero = select(less(0, b), bits.number(1), bits.number(std::numeric_limits<int32_t>::min() + 1.0));
  Expression next{node.layers, node.layers.bitcast(select(equal(a, 0), fromZero, bits + step), a.elementType())};
  node.setResult(select(isNan(a) | isNan(b), a + b, select(equal(a, b), b, next)));
}

void populationCount(NodeContext &node) {
  Expression x = node.in(0);
  if (node.failed())
    return;
  if (x.isFloat())
    return node.fail("needs a tensor of integers");
  const auto width = x.elementType().getIntOrFloatBitWidth();
  Expression one = x.number(1), sum = x & one;
  for (unsigned bit = 1; bit < width; ++bit)
    sum = sum + (binary(nn::BinaryKind::ShiftRight, x, x.number(bit)) & one);
  node.setResult(sum.cast(mlir::IntegerType::get(node.layers.builder().getContext(), 8, mlir::IntegerType::Unsigned)));
}

/// Whether two numbers differ by less than the tolerance.
void approximatelyEqual(NodeContext &node) {
  const double tolerance = node.floatAttribute("tolerance", 1e-5);
  node.setResult(less(abs(node.in(0) - node.in(1)), tolerance));
}

} // namespace

static const Operator table[] = {
    {"Lgamma", 1, 1, formula<logGamma>},
    {"Digamma", 1, 1, formula<digamma>},
    {"Polygamma", 2, 2, polygamma},
    {"Zeta", 2, 2, zeta},
    {"Erfinv", 1, 1, formula<erfInverse>},
    {"Ndtri", 1, 1, formula<normalQuantile>},
    {"BesselI0e", 1, 1, formula<besselI0e>},
    {"BesselI1e", 1, 1, formula<besselI1e>},
    {"Xlog1py", 2, 2, xTimesLog1p},
    {"NextAfter", 2, 2, nextAfter},
    {"PopulationCount", 1, 1, populationCount},
    {"ApproximateEqual", 2, 2, approximatelyEqual},
};
llvm::ArrayRef<Operator> specialOperators() { return table; }

} // namespace wsc::import::tf
