// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small networks, compiled for meshes of 32 x 32 and about that.
#include "test/agreement/Agreement.h"
#include "test/models/ModelCheck.h"

namespace wsc::test {
namespace {

constexpr Window2d kSame{.pads = {1, 1, 1, 1}}, kPoint{.kernel = {1, 1}}, kHalf{.kernel = {2, 2}, .strides = {2, 2}};

constexpr int kSamples = 18;

void expectNetworkAgrees(const std::string &name, const NetBuilder &net, const std::string &target = "mesh-32x32") {
  TemporaryFolder folder;
  ASSERT_TRUE(net.onnx.write(folder / "model.onnx"));
  absl::Status status = compileModel(folder / "model.onnx", target, folder / "model.wse", {kernels::Effort::Fast});
  ASSERT_TRUE(status.ok()) << name << ": " << status;
  auto session = Session::open(folder / "model.wse", {.threads = 1});
  ASSERT_TRUE(session.ok()) << name << ": " << session.status();
  expectAgreement(name, (*session)->executable(), kSamples);
}

TEST(Agreement, Perceptron) {
  NetBuilder n(7);
  NetValue y = n.unary("Relu", n.gemm(n.input("x", {1, 64}), 48));
  y = n.unary("Relu", n.gemm(y, 32));
  n.output(n.softmax(n.gemm(y, 10)));
  expectNetworkAgrees("perceptron", n);
}

TEST(Agreement, LeNet) {
  NetBuilder n(7);
  NetValue y = n.unary("Relu", n.conv(n.input("x", {1, 1, 28, 28}), 6, {.kernel = {5, 5}, .pads = {2, 2, 2, 2}}));
  y = n.unary("Relu", n.conv(n.maxPool(y, kHalf), 16, {.kernel = {5, 5}}));
  y = n.unary("Relu", n.gemm(n.flatten(n.maxPool(y, kHalf)), 84));
  n.output(n.softmax(n.gemm(y, 10)));
  expectNetworkAgrees("LeNet", n);
}

TEST(Agreement, ResidualBlock) {
  NetBuilder n(7);
  NetValue y = n.unary("Relu", n.conv(n.input("x", {1, 4, 16, 16}), 8, kSame));
  NetValue z = n.conv(n.unary("Relu", n.conv(y, 8, kSame)), 8, kSame);
  n.output(n.globalAverage(n.unary("Relu", n.binary("Add", y, z))));
  expectNetworkAgrees("residual block", n);
}

TEST(Agreement, FireModule) {
  NetBuilder n(7);
  NetValue s = n.unary("Relu", n.conv(n.input("x", {1, 8, 12, 12}), 4, kPoint));
  n.output(n.concat({n.unary("Relu", n.conv(s, 8, kPoint)), n.unary("Relu", n.conv(s, 8, kSame))}));
  expectNetworkAgrees("fire module", n);
}

/// Concatenations are co-located kernels of the convolutions behind them.
TEST(Agreement, DenseBlock) {
  NetBuilder n(7);
  NetValue x = n.input("x", {1, 16, 8, 16});
  for (int i = 0; i < 4; ++i) {
    NetValue y = n.unary("Relu", n.conv(n.unary("Relu", n.batchNorm(x)), 32, kPoint));
    x = n.concat({x, n.conv(y, 8, kSame)});
  }
  n.output(n.conv(n.unary("Relu", n.batchNorm(x)), 16, kPoint));
  expectNetworkAgrees("dense block", n, "mesh-48x40");
}

TEST(Agreement, SeparableConvolutions) {
  NetBuilder n(7);
  NetValue y = n.clip(n.conv(n.input("x", {1, 3, 16, 16}), 8, {.strides = {2, 2}, .pads = {1, 1, 1, 1}}), 0, 6);
  y = n.conv(n.clip(n.conv(y, 8, kSame, 8), 0, 6), 16, kPoint);
  n.output(n.gemm(n.flatten(n.globalAverage(y)), 10));
  expectNetworkAgrees("separable convolutions", n);
}

TEST(Agreement, SuperResolution) {
  NetBuilder n(7);
  NetValue y = n.unary("Relu", n.conv(n.input("x", {1, 1, 12, 12}), 16, {.kernel = {5, 5}, .pads = {2, 2, 2, 2}}));
  y = n.unary("Relu", n.conv(y, 8, kSame));
  n.output(n.depthToSpace(n.conv(y, 4, kSame), 2, "DCR"));
  expectNetworkAgrees("super-resolution", n);
}

} // namespace
} // namespace wsc::test
