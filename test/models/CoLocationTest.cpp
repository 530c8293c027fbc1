// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Co-located kernels: concatenations that run on the feeders of the convolution behind them.
#include "test/models/ModelCheck.h"
#include "test/models/TimedModel.h"

#include <algorithm>

namespace wsc::test {
namespace {

constexpr Window2d kSame{.pads = {1, 1, 1, 1}}, kPoint{.kernel = {1, 1}};

/// A dense block: every layer takes what all before it have made.
NetBuilder denseBlock(uint64_t seed, int layers, const std::vector<int64_t> &shape, int64_t growth) {
  NetBuilder net(seed);
  NetValue x = net.input("x", shape);
  for (int i = 0; i < layers; ++i) {
    NetValue y = net.unary("Relu", net.conv(net.unary("Relu", net.batchNorm(x)), 4 * growth, kPoint));
    x = net.concat({x, net.conv(y, growth, kSame)});
  }
  net.output(net.conv(net.unary("Relu", net.batchNorm(x)), 2 * growth, kPoint));
  return net;
}

/// Kernels without cores of their own. Checks results and schedules.
std::vector<std::string> coLocatedWith(const NetBuilder &net, const std::string &target, uint64_t seed) {
  checkModel(net.onnx, seed, {.targets = {target}});
  TemporaryFolder folder;
  EXPECT_TRUE(net.onnx.write(folder / "model.onnx"));
  EXPECT_TRUE(compileModel(folder / "model.onnx", target, folder / "model.wse").ok());
  auto session = Session::open(folder / "model.wse", {.threads = 1});
  std::vector<std::string> coLocated;
  if (!session.ok())
    return coLocated;
  const format::Configuration &configuration = (*session)->executable().configurations[0];
  for (size_t k = 0; k < configuration.kernels.size(); ++k)
    if (std::none_of(configuration.roles.begin(), configuration.roles.end(),
                     [&](const format::Role &role) { return role.kernel == int32_t(k); }))
      coLocated.push_back(configuration.kernels[k].name);
  return coLocated;
}

TEST(CoLocated, SaveColumnsWhereThereAreFew) {
  struct Case {
    const char *name, *target;
    int layers;
    std::vector<int64_t> shape;
    int64_t growth;
  };
  const Case cases[] = {
      {"feeders that feed", "mesh-48x40", 4, {1, 16, 8, 16}, 8},
      {"feeders that compute", "mesh-56x12", 3, {1, 24, 7, 7}, 8},
      {"slices of both inputs", "mesh-40x14", 3, {1, 13, 8, 10}, 6},
      {"rows of tiles that are no whole number", "mesh-50x16", 3, {1, 12, 9, 12}, 6},
  };
  uint64_t seed = 600;
  for (const Case &c : cases) {
    SCOPED_TRACE(c.name);
    ++seed;
    EXPECT_FALSE(coLocatedWith(denseBlock(seed, c.layers, c.shape, c.growth), c.target, seed).empty());
  }
}

/// Nobody but the host takes what is joined: no lane leaves for it.
TEST(CoLocated, SendNothingToNobody) {
  NetBuilder net(620);
  NetValue x = net.input("x", {1, 16, 8, 8});
  NetValue both = net.concat({net.conv(x, 24, kPoint), net.conv(x, 20, kSame)});
  net.output(net.conv(net.unary("Relu", both), 16, kPoint));
  EXPECT_EQ(coLocatedWith(net, "mesh-48x12", 620).size(), 1u);
}

/// What is joined may leave the wafer as well, and more than two streams may be joined.
TEST(CoLocated, SendToTheEdge) {
  NetBuilder net(630);
  NetValue x = net.input("x", {1, 16, 8, 8});
  NetValue all = net.concat({net.conv(x, 24, kPoint), x, net.conv(x, 20, kSame)});
  net.output(net.conv(net.unary("Relu", all), 16, kPoint));
  net.output(all);
  EXPECT_EQ(coLocatedWith(net, "mesh-48x12", 630).size(), 1u);
}

/// Where it is the number of columns that sets the interval, what is left of them makes channels: with a column for
/// blocks that end between slices, or for shapes of fewer bands, it is 1,218 of 1,400 cores.
TEST(CoLocated, LeaveColumnsForMultiplyAdds) {
  driver::CompileOptions options;
  options.target = "mesh-70x20";
  auto timed = compileAndTime(denseBlock(650, 5, {1, 24, 7, 14}, 8).onnx, options);
  ASSERT_TRUE(timed.ok()) << timed.status();
  ASSERT_GT(timed->report.optimumCycles, std::max(timed->report.boundIoCycles, timed->report.slowestKernelCycles));
  EXPECT_GT(timed->report.coresFma, 1218);
  EXPECT_LE(double(timed->intervalCycles), 1.15 * double(timed->report.optimumCycles));
}

/// Where columns are to spare, and before windows of several pixels, concatenations have cores of their own.
TEST(CoLocated, AreNotWantedEverywhere) {
  EXPECT_TRUE(coLocatedWith(denseBlock(640, 2, {1, 8, 8, 8}, 4), "mesh-64x400", 640).empty());
  NetBuilder net(641);
  NetValue x = net.input("x", {1, 16, 8, 8});
  net.output(net.conv(net.concat({net.conv(x, 24, kPoint), net.conv(x, 20, kSame)}), 16, kSame));
  EXPECT_TRUE(coLocatedWith(net, "mesh-48x14", 641).empty());
}

} // namespace
} // namespace wsc::test
