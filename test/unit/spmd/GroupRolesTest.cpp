// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Roles of codes with groups of cores: as many for a hundred groups as for four, and every core executes what the
// guards and affine numbers of the code say.
#include "compiler/spmd/collectives/GroupReduce.h"
#include "compiler/spmd/collectives/SegmentGather.h"
#include "compiler/spmd/roles/Roles.h"
#include "runtime/emulator/LatticeWalk.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>

using namespace wsc;
using namespace wsc::spmd;

namespace {

target::Target meshOf(int32_t rows, int32_t cols) {
  return *target::loadTarget("mesh-" + std::to_string(rows) + "x" + std::to_string(cols));
}

/// A window over `reach` neighbours before and behind on a line of `units` units.
SegmentGather window(int32_t unit, int32_t reach, int32_t units, int16_t held) {
  SegmentGather gather;
  gather.unit = unit;
  gather.segment = reach;
  gather.units = units;
  gather.overlap = true;
  gather.forward.words = gather.backward.words = 4;
  gather.forward.source = gather.backward.source = memory(held, 0, {4});
  gather.forward.extent[3] = gather.backward.extent[3] = 4;
  gather.forward.pitchBytes = gather.backward.pitchBytes = 16;
  const int64_t r = reach;
  gather.forward.own = {.countPerPosition = 1, .place = 16 * r, .placePerPosition = -16};
  gather.forward.other = {.skipPerPosition = 1, .count = r, .countPerPosition = -1};
  gather.backward.own = {.count = r - 1, .countPerPosition = -1, .place = 16 * r};
  gather.backward.other = {.count = 1, .countPerPosition = 1, .place = 32 * r, .placePerPosition = -16};
  return gather;
}

size_t rolesOf(const Code &code, const Rectangle &rectangle) {
  format::Configuration configuration;
  const absl::Status status = makeRoles(meshOf(rectangle.rows, rectangle.cols), rectangle, code, 0, configuration);
  EXPECT_TRUE(status.ok()) << status;
  return configuration.roles.size();
}

Code codeWithBuffers() {
  Code code;
  code.scratch("held", format::ElementType::I32, 64);
  code.scratch("into", format::ElementType::I32, 1024);
  return code;
}

} // namespace

TEST(GroupRoles, DoNotGrowWithTheNumberOfGroups) {
  auto windows = [](int32_t length, int32_t unit, int32_t reach) {
    Code code = codeWithBuffers();
    emitSegmentGather(code, Axis::Row, length, window(unit, reach, length / unit, 0), {1, 0});
    return rolesOf(code, {0, 0, 2, length});
  };
  auto groups = [](int32_t length, int32_t group) {
    Code code = codeWithBuffers();
    emitGroupAllReduce(code, {Axis::Col, length, group, length / group}, format::Opcode::Add, format::ElementType::F32,
                       8, {0, 0}, {1, 0});
    return rolesOf(code, {0, 0, length, 3});
  };
  EXPECT_EQ(windows(8, 1, 1), windows(240, 1, 1));
  EXPECT_LE(windows(240, 1, 1), 4u);
  EXPECT_EQ(windows(48, 1, 4), windows(240, 1, 4));
  EXPECT_EQ(windows(48, 2, 4), windows(240, 2, 4));
  auto gathers = [](int32_t length, int32_t group) {
    Code code = codeWithBuffers();
    SegmentGather gather = window(1, group, length, 0);
    gather.overlap = false;
    emitSegmentGather(code, Axis::Col, length, gather, {1, 0});
    return rolesOf(code, {0, 0, length, 3});
  };
  EXPECT_EQ(gathers(12, 4), 3u); // first, inner ones, last
  EXPECT_EQ(gathers(240, 4), 3u);
  EXPECT_EQ(gathers(240, 12), 3u);
  EXPECT_EQ(groups(20, 5), groups(240, 5));
  EXPECT_EQ(groups(240, 5), 4u); // first, odd, even, last
}

