// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Control flow: v1's operators as far as they are plain nodes (the evaluator knows Enter, Exit and Merge), calls,
// If, Case and While of v2. The condition of a While must be known each turn; an If whose condition is not known
// computes both branches and chooses.
#include "absl/strings/str_cat.h"
#include "compiler/import/tf/Evaluator.h"
#include "compiler/import/tf/Registry.h"
#include "dialects/nn/Shape.h"

namespace wsc::import::tf {
namespace {

void switchOf(NodeContext &node) {
  node.setResult(0, node.value(0));
  node.setResult(1, node.value(0));
}

void passOn(NodeContext &node) { node.setResult(node.value(0)); }

std::vector<Value> callOf(NodeContext &node, const wsc::tf::NameAttrList &function, std::vector<Value> arguments) {
  if (node.failed())
    return {};
  auto results = node.machine.call(function, std::move(arguments));
  if (results.ok())
    return std::move(*results);
  node.layers.fail(results.status());
  return {};
}

void setResults(NodeContext &node, std::vector<Value> results) {
  for (size_t i = 0; i < results.size(); ++i)
    node.setResult(i, std::move(results[i]));
}

void partitionedCall(NodeContext &node) {
  if (auto *function = node.functionAttribute("f"))
    setResults(node, callOf(node, *function, node.values()));
}

std::optional<int64_t> knownInteger(NodeContext &node, const Value &value) {
  auto literal = node.layers.literal(value.tensor);
  if (!literal || literal->size() != 1)
    return std::nullopt;
  return literal->isFloat() ? literal->floats[0] != 0 : literal->ints[0];
}

/// Results of both branches, chosen by `condition` (i1).
std::vector<Value> chooseResults(NodeContext &node, const Tensor &condition, const std::vector<Value> &yes,
                                 const std::vector<Value> &no) {
  std::vector<Value> chosen;
  for (size_t i = 0; i < yes.size() && i < no.size() && !node.failed(); ++i) {
    if (!yes[i].tensor || !no[i].tensor || yes[i].tensor.type != no[i].tensor.type) {
      node.failUnknown(absl::StrCat("the condition of branches whose result ", i, " is ", yes[i].kind(), " ",
                                    nn::formatShape(yes[i].tensor.shape()), " and ", no[i].kind(), " ",
                                    nn::formatShape(no[i].tensor.shape())),
                       condition);
      return {};
    }
    chosen.push_back(Value(node.layers.select(condition, yes[i].tensor, no[i].tensor)));
  }
  return chosen;
}

/// Whether a condition holds: a bool, or a number other than 0.
Expression truthOf(NodeContext &node, const Tensor &tensor) {
  Expression x{node.layers, tensor};
  if (node.failed())
    return x;
  if (x.size() != 1) {
    node.fail(absl::StrCat("the condition has shape ", nn::formatShape(x.shape()), ", one element is needed"));
    return x;
  }
  return x.reshape({}).cast(node.layers.builder().getI1Type());
}

void ifOf(NodeContext &node) {
  auto *thenBranch = node.functionAttribute("then_branch"), *elseBranch = node.functionAttribute("else_branch");
  std::vector<Value> arguments(node.values().begin() + 1, node.values().end());
  if (node.failed())
    return;
  if (auto known = knownInteger(node, node.value(0)))
    return setResults(node, callOf(node, *known ? *thenBranch : *elseBranch, arguments));
  Expression condition = truthOf(node, node.input(0));
  Variables &variables = node.machine.variables();
  std::vector<Tensor> before = variables.values();
  std::vector<Value> yes = callOf(node, *thenBranch, arguments);
  std::vector<Tensor> afterYes = variables.values();
  variables.setValues(before);
  std::vector<Value> no = callOf(node, *elseBranch, arguments);
  if (node.failed())
    return;
  variables.choose(node.layers, condition, afterYes, variables.values());
  setResults(node, chooseResults(node, condition, yes, no));
}

/// Indices outside of the branches take the last one.
void caseOf(NodeContext &node) {
  const wsc::tf::AttrValue *branches = node.find("branches");
  if (!branches || branches->list().func_size() == 0)
    return node.fail("has no branches");
  const int count = branches->list().func_size();
  std::vector<Value> arguments(node.values().begin() + 1, node.values().end());
  if (auto known = knownInteger(node, node.value(0))) {
    const int64_t index = *known < 0 || *known >= count ? count - 1 : *known;
    return setResults(node, callOf(node, branches->list().func(static_cast<int>(index)), arguments));
  }
  Expression index = node.in(0);
  std::vector<Value> results = callOf(node, branches->list().func(count - 1), arguments);
  for (int i = count - 1; i-- > 0 && !node.failed();)
    results =
        chooseResults(node, equal(index.reshape({}), i), callOf(node, branches->list().func(i), arguments), results);
  setResults(node, std::move(results));
}

void whileOf(NodeContext &node) {
  auto *cond = node.functionAttribute("cond"), *body = node.functionAttribute("body");
  std::vector<Value> values = node.values();
  for (int64_t turn = 0; !node.failed(); ++turn) {
    std::vector<Value> holds = callOf(node, *cond, values);
    if (node.failed())
      return;
    if (holds.size() != 1 || !holds[0].tensor)
      return node.fail("the condition gives no tensor");
    auto known = knownInteger(node, holds[0]);
    if (!known)
      return node.failUnknown("the condition of a loop", holds[0].tensor);
    if (!*known)
      break;
    if (turn == mostTurns)
      return node.unsupported(absl::StrCat("a loop of more than ", mostTurns, " turns is not supported"));
    std::vector<Value> next = callOf(node, *body, values);
    if (!node.failed() && next.size() != values.size())
      return node.fail(absl::StrCat("the body has ", next.size(), " results for ", values.size(), " values"));
    values = std::move(next);
  }
  setResults(node, std::move(values));
}

} // namespace

static const Operator flow[] = {
    {"Switch", 2, 2, switchOf, "output_false,output_true"},
    {"RefSwitch", 2, 2, switchOf, "output_false,output_true"},
    {"Merge", 1, anyInputs, nullptr, "output,value_index"},
    {"RefMerge", 1, anyInputs, nullptr, "output,value_index"},
    {"Enter", 1, 1, nullptr},
    {"RefEnter", 1, 1, nullptr},
    {"Exit", 1, 1, nullptr},
    {"RefExit", 1, 1, nullptr},
    {"NextIteration", 1, 1, passOn},
    {"RefNextIteration", 1, 1, passOn},
    {"LoopCond", 1, 1, passOn},
};
llvm::ArrayRef<Operator> controlOperators() { return flow; }

static const Operator functions[] = {
    {"PartitionedCall", 0, anyInputs, partitionedCall},
    {"StatefulPartitionedCall", 0, anyInputs, partitionedCall},
    {"If", 1, anyInputs, ifOf},
    {"StatelessIf", 1, anyInputs, ifOf},
    {"Case", 1, anyInputs, caseOf},
    {"StatelessCase", 1, anyInputs, caseOf},
    {"While", 0, anyInputs, whileOf},
    {"StatelessWhile", 0, anyInputs, whileOf},
};
llvm::ArrayRef<Operator> functionOperators() { return functions; }

} // namespace wsc::import::tf
