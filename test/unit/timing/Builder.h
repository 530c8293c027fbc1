// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small hand-written configurations for timing tests: rows of cores, programs of moves, straight routes.
#pragma once

#include "runtime/emulator/Timing.h"
#include "runtime/emulator/cycle/CycleEngine.h"

#include <gtest/gtest.h>

#include <string>

namespace wsc::test {

using namespace format;

constexpr PortMask bit(Port port) { return PortMask(1u << unsigned(port)); }

inline Operand queue(int16_t q) {
  Operand operand;
  operand.kind = OperandKind::Queue;
  operand.queue = q;
  return operand;
}
inline Operand memory(int16_t buffer = 0) {
  Operand operand;
  operand.kind = OperandKind::Memory;
  operand.buffer = buffer;
  return operand;
}
inline Operand fifo(int16_t buffer) {
  Operand operand;
  operand.kind = OperandKind::Fifo;
  operand.buffer = buffer;
  return operand;
}
inline Operand null() {
  Operand operand;
  operand.kind = OperandKind::Null;
  return operand;
}
inline Instruction instruction(Opcode opcode, int64_t elements, Operand dst, Operand a, Operand b = {}) {
  Instruction result;
  result.opcode = opcode;
  result.extent[0] = Affine(elements);
  result.dst = dst;
  result.a = a;
  result.b = b;
  return result;
}
inline Instruction move(int64_t elements, Operand dst, Operand a) {
  return instruction(Opcode::Move, elements, dst, a);
}
inline Instruction loop(int64_t trips) { return instruction(Opcode::Loop, trips, {}, {}); }
inline Instruction endLoop() { return instruction(Opcode::EndLoop, 1, {}, {}); }
inline Instruction control(int16_t q, uint8_t count) {
  Instruction result = instruction(Opcode::SendControl, 1, queue(q), {});
  result.controlCount = count;
  return result;
}

inline Lattice rectangle(int32_t row, int32_t col, int32_t rows, int32_t cols) {
  Lattice lattice;
  lattice.row = row;
  lattice.col = col;
  lattice.dims[2] = {rows, 1, 0};
  lattice.dims[3] = {cols, 0, 1};
  return lattice;
}

inline Queue in(uint8_t colour, uint8_t index = 0) { return {false, colour, index}; }
inline Queue out(uint8_t colour, uint8_t index = 0) { return {true, colour, index}; }

inline Role role(const std::string &name, Lattice cores, std::vector<Queue> queues, std::vector<Thread> threads,
                 std::vector<int64_t> fifoElements = {}) {
  Role result;
  result.name = name;
  result.kernel = 0;
  result.cores = cores;
  result.queues = std::move(queues);
  result.threads = std::move(threads);
  Buffer scratch;
  scratch.name = "x";
  scratch.bytes = 16384;
  result.buffers.push_back(scratch);
  for (int64_t elements : fifoElements) {
    Buffer buffer;
    buffer.name = "fifo" + std::to_string(result.buffers.size());
    buffer.kind = BufferKind::Fifo;
    buffer.bytes = 4 * elements;
    result.buffers.push_back(buffer);
  }
  return result;
}

inline RouterRole router(uint8_t colour, Lattice routers, std::vector<SwitchPosition> positions) {
  RouterRole result;
  result.colour = colour;
  result.routers = routers;
  result.net = 0;
  result.positions = std::move(positions);
  return result;
}

inline Executable executable(const std::string &mesh) {
  Executable result;
  auto target = target::loadTarget(mesh);
  EXPECT_TRUE(target.ok()) << target.status();
  result.target = *target;
  // The numbers that the tests' arithmetic is done with, whatever wse2's are.
  result.target.vectorSetupCycles = 14;
  result.target.loopCycles = 4;
  result.target.taskStartCycles = 0;
  result.target.elementsPerCycleF32 = 1;
  result.target.sramReadsPerCycle = 3;
  result.configurations.emplace_back();
  result.configurations[0].name = "main";
  result.configurations[0].nets.push_back({"n", 0});
  Kernel kernel;
  kernel.name = "k";
  result.configurations[0].kernels.push_back(kernel);
  return result;
}

inline absl::StatusOr<emulator::TimingResult> timeIt(const Executable &executable, int samples = 0) {
  auto networks = emulator::resolveNetworks(executable.target, executable.configurations[0]);
  if (!networks.ok())
    return networks.status();
  return emulator::analyseTiming(executable, 0, *networks, samples);
}

// The cycle engine's time of `samples` samples.
inline absl::StatusOr<emulator::CycleResult> cyclesOf(const Executable &executable, int samples) {
  return emulator::runCycles(executable, 0, {.samples = samples});
}
// Its interval: the mean distance in the middle third of `samples` samples.
inline double cycleInterval(const Executable &executable, int samples = 30) {
  auto run = cyclesOf(executable, samples);
  EXPECT_TRUE(run.ok()) << run.status();
  if (!run.ok())
    return 0;
  const int from = samples / 3, to = 2 * samples / 3;
  return double(run->sampleDone[to] - run->sampleDone[from]) / (to - from);
}

// One colour from (row, from) to (row, to), eastward.
inline void eastRoute(Configuration &configuration, uint8_t colour, int32_t row, int32_t from, int32_t to) {
  configuration.routers.push_back(router(colour, rectangle(row, from, 1, 1), {{Port::Ramp, bit(Port::East)}}));
  if (to - from > 1)
    configuration.routers.push_back(
        router(colour, rectangle(row, from + 1, 1, to - from - 1), {{Port::West, bit(Port::East)}}));
  configuration.routers.push_back(router(colour, rectangle(row, to, 1, 1), {{Port::West, bit(Port::Ramp)}}));
}

} // namespace wsc::test
