// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/network/Simplify.h"

namespace wsc::spmd {

namespace {

/// Calls visit(BodyValue &) for every value that a nest names.
template <typename Visit> void forEachValue(Nest &nest, Visit visit) {
  for (std::vector<BodyOp> *ops : {&nest.body, &nest.finish})
    for (BodyOp &op : *ops) {
      visit(op.a);
      visit(op.b);
      visit(op.c);
    }
  for (BodyValue &value : nest.values)
    visit(value);
  visit(nest.resultValue);
}

bool readsAlike(const Access &a, const Access &b) {
  return a.tensor == b.tensor && a.map == b.map && a.padding == b.padding && a.gatherDim == b.gatherDim &&
         a.gatherIndices == b.gatherIndices && a.gatherCount == b.gatherCount;
}

void mergeOperands(Nest &nest) {
  std::vector<Access> operands;
  std::vector<int32_t> number(nest.operands.size(), -1);
  const auto place = [&](size_t i) {
    size_t n = 0;
    while (n < operands.size() && !readsAlike(operands[n], nest.operands[i]))
      ++n;
    if (n == operands.size())
      operands.push_back(nest.operands[i]);
    number[i] = int32_t(n);
  };
  // Gathered operands name others by number, so they come last.
  for (size_t i = 0; i < nest.operands.size(); ++i)
    if (nest.operands[i].gatherDim < 0)
      place(i);
  for (size_t i = 0; i < nest.operands.size(); ++i)
    if (nest.operands[i].gatherDim >= 0) {
      nest.operands[i].gatherIndices = number[size_t(nest.operands[i].gatherIndices)];
      place(i);
    }
  nest.operands = std::move(operands);
  forEachValue(nest, [&](BodyValue &value) {
    if (value.kind == BodyValue::Kind::Operand && !number.empty())
      value.index = number[size_t(value.index)];
  });
}

} // namespace

void mergeOperands(Network &network) {
  for (Node &node : network.nodes)
    if (auto *nest = std::get_if<Nest>(&node))
      mergeOperands(*nest);
}

} // namespace wsc::spmd
