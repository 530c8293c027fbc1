// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Exact elementwise arithmetic and reductions on literals; see Fold.h.
#include "compiler/import/common/Fold.h"
#include <cmath>
#include <limits>

using namespace mlir;
using wsc::nn::BinaryKind;
using wsc::nn::ReduceKind;
using wsc::nn::UnaryKind;

namespace wsc::import {

int64_t broadcastPosition(ArrayRef<int64_t> from, ArrayRef<int64_t> index) {
  size_t lead = index.size() - from.size();
  int64_t position = 0;
  for (size_t d = 0; d < from.size(); ++d)
    position = position * from[d] + (from[d] == 1 ? 0 : index[lead + d]);
  return position;
}

static std::optional<double> unaryFloat(UnaryKind kind, double x) {
  switch (kind) {
  case UnaryKind::Relu:
    return x < 0 ? 0.0 : x;
  case UnaryKind::Neg:
    return -x;
  case UnaryKind::Abs:
    return std::fabs(x);
  case UnaryKind::Sqrt:
    return std::sqrt(x);
  case UnaryKind::Reciprocal:
    return 1.0 / x;
  case UnaryKind::Floor:
    return std::floor(x);
  case UnaryKind::Ceil:
    return std::ceil(x);
  case UnaryKind::Round:
    return std::nearbyint(x);
  case UnaryKind::Sign:
    return x > 0 ? 1.0 : x < 0 ? -1.0 : x;
  default:
    return std::nullopt;
  }
}

static std::optional<int64_t> unaryInt(UnaryKind kind, int64_t x) {
  switch (kind) {
  case UnaryKind::Relu:
    return x < 0 ? 0 : x;
  case UnaryKind::Neg:
    return static_cast<int64_t>(0 - static_cast<uint64_t>(x));
  case UnaryKind::Abs:
    return x < 0 ? static_cast<int64_t>(0 - static_cast<uint64_t>(x)) : x;
  case UnaryKind::Sign:
    return x > 0 ? 1 : x < 0 ? -1 : 0;
  case UnaryKind::Not:
    return x == 0;
  default:
    return std::nullopt;
  }
}

std::optional<Literal> foldUnary(UnaryKind kind, const Literal &x) {
  if (x.type.getElementType().isUnsignedInteger())
    return std::nullopt;
  Literal result = Literal::zeros(x.type);
  for (int64_t i = 0; i < x.size(); ++i) {
    if (x.isFloat()) {
      auto value = unaryFloat(kind, x.floats[i]);
      if (!value)
        return std::nullopt;
      result.floats[i] = *value;
    } else {
      auto value = unaryInt(kind, x.ints[i]);
      if (!value)
        return std::nullopt;
      result.ints[i] = *value;
    }
  }
  result.normalize();
  return result;
}

/// Result of a float operation; comparisons give 0 or 1.
static std::optional<double> binaryFloat(BinaryKind kind, double a, double b) {
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
  case BinaryKind::Equal:
    return a == b;
  case BinaryKind::Less:
    return a < b;
  case BinaryKind::LessEqual:
    return a <= b;
  default:
    return std::nullopt;
  }
}

static std::optional<int64_t> binaryInt(BinaryKind kind, int64_t a, int64_t b) {
  uint64_t ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  bool divides = b != 0 && !(a == std::numeric_limits<int64_t>::min() && b == -1);
  switch (kind) {
  case BinaryKind::Add:
    return static_cast<int64_t>(ua + ub);
  case BinaryKind::Sub:
    return static_cast<int64_t>(ua - ub);
  case BinaryKind::Mul:
    return static_cast<int64_t>(ua * ub);
  case BinaryKind::Min:
    return std::min(a, b);
  case BinaryKind::Max:
    return std::max(a, b);
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
  case BinaryKind::Div:
    return divides ? std::optional<int64_t>(a / b) : std::nullopt;
  case BinaryKind::Rem:
    return divides ? std::optional<int64_t>(a % b) : std::nullopt;
  case BinaryKind::Mod: {
    if (!divides)
      return std::nullopt;
    int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  }
  case BinaryKind::Pow: {
    if (b < 0 || b > 63)
      return std::nullopt;
    uint64_t power = 1;
    for (int64_t i = 0; i < b; ++i)
      power *= ua;
    return static_cast<int64_t>(power);
  }
  case BinaryKind::ShiftLeft:
    return b >= 0 && b < 64 ? static_cast<int64_t>(ua << b) : 0;
  case BinaryKind::ShiftRight:
    return b >= 0 && b < 64 ? a >> b : (a < 0 ? -1 : 0);
  }
  return std::nullopt;
}

