// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Resolution of streams: gathers, multicasts, scatters and what is wrong with a route.
#include "runtime/emulator/Network.h"
#include "test/unit/emulator/TinyMesh.h"

#include <gtest/gtest.h>

using namespace wsc::format;
using namespace wsc::emulator;
using namespace wsc::testing;

namespace {

Role sender(int row, int col, int words, int controlCount, bool output = true) {
  Role role;
  role.name = output ? "sender" : "receiver";
  role.cores = rowOf(row, col, 1);
  role.buffers = {scratch(4 * words)};
  role.queues = {{output, 0, 0}};
  role.threads.emplace_back();
  if (output)
    role.threads[0].push_back(vectorOp(Opcode::Move, words, queueOperand(0), memoryOperand(0, 4)));
  else
    role.threads[0].push_back(vectorOp(Opcode::Move, words, memoryOperand(0, 4), queueOperand(0)));
  if (controlCount)
    role.threads[0].push_back(control(0, controlCount));
  return role;
}

// Cores 0 … n-1 of row 0 send 10, 11, … words; core n receives all.
Executable gather(int n) {
  Executable e = tinyMesh(1, n + 1);
  Configuration &c = e.configurations[0];
  int total = 0;
  for (int k = 0; k < n; ++k) {
    c.roles.push_back(sender(0, k, 10 + k, k == 0 || k == n - 1 ? 1 : 2));
    total += 10 + k;
  }
  c.roles.push_back(sender(0, n, total, 0, false));
  c.routers.push_back({rowOf(0, 0, 1), 0, -1, {from(Port::Ramp, {Port::East})}});
  c.routers.push_back({rowOf(0, 1, n - 1), 0, -1, {from(Port::West, {Port::East}), from(Port::Ramp, {Port::East})}});
  c.routers.push_back({rowOf(0, n, 1), 0, -1, {from(Port::West, {Port::Ramp})}});
  return e;
}

std::string errorOf(const Executable &e) {
  auto networks = resolveNetworks(e.target, e.configurations[0]);
  return networks.ok() ? "" : std::string(networks.status().message());
}

} // namespace

TEST(Network, GatherAlongARow) {
  for (int n : {2, 3, 17}) {
    Executable e = gather(n);
    auto networks = resolveNetworks(e.target, e.configurations[0]);
    ASSERT_TRUE(networks.ok()) << networks.status();
    ASSERT_EQ(networks->streams.size(), 1u);
    const Stream stream = networks->streams[0];
    ASSERT_EQ(stream.sources.size(), size_t(n));
    ASSERT_EQ(stream.sinks.size(), 1u);
    ASSERT_EQ(stream.compositions.size(), 1u);
    ASSERT_EQ(stream.compositions[0].size(), size_t(n));
    int64_t hops = 0;
    for (int k = 0; k < n; ++k) {
      const Segment segment = stream.compositions[0][k];
      EXPECT_EQ(stream.sources[segment.source].col, k);
      EXPECT_EQ(segment.begin, 0);
      EXPECT_EQ(segment.count, 10 + k);
      hops += int64_t(10 + k) * (n - k);
    }
    EXPECT_EQ(stream.sinkHops[0], n);
    EXPECT_EQ(stream.linkWordsPerSample, hops);
    EXPECT_EQ(networks->streamAt(e.configurations[0].roles[n], n, {}, 0), 0);
  }
}

TEST(Network, MulticastSharesOneComposition) {
  Executable e = tinyMesh(2, 3);
  Configuration &c = e.configurations[0];
  c.roles = {sender(0, 0, 8, 0), sender(0, 1, 8, 0, false), sender(1, 1, 8, 0, false), sender(0, 2, 8, 0, false)};
  c.routers.push_back({rowOf(0, 0, 1), 0, -1, {from(Port::Ramp, {Port::East})}});
  c.routers.push_back({rowOf(0, 1, 1), 0, -1, {from(Port::West, {Port::Ramp, Port::East, Port::South})}});
  c.routers.push_back({rowOf(1, 1, 1), 0, -1, {from(Port::North, {Port::Ramp})}});
  c.routers.push_back({rowOf(0, 2, 1), 0, -1, {from(Port::West, {Port::Ramp})}});
  auto networks = resolveNetworks(e.target, c);
  ASSERT_TRUE(networks.ok()) << networks.status();
  const Stream stream = networks->streams[0];
  EXPECT_EQ(stream.sinks.size(), 3u);
  EXPECT_EQ(stream.compositions.size(), 1u);
  EXPECT_EQ(stream.linkWordsPerSample, 24);
}

