// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Demand-driven execution; see Evaluator.h. What a node needs is computed before it, depth first on a stack of its own,
// so that long graphs need no deep stack; a node met again while it is still open closes a cycle. Control inputs count
// where they order what variables hold.
#include "compiler/import/tf/Evaluator.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/tf/Registry.h"
#include "dialects/nn/Shape.h"
#include <unordered_set>

using namespace wsc::tf;

namespace wsc::import::tf {

/// Functions may call functions, and loops hold loops, to this depth.
static constexpr int maxNesting = 64;

Evaluator::Evaluator(mlir::OpBuilder &builder, LoadedModel &model, Variables &variables, bool likeTensorFlowJs)
    : model_(model), likeTensorFlowJs_(likeTensorFlowJs), variables_(variables),
      reader_(*builder.getContext(), model.files, model.file), layers_(builder, model.files) {}

const Value *Evaluator::find(const Scope &scope, Edge edge) const {
  if (auto given = scope.given.find(edge); given != scope.given.end())
    return &given->second;
  auto found = scope.results.find(edge.node);
  if (found == scope.results.end() || static_cast<size_t>(edge.output) >= found->second.size() ||
      !found->second[edge.output])
    return nullptr;
  return &found->second[edge.output];
}

absl::StatusOr<Value> Evaluator::evaluate(Scope &scope, Edge edge) {
  if (!scope.given.count(edge))
    if (absl::Status status = compute(scope, edge.node); !status.ok())
      return status;
  if (const Value *value = find(scope, edge))
    return *value;
  const NodeDef &def = scope.body->def(edge.node);
  return absl::InvalidArgumentError(absl::StrCat("node '", def.name(), "' (", def.op(), ") has no output ", edge.output,
                                                 " of a kind that is supported"));
}

absl::StatusOr<int> Evaluator::nextNeeded(Scope &scope, int index, size_t &cursor) {
  const Node &node = scope.body->nodes[index];
  const std::string &op = node.def->op();
  if (op == "Merge" || op == "RefMerge")
    return nextOfMerge(scope, index, cursor);
  const bool isTurnEnter = scope.loop && (op == "Enter" || op == "RefEnter");
  if (isTurnEnter)
    return -1;
  if (auto exit = scope.body->loopOfExit.find(index); exit != scope.body->loopOfExit.end()) {
    const auto &carried = scope.body->loops[exit->second].carried;
    while (cursor < carried.size()) {
      Edge edge = scope.body->nodes[carried[cursor++].enter].inputs[0];
      if (!scope.given.count(edge) && !scope.results.count(edge.node))
        return edge.node;
    }
    return -1;
  }
  while (cursor < node.inputs.size() + node.controls.size()) {
    const size_t i = cursor++;
    if (i < node.inputs.size()) {
      Edge edge = node.inputs[i];
      if (!scope.given.count(edge) && !scope.results.count(edge.node))
        return edge.node;
      continue;
    }
    int control = node.controls[i - node.inputs.size()];
    const Node &before = scope.body->nodes[control];
    if ((before.reachesWrite || (before.op && before.op->reads)) && !scope.results.count(control))
      return control;
  }
  return -1;
}

absl::Status Evaluator::cycleError(const Body &body, const std::vector<std::pair<int, size_t>> &stack,
                                   int again) const {
  size_t first = stack.size();
  while (first > 0 && stack[first - 1].first != again)
    --first;
  std::string names;
  size_t listed = 0;
  for (size_t i = first; i < stack.size() && listed < 8; ++i, ++listed)
    absl::StrAppend(&names, names.empty() ? "" : " <- ", body.def(stack[i].first).name());
  return absl::InvalidArgumentError(absl::StrCat("the graph has a cycle of ", stack.size() - first + 1,
                                                 " nodes that no NextIteration closes: ", body.def(again).name(),
                                                 " <- ", names));
}

absl::Status Evaluator::compute(Scope &scope, int root) {
  if (scope.results.count(root))
    return absl::OkStatus();
  std::vector<std::pair<int, size_t>> stack{{root, 0}};
  std::unordered_set<int> open{root};
  while (!stack.empty()) {
    auto &[node, cursor] = stack.back();
    if (scope.results.count(node)) { // a loop's other Exits come with the first
      open.erase(node);
      stack.pop_back();
      continue;
    }
    auto next = nextNeeded(scope, node, cursor);
    if (!next.ok())
      return next.status();
    if (*next >= 0) {
      if (!open.insert(*next).second)
        return cycleError(*scope.body, stack, *next);
      stack.push_back({*next, 0});
      continue;
    }
    const int done = node;
    auto results = run(scope, done);
    if (!results.ok())
      return results.status();
    scope.results[done] = std::move(*results);
    open.erase(done);
    stack.pop_back();
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<Value>> Evaluator::run(Scope &scope, int index) {
  const Node &node = scope.body->nodes[index];
  const NodeDef &def = *node.def;
  auto place = [&](const absl::Status &status) {
    if (!failure_.ok())
      return failure_;
    return tell(at(absl::StrCat("node '", def.name(), "' (", def.op(), ")",
                                scope.body->name.empty() ? "" : absl::StrCat(" of function '", scope.body->name, "'")),
                   status));
  };
  if (def.op() == argumentOp) {
    const Scope &function = scope.root();
    for (size_t i = 0; i < function.body->arguments.size(); ++i)
      if (function.body->arguments[i] == index && i < function.arguments.size())
        return std::vector<Value>{function.arguments[i]};
    return place(absl::InvalidArgumentError("the call gives no value for it"));
  }
  if (def.op() == "Merge" || def.op() == "RefMerge") {
    auto merged = runMerge(scope, index);
    return merged.ok() ? merged : absl::StatusOr<std::vector<Value>>(place(merged.status()));
  }
  if (def.op() == "Enter" || def.op() == "RefEnter")
    return runEnter(scope, index);
  if (auto exit = scope.body->loopOfExit.find(index); exit != scope.body->loopOfExit.end()) {
    const FrameLoop &loop = scope.body->loops[exit->second];
    if (absl::Status status = runLoop(scope, loop); !status.ok())
      return at(absl::StrCat("loop '", loop.frame, "'"), status);
    return scope.results[index];
  }
  std::vector<Value> inputs;
  for (const Edge &edge : node.inputs) {
    const Value *value = find(scope, edge);
    if (!value) {
      const NodeDef &from = scope.body->def(edge.node);
      return place(absl::InvalidArgumentError(absl::StrCat("reads output ", edge.output, " of node '", from.name(),
                                                           "' (", from.op(),
                                                           "), which it has not or "
                                                           "which is not supported")));
    }
    inputs.push_back(*value);
  }
  auto results = translate(node, std::move(inputs));
  return results.ok() ? results : absl::StatusOr<std::vector<Value>>(place(results.status()));
}

absl::StatusOr<std::vector<Value>> Evaluator::translate(const Node &node, std::vector<Value> inputs) {
  const NodeDef &def = *node.def;
  layers_.setLocation(mlir::NameLoc::get(layers_.builder().getStringAttr(def.name())));
  if (!node.op) {
    NameAttrList function;
    function.set_name(def.op());
    if (!findFunction(model_.graph.library(), def.op()))
      return absl::UnimplementedError("the operator is not supported");
    *function.mutable_attr() = def.attr();
    return call(function, std::move(inputs));
  }
  const int count = static_cast<int>(inputs.size());
  if (count < node.op->minInputs || count > node.op->maxInputs)
    return absl::InvalidArgumentError(absl::StrCat("has ", count, " inputs, needs ", node.op->minInputs,
                                                   node.op->maxInputs == node.op->minInputs ? std::string()
                                                   : node.op->maxInputs == anyInputs
                                                       ? std::string(" or more")
                                                       : absl::StrCat(" to ", node.op->maxInputs)));
  if (!node.op->handler)
    return absl::InvalidArgumentError("stands outside of any loop or branch that it could belong to");
  NodeContext context(def, layers_, reader_, *this, std::move(inputs));
  node.op->handler(context);
  context.checkComplete();
  if (layers_.failed())
    return layers_.status();
  return context.takeResults();
}

/// Puts values in the place of the function's own attributes.
static void substitute(google::protobuf::RepeatedPtrField<AttrEntry> &attributes, const NameAttrList &call);

static void substitute(AttrValue &value, const NameAttrList &call) {
  if (value.has_func())
    return substitute(*value.mutable_func()->mutable_attr(), call);
  if (!value.has_placeholder())
    return;
  for (const AttrEntry &given : call.attr())
    if (given.key() == value.placeholder()) {
      AttrValue copy = given.value();
      value = copy;
      return;
    }
}

static void substitute(google::protobuf::RepeatedPtrField<AttrEntry> &attributes, const NameAttrList &call) {
  for (AttrEntry &entry : attributes)
    substitute(*entry.mutable_value(), call);
}

absl::StatusOr<const Body *> Evaluator::bodyFor(const NameAttrList &function) {
  const FunctionDef *definition = findFunction(model_.graph.library(), function.name());
  if (!definition)
    return absl::NotFoundError(absl::StrCat("calls function '", function.name(), "', which the graph does not have"));
  const bool isGeneric = definition->signature().attr_size() > 0;
  std::unique_ptr<Body> &body = bodies_[isGeneric ? function.SerializeAsString() : function.name()];
  if (body)
    return body.get();
  if (isGeneric) {
    FunctionDef &copy = specialised_.emplace_back(*definition);
    NameAttrList call = function;
    for (const auto &attribute : definition->signature().attr())
      if (attribute.has_default_value()) {
        AttrEntry &entry = *call.add_attr();
        entry.set_key(attribute.name());
        *entry.mutable_value() = attribute.default_value();
      }
    for (NodeDef &node : *copy.mutable_node_def())
      substitute(*node.mutable_attr(), call);
    definition = &copy;
  }
  auto built = bodyOf(*definition, model_.graph.library());
  if (!built.ok())
    return at(absl::StrCat("function '", function.name(), "'"), built.status());
  body = std::move(*built);
  return body.get();
}

absl::StatusOr<std::vector<Value>> Evaluator::call(const NameAttrList &function, std::vector<Value> arguments) {
  for (const std::string &caller : calls_)
    if (caller == function.name())
      return absl::UnimplementedError(absl::StrCat("function '", function.name(), "' calls itself (",
                                                   absl::StrJoin(calls_, " → "), " → ", function.name(),
                                                   "); recursion is not supported"));
  if (nesting_ >= maxNesting)
    return absl::UnimplementedError(absl::StrCat("functions and loops are nested more than ", maxNesting, " deep (",
                                                 calls_.front(), " → … → ", function.name(), ")"));
  auto body = bodyFor(function);
  if (!body.ok())
    return body.status();
  Scope scope;
  scope.body = *body;
  if (arguments.size() != scope.body->arguments.size())
    return absl::InvalidArgumentError(absl::StrCat("calls function '", function.name(), "', which has ",
                                                   scope.body->arguments.size(), " arguments, with ",
                                                   arguments.size()));
  scope.arguments = std::move(arguments);
  const mlir::Location location = layers_.location();
  calls_.push_back(function.name());
  ++nesting_;
  std::vector<Value> results;
  absl::Status status;
  for (size_t i = 0; i < scope.body->results.size() && status.ok(); ++i) {
    auto value = evaluate(scope, scope.body->results[i]);
    status = value.status();
    if (value.ok())
      results.push_back(std::move(*value));
  }
  for (size_t i = 0; i < scope.body->controlResults.size() && status.ok(); ++i)
    if (scope.body->nodes[scope.body->controlResults[i]].reachesWrite)
      status = compute(scope, scope.body->controlResults[i]);
  --nesting_;
  calls_.pop_back();
  layers_.setLocation(location);
  if (!status.ok())
    return status;
  return results;
}

} // namespace wsc::import::tf
