// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Formulas; see Functions.h. log(1 + x) is the logarithm of the rounded sum w = 1 + x plus what rounding took from it,
// (x - (w - 1)) / w, which to first order is the rest of the logarithm. e^x - 1 is tanh(x/2)·(e^x + 1). The arc tangent
// halves its angle three times, atan(x) = 2·atan(x / (1 + sqrt(1 + x²))), and sums the series of an argument of at most
// tan(π/16).
#include "compiler/import/common/Functions.h"
#include "dialects/nn/Shape.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>

namespace wsc::import {

using nn::ReduceKind;

static constexpr double ln2 = 0.69314718055994530942;
/// Beyond it x² ± 1 is x² in any element type, and x² is finite in f32.
static constexpr double large = 1e9;

Expression expMinusOneNegative(const Expression &x) {
  Expression low = minimum(x, 0);
  return tanh(low * 0.5) * (exp(low) + 1);
}

Expression logOnePlus(const Expression &x) {
  Expression w = x + 1;
  return log(w) + (x - (w - 1)) / maximum(w, 1e-37);
}

Expression softplus(const Expression &x) { return relu(x) + logOnePlus(exp(-abs(x))); }

Expression hardSigmoid(const Expression &x, double alpha, double beta) {
  return maximum(minimum(x * alpha + beta, 1), 0);
}

Expression tan(const Expression &x) { return sin(x) / cos(x); }

/// With h = e^|x| / 2 made of two halves, which does not overflow before the result.
Expression cosh(const Expression &x) {
  Expression root = exp(abs(x) * 0.5), half = root * 0.5 * root;
  return half + 0.25 / half;
}

Expression sinh(const Expression &x) { return tanh(x) * cosh(x); }

Expression asin(const Expression &x) { return atan(x * rsqrt((1 - x) * (1 + x))); }

Expression acos(const Expression &x) { return atan(sqrt((1 - x) / (1 + x))) * 2; }

Expression atan(const Expression &x) {
  // Beyond the limit the angle is π/2 to the last place; its square is finite.
  const bool isDouble = x.elementType() && x.elementType().isF64();
  const double limit = isDouble ? 1e17 : large;
  Expression t = maximum(minimum(x, limit), -limit);
  for (int i = 0; i < 3; ++i)
    t = t / (sqrt(t * t + 1) + 1);
  Expression z = t * t;
  const int terms = isDouble ? 12 : 6;
  Expression series = z.number(1.0 / (2 * terms - 1) * (terms % 2 ? 1 : -1));
  for (int k = terms - 1; k-- > 0;)
    series = series * z + (k % 2 ? -1.0 : 1.0) / (2 * k + 1);
  return series * t * 8;
}

Expression asinh(const Expression &x) {
  Expression a = abs(x);
  Expression near = logOnePlus(a + a * (a / (sqrt(a * a + 1) + 1)));
  return sign(x) * select(less(a, large), near, log(a) + ln2);
}

Expression acosh(const Expression &x) {
  Expression t = x - 1;
  return select(less(x, large), logOnePlus(t + sqrt(t * (t + 2))), log(x) + ln2);
}

Expression atanh(const Expression &x) { return (logOnePlus(x) - logOnePlus(-x)) * 0.5; }

Expression isNan(const Expression &x) { return logicalNot(equal(x, x)); }

Expression isInfinite(const Expression &x, bool positive, bool negative) {
  const double infinity = std::numeric_limits<double>::infinity();
  if (positive && negative)
    return equal(abs(x), infinity);
  if (!positive && !negative)
    return isNan(x) & equal(x, x);
  return equal(x, positive ? infinity : -infinity);
}

Expression logSumExp(const Expression &x, llvm::ArrayRef<int64_t> axes, bool keepdims) {
  Expression max = maxOver(x, axes);
  Expression y = log(sumOver(exp(x - max), axes)) + max;
  if (keepdims || x.layers().failed())
    return y;
  llvm::SmallVector<int64_t> shape;
  for (int64_t d : otherAxes(x.rank(), axes))
    shape.push_back(x.shape()[d]);
  return y.reshape(shape);
}

Expression normalized(const Expression &x, llvm::ArrayRef<int64_t> axes, double epsilon) {
  Expression centred = x - meanOver(x, axes);
  return centred * rsqrt(meanOver(square(centred), axes) + epsilon);
}

Expression constant(LayerBuilder &layers, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> values) {
  Literal literal;
  literal.type = mlir::RankedTensorType::get(shape, layers.builder().getI64Type());
  literal.ints.assign(values.begin(), values.end());
  return {layers, layers.fromLiteral(literal)};
}

Expression constant(LayerBuilder &layers, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<double> values,
                    mlir::Type element) {
  if (!mlir::isa_and_nonnull<mlir::FloatType>(element)) {
    layers.fail("needs tensors of floats");
    return {layers, {}};
  }
  Literal literal;
  literal.type = mlir::RankedTensorType::get(shape, element);
  literal.floats.assign(values.begin(), values.end());
  literal.normalize();
  return {layers, layers.fromLiteral(literal)};
}

Expression countingUp(LayerBuilder &layers, int64_t count, mlir::Type element) {
  if (count < 0 || count > maxConstantElements)
    layers.fail("a constant of " + std::to_string(count) + " elements is outside [0, " +
                std::to_string(maxConstantElements) + "]");
  if (layers.failed())
    return {layers, {}};
  Literal literal = Literal::zeros(mlir::RankedTensorType::get({count}, element));
  for (int64_t i = 0; i < count; ++i)
    if (literal.isFloat())
      literal.floats[i] = static_cast<double>(i);
    else
      literal.ints[i] = i;
  literal.normalize();
  return {layers, layers.fromLiteral(literal)};
}

static Expression extreme(LayerBuilder &layers, mlir::Type element, bool highest) {
  if (layers.failed())
    return {layers, {}};
  Literal literal = Literal::zeros(mlir::RankedTensorType::get({}, element));
  const double infinity = std::numeric_limits<double>::infinity();
  if (literal.isFloat())
    literal.floats[0] = highest ? infinity : -infinity;
  else if (element.isUnsignedInteger() || element.isInteger(1))
    literal.ints[0] = highest ? -1 : 0;
  else
    literal.ints[0] =
        static_cast<int64_t>((~uint64_t{0} >> (65 - element.getIntOrFloatBitWidth())) + (highest ? 0 : 1));
  literal.normalize();
  return {layers, layers.fromLiteral(literal)};
}

Expression lowest(LayerBuilder &layers, mlir::Type element) { return extreme(layers, element, false); }
Expression highest(LayerBuilder &layers, mlir::Type element) { return extreme(layers, element, true); }

Expression reduceAny(ReduceKind kind, const Expression &x, llvm::ArrayRef<int64_t> axes, bool keepdims) {
  LayerBuilder &layers = x.layers();
  if (layers.failed())
    return x;
  if (x.elementType().isInteger(1)) {
    mlir::Type byte = layers.builder().getIntegerType(8, /*isSigned=*/false);
    return reduceAny(kind, x.cast(byte), axes, keepdims).cast(x.elementType());
  }
  const bool isExtreme = kind == ReduceKind::Min || kind == ReduceKind::Max;
  if (x.size() > 0 || !isExtreme)
    return reduce(kind, x, axes, keepdims);
  llvm::SmallVector<int64_t> shape;
  for (int64_t d = 0; d < x.rank(); ++d)
    if (bool reduced = llvm::is_contained(axes, d); !reduced || keepdims)
      shape.push_back(reduced ? 1 : x.shape()[d]);
  return extreme(layers, x.elementType(), kind == ReduceKind::Min).broadcast(shape);
}

Expression widened(const Expression &x) {
  return x && x.isFloat() && x.elementType().getIntOrFloatBitWidth() == 16 ? x.cast(x.layers().builder().getF32Type())
                                                                           : x;
}

Expression wrappedIndices(const Expression &indices, int64_t extent) {
  return select(less(indices, 0), indices + static_cast<double>(extent), indices);
}

Expression picked(const Expression &x, int64_t axis, llvm::ArrayRef<int64_t> numbers) {
  constexpr size_t mostSlices = 16;
  LayerBuilder &layers = x.layers();
  struct Run {
    int64_t first, count, step;
  };
  llvm::SmallVector<Run> runs;
  for (int64_t number : numbers) {
    Run *run = runs.empty() ? nullptr : &runs.back();
    if (run && run->count == 1)
      run->step = number - run->first;
    if (run && number == run->first + run->count * run->step)
      ++run->count;
    else
      runs.push_back({number, 1, 1});
  }
  if (layers.failed())
    return x;
  if (runs.size() > mostSlices || numbers.empty())
    return numbers.empty() ? x.slice(axis, 0, 0)
                           : gather(x, constant(layers, {static_cast<int64_t>(numbers.size())}, numbers), axis);
  llvm::SmallVector<Expression> parts;
  for (const Run &run : runs) {
    if (run.step != 0) {
      parts.push_back(x.slice(axis, run.first, run.count, run.count == 1 ? 1 : run.step));
      continue;
    }
    Expression one = x.slice(axis, run.first, 1);
    if (!one)
      return one;
    llvm::SmallVector<int64_t> shape(one.shape());
    shape[axis] = run.count;
    parts.push_back(one.broadcast(shape));
  }
  return concat(parts, axis);
}

int64_t productOf(llvm::ArrayRef<int64_t> extents) { return nn::elementCount(extents).value_or(0); }

llvm::SmallVector<int64_t> otherAxes(int64_t rank, llvm::ArrayRef<int64_t> axes) {
  llvm::SmallVector<int64_t> others;
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(axes, d))
      others.push_back(d);
  return others;
}

llvm::SmallVector<int64_t> axesBetween(int64_t first, int64_t last) {
  return llvm::to_vector(llvm::seq<int64_t>(first, std::max(first, last)));
}

} // namespace wsc::import
