// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Small networks in phases on wse2: every phase by the analytic engine alone, as long ones are timed, and word by word.
// Prints the parts of both sums.
#include "test/models/ModelCheck.h"
#include "test/models/SmallNets.h"

#include <cmath>
#include <cstdio>
#include <map>

namespace wsc::test {
namespace {

using emulator::TimingPart;

void expectPhasesAgree(const std::string &name, const OnnxBuilder &model, const std::string &target = "wse2") {
  SCOPED_TRACE(name);
  TemporaryFolder folder;
  ASSERT_TRUE(model.write(folder / "model.onnx"));
  const absl::Status status = compileModel(folder / "model.onnx", target, folder / "model.wse",
                                           {kernels::Effort::Default, 1, 1}, driver::Execution::Phased);
  ASSERT_TRUE(status.ok()) << status;
  auto session = Session::open(folder / "model.wse", {.threads = 1});
  ASSERT_TRUE(session.ok()) << session.status();
  const format::Executable &executable = (*session)->executable();
  std::vector<TimingPart> parts;
  const auto cycles = (*session)->cycles(0, {.threads = 1}, &parts);
  ASSERT_TRUE(cycles.ok()) << cycles.status();
  int64_t analytic = 0, counted = 0, changes = 0; // of the runs, and of changes of configuration
  std::map<int32_t, int64_t> solved;
  for (const TimingPart &part : parts) {
    if (part.kind == TimingPart::Kind::Configure) {
      std::printf("    configure  %-12s %8lld\n", part.name.c_str(), (long long)part.cycles());
      changes += part.cycles();
      continue;
    }
    // Sessions time phases as short as these word by word; so the analytic engine is asked.
    if (!solved.contains(part.configuration)) {
      const auto networks =
          emulator::resolveNetworks(executable.target, executable.configurations[size_t(part.configuration)],
                                    emulator::bindingTypes(executable, part.configuration));
      ASSERT_TRUE(networks.ok()) << networks.status();
      const auto timing = emulator::analyseTiming(executable, part.configuration, *networks, 1);
      ASSERT_TRUE(timing.ok()) << timing.status();
      solved[part.configuration] = timing->latencyCycles;
    }
    const int64_t ours = solved[part.configuration] * part.count;
    analytic += ours;
    counted += part.cycles();
    std::printf("    run x%-4d  %-12s %8lld against %8lld (%+5.1f %%)\n", part.count, part.name.c_str(),
                (long long)ours, (long long)part.cycles(), 100 * (double(ours) / double(part.cycles()) - 1));
  }
  EXPECT_EQ(cycles->latencyCycles, counted + changes);
  const double error = double(analytic) / double(counted) - 1;
  std::printf("%-24s runs %8lld against %8lld (%+5.1f %%), entry %8lld against %8lld\n", name.c_str(),
              (long long)analytic, (long long)counted, 100 * error, (long long)(analytic + changes),
              (long long)(counted + changes));
  EXPECT_LE(std::abs(error), 0.10);
}

OnnxBuilder recurrence(const char *type, int64_t gates, int64_t steps, const char *direction = "forward") {
  constexpr int64_t kInputs = 24, kHidden = 32;
  const int64_t directions = std::string(direction) == "bidirectional" ? 2 : 1;
  NetBuilder n(3);
  const NetValue x = n.input("x", {steps, 1, kInputs});
  n.onnx.nodeWithOutputs(type,
                         {x.name, n.weights({directions, gates * kHidden, kInputs}, 0.4f),
                          n.weights({directions, gates * kHidden, kHidden}, 0.4f),
                          n.weights({directions, 2 * gates * kHidden}, 0.4f)},
                         {"y", "h"}, {Attribute::i("hidden_size", kHidden), Attribute::s("direction", direction)});
  n.onnx.output("y");
  n.onnx.output("h");
  return n.onnx;
}

TEST(PhasesAgreement, Transformer) {
  NetBuilder n(1);
  n.output(transformerLayer(n, n.input("x", {1, 16, 64})));
  expectPhasesAgree("transformer layer", n.onnx);
}

TEST(PhasesAgreement, TransformerOfTwoLayers) {
  NetBuilder n(1);
  n.output(transformerLayer(n, transformerLayer(n, n.input("x", {1, 12, 32}))));
  expectPhasesAgree("two transformer layers", n.onnx);
}

TEST(PhasesAgreement, LstmCell) { expectPhasesAgree("LSTM cell", recurrence("LSTM", 4, 1)); }
TEST(PhasesAgreement, LstmOfSixSteps) { expectPhasesAgree("LSTM of 6 steps", recurrence("LSTM", 4, 6)); }
TEST(PhasesAgreement, GruBothDirections) {
  expectPhasesAgree("GRU, both directions", recurrence("GRU", 3, 4, "bidirectional"));
}

TEST(PhasesAgreement, ConvolutionalNetwork) {
  NetBuilder n(7);
  NetValue y = n.unary("Relu", n.conv(n.input("x", {1, 1, 28, 28}), 6, {.kernel = {5, 5}, .pads = {2, 2, 2, 2}}));
  const Window2d half{.kernel = {2, 2}, .strides = {2, 2}};
  y = n.unary("Relu", n.conv(n.maxPool(y, half), 16, {.kernel = {5, 5}}));
  y = n.unary("Relu", n.gemm(n.flatten(n.maxPool(y, half)), 84));
  n.output(n.softmax(n.gemm(y, 10)));
  expectPhasesAgree("LeNet", n.onnx);
}

TEST(PhasesAgreement, ResidualBlock) {
  NetBuilder n(7);
  const Window2d same{.pads = {1, 1, 1, 1}};
  const NetValue y = n.unary("Relu", n.conv(n.input("x", {1, 4, 16, 16}), 8, same));
  const NetValue z = n.conv(n.unary("Relu", n.conv(y, 8, same)), 8, same);
  n.output(n.globalAverage(n.unary("Relu", n.binary("Add", y, z))));
  expectPhasesAgree("residual block", n.onnx);
}

TEST(PhasesAgreement, SeparableConvolutions) {
  NetBuilder n(7);
  NetValue y = n.clip(n.conv(n.input("x", {1, 3, 16, 16}), 8, {.strides = {2, 2}, .pads = {1, 1, 1, 1}}), 0, 6);
  y = n.conv(n.clip(n.conv(y, 8, {.pads = {1, 1, 1, 1}}, 8), 0, 6), 16, {.kernel = {1, 1}});
  n.output(n.gemm(n.flatten(n.globalAverage(y)), 10));
  expectPhasesAgree("separable convolutions", n.onnx);
}

TEST(PhasesAgreement, ReductionsOverEveryAxis) {
  for (int64_t axis = 0; axis < 4; ++axis)
    for (const char *type : {"ReduceSum", "ReduceMax"}) {
      NetBuilder n(2);
      n.output(n.reduce(type, n.input("x", {6, 10, 12, 18}), {axis}));
      expectPhasesAgree(std::string(type) + " over axis " + std::to_string(axis), n.onnx);
    }
}

TEST(PhasesAgreement, ReductionOverAllAxes) {
  NetBuilder n(2);
  n.output(n.reduce("ReduceMean", n.input("x", {6, 10, 12, 18}), {0, 1, 2, 3}));
  expectPhasesAgree("mean of all", n.onnx);
}

TEST(PhasesAgreement, MatrixProducts) {
  for (const auto &[m, k, o] : {std::array<int64_t, 3>{1, 256, 64}, {40, 96, 56}, {128, 64, 128}}) {
    NetBuilder n(4);
    n.output(dense(n, n.input("x", {m, k}), o));
    expectPhasesAgree("product " + std::to_string(m) + "x" + std::to_string(k) + "x" + std::to_string(o), n.onnx);
  }
  NetBuilder n(4);
  n.output(matMul(n, n.input("a", {4, 24, 32}), n.input("b", {4, 32, 20})));
  expectPhasesAgree("product of two inputs", n.onnx);
}

TEST(PhasesAgreement, SoftmaxOverEachAxis) {
  for (int64_t axis : {0, 1, 2}) {
    NetBuilder n(4);
    const NetValue x = n.input("x", {12, 20, 30});
    n.output({n.onnx.node("Softmax", {x.name}, {Attribute::i("axis", axis)}), x.shape});
    expectPhasesAgree("softmax over axis " + std::to_string(axis), n.onnx);
  }
}

TEST(PhasesAgreement, LayerNormalization) {
  NetBuilder n(4);
  n.output(layerNorm(n, n.input("x", {1, 24, 96})));
  expectPhasesAgree("layer normalization", n.onnx);
}

TEST(PhasesAgreement, Gathers) {
  NetBuilder n(4);
  n.onnx.input("ids", {1, 24}, wsc::onnx::TensorProto::INT64);
  n.output({n.onnx.node("Gather", {n.weights({400, 32}, 1), "ids"}), {1, 24, 32}});
  expectPhasesAgree("embedding", n.onnx);
  NetBuilder m(4);
  const NetValue x = m.input("x", {20, 30});
  m.onnx.input("places", {20, 8}, wsc::onnx::TensorProto::INT64);
  m.output({m.onnx.node("GatherElements", {x.name, "places"}, {Attribute::i("axis", 1)}), {20, 8}});
  expectPhasesAgree("gathered elements", m.onnx);
}

TEST(PhasesAgreement, Rearrangements) {
  NetBuilder n(4);
  n.output(n.unary("Relu", n.transpose(n.unary("Sigmoid", n.input("x", {12, 20, 16})), {2, 0, 1})));
  expectPhasesAgree("transposition", n.onnx);
  NetBuilder m(4);
  const NetValue x = m.input("x", {1, 16, 12, 12});
  m.output(m.depthToSpace(m.unary("Tanh", x), 2, "CRD"));
  expectPhasesAgree("depth to space", m.onnx);
}

TEST(PhasesAgreement, SortAndSums) {
  NetBuilder n(4);
  const NetValue x = n.input("x", {8, 40});
  n.onnx.nodeWithOutputs("TopK", {x.name, n.onnx.ints("k", {5})}, {"best", "places"});
  n.onnx.output("best");
  n.onnx.output("places");
  expectPhasesAgree("top 5", n.onnx);
  NetBuilder m(4);
  m.output({m.onnx.node("CumSum", {m.input("x", {8, 40}).name, m.onnx.ints("axis", {1})}), {8, 40}});
  expectPhasesAgree("cumulative sum", m.onnx);
}

} // namespace
} // namespace wsc::test