// Guards and affine numbers at random, on both axes; roles against the definition, core by core.
TEST(GroupRoles, EveryCoreExecutesWhatTheCodeSays) {
  const char *text = std::getenv("WSC_SEED");
  const uint64_t seed = text ? std::strtoull(text, nullptr, 10) : 1;
  for (int i = 0; i < 100 && !HasFailure(); ++i) {
    SCOPED_TRACE("seed " + std::to_string(seed) + " case " + std::to_string(i));
    std::mt19937_64 random(seed * 1000 + uint64_t(i));
    auto below = [&](int32_t limit) { return int32_t(random() % uint64_t(limit)); };
    const Rectangle rectangle{0, 0, 1 + below(24), 1 + below(24)};
    const int32_t chains[][3] = {{1, 2, 4}, {1, 3, 6}, {1, 1, 5}, {2, 3, 4}};
    const auto &moduli = chains[below(4)];
    auto part = [&](int32_t length) {
      AxisGuard made;
      if (below(2))
        made.begin = below(length);
      if (below(2))
        made.end = below(length + 1);
      made.modulus = moduli[below(3)];
      if (made.modulus % 2 == 0 && below(2))
        made.unit = 2;
      if (below(2))
        made.subBegin = below(made.modulus / made.unit);
      if (below(2))
        made.subEnd = 1 + below(made.modulus / made.unit);
      if (made.unit > 1 && below(3) == 0)
        made.placeBegin = 1;
      if (below(4) == 0)
        made.parity = below(2);
      return made;
    };
    Code code = codeWithBuffers();
    for (int n = 0; n < 6; ++n) {
      auto move =
          instruction(format::Opcode::Move, format::ElementType::I32, {1 + n}, memory(1, 0, {4}), memory(0, 0, {4}));
      for (int64_t &step : move.dst.base.perDim)
        step = 4 * below(3);
      for (int64_t &step : move.extent[3].perDim)
        step = below(2);
      Guard guard = withAlong({}, Axis::Row, part(rectangle.cols));
      guard = withAlong(guard, Axis::Col, part(rectangle.rows));
      code.append(std::move(move), guard);
    }
    format::Configuration configuration;
    const absl::Status status = makeRoles(meshOf(rectangle.rows, rectangle.cols), rectangle, code, 0, configuration);
    ASSERT_TRUE(status.ok()) << status;
    std::map<std::pair<int32_t, int32_t>, std::vector<std::pair<int64_t, int64_t>>> found; // base and extent
    for (const format::Role &role : configuration.roles)
      emulator::forEachPoint(role.cores, [&](const format::LatticeIndex &index, int32_t row, int32_t col) {
        EXPECT_FALSE(found.contains({row, col})) << "core (" << row << ", " << col << ") has two roles";
        auto &executed = found[{row, col}];
        for (const format::Instruction &each : role.threads[0])
          executed.emplace_back(each.dst.base.at(index), each.extent[3].at(index));
        return true;
      });
    for (int32_t row = 0; row < rectangle.rows; ++row)
      for (int32_t col = 0; col < rectangle.cols; ++col) {
        std::vector<std::pair<int64_t, int64_t>> expected;
        for (size_t n = 0; n < code.main.size(); ++n) {
          const Guard &guard = code.guards[n];
          if (!runs(guard, row, col))
            continue;
          const format::LatticeIndex place{along(guard, Axis::Col).sub(row), along(guard, Axis::Row).sub(col), row,
                                           col};
          expected.emplace_back(code.main[n].dst.base.at(place), code.main[n].extent[3].at(place));
        }
        ASSERT_EQ((found[{row, col}]), expected) << "core (" << row << ", " << col << ")";
      }
  }
}

TEST(GroupRoles, TooManyClassesAreAnError) {
  Code code = codeWithBuffers();
  for (int32_t modulus : {17, 19, 23, 29, 31, 37}) {
    auto move = instruction(format::Opcode::Move, format::ElementType::I32, {1}, memory(1, 0, {4}), memory(0, 0, {4}));
    move.dst.base.perDim[kColSubDim] = 4;
    AxisGuard part;
    part.modulus = modulus;
    part.subBegin = modulus / 2;
    code.append(std::move(move), withAlong({}, Axis::Row, part));
  }
  format::Configuration configuration;
  const absl::Status status = makeRoles(meshOf(1, 900), {0, 0, 1, 900}, code, 0, configuration);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(status.message().find("groups of 17, 19, 23, 29, 31, 37 cores"), std::string::npos) << status;
}

TEST(RouteNeeds, AreThoseOfTheBusiestCore) {
  Code code = codeWithBuffers();
  emitSegmentGather(code, Axis::Row, 12, window(1, 3, 12, 0), {1, 0});
  RouteNeeds needs = routeNeeds(code, {0, 0, 2, 12});
  EXPECT_EQ(needs.colours, 4); // two directions, even and odd segments
  EXPECT_EQ(needs.inputs, 4);  // a core inside takes from its own segment and from its neighbour, both ways
  EXPECT_EQ(needs.outputs, 2);
  emitGroupAllReduce(code, {Axis::Col, 2, 2, 1}, format::Opcode::Add, format::ElementType::F32, 8, {0, 0}, {1, 0});
  needs = routeNeeds(code, {0, 0, 2, 12});
  EXPECT_EQ(needs.colours, 6);
  EXPECT_EQ(needs.inputs, 5);
  EXPECT_EQ(needs.outputs, 3);
  EXPECT_TRUE(needs.fit(meshOf(2, 12)));
  EXPECT_FALSE((RouteNeeds{.inputs = 9}.fit(meshOf(2, 12))));
}

TEST(RouteColours, TooFewAreAnError) {
  Code code = codeWithBuffers();
  emitGroupAllReduce(code, {Axis::Col, 2, 2, 1}, format::Opcode::Add, format::ElementType::F32, 8, {0, 0}, {1, 0});
  emitSegmentGather(code, Axis::Row, 12, window(1, 3, 12, 0), {1, 0});
  target::Target target = meshOf(2, 12);
  EXPECT_TRUE(familyColours(target, code).ok());
  target.colours = 5;
  target.reservedColours = {0};
  const auto colours = familyColours(target, code);
  ASSERT_FALSE(colours.ok());
  EXPECT_EQ(colours.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_NE(colours.status().message().find("6"), std::string::npos) << colours.status();
  EXPECT_NE(colours.status().message().find("4"), std::string::npos) << colours.status();
}
