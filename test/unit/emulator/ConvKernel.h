// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A hand-built contraction kernel as the compiler maps it: feeder column, row multicast, chain reduce down each group
// of rows, gather along the groups' last rows to the wafer's east edge. Tests and the engine benchmark run it.
#pragma once

#include "runtime/format/Executable.h"

#include <cstring>
#include <memory>
#include <vector>

namespace wsc::testing {

struct ConvShape {
  int groups = 2, chain = 3, columns = 4; // rows = groups · chain
  int outputs = 4;                        // output channels per column
  int inputs = 3;                         // input channels per row
  int kernelH = 3, kernelW = 3, stride = 1;
  int height = 4, width = 7; // output pixels per group
  bool channelsLast = false; // accumulators [h][w][co] instead of [co][h][w]

  int inHeight() const { return (height - 1) * stride + kernelH; }
  int inWidth() const { return (width - 1) * stride + kernelW; }
  int64_t lane() const { return int64_t(inputs) * inHeight() * inWidth(); }
  int64_t accumulators() const { return int64_t(outputs) * height * width; }
  int64_t taps() const { return int64_t(inputs) * kernelH * kernelW; }
  int64_t macs() const { return int64_t(groups) * chain * columns * taps() * accumulators(); }
};

class ConvKernel {
public:
  // `weights`: [chain][column][tap][output], `bias`: [column][output].
  ConvKernel(const ConvShape &shape, std::vector<float> weights, std::vector<float> bias) : s(shape) {
    auto storage =
        std::make_shared<std::pair<std::vector<float>, std::vector<float>>>(std::move(weights), std::move(bias));
    executable.sections.push_back({"weights", std::as_bytes(std::span(storage->first))});
    executable.sections.push_back({"bias", std::as_bytes(std::span(storage->second))});
    executable.storage = storage;
    executable.target.name = "mesh";
    executable.target.rows = s.groups * s.chain;
    executable.target.cols = s.columns + 1;
    executable.target.colours = 24;
    executable.configurations.resize(1);
    config().kernels.push_back({"conv", {"conv"}, 0, 0, executable.target.rows, executable.target.cols, s.macs(), 0});
    format::Entry entry;
    entry.name = "main";
    entry.inputs.push_back({"x", format::ElementType::F32, {s.groups * s.chain, s.lane()}});
    entry.outputs.push_back({"y", format::ElementType::F32, {s.groups, s.columns, s.accumulators()}});
    entry.steps = {{format::StepKind::Configure, 0, {}}, {format::StepKind::Run, 0, {0}}};
    executable.entries.push_back(entry);
    addFeeder();
    for (int first = 0; first < s.chain; ++first) {
      // Row 0, the odd and the even middle rows, the last row.
      if (first == 0 || first == s.chain - 1)
        addRows(first, 1, 1);
      else if (first <= 2)
        addRows(first, (s.chain - 1 - first + 1) / 2, 2);
    }
    addRoutes();
  }

  format::Executable executable;

private:
  using Affine = format::Affine;
  using Opcode = format::Opcode;
  using Instruction = format::Instruction;
  using Operand = format::Operand;
  using Kind = format::OperandKind;

  format::Configuration &config() { return executable.configurations[0]; }

  static Affine affine(int64_t constant, std::array<int64_t, 4> perDim) {
    Affine a(constant);
    a.perDim = perDim;
    return a;
  }
  static Operand queue(int q) {
    Operand o;
    o.kind = Kind::Queue;
    o.queue = int16_t(q);
    return o;
  }
  static Operand fifo(int b) {
    Operand o;
    o.kind = Kind::Fifo;
    o.buffer = int16_t(b);
    return o;
  }
  static Operand immediate(double x) {
    Operand o;
    o.kind = Kind::Immediate;
    o.immediate = x;
    return o;
  }
  static Operand memory(int b, std::array<int32_t, 4> strideElements, std::array<int32_t, 4> loopElements = {}) {
    Operand o;
    o.kind = Kind::Memory;
    o.buffer = int16_t(b);
    for (int d = 0; d < 4; ++d) {
      o.stride[d] = strideElements[d] * 4;
      o.loopStep[d] = loopElements[d] * 4;
    }
    return o;
  }
  static Instruction make(Opcode opcode, std::array<int64_t, 4> extent, Operand dst, Operand a = {}, Operand b = {}) {
    Instruction i;
    i.opcode = opcode;
    for (int d = 0; d < 4; ++d)
      i.extent[d] = Affine(extent[d]);
    i.dst = dst;
    i.a = a;
    i.b = b;
    return i;
  }
  static Instruction loop(int64_t trips) { return make(Opcode::Loop, {trips, 1, 1, 1}, {}); }
  static Instruction endLoop() { return make(Opcode::EndLoop, {1, 1, 1, 1}, {}); }
  static format::Buffer buffer(const char *name, format::BufferKind kind, int64_t floats) {
    format::Buffer b;
    b.name = name;
    b.kind = kind;
    b.bytes = floats * 4;
    return b;
  }
  static format::Lattice lattice(int row, int col, format::Lattice::Dim a, format::Lattice::Dim b,
                                 format::Lattice::Dim c = {}) {
    format::Lattice l;
    l.row = row;
    l.col = col;
    l.dims[1] = a;
    l.dims[2] = b;
    l.dims[3] = c;
    return l;
  }

