// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gradients of elementwise functions and of a bias; those of convolutions, pools and batch normalisation stand beside
// their layers.
#include "absl/strings/str_cat.h"
#include "compiler/import/tf/Registry.h"
#include "dialects/nn/Shape.h"

namespace wsc::import::tf {
namespace {

// Of the gradient and the function's argument.
Expression reluGrad(const Expression &g, const Expression &x) { return select(less(0, x), g, 0); }
Expression relu6Grad(const Expression &g, const Expression &x) { return select(less(0, x) & less(x, 6), g, 0); }
Expression softplusGrad(const Expression &g, const Expression &x) { return g * sigmoid(x); }
Expression softsignGrad(const Expression &g, const Expression &x) { return g / square(abs(x) + 1); }

// Of the gradient and the function's result.
Expression eluGrad(const Expression &g, const Expression &y) { return select(less(y, 0), g * (y + 1), g); }
Expression seluGrad(const Expression &g, const Expression &y) {
  constexpr double scale = 1.0507009873554804934193349852946, alpha = 1.6732632423543772848170429916717;
  return select(less(y, 0), g * (y + scale * alpha), g * scale);
}

// Of the function's result and the gradient.
Expression sigmoidGrad(const Expression &y, const Expression &g) { return g * y * (1 - y); }
Expression tanhGrad(const Expression &y, const Expression &g) { return g * (1 - y * y); }
Expression sqrtGrad(const Expression &y, const Expression &g) { return g * 0.5 / y; }
Expression rsqrtGrad(const Expression &y, const Expression &g) { return g * (y * y * y) * -0.5; }
Expression reciprocalGrad(const Expression &y, const Expression &g) { return -(g * y * y); }

template <Expression (*function)(const Expression &, const Expression &)> void gradient(NodeContext &node) {
  node.setResult(function(node.in(0), node.in(1)));
}

void leakyReluGrad(NodeContext &node) {
  double alpha = node.floatAttribute("alpha", 0.2);
  Expression g = node.in(0), x = node.in(1);
  node.setResult(select(less(0, x), g, g * alpha));
}

/// The sum over all dimensions but the channels.
void biasAddGrad(NodeContext &node) {
  std::string format = node.stringAttribute("data_format", "NHWC");
  Expression g = node.in(0);
  if (node.failed())
    return;
  if (g.rank() < 2)
    return node.fail(absl::StrCat("needs a tensor of rank 2 or more, found ", nn::formatShape(g.shape())));
  const bool isFirst = format.size() > 1 && format[1] == 'C' && g.rank() > 2;
  node.setResult(sumOver(g, otherAxes(g.rank(), {isFirst ? 1 : g.rank() - 1}), /*keepdims=*/false));
}

} // namespace

static const Operator table[] = {
    {"ReluGrad", 2, 2, gradient<reluGrad>},         {"Relu6Grad", 2, 2, gradient<relu6Grad>},
    {"LeakyReluGrad", 2, 2, leakyReluGrad},         {"EluGrad", 2, 2, gradient<eluGrad>},
    {"SeluGrad", 2, 2, gradient<seluGrad>},         {"SoftplusGrad", 2, 2, gradient<softplusGrad>},
    {"SoftsignGrad", 2, 2, gradient<softsignGrad>}, {"SigmoidGrad", 2, 2, gradient<sigmoidGrad>},
    {"TanhGrad", 2, 2, gradient<tanhGrad>},         {"SqrtGrad", 2, 2, gradient<sqrtGrad>},
    {"RsqrtGrad", 2, 2, gradient<rsqrtGrad>},       {"ReciprocalGrad", 2, 2, gradient<reciprocalGrad>},
    {"InvGrad", 2, 2, gradient<reciprocalGrad>},    {"BiasAddGrad", 1, 1, biasAddGrad},
};
llvm::ArrayRef<Operator> gradientOperators() { return table; }

} // namespace wsc::import::tf
