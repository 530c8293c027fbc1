// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Models that come with inputs and outputs, imported, lowered to nests and evaluated as networks in their own types:
// the shared trained models, and below WSC_ONNX_CASES every folder in the layout of ONNX's backend tests. Cases that
// the importer refuses, or whose element types no core computes with, are counted.
#include "compiler/import/common/FileStore.h"
#include "compiler/import/common/Literal.h"
#include "compiler/import/onnx/TensorData.h"
#include "passes/spmd/NestLowering.h"
#include "passes/spmd/Passes.h"
#include "passes/spmd/ReadNetwork.h"
#include "test/support/NetworkBuilder.h"
#include "test/support/NetworkReference.h"
#include "test/unit/import/ImportFixture.h"

#include "mlir/Pass/PassManager.h"

#include <cmath>
#include <cstdlib>
#include <sstream>

namespace {

using namespace mlir;
namespace fs = std::filesystem;

/// Values of a TensorProto file; nullopt if there is none or it holds something else.
std::optional<std::vector<double>> readTensor(MLIRContext &context, const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  wsc::onnx::TensorProto tensor;
  if (!file || !tensor.ParseFromIstream(&file))
    return std::nullopt;
  auto element = wsc::import::elementType(context, tensor.data_type());
  if (!element.ok())
    return std::nullopt;
  auto type = RankedTensorType::get(std::vector<int64_t>(tensor.dims().begin(), tensor.dims().end()), *element);
  std::optional<wsc::import::Literal> literal;
  if (tensor.has_raw_data()) {
    literal = wsc::import::Literal::fromBytes(type, tensor.raw_data());
  } else {
    wsc::import::FileStore files;
    auto constant = wsc::import::TensorReader(context, files, "").read(tensor);
    if (constant.ok())
      literal = wsc::import::Literal::fromAttribute(cast<DenseElementsAttr>(Attribute(*constant)));
  }
  if (!literal)
    return std::nullopt;
  return literal->isFloat() ? literal->floats : std::vector<double>(literal->ints.begin(), literal->ints.end());
}

/// "" when all outputs agree, "skip: …" for what is not supported, else what is wrong.
std::string runCase(const fs::path &folder, const wsc::import::ImportOptions &options = {}) {
  DialectRegistry registry;
  wsc::spmd::registerNestLowerings(registry);
  MLIRContext context(registry);
  std::string error;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    error += diagnostic.str() + "\n";
    return success();
  });
  auto module = wsc::import::importOnnx(context, (folder / "model.onnx").string(), options);
  if (!module.ok())
    return (absl::IsUnimplemented(module.status()) ? "skip: " : "") + module.status().ToString();
  PassManager passes(&context);
  passes.addNestedPass<func::FuncOp>(wsc::spmd::createLowerToNests());
  passes.addNestedPass<func::FuncOp>(wsc::spmd::createFuseNests());
  if (failed(passes.run(**module)))
    return error;
  auto network = wsc::spmd::readNetwork((*module)->lookupSymbol<func::FuncOp>("main"));
  if (!network.ok())
    return (error.find("cores hold") != std::string::npos ? "skip: " : "") + error;

  const fs::path data = folder / "test_data_set_0";
  std::vector<std::vector<std::byte>> inputs;
  for (size_t i = 0; i < network->inputs.size(); ++i) {
    const auto &tensor = network->tensors[size_t(network->inputs[i].tensor)];
    auto values = readTensor(context, data / ("input_" + std::to_string(i) + ".pb"));
    if (!values || int64_t(values->size()) != tensor.elements())
      return "skip: no input " + std::to_string(i) + " of that shape";
    inputs.push_back(wsc::test::elementsOf(tensor.type, *values));
  }
  auto found = wsc::test::evaluate(*network, inputs);
  if (!found.ok())
    return found.status().ToString();
  for (size_t i = 0; i < network->outputs.size(); ++i) {
    auto expected = readTensor(context, data / ("output_" + std::to_string(i) + ".pb"));
    if (!expected)
      return "skip: no output " + std::to_string(i);
    const auto type = network->tensors[size_t(network->outputs[i].tensor)].type;
    const std::vector<double> values = wsc::test::valuesOf(type, found->outputs[i]);
    if (expected->size() != values.size())
      return "output " + std::to_string(i) + " has another shape";
    const bool isHalf = wsc::format::elementBytes(type) == 2;
    const double relative = isHalf ? 1e-2 : 1e-3, absolute = isHalf ? 1e-3 : 1e-5;
    for (size_t k = 0; k < values.size(); ++k) {
      const double e = (*expected)[k], f = values[k];
      if (e == f || (std::isnan(e) && std::isnan(f)) || std::fabs(e - f) <= absolute + relative * std::fabs(e))
        continue;
      std::ostringstream text;
      text << "output " << i << "[" << k << "]: expected " << e << ", found " << f;
      return text.str();
    }
  }
  return "";
}

TEST(OnnxCases, TrainedModels) {
  const char *shared = std::getenv("WSC_SHARED");
  const fs::path folder = fs::path(shared ? shared : WSC_SOURCE_DIR "/../shared") / "models" / "real";
  // The models are not part of the project: the test runs where they lie beside it.
  if (!fs::exists(folder))
    GTEST_SKIP() << "no trained models in " << folder;
  for (const char *name : {"mnist_cnn8", "mnist_burn", "micro_kws_fp32", "dtln_1", "dtln_2"})
    if (std::string outcome = runCase(folder / name); outcome.rfind("skip: ", 0) != 0)
      EXPECT_EQ(outcome, "") << name;
}

TEST(OnnxCases, BackendCases) {
  // The standard's cases are not part of the project either; test/conformance runs those of the package
  // libonnx-testdata.
  const char *cases = std::getenv("WSC_ONNX_CASES");
  if (!cases || !fs::exists(cases))
    GTEST_SKIP() << "WSC_ONNX_CASES names no folder of ONNX backend tests";
  int passed = 0, skipped = 0;
  for (const auto &entry : fs::recursive_directory_iterator(cases)) {
    if (entry.path().filename() != "model.onnx")
      continue;
    const std::string outcome = runCase(entry.path().parent_path());
    if (outcome.rfind("skip: ", 0) == 0)
      ++skipped;
    else if (outcome.empty())
      ++passed;
    else
      ADD_FAILURE() << entry.path().parent_path().filename().string() << ": " << outcome;
  }
  std::cout << passed << " cases agree, " << skipped << " not supported" << std::endl;
  EXPECT_GT(passed, 0);
}

} // namespace
