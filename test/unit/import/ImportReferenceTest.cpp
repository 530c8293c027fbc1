// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Imports models that come with inputs and outputs, executes the nn operations with the reference, and compares: the
// shared trained models, and below WSC_ONNX_CASES every folder in the layout of ONNX's backend tests. Cases the
// importer refuses as unsupported are counted; a wrong number or any other refusal fails.
#include "compiler/import/common/Literal.h"
#include "compiler/import/onnx/TensorData.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "test/support/NnReference.h"
#include "test/unit/import/ImportFixture.h"
#include <cmath>
#include <cstdlib>
#include <sstream>

namespace {

using namespace wsc::test;
namespace fs = std::filesystem;

/// A TensorProto file; nullopt if there is none or it holds something else.
std::optional<Array> readTensor(mlir::MLIRContext &context, const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  wsc::onnx::TensorProto tensor;
  if (!file || !tensor.ParseFromIstream(&file))
    return std::nullopt;
  auto element = wsc::import::elementType(context, tensor.data_type());
  if (!element.ok())
    return std::nullopt;
  auto type = mlir::RankedTensorType::get(std::vector<int64_t>(tensor.dims().begin(), tensor.dims().end()), *element);
  if (tensor.has_raw_data())
    return decode(type, tensor.raw_data());
  wsc::import::FileStore files;
  auto constant = wsc::import::TensorReader(context, files, "").read(tensor);
  if (!constant.ok())
    return std::nullopt;
  auto literal = wsc::import::Literal::fromAttribute(mlir::cast<mlir::DenseElementsAttr>(mlir::Attribute(*constant)));
  Array array{{tensor.dims().begin(), tensor.dims().end()}, literal.floats};
  if (!literal.isFloat())
    array.values.assign(literal.ints.begin(), literal.ints.end());
  return array;
}

/// "" when all outputs agree, "skip: …" for what is not supported, else what is wrong.
std::string runCase(const fs::path &folder, const wsc::import::ImportOptions &options = {}) {
  mlir::MLIRContext context;
  auto module = wsc::import::importOnnx(context, (folder / "model.onnx").string(), options);
  if (!module.ok())
    return (absl::IsUnimplemented(module.status()) ? "skip: " : "") + module.status().ToString();
  auto function = mlir::cast<mlir::FunctionOpInterface>((*module)->lookupSymbol("main"));
  std::vector<Array> arguments;
  fs::path data = folder / "test_data_set_0";
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto argument = readTensor(context, data / ("input_" + std::to_string(i) + ".pb"));
    if (!argument || llvm::ArrayRef<int64_t>(argument->shape) !=
                         mlir::cast<mlir::RankedTensorType>(function.getArgumentTypes()[i]).getShape())
      return "skip: no input " + std::to_string(i) + " of that shape";
    arguments.push_back(std::move(*argument));
  }
  std::string error;
  auto results = runReference(**module, arguments, error);
  if (!results)
    return error;
  for (size_t i = 0; i < results->size(); ++i) {
    auto expected = readTensor(context, data / ("output_" + std::to_string(i) + ".pb"));
    const Array &found = (*results)[i];
    if (!expected)
      return "skip: no output " + std::to_string(i);
    if (expected->shape != found.shape)
      return "output " + std::to_string(i) + " has another shape";
    auto type = mlir::cast<mlir::RankedTensorType>(function.getResultTypes()[i]).getElementType();
    double relative = type.isF16() || type.isBF16() ? 1e-2 : 1e-3,
           absolute = type.isF16() || type.isBF16() ? 1e-3 : 1e-5;
    for (size_t k = 0; k < found.values.size(); ++k) {
      double e = expected->values[k], f = found.values[k];
      bool same = e == f || (std::isnan(e) && std::isnan(f)) || std::fabs(e - f) <= absolute + relative * std::fabs(e);
      if (!same) {
        std::ostringstream text;
        text << "output " << i << "[" << k << "]: expected " << e << ", found " << f;
        return text.str();
      }
    }
  }
  return "";
}

TEST(ImportReference, TrainedModels) {
  const char *shared = std::getenv("WSC_SHARED");
  fs::path folder = fs::path(shared ? shared : WSC_SOURCE_DIR "/../shared") / "models" / "real";
  if (!fs::exists(folder))
    GTEST_SKIP() << "no trained models in " << folder;
  EXPECT_EQ(runCase(folder / "mnist_cnn8"), "");
  EXPECT_EQ(runCase(folder / "mnist_burn"), "");
  EXPECT_EQ(runCase(folder / "micro_kws_fp32"), "");
  EXPECT_EQ(runCase(folder / "magika_v3_3", {{{"unk__214", 1}}, {}, {}}), "");
}

TEST(ImportReference, BackendCases) {
  const char *cases = std::getenv("WSC_ONNX_CASES");
  if (!cases || !fs::exists(cases))
    GTEST_SKIP() << "WSC_ONNX_CASES names no folder of ONNX backend tests";
  int passed = 0, skipped = 0;
  for (const auto &entry : fs::recursive_directory_iterator(cases)) {
    if (entry.path().filename() != "model.onnx")
      continue;
    std::string outcome = runCase(entry.path().parent_path());
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
