// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Folds a thread by recursive descent over its loop nest; every level gathers items and pending cycles.
#include "runtime/emulator/timing/Program.h"

#include "runtime/emulator/QueueTraffic.h"
#include "runtime/timing/Cost.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::emulator::timing {

using namespace format;

void Cursor::begin(const ThreadProgram &program) {
  item = 0;
  depth = 0;
  settle(program);
}

void Cursor::next(const ThreadProgram &program) {
  ++item;
  settle(program);
}

void Cursor::settle(const ThreadProgram &program) {
  while (item < int32_t(program.items.size())) {
    const Item &here = program.items[item];
    if (here.kind == ItemKind::Step)
      return;
    if (here.kind == ItemKind::LoopBegin) {
      left[depth++] = here.trips;
      ++item;
    } else if (--left[depth - 1] > 0) {
      item = here.body;
    } else {
      --depth;
      ++item;
    }
  }
}

namespace {

constexpr int64_t kCyclesLimit = int64_t(1) << 40; // per thread and sample; keeps every product below 2^63

constexpr int64_t kStepsLimit = int64_t(1) << 20; // per thread and sample: what the simulation walks one by one

constexpr int32_t kNoPriority = 256;

struct Fold {
  std::vector<Item> items;
  int64_t steps = 0;                     // with all iterations
  int64_t pending = 0;                   // cycles since the last step
  int32_t pendingPriority = kNoPriority; // the least of their slots'
  int64_t finish = 0; // of these, when they are all: those of the step's own end, which control words do not wait for
  int64_t slots = 0, fmaSlots = 0, fmaElements = 0;
  double fmaCycles = 0;
};

class Folder {
public:
  Folder(const target::Target &target, const Role &role, int thread, const LatticeIndex &index, bool mergeLoops)
      : target(target), role(role), thread(thread), code(role.threads[thread]), index(index), mergeLoops(mergeLoops) {}

  absl::StatusOr<ThreadProgram> run() {
    Fold fold;
    size_t at = 0;
    if (absl::Status status = level(at, 0, fold); !status.ok())
      return status;
    if (at != code.size())
      return error(at, "EndLoop without Loop");
    ThreadProgram program;
    program.items = std::move(fold.items);
    program.carry = fold.pending == fold.finish ? fold.finish : 0;
    program.tail = fold.pending - program.carry;
    program.tailPriority = fold.pendingPriority == kNoPriority ? 0 : fold.pendingPriority;
    program.slots = fold.slots;
    program.fmaSlots = fold.fmaSlots;
    program.fmaElements = fold.fmaElements;
    program.fmaCycles = fold.fmaCycles;
    return program;
  }

private:
  absl::Status error(size_t at, const std::string &what) const {
    return absl::InvalidArgumentError(
        absl::StrCat("role ", role.name, " thread ", thread, " instruction ", at, ": ", what));
  }

  absl::Status level(size_t &at, int depth, Fold &fold) {
    for (; at < code.size(); ++at) {
      const Instruction &instruction = code[at];
      if (instruction.opcode == Opcode::EndLoop)
        return absl::OkStatus();
      absl::Status status = instruction.opcode == Opcode::Loop ? loop(at, depth, fold) : plain(instruction, at, fold);
      if (!status.ok())
        return status;
      if (fold.slots > kCyclesLimit)
        return error(at, absl::StrCat("more than ", kCyclesLimit, " cycles in one sample"));
    }
    return absl::OkStatus();
  }

  absl::Status loop(size_t &at, int depth, Fold &fold) {
    if (depth == kMaxDims)
      return error(at, absl::StrCat("loops nest deeper than ", kMaxDims));
    const int64_t trips = std::max<int64_t>(0, code[at].extent[0].at(index));
    const size_t begin = at++;
    Fold body;
    body.pending = body.slots = target.loopCycles;
    if (target.loopCycles > 0)
      body.pendingPriority = 0;
    if (absl::Status status = level(at, depth + 1, body); !status.ok())
      return status;
    if (at == code.size())
      return error(begin, "Loop without EndLoop");
    if (trips == 0)
      return absl::OkStatus();
    if (body.slots > kCyclesLimit / trips)
      return error(begin, absl::StrCat("more than ", kCyclesLimit, " cycles in one sample"));
    fold.slots += trips * body.slots;
    fold.fmaSlots += trips * body.fmaSlots;
    fold.fmaElements += trips * body.fmaElements;
    fold.fmaCycles += double(trips) * body.fmaCycles;
    if (body.items.empty()) {
      fold.pending += trips * body.pending;
      fold.pendingPriority = std::min(fold.pendingPriority, body.pendingPriority);
      return absl::OkStatus();
    }
    if (mergeLoops && body.items.size() == 1 && trips > kMergedTrips &&
        !(body.items[0].out.slot >= 0 && body.items[0].out.count == 0)) {
      merge(body, trips, fold);
      return absl::OkStatus();
    }
    if (trips == 1) {
      body.items[0].before += fold.pending;
      body.items[0].beforePriority = std::min(body.items[0].beforePriority, fold.pendingPriority);
      append(body.items, fold);
      fold.steps += body.steps;
      fold.pending = body.pending;
      fold.pendingPriority = body.pendingPriority;
      return absl::OkStatus();
    }
    if (body.steps > kStepsLimit / trips || fold.steps + trips * body.steps > kStepsLimit)
      return error(begin, absl::StrCat("more than ", kStepsLimit,
                                       " instructions with queues or FIFOs in one sample; move more words by each"));
    fold.steps += trips * body.steps;
    flush(fold, begin);
    Item mark;
    mark.kind = ItemKind::LoopBegin;
    mark.trips = trips;
    fold.items.push_back(mark);
    const auto first = int32_t(fold.items.size());
    flush(body, begin);
    append(body.items, fold);
    mark.kind = ItemKind::LoopEnd;
    mark.body = first;
    fold.items.push_back(mark);
    return absl::OkStatus();
  }

