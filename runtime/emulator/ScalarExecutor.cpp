// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The general path: addresses by descriptor arithmetic, one element at a time through numerics::applyScalar. Narrow
// elements on queues are packed from the instruction's first word on.
#include "runtime/emulator/ScalarExecutor.h"

#include "runtime/emulator/QueueTraffic.h"
#include "runtime/numerics/Elements.h"
#include "runtime/timing/Cost.h"

#include <algorithm>
#include <cstring>

namespace wsc::emulator {

using namespace format;

namespace {

using ElementIndex = std::array<int64_t, kMaxDims>;

int64_t origin(const Operand &operand, const CoreFrame &frame, const ThreadCursor &cursor) {
  int64_t address = operand.base.at(frame.index);
  for (int k = 0; k < cursor.depth; ++k)
    address += int64_t(operand.loopStep[k]) * cursor.counter[k];
  return address;
}

int64_t offset(const Operand &operand, const ElementIndex &i, int dims) {
  int64_t sum = 0;
  for (int d = 0; d < dims; ++d)
    sum += i[d] * operand.stride[d];
  return sum;
}

// Byte address of element `number` of an indexed operand, the number clamped so that it stays inside its buffer
// (`start` is number 0).
int64_t indexedAddress(const Operand &operand, int64_t start, int64_t number, int64_t bytes, int64_t width) {
  const int64_t step = operand.stride[kMaxDims - 1], room = bytes - width - start;
  const int64_t last = step > 0 ? room / step : step < 0 ? start / -step : 0;
  return start + step * std::clamp<int64_t>(number, 0, std::max<int64_t>(0, last));
}

// A source operand of the instruction in progress.
struct Source {
  const Operand *operand;
  ElementType type;
  int64_t width;
  int64_t origin;
  uint64_t immediate;
  int64_t nth = 0, share = 1; // queue or FIFO named by both sources: a takes even elements, b odd ones

