// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Property test: random layers of the library's kernels, one to three after another, on a mesh of random size. Not
// every one of them is within the tolerance that the cases chosen by hand keep: nine of ten are. WSC_SEED and WSC_CASES
// choose others.
#include "test/agreement/Agreement.h"
#include "test/models/ModelCheck.h"
#include "test/support/Seed.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <iostream>

namespace wsc::test {
namespace {

class RandomLayers {
public:
  explicit RandomLayers(uint64_t seed) : net(seed) {
    const int64_t size = pick(4, 24);
    x = net.input("x", {1, 4 * pick(1, 8), size, std::max<int64_t>(4, size + pick(-4, 4))});
    says = shape();
    for (int64_t layers = pick(1, 3); layers > 0; --layers)
      add();
    net.output(x);
    mesh = "mesh-" + std::to_string(pick(12, 64)) + "x" + std::to_string(pick(12, 64));
    says += " on " + mesh;
  }

  NetBuilder net;
  std::string says, mesh;

private:
  int64_t pick(int64_t low, int64_t high) {
    const auto value = low + int64_t((net.random.next(0.5f) + 0.5f) * float(high - low + 1));
    return std::clamp(value, low, high);
  }
  std::string shape() const {
    std::string text;
    for (int64_t extent : x.shape)
      text += (text.empty() ? "" : "x") + std::to_string(extent);
    return text;
  }

  void add() {
    const Window2d same{.pads = {1, 1, 1, 1}}, half{.strides = {2, 2}, .pads = {1, 1, 1, 1}}, point{.kernel = {1, 1}};
    const int64_t out = 4 * pick(1, 10);
    switch (pick(0, 11)) {
    case 0:
    case 1:
    case 2:
      x = net.conv(x, out, point);
      says += ", conv 1x1 to " + shape();
      break;
    case 3:
    case 4:
    case 5:
      x = net.conv(x, out, same);
      says += ", conv 3x3 to " + shape();
      break;
    case 6:
      x = net.conv(x, out, half);
      says += ", conv 3x3/2 to " + shape();
      break;
    case 7:
      x = net.conv(x, x.channels(), same, x.channels());
      says += ", depthwise";
      break;
    case 8:
      x = net.maxPool(x, {.kernel = {2, 2}, .strides = {2, 2}});
      says += ", pool to " + shape();
      break;
    case 9:
      x = net.unary("Relu", x);
      says += ", relu";
      break;
    case 10:
      x = net.binary("Add", x, net.conv(x, x.channels(), same));
      says += ", skip over conv 3x3";
      break;
    default:
      x = net.concat({net.conv(x, out, point), net.conv(x, out, same)});
      says += ", fire to " + shape();
    }
  }

  NetValue x;
};

TEST(Agreement, RandomLayers) {
  const uint64_t seed = seedOf(100);
  const int count = casesOf(6);
  std::vector<TimeErrors> all;
  for (uint64_t s = seed; s < seed + uint64_t(count); ++s) {
    RandomLayers layers(s);
    const std::string name = std::to_string(s) + ": " + layers.says;
    TemporaryFolder folder;
    ASSERT_TRUE(layers.net.onnx.write(folder / "model.onnx"));
    absl::Status status =
        compileModel(folder / "model.onnx", layers.mesh, folder / "model.wse", {kernels::Effort::Fast});
    if (absl::IsResourceExhausted(status)) {
      std::cout << name << ": " << status << std::endl;
      continue;
    }
    ASSERT_TRUE(status.ok()) << name << ": " << status;
    auto session = Session::open(folder / "model.wse", {.threads = 1});
    ASSERT_TRUE(session.ok()) << name << ": " << session.status();
    const std::vector<TimeErrors> errors = timeErrors(name, (*session)->executable(), 36);
    ASSERT_FALSE(errors.empty());
    all.insert(all.end(), errors.begin(), errors.end());
  }
  ASSERT_FALSE(all.empty());
  const auto within = std::count_if(all.begin(), all.end(), [](const TimeErrors &errors) { return errors.within(); });
  double latency = 0, interval = 0;
  for (const TimeErrors &errors : all) {
    latency += std::abs(errors.latency) / double(all.size());
    interval += std::abs(errors.interval) / double(all.size());
  }
  std::printf("%lld of %zu within; mean error of latency %.1f %%, of interval %.1f %%\n", (long long)within, all.size(),
              100 * latency, 100 * interval);
  EXPECT_GE(10 * within, 9 * int64_t(all.size()));
  EXPECT_LE(latency, 0.05);
  EXPECT_LE(interval, 0.02);
}

} // namespace
} // namespace wsc::test
