// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions in parts along the width of their output, and images that are joined along their width.
#include "test/models/ModelCheck.h"
#include "test/models/TimedModel.h"
#include "test/support/Seed.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace wsc::test {
namespace {

/// The names of the kernels that the network is compiled to.
std::vector<std::string> kernelsOf(const NetBuilder &net, const std::string &target) {
  TemporaryFolder folder;
  EXPECT_TRUE(net.onnx.write(folder / "model.onnx"));
  absl::Status status = compileModel(folder / "model.onnx", target, folder / "model.wse", {kernels::Effort::Fast});
  EXPECT_TRUE(status.ok()) << status;
  auto session = Session::open(folder / "model.wse", {.threads = 1});
  std::vector<std::string> names;
  if (!session.ok())
    return names;
  for (const format::Kernel &kernel : (*session)->executable().configurations[0].kernels)
    names.push_back(kernel.name);
  return names;
}

bool holds(const std::vector<std::string> &names, const std::string &name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Few channels on a wide image: a core makes at least one row of one channel.
NetBuilder wideLayer(const Window2d &window, int64_t in, int64_t out, const std::vector<int64_t> &size) {
  NetBuilder net(21);
  NetValue x = net.input("x", {1, in, size[0], size[1]});
  net.output(net.unary("Relu", net.conv(x, out, window)));
  return net;
}

TEST(Split, PartsComputeWhatTheWholeDoes) {
  struct Case {
    const char *name, *target;
    Window2d window;
    int64_t in, out;
    std::vector<int64_t> size;
  };
  const Case cases[] = {
      {"3x3", "mesh-24x40", {.pads = {1, 1, 1, 1}}, 6, 4, {6, 64}},
      {"lines of an odd number of columns", "mesh-24x40", {.pads = {1, 1, 1, 1}}, 6, 4, {6, 67}},
      {"stride 2", "mesh-24x40", {.kernel = {7, 7}, .strides = {2, 2}, .pads = {3, 3, 3, 3}}, 3, 4, {12, 120}},
      {"dilated, without padding", "mesh-24x40", {.dilations = {2, 3}}, 4, 3, {8, 96}},
      {"1x1", "mesh-24x40", {.kernel = {1, 1}}, 48, 6, {4, 120}},
      {"channel by channel", "mesh-8x40", {.pads = {1, 1, 1, 1}}, 8, 3, {8, 700}},
  };
  uint64_t seed = 500;
  for (const Case &c : cases) {
    SCOPED_TRACE(c.name);
    const NetBuilder net = wideLayer(c.window, c.in, c.out, c.size);
    EXPECT_TRUE(holds(kernelsOf(net, c.target), "conv0.join"));
    checkModel(net.onnx, ++seed, {.targets = {c.target}});
  }
}

/// Property test: random convolutions on wide images, most of them cut. WSC_SEED and WSC_CASES choose others.
TEST(Split, RandomConvolutions) {
  const uint64_t seed = seedOf(40);
  const int count = casesOf(12);
  int64_t cut = 0;
  for (uint64_t s = seed; s < seed + uint64_t(count); ++s) {
    SCOPED_TRACE("WSC_SEED=" + std::to_string(s) + " WSC_CASES=1");
    NetBuilder net(s);
    auto pick = [&](int64_t low, int64_t high) {
      return std::min(high, low + int64_t((net.random.next(0.5f) + 0.5f) * float(high - low + 1)));
    };
    Window2d w;
    for (int d = 0; d < 2; ++d) {
      w.kernel[size_t(d)] = pick(1, 5);
      w.strides[size_t(d)] = pick(1, 2);
      w.dilations[size_t(d)] = pick(1, 2);
    }
    for (int d = 0; d < 4; ++d)
      w.pads[size_t(d)] = pick(0, w.kernel[size_t(d) % 2] - 1);
    NetValue x = net.input("x", {1, pick(1, 12), pick(9, 14), pick(30, 140)});
    x = net.conv(x, pick(1, 5), w);
    net.output(pick(0, 1) == 0 ? x : net.maxPool(net.unary("Relu", x), {.kernel = {2, 2}, .strides = {2, 2}}));
    const std::string target = "mesh-" + std::to_string(pick(14, 40)) + "x" + std::to_string(pick(10, 40));
    cut += holds(kernelsOf(net, target), "conv0.join");
    checkModel(net.onnx, s, {.targets = {target}});
  }
  std::printf("%lld of %d cut\n", (long long)cut, count);
  if (count >= 12)
    EXPECT_GT(3 * cut, count);
}

TEST(Split, TakesInWhatItIsFusedWith) {
  NetBuilder net(5);
  NetValue x = net.unary("Relu", net.batchNorm(net.input("x", {1, 8, 6, 72})));
  net.output(net.unary("Tanh", net.conv(x, 4, {.pads = {1, 1, 1, 1}})));
  EXPECT_TRUE(holds(kernelsOf(net, "mesh-24x40"), "conv0.0"));
  checkModel(net.onnx, 6, {.targets = {"mesh-24x40"}});
}

TEST(Split, LeavesMatrixProductsWhole) {
  NetBuilder net(5);
  net.output(net.unary("Relu", net.gemm(net.input("x", {96, 64}), 6)));
  EXPECT_EQ(kernelsOf(net, "mesh-4x40"), std::vector<std::string>{"matmul0"});
  checkModel(net.onnx, 6, {.targets = {"mesh-4x40"}});
}

TEST(Split, KeepsConstantsBehindTheConvolution) {
  NetBuilder net(5);
  NetValue x = net.conv(net.input("x", {1, 6, 6, 64}), 4, {.pads = {1, 1, 1, 1}});
  net.output(net.withConstant("Mul", x, {4, 1, 1}));
  EXPECT_TRUE(holds(kernelsOf(net, "mesh-24x40"), "conv0.join"));
  checkModel(net.onnx, 6, {.targets = {"mesh-24x40"}});
}

TEST(Split, ShortensTheInterval) {
  const NetBuilder net = wideLayer({.pads = {1, 1, 1, 1}}, 6, 4, {6, 64});
  TemporaryFolder folder;
  driver::CompileOptions options;
  options.target = "mesh-24x40";
  auto parts = compileAndTime(net.onnx, options);
  // A pinned kernel stays whole.
  std::FILE *pins = std::fopen((folder / "pins.json").c_str(), "w");
  std::fputs("{\"kernels\": {\"conv0\": {\"columns\": 5}}}", pins);
  std::fclose(pins);
  options.pins = folder / "pins.json";
  auto whole = compileAndTime(net.onnx, options);
  ASSERT_TRUE(parts.ok() && whole.ok()) << parts.status() << whole.status();
  EXPECT_LT(parts->intervalCycles * 16, whole->intervalCycles * 15);
}

TEST(Split, LeavesAloneWhatGainsNothing) {
  // Parts of a narrow image are little but set-ups; and a mesh that is full has no columns for them.
  EXPECT_FALSE(holds(kernelsOf(wideLayer({.pads = {1, 1, 1, 1}}, 6, 4, {6, 20}), "mesh-24x40"), "conv0.join"));
  EXPECT_FALSE(holds(kernelsOf(wideLayer({.pads = {1, 1, 1, 1}}, 6, 4, {6, 64}), "mesh-24x2"), "conv0.join"));
}

TEST(Join, AlongTheWidth) {
  NetBuilder net(8);
  NetValue x = net.input("x", {1, 3, 7, 10}), y = net.input("y", {1, 3, 7, 5});
  NetValue joined{net.onnx.node("Concat", {x.name, y.name, x.name}, {Attribute::i("axis", 3)}), {1, 3, 7, 25}};
  net.output(net.conv(joined, 4, {.pads = {1, 1, 1, 1}}));
  checkModel(net.onnx, 9);
}

TEST(Join, OfAStreamWithItself) {
  NetBuilder net(8);
  NetValue x = net.input("x", {1, 3, 7, 10});
  net.output(net.concat({x, net.unary("Relu", x), x}));
  checkModel(net.onnx, 11);
}

TEST(Join, OfTilesOfDifferentHeights) {
  NetBuilder net(8);
  NetValue x = net.input("x", {1, 2, 40, 6});
  NetValue y = net.maxPool(net.input("y", {1, 2, 80, 12}), {.kernel = {2, 2}, .strides = {2, 2}});
  NetValue joined{net.onnx.node("Concat", {x.name, y.name}, {Attribute::i("axis", 3)}), {1, 2, 40, 12}};
  net.output(joined);
  checkModel(net.onnx, 10, {.targets = {"mesh-12x12", "mesh-40x12"}});
}

} // namespace
} // namespace wsc::test
