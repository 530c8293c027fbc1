// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Control flow v1. A loop is executed turn by turn: its condition must be known each time, so the number of turns is
// static. A Merge whose predicate is known takes that side alone; else both sides are computed and the predicate
// chooses.
#include "absl/strings/str_cat.h"
#include "compiler/import/tf/Evaluator.h"
#include "dialects/nn/Shape.h"

using namespace wsc::tf;

namespace wsc::import::tf {

static std::optional<bool> knownCondition(LayerBuilder &layers, const Value &value) {
  auto literal = layers.literal(value.tensor);
  if (!literal || literal->size() != 1)
    return std::nullopt;
  return literal->isFloat() ? literal->floats[0] != 0 : literal->ints[0] != 0;
}

absl::StatusOr<int> Evaluator::nextOfMerge(Scope &scope, int index, size_t &cursor) {
  if (auto loop = scope.body->loopOfMerge.find(index); loop != scope.body->loopOfMerge.end())
    return absl::InvalidArgumentError(absl::StrCat("node '", scope.body->def(index).name(), "' circulates in loop '",
                                                   scope.body->loops[loop->second].frame,
                                                   "' and has no value outside of it"));
  auto [branches, isNew] = branches_.try_emplace(scope.body, *scope.body);
  auto join = branches->second.joinOf(index);
  if (!join.ok())
    return at(absl::StrCat("node '", scope.body->def(index).name(), "' (Merge)"), join.status());
  if (!find(scope, join->predicate)) {
    if (cursor++ == 0)
      return join->predicate.node;
    return -1;
  }
  cursor = std::max<size_t>(cursor, 1);
  auto known = knownCondition(layers_, *find(scope, join->predicate));
  const Node &node = scope.body->nodes[index];
  while (cursor < 3) {
    const bool isTrueSide = cursor++ == 1;
    if (known && *known != isTrueSide)
      continue;
    Edge edge = node.inputs[isTrueSide ? join->whenTrue : join->whenFalse];
    if (!scope.given.count(edge) && !scope.results.count(edge.node))
      return edge.node;
  }
  return -1;
}

absl::StatusOr<std::vector<Value>> Evaluator::runMerge(Scope &scope, int index) {
  auto join = branches_.at(scope.body).joinOf(index);
  const Node &node = scope.body->nodes[index];
  const Value *predicate = find(scope, join->predicate);
  const Value *yes = find(scope, node.inputs[join->whenTrue]), *no = find(scope, node.inputs[join->whenFalse]);
  if (!predicate || !predicate->tensor)
    return absl::InvalidArgumentError("its predicate is no tensor");
  auto number = [&](int input) { return layers_.scalar(layers_.builder().getI32Type(), input); };
  if (auto known = knownCondition(layers_, *predicate)) {
    const Value *taken = *known ? yes : no;
    if (!taken)
      return absl::InvalidArgumentError("the side taken has no value");
    return std::vector<Value>{*taken, number(*known ? join->whenTrue : join->whenFalse)};
  }
  if (!yes || !no || !yes->tensor || !no->tensor)
    return absl::UnimplementedError("the predicate is not known while importing, and the sides are no tensors");
  if (yes->tensor.type != no->tensor.type)
    return unknownValue(absl::StrCat("the predicate of branches of shapes ", nn::formatShape(yes->tensor.shape()),
                                     " and ", nn::formatShape(no->tensor.shape())),
                        predicate->tensor.value);
  Tensor condition = layers_.reshape(predicate->tensor, {});
  Tensor chosen = layers_.select(condition, yes->tensor, no->tensor);
  Tensor which = layers_.select(condition, number(join->whenTrue), number(join->whenFalse));
  if (layers_.failed())
    return layers_.status();
  return std::vector<Value>{chosen, which};
}

/// What enters a loop is computed around it; an Enter outside of a turn passes on what it gets.
absl::StatusOr<std::vector<Value>> Evaluator::runEnter(Scope &scope, int index) {
  const Node &node = scope.body->nodes[index];
  if (node.inputs.size() != 1)
    return absl::InvalidArgumentError(absl::StrCat("node '", node.def->name(), "' (Enter) needs one input"));
  auto value = evaluate(scope.loop ? *scope.outer : scope, node.inputs[0]);
  if (!value.ok())
    return value.status();
  return std::vector<Value>{*value};
}

absl::Status Evaluator::runLoop(Scope &scope, const FrameLoop &loop) {
  if (++nesting_ > 64)
    return absl::UnimplementedError("functions and loops are nested more than 64 deep");
  std::vector<Value> values;
  for (const FrameLoop::Carried &carried : loop.carried) {
    auto value = evaluate(scope, scope.body->nodes[carried.enter].inputs[0]);
    if (!value.ok())
      return value.status();
    values.push_back(*value);
  }
  const Edge condition = scope.body->nodes[loop.condition].inputs[0];
  for (int64_t turn = 0;; ++turn) {
    Scope inside;
    inside.body = scope.body;
    inside.outer = &scope;
    inside.loop = &loop;
    for (size_t i = 0; i < values.size(); ++i) {
      const FrameLoop::Carried &carried = loop.carried[i];
      inside.given[{carried.merge, 0}] = values[i];
      inside.given[{carried.merge, 1}] = layers_.scalar(layers_.builder().getI32Type(), turn == 0 ? 0 : 1);
      if (carried.turn >= 0)
        inside.given[{carried.turn, 1}] = values[i];
    }
    auto holds = evaluate(inside, condition);
    if (!holds.ok())
      return holds.status();
    auto known = knownCondition(layers_, *holds);
    if (!known && holds->tensor && holds->tensor.value)
      return unknownValue("the condition of the loop", holds->tensor.value);
    if (!known)
      return absl::InvalidArgumentError(absl::StrCat("its condition is ", holds->kind(), ", not one element"));
    if (!*known)
      break;
    if (turn == mostTurns)
      return absl::UnimplementedError(absl::StrCat("a loop of more than ", mostTurns, " turns is not supported"));
    std::vector<Value> next;
    for (const FrameLoop::Carried &carried : loop.carried) {
      auto value = evaluate(inside, scope.body->nodes[carried.next].inputs[0]);
      if (!value.ok())
        return value.status();
      next.push_back(*value);
    }
    values = std::move(next);
  }
  for (size_t i = 0; i < values.size(); ++i)
    if (loop.carried[i].exit >= 0)
      scope.results[loop.carried[i].exit] = {values[i]};
  --nesting_;
  return absl::OkStatus();
}

} // namespace wsc::import::tf
