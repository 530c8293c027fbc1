// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Property test: one random instruction under random loops on a single core, by the engine on every CPU level against
// the scalar interpreter. Opcodes, element types, shapes, strides, broadcasts, permuted and strided layouts, in-place
// operands, queues, FIFOs, immediates and special values are drawn from a printed seed (WSC_SEED sets the first one).
#include "runtime/emulator/CoreEngine.h"
#include "runtime/emulator/Interpreter.h"
#include "runtime/emulator/QueueTraffic.h"
#include "runtime/emulator/Rows.h"
#include "runtime/numerics/Elements.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
#include <optional>
#include <random>

using namespace wsc;
using namespace wsc::emulator;
using namespace wsc::format;

namespace {

class Draw {
public:
  explicit Draw(uint32_t seed) : rng(seed) {}
  int upTo(int n) { return int(rng() % uint32_t(n + 1)); }
  bool oneIn(int n) { return upTo(n - 1) == 0; }
  // An element's bits: sums and products of most stay exact for a while, some are special.
  uint64_t element(ElementType type) {
    if (numerics::isFloat(type)) {
      if (rareSpecials && oneIn(20)) {
        static const uint32_t special[] = {0x7fc00000, 0xffc00001, 0x7f800000, 0xff800000, 0x80000000,
                                           0,          1,          0x007fffff, 0x7f7fffff};
        const auto shift = 32 - 8 * std::min<int64_t>(4, elementBytes(type));
        return type == ElementType::F64 ? uint64_t(special[upTo(8)]) << 32 : special[upTo(8)] >> shift;
      }
      const double value = double(upTo(2000) - 1000) / 64 * (oneIn(10) ? 1e-20 : 1);
      return numerics::encodeImmediate(value, type);
    }
    const uint64_t bits = uint64_t(rng()) << 32 | rng();
    const uint64_t value = oneIn(2) ? bits >> upTo(63) : uint64_t(upTo(40) - 20);
    return elementBytes(type) == 8 ? value : value & ((1ull << (8 * elementBytes(type))) - 1);
  }
  bool rareSpecials = false;
  std::mt19937 rng;
};

Operand memory(int buffer) {
  Operand o;
  o.kind = OperandKind::Memory;
  o.buffer = int16_t(buffer);
  return o;
}
Operand queue(int q) {
  Operand o;
  o.kind = OperandKind::Queue;
  o.queue = int16_t(q);
  return o;
}
Instruction move(Operand dst, Operand a, int64_t n, ElementType type = ElementType::F32) {
  Instruction i;
  i.type = type;
  i.extent[3] = Affine(n);
  i.dst = dst;
  i.a = a;
  return i;
}
Instruction control(Opcode opcode, int64_t trips = 1) {
  Instruction i;
  i.opcode = opcode;
  i.extent[0] = Affine(trips);
  return i;
}

// Strides (bytes) of a packed layout in a random order of dimensions, optionally spaced out; returns the bytes it
// spans.
int64_t layOut(Draw &draw, const std::array<int64_t, 4> &extent, const std::array<bool, 4> &varies, int64_t width,
               std::array<int32_t, 4> &stride) {
  std::array<int, 4> order{0, 1, 2, 3};
  if (draw.oneIn(3))
    std::shuffle(order.begin(), order.end(), draw.rng);
  int64_t at = draw.oneIn(4) ? 1 + draw.upTo(2) : 1;
  const int64_t first = at;
  int64_t span = 1;
  for (int k = 3; k >= 0; --k) {
    const int d = order[k];
    stride[d] = 0;
    if (!varies[d])
      continue;
    stride[d] = int32_t(at * width);
    span += at * (extent[d] - 1);
    at = at * extent[d] + (draw.oneIn(3) ? first * draw.upTo(3) : 0);
  }
  return span * width;
}

// Buffers 0 to 2 hold a, b and dst, filled from queues 0 to 2; queue 3 carries the result. A source that is a queue or
// FIFO is fed by its queue instead; what it takes of its words is packed, instruction by instruction.
struct Program {
  Executable executable;
  Instruction op;
  int64_t bytes[3] = {}; // of the buffers
  int64_t words[4] = {}; // of the queues
};

// Mostly the forms that nests are made of, on f32.
const Opcode kNestOpcodes[] = {Opcode::Fma,       Opcode::Fma,       Opcode::Fma,       Opcode::Fma,
                               Opcode::Fma,       Opcode::ReduceMax, Opcode::ReduceMin, Opcode::ReduceAdd,
                               Opcode::ReduceMul, Opcode::Move};

void drawOpcode(Draw &draw, Instruction &op) {
  if (draw.oneIn(3)) {
    op.opcode = kNestOpcodes[draw.upTo(int(std::size(kNestOpcodes)) - 1)];
    return;
  }
  do {
    op.opcode = Opcode(draw.upTo(kNumOpcodes - 1));
    op.type = ElementType(draw.upTo(kNumElementTypes - 1));
  } while (!numerics::isDefined(op.opcode, op.type));
  const bool mixes = op.opcode == Opcode::Fma || op.opcode == Opcode::ReduceAdd || op.opcode == Opcode::Mul;
  if (mixes && draw.oneIn(3)) { // the mixed forms that matter most
    op.type = draw.oneIn(2) ? ElementType::F32 : ElementType::I32;
    op.sourceType = op.type == ElementType::F32 ? ElementType::F16 : ElementType::I8;
    op.mixed = true;
    return;
  }
  op.sourceType = ElementType(draw.upTo(kNumElementTypes - 1)); // matters to Convert, and to what may mix types
  op.mixed = op.sourceType != op.type && draw.oneIn(2) && mayMix(op.opcode, op.sourceType, op.type);
}

/// A gather of four bytes whose numbers vary along some dimensions at most.
struct NumbersVary {
  std::array<bool, 4> along;
};

// Nothing: any opcode.
Program makeProgram(Draw &draw, std::optional<NumbersVary> gather = {}) {
  Program program;
  Instruction &op = program.op;
  if (gather)
    op.opcode = Opcode::Gather;
  else
    drawOpcode(draw, op);
  const bool reduce = op.opcode >= Opcode::ReduceAdd && op.opcode <= Opcode::ReduceMax;
  const bool indexed = op.opcode == Opcode::Gather || op.opcode == Opcode::Scatter;
  const OpcodeInfo &info = opcodeInfo(op.opcode);
  const ElementType types[3] = {operandType(op, OperandSlot::A), operandType(op, OperandSlot::B), op.type};
  const int64_t width[3] = {elementBytes(types[0]), elementBytes(types[1]), elementBytes(types[2])};
  std::array<int64_t, 4> extent;
  std::array<bool, 4> varies[3];
  for (int d = 0; d < 4; ++d) {
    extent[d] = draw.oneIn(2) ? 1 : 1 + draw.upTo(d == 3 ? (draw.oneIn(8) ? 400 : 40) : 6);
    op.extent[d] = Affine(extent[d]);
    varies[0][d] = draw.upTo(2) > 0;
    varies[1][d] = draw.upTo(2) > 0 && (!gather || gather->along[d]);
    varies[2][d] = !(reduce && draw.oneIn(3)) && !(info.readsDst == false && draw.oneIn(12));
  }
  Operand *operands[3] = {&op.a, &op.b, &op.dst};
  for (int k = 0; k < 3; ++k) {
    *operands[k] = memory(k);
    program.bytes[k] = layOut(draw, extent, varies[k], width[k], operands[k]->stride);
    if (draw.oneIn(4)) { // a first element in the middle of a word
      operands[k]->base = Affine(draw.upTo(3) * (draw.oneIn(2) ? 1 : width[k]));
      program.bytes[k] += operands[k]->base.constant;
    }
  }
  const int loops = draw.upTo(3);
  std::vector<Instruction> nest;
  int64_t trips = 1;
  for (int l = 0; l < loops; ++l) {
    nest.push_back(control(Opcode::Loop, 1 + draw.upTo(4)));
    const int64_t count = nest.back().extent[0].constant;
    trips *= count;
    for (int k = 0; k < 3; ++k) {
      if (k == 2 && !draw.oneIn(8))
        continue;
      operands[k]->loopStep[l] = int32_t(width[k]) * draw.upTo(5);
      program.bytes[k] += operands[k]->loopStep[l] * (count - 1);
    }
  }
  if (draw.oneIn(6) && !indexed && width[0] == width[2]) { // in place, exactly or shifted
    op.a = op.dst;
    if (draw.oneIn(2)) {
      op.a.base = Affine(op.dst.base.constant + width[0] * draw.upTo(3));
      program.bytes[2] += 3 * width[0];
    }
  }
  if (draw.oneIn(8) && !indexed && width[1] == width[2]) { // also b, or all of it one element of dst
    op.b = op.dst;
    if (draw.oneIn(2))
      op.b.stride = {};
  }
  if (info.sources < 2)
    op.b = Operand{};
  if (indexed) // space to choose from
    program.bytes[op.opcode == Opcode::Gather ? 0 : 2] += width[2] * draw.upTo(20);

  // Operands elsewhere than in memory.
  const int64_t elements = extent[0] * extent[1] * extent[2] * extent[3];
  std::vector<Instruction> fill;
  for (int k = 0; k < 2; ++k) {
    Operand &operand = *operands[k];
    if (operand.kind != OperandKind::Memory || operand.buffer != k || (k == 0 && op.opcode == Opcode::Gather) ||
        !draw.oneIn(4))
      continue;
    const bool immediate = draw.oneIn(3) && !(k == 1 && indexed);
    if (immediate) {
      operand = Operand{};
      operand.kind = OperandKind::Immediate;
      operand.immediate = double(draw.upTo(600) - 300) / 4;
    } else if (draw.oneIn(2)) {
      operand = queue(k);
      program.words[k] = trips * ((elements * width[k] + 3) / 4);
    } else {
      operand = memory(k);
      operand.kind = OperandKind::Fifo;
      program.bytes[k] = trips * elements * width[k];
      fill.push_back(move(operand, queue(k), trips * elements, types[k]));
      program.words[k] = (program.bytes[k] + 3) / 4;
    }
  }
  if (!info.readsDst && op.opcode != Opcode::Scatter && draw.oneIn(5)) {
    const bool used = op.a.kind == OperandKind::Memory && op.a.buffer == 2;
    if (!used) {
      op.dst = draw.oneIn(4) ? Operand{} : queue(3);
      if (op.dst.kind == OperandKind::None)
        op.dst.kind = OperandKind::Null;
      else
        program.words[3] = trips * ((elements * width[2] + 3) / 4);
    }
  }
  nest.push_back(op);
  for (int l = 0; l < loops; ++l)
    nest.push_back(control(Opcode::EndLoop));

  Executable &e = program.executable;
  e.target.rows = e.target.cols = 1;
  e.target.colours = 24;
  e.configurations.resize(1);
  Configuration &config = e.configurations[0];
  Role role;
  role.name = "core";
  Entry entry;
  entry.name = "main";
  Thread thread;
  for (int k = 0; k < 3; ++k) {
    Buffer buffer;
    buffer.name = "b" + std::to_string(k);
    program.bytes[k] = (program.bytes[k] + 3) / 4 * 4;
    buffer.bytes = program.bytes[k];
    buffer.type = types[k];
    if (k < 2 && operands[k]->kind == OperandKind::Fifo) {
      buffer.kind = BufferKind::Fifo;
      buffer.bytes = (program.bytes[k] + 7) / 8 * 8;
    }
    role.buffers.push_back(buffer);
    if (program.words[k] > 0 || buffer.kind == BufferKind::Fifo)
      continue;
    program.words[k] = program.bytes[k] / 4;
    Operand whole = memory(k);
    whole.stride[3] = 4;
    fill.push_back(move(whole, queue(k), program.words[k]));
  }
  Operand whole = memory(2);
  whole.stride[3] = 4;
  program.words[3] += program.bytes[2] / 4;
  thread = fill;
  thread.insert(thread.end(), nest.begin(), nest.end());
  thread.push_back(move(queue(3), whole, program.bytes[2] / 4));
  role.threads = {thread};
  const Port sides[4] = {Port::West, Port::North, Port::South, Port::East};
  for (int k = 0; k < 4; ++k) {
    const bool output = k == 3;
    role.queues.push_back({output, uint8_t(k), uint8_t(output ? 0 : k)});
    RouterRole router;
    router.colour = uint8_t(k);
    router.positions = {output ? SwitchPosition{Port::Ramp, PortMask(1 << int(Port::East))}
                               : SwitchPosition{sides[k], PortMask(1 << int(Port::Ramp))}};
    config.routers.push_back(router);
    IoBinding binding;
    binding.output = output;
    binding.tensor = output ? 0 : k;
    binding.side = sides[k];
    binding.colour = uint8_t(k);
    binding.extent[3] = Affine(program.words[k]);
    binding.stride[3] = 1;
    config.io.push_back(binding);
    (output ? entry.outputs : entry.inputs).push_back({"t" + std::to_string(k), ElementType::F32, {program.words[k]}});
  }
  config.roles.push_back(role);
  entry.steps = {{StepKind::Run, 0, {}}};
  e.entries.push_back(entry);
  return program;
}

// Words full of elements of the type that operand k has.
std::vector<std::byte> drawWords(Draw &draw, const Program &program, int k) {
  const ElementType type = k == 2 ? program.op.type : operandType(program.op, k == 0 ? OperandSlot::A : OperandSlot::B);
  std::vector<std::byte> bytes(size_t(program.words[k] * 4));
  const int64_t width = elementBytes(type);
  const bool numbers =
      k == 1 && type == ElementType::I32 && program.op.type != ElementType::I32; // of Gather and Scatter
  const bool follow = numbers && draw.oneIn(3); // one another, from before the first element or beyond the last one on
  const int64_t start = follow ? draw.upTo(60) - 25 : 0;
  for (int64_t i = 0; (i + 1) * width <= int64_t(bytes.size()); ++i) {
    const uint64_t bits = follow    ? uint64_t(start + i + (draw.oneIn(200) ? 1 : 0))
                          : numbers ? uint64_t(draw.upTo(60) - 5)
                                    : draw.element(type);
    std::memcpy(bytes.data() + i * width, &bits, size_t(width)); // a bool may be any byte
  }
  return bytes;
}

// The instruction and its loops, for messages.
std::string describe(const Program &program) {
  const Instruction &op = program.op;
  std::string text(opcodeInfo(op.opcode).name);
  for (ElementType type : {op.type, typeOfA(op)})
    text += " " + std::string(elementTypeName(type));
  text += " over";
  for (const Affine &extent : op.extent)
    text += " " + std::to_string(extent.constant);
  for (const Instruction &loop : program.executable.configurations[0].roles[0].threads[0])
    if (loop.opcode == Opcode::Loop)
      text += ", loop of " + std::to_string(loop.extent[0].constant);
  for (const Operand *operand : {&op.dst, &op.a, &op.b}) {
    text += "; operand kind " + std::to_string(int(operand->kind)) + " buffer " + std::to_string(operand->buffer) +
            " base " + std::to_string(operand->base.constant) + " strides";
    for (int32_t stride : operand->stride)
      text += " " + std::to_string(stride);
    text += " steps";
    for (int32_t step : operand->loopStep)
      text += " " + std::to_string(step);
  }
  return text;
}

// All CPU levels and the scalar way of the engine give what the interpreter does.
void expectAgreement(Draw &draw, const Program &program) {
  const Role &role = program.executable.configurations[0].roles[0];
  std::vector<HostTensor> inputs(3);
  std::vector<std::vector<std::byte>> received(4);
  for (int k = 0; k < 3; ++k)
    received[k] = inputs[k].bytes = drawWords(draw, program, k);
  auto image = initialImage(program.executable, role, {});
  ASSERT_TRUE(image.ok()) << image.status();
  auto want = interpretCore(program.executable, role, {}, *image, received);
  ASSERT_TRUE(want.ok()) << want.status();
  for (const char *cpu : {"portable", "avx2", "avx512", "element by element"}) {
    setenv("WSC_CPU", cpu, 1);
    auto engine = CoreEngine::create(program.executable, {1, *cpu == 'e' ? Schedule::Worklist : Schedule::Units});
    unsetenv("WSC_CPU");
    ASSERT_TRUE(engine.ok()) << engine.status();
    auto got = (*engine)->run(0, inputs);
    ASSERT_TRUE(got.ok()) << got.status();
    ASSERT_TRUE((*got)[0].bytes == want->queueWords[3]) << cpu;
  }
}

uint32_t firstSeed() {
  const uint32_t first = std::getenv("WSC_SEED") ? uint32_t(std::atoi(std::getenv("WSC_SEED"))) : 20260;
  std::printf("WSC_SEED=%u\n", first);
  return first;
}

} // namespace