  bool ready(const CoreFrame &frame, int64_t element) const {
    if (operand->kind == OperandKind::Queue) {
      const QueuePort &port = frame.queues[operand->queue];
      return port.position * 4 + (element * share + nth + 1) * width <= port.limit * 4;
    }
    if (operand->kind == OperandKind::Fifo) {
      const FifoPort &fifo = frame.fifos[operand->buffer];
      return fifo.popped + (nth + 1) * width <= fifo.pushed;
    }
    return true;
  }
  uint64_t read(CoreFrame &frame, int64_t element, const ElementIndex &i) const {
    switch (operand->kind) {
    case OperandKind::Memory:
      return numerics::loadElement(frame.buffers[operand->buffer] + origin + offset(*operand, i, kMaxDims), type);
    case OperandKind::Queue: {
      const QueuePort &port = frame.queues[operand->queue];
      return numerics::loadElement(port.data + port.position * 4 + (element * share + nth) * width, type);
    }
    case OperandKind::Fifo: {
      FifoPort &fifo = frame.fifos[operand->buffer];
      uint64_t value = numerics::loadElement(frame.buffers[operand->buffer] + fifo.popped, type);
      fifo.popped += width;
      return value;
    }
    default:
      return immediate;
    }
  }
};

Source makeSource(const Operand &operand, ElementType type, const CoreFrame &frame, const ThreadCursor &cursor) {
  Source s{&operand, type, elementBytes(type), 0, 0};
  if (operand.kind == OperandKind::Memory)
    s.origin = origin(operand, frame, cursor);
  if (operand.kind == OperandKind::Immediate)
    s.immediate = numerics::encodeImmediate(operand.immediate, type);
  return s;
}

} // namespace

bool executeScalar(const Instruction &instruction, CoreFrame &frame, ThreadCursor &cursor) {
  const Opcode opcode = instruction.opcode;
  const OpcodeInfo &info = opcodeInfo(opcode);
  ElementIndex extent, i{};
  int64_t elements = 1;
  for (int d = 0; d < kMaxDims; ++d) {
    extent[d] = std::max<int64_t>(0, instruction.extent[d].at(frame.index));
    elements *= extent[d];
  }
  if (elements == 0)
    return true;
  Source a = makeSource(instruction.a, operandType(instruction, OperandSlot::A), frame, cursor);
  Source b = makeSource(instruction.b, operandType(instruction, OperandSlot::B), frame, cursor);
  const bool usesA = info.sources >= 1 && instruction.a.kind != OperandKind::None;
  const bool usesB = info.sources >= 2 && instruction.b.kind != OperandKind::None;
  if (usesA && usesB && a.operand->kind == b.operand->kind &&
      ((a.operand->kind == OperandKind::Queue && a.operand->queue == b.operand->queue) ||
       (a.operand->kind == OperandKind::Fifo && a.operand->buffer == b.operand->buffer))) {
    b.nth = 1;
    a.share = b.share = 2;
  }
  const Operand &dst = instruction.dst;
  const int64_t width = elementBytes(instruction.type);
  const int64_t dstOrigin = dst.kind == OperandKind::Memory ? origin(dst, frame, cursor) : 0;
  for (int64_t rest = cursor.element, d = kMaxDims - 1; d >= 0; --d) {
    i[d] = rest % extent[d];
    rest /= extent[d];
  }
  for (int64_t &e = cursor.element; e < elements; ++e) {
    if ((usesA && !a.ready(frame, e)) || (usesB && !b.ready(frame, e)))
      return false;
    uint64_t x = 0, y = 0;
    int64_t dstAddress = dstOrigin + offset(dst, i, kMaxDims);
    if (opcode == Opcode::Gather) {
      const int64_t number = int32_t(uint32_t(b.read(frame, e, i)));
      const int64_t start = a.origin + offset(*a.operand, i, kMaxDims - 1);
      x = numerics::loadElement(
          frame.buffers[a.operand->buffer] +
              indexedAddress(*a.operand, start, number, frame.role->buffers[a.operand->buffer].bytes, width),
          instruction.type);
    } else {
      if (usesA)
        x = a.read(frame, e, i);
      if (usesB)
        y = b.read(frame, e, i);
      if (opcode == Opcode::Scatter)
        dstAddress = indexedAddress(dst, dstOrigin + offset(dst, i, kMaxDims - 1), int32_t(uint32_t(y)),
                                    frame.role->buffers[dst.buffer].bytes, width);
    }
    const uint64_t old = info.readsDst && dst.kind == OperandKind::Memory
                             ? numerics::loadElement(frame.buffers[dst.buffer] + dstAddress, instruction.type)
                             : 0;
    const uint64_t value = numerics::applyScalar(opcode, instruction.type, old, x, y, a.type);
    if (dst.kind == OperandKind::Memory) {
      numerics::storeElement(frame.buffers[dst.buffer] + dstAddress, instruction.type, value);
    } else if (dst.kind == OperandKind::Queue) {
      QueuePort &port = frame.queues[dst.queue];
      std::byte *words = port.data + port.position * 4;
      if (width < 4 && e * width % 4 == 0)
        std::memset(words + e * width, 0, 4);
      numerics::storeElement(words + e * width, instruction.type, value);
      port.visible = port.position + (e + 1) * width / 4;
    } else if (dst.kind == OperandKind::Fifo) {
      FifoPort &fifo = frame.fifos[dst.buffer];
      numerics::storeElement(frame.buffers[dst.buffer] + fifo.pushed, instruction.type, value);
      fifo.pushed += width;
    }
    for (int d = kMaxDims - 1; d >= 0 && ++i[d] == extent[d]; --d)
      i[d] = 0;
  }
  auto advance = [&](const Operand &operand, ElementType type) {
    if (operand.kind != OperandKind::Queue)
      return;
    QueuePort &port = frame.queues[operand.queue];
    port.position += timing::fabricWords(type, elements);
    port.visible = port.position;
  };
  advance(dst, instruction.type);
  if (usesA)
    advance(instruction.a, a.type);
  if (usesB)
    advance(instruction.b, b.type);
  return true;
}

bool runThreadScalar(const Thread &thread, CoreFrame &frame, ThreadCursor &cursor) {
  while (cursor.pc < thread.size()) {
    const Instruction &instruction = thread[cursor.pc];
    switch (instruction.opcode) {
    case Opcode::Loop:
      if (instruction.extent[0].at(frame.index) <= 0) {
        for (int open = 1; open > 0;) {
          const Opcode next = thread[++cursor.pc].opcode;
          open += next == Opcode::Loop ? 1 : next == Opcode::EndLoop ? -1 : 0;
        }
      } else {
        cursor.counter[cursor.depth] = 0;
        cursor.loopStart[cursor.depth++] = cursor.pc;
      }
      break;
    case Opcode::EndLoop: {
      const int level = cursor.depth - 1;
      const size_t start = cursor.loopStart[level];
      if (++cursor.counter[level] < thread[start].extent[0].at(frame.index))
        cursor.pc = start;
      else
        --cursor.depth;
      break;
    }
    case Opcode::SendControl:
      break;
    default:
      if (!executeScalar(instruction, frame, cursor))
        return false;
      cursor.element = 0;
    }
    ++cursor.pc;
  }
  return true;
}

} // namespace wsc::emulator
