// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which neighbouring cores have one timeline.
#include "Builder.h"

#include "runtime/emulator/timing/Partition.h"

namespace wsc::test {
namespace {

using emulator::timing::Partition;

constexpr int32_t kColumns = 6;

// Columns of three cores: row 2 sends northward to row 1, which passes it on to row 0. There the columns up to `end`
// are one role and those after them another.
Executable columns(int32_t end) {
  Executable e = executable("mesh-3x" + std::to_string(kColumns));
  Configuration &c = e.configurations[0];
  c.roles.push_back(role("send", rectangle(2, 0, 1, kColumns), {out(0)}, {{move(20, queue(0), memory())}}));
  c.roles.push_back(role("relay", rectangle(1, 0, 1, kColumns), {in(0), out(1)}, {{move(20, queue(1), queue(0))}}));
  c.roles.push_back(role("left", rectangle(0, 0, 1, end), {in(1)}, {{move(20, memory(), queue(0))}}));
  if (end < kColumns)
    c.roles.push_back(role("right", rectangle(0, end, 1, kColumns - end), {in(1)}, {{move(20, memory(), queue(0))}}));
  for (uint8_t colour : {0, 1}) {
    c.routers.push_back(router(colour, rectangle(2 - colour, 0, 1, kColumns), {{Port::Ramp, bit(Port::North)}}));
    c.routers.push_back(router(colour, rectangle(1 - colour, 0, 1, kColumns), {{Port::South, bit(Port::Ramp)}}));
  }
  return e;
}

// The columns of a role with which units begin.
std::vector<int64_t> cutsOf(const Executable &e, size_t role, bool split = false) {
  const Configuration &c = e.configurations[0];
  const auto networks = emulator::resolveNetworks(e.target, c);
  EXPECT_TRUE(networks.ok()) << networks.status();
  if (!networks.ok())
    return {};
  const Partition partition = emulator::timing::partitionCores(c, *networks, std::vector<bool>(c.roles.size(), split));
  std::vector<int64_t> cuts;
  for (int64_t core = partition.firstCore[role]; core < partition.firstCore[role + 1]; ++core)
    if (partition.begins[size_t(core)])
      cuts.push_back(core - partition.firstCore[role]);
  return cuts;
}

TEST(Partition, CoresThatAreConnectedAlikeStayTogether) {
  const Executable e = columns(kColumns);
  for (size_t role = 0; role < e.configurations[0].roles.size(); ++role)
    EXPECT_EQ(cutsOf(e, role), std::vector<int64_t>{0});
}

// The relays lead to two roles, and that cuts the senders, too, which all send to one.
TEST(Partition, WhatTellsNeighboursApartTravelsAlongTheirColumns) {
  const Executable e = columns(2);
  const std::vector<int64_t> two{0, 2};
  EXPECT_EQ(cutsOf(e, 0), two);
  EXPECT_EQ(cutsOf(e, 1), two);
  EXPECT_EQ(cutsOf(e, 2), std::vector<int64_t>{0});
  EXPECT_EQ(cutsOf(e, 3), std::vector<int64_t>{0});
}

TEST(Partition, SplitRolesAreCutEverywhere) {
  EXPECT_EQ(cutsOf(columns(kColumns), 1, true), (std::vector<int64_t>{0, 1, 2, 3, 4, 5}));
}

} // namespace
} // namespace wsc::test
