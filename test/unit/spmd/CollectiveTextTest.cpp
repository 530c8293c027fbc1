// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collectives as text: roles with their cores and instructions, routers with their positions.
#include "compiler/spmd/collectives/SegmentGather.h"
#include "compiler/spmd/roles/Roles.h"
#include "runtime/format/Disassembly.h"

#include "absl/strings/str_cat.h"

#include <gtest/gtest.h>

using namespace wsc;
using namespace wsc::spmd;

namespace {

/// A window of `reach` units before and behind on a row of `units` cores, blocks of 4 words laid side by side.
SegmentGather window(int32_t reach, int32_t units) {
  SegmentGather gather;
  gather.segment = reach;
  gather.units = units;
  gather.overlap = true;
  gather.forward.words = 4;
  gather.forward.source = memory(0, 0, {4});
  gather.forward.extent[3] = 4;
  gather.forward.pitchBytes = 16;
  gather.backward = gather.forward;
  const int64_t r = reach;
  gather.forward.own = {.countPerPosition = 1, .place = 16 * r, .placePerPosition = -16};
  gather.forward.other = {.skipPerPosition = 1, .count = r, .countPerPosition = -1};
  gather.backward.own = {.count = r - 1, .countPerPosition = -1, .place = 16 * (r + 1)};
  gather.backward.other = {.count = 1, .countPerPosition = 1, .place = 32 * r, .placePerPosition = -16};
  return gather;
}

std::string print(const SegmentGather &gather, int32_t length) {
  Code code;
  code.scratch("held", format::ElementType::I32, 4);
  code.scratch("window", format::ElementType::I32, 64);
  emitSegmentGather(code, Axis::Row, length, gather, {1, 0});
  format::Configuration configuration;
  const absl::Status status =
      makeRoles(*target::loadTarget(absl::StrCat("mesh-1x", length)), {0, 0, 1, length}, code, 0, configuration);
  EXPECT_TRUE(status.ok()) << status;
  std::string text;
  for (const format::Role &role : configuration.roles)
    absl::StrAppend(&text, role.name, ": ", format::printLattice(role.cores), "\n",
                    format::disassemble(role, role.threads[0], nullptr, 0));
  for (const format::RouterRole &router : configuration.routers) {
    absl::StrAppend(&text, configuration.nets[size_t(router.net)].name, ": ", format::printLattice(router.routers));
    for (const format::SwitchPosition &position : router.positions)
      absl::StrAppend(&text, ", ", format::printSwitchPosition(position));
    absl::StrAppend(&text, "\n");
  }
  return text;
}

} // namespace

// One neighbour on each side: shifts, without switches.
TEST(CollectiveText, AWindowOfOne) {
  EXPECT_EQ(print(window(1, 8), 8), R"(r0c0: core (0, 0)
   0  move.i32 out0(colour 0), held[4*i3] for i3 < 4
   1  move.i32 window[32 + 4*i3], in0(colour 3) for i3 < 4
r0c1sp: row 0, cols 1..5 step 2
   0  move.i32 window[4*i3], in0(colour 0) for i3 < 4
   1  move.i32 window[32 + 4*i3], in1(colour 1) for i3 < 4
   2  move.i32 out0(colour 2), held[4*i3] for i3 < 4
   3  move.i32 out1(colour 3), held[4*i3] for i3 < 4
r0c2sp: row 0, cols 2..6 step 2
   0  move.i32 out0(colour 0), held[4*i3] for i3 < 4
   1  move.i32 out1(colour 1), held[4*i3] for i3 < 4
   2  move.i32 window[4*i3], in0(colour 2) for i3 < 4
   3  move.i32 window[32 + 4*i3], in1(colour 3) for i3 < 4
r0c7: core (0, 7)
   0  move.i32 window[4*i3], in0(colour 0) for i3 < 4
   1  move.i32 out0(colour 3), held[4*i3] for i3 < 4
row segments forward 1 of 8 even: core (0, 0), RAMP -> E
row segments forward 1 of 8 even: row 0, cols 1..5 step 2, W -> RAMP
row segments forward 1 of 8 even: row 0, cols 2..6 step 2, RAMP -> E
row segments forward 1 of 8 even: core (0, 7), W -> RAMP
row segments backward 1 of 8 even: row 0, cols 1..5 step 2, E -> RAMP
row segments backward 1 of 8 even: row 0, cols 2..6 step 2, RAMP -> W
row segments forward 1 of 8 odd: row 0, cols 1..5 step 2, RAMP -> E
row segments forward 1 of 8 odd: row 0, cols 2..6 step 2, W -> RAMP
row segments backward 1 of 8 odd: core (0, 0), E -> RAMP
row segments backward 1 of 8 odd: row 0, cols 1..5 step 2, RAMP -> W
row segments backward 1 of 8 odd: row 0, cols 2..6 step 2, E -> RAMP
row segments backward 1 of 8 odd: core (0, 7), RAMP -> W
)");
}

