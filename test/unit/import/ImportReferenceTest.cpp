// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Imports models that come with inputs and outputs, executes the nn operations with the reference, and compares: the
// shared trained models, and below WSC_ONNX_CASES every folder in the layout of ONNX's backend tests, or those of them
// that the file WSC_ONNX_LIST names. Inputs that shapes depend on are bound to their values. Each case prints
// PASS, FAIL or UNSUPPORTED with the reason; a wrong number or a refusal of something else than an operator or form
// fails.
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/import/common/Literal.h"
#include "compiler/import/onnx/TensorData.h"
#include "compiler/import/onnx/WireScan.h"
#include "dialects/nn/Shape.h"
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
  return decode(mlir::cast<mlir::DenseElementsAttr>(mlir::Attribute(*constant)));
}

/// The model's inputs that are no initializers, in the order of the input files.
std::vector<wsc::onnx::ValueInfoProto> inputsOf(const fs::path &model) {
  std::vector<wsc::onnx::ValueInfoProto> inputs;
  std::set<std::string> initialised;
  wsc::import::FileStore files;
  if (auto bytes = files.map(model.string()); bytes.ok())
    if (auto proto = wsc::import::parseModel(*bytes); proto.ok()) {
      for (const auto &initializer : proto->graph().initializer())
        initialised.insert(initializer.name());
      for (const auto &input : proto->graph().input())
        if (!initialised.count(input.name()))
          inputs.push_back(input);
    }
  return inputs;
}

/// Fixes what an input's shape leaves open to that of its data.
void fixShape(const wsc::onnx::ValueInfoProto &input, const Array &data, wsc::import::ImportOptions &options) {
  const auto &dims = input.type().tensor_type().shape().dim();
  bool isOpen = dims.size() != static_cast<int>(data.shape.size());
  for (int d = 0; d < dims.size() && !isOpen; ++d)
    if (!dims[d].dim_param().empty())
      options.dims.emplace(dims[d].dim_param(), data.shape[d]);
    else
      isOpen = !dims[d].has_dim_value();
  if (isOpen && !data.shape.empty())
    options.inputs.push_back(input.name() + ":" + absl::StrJoin(data.shape, "x"));
}

/// The elements as --bind takes them.
std::string listed(const Array &array) {
  std::vector<std::string> parts;
  for (int64_t i = 0; i < array.size(); ++i)
    parts.push_back(array.ints.empty() ? absl::StrFormat("%.17g", array.values[i]) : std::to_string(array.ints[i]));
  return absl::StrJoin(parts, ",");
}

/// |found - expected| ≤ absolute + relative·|expected|
struct Tolerance {
  double relative = 1e-3, absolute = 1e-7;
};

/// "" if the outputs agree, else where they differ.
std::string compare(const Array &found, const Array &expected, const Tolerance &tolerance) {
  if (expected.shape != found.shape)
    return "has shape " + wsc::nn::formatShape(found.shape) + ", expected " + wsc::nn::formatShape(expected.shape);
  for (size_t k = 0; k < found.values.size(); ++k) {
    double e = expected.values[k], f = found.values[k];
    bool same = found.ints.empty() ? e == f || (std::isnan(e) && std::isnan(f)) ||
                                         std::fabs(e - f) <= tolerance.absolute + tolerance.relative * std::fabs(e)
                                   : expected.ints[k] == found.ints[k];
    if (!same)
      return absl::StrCat("[", k, "]: expected ", e, ", found ", f);
  }
  return "";
}

