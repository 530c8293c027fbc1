// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sections "Cores" and "Stalls" of docs/Timing.md: which thread gets the slot, and what it does with it.
#include "test/support/fabric/Fabric.h"

#include "runtime/emulator/InterpreterCheck.h"

#include <algorithm>

namespace wsc::fabric {

using namespace format;

bool hasQueueOperand(const Instruction &instruction) {
  return instruction.dst.kind == OperandKind::Queue || instruction.a.kind == OperandKind::Queue ||
         instruction.b.kind == OperandKind::Queue;
}

void fetch(Core &core, ThreadState &thread, int64_t t, int samples) {
  const target::Target &target = core.executable->target;
  while (!thread.finished && !thread.running && thread.slotsLeft == 0) {
    if (thread.next == thread.code->size()) {
      core.sampleDone[size_t(thread.sample)] = std::max(core.sampleDone[size_t(thread.sample)], t + 1);
      thread.next = 0;
      thread.finished = ++thread.sample == samples;
      continue;
    }
    const Instruction &instruction = (*thread.code)[thread.next];
    if (instruction.opcode == Opcode::SendControl)
      return;
    if (instruction.opcode == Opcode::Loop) {
      const int64_t trips = instruction.extent[0].at(core.index);
      if (trips > 0) {
        thread.loops.push_back({thread.next++, trips, 0});
        thread.slotsLeft = target.loopCycles;
        thread.slotsPriority = 0;
        continue;
      }
      int depth = 0;
      do {
        depth += (*thread.code)[thread.next].opcode == Opcode::Loop;
        depth -= (*thread.code)[thread.next].opcode == Opcode::EndLoop;
        ++thread.next;
      } while (depth > 0);
    } else if (instruction.opcode == Opcode::EndLoop) {
      ThreadState::Loop &loop = thread.loops.back();
      if (++loop.iteration < loop.trips) {
        thread.next = loop.begin + 1;
        thread.slotsLeft = target.loopCycles;
        thread.slotsPriority = 0;
      } else {
        thread.loops.pop_back();
        ++thread.next;
      }
    } else {
      thread.elements = 1;
      for (size_t d = 0; d < kMaxDims; ++d) {
        thread.extent[d] = instruction.extent[d].at(core.index);
        thread.elements *= thread.extent[d];
      }
      if (thread.elements == 0) {
        ++thread.next;
        continue;
      }
      thread.running = true;
      thread.element = 0;
      thread.rate = timing::instructionRate(target, *core.role, instruction, core.index);
      thread.slotsLeft = target.vectorSetupCycles + (thread.afterQueue ? target.taskStartCycles : 0);
      thread.slotsPriority = instruction.priority;
    }
  }
}

int64_t wordsTaken(ElementType type, int64_t begin, int64_t count) {
  const int64_t bytes = elementBytes(type);
  if (bytes > 4)
    return count * bytes / 4;
  int64_t words = 0;
  for (int64_t e = begin; e < begin + count; ++e)
    words += e % (4 / bytes) == 0;
  return words;
}

int64_t wordsSent(ElementType type, int64_t begin, int64_t count, int64_t elements) {
  const int64_t bytes = elementBytes(type);
  if (bytes > 4)
    return count * bytes / 4;
  int64_t words = 0;
  for (int64_t e = begin; e < begin + count; ++e)
    words += (e + 1) % (4 / bytes) == 0 || e + 1 == elements;
  return words;
}

int64_t batchElements(const Core &core, const ThreadState &thread) {
  const Instruction &instruction = (*thread.code)[thread.next];
  const int64_t batch = std::min<int64_t>(thread.rate.elements, thread.elements - thread.element);
  int64_t count = batch;
  for (const Operand *source : {&instruction.a, &instruction.b})
    if (source->kind == OperandKind::Fifo)
      count = std::min(count, core.memory->fifo(size_t(source->buffer)).count);
  if (instruction.dst.kind == OperandKind::Fifo) {
    const auto &fifo = core.memory->fifo(size_t(instruction.dst.buffer));
    count = std::min(count, fifo.capacity - fifo.count);
  }
  return hasQueueOperand(instruction) && count < batch ? 0 : count;
}

Need needOf(const Core &core, const ThreadState &thread, int64_t t) {
  if (thread.slotsLeft > 0)
    return Need::Nothing;
  const Instruction &instruction = (*thread.code)[thread.next];
  if (instruction.opcode == Opcode::SendControl)
    return core.outputs[size_t(instruction.dst.queue)]->hasRoom(t) ? Need::Nothing : Need::Room;
  const int64_t batch = std::min<int64_t>(thread.rate.elements, thread.elements - thread.element);
  const int64_t wholeOrOne = hasQueueOperand(instruction) ? batch : 1;
  const ElementType types[] = {typeOfA(instruction), typeOfB(instruction)};
  const Operand *sources[] = {&instruction.a, &instruction.b};
  for (int i = 0; i < 2; ++i) {
    if (sources[i]->kind == OperandKind::Queue &&
        !core.inputs[size_t(sources[i]->queue)]->usable(t, wordsTaken(types[i], thread.element, batch)))
      return Need::Words;
    if (sources[i]->kind == OperandKind::Fifo && core.memory->fifo(size_t(sources[i]->buffer)).count < wholeOrOne)
      return Need::Words;
  }
  if (instruction.dst.kind == OperandKind::Queue &&
      !core.outputs[size_t(instruction.dst.queue)]->hasRoom(
          t, wordsSent(instruction.type, thread.element, batch, thread.elements)))
    return Need::Room;
  return batchElements(core, thread) == 0 ? Need::Room : Need::Nothing;
}

int priorityOf(const ThreadState &thread) {
  return thread.slotsLeft > 0 ? thread.slotsPriority : (*thread.code)[thread.next].priority;
}

CoreDecision decide(const Core &core, int64_t t) {
  CoreDecision decision;
  decision.pointer = core.pointer;
  const size_t count = core.threads.size();
  std::vector<size_t> wanting; // in cyclic order
  for (size_t k = 0; k < count; ++k) {
    const size_t number = (core.pointer + k) % count;
    const ThreadState &thread = core.threads[number];
    if (!thread.finished && needOf(core, thread, t) == Need::Nothing)
      wanting.push_back(number);
  }
  decision.wanting = int(wanting.size());
  int highest = 0;
  for (size_t number : wanting)
    highest = std::max(highest, priorityOf(core.threads[number]));
  int equals = 0;
  for (size_t number : wanting)
    if (priorityOf(core.threads[number]) == highest) {
      if (++equals == 1)
        decision.thread = int(number);
      else if (equals == 2)
        decision.pointer = number;
    }
  decision.byPriority = !wanting.empty() && decision.thread != int(wanting.front());
  if (decision.thread < 0)
    for (const ThreadState &thread : core.threads)
      if (!thread.finished) {
        decision.need = needOf(core, thread, t);
        break;
      }
  return decision;
}

absl::Status act(Core &core, const CoreDecision &decision, int64_t t, int samples, FabricCounts &counts) {
  if (decision.thread < 0) {
    core.sinceLastSlot.words += core.firstSlot >= 0 && decision.need == Need::Words;
    core.sinceLastSlot.room += core.firstSlot >= 0 && decision.need == Need::Room;
    return absl::OkStatus();
  }
  core.stalls.words += core.sinceLastSlot.words;
  core.stalls.room += core.sinceLastSlot.room;
  core.sinceLastSlot = {};
  core.firstSlot = core.firstSlot < 0 ? t : core.firstSlot;
  core.lastSlot = t;
  core.pointer = decision.pointer;
  counts.sharedSlots += decision.wanting > 1;
  counts.priorities += decision.byPriority;

  ThreadState &thread = core.threads[size_t(decision.thread)];
  const Instruction &instruction = (*thread.code)[std::min(thread.next, thread.code->size() - 1)];
  if (thread.slotsLeft > 0) {
    const bool bank = thread.slotsLeft <= thread.bankSlotsLeft;
    thread.bankSlotsLeft -= bank;
    --thread.slotsLeft;
    ++(bank ? core.stalls.bank : core.stalls.busy);
  } else if (instruction.opcode == Opcode::SendControl) {
    core.outputs[size_t(instruction.dst.queue)]->put(t, {0, instruction.controlCount});
    ++thread.next;
    ++core.stalls.busy;
  } else {
    const int64_t elements = batchElements(core, thread);
    counts.partialBatches += elements < std::min<int64_t>(thread.rate.elements, thread.elements - thread.element);
    counts.bankConflicts += thread.rate.bankConflict;
    if (absl::Status status = execute(core, thread, elements, t); !status.ok())
      return status;
    thread.slotsLeft = thread.rate.slots - 1;
    thread.slotsPriority = instruction.priority;
    thread.bankSlotsLeft = thread.rate.bankConflict ? thread.rate.slots / 2 : 0;
    ++core.stalls.busy;
    if (thread.element == thread.elements) {
      thread.running = false;
      thread.afterQueue = hasQueueOperand(instruction);
      ++thread.next;
    }
  }
  fetch(core, thread, t, samples);
  return absl::OkStatus();
}

} // namespace wsc::fabric
