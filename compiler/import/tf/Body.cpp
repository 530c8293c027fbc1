// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Edges from names; see Body.h. In a function an input is "node:result:i", the i-th tensor of a result by its name; the
// operator's row in the table knows the order of its results.
#include "compiler/import/tf/Body.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "compiler/import/tf/Registry.h"

using namespace wsc::tf;

namespace wsc::import::tf {

TensorName parseTensorName(std::string_view text) {
  TensorName name;
  if (!text.empty() && text.front() == '^') {
    name.isControl = true;
    name.node = text.substr(1);
    return name;
  }
  name.node = text;
  size_t colon = text.rfind(':');
  int output = 0;
  if (colon != std::string_view::npos && absl::SimpleAtoi(std::string(text.substr(colon + 1)), &output) &&
      output >= 0) {
    name.node = text.substr(0, colon);
    name.output = output;
  }
  return name;
}

const FunctionDef *findFunction(const FunctionDefLibrary &library, const std::string &name) {
  for (const FunctionDef &function : library.function())
    if (function.signature().name() == name)
      return &function;
  return nullptr;
}

static absl::Status invalid(const std::string &text) { return absl::InvalidArgumentError(text); }

/// First flat output of the result called `result` of a node.
static int firstOutput(const Node &node, const FunctionDefLibrary &library, const std::string &result) {
  if (const FunctionDef *function = findFunction(library, node.def->op())) {
    for (int i = 0; i < function->signature().output_arg_size(); ++i)
      if (function->signature().output_arg(i).name() == result)
        return i;
    return 0;
  }
  if (!node.op)
    return 0;
  int i = 0;
  for (const std::string &name : std::vector<std::string>(absl::StrSplit(node.op->results, ','))) {
    if (name == result)
      return i;
    ++i;
  }
  return 0;
}

namespace {

class Builder {
public:
  Builder(Body &body, const FunctionDefLibrary &library) : body_(body), library_(library) {}

  absl::Status add(const NodeDef &def) {
    if (def.name().empty())
      return invalid(absl::StrCat("a node of operator '", def.op(), "' has no name"));
    if (def.op().empty())
      return invalid(absl::StrCat("node '", def.name(), "' has no operator"));
    int index = static_cast<int>(body_.nodes.size());
    if (!body_.byName.emplace(def.name(), index).second)
      return invalid(absl::StrCat("two nodes are named '", def.name(), "'"));
    body_.nodes.push_back({&def, findOperator(def.op()), {}, {}, false});
    return absl::OkStatus();
  }

  absl::Status connect(bool inFunction) {
    for (Node &node : body_.nodes)
      for (const std::string &text : node.def->input()) {
        Edge edge;
        bool isControl = false;
        if (!find(text, inFunction, edge, isControl))
          return invalid(absl::StrCat("node '", node.def->name(), "' (", node.def->op(), ") reads '", text,
                                      "', which no node produces"));
        if (isControl)
          node.controls.push_back(edge.node);
        else
          node.inputs.push_back(edge);
      }
    return absl::OkStatus();
  }

  bool find(const std::string &text, bool inFunction, Edge &edge, bool &isControl) const {
    isControl = !text.empty() && text.front() == '^';
    if (!inFunction || isControl) {
      TensorName name = parseTensorName(text);
      auto found = body_.byName.find(name.node);
      if (found == body_.byName.end() || name.output > maxOutputs)
        return false;
      edge = {found->second, name.output};
      return true;
    }
    std::vector<std::string> parts = absl::StrSplit(text, ':');
    auto found = body_.byName.find(parts[0]);
    if (found == body_.byName.end() || parts.size() > 3)
      return false;
    edge = {found->second, 0};
    int number = 0;
    if (parts.size() == 2 && absl::SimpleAtoi(parts[1], &number)) {
      edge.output = number;
    } else if (parts.size() > 1) {
      if (parts.size() == 3 && !absl::SimpleAtoi(parts[2], &number))
        return false;
      edge.output = firstOutput(body_.nodes[edge.node], library_, parts[1]) + number;
    }
    return number >= 0 && number <= maxOutputs;
  }

private:
  static constexpr int maxOutputs = 1 << 20;
  Body &body_;
  const FunctionDefLibrary &library_;
};

/// Marks what a write depends on from; loops close no way for marks.
void markWrites(Body &body) {
  std::vector<std::vector<int>> readers(body.nodes.size());
  std::vector<int> open;
  for (size_t n = 0; n < body.nodes.size(); ++n) {
    Node &node = body.nodes[n];
    for (const Edge &edge : node.inputs)
      readers[edge.node].push_back(static_cast<int>(n));
    for (int control : node.controls)
      readers[control].push_back(static_cast<int>(n));
    if (node.op && node.op->writes) {
      node.reachesWrite = true;
      open.push_back(static_cast<int>(n));
    }
  }
  while (!open.empty()) {
    int next = open.back();
    open.pop_back();
    for (int reader : readers[next])
      if (!body.nodes[reader].reachesWrite) {
        body.nodes[reader].reachesWrite = true;
        open.push_back(reader);
      }
  }
}

} // namespace

absl::StatusOr<std::unique_ptr<Body>> bodyOf(const GraphDef &graph, const FunctionDefLibrary &library) {
  auto body = std::make_unique<Body>();
  Builder builder(*body, library);
  for (const NodeDef &def : graph.node())
    if (absl::Status status = builder.add(def); !status.ok())
      return status;
  if (absl::Status status = builder.connect(false); !status.ok())
    return status;
  markWrites(*body);
  if (absl::Status status = findLoops(*body); !status.ok())
    return status;
  return body;
}

absl::StatusOr<std::unique_ptr<Body>> bodyOf(const FunctionDef &function, const FunctionDefLibrary &library) {
  auto body = std::make_unique<Body>();
  body->name = function.signature().name();
  Builder builder(*body, library);
  for (const auto &argument : function.signature().input_arg()) {
    NodeDef &def = body->own.emplace_back();
    def.set_name(argument.name());
    def.set_op(argumentOp);
    body->arguments.push_back(static_cast<int>(body->nodes.size()));
    if (absl::Status status = builder.add(def); !status.ok())
      return status;
  }
  for (const NodeDef &def : function.node_def())
    if (absl::Status status = builder.add(def); !status.ok())
      return status;
  if (absl::Status status = builder.connect(true); !status.ok())
    return status;
  bool isControl = false;
  for (const auto &result : function.signature().output_arg()) {
    const StringEntry *entry = nullptr;
    for (const StringEntry &candidate : function.ret())
      if (candidate.key() == result.name())
        entry = &candidate;
    Edge edge;
    if (!entry || !builder.find(entry->value(), true, edge, isControl) || isControl)
      return invalid(absl::StrCat("result '", result.name(), "' of function '", body->name, "' ",
                                  entry ? absl::StrCat("is '", entry->value(), "', which no node produces")
                                        : std::string("is not given")));
    body->results.push_back(edge);
    body->resultNames.push_back(result.name());
  }
  for (const StringEntry &entry : function.control_ret())
    if (auto found = body->byName.find(entry.value()); found != body->byName.end())
      body->controlResults.push_back(found->second);
  markWrites(*body);
  // Writes run although no result depends on them.
  for (size_t n = 0; n < body->nodes.size(); ++n)
    if (const Operator *op = body->nodes[n].op; op && op->writes)
      body->controlResults.push_back(static_cast<int>(n));
  if (absl::Status status = findLoops(*body); !status.ok())
    return status;
  return body;
}

} // namespace wsc::import::tf
