// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs off the main road: cores that wait for each other in circles, threads that do, packed narrow elements,
// state, extents that differ from core to core, scattered words.
#include "runtime/emulator/CoreEngine.h"
#include "test/unit/emulator/TinyMesh.h"

#include <cstring>
#include <gtest/gtest.h>

using namespace wsc::format;
using namespace wsc::emulator;
using namespace wsc::testing;

namespace {

template <typename T> HostTensor tensor(const std::vector<T> &v) {
  const auto *bytes = reinterpret_cast<const std::byte *>(v.data());
  return {{bytes, bytes + v.size() * sizeof(T)}};
}
template <typename T> std::vector<T> values(const HostTensor &t) {
  std::vector<T> v(t.bytes.size() / sizeof(T));
  std::memcpy(v.data(), t.bytes.data(), t.bytes.size());
  return v;
}

template <typename T> void expectRun(const Executable &e, const std::vector<T> &in, const std::vector<T> &want) {
  for (Schedule schedule : {Schedule::Units, Schedule::Waves, Schedule::Worklist}) {
    auto engine = CoreEngine::create(e, {2, schedule});
    ASSERT_TRUE(engine.ok()) << engine.status();
    for (int sample = 0; sample < 2; ++sample) {
      auto got = (*engine)->run(0, std::vector<HostTensor>{tensor(in)});
      ASSERT_TRUE(got.ok()) << got.status();
      EXPECT_EQ(values<T>((*got)[0]), want);
    }
  }
}

void addRouter(Executable &e, int col, int colour, Port input, std::initializer_list<Port> outputs) {
  e.configurations[0].routers.push_back({rowOf(0, col, 1), uint8_t(colour), -1, {from(input, outputs)}});
}

} // namespace

TEST(SpecialPrograms, TwoCoresInACircle) {
  // Core 0 adds 1 to each element and sends it to core 1, which doubles it and sends it back; element k+1 of core 0's
  // instruction needs element k's answer.
  Executable e = tinyMesh(1, 2);
  Configuration &c = e.configurations[0];
  e.entries[0].inputs = {{"x", ElementType::F32, {1}}};
  e.entries[0].outputs = {{"y", ElementType::F32, {1}}};
  Role a;
  a.name = "a";
  a.cores = rowOf(0, 0, 1);
  a.buffers = {scratch(4)};
  a.queues = {{false, 0, 0}, {true, 1, 0}, {false, 2, 1}, {true, 3, 1}};
  Operand one;
  one.kind = OperandKind::Immediate;
  one.immediate = 1;
  a.threads = {{vectorOp(Opcode::Move, 1, queueOperand(1), queueOperand(0)),
                vectorOp(Opcode::Add, 4, queueOperand(1), queueOperand(2), one),
                vectorOp(Opcode::Move, 1, queueOperand(3), queueOperand(2))}};
  Role b;
  b.name = "b";
  b.cores = rowOf(0, 1, 1);
  b.queues = {{false, 1, 0}, {true, 2, 0}};
  one.immediate = 2;
  b.threads = {{vectorOp(Opcode::Mul, 5, queueOperand(1), queueOperand(0), one)}};
  c.roles = {a, b};
  addRouter(e, 0, 0, Port::West, {Port::Ramp});
  addRouter(e, 0, 1, Port::Ramp, {Port::East});
  addRouter(e, 1, 1, Port::West, {Port::Ramp});
  addRouter(e, 1, 2, Port::Ramp, {Port::West});
  addRouter(e, 0, 2, Port::East, {Port::Ramp});
  addRouter(e, 0, 3, Port::Ramp, {Port::West});
  c.io = {lane(false, 0, Port::West, 0, 0, 0, 1), lane(true, 0, Port::West, 0, 0, 3, 1)};
  float want = 3; // 5 doublings with 4 additions between
  for (int k = 0; k < 5; ++k)
    want = (k ? want + 1 : want) * 2;
  expectRun<float>(e, {3}, {want});
}

