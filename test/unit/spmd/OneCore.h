// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code of one core for tests: operands in constant buffers, a result in a state buffer, run by the scalar interpreter.
#pragma once

#include "compiler/spmd/local/LocalNest.h"
#include "runtime/emulator/Interpreter.h"
#include "runtime/format/Verifier.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace wsc::test {

// A tensor in SRAM: its dimensions in some order, with gaps.
struct Layout {
  int64_t first = 0, bytes = 0;
  std::vector<int64_t> stride; // bytes, per dimension
};

inline Layout dense(const std::vector<int64_t> &shape, format::ElementType type) {
  Layout layout;
  layout.stride.resize(shape.size());
  int64_t next = format::elementBytes(type);
  for (size_t d = shape.size(); d-- > 0; next *= shape[d])
    layout.stride[d] = next;
  layout.bytes = next;
  return layout;
}

// Row-major elements as they lie in the layout; gaps are zero.
inline std::vector<std::byte> placed(const std::vector<std::byte> &elements, const std::vector<int64_t> &shape,
                                     format::ElementType type, const Layout &layout) {
  std::vector<std::byte> bytes(size_t(layout.bytes));
  const auto unit = size_t(format::elementBytes(type));
  std::vector<int64_t> point(shape.size(), 0);
  for (size_t i = 0; i * unit < elements.size(); ++i) {
    int64_t at = layout.first;
    for (size_t d = 0; d < shape.size(); ++d)
      at += point[d] * layout.stride[d];
    std::copy_n(elements.begin() + std::ptrdiff_t(i * unit), unit, bytes.begin() + at);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++point[d] < shape[d])
        break;
      point[d] = 0;
    }
  }
  return bytes;
}

inline spmd::LocalOperand localOperand(const spmd::Access &access, const std::vector<int64_t> &shape,
                                       const Layout &layout, size_t rank, int16_t buffer) {
  spmd::LocalOperand operand;
  operand.buffer = buffer;
  operand.baseBytes = layout.first;
  operand.strideBytes.assign(rank, 0);
  for (size_t d = 0; d < shape.size(); ++d) {
    if (int32_t(d) == access.gatherDim) {
      operand.gatherStrideBytes = layout.stride[d];
      operand.gatherCount = access.gatherCount > 0 ? access.gatherCount : shape[d];
      if (access.gatherCount == 0)
        continue;
    }
    operand.baseBytes += access.map[d].constant * layout.stride[d];
    for (size_t k = 0; k < rank; ++k)
      operand.strideBytes[k] += access.map[d].perIterator[k] * layout.stride[d];
  }
  return operand;
}

// One nest on one core: operands in constant buffers, the result in a state buffer.
class Core {
public:
  spmd::Code code;
  std::vector<std::vector<std::byte>> contents; // per constant buffer

  int16_t constant(const std::string &name, format::ElementType type, std::vector<std::byte> bytes) {
    int16_t number = buffer(name, format::BufferKind::Constant, type, int64_t(bytes.size()));
    code.buffers.back().section = int32_t(contents.size());
    contents.push_back(std::move(bytes));
    return number;
  }
  int16_t state(const std::string &name, format::ElementType type, int64_t bytes) {
    int16_t number = buffer(name, format::BufferKind::State, type, bytes);
    code.buffers.back().state = 0;
    return number;
  }

  format::Executable executable() const {
    format::Executable result;
    result.target = *target::loadTarget("mesh-1x1");
    result.target.sramBytes = 1 << 20;
    format::Role role;
    role.name = "core";
    role.buffers = code.buffers;
    role.threads = {code.main};
    for (size_t s = 0; s < contents.size(); ++s)
      result.sections.push_back({"section", contents[s]});
    int64_t address = 1 << 16; // behind code
    for (size_t b = 0; b < role.buffers.size(); ++b) {
      format::Buffer &buffer = role.buffers[b];
      buffer.address = address;
      address += (buffer.bytes + 7) / 8 * 8;
      if (buffer.kind != format::BufferKind::State)
        continue;
      const int64_t elements = buffer.bytes / format::elementBytes(buffer.type);
      result.states.push_back({{"result", buffer.type, {elements}}, -1});
      format::StateBinding binding;
      binding.buffer = int32_t(b);
      binding.extent[3] = elements;
      binding.stride[3] = 1;
      configuration(result).stateBindings.push_back(binding);
    }
    configuration(result).roles.push_back(std::move(role));
    format::Entry entry;
    entry.name = "main";
    entry.steps = {{format::StepKind::Run, 0, {}}};
    result.entries.push_back(entry);
    return result;
  }

  // The bytes of the state buffer after one sample.
  std::vector<std::byte> run() const {
    format::Executable program = executable();
    for (const format::Violation &violation : format::findViolations(program))
      ADD_FAILURE() << violation.rule << ": " << violation.message;
    const format::Role &role = program.configurations[0].roles[0];
    auto image = emulator::initialImage(program, role, {});
    EXPECT_TRUE(image.ok()) << image.status();
    if (!image.ok())
      return {};
    auto run = emulator::interpretCore(program, role, {}, *image, {});
    EXPECT_TRUE(run.ok()) << run.status();
    for (size_t b = 0; run.ok() && b < role.buffers.size(); ++b)
      if (role.buffers[b].kind == format::BufferKind::State)
        return run->image.buffers[b];
    return {};
  }

private:
  static format::Configuration &configuration(format::Executable &executable) {
    executable.configurations.resize(1);
    return executable.configurations[0];
  }
  int16_t buffer(const std::string &name, format::BufferKind kind, format::ElementType type, int64_t bytes) {
    format::Buffer result;
    result.name = name;
    result.kind = kind;
    result.type = type;
    result.bytes = bytes;
    code.buffers.push_back(std::move(result));
    return int16_t(code.buffers.size() - 1);
  }
};

} // namespace wsc::test
