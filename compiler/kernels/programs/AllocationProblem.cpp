// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/programs/AllocationProblem.h"

#include "compiler/kernels/programs/RoleBuilder.h"
#include "runtime/format/MemoryMap.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::kernels {

using solver::allocation::Problem;
using solver::allocation::Solution;

namespace {

constexpr int64_t kAlignment = 8; // bytes, of every buffer

// Steps of a thread in which a buffer is touched.
struct Life {
  int thread = -1;
  int64_t first = 0, last = 0;
  bool shared = false; // between threads
};

std::vector<Life> livesOf(const format::Role &role) {
  std::vector<Life> lives(role.buffers.size());
  for (int t = 0; t < int(role.threads.size()); ++t) {
    int64_t step = 0;
    int depth = 0;
    for (const format::Instruction &instruction : role.threads[size_t(t)]) {
      depth -= instruction.opcode == format::Opcode::EndLoop;
      step += depth == 0;
      depth += instruction.opcode == format::Opcode::Loop;
      for (const format::Operand *operand : {&instruction.dst, &instruction.a, &instruction.b}) {
        if (operand->buffer < 0)
          continue;
        Life &life = lives[size_t(operand->buffer)];
        life.shared |= life.thread >= 0 && life.thread != t;
        if (life.thread < 0)
          life = {t, step, step, false};
        life.last = step;
      }
    }
  }
  return lives;
}

} // namespace

Problem allocationProblem(const target::Target &target, const format::Role &role, Solution &chosen) {
  const int64_t code = target.runtimeReserveBytes + target.stackBytes + format::codeBytes(target, role);
  Problem problem{(code + kAlignment - 1) / kAlignment * kAlignment, target.sramBytes, 0, {}};
  const std::vector<Life> lives = livesOf(role);
  for (size_t b = 0; b < role.buffers.size(); ++b) {
    const format::Buffer &buffer = role.buffers[b];
    if (buffer.kind == format::BufferKind::State) { // at an address of its own, the same for all entries
      problem.limit = std::min(problem.limit, buffer.address);
      continue;
    }
    solver::allocation::Buffer wanted{buffer.name, buffer.bytes, kAlignment, {}};
    if (const Life &life = lives[b]; buffer.kind == format::BufferKind::Scratch && life.thread >= 0 && !life.shared) {
      wanted.lifeBegin = life.first;
      wanted.lifeEnd = life.last + 1;
    }
    problem.buffers.push_back(std::move(wanted));
    chosen.addressOf.push_back(buffer.address);
  }
  return problem;
}

std::vector<PosedProblem> allocationProblems(const target::Target &target, const format::Configuration &configuration) {
  std::vector<PosedProblem> problems;
  for (size_t k = 0; k < configuration.kernels.size(); ++k) {
    const format::Role *fullest = nullptr;
    for (const format::Role &role : configuration.roles)
      if (role.kernel == int32_t(k) && (!fullest || sramBytesOf(role) > sramBytesOf(*fullest)))
        fullest = &role;
    if (!fullest)
      continue; // on another kernel's cores
    Solution chosen;
    const Problem problem = allocationProblem(target, *fullest, chosen);
    const std::string kind = absl::StrCat("allocation.", configuration.kernels[k].name);
    problems.push_back({kind, printProblem(problem)});
    problems.push_back({kind + ".solution", printSolution(problem, chosen)});
  }
  return problems;
}

} // namespace wsc::kernels