TEST(SpecialPrograms, ThreadsInACircle) {
  // Thread 0 sends elements through one FIFO to thread 1 and takes them back from another, one behind.
  Executable e = tinyMesh(1, 1);
  Configuration &c = e.configurations[0];
  e.entries[0].inputs = {{"x", ElementType::F32, {6}}};
  e.entries[0].outputs = {{"y", ElementType::F32, {6}}};
  Role role;
  role.name = "core";
  role.cores = rowOf(0, 0, 1);
  role.buffers = {scratch(8), scratch(8), scratch(4)};
  role.buffers[0].kind = role.buffers[1].kind = BufferKind::Fifo;
  role.queues = {{false, 0, 0}, {true, 1, 0}};
  Operand there = memoryOperand(0, 0), back = memoryOperand(1, 0), two;
  there.kind = back.kind = OperandKind::Fifo;
  two.kind = OperandKind::Immediate;
  two.immediate = 2;
  Instruction loop, end;
  loop.opcode = Opcode::Loop;
  loop.extent[0] = Affine(6);
  end.opcode = Opcode::EndLoop;
  role.threads = {
      {loop, vectorOp(Opcode::Move, 1, there, queueOperand(0)), vectorOp(Opcode::Move, 1, queueOperand(1), back), end},
      {vectorOp(Opcode::Mul, 6, back, there, two)}};
  c.roles = {role};
  addRouter(e, 0, 0, Port::West, {Port::Ramp});
  addRouter(e, 0, 1, Port::Ramp, {Port::East});
  c.io = {lane(false, 0, Port::West, 0, 0, 0, 6), lane(true, 0, Port::East, 0, 0, 1, 6)};
  expectRun<float>(e, {1, 2, 3, 4, 5, 6}, {2, 4, 6, 8, 10, 12});
}

TEST(SpecialPrograms, LoopsInACircle) {
  // Both threads come back to the instruction they waited at, an iteration on: that is progress, too.
  Executable e = tinyMesh(1, 1);
  Configuration &c = e.configurations[0];
  e.entries[0].inputs = {{"x", ElementType::F32, {6}}};
  e.entries[0].outputs = {{"y", ElementType::F32, {6}}};
  Role role;
  role.name = "core";
  role.cores = rowOf(0, 0, 1);
  role.buffers = {scratch(4), scratch(4)};
  role.buffers[0].kind = role.buffers[1].kind = BufferKind::Fifo;
  role.queues = {{false, 0, 0}, {true, 1, 0}};
  Operand there = memoryOperand(0, 0), back = memoryOperand(1, 0), two;
  there.kind = back.kind = OperandKind::Fifo;
  two.kind = OperandKind::Immediate;
  two.immediate = 2;
  Instruction loop, end;
  loop.opcode = Opcode::Loop;
  loop.extent[0] = Affine(6);
  end.opcode = Opcode::EndLoop;
  role.threads = {
      {loop, vectorOp(Opcode::Move, 1, there, queueOperand(0)), vectorOp(Opcode::Move, 1, queueOperand(1), back), end},
      {loop, vectorOp(Opcode::Mul, 1, back, there, two), end}};
  c.roles = {role};
  addRouter(e, 0, 0, Port::West, {Port::Ramp});
  addRouter(e, 0, 1, Port::Ramp, {Port::East});
  c.io = {lane(false, 0, Port::West, 0, 0, 0, 6), lane(true, 0, Port::East, 0, 0, 1, 6)};
  expectRun<float>(e, {1, 2, 3, 4, 5, 6}, {2, 4, 6, 8, 10, 12});
}

TEST(SpecialPrograms, PackedBytesAndGather) {
  // Five bytes arrive packed in two words, are gathered in reverse by an index buffer and leave packed again.
  Executable e = tinyMesh(1, 1);
  Configuration &c = e.configurations[0];
  e.entries[0].inputs = {{"x", ElementType::U8, {5}}};
  e.entries[0].outputs = {{"y", ElementType::U8, {5}}};
  static const int32_t order[5] = {4, 3, 2, 1, 99}; // the last is clamped to 4
  e.sections.push_back({"order", std::as_bytes(std::span(order))});
  Role role;
  role.name = "core";
  role.cores = rowOf(0, 0, 1);
  role.buffers = {scratch(5), scratch(5), scratch(20)};
  role.buffers[2].kind = BufferKind::Constant;
  role.buffers[2].section = 0;
  role.queues = {{false, 0, 0}, {true, 1, 0}};
  role.threads = {{vectorOp(Opcode::Move, 5, memoryOperand(0, 1), queueOperand(0)),
                   vectorOp(Opcode::Gather, 5, memoryOperand(1, 1), memoryOperand(0, 1), memoryOperand(2, 4)),
                   vectorOp(Opcode::Move, 5, queueOperand(1), memoryOperand(1, 1))}};
  for (Instruction &i : role.threads[0])
    i.type = ElementType::U8;
  c.roles = {role};
  addRouter(e, 0, 0, Port::West, {Port::Ramp});
  addRouter(e, 0, 1, Port::Ramp, {Port::East});
  c.io = {lane(false, 0, Port::West, 0, 0, 0, 5), lane(true, 0, Port::East, 0, 0, 1, 5)};
  expectRun<uint8_t>(e, {10, 20, 30, 40, 50}, {50, 40, 30, 20, 50});
}

