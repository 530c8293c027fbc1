// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which words of a lane cross which link.
#include "Builder.h"

#include "runtime/emulator/Network.h"
#include "runtime/emulator/timing/RouteWalk.h"

namespace wsc::test {
namespace {

using emulator::timing::RouteWalk;

// Four cores of row 0 send 5 words each eastward, in order; the core after them stores them all. The link east of a
// core carries the words of that core and of those west of it.
TEST(RouteWalk, LaneGrowsCoreByCore) {
  Executable e = executable("mesh-1x5");
  Configuration &c = e.configurations[0];
  const std::vector<SwitchPosition> both{{Port::West, bit(Port::East)}, {Port::Ramp, bit(Port::East)}};
  const auto sender = [&](int32_t col, int32_t count, uint8_t controls) {
    c.roles.push_back(
        role("send", rectangle(0, col, 1, count), {out(0)}, {{move(5, queue(0), memory()), control(0, controls)}}));
  };
  sender(0, 1, 1);
  sender(1, 2, 2);
  sender(3, 1, 1);
  c.roles.push_back(role("store", rectangle(0, 4, 1, 1), {in(0)}, {{move(20, memory(), queue(0))}}));
  c.routers.push_back(router(0, rectangle(0, 0, 1, 1), {{Port::Ramp, bit(Port::East)}}));
  c.routers.push_back(router(0, rectangle(0, 1, 1, 3), both));
  c.routers.push_back(router(0, rectangle(0, 4, 1, 1), {{Port::West, bit(Port::Ramp)}}));
  auto networks = emulator::resolveNetworks(e.target, c);
  ASSERT_TRUE(networks.ok()) << networks.status();
  ASSERT_EQ(networks->streams.size(), 1u);

  RouteWalk walk(e.target, c, *networks);
  int visits = 0;
  walk.forEach({0}, [&](int32_t s) {
    ++visits;
    const auto sources = networks->streams[size_t(s)].sources;
    ASSERT_EQ(walk.links().size(), 4u);
    for (const RouteWalk::Link &link : walk.links()) {
      const auto col = int32_t(link.link / 4);
      EXPECT_EQ(link.words, 5 * (col + 1)) << "col " << col;
      const std::vector<bool> crosses = walk.crosses(link.link);
      ASSERT_EQ(crosses.size(), sources.size());
      for (size_t i = 0; i < sources.size(); ++i)
        EXPECT_EQ(crosses[i], sources[i].col <= col) << "link at col " << col << ", core at col " << sources[i].col;
    }
  });
  EXPECT_EQ(visits, 1);
}

} // namespace
} // namespace wsc::test