  void addFeeder() {
    format::Role role;
    role.name = "feeder";
    role.kernel = 0;
    role.cores = lattice(0, 0, {s.groups, s.chain, 0}, {s.chain, 1, 0});
    role.buffers = {buffer("ring", format::BufferKind::Fifo, 64)};
    role.queues = {{false, 0, 0}, {true, 1, 0}};
    role.threads = {{make(Opcode::Move, {1, 1, 1, s.lane()}, fifo(0), queue(0))},
                    {make(Opcode::Move, {1, 1, 1, s.lane()}, queue(1), fifo(0))}};
    config().roles.push_back(role);
  }

  // Rows first, first + step, … of every group.
  void addRows(int first, int count, int step) {
    const bool head = first == 0, last = first == s.chain - 1;
    // The last row's columns differ in the control words they send.
    struct Part {
      int col, cols, control;
    };
    std::vector<Part> parts{{1, s.columns, 0}};
    if (last) {
      parts = {{1, 1, 1}};
      if (s.columns > 2)
        parts.push_back({2, s.columns - 2, 2});
      if (s.columns > 1)
        parts.push_back({s.columns, 1, 1});
    }
    const int64_t columnBytes = s.taps() * s.outputs * 4, rowBytes = columnBytes * s.columns;
    for (const Part &part : parts) {
      format::Role role;
      role.name = head ? "first" : last ? "last" : "middle";
      role.kernel = 0;
      role.cores = lattice(first, part.col, {s.groups, s.chain, 0}, {count, step, 0}, {part.cols, 0, 1});
      format::Buffer weights = buffer("weights", format::BufferKind::Constant, s.taps() * s.outputs);
      weights.section = 0;
      weights.sectionOffset =
          affine(first * rowBytes + (part.col - 1) * columnBytes, {0, 0, step * rowBytes, columnBytes});
      format::Buffer bias = buffer("bias", format::BufferKind::Constant, s.outputs);
      bias.section = 1;
      bias.sectionOffset = affine((part.col - 1) * s.outputs * 4, {0, 0, 0, s.outputs * 4});
      role.buffers = {buffer("x", format::BufferKind::Scratch, s.lane()),
                      buffer("acc", format::BufferKind::Scratch, s.accumulators()), weights, bias,
                      buffer("out", format::BufferKind::Fifo, 16)};
      role.queues = {
          {false, 1, 0}, {false, uint8_t(2 + (first + 1) % 2), 1}, {true, uint8_t(2 + first % 2), 0}, {true, 4, 1}};

      const int pixels = s.height * s.width;
      const int64_t n = s.accumulators();
      format::Thread main;
      main.push_back(make(Opcode::Move, {1, 1, 1, s.lane()}, memory(0, {0, 0, 0, 1}), queue(0)));
      const std::array<int64_t, 4> space = s.channelsLast ? std::array<int64_t, 4>{1, s.height, s.width, s.outputs}
                                                          : std::array<int64_t, 4>{1, s.outputs, s.height, s.width};
      auto strides = [&](int co, int h, int w) {
        return s.channelsLast ? std::array<int32_t, 4>{0, h, w, co} : std::array<int32_t, 4>{0, co, h, w};
      };
      const auto accStrides = s.channelsLast ? strides(1, s.width * s.outputs, s.outputs) : strides(pixels, s.width, 1);
      const Operand flat = memory(1, {0, 0, 0, 1});
      main.push_back(
          make(Opcode::Move, space, memory(1, accStrides), head ? memory(3, strides(1, 0, 0)) : immediate(0)));
      const int plane = s.inHeight() * s.inWidth();
      main.push_back(loop(s.inputs));
      main.push_back(loop(s.kernelH));
      main.push_back(loop(s.kernelW));
      main.push_back(
          make(Opcode::Fma, space, memory(1, accStrides),
               memory(0, strides(0, s.stride * s.inWidth(), s.stride), {plane, s.inWidth(), 1, 0}),
               memory(2, strides(1, 0, 0), {s.kernelH * s.kernelW * s.outputs, s.kernelW * s.outputs, s.outputs, 0})));
      for (int k = 0; k < 3; ++k)
        main.push_back(endLoop());
      if (head) {
        main.push_back(make(Opcode::Move, {1, 1, 1, n}, queue(2), flat));
        role.threads = {main};
      } else if (!last) {
        main.push_back(make(Opcode::Add, {1, 1, 1, n}, queue(2), queue(1), flat));
        role.threads = {main};
      } else {
        main.push_back(make(Opcode::Add, {1, 1, 1, n}, flat, queue(1), flat));
        main.push_back(make(Opcode::Max, {1, 1, 1, n}, flat, flat, immediate(0)));
        main.push_back(make(Opcode::Move, {1, 1, 1, n}, fifo(4), flat));
        format::Thread send{make(Opcode::Move, {1, 1, 1, n}, queue(3), fifo(4))};
        if (s.columns > 1) {
          send.push_back(make(Opcode::SendControl, {1, 1, 1, 1}, queue(3)));
          send.back().controlCount = uint8_t(part.control);
        }
        role.threads = {send, main}; // out of order on purpose
      }
      config().roles.push_back(role);
    }
  }