TEST(SpecialPrograms, StateSurvivesSamples) {
  Executable e = tinyMesh(1, 1);
  Configuration &c = e.configurations[0];
  e.entries[0].inputs = {{"x", ElementType::F32, {3}}};
  e.entries[0].outputs = {{"y", ElementType::F32, {3}}};
  static const float initial[3] = {100, 200, 300};
  e.sections.push_back({"initial", std::as_bytes(std::span(initial))});
  e.states.push_back({{"sum", ElementType::F32, {3}}, 0});
  Role role;
  role.name = "core";
  role.cores = rowOf(0, 0, 1);
  role.buffers = {scratch(12)};
  role.buffers[0].kind = BufferKind::State;
  role.buffers[0].state = 0;
  role.queues = {{false, 0, 0}, {true, 1, 0}};
  role.threads = {{vectorOp(Opcode::Add, 3, memoryOperand(0, 4), queueOperand(0), memoryOperand(0, 4)),
                   vectorOp(Opcode::Move, 3, queueOperand(1), memoryOperand(0, 4))}};
  c.roles = {role};
  StateBinding binding;
  binding.extent[3] = 3;
  binding.stride[3] = -1; // the core holds it in reverse
  binding.hostOffset = Affine(2);
  c.stateBindings = {binding};
  addRouter(e, 0, 0, Port::West, {Port::Ramp});
  addRouter(e, 0, 1, Port::Ramp, {Port::East});
  c.io = {lane(false, 0, Port::West, 0, 0, 0, 3), lane(true, 0, Port::East, 0, 0, 1, 3)};
  for (Schedule schedule : {Schedule::Units, Schedule::Waves, Schedule::Worklist}) {
    auto engine = CoreEngine::create(e, {1, schedule});
    ASSERT_TRUE(engine.ok()) << engine.status();
    const std::vector<HostTensor> x{tensor<float>({1, 2, 3})};
    std::vector<HostTensor> outputs;
    EXPECT_EQ(values<float>((*(*engine)->run(0, x))[0]), (std::vector<float>{301, 202, 103}));
    const CorePlace core{0, 0, 0, {}};
    auto traces = (*engine)->runTraced(0, x, std::span(&core, 1), outputs); // tracing runs a sample like any other
    ASSERT_TRUE(traces.ok()) << traces.status();
    EXPECT_EQ(values<float>(outputs[0]), (std::vector<float>{302, 204, 106}));
    EXPECT_EQ((*traces)[0].buffersBefore[0], tensor<float>({301, 202, 103}).bytes);
    EXPECT_EQ((*traces)[0].buffersAfter[0], tensor<float>({302, 204, 106}).bytes);
    EXPECT_EQ(values<float>((*engine)->readState(0)), (std::vector<float>{106, 204, 302}));
    ASSERT_TRUE((*engine)->writeState(0, tensor<float>({0, 0, 0})).ok());
    EXPECT_EQ(values<float>((*(*engine)->run(0, x))[0]), (std::vector<float>{1, 2, 3}));
    EXPECT_FALSE((*engine)->writeState(0, tensor<float>({0})).ok());
  }
}

TEST(SpecialPrograms, RaggedExtents) {
  // Core k of a row takes 3 - k words from the north, multiplies by 2 into an accumulator over two loop trips, and
  // sends them south.
  Executable e = tinyMesh(1, 3);
  Configuration &c = e.configurations[0];
  e.entries[0].inputs = {{"x", ElementType::F32, {6}}};
  e.entries[0].outputs = {{"y", ElementType::F32, {6}}};
  Affine n(3);
  n.perDim[3] = -1;
  Role role;
  role.name = "core";
  role.cores = rowOf(0, 0, 3);
  role.buffers = {scratch(12), scratch(12), scratch(4)};
  role.queues = {{false, 0, 0}, {true, 1, 0}};
  Operand zero, two;
  zero.kind = two.kind = OperandKind::Immediate;
  two.immediate = 2;
  Instruction loop, end;
  loop.opcode = Opcode::Loop;
  loop.extent[0] = Affine(2);
  end.opcode = Opcode::EndLoop;
  role.threads = {{vectorOp(Opcode::Move, n, memoryOperand(0, 4), queueOperand(0)),
                   vectorOp(Opcode::Move, n, memoryOperand(1, 4), zero),
                   vectorOp(Opcode::Move, 1, memoryOperand(2, 4), two), loop,
                   vectorOp(Opcode::Fma, n, memoryOperand(1, 4), memoryOperand(0, 4), memoryOperand(2, 0)), end,
                   vectorOp(Opcode::Move, n, queueOperand(1), memoryOperand(1, 4))}};
  c.roles = {role};
  c.routers.push_back({rowOf(0, 0, 3), 0, -1, {from(Port::North, {Port::Ramp})}});
  c.routers.push_back({rowOf(0, 0, 3), 1, -1, {from(Port::Ramp, {Port::South})}});
  for (bool output : {false, true}) {
    IoBinding binding = lane(output, 0, output ? Port::South : Port::North, 0, 0, output, 1);
    binding.ports = rowOf(0, 0, 3);
    binding.extent[3] = n;
    binding.hostOffset.perDim[3] = 2;
    c.io.push_back(binding);
  }
  expectRun<float>(e, {1, 2, 3, 4, 5, 6}, {4, 8, 12, 16, 20, 0}); // element 5 belongs to no lane
}

