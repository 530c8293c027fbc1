// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/programs/RoleBuilder.h"

#include "runtime/timing/Cost.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <functional>

namespace wsc::kernels {

using namespace format;

namespace {
// Code bytes of a role: instructions and the memory descriptors they use.
int64_t codeBytes(const target::Target &target, const Role &role) {
  int64_t bytes = 0;
  for (const Thread &thread : role.threads)
    for (const Instruction &instruction : thread) {
      bytes += target.instructionBytes;
      for (const Operand *operand : {&instruction.dst, &instruction.a, &instruction.b})
        if (operand->kind == OperandKind::Memory || operand->kind == OperandKind::Fifo)
          bytes += target.descriptorBytes;
    }
  return bytes;
}

template <typename T> void fillTrailing(std::array<T, kMaxDims> &out, const Dims &values, int64_t scale) {
  size_t skip = kMaxDims - values.size();
  for (size_t i = 0; i < values.size(); ++i)
    out[skip + i] = T(values[i] * scale);
}
} // namespace

RoleBuilder::RoleBuilder(std::string name, int32_t kernel, int32_t row, int32_t col, int32_t columns) {
  role.name = std::move(name);
  role.kernel = kernel;
  role.cores.row = row;
  role.cores.col = col;
  role.cores.dims[kColumnDim] = {columns, 0, 1};
}

int16_t RoleBuilder::addBuffer(const std::string &name, BufferKind kind, int64_t elements) {
  Buffer buffer;
  buffer.name = name;
  // The kernels of one variable share a core: their buffers may have equal names.
  auto taken = [&] {
    return std::any_of(role.buffers.begin(), role.buffers.end(),
                       [&](const Buffer &b) { return b.name == buffer.name; });
  };
  for (int number = 1; taken(); ++number)
    buffer.name = absl::StrCat(name, ".", number);
  buffer.kind = kind;
  buffer.bytes = elements * kElementBytes;
  role.buffers.push_back(std::move(buffer));
  return int16_t(role.buffers.size() - 1);
}

int16_t RoleBuilder::scratch(const std::string &name, int64_t elements) {
  return addBuffer(name, BufferKind::Scratch, elements);
}

int16_t RoleBuilder::fifo(const std::string &name, int64_t elements) {
  return addBuffer(name, BufferKind::Fifo, elements);
}

int16_t RoleBuilder::constant(const std::string &name, int64_t elements, int32_t section, int64_t offset,
                              int64_t perColumn) {
  int16_t index = addBuffer(name, BufferKind::Constant, elements);
  Buffer &buffer = role.buffers.back();
  buffer.section = section;
  buffer.sectionOffset = Affine(offset * kElementBytes);
  buffer.sectionOffset.perDim[kColumnDim] = role.cores.dims[kColumnDim].count > 1 ? perColumn * kElementBytes : 0;
  return index;
}

int16_t RoleBuilder::state(const std::string &name, int64_t elements, int32_t variable, int64_t address,
                           int64_t hostOffset) {
  for (size_t b = 0; b < role.buffers.size(); ++b)
    if (role.buffers[b].kind == BufferKind::State && role.buffers[b].state == variable)
      return int16_t(b);
  int16_t index = addBuffer(name, BufferKind::State, elements);
  Buffer &buffer = role.buffers.back();
  buffer.state = variable;
  buffer.address = address;
  buffer.sectionOffset = Affine(hostOffset);
  return index;
}

int16_t RoleBuilder::addQueue(bool output, uint8_t colour, const format::Filter &filter) {
  uint8_t index = 0;
  for (const Queue &queue : role.queues)
    index += queue.output == output;
  role.queues.push_back({output, colour, index, filter});
  return int16_t(role.queues.size() - 1);
}
int16_t RoleBuilder::input(uint8_t colour, const Filter &filter) { return addQueue(false, colour, filter); }
int16_t RoleBuilder::output(uint8_t colour) { return addQueue(true, colour); }

Operand RoleBuilder::memory(int16_t buffer, int64_t baseElements, const Dims &strides, const Dims &loopSteps) {
  Operand operand;
  operand.kind = OperandKind::Memory;
  operand.buffer = buffer;
  operand.base = Affine(baseElements * kElementBytes);
  fillTrailing(operand.stride, strides, kElementBytes);
  for (size_t i = 0; i < loopSteps.size(); ++i)
    operand.loopStep[i] = int32_t(loopSteps[i] * kElementBytes);
  return operand;
}
Operand RoleBuilder::fifoOperand(int16_t buffer) {
  Operand operand;
  operand.kind = OperandKind::Fifo;
  operand.buffer = buffer;
  return operand;
}
Operand RoleBuilder::queue(int16_t queue) {
  Operand operand;
  operand.kind = OperandKind::Queue;
  operand.queue = queue;
  return operand;
}
Operand RoleBuilder::immediate(double value) {
  Operand operand;
  operand.kind = OperandKind::Immediate;
  operand.immediate = value;
  return operand;
}
Operand RoleBuilder::null() {
  Operand operand;
  operand.kind = OperandKind::Null;
  return operand;
}

void RoleBuilder::emit(int thread, Opcode opcode, const Dims &extents, Operand dst, Operand a, Operand b) {
  int64_t elements = 1;
  for (int64_t extent : extents)
    elements *= extent;
  if (elements == 0)
    return;
  if (int(role.threads.size()) <= thread)
    role.threads.resize(thread + 1);
  Instruction instruction;
  instruction.opcode = opcode;
  instruction.priority = priority;
  instruction.dst = std::move(dst);
  instruction.a = std::move(a);
  instruction.b = std::move(b);
  fillTrailing(instruction.extent, extents, 1);
  role.threads[thread].push_back(std::move(instruction));
}

void RoleBuilder::loop(int thread, int64_t trips) {
  if (int(role.threads.size()) <= thread)
    role.threads.resize(thread + 1);
  Instruction instruction;
  instruction.opcode = Opcode::Loop;
  instruction.extent[0] = Affine(trips);
  role.threads[thread].push_back(std::move(instruction));
}

void RoleBuilder::endLoop(int thread) {
  Instruction instruction;
  instruction.opcode = Opcode::EndLoop;
  role.threads[thread].push_back(std::move(instruction));
}

void RoleBuilder::sendControl(int thread, int16_t queueIndex, int count) {
  Instruction instruction;
  instruction.opcode = Opcode::SendControl;
  instruction.priority = priority;
  instruction.dst = queue(queueIndex);
  instruction.controlCount = uint8_t(count);
  role.threads[thread].push_back(std::move(instruction));
}

int64_t RoleBuilder::sramBytes(const target::Target &target) const {
  int64_t bytes = target.runtimeReserveBytes + target.stackBytes + codeBytes(target, role);
  for (const Buffer &buffer : role.buffers)
    bytes += buffer.bytes;
  return bytes;
}

namespace {

// Two streaming memory operands of one instruction; they take turns when both begin in the same bank.
struct BankPair {
  int16_t buffers[2];
  int64_t bases[2]; // bytes
  int64_t elements;
};

// The pairs among `role`'s instructions, with the elements each instruction processes per execution.
std::vector<BankPair> bankPairs(const Role &role) {
  std::vector<BankPair> pairs;
  for (const Thread &thread : role.threads)
    for (const Instruction &instruction : thread) {
      int64_t elements = 1;
      int innermost = kMaxDims - 1;
      for (const Affine &extent : instruction.extent)
        elements *= extent.constant;
      while (innermost > 0 && instruction.extent[innermost].constant <= 1)
        --innermost;
      const Operand *operands[] = {&instruction.dst, &instruction.a, &instruction.b};
      for (int i = 0; i < 3; ++i)
        for (int j = i + 1; j < 3; ++j) {
          const Operand &first = *operands[i], &second = *operands[j];
          if (first.kind == OperandKind::Memory && second.kind == OperandKind::Memory && first.stride[innermost] != 0 &&
              second.stride[innermost] != 0 && first.buffer != second.buffer)
            pairs.push_back({{first.buffer, second.buffer}, {first.base.constant, second.base.constant}, elements});
        }
    }
  return pairs;
}

// Elements that conflict on account of buffer `b` when it begins at `address`; only buffers before it have addresses.
int64_t conflictsAt(const target::Target &target, const Role &role, const std::vector<BankPair> &pairs, int b,
                    int64_t address) {
  const auto bank = [&](int64_t byte) { return byte / target.sramAccessBytes % target.sramBanks; };
  int64_t total = 0;
  for (const BankPair &pair : pairs)
    for (int side = 0; side < 2; ++side)
      if (pair.buffers[side] == b && pair.buffers[1 - side] < b &&
          bank(address + pair.bases[side]) == bank(role.buffers[pair.buffers[1 - side]].address + pair.bases[1 - side]))
        total += pair.elements;
  return total;
}

// Lays buffers one after the other from `address` on; state variables lie at the end, at addresses of their own. With
// `apart` each begins in the bank, of those within one round, where fewest elements conflict. Returns the end.
int64_t layOut(const target::Target &target, Role &role, int64_t address, bool apart) {
  const std::vector<BankPair> pairs = apart ? bankPairs(role) : std::vector<BankPair>();
  for (int b = 0; b < int(role.buffers.size()); ++b) {
    Buffer &buffer = role.buffers[b];
    if (buffer.kind == BufferKind::State)
      continue;
    int64_t best = address;
    if (!pairs.empty()) {
      int64_t fewest = conflictsAt(target, role, pairs, b, address);
      for (int shift = 1; shift < target.sramBanks && fewest > 0; ++shift) {
        const int64_t candidate = address + int64_t(shift) * target.sramAccessBytes;
        if (const int64_t conflicts = conflictsAt(target, role, pairs, b, candidate); conflicts < fewest) {
          fewest = conflicts;
          best = candidate;
        }
      }
    }
    buffer.address = best;
    address = best + (buffer.bytes + 7) / 8 * 8;
  }
  return address;
}

} // namespace

void RoleBuilder::deepen(const target::Target &target, int16_t fifo, int64_t times) {
  int64_t &bytes = role.buffers[fifo].bytes;
  const int64_t padding =
      int64_t(target.sramBanks) * target.sramAccessBytes * int64_t(role.buffers.size()); // to choose banks
  const int64_t room = target.sramBytes - sramBytes(target) - padding;
  bytes += bytes * std::clamp<int64_t>(bytes > 0 ? room / bytes : 0, 0, times - 1);
}

absl::StatusOr<Role> RoleBuilder::finish(const target::Target &target) {
  const auto highest = uint8_t(target.issuePriorities - 1);
  for (Thread &thread : role.threads)
    for (Instruction &instruction : thread)
      instruction.priority = std::min(instruction.priority, highest);
  int64_t begin = target.runtimeReserveBytes + target.stackBytes + codeBytes(target, role);
  begin = (begin + 7) / 8 * 8;
  int64_t limit = target.sramBytes;
  for (const Buffer &buffer : role.buffers)
    if (buffer.kind == BufferKind::State)
      limit = std::min(limit, buffer.address);
  int64_t address = layOut(target, role, begin, true);
  if (address > limit)
    address = layOut(target, role, begin, false);
  if (address > limit) {
    address += target.sramBytes - limit;
    std::string breakdown;
    for (const Buffer &buffer : role.buffers)
      absl::StrAppend(&breakdown, breakdown.empty() ? "" : ", ", buffer.name, " ", buffer.bytes);
    return absl::ResourceExhaustedError(absl::StrCat(
        role.name, " needs ", address, " bytes",
        // Before placement a kernel's core has no column.
        role.cores.col < 0 ? "" : absl::StrCat(" on core (", role.cores.row, ", ", role.cores.col, ")"), ", limit is ",
        target.sramBytes, " (", breakdown, "); use a target with more SRAM per core or more rows"));
  }
  return std::move(role);
}

int64_t sramBytesOf(const Role &role) {
  int64_t end = 0, state = 0;
  for (const Buffer &buffer : role.buffers)
    if (buffer.kind == BufferKind::State)
      state += buffer.bytes;
    else
      end = std::max(end, buffer.address + buffer.bytes);
  return end + state;
}

static int64_t walk(const Role &role, const std::function<int64_t(const Instruction &, int64_t elements)> &cost) {
  int64_t total = 0;
  for (const Thread &thread : role.threads) {
    std::vector<int64_t> trips{1};
    for (const Instruction &instruction : thread) {
      if (instruction.opcode == Opcode::EndLoop) {
        trips.pop_back();
        continue;
      }
      if (instruction.opcode == Opcode::Loop) {
        total += trips.back() * cost(instruction, instruction.extent[0].constant);
        trips.push_back(trips.back() * instruction.extent[0].constant);
        continue;
      }
      int64_t elements = 1;
      for (const Affine &extent : instruction.extent)
        elements *= extent.constant;
      total += trips.back() * cost(instruction, elements);
    }
  }
  return total;
}

int64_t issueCycles(const target::Target &target, const Role &role) {
  return walk(role, [&](const Instruction &instruction, int64_t elements) -> int64_t {
    if (instruction.opcode == Opcode::Loop)
      return elements * target.loopCycles;
    if (instruction.opcode == Opcode::SendControl)
      return 1;
    return timing::instructionSlots(target, role, instruction, {}, elements).total();
  });
}

int64_t fmaElements(const Role &role) {
  return walk(role, [](const Instruction &instruction, int64_t elements) -> int64_t {
    return instruction.opcode == Opcode::Fma ? elements : 0;
  });
}

} // namespace wsc::kernels
