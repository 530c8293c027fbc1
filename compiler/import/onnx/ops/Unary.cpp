// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of one tensor, element by element, that are no activations; casts.
#include "absl/strings/str_cat.h"
#include "compiler/import/common/StorageCasts.h"
#include "compiler/import/onnx/Registry.h"
#include "dialects/nn/Storage.h"

namespace wsc::import {

template <nn::UnaryKind kind> static void unary(NodeContext &node) {
  node.ignoreAttributes({"consumed_inputs"}); // opset 5 and before: a hint about memory
  node.setResult(node.layers.unary(kind, node.input(0)));
}

/// A formula, in f32 for 16-bit floats.
template <Expression (*function)(const Expression &)> static void formula(NodeContext &node) {
  Expression x = node.in(0);
  node.setResult(function(widened(x)).cast(x.elementType()));
}

/// Rounding and overflow of floats that are stored in 8 bits and less.
static StorageRounding storageRounding(NodeContext &node) {
  StorageRounding rounding;
  rounding.saturate = node.intAttribute("saturate", 1) != 0;
  std::string mode = node.stringAttribute("round_mode", "up");
  if (mode != "up" && mode != "down" && mode != "nearest")
    node.fail(absl::StrCat("attribute 'round_mode' is '", mode, "'; up, down and nearest are known"));
  rounding.direction = mode == "down"      ? StorageRounding::Down
                       : mode == "nearest" ? StorageRounding::Nearest
                                           : StorageRounding::Up;
  return rounding;
}

static void castTo(NodeContext &node, mlir::Type element) {
  StorageRounding rounding = storageRounding(node);
  if (node.failed())
    return;
  if (nn::isStorage(element))
    return node.setResult(castStorage(node.in(0), element, rounding));
  node.setResult(node.layers.cast(node.input(0), element));
}

static void cast(NodeContext &node) {
  int64_t to = node.intAttribute("to", 0);
  if (node.failed())
    return;
  auto element = elementType(*node.layers.builder().getContext(), static_cast<int>(to));
  if (!element.ok())
    return node.layers.fail(element.status());
  castTo(node, *element);
}

static void castLike(NodeContext &node) { castTo(node, node.input(1).elementType()); }

static void bitCast(NodeContext &node) {
  int64_t to = node.intAttribute("to", 0);
  if (node.failed())
    return;
  auto element = elementType(*node.layers.builder().getContext(), static_cast<int>(to));
  if (!element.ok())
    return node.layers.fail(element.status());
  // A bool is a byte of 0 or 1.
  Expression x = node.in(0);
  mlir::Type byte = node.layers.builder().getIntegerType(8, /*isSigned=*/false);
  if (x.elementType().isInteger(1))
    x = x.cast(byte);
  if (element->isInteger(1))
    return node.setResult(Expression(node.layers, node.layers.bitcast(x, byte)).cast(*element));
  node.setResult(node.layers.bitcast(x, *element));
}

static void identity(NodeContext &node) { node.setResult(node.input(0)); }

/// In inference, and in training with ratio 0, dropout does nothing; its mask is true everywhere.
static void dropout(NodeContext &node) {
  node.ignoreAttributes({"consumed_inputs", "ratio", "seed"});
  bool trains = node.opset() < 7 ? node.intAttribute("is_test", 0) == 0 && node.wantsOutput(1)
                                 : node.hasInput(2) && node.constantScalar(2, "training_mode") != 0;
  double ratio = trains && node.hasInput(1) ? node.constantScalar(1, "ratio") : node.floatAttribute("ratio", 0.5);
  if (trains && ratio != 0)
    return node.unsupported("training mode with a ratio other than 0 drops at random, which is not supported; export "
                            "the model for inference");
  Expression x = node.in(0);
  node.setResult(x);
  if (node.wantsOutput(1))
    node.setResult(1, node.opset() < 10 ? x.filled(1) : x.cast(node.layers.builder().getI1Type()).filled(1));
}

static void isNanOf(NodeContext &node) { node.setResult(isNan(node.in(0))); }

static void isInf(NodeContext &node) {
  bool positive = node.intAttribute("detect_positive", 1) != 0, negative = node.intAttribute("detect_negative", 1) != 0;
  node.setResult(isInfinite(node.in(0), positive, negative));
}

static void bitwiseNot(NodeContext &node) { node.setResult(binary(nn::BinaryKind::Xor, node.in(0), -1)); }

using nn::UnaryKind;
static const Operator table[] = {
    {"Neg", 1, newestOpset, 1, 1, unary<UnaryKind::Neg>},
    {"Abs", 1, newestOpset, 1, 1, unary<UnaryKind::Abs>},
    {"Exp", 1, newestOpset, 1, 1, unary<UnaryKind::Exp>},
    {"Log", 1, newestOpset, 1, 1, unary<UnaryKind::Log>},
    {"Sqrt", 1, newestOpset, 1, 1, unary<UnaryKind::Sqrt>},
    {"Reciprocal", 1, newestOpset, 1, 1, unary<UnaryKind::Reciprocal>},
    {"Erf", 9, newestOpset, 1, 1, unary<UnaryKind::Erf>},
    {"Floor", 1, newestOpset, 1, 1, unary<UnaryKind::Floor>},
    {"Ceil", 1, newestOpset, 1, 1, unary<UnaryKind::Ceil>},
    {"Round", 11, newestOpset, 1, 1, unary<UnaryKind::Round>},
    {"Sign", 9, newestOpset, 1, 1, unary<UnaryKind::Sign>},
    {"Sin", 7, newestOpset, 1, 1, unary<UnaryKind::Sin>},
    {"Cos", 7, newestOpset, 1, 1, unary<UnaryKind::Cos>},
    {"Tan", 7, newestOpset, 1, 1, formula<tan>},
    {"Asin", 7, newestOpset, 1, 1, formula<asin>},
    {"Acos", 7, newestOpset, 1, 1, formula<acos>},
    {"Atan", 7, newestOpset, 1, 1, formula<atan>},
    {"Sinh", 9, newestOpset, 1, 1, formula<sinh>},
    {"Cosh", 9, newestOpset, 1, 1, formula<cosh>},
    {"Asinh", 9, newestOpset, 1, 1, formula<asinh>},
    {"Acosh", 9, newestOpset, 1, 1, formula<acosh>},
    {"Atanh", 9, newestOpset, 1, 1, formula<atanh>},
    {"Not", 1, newestOpset, 1, 1, unary<UnaryKind::Not>},
    {"BitwiseNot", 18, newestOpset, 1, 1, bitwiseNot},
    {"IsNaN", 9, newestOpset, 1, 1, isNanOf},
    {"IsInf", 10, newestOpset, 1, 1, isInf},
    {"Cast", 6, newestOpset, 1, 1, cast},
    {"CastLike", 15, newestOpset, 2, 2, castLike},
    {"BitCast", 26, newestOpset, 1, 1, bitCast},
    {"Identity", 1, newestOpset, 1, 1, identity},
    {"Dropout", 1, newestOpset, 1, 3, dropout, "", "without effect; training with a ratio other than 0 is refused"},
};
llvm::ArrayRef<Operator> unaryOperators() { return table; }

} // namespace wsc::import
