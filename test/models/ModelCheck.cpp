// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/models/ModelCheck.h"

#include "compiler/driver/Compiler.h"
#include "compiler/import/onnx/Import.h"
#include "runtime/session/TensorFile.h"
#include "test/support/NnReference.h"

#include <cstring>
#include <unistd.h>

namespace wsc::test {

TemporaryFolder::TemporaryFolder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "wsc-models-XXXXXX").string();
  path = ::mkdtemp(pattern.data());
}
TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path, ignored);
}

absl::Status compileModel(const std::string &onnxPath, const std::string &target, const std::string &wsePath,
                          const kernels::SearchOptions &search, driver::Execution execution) {
  driver::CompileOptions options;
  options.execution = execution;
  options.model = onnxPath;
  options.target = target;
  options.output = wsePath;
  options.search = search;
  return driver::compile(options).status();
}

Inputs randomInputs(const format::Entry &entry, uint64_t seed) {
  SeededUniform random(seed);
  Inputs inputs;
  for (const format::TensorType &type : entry.inputs) {
    std::vector<float> values = random.vector(type.elements(), 1);
    Tensor tensor{type, std::vector<std::byte>(values.size() * sizeof(float))};
    std::memcpy(tensor.bytes.data(), values.data(), tensor.bytes.size());
    inputs[type.name] = std::move(tensor);
  }
  return inputs;
}

static std::vector<float> floatsOf(const Tensor &tensor) {
  std::vector<float> values(tensor.bytes.size() / sizeof(float));
  std::memcpy(values.data(), tensor.bytes.data(), tensor.bytes.size());
  return values;
}

std::vector<std::vector<double>> referenceOutputs(const std::string &onnxPath, const format::Entry &entry,
                                                  const Inputs &inputs) {
  mlir::MLIRContext context;
  auto module = import::importOnnx(context, onnxPath);
  if (!module.ok()) {
    ADD_FAILURE() << module.status();
    return {};
  }
  std::vector<Array> arguments;
  for (const format::TensorType &type : entry.inputs) {
    std::vector<float> values = floatsOf(inputs.at(type.name));
    arguments.push_back({type.shape, {values.begin(), values.end()}});
  }
  std::string error;
  auto results = runReference(**module, arguments, error);
  if (!results) {
    ADD_FAILURE() << error;
    return {};
  }
  std::vector<std::vector<double>> outputs;
  for (Array &result : *results)
    outputs.push_back(std::move(result.values));
  return outputs;
}

double relativeL2(const Tensor &got, const std::vector<double> &expected) {
  std::vector<float> values = floatsOf(got);
  if (values.size() != expected.size())
    return INFINITY;
  double difference = 0, norm = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    difference += (values[i] - expected[i]) * (values[i] - expected[i]);
    norm += expected[i] * expected[i];
  }
  return norm == 0 ? std::sqrt(difference) : std::sqrt(difference / norm);
}

static void checkOnTarget(const std::string &onnxPath, const TemporaryFolder &folder, const std::string &target,
                          uint64_t seed, const CheckOptions &options) {
  SCOPED_TRACE("target " + target);
  std::string path = folder / "model.wse", again = folder / "again.wse";
  kernels::SearchOptions search = options.search;
  absl::Status status = compileModel(onnxPath, target, path, search);
  ASSERT_TRUE(status.ok()) << status;
  search.threads += 2;
  ASSERT_TRUE(compileModel(onnxPath, target, again, search).ok());
  EXPECT_EQ(*readFile(path), *readFile(again)) << "compiling again, on more threads, gives different bytes";

  std::vector<Tensor> first;
  int64_t interval = 0, latency = 0;
  for (bool worklist : {false, true})
    for (int threads : {1, 2}) {
      if (worklist && !options.worklist)
        continue;
      SCOPED_TRACE(std::string(worklist ? "worklist" : "units") + ", threads " + std::to_string(threads));
      auto session = Session::open(path, {.threads = threads, .worklist = worklist});
      ASSERT_TRUE(session.ok()) << session.status();
      Inputs inputs = randomInputs((*session)->executable().entries[0], seed);
      auto outputs = (*session)->run(0, inputs);
      ASSERT_TRUE(outputs.ok()) << outputs.status();
      if (first.empty()) {
        auto expected = referenceOutputs(onnxPath, (*session)->executable().entries[0], inputs);
        ASSERT_EQ(outputs->size(), expected.size());
        for (size_t i = 0; i < outputs->size(); ++i)
          EXPECT_LE(relativeL2((*outputs)[i], expected[i]), options.relativeL2) << "output " << (*outputs)[i].type.name;
        status = (*session)->replay(0, inputs, options.replayedCores, seed);
        EXPECT_TRUE(status.ok()) << status;
        first = *std::move(outputs);
      } else {
        for (size_t i = 0; i < outputs->size(); ++i)
          EXPECT_EQ((*outputs)[i].bytes, first[i].bytes) << "other bits in output " << first[i].type.name;
      }
      if (!worklist) {
        auto timing = (*session)->timing(0);
        ASSERT_TRUE(timing.ok()) << timing.status();
        if (threads == 1) {
          interval = (*timing)->intervalCycles;
          latency = (*timing)->latencyCycles;
          EXPECT_GT(interval, 0);
          EXPECT_GE(latency, 0);
        }
        EXPECT_EQ((*timing)->intervalCycles, interval);
        EXPECT_EQ((*timing)->latencyCycles, latency);
      }
    }
}

void checkModel(const OnnxBuilder &model, uint64_t seed, const CheckOptions &options) {
  TemporaryFolder folder;
  std::string onnxPath = folder / "model.onnx";
  ASSERT_TRUE(model.write(onnxPath));
  for (const std::string &target : options.targets)
    checkOnTarget(onnxPath, folder, target, seed, options);
}

} // namespace wsc::test