/// "" when all outputs agree, "skip: …" for what is not supported, else what is wrong.
std::string runCase(const fs::path &folder, const Tolerance &tolerance = {}) {
  wsc::import::ImportOptions options;
  std::map<std::string, Array> data;
  fs::path set = folder / "test_data_set_0";
  mlir::MLIRContext context;
  for (const auto &[i, input] : llvm::enumerate(inputsOf(folder / "model.onnx")))
    if (auto tensor = readTensor(context, set / ("input_" + std::to_string(i) + ".pb"))) {
      fixShape(input, *tensor, options);
      data[input.name()] = std::move(*tensor);
    }
  auto module = wsc::import::importOnnx(context, (folder / "model.onnx").string(), options);
  // Inputs that are no data are bound one after another, as the importer meets them.
  for (bool bound = true; bound && !module.ok();) {
    bound = false;
    for (const std::string &name : wsc::import::inputsToBind(module.status()))
      if (data.count(name) && data[name].shape.size() <= 1)
        bound |= options.bindings.emplace(name, listed(data[name])).second;
    if (bound)
      module = wsc::import::importOnnx(context, (folder / "model.onnx").string(), options);
  }
  if (!module.ok())
    return (absl::IsUnimplemented(module.status()) ? "skip: " : "") + std::string(module.status().message());
  auto function = mlir::cast<mlir::FunctionOpInterface>((*module)->lookupSymbol("main"));
  std::vector<Array> arguments;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    std::string name = function.getArgAttrOfType<mlir::StringAttr>(i, "nn.name").str();
    auto argument = data.find(name);
    auto type = mlir::cast<mlir::RankedTensorType>(function.getArgumentTypes()[i]);
    if (argument == data.end() || llvm::ArrayRef<int64_t>(argument->second.shape) != type.getShape())
      return "skip: no input " + name + " of that shape";
    arguments.push_back(argument->second);
  }
  std::string error;
  auto results = runReference(**module, arguments, error);
  if (!results)
    return error;
  for (size_t i = 0; i < results->size(); ++i) {
    auto expected = readTensor(context, set / ("output_" + std::to_string(i) + ".pb"));
    if (!expected)
      return "skip: no output " + std::to_string(i);
    if (std::string difference = compare((*results)[i], *expected, tolerance); !difference.empty())
      return absl::StrCat("output ", i, " ", difference);
  }
  return "";
}

/// The folders of a list file (relative to `root`; lines that begin with # are comments), or all below `root`.
std::vector<fs::path> findCases(const fs::path &root, const char *list) {
  std::vector<fs::path> cases;
  if (list) {
    std::ifstream file(list);
    for (std::string line; std::getline(file, line);)
      if (!line.empty() && line.front() != '#')
        cases.push_back(root / line);
  } else {
    for (const auto &entry : fs::recursive_directory_iterator(root))
      if (entry.path().filename() == "model.onnx")
        cases.push_back(entry.path().parent_path());
  }
  return cases;
}

TEST(ImportReference, TrainedModels) {
  const char *shared = std::getenv("WSC_SHARED");
  fs::path folder = fs::path(shared ? shared : WSC_SOURCE_DIR "/../shared") / "models" / "real";
  if (!fs::exists(folder))
    GTEST_SKIP() << "no trained models in " << folder;
  for (const auto &entry : fs::directory_iterator(folder)) {
    bool isHalf = entry.path().filename().string().find("fp16") != std::string::npos;
    std::string outcome = runCase(entry.path(), isHalf ? Tolerance{1e-2, 1e-3} : Tolerance{1e-3, 1e-5});
    std::cout << entry.path().filename().string() << ": " << (outcome.empty() ? "agrees" : outcome) << std::endl;
    EXPECT_EQ(outcome, "") << entry.path();
  }
}

TEST(ImportReference, BackendCases) {
  const char *cases = std::getenv("WSC_ONNX_CASES");
  if (!cases || !fs::exists(cases))
    GTEST_SKIP() << "WSC_ONNX_CASES names no folder of ONNX backend tests";
  int passed = 0, skipped = 0, failed = 0;
  for (const fs::path &folder : findCases(cases, std::getenv("WSC_ONNX_LIST"))) {
    std::string outcome = runCase(folder), name = fs::relative(folder, cases).string();
    bool isSkip = outcome.rfind("skip: ", 0) == 0;
    ++(isSkip ? skipped : outcome.empty() ? passed : failed);
    if (!isSkip && !outcome.empty())
      ADD_FAILURE() << name << ": " << outcome;
    std::cout << (isSkip            ? "UNSUPPORTED "
                  : outcome.empty() ? "PASS "
                                    : "FAIL ")
              << name << " " << (isSkip ? outcome.substr(6) : outcome) << "\n";
  }
  std::cout << passed << " cases agree, " << failed << " do not, " << skipped << " not supported" << std::endl;
  EXPECT_GT(passed, 0);
}

} // namespace
