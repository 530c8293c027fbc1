// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers roles' cores one after the other.
#include "runtime/emulator/WavePlan.h"

#include "runtime/emulator/Kernels.h"
#include "runtime/emulator/LatticeWalk.h"
#include "runtime/emulator/QueueTraffic.h"
#include "runtime/emulator/WaveFusion.h"
#include "runtime/emulator/WaveWords.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

namespace wsc::emulator {

using namespace format;

namespace {

constexpr int64_t kMuchScratch = 1 << 9; // bytes that are worth keeping in the caches

bool isStream(const Operand &operand) {
  return operand.kind == OperandKind::Queue || operand.kind == OperandKind::Fifo;
}

bool samePlace(const Operand &a, const Operand &b) {
  return a.kind == b.kind && (a.kind == OperandKind::Queue ? a.queue == b.queue : a.buffer == b.buffer);
}

class RolePlanner {
public:
  explicit RolePlanner(const RoleProgram &program) : role(*program.role) {
    plan.role = &role;
    plan.program = &program;
    plan.fifoOfBuffer.assign(role.buffers.size(), -1);
    for (size_t b = 0; b < role.buffers.size(); ++b)
      if (role.buffers[b].kind == BufferKind::Fifo) {
        plan.fifoOfBuffer[b] = int16_t(plan.fifos.size());
        plan.fifos.push_back(int16_t(b));
      }
    for (const std::vector<DecodedOp> &thread : program.threads) {
      std::vector<WaveOp> &ops = plan.threads.emplace_back();
      for (const DecodedOp &op : thread)
        ops.push_back(opOf(op));
    }
    for (size_t b = 0; b < role.buffers.size(); ++b) {
      const Buffer &buffer = role.buffers[b];
      const bool fifo = buffer.kind == BufferKind::Fifo;
      plan.bufferOffset.push_back(-1);
      if (!fifo && buffer.kind != BufferKind::Scratch)
        continue;
      int64_t &area = fifo ? plan.fifoBytes : plan.scratchBytes;
      plan.bufferOffset.back() = area;
      area += (fifo ? program.fifoBytes[b] + kSlackBytes : buffer.bytes) + kSlackBytes - 1;
      area -= area % kSlackBytes;
    }
    if (plan.threads.size() != 1)
      return;
    for (size_t pc = 0; pc < plan.threads[0].size(); ++pc)
      findNeeds(pc);
    planScratch();
    fuseNests(plan);
  }
  WaveRole plan;

private:
  static bool touchesQueues(const WaveOp &op) { return op.inputs > 0 || op.output >= 0 || op.push >= 0; }

  // Only where a stretch begins: behind the operation that sent last.
  void findNeeds(size_t begin) {
    std::vector<WaveOp> &ops = plan.threads[0];
    if (begin > 0 && ops[begin - 1].output < 0)
      return;
    std::vector<WaveOp::Need> needs;
    std::vector<const OperandPlace *> fetches;
    for (size_t pc = begin; pc < ops.size();) {
      const WaveOp &op = ops[pc];
      if (op.kind == WaveOp::Kind::LoopEnd)
        break;
      if (op.kind == WaveOp::Kind::LoopBegin) {
        const auto end = ops.begin() + op.op->jump;
        if (std::any_of(ops.begin() + int64_t(pc), end, touchesQueues))
          break;
        pc = size_t(op.op->jump);
        continue;
      }
      if (op.push >= 0 || (op.inputs > 0 && !op.fixed))
        break;
      bool known = true;
      for (int i = 0; i < op.inputs; ++i) {
        const WaveOp::Input &input = op.input[i];
        known &= input.kind == OperandKind::Queue;
        const auto same = std::find_if(needs.begin(), needs.end(),
                                       [&](const WaveOp::Need &need) { return need.queue == input.slot; });
        if (known && same != needs.end())
          same->words += input.words;
        else if (known)
          needs.push_back({input.slot, input.words});
      }
      if (!known)
        return;
      for (const OperandPlace *source : {&op.op->a, &op.op->b})
        if (source->kind == OperandKind::Memory && !source->looped &&
            role.buffers[size_t(source->slot)].kind != BufferKind::Scratch)
          fetches.push_back(source);
      if (op.output >= 0)
        break;
      ++pc;
    }
    const auto &own = ops[begin].input;
    const auto isOwn = [&](const WaveOp::Need &need) {
      for (int i = 0; i < ops[begin].inputs; ++i)
        if (own[i].slot == need.queue && own[i].words == need.words)
          return true;
      return false;
    };
    if (std::all_of(needs.begin(), needs.end(), isOwn))
      return;
    ops[begin].needs = std::move(needs);
    ops[begin].fetches = std::move(fetches);
  }

  void planScratch() {
    if (plan.scratchBytes < kMuchScratch)
      return;
    const std::vector<WaveOp> &ops = plan.threads[0];
    const auto find = [&](auto bytes) {
      return bytes(*plan.program, plan.program->threads[0], plan.bufferOffset, plan.scratchBytes);
    };
    plan.kept.live = find(liveScratch);
    plan.kept.touched = find(touchedScratch);
    plan.kept.changed = find(changedScratch);
    for (size_t pc = 0; pc < ops.size(); ++pc) {
      plan.kept.mayWait.push_back(pc == 0 || ops[pc].inputs > 0 || !ops[pc].needs.empty());
      plan.kept.hasLoops |= ops[pc].kind == WaveOp::Kind::LoopBegin;
    }
    plan.kept.layOut();
    // A chunk of every size that the core keeps at times, and one that is not free again yet; up to a quarter of a slab
    // is left at its end.
    std::set<int64_t> chunks;
    for (const std::vector<ScratchRange> &layout : plan.kept.layouts)
      if (const int64_t bytes = packedBytes(layout); bytes > 0)
        chunks.insert(WaveChunks::bytesFor((bytes + 3) / 4));
    plan.keptBytes = std::accumulate(chunks.begin(), chunks.end(), int64_t(0)) * 2 * 4 / 3;
  }

