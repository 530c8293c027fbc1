// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes roles and executables by hand for tests.
//
//   ExecutableBuilder executable;
//   RoleBuilder role(executable, "scale");
//   auto weights = role.constant("weights", ElementType::F32, {1, 2, 3, 4});
//   auto sum = role.scratch("sum", ElementType::F32, 2);
//   auto in = role.input(0), out = role.output(1);
//   role.thread()
//       .move(sum, imm(0), {2})
//       .loop(2)
//         .fma(sum, weights.at(0).strides({1}).steps({2}), in, {2})    // elements; loop steps outermost first
//       .endLoop()
//       .move(out, sum, {2});
//   role.finish();                            // adds the role to executable.configuration()
//
// Offsets, strides and steps count elements of the operand's buffer. Lists of extents and strides fill the dimensions
// from the innermost outwards: {3, 4} is 3 rows of 4. A memory operand without strides is dense over its instruction's
// extents.
#pragma once

#include "runtime/format/Executable.h"
#include "runtime/numerics/Elements.h"

#include <array>
#include <initializer_list>
#include <list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace wsc::testing {

using format::Affine;
using format::BufferKind;
using format::ElementType;
using format::Opcode;

// Elements as bytes and back; values go through numerics::encodeImmediate.
inline std::vector<std::byte> bytesOf(ElementType type, const std::vector<double> &values) {
  auto size = size_t(format::elementBytes(type));
  std::vector<std::byte> bytes(values.size() * size);
  for (size_t i = 0; i < values.size(); ++i)
    numerics::storeElement(bytes.data() + i * size, type, numerics::encodeImmediate(values[i], type));
  return bytes;
}
inline std::vector<double> valuesOf(ElementType type, const std::vector<std::byte> &bytes) {
  auto size = size_t(format::elementBytes(type));
  std::vector<double> values;
  for (size_t at = 0; at + size <= bytes.size(); at += size) {
    uint64_t wide = numerics::convertElement(numerics::loadElement(bytes.data() + at, type), type, ElementType::F64);
    values.push_back(numerics::doubleOf(wide));
  }
  return values;
}
// The same, padded to whole fabric words: what one instruction puts on a queue.
inline std::vector<std::byte> wordsOf(ElementType type, const std::vector<double> &values) {
  std::vector<std::byte> bytes = bytesOf(type, values);
  bytes.resize((bytes.size() + 3) / 4 * 4);
  return bytes;
}

// base + Σ perDim·index, in lattice dimensions.
inline Affine affine(int64_t constant, std::array<int64_t, format::kMaxDims> perDim) {
  Affine result(constant);
  result.perDim = perDim;
  return result;
}

// An operand being written.
class Op {
public:
  Op() = default;
  explicit Op(format::Operand operand, int64_t elementBytes = 1)
      : operand(operand), elementBytes(elementBytes), dense(operand.kind == format::OperandKind::Memory) {}

  Op at(Affine elements) const {
    Op result = *this;
    result.operand.base.constant = elements.constant * elementBytes;
    for (size_t d = 0; d < format::kMaxDims; ++d)
      result.operand.base.perDim[d] = elements.perDim[d] * elementBytes;
    return result;
  }
  Op strides(std::initializer_list<int32_t> elements) const {
    Op result = *this;
    result.dense = false;
    result.operand.stride = {};
    size_t d = format::kMaxDims - elements.size();
    for (int32_t stride : elements)
      result.operand.stride[d++] = int32_t(stride * elementBytes);
    return result;
  }
  // Every iteration uses the same element.
  Op repeated() const { return strides({}); }
  Op steps(std::initializer_list<int32_t> elements) const {
    Op result = *this;
    size_t k = 0;
    for (int32_t step : elements)
      result.operand.loopStep[k++] = int32_t(step * elementBytes);
    return result;
  }

  // The finished operand for an instruction over `extent`.
  format::Operand over(const std::array<Affine, format::kMaxDims> &extent) const {
    format::Operand result = operand;
    if (dense) {
      int64_t stride = elementBytes;
      for (size_t d = format::kMaxDims; d-- > 0; stride *= extent[d].constant)
        result.stride[d] = int32_t(stride);
    }
    return result;
  }

private:
  format::Operand operand;
  int64_t elementBytes = 1;
  bool dense = false;
};

inline Op imm(double value) {
  format::Operand operand;
  operand.kind = format::OperandKind::Immediate;
  operand.immediate = value;
  return Op(operand);
}
inline Op null() {
  format::Operand operand;
  operand.kind = format::OperandKind::Null;
  return Op(operand);
}

