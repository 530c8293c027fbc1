// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a core's decoded threads for one sample, whole instructions at a time.
#include "runtime/emulator/RoleProgram.h"

#include "runtime/emulator/RowShape.h"
#include "runtime/emulator/ScalarExecutor.h"

#include <algorithm>

namespace wsc::emulator {

using namespace format;

namespace {

const float kZero = 0;

class CoreRunner {
public:
  CoreRunner(const RoleProgram &program, const Kernels &kernels, CoreFrame &frame, std::byte *scratch, bool first)
      : program(program), kernels(kernels), frame(frame), scratch(scratch), first(first) {}

  void runThread(const std::vector<DecodedOp> &ops) {
    cursor.depth = 0;
    for (size_t i = 0; i < ops.size();) {
      const DecodedOp &op = ops[i];
      if (op.kind == DecodedOp::Kind::LoopBegin) {
        if ((op.shared && !first) || op.instruction->extent[0].at(frame.index) <= 0) {
          i = size_t(op.jump);
          continue;
        }
        cursor.counter[cursor.depth++] = 0;
        ++i;
        continue;
      }
      if (op.kind == DecodedOp::Kind::LoopEnd) {
        if (++cursor.counter[cursor.depth - 1] < op.instruction->extent[0].at(frame.index)) {
          i = size_t(op.jump);
        } else {
          --cursor.depth;
          ++i;
        }
        continue;
      }
      if (!op.shared || first)
        run(op);
      ++i;
    }
  }

  void runWithin(const DecodedOp &op, const ThreadCursor &loops) {
    cursor = loops;
    run(op);
  }

private:
  void run(const DecodedOp &op) {
    switch (op.kind) {
    case DecodedOp::Kind::Nest: return runNestOp(op);
    case DecodedOp::Kind::Row: return runRow(op);
    default:
      cursor.element = 0;
      executeScalar(*op.instruction, frame, cursor);
    }
  }

  int64_t addressIn(const OperandPlace &place) const {
    int64_t address = place.base;
    if (place.affine)
      address = place.operand->base.at(frame.index);
    if (place.looped)
      for (int k = 0; k < cursor.depth; ++k)
        address += int64_t(place.operand->loopStep[k]) * cursor.counter[k];
    return address;
  }

  float *memory(const OperandPlace &place) const { return reinterpret_cast<float *>(frame.buffers[place.slot] + addressIn(place)); }

  const float *source(const OperandPlace &place, int64_t elements) {
    switch (place.kind) {
    case OperandKind::Memory: return memory(place);
    case OperandKind::Queue: {
      QueuePort &port = frame.queues[place.slot];
      const std::byte *words = port.data + port.position * 4;
      port.position += elements;
      return reinterpret_cast<const float *>(words);
    }
    case OperandKind::Fifo: {
      FifoPort &fifo = frame.fifos[place.slot];
      const std::byte *words = frame.buffers[place.slot] + fifo.popped;
      fifo.popped += elements * 4;
      return reinterpret_cast<const float *>(words);
    }
    case OperandKind::Immediate: return &place.immediate;
    default: return &kZero;
    }
  }

  void runRow(const DecodedOp &op) {
    if (op.fixed) {
      RowOperands rows = op.rows;
      runRow(op, rows, op.elements);
    } else {
      RowOperands rows = rowShape(*op.instruction, frame.index);
      rows.ordered = op.ordered;
      runRow(op, rows, rows.extent[0] * rows.extent[1] * rows.extent[2] * rows.extent[3]);
    }
  }

  void runRow(const DecodedOp &op, RowOperands &rows, int64_t elements) {
    if (elements == 0)
      return;
    rows.a = source(op.a, elements);
    rows.b = source(op.b, elements);
    switch (op.dst.kind) {
    case OperandKind::Memory:
      rows.dst = memory(op.dst);
      break;
    case OperandKind::Queue: {
      QueuePort &port = frame.queues[op.dst.slot];
      rows.dst = reinterpret_cast<float *>(port.data + port.position * 4);
      port.position += elements;
      break;
    }
    case OperandKind::Fifo: {
      FifoPort &fifo = frame.fifos[op.dst.slot];
      rows.dst = reinterpret_cast<float *>(frame.buffers[op.dst.slot] + fifo.pushed);
      fifo.pushed += elements * 4;
      break;
    }
    default:
      return; // discarded
    }
    kernels.elementwise(op.instruction->opcode, rows);
  }

  void runNestOp(const DecodedOp &op) {
    const NestPlan *plan = &program.plans[op.plan].plan;
    if (!op.fixed) {
      const std::vector<int64_t> key = nestKey(*op.instruction, op.nestLoops, frame.index);
      for (size_t p = size_t(op.plan); program.plans[p].key != key;)
        plan = &program.plans[++p].plan;
    }
    const float *a = memory(op.a);
    const float *b = op.b.kind == OperandKind::Memory ? memory(op.b) : &kZero;
    const float *vec = plan->swapped ? b : a;
    const float *scl = plan->swapped ? a : b;
    if (plan->phases > 1) {
      const OperandPlace &place = plan->swapped ? op.b : op.a;
      const int64_t elements = program.role->buffers[place.slot].bytes / 4;
      float *copy = reinterpret_cast<float *>(scratch + op.packOffset);
      if (first || !op.packShared)
        deinterleave(reinterpret_cast<const float *>(frame.buffers[place.slot]), elements, plan->phases, plan->phaseLength, copy);
      vec = copy + place.base / 4 / plan->phases;
    }
    runNest(kernels, *plan, memory(op.dst), vec, scl);
  }

  const RoleProgram &program;
  const Kernels &kernels;
  CoreFrame &frame;
  std::byte *scratch;
  const bool first;
  ThreadCursor cursor;
};

} // namespace

namespace {

bool fifosAreEmpty(const RoleProgram &program, const CoreFrame &frame) {
  for (size_t b = 0; b < program.role->buffers.size(); ++b)
    if (frame.fifos[b].pushed != frame.fifos[b].popped)
      return false;
  return true;
}

} // namespace

void runOperation(const RoleProgram &program, const DecodedOp &op, const Kernels &kernels, CoreFrame &frame, std::byte *scratch,
                  const ThreadCursor &cursor) {
  CoreRunner(program, kernels, frame, scratch, true).runWithin(op, cursor);
}

bool runCore(const RoleProgram &program, const Kernels &kernels, CoreFrame &frame, std::byte *scratch, bool first) {
  CoreRunner runner(program, kernels, frame, scratch, first);
  for (int t : program.threadOrder)
    runner.runThread(program.threads[t]);
  return fifosAreEmpty(program, frame);
}

} // namespace wsc::emulator
