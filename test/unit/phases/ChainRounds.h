// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All-reduces along rows: in every round a chain of cores adds up their words eastwards, on two colours in turns, and
// the last core sends the sums back to all, which halve them and go on with that.
#pragma once

#include "runtime/target/Target.h"
#include "test/unit/support/ProgramBuilder.h"

#include <cmath>

namespace wsc::testing {

struct ChainShape {
  int32_t rows = 4, cols = 7; // at least 3 columns
  int64_t rounds = 3, words = 8;
};

// Variable 0, [rows][cols][words], holds what each core adds in the next round.
inline ExecutableBuilder chainRounds(const ChainShape &shape) {
  using namespace format;
  constexpr uint8_t kMulticast = 2;
  const auto [rows, cols, rounds, words] = shape;
  ExecutableBuilder program;
  Executable &e = program.result;
  e.target = *target::loadTarget("mesh-" + std::to_string(rows) + "x" + std::to_string(cols));
  e.execution = "phased";
  e.entries.push_back({"main", {}, {}, {{StepKind::Run, 0, {}}}});
  std::vector<double> values;
  for (int64_t i = 0; i < rows * cols * words; ++i)
    values.push_back(std::sin(double(i)));
  e.states.push_back(
      {{"x", ElementType::F32, {rows, cols, words}}, program.section("x", bytesOf(ElementType::F32, values))});

  const auto place = [rows = rows](int32_t col, int32_t count, int32_t step) {
    Lattice lattice;
    lattice.col = col;
    lattice.dims[2] = {rows, 1, 0};
    lattice.dims[3] = {count, 0, step};
    return lattice;
  };
  const auto bit = [](Port port) { return PortMask(1 << int(port)); };
  const auto route = [&](uint8_t colour, const Lattice &routers, Port input, PortMask outputs) {
    RouterRole router;
    router.routers = routers;
    router.colour = colour;
    router.positions = {{input, outputs}};
    program.configuration().routers.push_back(router);
  };
  for (int32_t parity = 0; parity < 2; ++parity) { // cores of this parity send on the colour of this number
    const int32_t first = 1 - parity;              // of those that take it
    route(uint8_t(parity), place(parity, (cols - parity) / 2, 2), Port::Ramp, bit(Port::East));
    route(uint8_t(parity), place(first == 0 ? 2 : 1, (cols - (first == 0 ? 1 : 0)) / 2, 2), Port::West,
          bit(Port::Ramp));
  }
  route(kMulticast, place(cols - 1, 1, 1), Port::Ramp, bit(Port::West));
  route(kMulticast, place(1, cols - 2, 1), Port::East, PortMask(bit(Port::Ramp) | bit(Port::West)));
  route(kMulticast, place(0, 1, 1), Port::East, bit(Port::Ramp));

  const auto addRole = [&](const std::string &name, int32_t col, int32_t count, int32_t step) {
    if (count == 0)
      return;
    RoleBuilder role(program, name);
    role.memoryFrom(8192);
    role.role.cores = place(col, count, step);
    const Op x = role.state("x", ElementType::F32, words, 0);
    StateBinding binding;
    binding.role = int32_t(program.configuration().roles.size());
    binding.hostOffset = affine(col * words, {0, 0, cols * words, step * words});
    binding.extent[3] = words;
    binding.stride[3] = 1;
    program.configuration().stateBindings.push_back(binding);
    const bool last = col == cols - 1;
    Op in, out;
    if (col > 0)
      in = role.input(uint8_t((col - 1) % 2));
    if (!last)
      out = role.output(uint8_t(col % 2));
    const Op sums = last ? role.output(kMulticast) : role.input(kMulticast);
    ThreadBuilder thread = role.thread();
    thread.loop(rounds);
    if (last)
      thread.op(Opcode::Add, x, in, x, {words}).move(sums, x, {words});
    else if (col == 0)
      thread.move(out, x, {words}).move(x, sums, {words});
    else
      thread.op(Opcode::Add, out, in, x, {words}).move(x, sums, {words});
    thread.op(Opcode::Mul, x, x, imm(0.5), {words}).endLoop();
    role.finish();
  };
  addRole("first", 0, 1, 1);
  addRole("odd", 1, (cols - 1) / 2, 2);
  addRole("even", 2, (cols - 2) / 2, 2);
  addRole("last", cols - 1, 1, 1);
  return program;
}

} // namespace wsc::testing
