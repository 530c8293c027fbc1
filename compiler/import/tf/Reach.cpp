// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What outputs need; see Reach.h.
#include "compiler/import/tf/Reach.h"
#include "absl/strings/str_cat.h"
#include "compiler/import/tf/Branches.h"
#include "compiler/import/tf/Registry.h"
#include <algorithm>

using namespace wsc::tf;

namespace wsc::import::tf {
namespace {

class Walker {
public:
  Walker(const FunctionDefLibrary &library, Reach &reach) : library_(library), reach_(reach) {}

  absl::Status walk(const Body &body, const std::vector<int> &roots, const std::set<Edge> &cuts, std::set<int> &seen) {
    std::optional<Branches> branches;
    std::vector<int> open(roots.rbegin(), roots.rend());
    while (!open.empty()) {
      int n = open.back();
      open.pop_back();
      if (!seen.insert(n).second)
        continue;
      const Node &node = body.nodes[n];
      std::vector<Edge> inputs = node.inputs;
      if (node.def->op() == "Merge" && !body.loopOfMerge.count(n)) {
        if (!branches)
          branches.emplace(body);
        if (auto join = branches->joinOf(n); join.ok())
          if (auto known = knownBool(body, join->predicate, cuts))
            inputs = {join->predicate, node.inputs[*known ? join->whenTrue : join->whenFalse]};
      }
      for (size_t i = inputs.size(); i-- > 0;)
        if (!cuts.count(inputs[i]))
          open.push_back(inputs[i].node);
      for (int control : node.controls)
        if (body.nodes[control].reachesWrite)
          open.push_back(control);
    }
    for (int n : seen)
      if (absl::Status status = note(body, body.nodes[n]); !status.ok())
        return status;
    return absl::OkStatus();
  }

private:
  /// A predicate that the graph itself fixes.
  static std::optional<bool> knownBool(const Body &body, Edge edge, const std::set<Edge> &cuts) {
    for (int steps = 0; steps < 64 && !cuts.count(edge); ++steps) {
      const Node &node = body.nodes[edge.node];
      if (node.def->op() == "Const") {
        for (const AttrEntry &entry : node.def->attr())
          if (entry.key() == "value" && entry.value().tensor().dtype() == DT_BOOL &&
              entry.value().tensor().bool_val_size() == 1)
            return entry.value().tensor().bool_val(0);
        return std::nullopt;
      }
      if (node.inputs.empty() || (node.def->op() != "Identity" && node.def->op() != "PlaceholderWithDefault"))
        return std::nullopt;
      edge = node.inputs[0];
    }
    return std::nullopt;
  }

  absl::Status note(const Body &body, const Node &node) {
    const std::string &op = node.def->op();
    if (op == argumentOp)
      return absl::OkStatus();
    if (!node.op && !findFunction(library_, op)) {
      auto found = std::find_if(reach_.unsupported.begin(), reach_.unsupported.end(),
                                [&](const UnsupportedOperator &u) { return u.type == op; });
      if (found == reach_.unsupported.end())
        found = reach_.unsupported.insert(
            found,
            UnsupportedOperator{"tensorflow", op, 0, 0,
                                body.name.empty() ? node.def->name() : absl::StrCat(body.name, "/", node.def->name())});
      ++found->count;
      return absl::OkStatus();
    }
    if (!node.op)
      return enter(op);
    if (op == "If" || op == "StatelessIf" || op == "Case" || op == "StatelessCase")
      return absl::OkStatus();
    for (const AttrEntry &entry : node.def->attr())
      if (entry.value().has_func())
        if (absl::Status status = enter(entry.value().func().name()); !status.ok())
          return status;
    return absl::OkStatus();
  }

  absl::Status enter(const std::string &name) {
    const FunctionDef *function = findFunction(library_, name);
    if (!function || !entered_.insert(name).second)
      return absl::OkStatus();
    auto body = bodyOf(*function, library_);
    if (!body.ok())
      return at(absl::StrCat("function '", name, "'"), body.status());
    std::vector<int> roots;
    for (const Edge &edge : (*body)->results)
      roots.push_back(edge.node);
    for (int node : (*body)->controlResults)
      if ((*body)->nodes[node].reachesWrite)
        roots.push_back(node);
    std::set<int> seen;
    if (++depth_ > 64)
      return absl::UnimplementedError("functions are nested more than 64 deep");
    absl::Status status = walk(**body, roots, {}, seen);
    --depth_;
    return status;
  }

  const FunctionDefLibrary &library_;
  Reach &reach_;
  std::set<std::string> entered_;
  int depth_ = 0;
};

bool isAudio(const std::string &op) {
  return op == "DecodeWav" || op == "AudioSpectrogram" || op == "Mfcc" || op == "ReadFile";
}

} // namespace

absl::StatusOr<Reach> reachOf(const Body &body, const FunctionDefLibrary &library, const std::vector<int> &outputs,
                              const std::set<Edge> &cuts) {
  Reach reach;
  if (absl::Status status = Walker(library, reach).walk(body, outputs, cuts, reach.nodes); !status.ok())
    return status;
  return reach;
}

absl::Status unsupportedError(const Body &body, const Reach &reach) {
  std::string feed, reader;
  for (int n : reach.nodes)
    for (const Edge &edge : body.nodes[n].inputs) {
      const NodeDef &from = body.def(edge.node), &to = body.def(n);
      if (isAudio(from.op()) && !isAudio(to.op()) && feed.empty()) {
        feed = from.name();
        reader = to.name();
      }
    }
  std::string text;
  std::vector<const UnsupportedOperator *> others;
  for (const UnsupportedOperator &u : reach.unsupported)
    if (feed.empty() || !isAudio(u.type))
      others.push_back(&u);
  if (!feed.empty())
    absl::StrAppend(&text,
                    "the graph begins with an audio front end (DecodeWav, AudioSpectrogram, Mfcc), which is no part "
                    "of the network; feed the tensor behind it: --input ",
                    feed, ":SHAPE, or --input ", reader, ", which reads it", others.empty() ? "" : "\n");
  if (!others.empty())
    absl::StrAppend(&text, others.size(), others.size() == 1 ? " operator is" : " operators are", " not supported:");
  for (const UnsupportedOperator *u : others)
    absl::StrAppend(&text, "\n  ", u->type, ": ", u->count, u->count == 1 ? " node" : " nodes", ", first '",
                    u->firstNode, "'");
  if (!others.empty())
    absl::StrAppend(&text, "\ncut the graph before them with --output, or behind them with --input");
  return absl::UnimplementedError(text);
}

} // namespace wsc::import::tf