TEST(Network, FilterPassesItsWindowOfEveryPeriod) {
  // 24 words go along a row; core 1 takes words 1 and 2 of every 8, core 2 the last 12, core 3 all.
  Executable e = tinyMesh(1, 4);
  Configuration &c = e.configurations[0];
  c.roles = {sender(0, 0, 24, 0), sender(0, 1, 6, 0, false), sender(0, 2, 12, 0, false), sender(0, 3, 24, 0, false)};
  c.roles[1].queues[0].filter = {8, 1, 2};
  c.roles[2].queues[0].filter = {24, 12, 12};
  c.routers.push_back({rowOf(0, 0, 1), 0, -1, {from(Port::Ramp, {Port::East})}});
  c.routers.push_back({rowOf(0, 1, 2), 0, -1, {from(Port::West, {Port::Ramp, Port::East})}});
  c.routers.push_back({rowOf(0, 3, 1), 0, -1, {from(Port::West, {Port::Ramp})}});
  auto networks = resolveNetworks(e.target, c);
  ASSERT_TRUE(networks.ok()) << networks.status();
  const Stream stream = networks->streams[0];
  EXPECT_EQ(stream.linkWordsPerSample, 3 * 24); // filters stop nothing on the way
  const std::vector<std::vector<Segment>> expected = {
      {}, {{0, 1, 2}, {0, 9, 2}, {0, 17, 2}}, {{0, 12, 12}}, {{0, 0, 24}}};
  ASSERT_EQ(stream.sinks.size(), 3u);
  for (size_t k = 0; k < 3; ++k) {
    const auto composition = stream.compositions[size_t(stream.sinkComposition[k])];
    EXPECT_EQ(std::vector<Segment>(composition.begin(), composition.end()), expected[size_t(stream.sinks[k].col)])
        << "column " << stream.sinks[k].col;
  }

  c.roles[1].queues[0].filter = {7, 1, 2};
  EXPECT_NE(errorOf(e).find("is met by 24 words per sample, no multiple of its period of 7"), std::string::npos)
      << errorOf(e);
}

TEST(Network, FilterCutsAcrossTheSourcesOfAGather) {
  // Core 3 sees 10, 11 and 12 words of the cores before it; its filter passes words 5 to 24.
  Executable e = gather(3);
  e.configurations[0].roles[3] = sender(0, 3, 20, 0, false);
  e.configurations[0].roles[3].queues[0].filter = {33, 5, 20};
  auto networks = resolveNetworks(e.target, e.configurations[0]);
  ASSERT_TRUE(networks.ok()) << networks.status();
  const auto composition = networks->streams[0].compositions[0];
  EXPECT_EQ(std::vector<Segment>(composition.begin(), composition.end()),
            (std::vector<Segment>{{0, 5, 5}, {1, 0, 11}, {2, 0, 4}}));
}

TEST(Network, ScatterGivesEachSinkItsPart) {
  // The sender's first 4 words go to core 1; its control word turns router 1, the next 6 go on to core 2.
  Executable e = tinyMesh(1, 3);
  Configuration &c = e.configurations[0];
  c.roles = {sender(0, 0, 4, 1), sender(0, 1, 4, 0, false), sender(0, 2, 6, 0, false)};
  c.roles[0].threads[0].push_back(vectorOp(Opcode::Move, 6, queueOperand(0), memoryOperand(0, 0)));
  c.roles[0].threads[0].push_back(control(0, 1));
  c.routers.push_back({rowOf(0, 0, 1), 0, -1, {from(Port::Ramp, {Port::East})}});
  c.routers.push_back({rowOf(0, 1, 1), 0, -1, {from(Port::West, {Port::Ramp}), from(Port::West, {Port::East})}});
  c.routers.push_back({rowOf(0, 2, 1), 0, -1, {from(Port::West, {Port::Ramp})}});
  auto networks = resolveNetworks(e.target, c);
  ASSERT_TRUE(networks.ok()) << networks.status();
  const Stream stream = networks->streams[0];
  ASSERT_EQ(stream.sinks.size(), 2u);
  ASSERT_EQ(stream.compositions.size(), 2u);
  for (size_t k = 0; k < 2; ++k) {
    const auto composition = stream.compositions[size_t(stream.sinkComposition[k])];
    ASSERT_EQ(composition.size(), 1u);
    EXPECT_EQ(composition[0].begin, stream.sinks[k].col == 1 ? 0 : 4);
    EXPECT_EQ(composition[0].count, stream.sinks[k].col == 1 ? 4 : 6);
  }
}

