// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each kernel of the library, compiled from a network of one layer.
#include "test/agreement/Agreement.h"
#include "test/models/ModelCheck.h"

namespace wsc::test {
namespace {

// Until the FIFO of a branch that runs ahead is full, and layers have gone over to their last pace.
constexpr int kSamples = 54;

template <typename Layers>
void expectLayersAgree(const std::string &name, const std::vector<int64_t> &shape, Layers layers,
                       const char *target = "mesh-32x32") {
  NetBuilder net(7);
  NetValue x = net.input("x", shape);
  net.output(layers(net, x));
  TemporaryFolder folder;
  ASSERT_TRUE(net.onnx.write(folder / "model.onnx"));
  absl::Status status = compileModel(folder / "model.onnx", target, folder / "model.wse", {kernels::Effort::Fast});
  ASSERT_TRUE(status.ok()) << name << ": " << status;
  auto session = Session::open(folder / "model.wse", {.threads = 1});
  ASSERT_TRUE(session.ok()) << name << ": " << session.status();
  expectAgreement(name, (*session)->executable(), kSamples);
}

TEST(Agreement, Contraction) {
  expectLayersAgree("matmul", {1, 96}, [](NetBuilder &n, NetValue x) { return n.gemm(x, 64); });
  expectLayersAgree("convolution 3x3", {1, 8, 16, 16},
                    [](NetBuilder &n, NetValue x) { return n.conv(x, 16, {.pads = {1, 1, 1, 1}}); });
  // In the cycle engine it goes on at another pace after some samples.
  expectLayersAgree("convolution 1x1", {1, 16, 12, 12},
                    [](NetBuilder &n, NetValue x) { return n.conv(x, 24, {.kernel = {1, 1}}); });
  expectLayersAgree(
      "convolution 1x1 in stages", {1, 32, 4, 28},
      [](NetBuilder &n, NetValue x) { return n.conv(x, 96, {.kernel = {1, 1}}); }, "mesh-32x10");
  expectLayersAgree(
      "convolution 1x1 whose feeders compute", {1, 40, 7, 7},
      [](NetBuilder &n, NetValue x) { return n.unary("Relu", n.conv(x, 64, {.kernel = {1, 1}})); }, "mesh-56x5");
  expectLayersAgree(
      "convolution 3x3 whose feeders compute", {1, 24, 7, 7},
      [](NetBuilder &n, NetValue x) { return n.conv(x, 30, {.pads = {1, 1, 1, 1}}); }, "mesh-42x4");
  // A core of the last row has more, or fewer, words for its turn than the queues from the row above hold; with other
  // queues it is the other way round (LinkPriorities.cpp).
  expectLayersAgree("convolution 1x1, 20 words a turn", {1, 16, 10, 10},
                    [](NetBuilder &n, NetValue x) { return n.conv(x, 32, {.kernel = {1, 1}}); });
  expectLayersAgree("convolution 1x1, 28 words a turn", {1, 16, 14, 14},
                    [](NetBuilder &n, NetValue x) { return n.conv(x, 32, {.kernel = {1, 1}}); });
  expectLayersAgree("convolution 1x1, 12 words a turn", {1, 24, 12, 12},
                    [](NetBuilder &n, NetValue x) { return n.conv(x, 24, {.kernel = {1, 1}}); });
  // Chains of some columns end in another row than those of the others.
  expectLayersAgree(
      "convolutions with two gathers", {1, 128, 1, 28},
      [](NetBuilder &n, NetValue x) { return n.conv(n.conv(x, 128, {.pads = {1, 1, 1, 1}}), 32, {.kernel = {1, 1}}); },
      "mesh-64x24");
  expectLayersAgree("convolution with stride", {1, 8, 16, 16},
                    [](NetBuilder &n, NetValue x) { return n.conv(x, 16, {.strides = {2, 2}, .pads = {1, 1, 1, 1}}); });
}

TEST(Agreement, Windows) {
  expectLayersAgree("depthwise convolution", {1, 16, 14, 14},
                    [](NetBuilder &n, NetValue x) { return n.conv(x, 16, {.pads = {1, 1, 1, 1}}, 16); });
  // Results of each column cross the lanes of the next sample elsewhere, and at other times.
  expectLayersAgree(
      "depthwise convolution of six columns", {1, 24, 21, 17},
      [](NetBuilder &n, NetValue x) { return n.conv(x, 24, {.pads = {1, 1, 1, 1}}, 24); }, "mesh-46x21");
  expectLayersAgree("maximum pool", {1, 8, 16, 16},
                    [](NetBuilder &n, NetValue x) { return n.maxPool(x, {.kernel = {2, 2}, .strides = {2, 2}}); });
  expectLayersAgree("average pool", {1, 8, 15, 15}, [](NetBuilder &n, NetValue x) {
    return n.averagePool(x, {.kernel = {3, 3}, .strides = {2, 2}}, false);
  });
}

TEST(Agreement, Elementwise) {
  expectLayersAgree("relu", {1, 8, 16, 16}, [](NetBuilder &n, NetValue x) { return n.unary("Relu", x); });
  expectLayersAgree("sigmoid", {1, 8, 16, 16}, [](NetBuilder &n, NetValue x) { return n.unary("Sigmoid", x); });
  // One branch runs ahead as far as its FIFO goes; until it is full the output comes quicker than samples can follow.
  expectLayersAgree("addition", {1, 8, 16, 16}, [](NetBuilder &n, NetValue x) {
    return n.binary("Add", n.unary("Sigmoid", x), n.unary("Relu", x));
  });
}

TEST(Agreement, SoftmaxAndReduction) {
  expectLayersAgree("softmax", {1, 120}, [](NetBuilder &n, NetValue x) { return n.softmax(x); });
  expectLayersAgree("global average", {1, 16, 14, 14}, [](NetBuilder &n, NetValue x) { return n.globalAverage(x); });
}

TEST(Agreement, MovementAndFifos) {
  expectLayersAgree("concatenation", {1, 8, 12, 12}, [](NetBuilder &n, NetValue x) {
    return n.concat({n.conv(x, 8, {.kernel = {1, 1}}), n.conv(x, 12, {.pads = {1, 1, 1, 1}})});
  });
  expectLayersAgree("transposition", {1, 6, 10, 8},
                    [](NetBuilder &n, NetValue x) { return n.transpose(x, {0, 2, 3, 1}); });
  expectLayersAgree("transposition of 10 channels", {1, 10, 10, 10},
                    [](NetBuilder &n, NetValue x) { return n.transpose(x, {0, 2, 3, 1}); });
  expectLayersAgree("skip through a FIFO", {1, 8, 12, 12}, [](NetBuilder &n, NetValue x) {
    return n.binary("Add", x, n.conv(n.unary("Relu", n.conv(x, 8, {.pads = {1, 1, 1, 1}})), 8, {.pads = {1, 1, 1, 1}}));
  });
}

} // namespace
} // namespace wsc::test
