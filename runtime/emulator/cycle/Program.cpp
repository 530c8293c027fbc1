// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes by recursive descent over the loop nest; every level gathers items and the slots pending before the next.
#include "runtime/emulator/cycle/Program.h"

#include "runtime/emulator/QueueTraffic.h"
#include "runtime/timing/Cost.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <tuple>

namespace wsc::emulator::cycle {

using namespace format;

namespace {

constexpr int64_t kMostSlots = int64_t(1) << 60;

struct Level {
  std::vector<Item> items;
  Item pending; // Slots
  bool any = false;
  int64_t slots = 0; // of one execution, without task starts
};

class Decoder {
public:
  Decoder(const target::Target &target, const Role &role, const std::vector<int32_t> &fifos, size_t thread,
          const LatticeIndex &index)
      : target(target), role(role), fifos(fifos), number(thread), code(role.threads[thread]), index(index) {}

  absl::StatusOr<ThreadProgram> run() {
    Level level;
    size_t at = 0;
    if (absl::Status status = walk(at, 0, level); !status.ok())
      return status;
    if (at != code.size())
      return error(at, "EndLoop without Loop");
    flush(level);
    return ThreadProgram{std::move(level.items), level.slots};
  }

private:
  absl::Status error(size_t at, const std::string &what) const {
    return absl::InvalidArgumentError(
        absl::StrCat("role ", role.name, " thread ", number, " instruction ", at, ": ", what));
  }

  // A task's start may come to a vector instruction without slots of its own.
  static bool hasSlots(const Item &pending) { return pending.slots > 0 || pending.vector; }

  // What comes next has this priority: pending slots of another one become an item of their own.
  static void meet(Level &level, uint8_t priority) {
    if (level.any && hasSlots(level.pending) && level.pending.priority != priority)
      flush(level);
  }

  absl::Status pend(Level &level, size_t at, __int128 slots, __int128 bank, bool vector, uint8_t priority) {
    const __int128 all = slots + level.slots;
    if (all > kMostSlots)
      return error(at, absl::StrCat("more than ", kMostSlots, " slots in one sample"));
    const bool counts = slots > 0 || vector;
    if (counts)
      meet(level, priority);
    if (!level.any) {
      level.pending = Item();
      level.pending.instruction = int32_t(at);
      level.any = true;
    }
    if (counts)
      level.pending.priority = priority;
    level.pending.slots += int64_t(slots);
    level.pending.bank += int64_t(bank);
    level.pending.vector |= vector;
    level.slots = int64_t(all);
    return absl::OkStatus();
  }

  static void flush(Level &level) {
    if (level.any && hasSlots(level.pending))
      level.items.push_back(level.pending);
    level.any = false;
    level.pending = Item();
  }

  absl::Status walk(size_t &at, int depth, Level &level) {
    for (; at < code.size(); ++at) {
      const Instruction &instruction = code[at];
      if (instruction.opcode == Opcode::EndLoop)
        return absl::OkStatus();
      absl::Status status = instruction.opcode == Opcode::Loop          ? loop(at, depth, level)
                            : instruction.opcode == Opcode::SendControl ? control(instruction, at, level)
                                                                        : vector(instruction, at, level);
      if (!status.ok())
        return status;
    }
    return absl::OkStatus();
  }

  absl::Status loop(size_t &at, int depth, Level &level) {
    if (depth == kMaxDims)
      return error(at, absl::StrCat("loops nest deeper than ", kMaxDims));
    const int64_t trips = code[at].extent[0].at(index);
    const size_t begin = at++;
    Level body;
    absl::Status status = pend(body, begin, target.loopCycles, 0, false, 0);
    if (!status.ok())
      return status;
    if (status = walk(at, depth + 1, body); !status.ok())
      return status;
    if (at == code.size())
      return error(begin, "Loop without EndLoop");
    if (trips <= 0)
      return absl::OkStatus();
    if (body.items.empty()) {
      // Only the first iteration's first vector instruction can follow one with a queue.
      return pend(level, begin, __int128(trips) * body.slots, __int128(trips) * body.pending.bank, body.pending.vector,
                  body.pending.priority);
    }
    flush(body);
    if (__int128(trips) * body.slots + level.slots > kMostSlots)
      return error(begin, absl::StrCat("more than ", kMostSlots, " slots in one sample"));
    flush(level);
    level.slots += trips * body.slots;
    Item mark;
    mark.instruction = int32_t(begin);
    mark.kind = ItemKind::LoopBegin;
    mark.trips = trips;
    level.items.push_back(mark);
    const auto base = int32_t(level.items.size());
    for (Item item : body.items) { // inner loops' targets move along
      if (item.kind == ItemKind::LoopEnd)
        item.body += base;
      level.items.push_back(item);
    }
    mark.kind = ItemKind::LoopEnd;
    mark.body = base;
    level.items.push_back(mark);
    return absl::OkStatus();
  }

