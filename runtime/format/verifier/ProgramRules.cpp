// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shape of a role's program: threads against background operations, balanced loops at most four deep, extents and
// trip counts never negative, live descriptors in innermost loops, task ids.
#include "runtime/format/verifier/Forms.h"
#include "runtime/format/verifier/Rules.h"

#include <algorithm>
#include <tuple>

namespace wsc::format::verifier {

namespace {

bool checkLoops(const RoleScope &scope, size_t t) {
  const Thread &thread = scope.role.threads[t];
  int depth = 0;
  for (size_t i = 0; i < thread.size(); ++i) {
    if (thread[i].opcode == Opcode::Loop && ++depth > kMaxDims) {
      scope.report().add("loop-depth", scope.key(text(t)),
                         text(scope.at(t, i), ": loops nest ", depth, " deep, limit is ", kMaxDims,
                              "; use more extents per instruction"));
      return false;
    }
    if (thread[i].opcode == Opcode::EndLoop && --depth < 0) {
      scope.report().add("loop-balance", scope.key(text(t)),
                         text(scope.at(t, i), ": closes a loop that was never opened"));
      return false;
    }
  }
  if (depth == 0)
    return true;
  scope.report().add("loop-balance", scope.key(text(t)),
                     text(scope.name(), ", thread ", t, ": ", depth, " loops are still open at its end; add end_loop"));
  return false;
}

bool checkExtents(const RoleScope &scope, size_t t) {
  const Thread &thread = scope.role.threads[t];
  bool sound = true;
  for (size_t i = 0; i < thread.size(); ++i)
    for (int d = 0; d < kMaxDims; ++d) {
      const Affine &extent = thread[i].extent[d];
      Extreme low = minimum(extent, scope.role.cores), high = maximum(extent, scope.role.cores);
      if (low.value >= 0 && high.value <= kMostExtent)
        continue;
      const Extreme &bad = low.value < 0 ? low : high;
      sound = false;
      scope.report().add("extent", scope.key(text(t, "/", i)),
                         text(scope.at(t, i), ", ", coreName(scope.role.cores, bad.index), ": ",
                              thread[i].opcode == Opcode::Loop ? "trip count" : "extent", " ", d, " is ",
                              number(bad.value), ", legal are 0 to ", kMostExtent));
    }
  return sound;
}

// Distinct memory operands in [begin, end) in the place of one operand kind.
size_t distinctDescriptors(const Thread &thread, size_t begin, size_t end, Operand Instruction::*place) {
  using Key = std::tuple<int16_t, int64_t, std::array<int64_t, kMaxDims>, std::array<int32_t, kMaxDims>,
                         std::array<int32_t, kMaxDims>>;
  std::vector<Key> keys;
  for (size_t i = begin; i < end; ++i) {
    const Operand &operand = thread[i].*place;
    if (operand.kind == OperandKind::Memory)
      keys.emplace_back(operand.buffer, operand.base.constant, operand.base.perDim, operand.stride, operand.loopStep);
  }
  std::sort(keys.begin(), keys.end());
  return size_t(std::unique(keys.begin(), keys.end()) - keys.begin());
}

void checkDescriptors(const RoleScope &scope, size_t t) {
  const Thread &thread = scope.role.threads[t];
  const size_t limit = size_t(scope.target().descriptorsPerOperandKind);
  const std::pair<const char *, Operand Instruction::*> places[] = {
      {"dst", &Instruction::dst}, {"a", &Instruction::a}, {"b", &Instruction::b}};
  size_t open = thread.size();
  for (size_t i = 0; i < thread.size(); ++i) {
    if (thread[i].opcode == Opcode::Loop)
      open = i;
    if (thread[i].opcode != Opcode::EndLoop || open == thread.size())
      continue;
    if (i - open - 1 > limit)
      for (auto [name, place] : places)
        if (size_t live = distinctDescriptors(thread, open + 1, i, place); live > limit)
          scope.report().add("descriptors", scope.key(text(t, "/", open, "/", name)),
                             text(scope.at(t, open), ": the loop keeps ", live, " descriptors for operand ", name,
                                  " alive, limit is ", limit, "; split the loop"));
    open = thread.size();
  }
}

} // namespace

bool checkPrograms(const RoleScope &scope) {
  const target::Target &target = scope.target();
  const Role &role = scope.role;
  if (int64_t limit = 1 + int64_t(target.backgroundOperations); int64_t(role.threads.size()) > limit)
    scope.report().add("threads", scope.key(),
                       text(scope.name(), " has ", role.threads.size(), " threads, limit is ", limit, " (one main and ",
                            target.backgroundOperations, " background operations); merge threads"));
  if (size_t tasks = role.threads.size() + role.queues.size(); target.taskIds > 0 && tasks > size_t(target.taskIds))
    scope.report().add("task-ids", scope.key(),
                       text(scope.name(), " needs ", tasks, " task ids (", role.threads.size(), " threads and ",
                            role.queues.size(), " queues), limit is ", target.taskIds));
  bool sound = true;
  for (size_t t = 0; t < role.threads.size(); ++t) {
    for (size_t i = 0; i < role.threads[t].size(); ++i)
      if (int priority = role.threads[t][i].priority; priority >= target.issuePriorities)
        scope.report().add("priority", scope.key(text(t, "/", i)),
                           text(scope.at(t, i), ": priority ", int32_t(priority), ", the target has 0 to ",
                                target.issuePriorities - 1));
    sound &= checkLoops(scope, t) && checkExtents(scope, t);
    checkDescriptors(scope, t);
  }
  return sound;
}

} // namespace wsc::format::verifier
