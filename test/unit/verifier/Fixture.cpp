// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds the executables of Fixture.h.
#include "Fixture.h"

#include <gtest/gtest.h>

namespace wsc::format::fixture {

constexpr int64_t kData = 8192; // first byte of buffers: above runtime, stack and code

Operand memory(int buffer, int stride, Affine base) {
  Operand operand;
  operand.kind = OperandKind::Memory;
  operand.buffer = int16_t(buffer);
  operand.base = base;
  operand.stride[kMaxDims - 1] = stride;
  return operand;
}

Operand fifo(int buffer) {
  Operand operand;
  operand.kind = OperandKind::Fifo;
  operand.buffer = int16_t(buffer);
  return operand;
}

Operand queue(int index) {
  Operand operand;
  operand.kind = OperandKind::Queue;
  operand.queue = int16_t(index);
  return operand;
}

Operand immediate(double value) {
  Operand operand;
  operand.kind = OperandKind::Immediate;
  operand.immediate = value;
  return operand;
}

Operand discard() {
  Operand operand;
  operand.kind = OperandKind::Null;
  return operand;
}

Instruction instruction(Opcode opcode, Affine count, Operand dst, Operand a, Operand b) {
  Instruction result;
  result.opcode = opcode;
  result.extent[kMaxDims - 1] = count;
  result.dst = dst;
  result.a = a;
  result.b = b;
  return result;
}

Instruction loop(Affine trips) {
  Instruction result;
  result.opcode = Opcode::Loop;
  result.extent[0] = trips;
  return result;
}

Instruction endLoop() {
  Instruction result;
  result.opcode = Opcode::EndLoop;
  return result;
}

Instruction control(int index, int count) {
  Instruction result = instruction(Opcode::SendControl, 1, queue(index));
  result.controlCount = uint8_t(count);
  return result;
}

Lattice cores(int row, int col, int rows, int cols) {
  Lattice lattice;
  lattice.row = row;
  lattice.col = col;
  lattice.dims[2] = {rows, 1, 0};
  lattice.dims[3] = {cols, 0, 1};
  return lattice;
}

Buffer scratch(std::string name, int64_t address, int64_t bytes) {
  Buffer buffer;
  buffer.name = std::move(name);
  buffer.address = address;
  buffer.bytes = bytes;
  return buffer;
}

RouterRole router(Lattice where, int colour, int net, std::vector<SwitchPosition> positions) {
  RouterRole role;
  role.routers = where;
  role.colour = uint8_t(colour);
  role.net = net;
  role.positions = std::move(positions);
  return role;
}

target::Target meshTarget(const std::string &name) {
  auto target = target::loadTarget(name);
  EXPECT_TRUE(target.ok()) << target.status().ToString();
  return *target;
}

void addSection(Executable &executable, const std::string &name, size_t bytes) {
  auto storage = std::make_shared<std::vector<std::vector<std::byte>>>();
  if (executable.storage)
    storage = std::const_pointer_cast<std::vector<std::vector<std::byte>>>(
        std::static_pointer_cast<const std::vector<std::vector<std::byte>>>(executable.storage));
  storage->emplace_back(bytes);
  executable.storage = storage;
  executable.sections.push_back({name, storage->back()});
}

static Affine perColumn(int64_t constant, int64_t step) {
  Affine affine = constant;
  affine.perDim[kMaxDims - 1] = step;
  return affine;
}

// A core of the gather: takes 16 words, multiplies them with its weights onto a sum, sends `words` of it, then the
// control word.
static Role worker(const std::string &name, Lattice where, int firstSection, Affine words, int controlCount) {
  Role role;
  role.name = name;
  role.kernel = 0;
  role.cores = where;
  Buffer weights = scratch("weights", kData, 64);
  weights.kind = BufferKind::Constant;
  weights.section = 0;
  weights.sectionOffset = perColumn(64 * firstSection, 64);
  Buffer ring = scratch("ring", kData + 192, 32);
  ring.kind = BufferKind::Fifo;
  role.buffers = {weights, scratch("input", kData + 64, 64), scratch("sum", kData + 128, 64), ring};
  role.queues = {{false, 0, 0}, {true, 1, 0}};
  Instruction accumulate = instruction(Opcode::Fma, 4, memory(kSum), memory(kWeights), memory(kInput));
  for (Operand *operand : {&accumulate.dst, &accumulate.a, &accumulate.b})
    operand->loopStep[0] = 16;
  role.threads = {{instruction(Opcode::Move, 16, fifo(kFifoBuffer), queue(kTake))},
                  {instruction(Opcode::Move, 16, memory(kInput), fifo(kFifoBuffer)),
                   instruction(Opcode::Move, 16, memory(kSum), immediate(0)), loop(4), accumulate, endLoop(),
                   instruction(Opcode::Move, words, queue(kSend), memory(kSum)), control(kSend, controlCount)}};
  return role;
}

// A core that adds 1 to 16 passing words.
static Role relay(const std::string &name, int row, int takeColour, int sendColour) {
  Role role;
  role.name = name;
  role.kernel = 1;
  role.cores = cores(row, 4);
  role.queues = {{false, uint8_t(takeColour), 0}, {true, uint8_t(sendColour), 0}};
  role.threads = {{instruction(Opcode::Add, 16, queue(kSend), queue(kTake), immediate(1))}};
  return role;
}

Executable goodExecutable() {
  Executable executable;
  executable.target = meshTarget("mesh-8x8");
  executable.execution = "pipelined";
  addSection(executable, "weights", 4 * 64);
  Configuration configuration;
  configuration.name = "main";
  configuration.kernels = {{"matmul", {"fc"}, 0, 0, 1, 5, 64, 100}, {"bias", {"add"}, 1, 4, 2, 1, 0, 50}};
  configuration.nets = {{"x", 16}, {"partial", 16}, {"down1", 16}, {"down2", 16}, {"y", 16}};

  Role collect = relay("collect", 0, 1, 2);
  Role finish = relay("finish", 2, 3, 4);
  Buffer seen = scratch("seen", kData, 4);
  seen.kind = BufferKind::State;
  seen.state = 0;
  finish.buffers = {seen};
  finish.threads.push_back({instruction(Opcode::Add, 1, memory(0), memory(0), immediate(1))});
  configuration.roles = {worker("first", cores(0, 0), 0, 4, 1),
                         worker("middle", cores(0, 1, 1, 2), 1, perColumn(3, 2), 2),
                         worker("last", cores(0, 3), 3, 4, 1),
                         collect,
                         relay("chain", 1, 2, 3),
                         finish};

  constexpr Port N = Port::North, S = Port::South, E = Port::East, W = Port::West, R = Port::Ramp;
  configuration.routers = {
      router(cores(0, 0, 1, 3), 0, 0, {{W, PortMask(mask(E) | mask(R))}}),
      router(cores(0, 3), 0, 0, {{W, mask(R)}}),
      router(cores(0, 0), 1, 1, {{R, mask(E)}}),
      router(cores(0, 1, 1, 3), 1, 1, {{W, mask(E)}, {R, mask(E)}}),
      router(cores(0, 4), 1, 1, {{W, mask(R)}}),
      router(cores(0, 4), 2, 2, {{R, mask(S)}}),
      router(cores(1, 4), 2, 2, {{N, mask(R)}}),
      router(cores(1, 4), 3, 3, {{R, mask(S)}}),
      router(cores(2, 4), 3, 3, {{N, mask(R)}}),
      router(cores(2, 4), 4, 4, {{R, mask(E)}}),
      router(cores(2, 5, 1, 3), 4, 4, {{W, mask(E)}}),
  };

  IoBinding input;
  input.ports = cores(0, 0);
  input.extent[3] = 16;
  input.stride[3] = 1;
  IoBinding output = input;
  output.output = true;
  output.ports = cores(2, 7);
  output.side = E;
  output.colour = 4;
  configuration.io = {input, output};

  StateBinding binding;
  binding.role = kFinish;
  configuration.stateBindings = {binding};
  executable.configurations = {configuration};
  executable.states = {{{"samples", ElementType::F32, {1}}, -1}};
  Entry entry;
  entry.name = "infer";
  entry.inputs = {{"x", ElementType::F32, {16}}};
  entry.outputs = {{"y", ElementType::F32, {4, 4}}};
  entry.steps = {{StepKind::Configure, 0, {}}, {StepKind::Run, 0, {0}}};
  executable.entries = {entry};
  return executable;
}

Executable pairExecutable(std::vector<Instruction> send, std::vector<Instruction> take) {
  Executable executable;
  executable.target = meshTarget("mesh-2x2");
  Configuration configuration;
  configuration.name = "pair";
  configuration.nets = {{"link", 0}};
  for (int side = 0; side < 2; ++side) {
    Role role;
    role.name = side == 0 ? "sender" : "taker";
    role.cores = cores(0, side);
    role.buffers = {scratch("data", kData, 512)};
    role.queues = {{side == 0, 0, 0}};
    role.threads = {side == 0 ? send : take};
    if (side == 0)
      role.threads[0].insert(role.threads[0].begin(), instruction(Opcode::Move, 128, memory(0), immediate(1)));
    configuration.roles.push_back(role);
  }
  configuration.routers = {router(cores(0, 0), 0, 0, {{Port::Ramp, mask(Port::East)}}),
                           router(cores(0, 1), 0, 0, {{Port::West, mask(Port::Ramp)}})};
  executable.configurations = {configuration};
  return executable;
}

std::string list(const std::vector<Violation> &violations) {
  std::string all;
  for (const Violation &violation : violations)
    all += violation.rule + ": " + violation.message + "\n";
  return all;
}

} // namespace wsc::format::fixture