// Three before each core: cores at position p of their segment take blocks p … 2 of the segment before and 0 … p − 1 of
// their own.
TEST(CollectiveText, AWindowOfThree) {
  SegmentGather gather = window(3, 24);
  gather.backward = {};
  EXPECT_EQ(print(gather, 24), R"(r0c0: core (0, 0)
   0  move.i32 out0(colour 0), held[4*i3] for i3 < 4
   1  send_control out0(colour 0), count 2
r0c1s: row 0, cols 1..2
   0  move.i32 out0(colour 0), held[4*i3] for i3 < 4
   1  send_control out0(colour 0), count 1
   2  move.i32 window[32 - 16*i2 + 4*i3], in0(colour 0) for i2 < 1 + c3, i3 < 4
r0c3sp: row 0, cols 3..15 step 6
   0  move.i32 window[32 - 16*i2 + 4*i3], in0(colour 0) for i2 < 3, i3 < 4
   1  move.i32 null, in0(colour 0) for i3 < 0
   2  move.i32 out0(colour 1), held[4*i3] for i3 < 4
   3  send_control out0(colour 1), count 2
r0c4sg: from (0, 4), 3 times (0, 6), 2 times (0, 1)
   0  move.i32 window[16 - 16*c3 - 16*i2 + 4*i3], in0(colour 0) for i2 < 2 - c3, i3 < 4
   1  move.i32 null, in0(colour 0) for i3 < 4 + 4*c3
   2  move.i32 out0(colour 1), held[4*i3] for i3 < 4
   3  send_control out0(colour 1), count 1
   4  move.i32 window[32 - 16*i2 + 4*i3], in1(colour 1) for i2 < 1 + c3, i3 < 4
r0c6sp: row 0, cols 6..18 step 6
   0  move.i32 out0(colour 0), held[4*i3] for i3 < 4
   1  send_control out0(colour 0), count 2
   2  move.i32 window[32 - 16*i2 + 4*i3], in0(colour 1) for i2 < 3, i3 < 4
   3  move.i32 null, in0(colour 1) for i3 < 0
r0c7sg: from (0, 7), 3 times (0, 6), 2 times (0, 1)
   0  move.i32 out0(colour 0), held[4*i3] for i3 < 4
   1  send_control out0(colour 0), count 1
   2  move.i32 window[32 - 16*i2 + 4*i3], in0(colour 0) for i2 < 1 + c3, i3 < 4
   3  move.i32 window[16 - 16*c3 - 16*i2 + 4*i3], in1(colour 1) for i2 < 2 - c3, i3 < 4
   4  move.i32 null, in1(colour 1) for i3 < 4 + 4*c3
r0c21: core (0, 21)
   0  move.i32 window[32 - 16*i2 + 4*i3], in0(colour 0) for i2 < 3, i3 < 4
   1  move.i32 null, in0(colour 0) for i3 < 0
   2  move.i32 out0(colour 1), held[4*i3] for i3 < 4
   3  send_control out0(colour 1), count 1
r0c22: core (0, 22)
   0  move.i32 window[16 - 16*i2 + 4*i3], in0(colour 0) for i2 < 2, i3 < 4
   1  move.i32 null, in0(colour 0) for i3 < 4
   2  move.i32 out0(colour 1), held[4*i3] for i3 < 4
   3  send_control out0(colour 1), count 1
   4  move.i32 window[32 - 16*i2 + 4*i3], in1(colour 1) for i3 < 4
r0c23: core (0, 23)
   0  move.i32 window[-16*i2 + 4*i3], in0(colour 0) for i3 < 4
   1  move.i32 null, in0(colour 0) for i3 < 8
   2  move.i32 window[32 - 16*i2 + 4*i3], in1(colour 1) for i2 < 2, i3 < 4
row segments forward 3 of 24 even: core (0, 0), RAMP -> E
row segments forward 3 of 24 even: row 0, cols 1..2, RAMP -> E, W -> E RAMP
row segments forward 3 of 24 even: from (0, 3), 3 times (0, 6), 2 times (0, 1), W -> E RAMP
row segments forward 3 of 24 even: row 0, cols 5..17 step 6, W -> RAMP
row segments forward 3 of 24 even: row 0, cols 6..18 step 6, RAMP -> E
row segments forward 3 of 24 even: from (0, 7), 3 times (0, 6), 2 times (0, 1), RAMP -> E, W -> E RAMP
row segments forward 3 of 24 even: row 0, cols 21..22, W -> E RAMP
row segments forward 3 of 24 even: core (0, 23), W -> RAMP
row segments forward 3 of 24 odd: row 0, cols 3..15 step 6, RAMP -> E
row segments forward 3 of 24 odd: from (0, 4), 3 times (0, 6), 2 times (0, 1), RAMP -> E, W -> E RAMP
row segments forward 3 of 24 odd: from (0, 6), 3 times (0, 6), 2 times (0, 1), W -> E RAMP
row segments forward 3 of 24 odd: row 0, cols 8..20 step 6, W -> RAMP
row segments forward 3 of 24 odd: core (0, 21), RAMP -> E
row segments forward 3 of 24 odd: core (0, 22), RAMP -> E, W -> E RAMP
row segments forward 3 of 24 odd: core (0, 23), W -> RAMP
)");
}

