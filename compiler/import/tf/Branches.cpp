// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conditions pass from inputs, control inputs included, to results. A Switch adds its predicate to them, a Merge takes
// off the predicate whose sides it joins.
#include "compiler/import/tf/Branches.h"
#include "absl/strings/str_cat.h"
#include <optional>

namespace wsc::import::tf {

/// The predicate without the Identities in front of it, by which it is recognised.
static Edge rootOf(const Body &body, Edge edge) {
  for (int steps = 0; steps < 64; ++steps) {
    const Node &node = body.nodes[edge.node];
    if (node.def->op() != "Identity" || node.inputs.empty())
      break;
    edge = node.inputs[0];
  }
  return edge;
}

/// The predicate both sides of which two values stand for, and whether the first is its true side.
static std::optional<std::pair<Edge, bool>> oppositeOf(const std::set<std::pair<Edge, bool>> &a,
                                                       const std::set<std::pair<Edge, bool>> &b) {
  for (const auto &guard : a)
    if (b.count({guard.first, !guard.second}))
      return guard;
  return std::nullopt;
}

static bool isSwitch(const Node &node) { return node.def->op() == "Switch" || node.def->op() == "RefSwitch"; }

Branches::Branches(const Body &body) : body_(body), guards_(body.nodes.size()) {
  // Nodes behind what they read, the way back from a loop's end left out.
  std::vector<char> state(body.nodes.size(), 0);
  std::vector<std::pair<int, size_t>> stack;
  for (size_t root = 0; root < body.nodes.size(); ++root) {
    if (state[root])
      continue;
    state[root] = 1;
    stack.push_back({static_cast<int>(root), 0});
    while (!stack.empty()) {
      auto &[n, next] = stack.back();
      const Node &node = body.nodes[n];
      const size_t inputs = body.loopOfMerge.count(n) ? 0 : node.inputs.size();
      if (next < inputs + node.controls.size()) {
        int child = next < inputs ? node.inputs[next].node : node.controls[next - inputs];
        ++next;
        if (!state[child]) {
          state[child] = 1;
          stack.push_back({child, 0});
        }
        continue;
      }
      Guards &guards = guards_[n];
      for (const Edge &edge : node.inputs) {
        Guards more = guardsOf(edge);
        guards.insert(more.begin(), more.end());
      }
      for (int control : node.controls)
        guards.insert(guards_[control].begin(), guards_[control].end());
      if (node.def->op() == "Merge" && node.inputs.size() == 2)
        if (auto guard = oppositeOf(guardsOf(node.inputs[0]), guardsOf(node.inputs[1]))) {
          const Edge predicate = guard->first;
          guards.erase({predicate, true});
          guards.erase({predicate, false});
        }
      stack.pop_back();
    }
  }
}

Branches::Guards Branches::guardsOf(Edge edge) const {
  Guards guards = guards_[edge.node];
  const Node &node = body_.nodes[edge.node];
  if (isSwitch(node) && node.inputs.size() == 2 && body_.def(node.inputs[1].node).op() != "LoopCond")
    guards.insert({rootOf(body_, node.inputs[1]), edge.output == 1});
  return guards;
}

absl::StatusOr<Branches::Join> Branches::joinOf(int merge) const {
  const Node &node = body_.nodes[merge];
  if (node.inputs.size() == 2)
    if (auto guard = oppositeOf(guardsOf(node.inputs[0]), guardsOf(node.inputs[1])))
      return Join{guard->first, guard->second ? 0 : 1, guard->second ? 1 : 0};
  return absl::InvalidArgumentError("joins no two branches of one Switch, and no loop");
}

} // namespace wsc::import::tf
