// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops of control flow v1. TensorFlow writes `while` as a cycle through
//
//     Enter ─► Merge ─► Switch ─► Exit
//                ▲         │ (condition holds)
//                └─ NextIteration ◄─ body
//
// one for each value that goes round, all of one frame and with one LoopCond. A Merge that a NextIteration feeds is the
// head of such a cycle; its other parts are found from there.
#include "absl/strings/str_cat.h"
#include "compiler/import/tf/Body.h"
#include <map>

using namespace wsc::tf;

namespace wsc::import::tf {

static std::string frameOf(const NodeDef &enter) {
  for (const AttrEntry &entry : enter.attr())
    if (entry.key() == "frame_name")
      return entry.value().s();
  return {};
}

static bool isOp(const Body &body, int node, const char *op) {
  const std::string &found = body.def(node).op();
  return found == op ||
         (found.size() > 3 && found.compare(0, 3, "Ref") == 0 && found.compare(3, std::string::npos, op) == 0);
}

absl::Status findLoops(Body &body) {
  std::map<std::string, int> byFrame;
  std::vector<std::vector<int>> readers(body.nodes.size());
  for (size_t n = 0; n < body.nodes.size(); ++n)
    for (const Edge &edge : body.nodes[n].inputs)
      readers[edge.node].push_back(static_cast<int>(n));
  for (size_t n = 0; n < body.nodes.size(); ++n) {
    const int merge = static_cast<int>(n);
    if (!isOp(body, merge, "Merge"))
      continue;
    FrameLoop::Carried carried;
    carried.merge = merge;
    for (const Edge &edge : body.nodes[n].inputs)
      if (isOp(body, edge.node, "NextIteration"))
        carried.next = edge.node;
      else if (isOp(body, edge.node, "Enter"))
        carried.enter = edge.node;
    if (carried.next < 0)
      continue;
    auto broken = [&](const std::string &what) {
      return absl::InvalidArgumentError(
          absl::StrCat("Merge '", body.def(merge).name(), "' is the head of a loop, but ", what));
    };
    if (carried.enter < 0 || body.nodes[n].inputs.size() != 2)
      return broken("has no Enter beside its NextIteration");
    if (body.nodes[carried.next].inputs.size() != 1 || body.nodes[carried.enter].inputs.size() != 1)
      return broken("its NextIteration or Enter has not one input");
    for (int reader : readers[merge])
      if (isOp(body, reader, "Switch"))
        carried.turn = reader;
    int condition = -1;
    if (carried.turn >= 0) {
      const std::vector<Edge> &inputs = body.nodes[carried.turn].inputs;
      if (inputs.size() != 2 || !isOp(body, inputs[1].node, "LoopCond") ||
          body.nodes[inputs[1].node].inputs.size() != 1)
        return broken(absl::StrCat("its Switch '", body.def(carried.turn).name(), "' is not governed by a LoopCond"));
      condition = inputs[1].node;
      for (int reader : readers[carried.turn])
        if (isOp(body, reader, "Exit"))
          carried.exit = reader;
    }
    const std::string frame = frameOf(body.def(carried.enter));
    auto [found, isNew] = byFrame.emplace(frame, static_cast<int>(body.loops.size()));
    if (isNew) {
      body.loops.emplace_back();
      body.loops.back().frame = frame;
    }
    FrameLoop &loop = body.loops[found->second];
    if (condition >= 0 && loop.condition >= 0 && loop.condition != condition)
      return broken(absl::StrCat("frame '", frame, "' has two conditions, '", body.def(loop.condition).name(),
                                 "' and '", body.def(condition).name(), "'"));
    if (condition >= 0)
      loop.condition = condition;
    loop.carried.push_back(carried);
    body.loopOfMerge[merge] = found->second;
    if (carried.exit >= 0)
      body.loopOfExit[carried.exit] = found->second;
  }
  for (const FrameLoop &loop : body.loops)
    if (loop.condition < 0)
      return absl::InvalidArgumentError(absl::StrCat("loop '", loop.frame, "' has no LoopCond"));
  return absl::OkStatus();
}

} // namespace wsc::import::tf