  absl::Status control(const Instruction &instruction, size_t at, Level &level) {
    if (instruction.dst.kind != OperandKind::Queue)
      return error(at, "a control word needs an output queue");
    if (instruction.controlCount == 0)
      return error(at, "a control word of count 0 advances no switch; legal are counts from 1");
    meet(level, instruction.priority);
    Item item = level.any ? level.pending : Item();
    level.any = false;
    item.kind = ItemKind::Control;
    item.instruction = int32_t(at);
    item.control = instruction.controlCount;
    item.priority = instruction.priority;
    if (absl::Status status = access(instruction.dst, instruction.type, true, at, item.dst); !status.ok())
      return status;
    level.items.push_back(item);
    level.pending = Item();
    ++level.slots;
    return absl::OkStatus();
  }

  absl::Status vector(const Instruction &instruction, size_t at, Level &level) {
    const int64_t elements = instructionElements(instruction, index);
    if (elements == 0)
      return absl::OkStatus();
    const timing::InstructionRate rate = timing::instructionRate(target, role, instruction, index);
    const int64_t batches = (elements + rate.elements - 1) / rate.elements;
    const int32_t bankSlots = rate.bankConflict ? rate.slots / 2 : 0;
    Item item;
    for (auto [operand, slot, out] :
         {std::tuple(&instruction.dst, OperandSlot::Dst, &item.dst),
          std::tuple(&instruction.a, OperandSlot::A, &item.a), std::tuple(&instruction.b, OperandSlot::B, &item.b)})
      if (absl::Status status = access(*operand, operandType(instruction, slot), slot == OperandSlot::Dst, at, *out);
          !status.ok())
        return status;
    if (item.a.kind != Access::None && item.a.kind == item.b.kind && item.a.index == item.b.index)
      return error(at, "operands a and b take elements from the same queue or FIFO; move one of them to memory first");
    if (absl::Status status = pend(level, at, target.vectorSetupCycles, 0, true, instruction.priority); !status.ok())
      return status;
    if (item.dst.kind == Access::None && item.a.kind == Access::None && item.b.kind == Access::None)
      return pend(level, at, __int128(batches) * rate.slots, __int128(batches) * bankSlots, true, instruction.priority);
    if (__int128(batches) * rate.slots + level.slots > kMostSlots)
      return error(at, absl::StrCat("more than ", kMostSlots, " slots in one sample"));
    level.slots += batches * rate.slots;
    item.kind = ItemKind::Vector;
    item.vector = true;
    item.queues = item.dst.kind == Access::Queue || item.a.kind == Access::Queue || item.b.kind == Access::Queue;
    item.priority = instruction.priority;
    item.instruction = int32_t(at);
    item.slots = level.pending.slots;
    item.bank = level.pending.bank;
    item.elements = elements;
    item.batch = rate.elements;
    item.batchSlots = rate.slots;
    item.bankSlots = bankSlots;
    level.items.push_back(item);
    level.any = false;
    level.pending = Item();
    return absl::OkStatus();
  }

  absl::Status access(const Operand &operand, ElementType type, bool output, size_t at, Access &result) const {
    if (operand.kind == OperandKind::Queue) {
      if (operand.queue < 0 || operand.queue >= int(role.queues.size()))
        return error(at, absl::StrCat("queue ", operand.queue, " does not exist"));
      if (role.queues[operand.queue].output != output)
        return error(at, output ? "a result goes to an input queue" : "a source is an output queue");
      const int64_t bytes = elementBytes(type);
      result.kind = Access::Queue;
      result.wide = bytes > 4;
      result.packing = bytes == 1 ? 2 : bytes == 2 ? 1 : 0;
      result.index = operand.queue;
    } else if (operand.kind == OperandKind::Fifo) {
      const auto found = std::find(fifos.begin(), fifos.end(), operand.buffer);
      if (found == fifos.end())
        return error(at, absl::StrCat("buffer ", operand.buffer, " is no FIFO"));
      result.kind = Access::Fifo;
      result.index = int16_t(found - fifos.begin());
    }
    return absl::OkStatus();
  }