std::optional<Literal> foldBinary(BinaryKind kind, const Literal &a, const Literal &b, RankedTensorType type) {
  if (type.getNumElements() > maxLiteralElements || a.type.getElementType().isUnsignedInteger(64))
    return std::nullopt;
  Literal result = Literal::zeros(type);
  bool exact = true;
  forEachIndex(type.getShape(), [&](int64_t i, ArrayRef<int64_t> index) {
    int64_t ia = broadcastPosition(a.type.getShape(), index), ib = broadcastPosition(b.type.getShape(), index);
    if (a.isFloat()) {
      auto value = binaryFloat(kind, a.floats[ia], b.floats[ib]);
      exact = exact && value;
      if (value && result.isFloat())
        result.floats[i] = *value;
      else if (value)
        result.ints[i] = *value != 0;
    } else {
      auto value = binaryInt(kind, a.ints[ia], b.ints[ib]);
      exact = exact && value;
      result.ints[i] = value.value_or(0);
    }
  });
  if (!exact)
    return std::nullopt;
  result.normalize();
  return result;
}

std::optional<Literal> foldSelect(const Literal &condition, const Literal &a, const Literal &b, RankedTensorType type) {
  if (type.getNumElements() > maxLiteralElements || condition.isFloat())
    return std::nullopt;
  Literal result = Literal::zeros(type);
  forEachIndex(type.getShape(), [&](int64_t i, ArrayRef<int64_t> index) {
    bool first = condition.ints[broadcastPosition(condition.type.getShape(), index)] != 0;
    const Literal &from = first ? a : b;
    copyElement(result, i, from, broadcastPosition(from.type.getShape(), index));
  });
  return result;
}

std::optional<Literal> foldCast(const Literal &x, RankedTensorType type) {
  Literal result = Literal::zeros(type);
  bool toBool = type.getElementType().isInteger(1), fromUnsigned64 = x.type.getElementType().isUnsignedInteger(64);
  for (int64_t i = 0; i < x.size(); ++i) {
    if (x.isFloat() && result.isFloat()) {
      result.floats[i] = x.floats[i];
    } else if (x.isFloat()) {
      if (!toBool && !(std::fabs(x.floats[i]) < 9.2e18))
        return std::nullopt;
      result.ints[i] = toBool ? x.floats[i] != 0 : static_cast<int64_t>(x.floats[i]);
    } else if (result.isFloat()) {
      // Beyond 2^53 the value would be rounded twice.
      if (fromUnsigned64 || x.ints[i] > (int64_t{1} << 53) || x.ints[i] < -(int64_t{1} << 53))
        return std::nullopt;
      result.floats[i] = static_cast<double>(x.ints[i]);
    } else {
      result.ints[i] = toBool ? x.ints[i] != 0 : x.ints[i];
    }
  }
  result.normalize();
  return result;
}

std::optional<Literal> foldBitcast(const Literal &x, RankedTensorType type) {
  if (!x.isFloat() && !isa<FloatType>(type.getElementType())) {
    Literal result = x;
    result.type = type;
    result.normalize();
    return result;
  }
  for (double value : x.floats)
    if (std::isnan(value))
      return std::nullopt;
  Literal result = Literal::fromAttribute(DenseElementsAttr::getFromRawBuffer(type, x.toAttribute().getRawData()));
  for (double value : result.floats)
    if (std::isnan(value))
      return std::nullopt;
  return result;
}

std::optional<Literal> foldReduce(ReduceKind kind, const Literal &x, ArrayRef<int64_t> axes, RankedTensorType type) {
  if (x.isFloat() || kind == ReduceKind::Mean || x.type.getElementType().isUnsignedInteger() || x.size() == 0)
    return std::nullopt;
  // Kept axes in order give the row-major position of the result with or without keepdims.
  SmallVector<bool> reduced(x.type.getRank(), false);
  for (int64_t axis : axes)
    reduced[axis] = true;
  Literal result = Literal::zeros(type);
  std::vector<bool> started(result.ints.size(), false);
  forEachIndex(x.type.getShape(), [&](int64_t i, ArrayRef<int64_t> index) {
    int64_t position = 0;
    for (size_t d = 0; d < index.size(); ++d)
      if (!reduced[d])
        position = position * x.type.getDimSize(d) + index[d];
    int64_t &sum = result.ints[position];
    BinaryKind step = kind == ReduceKind::Sum    ? BinaryKind::Add
                      : kind == ReduceKind::Prod ? BinaryKind::Mul
                      : kind == ReduceKind::Min  ? BinaryKind::Min
                                                 : BinaryKind::Max;
    sum = started[position] ? *binaryInt(step, sum, x.ints[i]) : x.ints[i];
    started[position] = true;
  });
  result.normalize();
  return result;
}

} // namespace wsc::import
