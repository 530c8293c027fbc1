// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps of optimizers: variables and their slots are read, changed and written. With a variable of TensorFlow 1 the
// reference goes on as the result.
#include "compiler/import/tf/Registry.h"
#include "compiler/import/tf/Variables.h"

namespace wsc::import::tf {
namespace {

/// Writes the variable that input i refers to.
void update(NodeContext &node, size_t i, const Expression &value) {
  const int number = node.resource(i);
  if (node.failed())
    return;
  if (absl::Status status = node.machine.variables().write(number, value); !status.ok())
    return node.layers.fail(status);
  if (i == 0 && node.value(0).isReference)
    node.setResult(node.value(0));
}

/// var, rate, gradient
void gradientDescent(NodeContext &node) { update(node, 0, node.in(0) - node.in(1) * node.in(2)); }

/// var, accumulator, rate, gradient, momentum
void momentum(NodeContext &node) {
  bool nesterov = node.boolAttribute("use_nesterov", false);
  Expression rate = node.in(2), g = node.in(3), factor = node.in(4);
  Expression next = node.in(1) * factor + g;
  update(node, 0, node.in(0) - (nesterov ? g * rate + next * factor * rate : next * rate));
  update(node, 1, next);
}

/// The same with the rate inside of the accumulator.
void kerasMomentum(NodeContext &node) {
  bool nesterov = node.boolAttribute("use_nesterov", false);
  Expression rate = node.in(2), g = node.in(3), factor = node.in(4);
  Expression next = node.in(1) * factor - g * rate;
  update(node, 0, node.in(0) + (nesterov ? next * factor - g * rate : next));
  update(node, 1, next);
}

/// var, m, v, (greatest v,) β1^t, β2^t, rate, β1, β2, ε, gradient
template <bool amsgrad> void adam(NodeContext &node) {
  constexpr size_t at = amsgrad ? 4 : 3;
  bool nesterov = node.boolAttribute("use_nesterov", false);
  Expression beta1 = node.in(at + 3), beta2 = node.in(at + 4), epsilon = node.in(at + 5), g = node.in(at + 6);
  Expression rate = node.in(at + 2) * sqrt(1 - node.in(at + 1)) / (1 - node.in(at));
  Expression m = node.in(1), v = node.in(2);
  m = m + (g - m) * (1 - beta1);
  v = v + (square(g) - v) * (1 - beta2);
  Expression scale = amsgrad ? maximum(node.in(3), v) : v;
  Expression step = nesterov ? m * beta1 + g * (1 - beta1) : m;
  update(node, 0, node.in(0) - rate * step / (sqrt(scale) + epsilon));
  update(node, 1, m);
  update(node, 2, v);
  if (amsgrad)
    update(node, 3, scale);
}

/// var, accumulator, rate, (ε,) gradient
template <bool hasEpsilon> void adagrad(NodeContext &node) {
  bool updates = node.boolAttribute("update_slots", true);
  Expression rate = node.in(2), g = node.in(hasEpsilon ? 4 : 3), sum = node.in(1);
  if (updates)
    sum = sum + square(g);
  update(node, 0, node.in(0) - (hasEpsilon ? rate * g / (sqrt(sum) + node.in(3)) : rate * g * rsqrt(sum)));
  if (updates)
    update(node, 1, sum);
}

/// var, mean square, momentum, rate, ρ, momentum's factor, ε, gradient
void rmsProp(NodeContext &node) {
  Expression ms = node.in(1), g = node.in(7);
  ms = ms + (square(g) - ms) * (1 - node.in(4));
  Expression step = node.in(2) * node.in(5) + node.in(3) * g * rsqrt(ms + node.in(6));
  update(node, 0, node.in(0) - step);
  update(node, 1, ms);
  update(node, 2, step);
}

/// var, mean gradient, mean square, momentum, rate, ρ, momentum's factor, ε, gradient
void centredRmsProp(NodeContext &node) {
  Expression mg = node.in(1), ms = node.in(2), g = node.in(8), rest = 1 - node.in(5);
  ms = ms + (square(g) - ms) * rest;
  mg = mg + (g - mg) * rest;
  Expression step = node.in(3) * node.in(6) + node.in(4) * g * rsqrt(ms - square(mg) + node.in(7));
  update(node, 0, node.in(0) - step);
  update(node, 1, mg);
  update(node, 2, ms);
  update(node, 3, step);
}

/// var, accumulator, accumulated updates, rate, ρ, ε, gradient
void adadelta(NodeContext &node) {
  Expression rho = node.in(4), epsilon = node.in(5), g = node.in(6), sum = node.in(1), updates = node.in(2);
  sum = sum * rho + square(g) * (1 - rho);
  Expression step = sqrt(updates + epsilon) * rsqrt(sum + epsilon) * g;
  update(node, 0, node.in(0) - step * node.in(3));
  update(node, 1, sum);
  update(node, 2, updates * rho + square(step) * (1 - rho));
}

/// var, m, v, β1^t, rate, β1, β2, ε, gradient: v is the greatest gradient, fading by β2.
void adaMax(NodeContext &node) {
  Expression g = node.in(8), m = node.in(1) + (g - node.in(1)) * (1 - node.in(5));
  Expression v = maximum(node.in(2) * node.in(6), abs(g));
  update(node, 0, node.in(0) - node.in(4) / (1 - node.in(3)) * (m / (v + node.in(7))));
  update(node, 1, m);
  update(node, 2, v);
}

/// var, m, rate, α or the logarithm of the base, sign decay, β, gradient: the step is greater where the gradient has
/// the sign of its mean.
template <bool isPower> void signStep(NodeContext &node) {
  Expression g = node.in(6), m = node.in(1) * node.in(5) + g * (1 - node.in(5));
  Expression agreement = node.in(4) * sign(g) * sign(m);
  Expression factor = isPower ? exp(node.in(3) * agreement) : node.in(3) + agreement;
  update(node, 0, node.in(0) - node.in(2) * factor * g);
  update(node, 1, m);
}

/// x drawn towards 0 by l1 and l2, both times the rate.
Expression shrunk(const Expression &x, const Expression &rate, const Expression &l1, const Expression &l2) {
  return sign(x) * maximum(abs(x) - rate * l1, 0) / (1 + rate * l2);
}

/// var, rate, l1, l2, gradient
void proximalGradientDescent(NodeContext &node) {
  Expression rate = node.in(1);
  update(node, 0, shrunk(node.in(0) - rate * node.in(4), rate, node.in(2), node.in(3)));
}

/// var, accumulator, rate, l1, l2, gradient
void proximalAdagrad(NodeContext &node) {
  Expression g = node.in(5), sum = node.in(1) + square(g), rate = node.in(2) * rsqrt(sum);
  update(node, 0, shrunk(node.in(0) - g * rate, rate, node.in(3), node.in(4)));
  update(node, 1, sum);
}

/// var, sum of gradients, sum of squares, gradient, rate, l1, l2, step
void adagradDualAveraging(NodeContext &node) {
  Expression g = node.in(3), sum = node.in(1) + g, squares = node.in(2) + square(g), rate = node.in(4);
  if (node.failed())
    return;
  Expression step = node.in(7).cast(g.elementType());
  Expression kept = sign(sum) * maximum(abs(sum) - node.in(5) * step, 0);
  update(node, 0, -(rate * kept) / (node.in(6) * step * rate + sqrt(squares)));
  update(node, 1, sum);
  update(node, 2, squares);
}

/// var, accumulator, linear, gradient, rate, l1, l2, (shrinkage,) power of the rate
template <bool isV2> void ftrl(NodeContext &node) {
  if (node.boolAttribute("multiply_linear_by_lr", false))
    return node.unsupported("multiply_linear_by_lr is not supported");
  Expression x = node.in(0), g = node.in(3), rate = node.in(4), l1 = node.in(5), l2 = node.in(6),
             exponent = node.in(isV2 ? 8 : 7);
  if (node.failed())
    return;
  Expression before = power(node.in(1), -exponent), sum = node.in(1) + square(g), after = power(sum, -exponent);
  Expression shrinking = isV2 ? g + node.in(7) * x * 2 : g;
  Expression linear = node.in(2) + shrinking - (after - before) / rate * x;
  Expression kept = select(less(l1, abs(linear)), sign(linear) * l1 - linear, 0);
  update(node, 0, kept / (after / rate + l2 * 2));
  update(node, 1, sum);
  update(node, 2, linear);
}

Operator row(const char *name, int inputs, Handler handler) { return {name, inputs, inputs, handler, "", true}; }

} // namespace

static const Operator table[] = {
    row("ApplyGradientDescent", 3, gradientDescent),
    row("ResourceApplyGradientDescent", 3, gradientDescent),
    row("ApplyMomentum", 5, momentum),
    row("ResourceApplyMomentum", 5, momentum),
    row("ResourceApplyKerasMomentum", 5, kerasMomentum),
    row("ApplyAdam", 10, adam<false>),
    row("ResourceApplyAdam", 10, adam<false>),
    row("ResourceApplyAdamWithAmsgrad", 11, adam<true>),
    row("ApplyAdagrad", 4, adagrad<false>),
    row("ResourceApplyAdagrad", 4, adagrad<false>),
    row("ApplyAdagradV2", 5, adagrad<true>),
    row("ResourceApplyAdagradV2", 5, adagrad<true>),
    row("ApplyRMSProp", 8, rmsProp),
    row("ResourceApplyRMSProp", 8, rmsProp),
    row("ApplyCenteredRMSProp", 9, centredRmsProp),
    row("ResourceApplyCenteredRMSProp", 9, centredRmsProp),
    row("ApplyAdadelta", 7, adadelta),
    row("ResourceApplyAdadelta", 7, adadelta),
    row("ApplyAdaMax", 9, adaMax),
    row("ResourceApplyAdaMax", 9, adaMax),
    row("ApplyAddSign", 7, signStep<false>),
    row("ResourceApplyAddSign", 7, signStep<false>),
    row("ApplyPowerSign", 7, signStep<true>),
    row("ResourceApplyPowerSign", 7, signStep<true>),
    row("ApplyProximalGradientDescent", 5, proximalGradientDescent),
    row("ResourceApplyProximalGradientDescent", 5, proximalGradientDescent),
    row("ApplyProximalAdagrad", 6, proximalAdagrad),
    row("ResourceApplyProximalAdagrad", 6, proximalAdagrad),
    row("ApplyAdagradDA", 8, adagradDualAveraging),
    row("ResourceApplyAdagradDA", 8, adagradDualAveraging),
    row("ApplyFtrl", 8, ftrl<false>),
    row("ResourceApplyFtrl", 8, ftrl<false>),
    row("ApplyFtrlV2", 9, ftrl<true>),
    row("ResourceApplyFtrlV2", 9, ftrl<true>),
};
llvm::ArrayRef<Operator> optimizerOperators() { return table; }

} // namespace wsc::import::tf