  const target::Target &target;
  const Role &role;
  const std::vector<int32_t> &fifos;
  const size_t number;
  const Thread &code;
  const LatticeIndex &index;
};

absl::Status checkQueues(const Role &role) {
  std::vector<int> user(role.queues.size(), -1);
  for (size_t t = 0; t < role.threads.size(); ++t)
    for (const Instruction &instruction : role.threads[t])
      for (const Operand *operand : {&instruction.dst, &instruction.a, &instruction.b}) {
        if (operand->kind != OperandKind::Queue || operand->queue < 0 || operand->queue >= int(role.queues.size()))
          continue;
        int &thread = user[operand->queue];
        if (thread >= 0 && thread != int(t))
          return absl::InvalidArgumentError(absl::StrCat("role ", role.name, ": queue ", operand->queue,
                                                         " is used by threads ", thread, " and ", t,
                                                         "; a queue belongs to one thread"));
        thread = int(t);
      }
  return absl::OkStatus();
}

// The numbers of a core that its program depends on, beside what is the same for the whole role.
std::string keyOf(const target::Target &target, const Role &role, const LatticeIndex &index) {
  std::string key;
  const auto put = [&](int64_t value) { key.append(reinterpret_cast<const char *>(&value), sizeof value); };
  for (const Thread &thread : role.threads)
    for (const Instruction &instruction : thread) {
      bool varies = false;
      for (const Affine &extent : instruction.extent)
        if (!extent.isConstant()) {
          put(extent.at(index));
          varies = true;
        }
      for (const Operand *operand : {&instruction.dst, &instruction.a, &instruction.b})
        varies |= operand->kind == OperandKind::Memory && !operand->base.isConstant();
      if (!varies || instruction.opcode == Opcode::Loop)
        continue;
      const timing::InstructionRate rate = timing::instructionRate(target, role, instruction, index);
      put(int64_t(rate.elements) << 32 | int64_t(rate.slots) << 1 | int64_t(rate.bankConflict));
    }
  return key;
}

bool isConstant(const Role &role) {
  for (const Thread &thread : role.threads)
    for (const Instruction &instruction : thread) {
      for (const Affine &extent : instruction.extent)
        if (!extent.isConstant())
          return false;
      for (const Operand *operand : {&instruction.dst, &instruction.a, &instruction.b})
        if (operand->kind == OperandKind::Memory && !operand->base.isConstant())
          return false;
    }
  return true;
}

} // namespace

int64_t CoreProgram::bytes() const {
  int64_t bytes = int64_t(sizeof *this);
  for (const ThreadProgram &thread : threads)
    bytes += int64_t(sizeof thread + thread.items.capacity() * sizeof(Item));
  return bytes;
}

ProgramTable::ProgramTable(const target::Target &target, const Role &role)
    : target(target), role(role), constant(isConstant(role)) {
  for (size_t b = 0; b < role.buffers.size(); ++b)
    if (role.buffers[b].kind == BufferKind::Fifo)
      fifoBuffers.push_back(int32_t(b));
}

int64_t ProgramTable::bytes() const {
  int64_t bytes = 0;
  for (const auto &[key, program] : programs)
    bytes += int64_t(key.capacity()) + program->bytes();
  return bytes;
}

absl::StatusOr<const CoreProgram *> ProgramTable::at(const LatticeIndex &index) {
  if (constant && !programs.empty())
    return programs.begin()->second.get();
  std::string key = constant ? std::string() : keyOf(target, role, index);
  if (auto found = programs.find(key); found != programs.end())
    return found->second.get();
  if (programs.empty())
    if (absl::Status status = checkQueues(role); !status.ok())
      return status;
  auto program = std::make_unique<CoreProgram>();
  for (size_t t = 0; t < role.threads.size(); ++t) {
    absl::StatusOr<ThreadProgram> thread = Decoder(target, role, fifoBuffers, t, index).run();
    if (!thread.ok())
      return thread.status();
    for (const Item &item : thread->items)
      program->priorities |= item.priority > 0;
    program->threads.push_back(*std::move(thread));
  }
  return programs.emplace(std::move(key), std::move(program)).first->second.get();
}

} // namespace wsc::emulator::cycle
