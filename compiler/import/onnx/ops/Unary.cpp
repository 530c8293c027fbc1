// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators that are one nn.unary, and casts.
#include "compiler/import/onnx/Registry.h"

namespace wsc::import {

template <nn::UnaryKind kind> static void unary(NodeContext &node) {
  node.ignoreAttributes({"consumed_inputs"}); // opset 5 and before: a hint about memory
  node.setResult(node.layers.unary(kind, node.input(0)));
}

static void cast(NodeContext &node) {
  int64_t to = node.intAttribute("to", 0);
  node.ignoreAttributes({"saturate", "round_mode"}); // concern 8-bit floats only
  if (node.failed())
    return;
  auto element = elementType(*node.layers.builder().getContext(), static_cast<int>(to));
  if (!element.ok())
    return node.layers.fail(element.status());
  node.setResult(node.layers.cast(node.input(0), *element));
}

static void castLike(NodeContext &node) {
  node.ignoreAttributes({"saturate", "round_mode"});
  node.setResult(node.layers.cast(node.input(0), node.input(1).elementType()));
}

static void identity(NodeContext &node) { node.setResult(node.input(0)); }

/// In inference dropout does nothing. Its mask, if wanted, is refused as a second result.
static void dropout(NodeContext &node) {
  node.ignoreAttributes({"consumed_inputs", "ratio", "seed"});
  if (node.opset() < 7 && node.intAttribute("is_test", 0) == 0 && node.wantsOutput(1))
    return node.unsupported("the mask of a dropout in training mode is not supported");
  if (node.hasInput(2) && node.constantScalar(2, "training_mode") != 0)
    return node.unsupported("training_mode is not supported; export the model for inference");
  node.setResult(node.input(0));
}

/// NaN is the value that differs from itself.
static void isNan(NodeContext &node) {
  node.setResult(node.layers.unary(nn::UnaryKind::Not, node.layers.binary(nn::BinaryKind::Equal, node.input(0), node.input(0))));
}

using nn::UnaryKind;
static const Operator table[] = {
    {"Relu", 1, newestOpset, 1, 1, unary<UnaryKind::Relu>},
    {"Neg", 1, newestOpset, 1, 1, unary<UnaryKind::Neg>},
    {"Abs", 1, newestOpset, 1, 1, unary<UnaryKind::Abs>},
    {"Exp", 1, newestOpset, 1, 1, unary<UnaryKind::Exp>},
    {"Log", 1, newestOpset, 1, 1, unary<UnaryKind::Log>},
    {"Sqrt", 1, newestOpset, 1, 1, unary<UnaryKind::Sqrt>},
    {"Reciprocal", 1, newestOpset, 1, 1, unary<UnaryKind::Reciprocal>},
    {"Tanh", 1, newestOpset, 1, 1, unary<UnaryKind::Tanh>},
    {"Erf", 9, newestOpset, 1, 1, unary<UnaryKind::Erf>},
    {"Sigmoid", 1, newestOpset, 1, 1, unary<UnaryKind::Sigmoid>},
    {"Floor", 1, newestOpset, 1, 1, unary<UnaryKind::Floor>},
    {"Ceil", 1, newestOpset, 1, 1, unary<UnaryKind::Ceil>},
    {"Round", 11, newestOpset, 1, 1, unary<UnaryKind::Round>},
    {"Sign", 9, newestOpset, 1, 1, unary<UnaryKind::Sign>},
    {"Sin", 7, newestOpset, 1, 1, unary<UnaryKind::Sin>},
    {"Cos", 7, newestOpset, 1, 1, unary<UnaryKind::Cos>},
    {"Not", 1, newestOpset, 1, 1, unary<UnaryKind::Not>},
    {"IsNaN", 9, newestOpset, 1, 1, isNan},
    {"Cast", 6, newestOpset, 1, 1, cast},
    {"CastLike", 15, newestOpset, 2, 2, castLike},
    {"Identity", 1, newestOpset, 1, 1, identity},
    {"Dropout", 1, newestOpset, 1, 3, dropout},
};
llvm::ArrayRef<Operator> unaryOperators() { return table; }

} // namespace wsc::import
