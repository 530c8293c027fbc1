// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Indexing, cutting and ordering of a graph; see Graph.h. The order is a depth-first post-order from the outputs,
// iterative, so deep graphs need no deep stack; a node met again while still open closes a cycle.
#include "compiler/import/onnx/Graph.h"
#include "absl/strings/str_cat.h"
#include <algorithm>

using namespace wsc::onnx;

namespace wsc::import {

std::string nodeName(const NodeProto &node) {
  if (!node.name().empty())
    return node.name();
  return node.output_size() > 0 ? node.output(0) : "(unnamed)";
}

/// Adds what the nodes of a subgraph read and it does not itself hold.
static void addCaptures(const GraphProto &graph, std::vector<std::string> &names) {
  std::set<std::string> own;
  for (const ValueInfoProto &input : graph.input())
    own.insert(input.name());
  for (const TensorProto &initializer : graph.initializer())
    own.insert(initializer.name());
  for (const NodeProto &node : graph.node())
    own.insert(node.output().begin(), node.output().end());
  auto add = [&](const std::string &name) {
    if (!name.empty() && !own.count(name))
      names.push_back(name);
  };
  for (const NodeProto &node : graph.node())
    for (const std::string &name : namesRead(node))
      add(name);
  for (const ValueInfoProto &output : graph.output())
    add(output.name());
}

std::vector<std::string> namesRead(const NodeProto &node) {
  std::vector<std::string> names(node.input().begin(), node.input().end());
  for (const AttributeProto &attribute : node.attribute()) {
    if (attribute.has_g())
      addCaptures(attribute.g(), names);
    for (const GraphProto &graph : attribute.graphs())
      addCaptures(graph, names);
  }
  return names;
}

std::string normalizedDomain(const std::string &domain) { return domain == "ai.onnx" ? "" : domain; }

static absl::Status invalid(const std::string &text) { return absl::InvalidArgumentError(text); }

static absl::Status indexNames(const ModelProto &model, Graph &graph) {
  for (const OperatorSetIdProto &opset : model.opset_import()) {
    auto added = graph.opsets.emplace(normalizedDomain(opset.domain()), opset.version());
    if (!added.second && added.first->second != opset.version())
      return invalid(absl::StrCat("the model imports domain '", opset.domain(), "' twice, with versions ",
                                  added.first->second, " and ", opset.version()));
  }
  for (const TensorProto &initializer : graph.proto->initializer()) {
    if (initializer.name().empty())
      return invalid("an initializer has no name");
    if (!graph.initializers.emplace(initializer.name(), &initializer).second)
      return invalid(absl::StrCat("two initializers are named '", initializer.name(), "'"));
  }
  if (graph.proto->sparse_initializer_size() > 0)
    return absl::UnimplementedError("sparse initializers are not supported; export the model with dense weights");
  std::set<std::string> seen;
  for (const ValueInfoProto &input : graph.proto->input()) {
    if (!seen.insert(input.name()).second)
      return invalid(absl::StrCat("two graph inputs are named '", input.name(), "'"));
    graph.infos.emplace(input.name(), &input);
    if (!graph.initializers.count(input.name()))
      graph.inputs.push_back(&input);
  }
  for (int n = 0; n < graph.proto->node_size(); ++n)
    for (const std::string &output : graph.proto->node(n).output()) {
      if (output.empty())
        continue;
      if (graph.initializers.count(output) || seen.count(output))
        return invalid(absl::StrCat("tensor '", output, "' is an input or initializer and is produced again by node '",
                                    nodeName(graph.proto->node(n)), "'"));
      auto added = graph.producers.emplace(output, n);
      if (!added.second)
        return invalid(absl::StrCat("tensor '", output, "' is produced twice, by nodes '",
                                    nodeName(graph.proto->node(added.first->second)), "' and '",
                                    nodeName(graph.proto->node(n)), "'"));
    }
  for (const ValueInfoProto &info : graph.proto->value_info())
    graph.infos.emplace(info.name(), &info);
  for (const ValueInfoProto &info : graph.proto->output())
    graph.infos.emplace(info.name(), &info);
  return absl::OkStatus();
}

static bool isTensor(const Graph &graph, const std::string &name) {
  if (name.empty())
    return false;
  if (graph.producers.count(name) || graph.initializers.count(name))
    return true;
  return std::any_of(graph.inputs.begin(), graph.inputs.end(),
                     [&](const ValueInfoProto *i) { return i->name() == name; });
}

static absl::Status applyOptions(const ImportOptions &options, Graph &graph) {
  for (const std::string &text : options.inputs) {
    InputOption option;
    option.name = text;
    // Tensor names may hold colons, so a whole name wins over NAME:SHAPE.
    if (!isTensor(graph, text)) {
      size_t colon = text.rfind(':');
      if (colon == std::string::npos || !isTensor(graph, text.substr(0, colon)))
        return absl::NotFoundError(absl::StrCat("--input ", text, ": the model has no tensor of that name"));
      option.name = text.substr(0, colon);
      if (!parseShape(text.substr(colon + 1), option))
        return invalid(absl::StrCat("--input ", text, ": '", text.substr(colon + 1),
                                    "' is no shape; write it as 1x3x224x224 or 1x3x224x224xf32"));
    }
    for (const InputOption &other : graph.inputOptions)
      if (other.name == option.name)
        return invalid(absl::StrCat("--input ", option.name, " is given twice"));
    bool isInput = std::any_of(graph.inputs.begin(), graph.inputs.end(),
                               [&](const ValueInfoProto *i) { return i->name() == option.name; });
    if (!isInput)
      graph.cuts.insert(option.name);
    graph.inputOptions.push_back(option);
  }
  for (const std::string &name : options.outputs) {
    if (!isTensor(graph, name))
      return absl::NotFoundError(absl::StrCat("--output ", name, ": the model has no tensor of that name"));
    graph.outputs.push_back(name);
  }
  if (options.outputs.empty())
    for (const ValueInfoProto &output : graph.proto->output()) {
      if (!isTensor(graph, output.name()))
        return invalid(absl::StrCat("graph output '", output.name(), "' is produced by no node, input or initializer"));
      graph.outputs.push_back(output.name());
    }
  for (size_t i = 0; i < graph.outputs.size(); ++i)
    if (std::find(graph.outputs.begin(), graph.outputs.begin() + i, graph.outputs[i]) != graph.outputs.begin() + i)
      return invalid(absl::StrCat("output '", graph.outputs[i], "' is named twice"));
  if (graph.outputs.empty())
    return invalid("the graph has no outputs; name some with --output");
  return absl::OkStatus();
}

/// Index of the node that must run before `name` can be read, or -1 for inputs and initializers.
static int producerOf(const Graph &graph, const std::string &name) {
  if (graph.cuts.count(name))
    return -1;
  auto found = graph.producers.find(name);
  return found == graph.producers.end() ? -1 : found->second;
}

static absl::Status orderNodes(Graph &graph) {
  enum State : char { Unseen, Open, Done };
  std::vector<State> states(graph.proto->node_size(), Unseen);
  std::vector<std::pair<int, size_t>> stack;                  // node, next name it reads to look at
  std::vector<std::vector<std::string>> reads(states.size()); // by node, once it is met
  for (const std::string &output : graph.outputs) {
    graph.used.insert(output);
    int root = producerOf(graph, output);
    if (root < 0 || states[root] != Unseen)
      continue;
    states[root] = Open;
    reads[root] = namesRead(graph.proto->node(root));
    stack.push_back({root, 0});
    while (!stack.empty()) {
      auto &[index, next] = stack.back();
      const NodeProto &node = graph.proto->node(index);
      if (next == reads[index].size()) {
        states[index] = Done;
        graph.order.push_back(index);
        stack.pop_back();
        continue;
      }
      const std::string &name = reads[index][next++];
      if (name.empty())
        continue;
      if (!isTensor(graph, name))
        return invalid(absl::StrCat("node '", nodeName(node), "' (", node.op_type(), ") reads tensor '", name,
                                    "', which no node, input or initializer produces"));
      graph.used.insert(name);
      int producer = producerOf(graph, name);
      if (producer < 0 || states[producer] == Done)
        continue;
      if (states[producer] == Open) {
        std::string cycle = nodeName(graph.proto->node(producer));
        auto first =
            std::find_if(stack.begin(), stack.end(), [&](const auto &entry) { return entry.first == producer; });
        for (auto entry = first + 1; entry != stack.end() && entry - first < 8; ++entry)
          cycle = absl::StrCat(nodeName(graph.proto->node(entry->first)), " <- ", cycle);
        return invalid(
            absl::StrCat("the graph has a cycle of ", stack.end() - first, " nodes: ", cycle, " <- ", nodeName(node)));
      }
      states[producer] = Open;
      reads[producer] = namesRead(graph.proto->node(producer));
      stack.push_back({producer, 0});
    }
  }
  // Nodes of an ONNX file come sorted; keep the file's order where it is one.
  std::vector<int> byFile(graph.order);
  std::sort(byFile.begin(), byFile.end());
  bool sorted = std::all_of(byFile.begin(), byFile.end(), [&](int n) {
    return std::all_of(reads[n].begin(), reads[n].end(),
                       [&](const std::string &name) { return name.empty() || producerOf(graph, name) < n; });
  });
  if (sorted)
    graph.order = byFile;
  return absl::OkStatus();
}

absl::StatusOr<Graph> indexGraph(const ModelProto &model, const ImportOptions &options) {
  Graph graph;
  graph.proto = &model.graph();
  if (absl::Status status = indexNames(model, graph); !status.ok())
    return status;
  if (absl::Status status = applyOptions(options, graph); !status.ok())
    return status;
  if (absl::Status status = orderNodes(graph); !status.ok())
    return status;
  return graph;
}

} // namespace wsc::import