// A control word passes routers that deliver to their cores; these see data words alone.
TEST(Network, GatherOfTheNearestFirst) {
  constexpr int kCores = 5;
  Executable e = tinyMesh(1, kCores);
  Configuration &c = e.configurations[0];
  for (int k = 0; k < kCores; ++k) {
    const bool gives = k + 1 < kCores;
    Role role = sender(0, k, gives ? 4 : 4 * k, !gives ? 0 : k == 0 ? kCores - 2 : 1, gives);
    if (gives && k > 0) {
      role.queues.push_back({false, 0, 0});
      role.threads[0].push_back(vectorOp(Opcode::Move, 4 * k, memoryOperand(0, 0), queueOperand(1)));
    }
    c.roles.push_back(role);
  }
  c.routers.push_back({rowOf(0, 0, 1), 0, -1, {from(Port::Ramp, {Port::East})}});
  c.routers.push_back(
      {rowOf(0, 1, kCores - 2), 0, -1, {from(Port::Ramp, {Port::East}), from(Port::West, {Port::East, Port::Ramp})}});
  c.routers.push_back({rowOf(0, kCores - 1, 1), 0, -1, {from(Port::West, {Port::Ramp})}});
  auto networks = resolveNetworks(e.target, c);
  ASSERT_TRUE(networks.ok()) << networks.status();
  const Stream stream = networks->streams[0];
  ASSERT_EQ(stream.sinks.size(), size_t(kCores - 1));
  for (size_t k = 0; k < stream.sinks.size(); ++k) {
    const auto seen = stream.compositions[size_t(stream.sinkComposition[k])];
    ASSERT_EQ(seen.size(), size_t(stream.sinks[k].col));
    for (size_t i = 0; i < seen.size(); ++i)
      EXPECT_EQ(stream.sources[size_t(seen[i].source)].col, stream.sinks[k].col - 1 - int(i));
  }
}

TEST(Network, NamesWhatIsWrong) {
  Executable e = gather(3);
  e.configurations[0].roles[0].threads[0].pop_back(); // core 0 does not turn to core 1
  EXPECT_NE(errorOf(e).find("left over"), std::string::npos) << errorOf(e);
  e = gather(3);
  e.configurations[0].roles[2].threads[0].pop_back(); // the last one does not turn its switch back
  EXPECT_NE(errorOf(e).find("instead of 0"), std::string::npos) << errorOf(e);
  e = gather(3);
  e.configurations[0].routers.pop_back();
  EXPECT_NE(errorOf(e).find("ends there"), std::string::npos) << errorOf(e);
  e = gather(3);
  e.configurations[0].roles[0].threads[0][0].extent[3] = Affine(9);
  EXPECT_NE(errorOf(e).find("takes 33 words per sample, but 32 are sent"), std::string::npos) << errorOf(e);
  e = gather(3);
  e.configurations[0].roles.pop_back();
  EXPECT_NE(errorOf(e).find("nothing takes words"), std::string::npos) << errorOf(e);
  e = gather(3);
  e.configurations[0].routers.push_back(e.configurations[0].routers[0]);
  EXPECT_NE(errorOf(e).find("two router roles"), std::string::npos) << errorOf(e);
  e = gather(3);
  e.configurations[0].roles[2].threads[0][1].controlCount = 2;
  EXPECT_NE(errorOf(e).find("a control word"), std::string::npos) << errorOf(e);
  e = gather(3);
  e.configurations[0].roles[0].threads[0].clear();
  e.configurations[0].roles[1].threads[0].clear();
  e.configurations[0].roles[2].threads[0].clear();
  EXPECT_NE(errorOf(e).find("no source reaches it"), std::string::npos) << errorOf(e);
}

TEST(Network, RefusesWordsThatCircle) {
  // Two routers pass on to each other; core 0's control word opens the circle behind its words.
  Executable e = tinyMesh(1, 2);
  Configuration &c = e.configurations[0];
  c.roles = {sender(0, 0, 4, 1)};
  c.roles[0].threads[0].insert(c.roles[0].threads[0].begin(), c.roles[0].threads[0][0]);
  c.routers.push_back({rowOf(0, 0, 1), 0, -1, {from(Port::Ramp, {Port::East}), from(Port::East, {Port::East})}});
  c.routers.push_back({rowOf(0, 1, 1), 0, -1, {from(Port::West, {Port::West})}});
  EXPECT_NE(errorOf(e).find("circle"), std::string::npos) << errorOf(e);
}