  WaveOp opOf(const DecodedOp &decoded) const {
    WaveOp op;
    op.op = &decoded;
    if (decoded.kind == DecodedOp::Kind::LoopBegin || decoded.kind == DecodedOp::Kind::LoopEnd) {
      op.kind = decoded.kind == DecodedOp::Kind::LoopBegin ? WaveOp::Kind::LoopBegin : WaveOp::Kind::LoopEnd;
      return op;
    }
    if (decoded.kind == DecodedOp::Kind::Nest) { // memory only
      op.fixed = true;
      op.plain = decoded.fixed;
      op.elements = 1;
      return op;
    }
    const Instruction &instruction = *decoded.instruction;
    const OpcodeInfo &info = opcodeInfo(instruction.opcode);
    op.fixed = std::all_of(instruction.extent.begin(), instruction.extent.end(),
                           [](const Affine &e) { return e.isConstant(); });
    if (op.fixed)
      op.elements = instructionElements(instruction, LatticeIndex{});
    const auto take = [&](const Operand &operand, OperandSlot slot) {
      if (!isStream(operand))
        return;
      WaveOp::Input &input = op.input[op.inputs++];
      input.kind = operand.kind;
      input.slot = operand.kind == OperandKind::Queue ? operand.queue : plan.fifoOfBuffer[size_t(operand.buffer)];
      input.width = int32_t(elementBytes(operandType(instruction, slot)));
    };
    if (info.sources >= 1)
      take(instruction.a, OperandSlot::A);
    if (info.sources >= 2 && op.inputs == 1 && isStream(instruction.b) && samePlace(instruction.a, instruction.b))
      op.input[0].share = 2;
    else if (info.sources >= 2)
      take(instruction.b, OperandSlot::B);
    if (instruction.dst.kind == OperandKind::Queue)
      op.output = instruction.dst.queue;
    if (instruction.dst.kind == OperandKind::Fifo)
      op.push = plan.fifoOfBuffer[size_t(instruction.dst.buffer)];
    op.width = int32_t(elementBytes(instruction.type));
    if (instruction.opcode == Opcode::Move && op.inputs == 1 &&
        (isStream(instruction.dst) || instruction.dst.kind == OperandKind::Null))
      op.kind = WaveOp::Kind::Copy;
    bool queuesOnly = op.push < 0;
    for (int i = 0; i < op.inputs; ++i) {
      WaveOp::Input &input = op.input[i];
      input.words = int32_t(
          std::min<int64_t>(input.share * ((op.elements * input.width + 3) / 4), std::numeric_limits<int32_t>::max()));
      queuesOnly &= input.kind == OperandKind::Queue && input.share == 1;
    }
    const bool hasKernel =
        op.kind == WaveOp::Kind::Copy || (decoded.kind == DecodedOp::Kind::Row && decoded.fixed && decoded.shapes == 1);
    op.plain = op.fixed && op.elements > 0 && queuesOnly && hasKernel;
    return op;
  }

  const Role &role;
};

} // namespace

WaveRole planRole(const RoleProgram &program) { return RolePlanner(program).plan; }

int32_t WavePlan::roleOf(int64_t core) const {
  const auto after =
      std::upper_bound(roles.begin(), roles.end(), core, [](int64_t c, const WaveRole &role) { return c < role.core; });
  return int32_t(after - roles.begin()) - 1;
}

absl::StatusOr<WavePlan> planWaves(const Configuration &configuration, const Networks &networks,
                                   const std::vector<RoleProgram> &programs) {
  WavePlan plan;
  for (size_t r = 0; r < programs.size(); ++r) {
    WaveRole role = planRole(programs[r]);
    const int64_t cores = role.role->cores.size();
    const auto next = [cores](int64_t &all, int64_t each) {
      const int64_t first = all;
      all += cores * each;
      return first;
    };
    role.core = next(plan.cores, 1);
    role.thread = next(plan.threads, int64_t(role.threads.size()));
    role.fifo = next(plan.fifos, int64_t(role.fifos.size()));
    role.buffer = next(plan.buffers, int64_t(role.role->buffers.size()));
    role.scratch = next(plan.scratchBytes, role.scratchBytes);
    plan.keptBytes += cores * role.keptBytes;
    role.fifoArea = next(plan.fifoBytes, role.fifoBytes);
    role.narrow = next(plan.narrow, int64_t(role.kept.narrow.size()));
    role.port = networks.roleOffset[r];
    plan.roles.push_back(std::move(role));
  }
  if (plan.cores > std::numeric_limits<int32_t>::max())
    return absl::ResourceExhaustedError(absl::StrCat("configuration ", configuration.name, ": ", plan.cores,
                                                     " cores; the engine numbers up to 2147483647"));
  return plan;
}

} // namespace wsc::emulator
