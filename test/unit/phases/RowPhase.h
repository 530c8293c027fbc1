// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A phase on a row of n + 1 cores under construction: x comes from the west, n numbers; each core but the last gives
// two numbers of y to the south.
#pragma once

#include "test/unit/phases/PhaseProgram.h"

#include <initializer_list>

namespace wsc::testing {

class RowPhase {
public:
  static constexpr uint8_t kWords = 0, kProducts = 1, kResults = 2, kCome = 3; // colours

  explicit RowPhase(int32_t n) : program(n + 1) {
    using namespace format;
    program.phase("main");
    program.entry().inputs = {{"x", ElementType::F32, {n}}};
    program.entry().outputs = {{"y", ElementType::F32, {n, 2}}};
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
      program.configuration().io.push_back(lane);
    }
    route(kResults, 0, n, Port::Ramp, {Port::South});
    // From the last core to all others.
    route(kProducts, n, 1, Port::Ramp, {Port::West});
    route(kProducts, 1, n - 1, Port::East, {Port::Ramp, Port::West});
    route(kProducts, 0, 1, Port::East, {Port::Ramp});
  }

  // Of the routers of columns col … col + cols − 1.
  void route(uint8_t colour, int32_t col, int32_t cols, format::Port from, std::initializer_list<format::Port> to) {
    format::RouterRole router;
    router.routers = rectangle(0, col, 1, cols);
    router.colour = colour;
    router.positions.push_back({from, 0});
    for (format::Port port : to)
      router.positions[0].outputs |= format::PortMask(1 << int(port));
    program.configuration().routers.push_back(router);
  }

  PhaseProgram program;
};

} // namespace wsc::testing
