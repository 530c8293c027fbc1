// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Feeders that compute: cores that take a contraction's lanes, send the input along their row and make output channels
// of their own.
#include "test/models/ModelCheck.h"

#include <algorithm>

namespace wsc::test {
namespace {

using format::Opcode;
using format::Role;

bool hasFma(const Role &role) {
  for (const format::Thread &thread : role.threads)
    for (const format::Instruction &instruction : thread)
      if (instruction.opcode == Opcode::Fma)
        return true;
  return false;
}

/// Roles that take lanes into FIFOs of their own and multiply.
struct Found {
  int64_t feeders = 0, alone = 0; // alone: their row has no other core
};

Found feedersOf(const format::Executable &executable) {
  Found found;
  for (const Role &role : executable.configurations[0].roles) {
    const bool ingests = std::any_of(role.buffers.begin(), role.buffers.end(),
                                     [](const format::Buffer &buffer) { return buffer.name.rfind("in", 0) == 0; });
    if (!ingests || !hasFma(role))
      continue;
    ++found.feeders;
    const auto outputs =
        std::count_if(role.queues.begin(), role.queues.end(), [](const format::Queue &queue) { return queue.output; });
    found.alone += outputs == 1; // sums or results, and nobody to feed
  }
  return found;
}

/// Compiles for `target`, checks results and schedules, and returns what feeders there are.
Found check(const NetBuilder &net, const std::string &target, uint64_t seed) {
  checkModel(net.onnx, seed, {.targets = {target}});
  TemporaryFolder folder;
  EXPECT_TRUE(net.onnx.write(folder / "model.onnx"));
  EXPECT_TRUE(compileModel(folder / "model.onnx", target, folder / "model.wse").ok());
  auto session = Session::open(folder / "model.wse", {.threads = 1});
  EXPECT_TRUE(session.ok()) << session.status();
  return session.ok() ? feedersOf((*session)->executable()) : Found();
}

TEST(Feeders, ComputeWhereColumnsAreScarce) {
  struct Case {
    const char *name, *target;
    std::vector<int64_t> shape;
    int64_t channels;
    Window2d window;
  };
  const Case cases[] = {
      {"1x1", "mesh-32x6", {1, 32, 4, 28}, 96, {.kernel = {1, 1}}},
      {"in bands", "mesh-32x4", {1, 12, 4, 16}, 40, {.kernel = {1, 1}}},
      {"3x3, lanes of three tiles", "mesh-42x4", {1, 24, 7, 7}, 30, {.pads = {1, 1, 1, 1}}},
      {"stride 2", "mesh-40x4", {1, 20, 9, 11}, 17, {.strides = {2, 2}, .pads = {1, 1, 1, 1}}},
      {"a last slice of fewer channels", "mesh-12x5", {1, 37, 3, 10}, 23, {.kernel = {1, 1}}},
  };
  uint64_t seed = 400;
  for (const Case &c : cases) {
    SCOPED_TRACE(c.name);
    NetBuilder net(++seed);
    net.output(net.unary("Relu", net.conv(net.input("x", c.shape), c.channels, c.window)));
    EXPECT_GT(check(net, c.target, seed).feeders, 0);
  }
}

TEST(Feeders, ComputeAloneInTheirRow) {
  NetBuilder net(410);
  net.output(net.conv(net.input("x", {1, 24, 4, 8}), 6, {.kernel = {1, 1}}));
  EXPECT_GT(check(net, "mesh-48x1", 410).alone, 0);
}

/// What comes in passes elementwise layers before the core keeps it and sends it on.
TEST(Feeders, ApplyLayersBeforeTheConvolution) {
  NetBuilder net(420);
  NetValue x = net.input("x", {1, 24, 6, 6});
  net.output(net.conv(net.unary("Relu", net.batchNorm(x)), 48, {.pads = {1, 1, 1, 1}}));
  EXPECT_GT(check(net, "mesh-36x5", 420).feeders, 0);
}

/// Images too large for SRAM are worked on channel by channel, by feeders as by others.
TEST(Feeders, WorkChannelByChannel) {
  NetBuilder net(430);
  net.output(net.conv(net.input("x", {1, 96, 8, 96}), 12, {.pads = {1, 1, 1, 1}}));
  EXPECT_GT(check(net, "mesh-16x3", 430).feeders, 0);
}

/// A network that off-wafer words bind has columns to spare: its feeders only feed.
TEST(Feeders, OnlyFeedWhereInputBinds) {
  NetBuilder net(440);
  net.output(net.conv(net.input("x", {1, 3, 128, 128}), 4, {.kernel = {1, 1}, .strides = {4, 4}}));
  EXPECT_EQ(check(net, "mesh-128x64", 440).feeders, 0);
}

} // namespace
} // namespace wsc::test
