// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of a batch: one element after the other, sources first, as docs/Execution.md orders them.
#include "test/support/fabric/Fabric.h"

#include "runtime/emulator/InterpreterCheck.h"
#include "runtime/numerics/Elements.h"

#include "absl/strings/str_cat.h"

#include <cstring>

namespace wsc::fabric {

using namespace format;
using emulator::WideAddress;

namespace {

// One element of the instruction a thread runs.
class Element {
public:
  Element(Core &core, ThreadState &thread, int64_t t)
      : core(core), thread(thread), instruction((*thread.code)[thread.next]), t(t) {
    int64_t rest = thread.element;
    for (size_t d = kMaxDims; d-- > 0;) {
      position[d] = rest % thread.extent[d];
      rest /= thread.extent[d];
    }
  }

  absl::Status run() {
    uint64_t a = 0, b = 0;
    const int sources = opcodeInfo(instruction.opcode).sources;
    if (instruction.opcode != Opcode::Gather)
      if (absl::Status status = read(instruction.a, 1, typeOfA(instruction), a); !status.ok())
        return status;
    if (sources > 1)
      if (absl::Status status = read(instruction.b, 2, typeOfB(instruction), b); !status.ok())
        return status;
    if (instruction.opcode == Opcode::Gather)
      if (absl::Status status = readIndexed(b, a); !status.ok())
        return status;
    return write(a, b);
  }

private:
  Core &core;
  ThreadState &thread;
  const Instruction &instruction;
  int64_t t;
  std::array<int64_t, kMaxDims> position{};

  WideAddress address(const Operand &operand, size_t dims) const {
    WideAddress sum = operand.base.at(core.index);
    for (size_t d = 0; d < dims; ++d)
      sum += WideAddress(position[d]) * operand.stride[d];
    for (size_t k = 0; k < thread.loops.size(); ++k)
      sum += WideAddress(thread.loops[k].iteration) * operand.loopStep[k];
    return sum;
  }

  absl::Status load(const Operand &operand, WideAddress place, ElementType type, uint64_t &value) const {
    absl::StatusOr<uint64_t> loaded = core.memory->load(operand, place, type);
    if (loaded.ok())
      value = *loaded;
    return loaded.status();
  }

  absl::Status readIndexed(uint64_t number, uint64_t &value) const {
    auto place = core.memory->indexedAddress(instruction.a, address(instruction.a, kMaxDims - 1), instruction.type,
                                             int32_t(uint32_t(number)));
    return place.ok() ? load(instruction.a, *place, instruction.type, value) : place.status();
  }

  absl::Status read(const Operand &operand, size_t slot, ElementType type, uint64_t &value) {
    switch (operand.kind) {
    case OperandKind::Immediate:
      value = numerics::encodeImmediate(operand.immediate, type);
      return absl::OkStatus();
    case OperandKind::Fifo:
      return core.memory->pop(operand, type, value) ? absl::OkStatus() : absl::InternalError("pops an empty FIFO");
    case OperandKind::Queue: {
      const size_t bytes = size_t(elementBytes(type)), perWord = bytes < 4 ? 4 / bytes : 1;
      auto &hand = thread.word[slot];
      const size_t place = size_t(thread.element) % perWord;
      for (size_t at = 0; place == 0 && at < bytes; at += 4) {
        const Word word = core.inputs[size_t(operand.queue)]->take(t);
        if (word.control > 0)
          return absl::InvalidArgumentError(absl::StrCat("a control word of count ", int(word.control),
                                                         " reaches core (", core.row, ", ", core.col, ")"));
        std::memcpy(hand.data() + at, &word.bits, 4);
      }
      value = numerics::loadElement(hand.data() + place * bytes, type);
      return absl::OkStatus();
    }
    default:
      return load(operand, address(operand, kMaxDims), type, value);
    }
  }

  absl::Status write(uint64_t a, uint64_t b) {
    const Operand &dst = instruction.dst;
    const ElementType type = instruction.type;
    absl::StatusOr<WideAddress> place = 0;
    uint64_t old = 0;
    if (dst.kind == OperandKind::Memory) {
      place = instruction.opcode == Opcode::Scatter
                  ? core.memory->indexedAddress(dst, address(dst, kMaxDims - 1), type, int32_t(uint32_t(b)))
                  : address(dst, kMaxDims);
      if (!place.ok())
        return place.status();
      if (opcodeInfo(instruction.opcode).readsDst)
        if (absl::Status status = load(dst, *place, type, old); !status.ok())
          return status;
    }
    const uint64_t value = numerics::applyScalar(instruction.opcode, type, old, a, b, typeOfA(instruction));
    if (dst.kind == OperandKind::Memory)
      return core.memory->store(dst, *place, type, value);
    if (dst.kind == OperandKind::Fifo)
      core.memory->push(dst, type, value);
    if (dst.kind == OperandKind::Queue)
      send(*core.outputs[size_t(dst.queue)], type, value);
    return absl::OkStatus();
  }

  void send(WordQueue &queue, ElementType type, uint64_t value) {
    const size_t bytes = size_t(elementBytes(type)), perWord = bytes < 4 ? 4 / bytes : 1;
    auto &hand = thread.word[0];
    const size_t place = size_t(thread.element) % perWord;
    if (place == 0)
      hand = {};
    numerics::storeElement(hand.data() + place * bytes, type, value);
    if (place + 1 < perWord && thread.element + 1 < thread.elements)
      return;
    for (size_t at = 0; at < std::max<size_t>(bytes, 4); at += 4) {
      Word word;
      std::memcpy(&word.bits, hand.data() + at, 4);
      queue.put(t, word);
    }
  }
};

} // namespace

absl::Status execute(Core &core, ThreadState &thread, int64_t count, int64_t t) {
  for (int64_t i = 0; i < count; ++i, ++thread.element)
    if (absl::Status status = Element(core, thread, t).run(); !status.ok())
      return status;
  return absl::OkStatus();
}

} // namespace wsc::fabric
