// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A TensorFlow training graph on the wafer: a small CNN with momentum is compiled with its train operator as an output;
// twenty calls of the executable follow the same training in double precision. ResNet-50's training
// graph passes validation.
#include "test/support/TfTraining.h"
#include "compiler/driver/Compiler.h"
#include "test/models/ModelCheck.h"
#include "test/support/TfResNet.h"

#include <chrono>
#include <fstream>

namespace wsc::test {
namespace {

std::string writeGraph(const TemporaryFolder &folder, const TfBuilder &graph) {
  std::ofstream(folder / "graph.pb", std::ios::binary) << graph.bytes();
  return folder / "graph.pb";
}

template <typename T> Tensor tensorOf(const format::TensorType &type, const std::vector<T> &values) {
  Tensor tensor;
  tensor.type = type;
  tensor.bytes.resize(values.size() * sizeof(T));
  std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
  return tensor;
}

TEST(TfTrainingOnWafer, LossFollowsTheLoops) {
  TemporaryFolder folder;
  TfTraining training(11);
  driver::CompileOptions options;
  options.model = writeGraph(folder, training.graph());
  options.output = folder / "train.wse";
  options.target = "mesh-32x32";
  options.outputs = {"loss", "train"};
  auto compiled = driver::compile(options);
  ASSERT_TRUE(compiled.ok()) << compiled.status();
  auto session = Session::open(options.output, {.threads = 1});
  ASSERT_TRUE(session.ok()) << session.status();
  auto entry = (*session)->findEntry("");
  ASSERT_TRUE(entry.ok());
  const format::Entry &signature = (*session)->executable().entries[*entry];
  Inputs inputs;
  for (const format::TensorType &type : signature.inputs)
    inputs[type.name] = type.name == "images"
                            ? tensorOf<float>(type, {training.images.begin(), training.images.end()})
                            : tensorOf<int32_t>(type, {training.labels.begin(), training.labels.end()});
  for (int step = 0; step < 20; ++step) {
    auto results = (*session)->run(*entry, inputs);
    ASSERT_TRUE(results.ok()) << results.status();
    float loss = 0;
    std::memcpy(&loss, results->at(0).bytes.data(), sizeof loss);
    const double expected = training.step();
    ASSERT_NEAR(loss, expected, 1e-4 * expected) << "step " << step;
  }
  auto dense = (*session)->readState("dense_bias");
  ASSERT_TRUE(dense.ok()) << dense.status();
  for (size_t i = 0; i < training.parameters["dense_bias"].size(); ++i) {
    float value = 0;
    std::memcpy(&value, dense->bytes.data() + i * sizeof value, sizeof value);
    EXPECT_NEAR(value, training.parameters["dense_bias"][i], 1e-4);
  }
}

TEST(TfTrainingOnWafer, ResNet50Validates) {
  TemporaryFolder folder;
  driver::CompileOptions options;
  options.model = writeGraph(folder, TfResNet(2, 224, 1000).b);
  options.outputs = {"loss", "accuracy", "train"};
  const auto start = std::chrono::steady_clock::now();
  auto lines = driver::validate(options);
  std::printf("%.2f s\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  ASSERT_TRUE(lines.ok()) << lines.status();
  EXPECT_TRUE(lines->empty()) << lines->front();
}

} // namespace
} // namespace wsc::test
