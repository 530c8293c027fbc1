// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The sample executables, with helpers for files.
#include "test/unit/format/Sample.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <unistd.h>

namespace wsc::format {
namespace {

Operand memory(int16_t buffer, Affine base, std::array<int32_t, kMaxDims> stride,
               std::array<int32_t, kMaxDims> loopStep = {}) {
  Operand operand;
  operand.kind = OperandKind::Memory;
  operand.buffer = buffer;
  operand.base = base;
  operand.stride = stride;
  operand.loopStep = loopStep;
  return operand;
}

Operand queue(int16_t index) {
  Operand operand;
  operand.kind = OperandKind::Queue;
  operand.queue = index;
  return operand;
}

Operand immediate(double value) {
  Operand operand;
  operand.kind = OperandKind::Immediate;
  operand.immediate = value;
  return operand;
}

Affine affine(int64_t constant, std::array<int64_t, kMaxDims> perDim) {
  Affine value(constant);
  value.perDim = perDim;
  return value;
}

Role workerRole() {
  Role role;
  role.name = "worker";
  role.kernel = 1;
  role.cores.row = 2;
  role.cores.col = 1;
  role.cores.dims = {Lattice::Dim{2, 2, 0}, {1, 0, 0}, {1, 0, 0}, {4, 0, 1}};
  role.buffers.resize(4);
  role.buffers[0] = {"weights", BufferKind::Constant, ElementType::F16, 4096, 64, 1, affine(8, {512, 0, 0, 64}), -1};
  role.buffers[1] = {"ring", BufferKind::Fifo, ElementType::F32, 8192, 256, -1, {}, -1};
  role.buffers[2] = {"cache", BufferKind::State, ElementType::F32, 12288, 128, -1, {}, 0};
  role.buffers[3] = {"scratch", BufferKind::Scratch, ElementType::I32, 16384, 1024, -1, {}, -1};
  role.queues = {{false, 3, 2}, {true, 4, 1}};
  role.threads.resize(2);

  Thread &main = role.threads[0];
  main.resize(6);
  main[0].opcode = Opcode::Loop;
  main[0].extent[0] = affine(3, {1, 0, 0, 0});
  main[1].opcode = Opcode::Fma;
  main[1].type = ElementType::F16;
  main[1].dst = memory(3, 16, {4, 0, 0, 0}, {32, 64, 0, 0});
  main[1].a = memory(0, affine(2, {0, 0, 0, 4}), {0, 2, 0, -2}, {0, 0, 0, 8});
  main[1].b = queue(0);
  main[1].extent = {Affine(4), affine(8, {0, 0, 0, -1}), Affine(1), Affine(2)};
  main[2].opcode = Opcode::EndLoop;
  main[3].opcode = Opcode::Convert;
  main[3].type = ElementType::F32;
  main[3].sourceType = ElementType::BF16;
  main[3].dst.kind = OperandKind::Fifo;
  main[3].dst.buffer = 1;
  main[3].a = immediate(-0.0);
  main[3].extent[3] = 5;
  main[4].opcode = Opcode::Add;
  main[4].dst.kind = OperandKind::Null;
  main[4].a = immediate(2.5);
  main[4].b.kind = OperandKind::Fifo;
  main[4].b.buffer = 1;
  main[4].extent[2] = 0;
  main[5].opcode = Opcode::SendControl;
  main[5].dst = queue(1);
  main[5].controlCount = 7;

  Instruction move;
  move.dst = memory(2, 0, {4, 0, 0, 0});
  move.a.kind = OperandKind::Fifo;
  move.a.buffer = 1;
  move.extent[0] = 5;
  role.threads[1] = {move};
  return role;
}

} // namespace

Executable sampleExecutable() {
  Executable executable;
  executable.target = *target::loadTarget("mesh-8x8");
  executable.execution = "pipelined";

  Configuration configuration;
  configuration.name = "all layers";
  configuration.kernels = {{"conv1", {"conv", "relu"}, 0, 0, 8, 1, 1000, 90},
                           {"fc", {"gemm"}, 2, 1, 3, 4, 12345678901, 77}};
  configuration.nets = {{"input", 40}, {"conv1 to fc", 128}};
  configuration.roles = {workerRole(), {}};
  configuration.roles[1].name = "idle";
  RouterRole router;
  router.routers = configuration.roles[0].cores;
  router.colour = 3;
  router.net = 1;
  router.positions = {{Port::West, 1 << int(Port::East)},
                      {Port::Ramp, (1 << int(Port::East)) | (1 << int(Port::North))}};
  configuration.routers = {router, {}};
  configuration.routers[1].positions = {{Port::North, 1 << int(Port::Ramp)}};
  IoBinding input;
  input.ports.dims[0] = {4, 1, 0};
  input.side = Port::West;
  input.colour = 5;
  input.hostOffset = affine(1, {10, 0, 0, 0});
  input.extent = {Affine(2), affine(5, {-1, 0, 0, 0}), Affine(1), Affine(1)};
  input.stride = {40, 1, 0, 0};
  IoBinding output;
  output.output = true;
  output.tensor = 1;
  output.ports.row = 3;
  output.ports.col = 7;
  output.side = Port::East;
  output.colour = 6;
  output.extent = {Affine(1), Affine(1), Affine(1), Affine(12)};
  output.stride = {0, 0, 0, 1};
  configuration.io = {input, output};
  configuration.stateBindings = {{0, 0, 2, affine(0, {8, 0, 0, 2}), {1, 2, 1, 4}, {0, 1, 0, 1}}};
  Configuration second;
  second.name = "spare";
  executable.configurations = {configuration, second};

  executable.states = {{{"cache", ElementType::F32, {4, 8}}, 0}, {{"counter", ElementType::I64, {}}, -1}};
  Entry entry;
  entry.name = "main";
  entry.inputs = {{"x", ElementType::F32, {2, 4, 10}}};
  entry.outputs = {{"mask", ElementType::Bool, {1}}, {"y", ElementType::F16, {3, 4}}};
  entry.steps = {{StepKind::Configure, 0, {}}, {StepKind::Run, 0, {0}}, {StepKind::Configure, 1, {0, 1}}};
  Entry reset;
  reset.name = "reset";
  executable.entries = {entry, reset};
  return executable;
}

Executable residentSample() {
  Executable executable = sampleExecutable();
  Resident weights{"weights", ElementType::F16, {}, 20480, 2048, 1, {}, -1, {}};
  weights.cores.row = 2;
  weights.cores.dims = {Lattice::Dim{3, 1, 0}, {6, 0, 1}, {1, 0, 0}, {1, 0, 0}};
  weights.sectionOffset = affine(16, {1024, 0, 0, 0});
  Resident counters{"counters", ElementType::I64, {}, 24576, 16, -1, {}, 1, affine(1, {2, 0, 0, 0})};
  counters.cores.dims[0] = {8, 1, 1};
  Resident plain{"between", ElementType::U16, {}, 32768, 256, -1, {}, -1, {}};
  plain.cores = executable.configurations[0].roles[0].cores;
  executable.residents = {weights, counters, plain};

  Configuration &spare = executable.configurations[1];
  Role role;
  role.name = "stay";
  role.cores = plain.cores;
  Buffer first{"first", BufferKind::Resident, ElementType::F16, 20544, 64, -1, {}, -1};
  first.resident = 0;
  first.residentOffset = 64;
  first.runStep = 64;
  Buffer second{"second", BufferKind::Resident, ElementType::I16, 32768 + 128, 128, -1, {}, -1};
  second.resident = 2;
  second.residentOffset = 128;
  role.buffers = {first, second, second};
  role.buffers[2].name = "second again";
  role.buffers[2].resident = 1; // equal to the one before but for this
  role.buffers[2].bytes = role.buffers[2].residentOffset = 8;
  spare.roles = {role};
  executable.configurations[0].io[0].padded = true;
  executable.configurations[0].io[0].hostOffset.constant = -3;
  executable.entries[0].steps.push_back({StepKind::Run, 1, {2}, 12});
  return executable;
}

Executable loopSample() {
  Executable executable = residentSample();
  executable.entries[0].steps.push_back({StepKind::Run, 1, {3}, 3, 7});
  return executable;
}

std::vector<SectionSource> sampleSections() {
  auto filled = [](std::string name, int64_t bytes, int seed) {
    return SectionSource{name, bytes, [seed](std::span<std::byte> out) {
                           for (size_t i = 0; i < out.size(); ++i)
                             out[i] = std::byte((i * 37 + i / 256 + seed) & 255);
                           return absl::OkStatus();
                         }};
  };
  return {filled("cache.initial", 128, 1), filled("fc.weights", 5000, 2), filled("nothing", 0, 3),
          filled("more", 4096, 4)};
}

TemporaryFile::TemporaryFile(const std::string &name)
    : path((std::filesystem::temp_directory_path() / ("wsc-" + std::to_string(::getpid()) + "-" + name)).string()) {}
TemporaryFile::~TemporaryFile() { std::filesystem::remove(path); }

std::vector<char> readBytes(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void writeBytes(const std::string &path, const std::vector<char> &bytes) {
  // Some file systems flush a file that is truncated and written again; a new one is fast.
  std::filesystem::remove(path);
  std::ofstream(path, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
}

} // namespace wsc::format
