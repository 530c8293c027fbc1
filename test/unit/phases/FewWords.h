// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A phase whose cores take many words and need few. Core k of a row of n + 1 takes n words from the west and, later, as
// many from the last core, which has multiplied them; it gives its own one of each to the south. It takes them
// in two parts of k + 1 and n − k − 1 words, as in gathers along a line, the first n at once unless `inParts`.
//
//     x ──► 0 ──► 1 ──► … ──► n        words 0 … n − 1
//           ◄──── ◄──── … ◄────        −2 times these
//           ▼     ▼                    x[k], −2 x[k]
#pragma once

#include "test/unit/phases/PhaseProgram.h"

namespace wsc::testing {

inline PhaseProgram fewWords(int32_t n, bool inParts) {
  using namespace format;
  constexpr uint8_t kWords = 0, kProducts = 1, kResults = 2;
  PhaseProgram program(n + 1);
  program.phase("main");
  program.entry().inputs = {{"x", ElementType::F32, {n}}};
  program.entry().outputs = {{"y", ElementType::F32, {n, 2}}};
  Configuration &configuration = program.configuration();
  const auto route = [&](uint8_t colour, int32_t col, int32_t cols, Port from, std::vector<Port> to) {
    RouterRole router;
    router.routers = rectangle(0, col, 1, cols);
    router.colour = colour;
    router.positions.push_back({from, 0});
    for (Port port : to)
      router.positions[0].outputs |= PortMask(1 << int(port));
    configuration.routers.push_back(router);
  };
  route(kWords, 0, n, Port::West, {Port::Ramp, Port::East});
  route(kWords, n, 1, Port::West, {Port::Ramp});
  route(kProducts, n, 1, Port::Ramp, {Port::West});
  route(kProducts, 1, n - 1, Port::East, {Port::Ramp, Port::West});
  route(kProducts, 0, 1, Port::East, {Port::Ramp});
  route(kResults, 0, n, Port::Ramp, {Port::South});
  for (const bool output : {false, true}) {
    IoBinding lane;
    lane.output = output;
    lane.ports = rectangle(0, 0, 1, output ? n : 1);
    lane.side = output ? Port::South : Port::West;
    lane.colour = output ? kResults : kWords;
    lane.extent[3] = output ? 2 : n;
    lane.stride[3] = 1;
    if (output)
      lane.hostOffset = affine(0, {0, 0, 0, 2});
    configuration.io.push_back(lane);
  }

  RoleBuilder taker(program, "taker");
  taker.memoryFrom(8192);
  taker.role.cores = rectangle(0, 0, 1, n);
  const Op words = taker.scratch("words", ElementType::F32, n),
           products = taker.scratch("products", ElementType::F32, n);
  const Op in = taker.input(kWords), back = taker.input(kProducts), out = taker.output(kResults);
  const Affine own = affine(0, {0, 0, 0, 1}), behind = affine(1, {0, 0, 0, 1}), rest = affine(n - 1, {0, 0, 0, -1});
  ThreadBuilder thread = taker.thread();
  if (inParts)
    thread.move(words, in, {behind}).move(words.at(behind), in, {rest});
  else
    thread.move(words, in, {n});
  thread.move(products, back, {behind})
      .move(products.at(behind), back, {rest})
      .move(out, words.at(own), {1})
      .move(out, products.at(own), {1});
  taker.finish();
  RoleBuilder multiplier(program, "multiplier");
  multiplier.memoryFrom(8192);
  multiplier.role.cores = rectangle(0, n, 1, 1);
  const Op taken = multiplier.input(kWords), given = multiplier.output(kProducts);
  multiplier.thread().op(Opcode::Mul, given, taken, imm(-2), {n});
  multiplier.finish();
  return program;
}

} // namespace wsc::testing
