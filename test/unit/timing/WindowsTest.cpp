// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Windows of a stream's words, and slots that several share.
#include "runtime/emulator/timing/Windows.h"
#include "Builder.h"
#include "runtime/emulator/timing/SharedSlots.h"

namespace wsc::test {
namespace {

using emulator::Segment;
using emulator::timing::ChannelWords;
using emulator::timing::SharedSlots;
using emulator::timing::Stretch;
using emulator::timing::Window;

// Of twelve words a sample, those in brackets: . [1 2] . . [5 6] . . [9] . .
TEST(Windows, PlacesAndCounts) {
  const std::vector<Stretch> stretches{{0, 1, 2, 4, 2}, {4, 9, 1, 1, 1}};
  const Window window{stretches, 5, 12};
  const std::vector<int64_t> places{1, 2, 5, 6, 9, 13, 14, 17, 18, 21};
  int64_t before = 0;
  for (int64_t place = 0; place < 24; ++place) {
    EXPECT_EQ(window.taken(place), before) << place;
    if (before < int64_t(places.size()) && places[size_t(before)] == place)
      EXPECT_EQ(window.place(before++), place);
  }
  EXPECT_EQ(window.runEnd(0), 2);
  EXPECT_EQ(window.runEnd(3), 4);
  EXPECT_EQ(window.runEnd(9), 10);
}

// Two cores gather ten words each; filters of period 5 pass two and one of them to two sinks: one channel of three
// words a period.
TEST(Windows, FiltersOfOneStreamShareAChannel) {
  Configuration c;
  Queue first = in(0), second = in(0);
  first.filter = {5, Affine(0), Affine(2)};
  second.filter = {5, Affine(4), Affine(1)};
  c.roles.push_back(role("a", rectangle(0, 2, 1, 1), {first}, {}));
  c.roles.push_back(role("b", rectangle(0, 3, 1, 1), {second}, {}));
  emulator::StreamTable table;
  std::vector<emulator::Endpoint> sources(2), sinks(2);
  for (int i = 0; i < 2; ++i) {
    sinks[size_t(i)].role = i;
    sinks[size_t(i)].queue = 0;
  }
  const std::vector<int32_t> compositions{0, 1}, hops{2, 3};
  table.append(0, 0, sources, sinks,
               {{{0, 0, 2}, {0, 5, 2}, {1, 0, 2}, {1, 5, 2}}, {{0, 4, 1}, {0, 9, 1}, {1, 4, 1}, {1, 9, 1}}},
               compositions, hops, 0);
  const std::vector<ChannelWords> channels = emulator::timing::channelsOf(c, table[0]);
  ASSERT_EQ(channels.size(), 1u);
  EXPECT_EQ(channels[0].words, 12);
  // Words 4 to 6 of a core follow each other; those at the border of two cores do not.
  const std::vector<Segment> parts{{0, 0, 2}, {0, 4, 3}, {0, 9, 1}, {1, 0, 2}, {1, 4, 3}, {1, 9, 1}};
  EXPECT_EQ(channels[0].parts, parts);
  ASSERT_EQ(channels[0].compositions.size(), 2u);
  EXPECT_EQ(channels[0].compositions[0].stretches, (std::vector<Stretch>{{0, 0, 2, 3, 4}}));
  EXPECT_EQ(channels[0].compositions[1].stretches, (std::vector<Stretch>{{0, 2, 1, 3, 4}}));
}

TEST(SharedSlots, HigherPriorityTakesAndOwes) {
  SharedSlots slots(2);
  EXPECT_EQ(slots.after(0, 100, {0, 0}), 100);
  slots.take(0, 100, 100, {0, 0});
  EXPECT_EQ(slots.after(20, 30, {1, 2}), 50);
  slots.take(20, 50, 30, {1, 2});
  EXPECT_EQ(slots.due(0, 0, 100), 30);
  EXPECT_EQ(slots.due(0, 0, 120), 10) << "nobody has those after the first 100";
  slots.repay(0);
  EXPECT_EQ(slots.due(0, 0, 100), 0);
  EXPECT_EQ(slots.due(1, 20, 50), 0);
}

TEST(SharedSlots, EqualsTakeTurns) {
  SharedSlots slots(3);
  slots.take(0, 100, 100, {0, 1});
  EXPECT_EQ(slots.after(0, 20, {1, 1}), 40);
  slots.take(0, 40, 20, {1, 1});
  EXPECT_EQ(slots.due(0, 0, 100), 20);
  EXPECT_EQ(slots.after(0, 10, {2, 0}), 110) << "nothing is left for a lower one";
}

TEST(SharedSlots, TellsWhatOthersHave) {
  SharedSlots slots(3);
  slots.take(0, 100, 50, {0, 1});
  slots.take(50, 150, 20, {1, 0});
  const auto others = [&](int64_t from, int64_t to, SharedSlots::Claim claim) {
    int64_t parts = 0;
    slots.forOthers(from, to, claim, [&](int64_t begin, int64_t end, int64_t part) { parts += (end - begin) * part; });
    return double(parts) / SharedSlots::kWhole;
  };
  EXPECT_NEAR(others(0, 200, {2, 0}), 70, 0.1);
  EXPECT_NEAR(others(0, 200, {2, 1}), 50, 0.1) << "lower ones do not count";
  EXPECT_NEAR(others(40, 60, {0, 0}), 4 / 3.0, 0.1)
      << "nor does what it has itself; the 20 lie where there is more space";
  EXPECT_TRUE(slots.holders(60, {2, 1}).lower);
  EXPECT_TRUE(slots.holders(60, {2, 1}).equal);
  EXPECT_FALSE(slots.holders(120, {2, 1}).equal);
  EXPECT_FALSE(slots.holders(200, {2, 1}).lower);
  slots.clear();
  EXPECT_EQ(slots.after(0, 10, {2, 0}), 10);
}

} // namespace
} // namespace wsc::test