class ExecutableBuilder {
public:
  format::Executable result;

  ExecutableBuilder() : storage(std::make_shared<std::vector<std::vector<std::byte>>>()) {
    result.configurations.resize(1);
    result.storage = storage;
  }

  int32_t section(std::string name, std::vector<std::byte> bytes) {
    storage->push_back(std::move(bytes)); // the bytes of a vector stay in place when the outer vector moves it
    result.sections.push_back({std::move(name), storage->back()});
    return int32_t(result.sections.size()) - 1;
  }

  // The configuration that routers, io and roles go to; there is one at first.
  format::Configuration &configuration() { return result.configurations.back(); }
  ExecutableBuilder &nextConfiguration(std::string name) {
    result.configurations.emplace_back().name = std::move(name);
    return *this;
  }

  // `elements` on each core of `cores`, above what roles have of their own; returns its number.
  int32_t resident(std::string name, ElementType type, int64_t elements, format::Lattice cores) {
    format::Resident resident;
    resident.name = std::move(name);
    resident.type = type;
    resident.cores = cores;
    resident.bytes = elements * format::elementBytes(type);
    resident.address = nextResident;
    nextResident = (nextResident + resident.bytes + 7) / 8 * 8;
    result.residents.push_back(std::move(resident));
    return int32_t(result.residents.size()) - 1;
  }

  // Settings of the router at (row, col) for one colour.
  ExecutableBuilder &router(int32_t row, int32_t col, uint8_t colour, std::vector<format::SwitchPosition> positions) {
    format::RouterRole role;
    role.routers.row = row;
    role.routers.col = col;
    role.colour = colour;
    role.positions = std::move(positions);
    configuration().routers.push_back(std::move(role));
    return *this;
  }

private:
  std::shared_ptr<std::vector<std::vector<std::byte>>> storage;
  int64_t nextResident = 16384;
};

// Appends instructions to one thread; type() sets the element type of those that follow (f32 at first).
class ThreadBuilder {
public:
  using Extents = std::initializer_list<Affine>;

  explicit ThreadBuilder(format::Thread &code) : code(code) {}

  ThreadBuilder &type(ElementType elementType) {
    current = elementType;
    return *this;
  }
  ThreadBuilder &op(Opcode opcode, const Op &dst, const Op &a, const Op &b, Extents extents = {}) {
    format::Instruction instruction;
    instruction.opcode = opcode;
    instruction.type = instruction.sourceType = current;
    size_t d = format::kMaxDims - extents.size();
    for (const Affine &extent : extents)
      instruction.extent[d++] = extent;
    instruction.dst = dst.over(instruction.extent);
    instruction.a = a.over(instruction.extent);
    instruction.b = b.over(instruction.extent);
    code.push_back(instruction);
    return *this;
  }
  ThreadBuilder &op(Opcode opcode, const Op &dst, const Op &a, Extents extents = {}) {
    return op(opcode, dst, a, Op(), extents);
  }
  ThreadBuilder &move(const Op &dst, const Op &a, Extents extents = {}) { return op(Opcode::Move, dst, a, extents); }
  ThreadBuilder &fma(const Op &dst, const Op &a, const Op &b, Extents extents = {}) {
    return op(Opcode::Fma, dst, a, b, extents);
  }
  ThreadBuilder &convert(const Op &dst, const Op &a, ElementType from, Extents extents = {}) {
    op(Opcode::Convert, dst, a, extents);
    code.back().sourceType = from;
    return *this;
  }
  ThreadBuilder &gather(const Op &dst, const Op &table, const Op &numbers, Extents extents = {}) {
    return op(Opcode::Gather, dst, table, numbers, extents);
  }
  ThreadBuilder &scatter(const Op &table, const Op &values, const Op &numbers, Extents extents = {}) {
    return op(Opcode::Scatter, table, values, numbers, extents);
  }
  ThreadBuilder &loop(Affine trips) {
    format::Instruction instruction;
    instruction.opcode = Opcode::Loop;
    instruction.extent[0] = trips;
    code.push_back(instruction);
    return *this;
  }
  ThreadBuilder &endLoop() {
    format::Instruction instruction;
    instruction.opcode = Opcode::EndLoop;
    code.push_back(instruction);
    return *this;
  }
  ThreadBuilder &sendControl(const Op &queue, uint8_t count) {
    op(Opcode::SendControl, queue, Op());
    code.back().controlCount = count;
    return *this;
  }

private:
  format::Thread &code;
  ElementType current = ElementType::F32;
};

