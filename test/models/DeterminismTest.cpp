// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same executable and input give the same bits on every CPU level and for any number of samples in one run.
// (Schedules, threads and repeated compilation are part of every checkModel.)
#include "test/models/ModelCheck.h"
#include "test/models/RandomNet.h"

#include "runtime/session/TensorFile.h"
#include "tools/wsc-run/Run.h"

#include <cstdlib>

namespace wsc::test {
namespace {

/// A network with every kind of kernel.
OnnxBuilder mixedNetwork() {
  NetBuilder net(31);
  NetValue x = net.input("x", {1, 3, 12, 10});
  NetValue y = net.unary("Relu", net.conv(x, 8, {.pads = {1, 1, 1, 1}}));
  NetValue z = net.conv(y, 8, {.pads = {1, 1, 1, 1}}, 8);
  y = net.concat({net.binary("Add", y, z), net.unary("Tanh", net.conv(z, 5, {.kernel = {1, 1}}))});
  y = net.averagePool(y, {.strides = {2, 2}, .pads = {1, 1, 1, 1}}, false);
  net.output(net.softmax(net.gemm(net.flatten(y), 10)));
  return std::move(net.onnx);
}

class Determinism : public ::testing::Test {
protected:
  void SetUp() override {
    onnxPath = folder / "model.onnx";
    path = folder / "model.wse";
    ASSERT_TRUE(mixedNetwork().write(onnxPath));
    absl::Status status = compileModel(onnxPath, "mesh-64x64", path);
    ASSERT_TRUE(status.ok()) << status;
  }
  /// Outputs of one sample in a session of its own.
  std::vector<Tensor> runOnce(const Inputs &inputs) {
    auto session = Session::open(path, {.threads = 1});
    EXPECT_TRUE(session.ok()) << session.status();
    auto outputs = (*session)->run(0, inputs);
    EXPECT_TRUE(outputs.ok()) << outputs.status();
    return *std::move(outputs);
  }
  TemporaryFolder folder;
  std::string onnxPath, path;
};

TEST_F(Determinism, EveryCpuLevelGivesTheSameBits) {
  const char *before = std::getenv("WSC_CPU");
  std::string saved = before ? before : "";
  std::vector<Tensor> first;
  for (const char *level :
       {"portable", "avx2", "avx512"}) { // a level the machine does not have falls to the next lower
    setenv("WSC_CPU", level, 1);
    auto session = Session::open(path, {.threads = 2});
    ASSERT_TRUE(session.ok()) << session.status();
    auto outputs = (*session)->run(0, randomInputs((*session)->executable().entries[0], 5));
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    if (first.empty())
      first = *outputs;
    for (size_t i = 0; i < first.size(); ++i)
      EXPECT_EQ((*outputs)[i].bytes, first[i].bytes) << level;
  }
  if (before)
    setenv("WSC_CPU", saved.c_str(), 1);
  else
    unsetenv("WSC_CPU");
}

TEST_F(Determinism, EightSamplesAreEightSingleRuns) {
  run::Options options;
  options.model = path;
  options.output = folder / "results.npz";
  options.hasRandom = true;
  options.random = 17;
  options.samples = 8;
  options.quiet = true;
  ASSERT_EQ(run::runTool(options), 0);
  auto results = readNpz(options.output);
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_EQ(results->size(), 8u);
  auto session = Session::open(path);
  ASSERT_TRUE(session.ok()) << session.status();
  auto samples = run::SampleSource::create((*session)->executable().entries[0], options);
  ASSERT_TRUE(samples.ok()) << samples.status();
  for (int k = 0; k < 8; ++k) {
    auto inputs = samples->sample(k);
    ASSERT_TRUE(inputs.ok()) << inputs.status();
    EXPECT_EQ(runOnce(*inputs)[0].bytes, (*results)[k].bytes) << "sample " << k;
    if (k > 0)
      EXPECT_NE((*results)[k].bytes, (*results)[0].bytes) << "sample " << k;
  }
}

/// Debug information of the model, not its folder, may reach the file.
TEST_F(Determinism, TheModelsFolderLeavesNoTrace) {
  TemporaryFolder elsewhere;
  ASSERT_TRUE(mixedNetwork().write(elsewhere / "other.onnx"));
  ASSERT_TRUE(compileModel(elsewhere / "other.onnx", "mesh-64x64", elsewhere / "other.wse").ok());
  EXPECT_EQ(*readFile(path), *readFile(elsewhere / "other.wse"));
}

} // namespace
} // namespace wsc::test
