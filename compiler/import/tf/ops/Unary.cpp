// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of one tensor, element by element, activations and casts included; softmax along the last axis.
#include "absl/strings/str_cat.h"
#include "compiler/import/tf/Registry.h"
#include <cmath>

namespace wsc::import::tf {
namespace {

using nn::UnaryKind;

template <UnaryKind kind> void unary(NodeContext &node) {
  node.setResult(Value(node.layers.unary(kind, node.input(0))));
}

/// A formula, in f32 for 16-bit floats.
template <Expression (*function)(const Expression &)> void formula(NodeContext &node) {
  Expression x = node.in(0);
  node.setResult(function(widened(x)).cast(x.elementType()));
}

Expression relu6(const Expression &x) { return minimum(relu(x), 6); }
Expression elu(const Expression &x) { return select(less(x, 0), expMinusOneNegative(x), x); }
Expression selu(const Expression &x) {
  constexpr double scale = 1.0507009873554804934193349852946, alpha = 1.6732632423543772848170429916717;
  return select(less(x, 0), expMinusOneNegative(x) * (scale * alpha), x * scale);
}
Expression softsign(const Expression &x) { return x / (abs(x) + 1); }
Expression expMinusOne(const Expression &x) { return select(less(x, 1), expMinusOneNegative(x), exp(x) - 1); }
Expression erfc(const Expression &x) { return 1 - erf(x); }
Expression isFinite(const Expression &x) { return logicalNot(isNan(x) | isInfinite(x)); }

void expm1(NodeContext &node) { formula<expMinusOne>(node); }

void leakyRelu(NodeContext &node) {
  double alpha = node.floatAttribute("alpha", 0.2);
  Expression x = node.in(0);
  node.setResult(select(less(x, 0), x * alpha, x));
}

/// Random numbers that all have the same floor are known after all.
void floorOf(NodeContext &node) {
  const auto &random = node.value(0).random;
  if (random && random->scale > 0 && std::floor(random->low()) == std::ceil(random->high()) - 1)
    return node.setResult(Value(node.layers.broadcastTo(
        node.layers.scalar(random->type.getElementType(), std::floor(random->low())), random->type.getShape())));
  unary<UnaryKind::Floor>(node);
}

void cast(NodeContext &node) {
  node.ignoreAttributes({"Truncate"});
  mlir::Type element = node.typeAttribute("DstT", wsc::tf::DT_FLOAT);
  if (node.value(0).random && element && mlir::isa<mlir::FloatType>(element))
    return node.setResult(node.value(0));
  if (!node.failed())
    node.setResult(node.in(0).cast(element));
}

void bitcast(NodeContext &node) {
  mlir::Type element = node.typeAttribute("type", wsc::tf::DT_FLOAT);
  Expression x = node.in(0);
  if (node.failed())
    return;
  if (element.getIntOrFloatBitWidth() != x.elementType().getIntOrFloatBitWidth() || element.isInteger(1))
    return node.unsupported("a bit cast between types of different width is not supported");
  node.setResult(Value(node.layers.bitcast(x, element)));
}

void isNanOf(NodeContext &node) { node.setResult(isNan(node.in(0))); }
void isInfOf(NodeContext &node) { node.setResult(isInfinite(node.in(0))); }
void isFiniteOf(NodeContext &node) { node.setResult(isFinite(node.in(0))); }
void invert(NodeContext &node) { node.setResult(binary(nn::BinaryKind::Xor, node.in(0), -1)); }

void prelu(NodeContext &node) {
  Expression x = node.in(0);
  node.setResult(select(less(x, 0), x * node.in(1), x));
}

template <bool log> void softmaxOf(NodeContext &node) {
  Expression x = node.in(0);
  if (node.failed())
    return;
  if (x.rank() < 1)
    return node.fail("needs a tensor of rank 1 or more");
  node.setResult(softmax(x, x.rank() - 1, log));
}

} // namespace

static const Operator table[] = {
    {"Abs", 1, 1, unary<UnaryKind::Abs>},
    {"Neg", 1, 1, unary<UnaryKind::Neg>},
    {"Exp", 1, 1, unary<UnaryKind::Exp>},
    {"Expm1", 1, 1, expm1},
    {"Log", 1, 1, unary<UnaryKind::Log>},
    {"Log1p", 1, 1, formula<logOnePlus>},
    {"Sqrt", 1, 1, unary<UnaryKind::Sqrt>},
    {"Rsqrt", 1, 1, unary<UnaryKind::Rsqrt>},
    {"Square", 1, 1, [](NodeContext &node) { node.setResult(square(node.in(0))); }},
    {"Reciprocal", 1, 1, unary<UnaryKind::Reciprocal>},
    {"Inv", 1, 1, unary<UnaryKind::Reciprocal>},
    {"Floor", 1, 1, floorOf},
    {"Ceil", 1, 1, unary<UnaryKind::Ceil>},
    {"Round", 1, 1, unary<UnaryKind::Round>},
    {"Rint", 1, 1, unary<UnaryKind::Round>},
    {"Sign", 1, 1, unary<UnaryKind::Sign>},
    {"Sin", 1, 1, unary<UnaryKind::Sin>},
    {"Cos", 1, 1, unary<UnaryKind::Cos>},
    {"Tan", 1, 1, formula<tan>},
    {"Asin", 1, 1, formula<asin>},
    {"Acos", 1, 1, formula<acos>},
    {"Atan", 1, 1, formula<atan>},
    {"Sinh", 1, 1, formula<sinh>},
    {"Cosh", 1, 1, formula<cosh>},
    {"Tanh", 1, 1, unary<UnaryKind::Tanh>},
    {"Asinh", 1, 1, formula<asinh>},
    {"Acosh", 1, 1, formula<acosh>},
    {"Atanh", 1, 1, formula<atanh>},
    {"Sigmoid", 1, 1, unary<UnaryKind::Sigmoid>},
    {"Relu", 1, 1, unary<UnaryKind::Relu>},
    {"Relu6", 1, 1, [](NodeContext &node) { node.setResult(relu6(node.in(0))); }},
    {"LeakyRelu", 1, 1, leakyRelu},
    {"Prelu", 2, 2, prelu},
    {"Elu", 1, 1, formula<elu>},
    {"Selu", 1, 1, formula<selu>},
    {"Softplus", 1, 1, formula<softplus>},
    {"Softsign", 1, 1, formula<softsign>},
    {"Erf", 1, 1, unary<UnaryKind::Erf>},
    {"Erfc", 1, 1, formula<erfc>},
    {"LogicalNot", 1, 1, unary<UnaryKind::Not>},
    {"Invert", 1, 1, invert},
    {"IsNan", 1, 1, isNanOf},
    {"IsInf", 1, 1, isInfOf},
    {"IsFinite", 1, 1, isFiniteOf},
    {"Cast", 1, 1, cast},
    {"Bitcast", 1, 1, bitcast},
    {"Softmax", 1, 1, softmaxOf<false>},
    {"LogSoftmax", 1, 1, softmaxOf<true>},
};
llvm::ArrayRef<Operator> unaryOperators() { return table; }

} // namespace wsc::import::tf