TEST(RandomInstruction, AgreesWithInterpreter) {
  const uint32_t first = firstSeed();
  int nests = 0;
  for (uint32_t seed = first; seed < first + 6000 && !HasFailure(); ++seed) {
    Draw draw(seed);
    draw.rareSpecials = seed % 3 == 0;
    const Program program = makeProgram(draw);
    SCOPED_TRACE("WSC_SEED=" + std::to_string(seed) + " " + describe(program));
    nests += std::ranges::any_of(program.executable.configurations[0].roles[0].threads[0],
                                 [](const Instruction &i) { return i.opcode == Opcode::Loop; });
    expectAgreement(draw, program);
  }
  EXPECT_GT(nests, 500);
}

// Gathers whose number stands still along their rows: inside the buffer they copy, beyond its end they repeat the last
// element.
TEST(RandomInstruction, GathersOfOneNumber) {
  const uint32_t first = firstSeed();
  for (uint32_t seed = first; seed < first + 2000 && !HasFailure(); ++seed) {
    Draw draw(seed);
    const Program program = makeProgram(draw, NumbersVary{{true, true, false, false}});
    SCOPED_TRACE("WSC_SEED=" + std::to_string(seed) + " " + describe(program));
    expectAgreement(draw, program);
  }
}

// Gathers whose rows all take the same numbers.
TEST(RandomInstruction, GathersOfTheSameNumbers) {
  const uint32_t first = firstSeed();
  for (uint32_t seed = first; seed < first + 2000 && !HasFailure(); ++seed) {
    Draw draw(seed);
    const Program program = makeProgram(draw, NumbersVary{{false, false, false, true}});
    SCOPED_TRACE("WSC_SEED=" + std::to_string(seed) + " " + describe(program));
    expectAgreement(draw, program);
  }
}