  static format::SwitchPosition position(format::Port input, std::initializer_list<format::Port> outputs) {
    format::SwitchPosition p;
    p.input = input;
    for (format::Port out : outputs)
      p.outputs |= format::PortMask(1 << int(out));
    return p;
  }
  void route(uint8_t colour, format::Lattice routers, std::vector<format::SwitchPosition> positions) {
    if (routers.size() > 0)
      config().routers.push_back({routers, colour, -1, std::move(positions)});
  }

  void addRoutes() {
    using enum format::Port;
    const format::Lattice::Dim groups{s.groups, s.chain, 0}, rows{s.chain, 1, 0}, one{1, 0, 0};
    auto columns = [&](int n) { return format::Lattice::Dim{n, 0, 1}; };
    route(0, lattice(0, 0, groups, rows), {position(West, {Ramp})});
    route(1, lattice(0, 0, groups, rows), {position(Ramp, {East})});
    route(1, lattice(0, 1, groups, rows, columns(s.columns - 1)), {position(West, {Ramp, East})});
    route(1, lattice(0, s.columns, groups, rows), {position(West, {Ramp})});
    for (int r = 0; r + 1 < s.chain; ++r) {
      const uint8_t colour = uint8_t(2 + r % 2);
      route(colour, lattice(r, 1, groups, one, columns(s.columns)), {position(Ramp, {South})});
      route(colour, lattice(r + 1, 1, groups, one, columns(s.columns)), {position(North, {Ramp})});
    }
    route(4, lattice(s.chain - 1, 1, groups, one), {position(Ramp, {East})});
    route(4, lattice(s.chain - 1, 2, groups, one, columns(s.columns - 1)),
          {position(West, {East}), position(Ramp, {East})});
    format::IoBinding in;
    in.ports = lattice(0, 0, groups, rows);
    in.side = West;
    in.colour = 0;
    in.hostOffset = affine(0, {0, s.chain * s.lane(), s.lane(), 0});
    in.extent[3] = Affine(s.lane());
    in.stride[3] = 1;
    format::IoBinding out;
    out.output = true;
    out.ports = lattice(s.chain - 1, s.columns, groups, one);
    out.side = East;
    out.colour = 4;
    out.hostOffset = affine(0, {0, s.columns * s.accumulators(), 0, 0});
    out.extent[3] = Affine(s.columns * s.accumulators());
    out.stride[3] = 1;
    config().io = {in, out};
  }

  const ConvShape s;
};

} // namespace wsc::testing
