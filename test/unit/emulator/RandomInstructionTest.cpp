// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Property test: one random instruction under random loops on a single core, by the engine on every CPU level against the scalar interpreter. Shapes,
// strides, broadcasts, permuted and strided layouts, in-place operands and special values are drawn from a printed seed.
#include "runtime/emulator/CoreEngine.h"
#include "runtime/emulator/Interpreter.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <numeric>
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
  float value() {
    static const uint32_t special[] = {0x7fc00000, 0xffc00001, 0x7f800000, 0xff800000, 0x80000000, 0, 1, 0x007fffff, 0x7f7fffff};
    if (rareSpecials && oneIn(200))
      return std::bit_cast<float>(special[upTo(8)]);
    return float(upTo(2000) - 1000) / 64 * (oneIn(10) ? 1e-20f : 1);
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
Instruction move(Operand dst, Operand a, int64_t n) {
  Instruction i;
  i.extent[3] = Affine(n);
  i.dst = dst;
  i.a = a;
  return i;
}

// Strides (bytes) of a packed layout in a random order of dimensions, optionally spaced out; returns the elements it spans.
int64_t layOut(Draw &draw, const std::array<int64_t, 4> &extent, const std::array<bool, 4> &varies, std::array<int32_t, 4> &stride) {
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
    stride[d] = int32_t(at * 4);
    span += at * (extent[d] - 1);
    at = at * extent[d] + (draw.oneIn(3) ? first * draw.upTo(3) : 0);
  }
  return span;
}

struct Program {
  Executable executable;
  int64_t sizes[3];
};

const Opcode kOpcodes[] = {Opcode::Fma,       Opcode::Fma,       Opcode::Fma,       Opcode::Fma,      Opcode::Fma,  Opcode::Fma,        Opcode::ReduceMax,
                           Opcode::ReduceMin, Opcode::ReduceAdd, Opcode::ReduceMul, Opcode::Add,      Opcode::Sub,  Opcode::Mul,        Opcode::Div,
                           Opcode::Max,       Opcode::Min,       Opcode::Exp,       Opcode::Tanh,     Opcode::Move, Opcode::CompareLt, Opcode::Select,
                           Opcode::Sqrt,      Opcode::Sigmoid,   Opcode::Neg,       Opcode::Floor};