TEST(SpecialPrograms, InterleavedScatterAndGather) {
  // Cores 0 and 1 take turns on one stream to the east edge: 0, 1, 0, 1. The sink's words are not one stretch per
  // source.
  Executable e = tinyMesh(1, 2);
  Configuration &c = e.configurations[0];
  e.entries[0].inputs = {{"x", ElementType::F32, {8}}};
  e.entries[0].outputs = {{"y", ElementType::F32, {8}}};
  for (int k = 0; k < 2; ++k) {
    Role role;
    role.name = k ? "right" : "left";
    role.cores = rowOf(0, k, 1);
    role.buffers = {scratch(16)};
    role.queues = {{false, 0, 0}, {true, 1, 0}};
    role.threads = {{vectorOp(Opcode::Move, 4, memoryOperand(0, 4), queueOperand(0)),
                     vectorOp(Opcode::Move, 2, queueOperand(1), memoryOperand(0, 4)), control(1, 1),
                     vectorOp(Opcode::Move, 2, queueOperand(1), memoryOperand(0, 4, 8)), control(1, 1)}};
    c.roles.push_back(role);
    c.io.push_back(lane(false, 0, Port::North, 0, k, 0, 4));
    c.io.back().hostOffset = Affine(4 * k);
  }
  c.routers.push_back({rowOf(0, 0, 2), 0, -1, {from(Port::North, {Port::Ramp})}});
  c.routers.push_back({rowOf(0, 0, 1), 1, -1, {from(Port::Ramp, {Port::East})}});
  c.routers.push_back({rowOf(0, 1, 1), 1, -1, {from(Port::West, {Port::East}), from(Port::Ramp, {Port::East})}});
  c.io.push_back(lane(true, 0, Port::East, 0, 1, 1, 8));
  expectRun<float>(e, {0, 1, 2, 3, 10, 11, 12, 13}, {0, 1, 10, 11, 2, 3, 12, 13});
}

TEST(SpecialPrograms, ADeadlockIsAnError) {
  Executable e = tinyMesh(1, 1);
  Configuration &c = e.configurations[0];
  e.entries[0].outputs = {{"y", ElementType::F32, {1}}};
  Role role;
  role.name = "core";
  role.cores = rowOf(0, 0, 1);
  role.buffers = {scratch(4)};
  role.buffers[0].kind = BufferKind::Fifo;
  role.queues = {{true, 1, 0}};
  Operand ring = memoryOperand(0, 0);
  ring.kind = OperandKind::Fifo;
  role.threads = {
      {vectorOp(Opcode::Move, 1, queueOperand(0), ring), vectorOp(Opcode::Move, 1, ring, memoryOperand(0, 0))}};
  role.threads[0][1].a.kind = OperandKind::Immediate;
  c.roles = {role};
  addRouter(e, 0, 1, Port::Ramp, {Port::East});
  c.io = {lane(true, 0, Port::East, 0, 0, 1, 1)};
  auto engine = CoreEngine::create(e, {1, Schedule::Worklist});
  ASSERT_TRUE(engine.ok()) << engine.status();
  auto got = (*engine)->run(0, {});
  ASSERT_FALSE(got.ok());
  EXPECT_NE(std::string(got.status().message()).find("waits at instruction 0"), std::string::npos) << got.status();

  // A FIFO that keeps an element is seen by the unit schedule.
  role.threads = {
      {vectorOp(Opcode::Move, 2, ring, role.threads[0][1].a), vectorOp(Opcode::Move, 1, queueOperand(0), ring)}};
  c.roles = {role};
  engine = CoreEngine::create(e, {1, Schedule::Units});
  ASSERT_TRUE(engine.ok()) << engine.status();
  EXPECT_FALSE((*engine)->run(0, {}).ok());
}
