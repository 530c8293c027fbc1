// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/support/fabric/CodeWriter.h"

#include "runtime/numerics/Elements.h"

#include <algorithm>

namespace wsc::fabric {

using namespace format;

namespace {

Instruction controlFlow(Opcode opcode, int64_t trips = 1) {
  Instruction instruction;
  instruction.opcode = opcode;
  instruction.extent[0] = Affine(trips);
  return instruction;
}

Operand immediate(double value) {
  Operand operand;
  operand.kind = OperandKind::Immediate;
  operand.immediate = value;
  return operand;
}

bool isReal(ElementType type) { return type != ElementType::U8 && type != ElementType::I32; }

} // namespace

CodeWriter::CodeWriter(Random &random, Role &role, const Plan &plan, std::vector<std::byte> &sectionBytes)
    : random(random), role(role), plan(plan), sectionBytes(sectionBytes) {}

int16_t CodeWriter::addBuffer(BufferKind kind, ElementType type, int64_t elements) {
  Buffer buffer;
  buffer.name = "b" + std::to_string(role.buffers.size());
  buffer.kind = kind;
  buffer.type = type;
  buffer.bytes = elements * elementBytes(type);
  if (kind == BufferKind::Constant) {
    buffer.section = 0;
    buffer.sectionOffset = Affine(int64_t(sectionBytes.size()));
    buffer.sectionOffset.perDim[plan.copyDim] = buffer.bytes;
    for (int64_t i = 0; i < elements * plan.copies; ++i) {
      const size_t end = sectionBytes.size();
      sectionBytes.resize(end + size_t(elementBytes(type)));
      const double value = isReal(type) ? double(random.pick(-16, 16)) / 8 : double(random.pick(0, 40));
      numerics::storeElement(sectionBytes.data() + end, type, numerics::encodeImmediate(value, type));
    }
    sectionBytes.resize((sectionBytes.size() + 7) / 8 * 8);
  }
  role.buffers.push_back(buffer);
  return int16_t(role.buffers.size() - 1);
}

Operand CodeWriter::fifo(ElementType type, int64_t elements) {
  Operand operand;
  operand.kind = OperandKind::Fifo;
  operand.buffer = addBuffer(BufferKind::Fifo, type, elements);
  return operand;
}

CodeWriter::Memory CodeWriter::memory(ElementType type) {
  Memory &memory = memories[type];
  if (memory.constant < 0) {
    memory.constant = addBuffer(BufferKind::Constant, type, kElements);
    memory.x = addBuffer(BufferKind::Scratch, type, kElements);
    memory.y = addBuffer(BufferKind::Scratch, type, kElements);
  }
  return memory;
}

Operand CodeWriter::walk(int16_t buffer, ElementType type, const Space &space, bool repeats) {
  const int64_t bytes = elementBytes(type);
  int64_t inner = 1, outer = space.inner;
  const int64_t most = space.inner + space.growth * (plan.copies - 1);
  const int64_t kind = random.pick(0, 9);
  if (kind == 0 && repeats)
    inner = outer = 0;
  else if (kind <= 2 && repeats)
    outer = 0;
  else if (kind <= 4 && 2 * most * space.outer <= kElements)
    inner = 2, outer = 2 * space.inner;
  int64_t reach = 1 + inner * (most - 1) + outer * (space.outer - 1);
  Operand operand;
  operand.kind = OperandKind::Memory;
  operand.buffer = buffer;
  operand.stride[2] = int32_t(outer * bytes);
  operand.stride[3] = int32_t(inner * bytes);
  for (size_t k = 0; k < space.trips.size(); ++k) {
    const int64_t step = random.pick(0, 3);
    if (reach + step * (space.trips[k] - 1) > kElements)
      continue;
    reach += step * (space.trips[k] - 1);
    operand.loopStep[k + size_t(plan.rounds > 1)] = int32_t(step * bytes);
  }
  operand.base = Affine(random.pick(0, kElements - reach) * bytes);
  return operand;
}

Operand CodeWriter::source(ElementType type, const Space &space) {
  if (random.chance(10))
    return immediate(double(random.pick(1, 9)));
  const Memory of = memory(type);
  return walk(random.chance(50) ? of.constant : of.y, type, space, true);
}

void CodeWriter::append(Opcode opcode, ElementType type, const Space &space, Operand dst, Operand a, Operand b,
                        std::optional<ElementType> sourceType) {
  Instruction instruction;
  instruction.opcode = opcode;
  instruction.type = type;
  instruction.sourceType = sourceType.value_or(type);
  instruction.mixed = sourceType && opcode != Opcode::Convert;
  instruction.dst = dst;
  instruction.a = a;
  instruction.b = b;
  instruction.extent[2] = Affine(space.outer);
  instruction.extent[3] = Affine(space.inner);
  instruction.extent[3].perDim[plan.copyDim] = space.growth;
  code.push_back(instruction);
}

void CodeWriter::work(std::vector<int64_t> trips) {
  const ElementType types[] = {ElementType::F32, ElementType::F32, ElementType::F16};
  const ElementType type = random.of(types);
  Space space{random.chance(30) ? random.pick(2, 3) : 1, random.pick(1, 8), std::move(trips)};
  const Memory of = memory(type);
  // Either scratch buffer takes the result; the sources are in the others.
  const bool toX = random.chance(50);
  const int16_t target = toX ? of.x : of.y, other = toX ? of.y : of.x;
  const auto operand = [&] { return walk(random.chance(50) ? of.constant : other, type, space, true); };
  switch (random.pick(0, 6)) {
  case 0:
    return append(Opcode::Move, type, space, walk(target, type, space, false), operand());
  case 1:
    return append(Opcode::Mul, type, space, walk(target, type, space, false), operand(), operand());
  case 2:
    return append(Opcode::Fma, type, space, walk(target, type, space, false), operand(), operand());
  case 3:
    return append(Opcode::ReduceAdd, type, space, walk(target, type, space, true), operand());
  case 4: {
    const Operand numbers = walk(memory(ElementType::I32).constant, ElementType::I32, space, true);
    Operand table = operand();
    table.stride = {0, 0, 0, int32_t(elementBytes(type))};
    table.loopStep = {};
    return append(Opcode::Gather, type, space, walk(target, type, space, false), table, numbers);
  }
  case 5:
    return append(Opcode::Sigmoid, type, space, walk(target, type, space, false), operand());
  default:
    return append(Opcode::Max, type, space, walk(target, type, space, false), operand(), immediate(0.5));
  }
}

void CodeWriter::take(const Transfer &transfer, const Space &space) {
  const ElementType type = transfer.inType;
  Operand null;
  null.kind = OperandKind::Null;
  const int64_t kind = random.pick(0, 9);
  if (transfer.in2.kind != OperandKind::None)
    return append(Opcode::Add, type, space, walk(memory(type).x, type, space, false), transfer.in, transfer.in2);
  if (kind == 0)
    return append(Opcode::Move, type, space, null, transfer.in);
  if (kind <= 3)
    return append(Opcode::Move, type, space, walk(memory(type).x, type, space, false), transfer.in);
  if (kind <= 5 && type == ElementType::F16 && random.chance(50))
    return append(Opcode::ReduceAdd, ElementType::F32, space,
                  walk(memory(ElementType::F32).x, ElementType::F32, space, true), transfer.in, {}, type);
  if (kind <= 5)
    return append(Opcode::ReduceAdd, type, space, walk(memory(type).x, type, space, true), transfer.in);
  if (kind <= 6)
    return append(Opcode::Fma, type, space, walk(memory(type).x, type, space, false), transfer.in, source(type, space));
  if (kind <= 7 && (type == ElementType::F16 || type == ElementType::F32)) {
    const ElementType to = type == ElementType::F16 ? ElementType::F32 : ElementType::F16;
    return append(Opcode::Convert, to, space, walk(memory(to).x, to, space, false), transfer.in, {}, type);
  }
  append(Opcode::Max, type, space, walk(memory(type).x, type, space, false), source(type, space), transfer.in);
}

void CodeWriter::give(const Transfer &transfer, const Space &space) {
  const ElementType type = transfer.outType;
  const int64_t kind = random.pick(0, 9);
  const Operand x = walk(memory(type).x, type, space, true);
  if (kind <= 4)
    return append(Opcode::Move, type, space, transfer.out, x);
  if (kind <= 5 && (type == ElementType::F16 || type == ElementType::F32)) {
    const ElementType from = type == ElementType::F16 ? ElementType::F32 : ElementType::F16;
    return append(Opcode::Convert, type, space, transfer.out, walk(memory(from).x, from, space, true), {}, from);
  }
  if (kind <= 6)
    return append(Opcode::Sub, type, space, transfer.out, source(type, space), x);
  if (kind <= 7 && isReal(type))
    return append(Opcode::Sqrt, type, space, transfer.out, x);
  append(Opcode::Add, type, space, transfer.out, x, source(type, space));
}

void CodeWriter::pass(const Transfer &transfer, const Space &space) {
  if (transfer.in2.kind != OperandKind::None)
    return append(random.chance(50) ? Opcode::Add : Opcode::Min, transfer.outType, space, transfer.out, transfer.in,
                  transfer.in2);
  if (transfer.inType != transfer.outType)
    return append(Opcode::Convert, transfer.outType, space, transfer.out, transfer.in, {}, transfer.inType);
  const int64_t kind = random.pick(0, 2);
  if (kind == 0)
    return append(Opcode::Move, transfer.outType, space, transfer.out, transfer.in);
  append(kind == 1 ? Opcode::Add : Opcode::Mul, transfer.outType, space, transfer.out, transfer.in,
         source(transfer.outType, space));
}

void CodeWriter::writePiece(const Transfer &transfer, const Space &space) {
  if (transfer.takes() && transfer.gives())
    pass(transfer, space);
  else if (transfer.takes())
    take(transfer, space);
  else
    give(transfer, space);
}

// One instruction, two of them, an instruction of two extents, or a loop; instructions end where words of all queues
// do.
void CodeWriter::writeTransfer(const Transfer &transfer) {
  int64_t perWord = 1;
  for (const ElementType type : {transfer.inType, transfer.outType})
    perWord = std::max(perWord, 4 / elementBytes(type));
  const int64_t n = transfer.elements;
  std::vector<int64_t> divisors;
  for (int64_t d = 2; d <= n; ++d)
    if (n % d == 0)
      divisors.push_back(d);
  const int64_t kind = random.pick(0, 9);
  if (kind <= 1 && !divisors.empty() && transfer.growth == 0) {
    const int64_t inner = random.of(divisors);
    return writePiece(transfer, {n / inner, inner, {}});
  }
  if (kind <= 3 && n > perWord) {
    const int64_t first = random.pick(1, (n - 1) / perWord) * perWord;
    writePiece(transfer, {1, first, {}});
    if (random.chance(20))
      work();
    return writePiece(transfer, {1, n - first, {}, transfer.growth});
  }
  if (kind <= 5 && !divisors.empty() && transfer.growth == 0) {
    const int64_t trips = random.of(divisors), inner = n / trips;
    if (inner % perWord == 0) {
      std::vector<int64_t> loops{trips};
      if (random.chance(30)) { // two loops, one in the other
        const int64_t within = trips % 2 == 0 ? 2 : trips % 3 == 0 ? 3 : 1;
        loops = {trips / within, within};
      }
      for (int64_t count : loops)
        code.push_back(controlFlow(Opcode::Loop, count));
      if (random.chance(30))
        work(loops);
      writePiece(transfer, {1, inner, loops});
      code.insert(code.end(), loops.size(), controlFlow(Opcode::EndLoop));
      return;
    }
  }
  writePiece(transfer, {1, n, {}, transfer.growth});
}

void CodeWriter::writeThread(std::vector<Transfer> transfers) {
  std::vector<Transfer> joined;
  for (const Transfer &next : transfers) {
    Transfer *last = joined.empty() || random.chance(30) ? nullptr : &joined.back();
    const bool fits = last && last->control == 0 && next.control == 0 && !last->gives() &&
                      last->elements == next.elements && last->growth == next.growth;
    const auto convertible = [](ElementType type) { return type == ElementType::F32 || type == ElementType::F16; };
    if (fits && next.gives() && !next.takes() &&
        (last->inType == next.outType ||
         (convertible(last->inType) && convertible(next.outType) && last->in2.kind == OperandKind::None))) {
      last->out = next.out;
      last->outType = next.outType;
    } else if (fits && !next.gives() && last->in2.kind == OperandKind::None && last->inType == next.inType &&
               (last->in.kind != next.in.kind || last->in.queue != next.in.queue ||
                last->in.buffer != next.in.buffer)) {
      last->in2 = next.in;
    } else {
      joined.push_back(next);
    }
  }
  code.clear();
  memories.clear();
  for (const Transfer &transfer : joined) {
    if (random.chance(20))
      work();
    if (random.chance(3)) { // nothing at all, in its two forms
      code.push_back(controlFlow(Opcode::Loop, 0));
      work({0});
      code.push_back(controlFlow(Opcode::EndLoop));
      work();
      code.back().extent[1] = Affine(0);
    }
    if (transfer.control > 0) {
      Instruction instruction = controlFlow(Opcode::SendControl);
      instruction.dst = transfer.out;
      instruction.controlCount = transfer.control;
      code.push_back(instruction);
    } else {
      writeTransfer(transfer);
    }
  }
  Thread thread;
  std::swap(thread, code);
  writeInit();
  if (plan.rounds > 1)
    code.push_back(controlFlow(Opcode::Loop, plan.rounds));
  code.insert(code.end(), thread.begin(), thread.end());
  if (plan.rounds > 1)
    code.push_back(controlFlow(Opcode::EndLoop));
  if (plan.priorities > 1)
    setPriorities();
  role.threads.push_back(std::move(code));
}

// One for the thread, or one for each instruction; those of loops mean nothing.
void CodeWriter::setPriorities() {
  const auto any = [&] { return uint8_t(random.pick(0, plan.priorities - 1)); };
  const bool mixed = random.chance(60);
  const uint8_t common = any();
  for (Instruction &instruction : code)
    instruction.priority = mixed && random.chance(50) ? any() : common;
}

// Scratch memory is written before it is read.
void CodeWriter::writeInit() {
  for (const auto &[type, of] : memories)
    for (int16_t buffer : {of.x, of.y}) {
      Operand dst, from;
      dst.kind = from.kind = OperandKind::Memory;
      dst.buffer = buffer;
      from.buffer = of.constant;
      dst.stride[3] = from.stride[3] = int32_t(elementBytes(type));
      append(Opcode::Move, type, {1, kElements, {}}, dst, from);
    }
}

void CodeWriter::placeBuffers() {
  int64_t address = 16384 + 4 * random.pick(0, 15);
  for (Buffer &buffer : role.buffers) {
    const int64_t width = elementBytes(buffer.type);
    address = (address + width - 1) / width * width;
    buffer.address = address;
    address += buffer.bytes + 4 * random.pick(0, 5);
  }
}

} // namespace wsc::fabric
