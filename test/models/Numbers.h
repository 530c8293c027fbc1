// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The numbers of an executable that mean something, each with its kind, so that a test can change one. What means
// nothing is left out: names, reports, types of control words, strides of dimensions of extent 1, affine steps over
// lattice dimensions of one core, loop steps of loops that are not around.
#pragma once

#include "runtime/format/Disassembly.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace wsc::test {

struct Number {
  std::string kind;
  std::function<int64_t()> get;
  std::function<void(int64_t)> set;
  std::function<std::string()> where; // for people, as it is when asked; may be empty
};

class Numbers {
public:
  std::vector<Number> all;

  explicit Numbers(format::Executable &executable) {
    for (format::Configuration &configuration : executable.configurations)
      add(configuration);
    for (format::Resident &resident : executable.residents)
      add(resident);
    for (format::Entry &entry : executable.entries)
      for (format::Step &step : entry.steps) {
        where = nullptr;
        add("step kind", step.kind);
        add("step configuration", step.configuration);
        add("step count", step.count);
        add("step first", step.first);
        for (int32_t &before : step.after)
          add("step after", before);
      }
  }

private:
  std::function<std::string()> where;

  template <typename T> void add(const std::string &kind, T &number) {
    all.push_back(
        {kind, [&number] { return int64_t(number); }, [&number](int64_t value) { number = T(value); }, where});
  }
  void add(const std::string &kind, format::Affine &affine, const format::Lattice &lattice) {
    add(kind, affine.constant);
    for (int d = 0; d < format::kMaxDims; ++d)
      if (lattice.dims[d].count > 1)
        add(kind, affine.perDim[d]);
  }
  void addLattice(const std::string &what, format::Lattice &lattice) {
    add((what + " lattice row"), lattice.row);
    add((what + " lattice column"), lattice.col);
    for (format::Lattice::Dim &dim : lattice.dims)
      if (dim.count > 1) {
        add((what + " lattice count"), dim.count);
        add((what + " lattice step"), dim.rowStep);
        add((what + " lattice step"), dim.colStep);
      }
  }

  void add(format::Configuration &configuration) {
    for (format::Role &role : configuration.roles)
      add(role);
    where = nullptr;
    for (format::RouterRole &router : configuration.routers) {
      addLattice("route", router.routers);
      add("route colour", router.colour);
      for (format::SwitchPosition &position : router.positions) {
        add("switch input", position.input);
        add("switch outputs", position.outputs);
      }
    }
    for (format::IoBinding &binding : configuration.io) {
      addLattice("io", binding.ports);
      add("io direction", binding.output);
      add("io side", binding.side);
      add("io tensor", binding.tensor);
      add("io colour", binding.colour);
      add("io padded", binding.padded);
      add("io offset", binding.hostOffset, binding.ports);
      for (int d = 0; d < format::kMaxDims; ++d) {
        add("io extent", binding.extent[d], binding.ports);
        if (!(binding.extent[d] == format::Affine(1)))
          add("io stride", binding.stride[d]);
      }
    }
  }

  void add(format::Resident &resident) {
    addLattice("resident", resident.cores);
    where = [&resident] { return resident.name; };
    add("resident type", resident.type);
    add("resident address", resident.address);
    add("resident bytes", resident.bytes);
    add("resident section", resident.section);
    add("resident state", resident.state);
    if (resident.section >= 0)
      add("resident section offset", resident.sectionOffset, resident.cores);
    if (resident.state >= 0)
      add("resident state offset", resident.stateOffset, resident.cores);
  }

  void add(format::Role &role) {
    where = [&role] { return role.name; };
    addLattice("role", role.cores);
    for (format::Buffer &buffer : role.buffers) {
      where = [&role, &buffer] { return role.name + ": " + buffer.name; };
      add("buffer kind", buffer.kind);
      add("buffer type", buffer.type);
      add("buffer address", buffer.address);
      add("buffer bytes", buffer.bytes);
      if (buffer.kind == format::BufferKind::Constant) {
        add("constant section", buffer.section);
        add("constant section offset", buffer.sectionOffset, role.cores);
      }
      if (buffer.kind == format::BufferKind::Resident) {
        add("window resident", buffer.resident);
        add("window offset", buffer.residentOffset);
        add("window step", buffer.runStep);
      }
    }
    for (format::Queue &queue : role.queues) {
      add("queue direction", queue.output);
      add("queue colour", queue.colour);
      add("queue number", queue.index);
      add("filter period", queue.filter.period);
      if (queue.filter.period > 0) {
        add("filter begin", queue.filter.begin, role.cores);
        add("filter words", queue.filter.words, role.cores);
      }
    }
    for (format::Thread &thread : role.threads) {
      std::vector<int64_t> trips; // of the loops around
      for (format::Instruction &instruction : thread) {
        where = [&role, &instruction] { return role.name + ": " + format::disassemble(role, instruction); };
        if (instruction.opcode == format::Opcode::Loop) {
          add("loop trips", instruction.extent[0], role.cores);
          trips.push_back(instruction.extent[0].constant);
        } else if (instruction.opcode == format::Opcode::EndLoop) {
          trips.pop_back();
        } else {
          add("priority", instruction.priority);
          if (instruction.opcode == format::Opcode::SendControl) {
            add("control count", instruction.controlCount);
            add("control queue", instruction.dst.queue);
            continue;
          }
          add("opcode", instruction.opcode);
          add("type", instruction.type);
          add("mixed", instruction.mixed);
          if (instruction.mixed || instruction.opcode == format::Opcode::Convert)
            add("source type", instruction.sourceType);
          for (format::Affine &extent : instruction.extent)
            add("extent", extent, role.cores);
          for (format::Operand *operand : {&instruction.dst, &instruction.a, &instruction.b})
            add(*operand, instruction, trips, role.cores);
        }
      }
    }
  }

  void add(format::Operand &operand, const format::Instruction &instruction, const std::vector<int64_t> &trips,
           const format::Lattice &cores) {
    add("operand kind", operand.kind);
    if (operand.kind == format::OperandKind::Queue)
      add("operand queue", operand.queue);
    if (operand.kind == format::OperandKind::Fifo)
      add("operand FIFO", operand.buffer);
    if (operand.kind == format::OperandKind::Immediate)
      add("immediate", operand.immediate);
    if (operand.kind != format::OperandKind::Memory)
      return;
    add("operand buffer", operand.buffer);
    add("operand base", operand.base, cores);
    for (int d = 0; d < format::kMaxDims; ++d)
      if (!(instruction.extent[d] == format::Affine(1)))
        add("operand stride", operand.stride[d]);
    for (size_t k = 0; k < trips.size(); ++k)
      if (trips[k] > 1)
        add("operand loop step", operand.loopStep[k]);
  }
};

} // namespace wsc::test
