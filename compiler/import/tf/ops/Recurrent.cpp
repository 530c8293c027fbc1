// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fused recurrent cells. The LSTM's columns of weights are [i, ci, f, o], in BlockLSTMV2 [i, f, ci, o].
#include "absl/strings/str_cat.h"
#include "compiler/import/tf/Registry.h"
#include "dialects/nn/Shape.h"

namespace wsc::import::tf {
namespace {

struct LstmForm {
  double forgetBias = 1, clip = 3;
  bool hasPeepholes = false, forgetSecond = false;
};

struct LstmStep {
  std::vector<Expression> results; ///< i, cs, f, o, ci, co, h
};

LstmForm readLstm(NodeContext &node, bool isV2) {
  LstmForm form;
  form.forgetBias = isV2 ? 0 : node.floatAttribute("forget_bias", 1);
  form.clip = node.floatAttribute("cell_clip", isV2 ? 0 : 3);
  form.hasPeepholes = node.boolAttribute("use_peephole", false);
  form.forgetSecond = isV2;
  return form;
}

/// Inputs from `first` on: w, wci, wcf, wco, b.
LstmStep lstmStep(NodeContext &node, const LstmForm &form, size_t first, const Expression &x, const Expression &cell,
                  const Expression &hidden) {
  const int64_t units = cell.rank() == 2 ? cell.shape()[1] : 0;
  Expression gates = matmul(concat({x, hidden}, 1), node.in(first)) + node.in(first + 4);
  auto gate = [&](int64_t k) { return gates.slice(1, k * units, units); };
  Expression i = gate(0), ci = gate(form.forgetSecond ? 2 : 1), f = gate(form.forgetSecond ? 1 : 2) + form.forgetBias,
             o = gate(3);
  if (form.hasPeepholes) {
    i = i + cell * node.in(first + 1);
    f = f + cell * node.in(first + 2);
  }
  i = sigmoid(i);
  f = sigmoid(f);
  ci = tanh(ci);
  Expression next = ci * i + cell * f;
  if (form.clip > 0)
    next = minimum(maximum(next, -form.clip), form.clip);
  if (form.hasPeepholes)
    o = o + next * node.in(first + 3);
  o = sigmoid(o);
  Expression co = tanh(next);
  return {{i, next, f, o, ci, co, co * o}};
}

void lstmCell(NodeContext &node) {
  LstmForm form = readLstm(node, false);
  LstmStep step = lstmStep(node, form, 3, node.in(0), node.in(1), node.in(2));
  for (size_t k = 0; k < step.results.size(); ++k)
    node.setResult(k, step.results[k]);
}

template <bool isV2> void blockLstm(NodeContext &node) {
  LstmForm form = readLstm(node, isV2);
  int64_t steps = node.constantInt(0, "seq_len_max");
  Expression x = node.in(1), cell = node.in(2), hidden = node.in(3);
  if (node.failed())
    return;
  constexpr int64_t mostSteps = 10000;
  if (x.rank() == 3 && x.shape()[0] > mostSteps)
    return node.unsupported(
        absl::StrCat("a sequence of ", x.shape()[0], " steps is not supported; at most ", mostSteps, " are"));
  if (x.rank() != 3 || steps < x.shape()[0] || x.shape()[0] < 1)
    return node.unsupported(absl::StrCat("seq_len_max ", steps, " with a sequence ", nn::formatShape(x.shape()),
                                         " is not supported; all steps are to be valid"));
  std::vector<std::vector<Expression>> turns(7);
  for (int64_t t = 0; t < x.shape()[0] && !node.failed(); ++t) {
    LstmStep step = lstmStep(node, form, 4, x.slice(0, t, 1).squeeze(0), cell, hidden);
    for (size_t k = 0; k < 7; ++k)
      turns[k].push_back(step.results[k].unsqueeze(0));
    cell = step.results[1];
    hidden = step.results[6];
  }
  for (size_t k = 0; k < 7 && !node.failed(); ++k)
    node.setResult(k, turns[k].size() == 1 ? turns[k][0] : concat(turns[k], 0));
}

/// x, h, w_ru, w_c, b_ru, b_c
void gruCell(NodeContext &node) {
  Expression x = node.in(0), hidden = node.in(1);
  if (node.failed())
    return;
  const int64_t units = hidden.rank() == 2 ? hidden.shape()[1] : 0;
  Expression ru = sigmoid(matmul(concat({x, hidden}, 1), node.in(2)) + node.in(4));
  Expression r = ru.slice(1, 0, units), u = ru.slice(1, units, units);
  Expression c = tanh(matmul(concat({x, hidden * r}, 1), node.in(3)) + node.in(5));
  node.setResult(0, r);
  node.setResult(1, u);
  node.setResult(2, c);
  node.setResult(3, (1 - u) * c + u * hidden);
}

} // namespace

static const Operator table[] = {
    {"LSTMBlockCell", 8, 8, lstmCell, "i,cs,f,o,ci,co,h"},
    {"BlockLSTM", 9, 9, blockLstm<false>, "i,cs,f,o,ci,co,h"},
    {"BlockLSTMV2", 9, 9, blockLstm<true>, "i,cs,f,o,ci,co,h"},
    {"GRUBlockCell", 6, 6, gruCell, "r,u,c,h"},
};
llvm::ArrayRef<Operator> recurrentOperators() { return table; }

} // namespace wsc::import::tf
