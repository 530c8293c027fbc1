// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// RNN, GRU and LSTM, unrolled over the steps of the sequence. The products with the inputs, and the biases, are formed
// for all steps at once; a step adds the product of the state and its weights. Gates are a dimension of their own, the
// first of a step's: [gates, batch, hidden], so that the gates of a unit lie together however its elements are spread.
// Steps beyond a sequence's length leave its state and give 0.
#include "absl/strings/str_cat.h"
#include "compiler/import/common/Functions.h"
#include "compiler/import/onnx/Registry.h"
#include "dialects/nn/Shape.h"
#include <functional>
#include <optional>

namespace wsc::import {
namespace {

/// Sequences are unrolled up to this many steps.
constexpr int64_t mostSteps = 10000;

using Activation = std::function<Expression(const Expression &)>;

/// What the three operators share; one direction's weights have no dimension for it.
struct Recurrence {
  int64_t hidden = 0, steps = 0, batch = 0;
  bool backwards = false;
  double clip = 0; ///< 0: none
  std::vector<Activation> activations;
  std::vector<Expression> inputs; ///< per step: x·Wᵀ + bias [gates, batch, hidden]
  std::vector<Expression> valid;  ///< per step, i1 [batch, 1]; empty: all are
};

struct DirectionResult {
  std::vector<Expression> outputs; ///< per step [batch, hidden]
  std::vector<Expression> states;  ///< h, and c of an LSTM
};

/// A step: gates of the input, old states; gives the new states, h first.
using Step = std::function<std::vector<Expression>(const Expression &gates, const std::vector<Expression> &states)>;

DirectionResult unroll(const Recurrence &form, std::vector<Expression> states, const Step &step) {
  DirectionResult result{std::vector<Expression>(form.steps, states[0]), {}};
  for (int64_t i = 0; i < form.steps; ++i) {
    int64_t t = form.backwards ? form.steps - 1 - i : i;
    std::vector<Expression> next = step(form.inputs[t], states);
    result.outputs[t] = next[0];
    if (!form.valid.empty()) {
      result.outputs[t] = select(form.valid[t], next[0], 0);
      for (size_t k = 0; k < states.size(); ++k)
        next[k] = select(form.valid[t], next[k], states[k]);
    }
    states = next;
  }
  result.states = states;
  return result;
}

Expression clipped(const Recurrence &form, const Expression &x) {
  return form.clip > 0 ? maximum(minimum(x, form.clip), -form.clip) : x;
}

/// Gate `number` [batch, hidden] of [gates, batch, hidden].
Expression gate(const Expression &gates, int64_t number) { return gates.slice(0, number, 1).squeeze(0); }

/// What a direction has along the dimension before the last, gates after gates: a dimension for the gates.
Expression splitGates(const Recurrence &form, const Expression &weights) {
  return weights.reshape({weights.shape()[0] / form.hidden, form.hidden, weights.shape()[1]});
}

/// An activation by name; alpha and beta are taken from the lists, in order, by those that have them.
std::optional<Activation> activationNamed(const std::string &given, std::vector<double> &alphas,
                                          std::vector<double> &betas) {
  std::string name;
  for (char c : given)
    name.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  auto take = [](std::vector<double> &list, double otherwise) {
    double value = list.empty() ? otherwise : list.front();
    if (!list.empty())
      list.erase(list.begin());
    return value;
  };
  if (name == "tanh")
    return [](const Expression &x) { return tanh(x); };
  if (name == "sigmoid")
    return [](const Expression &x) { return sigmoid(x); };
  if (name == "relu")
    return [](const Expression &x) { return relu(x); };
  if (name == "softsign")
    return [](const Expression &x) { return x / (abs(x) + 1); };
  if (name == "softplus")
    return [](const Expression &x) { return softplus(x); };
  if (name == "affine") {
    double alpha = take(alphas, 1), beta = take(betas, 0);
    return [=](const Expression &x) { return x * alpha + beta; };
  }
  if (name == "scaledtanh") {
    double alpha = take(alphas, 1), beta = take(betas, 1);
    return [=](const Expression &x) { return tanh(x * beta) * alpha; };
  }
  if (name == "hardsigmoid") {
    double alpha = take(alphas, 0.2), beta = take(betas, 0.5);
    return [=](const Expression &x) { return hardSigmoid(x, alpha, beta); };
  }
  if (name == "leakyrelu") {
    double alpha = take(alphas, 0.01);
    return [=](const Expression &x) { return select(less(x, 0), x * alpha, x); };
  }
  if (name == "thresholdedrelu") {
    double alpha = take(alphas, 1);
    return [=](const Expression &x) { return select(less(alpha, x), x, 0); };
  }
  if (name == "elu") {
    double alpha = take(alphas, 1);
    return [=](const Expression &x) { return select(less(x, 0), expMinusOneNegative(x) * alpha, x); };
  }
  return std::nullopt;
}

/// Reads what all three have, runs `direction(number, form, states)` for each direction and sets the results: outputs,
/// last h, last c. Of the state's bias the first `addedGates` gates are added to the inputs.
void recur(NodeContext &node, int64_t gates, int64_t addedGates, std::vector<std::string> activations, size_t numStates,
           const std::function<DirectionResult(int64_t, const Recurrence &, std::vector<Expression>)> &direction) {
  Expression x = node.in(0), weight = node.in(1), recurrent = node.in(2), bias = node.in(3), lengths = node.in(4);
  std::string way = node.stringAttribute("direction", "forward");
  bool batchFirst = node.opset() >= 14 && node.intAttribute("layout", 0) != 0;
  double clip = node.floatAttribute("clip", 0);
  std::vector<std::string> named = node.stringsAttribute("activations");
  std::vector<double> alphas = node.floatsAttribute("activation_alpha"),
                      betas = node.floatsAttribute("activation_beta");
  node.ignoreAttributes({"hidden_size", "output_sequence"}); // the weights tell; outputs are there if they are named
  if (node.failed())
    return;
  int64_t directions = way == "bidirectional" ? 2 : 1;
  if (way != "forward" && way != "reverse" && way != "bidirectional")
    return node.fail("attribute 'direction' is '" + way + "'; forward, reverse and bidirectional are known");
  int64_t hidden = recurrent.rank() == 3 ? recurrent.shape()[2] : 0;
  if (x.rank() != 3 || weight.rank() != 3 || hidden < 1 || weight.shape()[0] != directions ||
      recurrent.shape()[0] != directions || weight.shape()[1] != gates * hidden ||
      recurrent.shape()[1] != gates * hidden || weight.shape()[2] != x.shape()[2])
    return node.fail(absl::StrCat("input ", nn::formatShape(x.shape()), ", weights ", nn::formatShape(weight.shape()),
                                  " and ", nn::formatShape(recurrent.shape()), " do not fit ", directions,
                                  " directions of ", gates, " gates"));
  if (batchFirst)
    x = x.transpose({1, 0, 2});
  int64_t steps = x.shape()[0], batch = x.shape()[1];
  if (steps < 1 || steps > mostSteps)
    return node.unsupported(absl::StrCat("a sequence of ", steps, " steps is not supported; 1 to ", mostSteps, " are"));
  if (named.empty())
    for (int64_t d = 0; d < directions; ++d)
      named.insert(named.end(), activations.begin(), activations.end());
  if (named.size() != activations.size() * static_cast<size_t>(directions))
    return node.fail(absl::StrCat("needs ", activations.size() * directions, " activations, found ", named.size()));
  std::vector<DirectionResult> results;
  for (int64_t d = 0; d < directions && !node.failed(); ++d) {
    Recurrence form{hidden, steps, batch, way == "reverse" || d == 1, clip, {}, {}, {}};
    for (size_t i = 0; i < activations.size(); ++i) {
      const std::string &name = named[static_cast<size_t>(d) * activations.size() + i];
      auto activation = activationNamed(name, alphas, betas);
      if (!activation)
        return node.unsupported("activation '" + name + "' is not known");
      form.activations.push_back(*activation);
    }
    Expression all = matmul(x.unsqueeze(1), splitGates(form, weight.slice(0, d, 1).squeeze(0)), /*transposeRhs=*/true);
    if (bias) {
      Expression own = bias.slice(0, d, 1), ofState = own.slice(1, gates * hidden, addedGates * hidden);
      if (addedGates < gates)
        ofState = concat({ofState, x.number(0).broadcast({1, (gates - addedGates) * hidden})}, 1);
      all = all + (own.slice(1, 0, gates * hidden) + ofState).reshape({gates, 1, hidden});
    }
    std::optional<Expression> isWithin; // [steps, batch, 1]
    if (lengths) {
      const Expression numbers = countingUp(x.layers(), steps, lengths.elementType());
      isWithin = less(numbers.reshape({steps, 1, 1}), lengths.reshape({1, batch, 1}));
    }
    for (int64_t t = 0; t < steps; ++t) {
      form.inputs.push_back(all.slice(0, t, 1).squeeze(0));
      if (isWithin)
        form.valid.push_back(isWithin->slice(0, t, 1).squeeze(0));
    }
    std::vector<Expression> states;
    for (size_t k = 0; k < numStates; ++k) {
      Expression initial = node.in(5 + k);
      if (initial)
        states.push_back((batchFirst ? initial.transpose({1, 0, 2}) : initial).slice(0, d, 1).squeeze(0));
      else
        states.push_back(x.number(0).broadcast({batch, hidden}));
    }
    results.push_back(direction(d, form, states));
  }
  if (node.failed())
    return;
  // [steps, directions, batch, hidden] or [batch, steps, directions, hidden]; [directions, batch, hidden] likewise.
  std::vector<Expression> sequences;
  for (const DirectionResult &result : results) {
    std::vector<Expression> parts;
    for (const Expression &output : result.outputs)
      parts.push_back(output.unsqueeze(0));
    sequences.push_back(concat(parts, 0).unsqueeze(1));
  }
  Expression y = concat(sequences, 1);
  node.setResult(0, batchFirst ? y.transpose({2, 0, 1, 3}) : y);
  for (size_t k = 0; k < numStates; ++k) {
    std::vector<Expression> last;
    for (const DirectionResult &result : results)
      last.push_back(result.states[k].unsqueeze(0));
    Expression state = concat(last, 0);
    node.setResult(1 + k, batchFirst ? state.transpose({1, 0, 2}) : state);
  }
}

/// The weights of the state for one direction: [gates, hidden, hidden].
Expression stateWeights(NodeContext &node, const Recurrence &form, int64_t direction) {
  return splitGates(form, node.in(2).slice(0, direction, 1).squeeze(0));
}

/// h = f(x·Wᵀ + h·Rᵀ + b)
void rnn(NodeContext &node) {
  recur(node, 1, 1, {"Tanh"}, 1, [&](int64_t d, const Recurrence &form, std::vector<Expression> states) {
    Expression weights = stateWeights(node, form, d);
    return unroll(form, states, [&](const Expression &gates, const std::vector<Expression> &old) {
      Expression sum = gate(gates + matmul(old[0], weights, true), 0);
      return std::vector<Expression>{form.activations[0](clipped(form, sum))};
    });
  });
}

/// Gates z (update), r (reset), h: h' = (1 - z)·g(…) + z·h. The reset scales h before its product with the weights, or
/// the product and its bias.
void gru(NodeContext &node) {
  bool linearBeforeReset = node.intAttribute("linear_before_reset", 0) != 0;
  int64_t addedGates = linearBeforeReset ? 2 : 3;
  recur(node, 3, addedGates, {"Sigmoid", "Tanh"}, 1,
        [&](int64_t d, const Recurrence &form, std::vector<Expression> states) {
          Expression weights = stateWeights(node, form, d), newBias = node.in(3);
          Expression bothWeights = weights.slice(0, 0, 2), newWeights = weights.slice(0, 2, 1).squeeze(0);
          if (newBias)
            newBias = newBias.slice(0, d, 1).slice(1, 5 * form.hidden, form.hidden);
          return unroll(form, states, [&](const Expression &gates, const std::vector<Expression> &old) {
            const Expression &h = old[0];
            const Expression products = matmul(h, linearBeforeReset ? weights : bothWeights, true);
            Expression both = gates.slice(0, 0, 2) + products.slice(0, 0, 2);
            both = form.activations[0](clipped(form, both));
            Expression update = gate(both, 0), reset = gate(both, 1), sum = gate(gates, 2);
            if (linearBeforeReset) {
              const Expression product = gate(products, 2);
              sum = sum + reset * (newBias ? product + newBias : product);
            } else {
              sum = sum + matmul(reset * h, newWeights, true);
            }
            Expression fresh = form.activations[1](clipped(form, sum));
            return std::vector<Expression>{fresh + update * (h - fresh)};
          });
        });
}

/// Gates i, o, f, c; peepholes let i, f see the old cell and o the new one.
void lstm(NodeContext &node) {
  bool coupled = node.intAttribute("input_forget", 0) != 0;
  recur(node, 4, 4, {"Sigmoid", "Tanh", "Tanh"}, 2,
        [&](int64_t d, const Recurrence &form, std::vector<Expression> states) {
          Expression weights = stateWeights(node, form, d), peepholes = node.in(7);
          const Activation &f = form.activations[0], &g = form.activations[1], &h = form.activations[2];
          auto peephole = [&](int64_t number, const Expression &cell, const Expression &sum) {
            return sum + peepholes.slice(0, d, 1).slice(1, number * form.hidden, form.hidden) * cell;
          };
          return unroll(form, states, [&](const Expression &gates, const std::vector<Expression> &old) {
            const Expression &cell = old[1];
            Expression sums = gates + matmul(old[0], weights, true);
            if (!peepholes) {
              Expression three = f(clipped(form, sums.slice(0, 0, 3))), input = gate(three, 0);
              Expression forget = coupled ? 1 - input : gate(three, 2);
              Expression next = forget * cell + input * g(clipped(form, gate(sums, 3)));
              return std::vector<Expression>{gate(three, 1) * h(next), next};
            }
            Expression input = f(clipped(form, peephole(0, cell, gate(sums, 0))));
            Expression forget = coupled ? 1 - input : f(clipped(form, peephole(2, cell, gate(sums, 2))));
            Expression next = forget * cell + input * g(clipped(form, gate(sums, 3)));
            Expression output = f(clipped(form, peephole(1, next, gate(sums, 1))));
            return std::vector<Expression>{output * h(next), next};
          });
        });
}

} // namespace

static const Operator table[] = {
    {"RNN", 7, newestOpset, 3, 6, rnn, "", "sequences of at most 10000 steps"},
    {"GRU", 7, newestOpset, 3, 6, gru, "", "sequences of at most 10000 steps"},
    {"LSTM", 7, newestOpset, 3, 8, lstm, "", "sequences of at most 10000 steps"},
};
llvm::ArrayRef<Operator> recurrentOperators() { return table; }

} // namespace wsc::import
