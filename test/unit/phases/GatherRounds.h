// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A phase whose cores wait for each other in circles: in every round the cores of a row send their words in turns to
// the row's last core, which sends all of them back to all; each core keeps its eastern neighbour's, skips the others,
// multiplies by a matrix and goes on with that.
#pragma once

#include "runtime/target/Target.h"
#include "test/unit/support/ProgramBuilder.h"

#include <cmath>

namespace wsc::testing {

struct GatherShape {
  int32_t rows = 4, cols = 6; // at least 4 columns
  int64_t rounds = 3, words = 8;
  bool unrolled = false; // the relay takes all rounds with one instruction
};

// Variable 0, [rows][cols][words], holds what each core sends in the next round.
inline ExecutableBuilder gatherRounds(const GatherShape &shape) {
  using namespace format;
  constexpr uint8_t kGather = 0, kMulticast = 1;
  const auto [rows, cols, rounds, words, unrolled] = shape;
  ExecutableBuilder program;
  Executable &e = program.result;
  e.target = *target::loadTarget("mesh-" + std::to_string(rows) + "x" + std::to_string(cols));
  e.execution = "phased";
  e.entries.push_back({"main", {}, {}, {{StepKind::Run, 0, {}}}});
  std::vector<double> values, matrix;
  for (int64_t i = 0; i < rows * cols * words; ++i)
    values.push_back(std::sin(double(i)));
  for (int64_t i = 0; i < words * words; ++i)
    matrix.push_back(std::cos(double(7 * i)) / std::sqrt(double(words)));
  e.states.push_back(
      {{"x", ElementType::F32, {rows, cols, words}}, program.section("x", bytesOf(ElementType::F32, values))});
  const int32_t matrixSection = program.section("matrix", bytesOf(ElementType::F32, matrix));

  const auto place = [&](int32_t col, int32_t count) {
    Lattice lattice;
    lattice.col = col;
    lattice.dims[2] = {rows, 1, 0};
    lattice.dims[3] = {count, 0, 1};
    return lattice;
  };
  const auto route = [&](uint8_t colour, int32_t col, int32_t count,
                         std::vector<std::pair<Port, std::vector<Port>>> positions) {
    RouterRole router;
    router.routers = place(col, count);
    router.colour = colour;
    for (const auto &[input, outputs] : positions) {
      router.positions.push_back({input, 0});
      for (Port port : outputs)
        router.positions.back().outputs |= PortMask(1 << int(port));
    }
    program.configuration().routers.push_back(router);
  };
  route(kGather, 0, 1, {{Port::Ramp, {Port::East}}});
  route(kGather, 1, cols - 2, {{Port::West, {Port::East}}, {Port::Ramp, {Port::East}}});
  route(kGather, cols - 1, 1, {{Port::West, {Port::Ramp}}});
  route(kMulticast, cols - 1, 1, {{Port::Ramp, {Port::West}}});
  route(kMulticast, 1, cols - 2, {{Port::East, {Port::Ramp, Port::West}}});
  route(kMulticast, 0, 1, {{Port::East, {Port::Ramp}}});

  const auto addRole = [&](const std::string &name, int32_t col, int32_t count, uint8_t control) {
    RoleBuilder role(program, name);
    role.memoryFrom(8192);
    role.role.cores = place(col, count);
    const Op x = role.state("x", ElementType::F32, words, 0);
    const Op send = role.fifo("send", ElementType::F32, words);
    StateBinding binding;
    binding.role = int32_t(program.configuration().roles.size());
    binding.hostOffset = affine(col * words, {0, 0, cols * words, words});
    binding.extent[3] = words;
    binding.stride[3] = 1;
    program.configuration().stateBindings.push_back(binding);
    if (col == cols - 1) {
      const Op gather = role.input(kGather), multicast = role.output(kMulticast);
      if (unrolled) { // it has no words of its own
        role.thread().move(multicast, gather, {rounds, (cols - 1) * words});
      } else {
        role.thread().loop(rounds).move(send, x, {words}).endLoop();
        role.thread()
            .loop(rounds)
            .move(multicast, gather, {(cols - 1) * words})
            .move(multicast, send, {words})
            .endLoop();
      }
      role.finish();
      return;
    }
    const Op matrixOp = role.constant("matrix", ElementType::F32, words * words, matrixSection, 0);
    const Op got = role.scratch("got", ElementType::F32, words), sum = role.scratch("sum", ElementType::F32, words);
    const Op gather = role.output(kGather), multicast = role.input(kMulticast);
    const int64_t all = unrolled ? cols - 1 : cols;
    // Core k keeps the words of core k + 1, if that sends any, else its own.
    const int64_t shift = unrolled && col == cols - 2 ? 0 : 1;
    role.thread()
        .loop(rounds)
        .move(send, x, {words})
        .move(null(), multicast, {affine((col + shift) * words, {0, 0, 0, words})})
        .move(got, multicast, {words})
        .move(null(), multicast, {affine((all - 1 - col - shift) * words, {0, 0, 0, -words})})
        .move(sum, imm(0), {words})
        .loop(words)
        .fma(sum, matrixOp.at(0).strides({1}).steps({0, int32_t(words)}), got.repeated().steps({0, 1}), {words})
        .endLoop()
        .move(x, sum, {words})
        .endLoop();
    role.thread().loop(rounds).move(gather, send, {words}).sendControl(gather, control).endLoop();
    role.finish();
  };
  addRole("first", 0, 1, 1);
  addRole("middle", 1, cols - 3, 2);
  addRole("before", cols - 2, 1, 1);
  addRole("relay", cols - 1, 1, 0);
  return program;
}

} // namespace wsc::testing