// All-gather in groups of four.
TEST(CollectiveText, AGroupGather) {
  SegmentGather gather;
  gather.segment = 4;
  gather.units = 12;
  gather.forward.words = 4;
  gather.forward.source = memory(0, 0, {4});
  gather.forward.extent[3] = 4;
  gather.forward.pitchBytes = 16;
  gather.backward = gather.forward;
  gather.forward.own = {.countPerPosition = 1};
  gather.backward.own = {.count = 3, .countPerPosition = -1, .place = 16, .placePerPosition = 16};
  EXPECT_EQ(print(gather, 12), R"(r0c0sp: row 0, cols 0..8 step 4
   0  move.i32 out0(colour 0), held[4*i3] for i3 < 4
   1  send_control out0(colour 0), count 2
   2  move.i32 window[16 + 4*i3], in0(colour 1) for i3 < 12
r0c1sg: from (0, 1), 3 times (0, 4), 2 times (0, 1)
   0  move.i32 out0(colour 0), held[4*i3] for i3 < 4
   1  send_control out0(colour 0), count 1
   2  move.i32 window[16*c3 - 16*i2 + 4*i3], in0(colour 0) for i2 < 1 + c3, i3 < 4
   3  move.i32 out1(colour 1), held[4*i3] for i3 < 4
   4  send_control out1(colour 1), count 1
   5  move.i32 window[32 + 16*c3 + 4*i3], in1(colour 1) for i3 < 8 - 4*c3
r0c3sp: row 0, cols 3..11 step 4
   0  move.i32 window[32 - 16*i2 + 4*i3], in0(colour 0) for i2 < 3, i3 < 4
   1  move.i32 out0(colour 1), held[4*i3] for i3 < 4
   2  send_control out0(colour 1), count 2
row segments forward 4 of 12: row 0, cols 0..8 step 4, RAMP -> E
row segments forward 4 of 12: from (0, 1), 3 times (0, 4), 2 times (0, 1), RAMP -> E, W -> E RAMP
row segments forward 4 of 12: row 0, cols 3..11 step 4, W -> RAMP
row segments backward 4 of 12: row 0, cols 0..8 step 4, E -> RAMP
row segments backward 4 of 12: from (0, 1), 3 times (0, 4), 2 times (0, 1), RAMP -> W, E -> W RAMP
row segments backward 4 of 12: row 0, cols 3..11 step 4, RAMP -> W
)");
}