Program makeProgram(Draw &draw) {
  Program program;
  Instruction op;
  op.opcode = kOpcodes[draw.upTo(int(std::size(kOpcodes)) - 1)];
  const bool reduce = op.opcode >= Opcode::ReduceAdd && op.opcode <= Opcode::ReduceMax;
  const bool usesB = opcodeInfo(op.opcode).sources == 2;
  std::array<int64_t, 4> extent;
  std::array<bool, 4> varies[3];
  for (int d = 0; d < 4; ++d) {
    extent[d] = draw.oneIn(2) ? 1 : 1 + draw.upTo(d == 3 ? 40 : 6);
    op.extent[d] = Affine(extent[d]);
    varies[0][d] = !(reduce && draw.oneIn(3));
    varies[1][d] = draw.upTo(2) > 0;
    varies[2][d] = draw.upTo(2) > 0;
  }
  op.dst = memory(2);
  op.a = memory(0);
  op.b = usesB ? memory(1) : Operand{};
  program.sizes[2] = layOut(draw, extent, varies[0], op.dst.stride);
  program.sizes[0] = layOut(draw, extent, varies[1], op.a.stride);
  program.sizes[1] = layOut(draw, extent, varies[2], op.b.stride);
  if (!usesB)
    op.b = Operand{};
  const int loops = draw.upTo(3);
  std::vector<Instruction> nest;
  for (int l = 0; l < loops; ++l) {
    Instruction loop;
    loop.opcode = Opcode::Loop;
    const int64_t trips = 1 + draw.upTo(4);
    loop.extent[0] = Affine(trips);
    for (int k = 0; k < 3; ++k) {
      Operand &operand = k == 0 ? op.a : k == 1 ? op.b : op.dst;
      if (operand.kind != OperandKind::Memory || (k == 2 && !draw.oneIn(8)))
        continue;
      operand.loopStep[l] = 4 * draw.upTo(5);
      program.sizes[k] += operand.loopStep[l] / 4 * (trips - 1);
    }
    nest.push_back(loop);
  }
  if (draw.oneIn(6) && !reduce) { // in place, exactly or shifted
    op.a = op.dst;
    if (draw.oneIn(2)) {
      op.a.base = Affine(4 * draw.upTo(3));
      program.sizes[2] += 3;
    }
  }
  nest.push_back(op);
  for (int l = 0; l < loops; ++l) {
    Instruction end;
    end.opcode = Opcode::EndLoop;
    nest.push_back(end);
  }

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
  const Port sides[4] = {Port::West, Port::North, Port::South, Port::East};
  for (int k = 0; k < 4; ++k) {
    const int64_t n = program.sizes[k == 3 ? 2 : k];
    role.queues.push_back({k == 3, uint8_t(k), uint8_t(k == 3 ? 0 : k)});
    RouterRole router;
    router.colour = uint8_t(k);
    router.positions = {k == 3 ? SwitchPosition{Port::Ramp, PortMask(1 << int(Port::East))}
                               : SwitchPosition{sides[k], PortMask(1 << int(Port::Ramp))}};
    config.routers.push_back(router);
    IoBinding binding;
    binding.output = k == 3;
    binding.tensor = k == 3 ? 0 : k;
    binding.side = sides[k];
    binding.colour = uint8_t(k);
    binding.extent[3] = Affine(n);
    binding.stride[3] = 1;
    config.io.push_back(binding);
    (k == 3 ? entry.outputs : entry.inputs).push_back({"t" + std::to_string(k), ElementType::F32, {n}});
    if (k < 3) {
      Buffer buffer;
      buffer.name = "b" + std::to_string(k);
      buffer.bytes = n * 4;
      role.buffers.push_back(buffer);
      Operand whole = memory(k);
      whole.stride[3] = 4;
      thread.push_back(move(whole, queue(k), n));
    }
  }
  thread.insert(thread.end(), nest.begin(), nest.end());
  Operand whole = memory(2);
  whole.stride[3] = 4;
  thread.push_back(move(queue(3), whole, program.sizes[2]));
  role.threads = {thread};
  config.roles.push_back(role);
  entry.steps = {{StepKind::Run, 0, {}}};
  e.entries.push_back(entry);
  return program;
}

} // namespace

TEST(RandomInstruction, AgreesWithInterpreter) {
  const uint32_t first = std::getenv("WSC_SEED") ? uint32_t(std::atoi(std::getenv("WSC_SEED"))) : 20260;
  int nests = 0;
  for (uint32_t seed = first; seed < first + 1500; ++seed) {
    SCOPED_TRACE("WSC_SEED=" + std::to_string(seed));
    Draw draw(seed);
    draw.rareSpecials = seed % 3 == 0;
    Program program = makeProgram(draw);
    const Role &role = program.executable.configurations[0].roles[0];
    std::vector<HostTensor> inputs(3);
    std::vector<std::vector<std::byte>> received(4);
    for (int k = 0; k < 3; ++k) {
      inputs[k].bytes.resize(size_t(program.sizes[k] * 4));
      for (int64_t i = 0; i < program.sizes[k]; ++i) {
        const float x = draw.value();
        std::memcpy(inputs[k].bytes.data() + i * 4, &x, 4);
      }
      received[k] = inputs[k].bytes;
    }
    auto image = initialImage(program.executable, role, {});
    ASSERT_TRUE(image.ok()) << image.status();
    auto want = interpretCore(program.executable, role, {}, *image, received);
    ASSERT_TRUE(want.ok()) << want.status();
    nests += role.threads[0][3].opcode == Opcode::Loop;
    for (const char *cpu : {"portable", "avx2", "avx512"}) {
      setenv("WSC_CPU", cpu, 1);
      auto engine = CoreEngine::create(program.executable, {1, Schedule::Units});
      unsetenv("WSC_CPU");
      ASSERT_TRUE(engine.ok()) << engine.status();
      auto got = (*engine)->run(0, inputs);
      ASSERT_TRUE(got.ok()) << got.status();
      ASSERT_EQ((*got)[0].bytes, want->queueWords[3]) << cpu << " " << opcodeInfo(role.threads[0][3].opcode).name;
    }
  }
  EXPECT_GT(nests, 500);
}