class RoleBuilder {
public:
  format::Role role;

  RoleBuilder(ExecutableBuilder &executable, std::string name) : executable(executable) { role.name = std::move(name); }

  RoleBuilder &at(int32_t row, int32_t col) {
    role.cores.row = row;
    role.cores.col = col;
    return *this;
  }
  // Buffers to come lie from this byte of SRAM on; at first from 0.
  RoleBuilder &memoryFrom(int64_t bytes) {
    nextAddress = bytes;
    return *this;
  }
  // Lattice dimension `d`; dimension 3 varies fastest.
  RoleBuilder &over(int d, int32_t count, int32_t rowStep, int32_t colStep) {
    role.cores.dims[size_t(d)] = {count, rowStep, colStep};
    return *this;
  }

  Op scratch(const std::string &name, ElementType type, int64_t elements) {
    return buffer(name, BufferKind::Scratch, type, elements);
  }
  Op state(const std::string &name, ElementType type, int64_t elements, int32_t variable = -1) {
    Op result = buffer(name, BufferKind::State, type, elements);
    role.buffers.back().state = variable;
    return result;
  }
  Op fifo(const std::string &name, ElementType type, int64_t elements) {
    return buffer(name, BufferKind::Fifo, type, elements);
  }
  // The same values on every core, in a section of their own.
  Op constant(const std::string &name, ElementType type, const std::vector<double> &values) {
    int32_t section = executable.section(name, bytesOf(type, values));
    return constant(name, type, int64_t(values.size()), section, Affine(0));
  }
  // `elements` of a section from the byte offset on.
  Op constant(const std::string &name, ElementType type, int64_t elements, int32_t section, Affine byteOffset) {
    Op result = buffer(name, BufferKind::Constant, type, elements);
    role.buffers.back().section = section;
    role.buffers.back().sectionOffset = byteOffset;
    return result;
  }
  // `elements` of a resident from element `first` on, in iteration i of a run from i·step elements further on.
  Op window(const std::string &name, int32_t resident, int64_t elements, int64_t first = 0, int64_t step = 0) {
    const ElementType type = executable.result.residents[size_t(resident)].type;
    Op result = buffer(name, BufferKind::Resident, type, elements);
    role.buffers.back().resident = resident;
    role.buffers.back().address =
        executable.result.residents[size_t(resident)].address + first * format::elementBytes(type);
    role.buffers.back().residentOffset = first * format::elementBytes(type);
    role.buffers.back().runStep = step * format::elementBytes(type);
    return result;
  }
  Op input(uint8_t colour) { return queue(false, colour); }
  Op output(uint8_t colour) { return queue(true, colour); }

  ThreadBuilder thread() { return ThreadBuilder(threads.emplace_back()); }

  // The role with its threads; buffers lie one after the other, 8-byte aligned.
  const format::Role &build() {
    role.threads.assign(threads.begin(), threads.end());
    return role;
  }
  void finish() { executable.configuration().roles.push_back(build()); }

private:
  ExecutableBuilder &executable;
  std::list<format::Thread> threads; // stable under growth: ThreadBuilder refers to its thread
  int64_t nextAddress = 0;

  Op buffer(const std::string &name, BufferKind kind, ElementType type, int64_t elements) {
    format::Buffer result;
    result.name = name;
    result.kind = kind;
    result.type = type;
    result.address = nextAddress;
    result.bytes = elements * format::elementBytes(type);
    if (kind != BufferKind::Resident)
      nextAddress = (nextAddress + result.bytes + 7) / 8 * 8;
    format::Operand operand;
    operand.kind = kind == BufferKind::Fifo ? format::OperandKind::Fifo : format::OperandKind::Memory;
    operand.buffer = int16_t(role.buffers.size());
    role.buffers.push_back(std::move(result));
    return Op(operand, format::elementBytes(type));
  }
  Op queue(bool output, uint8_t colour) {
    uint8_t number = 0;
    for (const format::Queue &other : role.queues)
      number = uint8_t(number + (other.output == output));
    format::Operand operand;
    operand.kind = format::OperandKind::Queue;
    operand.queue = int16_t(role.queues.size());
    role.queues.push_back({output, colour, number});
    return Op(operand);
  }
};

} // namespace wsc::testing
