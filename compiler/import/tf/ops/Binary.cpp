// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise operators of two or more tensors. Random operands keep their range through sums and products with known
// numbers, and comparisons that every drawn number decides alike are known.
#include "absl/strings/str_cat.h"
#include "compiler/import/tf/Registry.h"
#include "dialects/nn/Shape.h"
#include <algorithm>

namespace wsc::import::tf {
namespace {

using nn::BinaryKind;

/// Gives a result where one operand is random; false where none is.
bool withRandom(NodeContext &node, BinaryKind kind) {
  const bool first = node.value(0).random != nullptr, second = node.value(1).random != nullptr;
  if (!first && !second)
    return false;
  const Random random = first ? *node.value(0).random : *node.value(1).random;
  const double c = first && second ? 0 : node.constantScalar(first ? 1 : 0, "the number combined with random ones");
  if (node.failed())
    return true;
  if (first && second) {
    node.unsupported("combines two random tensors, which is not supported");
    return true;
  }
  Random result = random;
  auto decided = [&](bool value) {
    auto type = mlir::RankedTensorType::get(random.type.getShape(), node.layers.builder().getI1Type());
    node.setResult(Value(node.layers.broadcastTo(node.layers.scalar(type.getElementType(), value), type.getShape())));
  };
  const bool isLess = (kind == BinaryKind::Less || kind == BinaryKind::LessEqual) && random.scale > 0;
  const double low = random.low(), high = random.high();
  if (kind == BinaryKind::Add || (kind == BinaryKind::Sub && first)) {
    result.shift += kind == BinaryKind::Add ? c : -c;
  } else if (kind == BinaryKind::Mul || (kind == BinaryKind::Div && first && c != 0)) {
    result.scale = kind == BinaryKind::Mul ? result.scale * c : result.scale / c;
    result.shift = kind == BinaryKind::Mul ? result.shift * c : result.shift / c;
  } else if (isLess && first && (high <= c || low > c || (low == c && kind == BinaryKind::Less))) {
    decided(high <= c);
    return true;
  } else if (isLess && second && (c < low || (c == low && kind == BinaryKind::LessEqual) || c >= high)) {
    decided(c < high);
    return true;
  } else {
    node.unsupported(absl::StrCat("depends on what random numbers in [", low, ", ", high,
                                  ") are drawn, which is not supported; export the graph for inference"));
    return true;
  }
  node.setResult(Value(result));
  return true;
}

template <BinaryKind kind> void binaryOf(NodeContext &node) {
  if (!withRandom(node, kind))
    node.setResult(Value(node.layers.binary(kind, node.input(0), node.input(1))));
}

/// a > b as b < a.
template <BinaryKind kind> void swapped(NodeContext &node) {
  if (node.value(0).random || node.value(1).random) {
    NodeContext turned(node.node(), node.layers, node.reader(), node.machine, {node.value(1), node.value(0)});
    withRandom(turned, kind);
    std::vector<Value> results = turned.takeResults();
    return results.empty() ? void() : node.setResult(results.front());
  }
  node.setResult(Value(node.layers.binary(kind, node.input(1), node.input(0))));
}

void equalOf(NodeContext &node) {
  node.ignoreAttributes({"incompatible_shape_error"});
  node.setResult(equal(node.in(0), node.in(1)));
}
void notEqual(NodeContext &node) {
  node.ignoreAttributes({"incompatible_shape_error"});
  node.setResult(logicalNot(equal(node.in(0), node.in(1))));
}

/// Of integers the quotient rounded down: what is left has the divisor's sign.
void floorDiv(NodeContext &node) {
  Expression a = node.in(0), b = node.in(1);
  node.setResult(a.isFloat() ? floor(a / b) : (a - modulo(a, b)) / b);
}

/// 0 where the divisor is 0.
void divNoNan(NodeContext &node) {
  Expression a = node.in(0), b = node.in(1), isZero = equal(b, 0);
  node.setResult(select(isZero, 0, a / select(isZero, 1, b)));
}

void mulNoNan(NodeContext &node) {
  Expression a = node.in(0), b = node.in(1);
  node.setResult(select(equal(b, 0), 0, a * b));
}

/// 0 where x is 0, else x · log y and x / y.
template <bool log_> void xTimes(NodeContext &node) {
  Expression x = node.in(0), y = node.in(1), isZero = equal(x, 0);
  node.setResult(select(isZero, 0, log_ ? x * log(y) : x / y));
}

void squaredDifference(NodeContext &node) { node.setResult(square(node.in(0) - node.in(1))); }

/// The angle of (x, y): the arc tangent of y / x, moved by π to the left of the axis.
void atan2(NodeContext &node) {
  constexpr double pi = 3.14159265358979323846;
  Expression y = node.in(0), x = node.in(1);
  Expression isVertical = equal(x, 0), angle = atan(y / select(isVertical, 1, x));
  Expression side = select(less(y, 0), y.number(-pi), y.number(pi));
  Expression vertical = select(equal(y, 0), y.number(0), side * 0.5);
  node.setResult(select(isVertical, vertical, select(less(x, 0), angle + side, angle)));
}

void powerOf(NodeContext &node) {
  Expression base = node.in(0), exponent = node.in(1);
  node.setResult(power(base, exponent));
}

void addN(NodeContext &node) {
  Expression sum = node.in(0);
  for (size_t i = 1; i < node.inputCount(); ++i)
    sum = sum + node.in(i);
  node.ignoreAttributes({"shape"});
  node.setResult(sum);
}

/// The condition may be a vector that chooses rows, in Select.
void selectOf(NodeContext &node) {
  Expression condition = node.in(0), yes = node.in(1);
  if (node.failed())
    return;
  if (condition.rank() == 1 && yes.rank() > 1) {
    llvm::SmallVector<int64_t> shape(yes.rank(), 1);
    shape[0] = condition.size();
    condition = condition.reshape(shape);
  }
  node.setResult(Value(node.layers.select(condition, yes, node.input(2))));
}
void selectV2(NodeContext &node) {
  node.setResult(Value(node.layers.select(node.input(0), node.input(1), node.input(2))));
}

void clip(NodeContext &node) { node.setResult(minimum(maximum(node.in(0), node.in(1)), node.in(2))); }

/// Along the channels: the last dimension, or the second in NC… layouts.
void biasAdd(NodeContext &node) {
  std::string format = node.stringAttribute("data_format", "NHWC");
  Expression x = node.in(0), bias = node.in(1);
  if (node.failed())
    return;
  const bool isFirst = format.size() > 1 && format[1] == 'C' && x.rank() > 2;
  const int64_t axis = isFirst ? 1 : x.rank() - 1;
  if (bias.rank() != 1 || x.rank() < 2 || bias.size() != x.shape()[axis])
    return node.fail(absl::StrCat("bias ", nn::formatShape(bias.shape()), " does not fit ", nn::formatShape(x.shape()),
                                  " in data_format ", format));
  if (isFirst) {
    llvm::SmallVector<int64_t> shape(x.rank() - 1, 1);
    shape[0] = bias.size();
    bias = bias.reshape(shape);
  }
  node.setResult(x + bias);
}

} // namespace

static const Operator table[] = {
    {"Add", 2, 2, binaryOf<BinaryKind::Add>},
    {"AddV2", 2, 2, binaryOf<BinaryKind::Add>},
    {"AddN", 1, anyInputs, addN},
    {"AccumulateNV2", 1, anyInputs, addN},
    {"Sub", 2, 2, binaryOf<BinaryKind::Sub>},
    {"Mul", 2, 2, binaryOf<BinaryKind::Mul>},
    {"Div", 2, 2, binaryOf<BinaryKind::Div>},
    {"RealDiv", 2, 2, binaryOf<BinaryKind::Div>},
    {"TruncateDiv", 2, 2, binaryOf<BinaryKind::Div>},
    {"FloorDiv", 2, 2, floorDiv},
    {"DivNoNan", 2, 2, divNoNan},
    {"MulNoNan", 2, 2, mulNoNan},
    {"Xlogy", 2, 2, xTimes<true>},
    {"Xdivy", 2, 2, xTimes<false>},
    {"FloorMod", 2, 2, binaryOf<BinaryKind::Mod>},
    {"Mod", 2, 2, binaryOf<BinaryKind::Rem>},
    {"TruncateMod", 2, 2, binaryOf<BinaryKind::Rem>},
    {"Maximum", 2, 2, binaryOf<BinaryKind::Max>},
    {"Minimum", 2, 2, binaryOf<BinaryKind::Min>},
    {"Pow", 2, 2, powerOf},
    {"SquaredDifference", 2, 2, squaredDifference},
    {"Atan2", 2, 2, atan2},
    {"Equal", 2, 2, equalOf},
    {"NotEqual", 2, 2, notEqual},
    {"Less", 2, 2, binaryOf<BinaryKind::Less>},
    {"LessEqual", 2, 2, binaryOf<BinaryKind::LessEqual>},
    {"Greater", 2, 2, swapped<BinaryKind::Less>},
    {"GreaterEqual", 2, 2, swapped<BinaryKind::LessEqual>},
    {"LogicalAnd", 2, 2, binaryOf<BinaryKind::And>},
    {"LogicalOr", 2, 2, binaryOf<BinaryKind::Or>},
    {"BitwiseAnd", 2, 2, binaryOf<BinaryKind::And>},
    {"BitwiseOr", 2, 2, binaryOf<BinaryKind::Or>},
    {"BitwiseXor", 2, 2, binaryOf<BinaryKind::Xor>},
    {"LeftShift", 2, 2, binaryOf<BinaryKind::ShiftLeft>},
    {"RightShift", 2, 2, binaryOf<BinaryKind::ShiftRight>},
    {"Select", 3, 3, selectOf},
    {"SelectV2", 3, 3, selectV2},
    {"ClipByValue", 3, 3, clip},
    {"BiasAdd", 2, 2, biasAdd},
    {"BiasAddV1", 2, 2, biasAdd},
};
llvm::ArrayRef<Operator> binaryOperators() { return table; }

} // namespace wsc::import::tf
