// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise operators of two or more tensors.
#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/Registry.h"
#include "dialects/nn/Shape.h"

namespace wsc::import {

using nn::BinaryKind;
using nn::UnaryKind;

/// Before opset 7 the second operand is only broadcast if `broadcast` is set, its dimensions beginning at `axis` of the
/// first (by default the last ones); trailing ones make that numpy's rule.
static Tensor alignedOperand(NodeContext &node) {
  Tensor a = node.input(0), b = node.input(1);
  if (node.opset() >= 7)
    return b;
  node.ignoreAttributes({"consumed_inputs"});
  int64_t broadcast = node.intAttribute("broadcast", 0), axis = node.intAttribute("axis", a.rank() - b.rank());
  if (broadcast == 0) {
    if (a.shape() != b.shape())
      node.fail(absl::StrCat("shapes ", nn::formatShape(a.shape()), " and ", nn::formatShape(b.shape()),
                             " differ and broadcast is not set"));
    return b;
  }
  if (b.rank() == 0)
    return b;
  axis = axis < 0 ? axis + a.rank() : axis;
  int64_t trailing = a.rank() - axis - b.rank();
  if (axis < 0 || trailing < 0) {
    node.fail(absl::StrCat("axis ", axis, " leaves no room for ", nn::formatShape(b.shape()), " in ",
                           nn::formatShape(a.shape())));
    return b;
  }
  llvm::SmallVector<int64_t> shape(b.shape());
  shape.append(trailing, 1);
  return node.layers.reshape(b, shape);
}

template <BinaryKind kind> static void binaryOf(NodeContext &node) {
  Tensor b = alignedOperand(node);
  node.setResult(node.layers.binary(kind, node.input(0), b));
}

template <BinaryKind kind> static void swapped(NodeContext &node) {
  Tensor b = alignedOperand(node);
  node.setResult(node.layers.binary(kind, b, node.input(0)));
}

/// The exponent may have a type of its own: an integer power of a float is one of floats, a float power of an integer
/// is taken in the exponent's type and truncated.
static void powerOf(NodeContext &node) {
  Expression base = node.in(0), exponent{node.layers, alignedOperand(node)};
  if (!base.isFloat() && exponent.isFloat())
    return node.setResult(power(base.cast(exponent.elementType()), exponent).cast(base.elementType()));
  node.setResult(power(base, exponent.cast(base.elementType())));
}

static void mod(NodeContext &node) {
  bool fmod = node.intAttribute("fmod", 0) != 0;
  if (!fmod && node.in(0).isFloat())
    return node.fail("floats need fmod = 1");
  node.setResult(node.layers.binary(fmod ? BinaryKind::Rem : BinaryKind::Mod, node.input(0), node.input(1)));
}

static void bitShift(NodeContext &node) {
  std::string direction = node.stringAttribute("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return node.fail("attribute 'direction' is '" + direction + "'; LEFT and RIGHT are known");
  BinaryKind kind = direction == "LEFT" ? BinaryKind::ShiftLeft : BinaryKind::ShiftRight;
  node.setResult(node.layers.binary(kind, node.input(0), node.input(1)));
}

template <BinaryKind kind> static Tensor chain(NodeContext &node) {
  node.ignoreAttributes({"consumed_inputs"});
  Tensor result = node.input(0);
  for (size_t i = 1; i < node.inputCount(); ++i)
    result = node.layers.binary(kind, result, node.input(i));
  return result;
}

template <BinaryKind kind> static void variadic(NodeContext &node) { node.setResult(chain<kind>(node)); }

static void mean(NodeContext &node) {
  Tensor sum = chain<BinaryKind::Add>(node);
  node.setResult(node.layers.binary(BinaryKind::Div, sum, static_cast<double>(node.inputCount())));
}

static void where(NodeContext &node) {
  node.setResult(node.layers.select(node.input(0), node.input(1), node.input(2)));
}

static const Operator table[] = {
    {"Add", 1, newestOpset, 2, 2, binaryOf<BinaryKind::Add>},
    {"Sub", 1, newestOpset, 2, 2, binaryOf<BinaryKind::Sub>},
    {"Mul", 1, newestOpset, 2, 2, binaryOf<BinaryKind::Mul>},
    {"Div", 1, newestOpset, 2, 2, binaryOf<BinaryKind::Div>},
    {"Pow", 1, newestOpset, 2, 2, powerOf},
    {"Mod", 10, newestOpset, 2, 2, mod},
    {"And", 1, newestOpset, 2, 2, binaryOf<BinaryKind::And>},
    {"Or", 1, newestOpset, 2, 2, binaryOf<BinaryKind::Or>},
    {"Xor", 1, newestOpset, 2, 2, binaryOf<BinaryKind::Xor>},
    {"BitwiseAnd", 18, newestOpset, 2, 2, binaryOf<BinaryKind::And>},
    {"BitwiseOr", 18, newestOpset, 2, 2, binaryOf<BinaryKind::Or>},
    {"BitwiseXor", 18, newestOpset, 2, 2, binaryOf<BinaryKind::Xor>},
    {"BitShift", 11, newestOpset, 2, 2, bitShift},
    {"Equal", 1, newestOpset, 2, 2, binaryOf<BinaryKind::Equal>},
    {"Less", 1, newestOpset, 2, 2, binaryOf<BinaryKind::Less>},
    {"LessOrEqual", 12, newestOpset, 2, 2, binaryOf<BinaryKind::LessEqual>},
    {"Greater", 1, newestOpset, 2, 2, swapped<BinaryKind::Less>},
    {"GreaterOrEqual", 12, newestOpset, 2, 2, swapped<BinaryKind::LessEqual>},
    {"Min", 1, newestOpset, 1, anyInputs, variadic<BinaryKind::Min>},
    {"Max", 1, newestOpset, 1, anyInputs, variadic<BinaryKind::Max>},
    {"Sum", 1, newestOpset, 1, anyInputs, variadic<BinaryKind::Add>},
    {"Mean", 1, newestOpset, 1, anyInputs, mean},
    {"Where", 9, newestOpset, 3, 3, where},
};
llvm::ArrayRef<Operator> binaryOperators() { return table; }

} // namespace wsc::import