  // Inner loops' jump targets move with the items.
  static void append(const std::vector<Item> &items, Fold &fold) {
    const auto base = int32_t(fold.items.size());
    for (Item item : items) {
      if (item.kind == ItemKind::LoopEnd)
        item.body += base;
      fold.items.push_back(item);
    }
  }

  // Pending cycles become a step without operands, so that a loop's edges keep them.
  static void flush(Fold &fold, size_t at) {
    if (fold.pending == 0)
      return;
    Item item;
    item.instruction = int32_t(at);
    item.before = fold.pending;
    item.priority = item.beforePriority = fold.pendingPriority == kNoPriority ? 0 : fold.pendingPriority;
    fold.items.push_back(item);
    clear(fold);
  }

  static void merge(const Fold &body, int64_t trips, Fold &fold) {
    Item item = body.items[0];
    const int64_t iteration = item.before + item.setup + item.stream + item.controls + body.pending;
    item.stream = trips * (iteration - item.controls) - item.before - item.setup;
    item.rest = 0;
    item.controls *= trips;
    item.before += fold.pending;
    item.beforePriority = std::min(item.beforePriority, fold.pendingPriority);
    for (Access *access : {&item.in[0], &item.in[1], &item.out})
      access->count *= trips;
    ++fold.steps;
    fold.items.push_back(item);
    clear(fold);
  }

  static void clear(Fold &fold) {
    fold.pending = fold.finish = 0;
    fold.pendingPriority = kNoPriority;
  }

  Access access(const Instruction &instruction, OperandSlot which, int64_t elements) const {
    const Operand &operand = which == OperandSlot::Dst ? instruction.dst
                             : which == OperandSlot::A ? instruction.a
                                                       : instruction.b;
    Access result;
    if (operand.kind == OperandKind::Queue) {
      result.slot = operand.queue;
      result.count = wsc::timing::fabricWords(operandType(instruction, which), elements);
    } else if (operand.kind == OperandKind::Fifo) {
      result.slot = int32_t(role.queues.size()) + operand.buffer;
      result.count = elements;
    }
    return result;
  }

  absl::Status plain(const Instruction &instruction, size_t at, Fold &fold) {
    Item item;
    item.instruction = int32_t(at);
    item.priority = instruction.priority;
    if (instruction.opcode == Opcode::SendControl) { // one word, no descriptor to set up
      ++fold.slots;
      if (!fold.items.empty() && fold.pending == fold.finish && fold.items.back().kind == ItemKind::Step &&
          fold.items.back().out.slot == instruction.dst.queue) {
        ++fold.items.back().controls;
        return absl::OkStatus();
      }
      item.out.slot = instruction.dst.queue;
      item.controls = 1;
      emit(item, fold);
      return absl::OkStatus();
    }
    const int64_t elements = instructionElements(instruction, index);
    if (elements == 0)
      return absl::OkStatus();
    if (elements > kCyclesLimit)
      return error(at, absl::StrCat(elements, " elements in one instruction"));
    item.out = access(instruction, OperandSlot::Dst, elements);
    item.in[0] = access(instruction, OperandSlot::A, elements);
    item.in[1] = access(instruction, OperandSlot::B, elements);
    if (item.in[0].slot == item.in[1].slot && item.in[0].slot >= 0) {
      item.in[0].count += item.in[1].count;
      item.in[1] = Access();
    }
    if (instruction.dst.kind == OperandKind::Queue) {
      item.ahead = target.outputQueueWords[role.queues[instruction.dst.queue].index] + target.rampLatencyCycles;
      item.routerQueue = target.routerQueueWords;
      item.routerSpare = target.routerQueueWords - target.hopLatencyCycles - target.creditLatencyCycles;
    }
    if (item.in[0].slot < 0)
      std::swap(item.in[0], item.in[1]);
    const wsc::timing::InstructionSlots slots =
        wsc::timing::instructionSlots(target, role, instruction, index, elements);
    const int64_t cycles = slots.total();
    fold.slots += cycles;
    if (instruction.opcode == Opcode::Fma) {
      fold.fmaSlots += cycles;
      fold.fmaElements += elements;
      fold.fmaCycles += double(elements) / wsc::timing::elementsPerCycle(target, instruction);
    }
    if (item.in[0].slot < 0 && item.out.slot < 0) {
      fold.pending += cycles;
      fold.pendingPriority = std::min<int32_t>(fold.pendingPriority, instruction.priority);
      return absl::OkStatus();
    }
    item.setup = slots.setup;
    item.stream = slots.stream;
    item.rest = wsc::timing::instructionRate(target, role, instruction, index).slots - 1;
    emit(item, fold);
    fold.pending = fold.finish = slots.finish;
    return absl::OkStatus();
  }

  static void emit(Item item, Fold &fold) {
    item.before = fold.pending;
    item.beforePriority = std::min(fold.pendingPriority, item.priority);
    fold.items.push_back(item);
    ++fold.steps;
    clear(fold);
  }

  const target::Target &target;
  const Role &role;
  const int thread;
  const Thread &code;
  const LatticeIndex &index;
  const bool mergeLoops;
};

} // namespace

absl::StatusOr<ThreadProgram> foldThread(const target::Target &target, const Role &role, int thread,
                                         const LatticeIndex &index, bool mergeLoops) {
  return Folder(target, role, thread, index, mergeLoops).run();
}

} // namespace wsc::emulator::timing
