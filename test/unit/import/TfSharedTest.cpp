// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The shared TensorFlow graphs, fed as their data sets say, executed by the reference of nn and compared with the
// values that TensorFlow.js gave. Below WSC_TF_CASES or ../shared/models/tf; without the folder the test is skipped.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/import/onnx/TensorData.h"
#include "dialects/nn/Shape.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "test/unit/import/TfFixture.h"
#include <cmath>
#include <cstdlib>

namespace {

using namespace wsc::test;
namespace fs = std::filesystem;

class TfShared : public TfTest {
protected:
  struct Named {
    std::string name;
    Array array;
  };
  /// input_0.pb, input_1.pb … of a data set.
  std::vector<Named> tensors(const fs::path &set, const char *prefix) {
    std::vector<Named> result;
    for (int i = 0;; ++i) {
      std::ifstream file(set / (prefix + std::to_string(i) + ".pb"), std::ios::binary);
      wsc::onnx::TensorProto tensor;
      if (!file || !tensor.ParseFromIstream(&file))
        return result;
      auto element = wsc::import::elementType(context, tensor.data_type());
      if (!element.ok())
        return result;
      auto type =
          mlir::RankedTensorType::get(std::vector<int64_t>(tensor.dims().begin(), tensor.dims().end()), *element);
      result.push_back({tensor.name(), decode(type, tensor.raw_data())});
    }
  }

  void check(const fs::path &folder) {
    const fs::path set = folder / "test_data_set_0";
    wsc::import::ImportOptions options;
    std::map<std::string, Array> data;
    for (const Named &input : tensors(set, "input_")) {
      options.inputs.push_back(
          absl::StrCat(input.name, ":", input.array.shape.empty() ? "f32" : absl::StrJoin(input.array.shape, "x")));
      data[input.name] = input.array;
    }
    std::vector<Named> expected = tensors(set, "output_");
    for (const Named &output : expected)
      options.outputs.push_back(output.name);
    // The engine passes over the axis of OneHot and the data_format of pools.
    options.likeTensorFlowJs = true;
    const std::string path = (folder / "graph.pb").string();
    auto result = wsc::import::importTensorFlow(context, path, options);
    for (const std::string &name : wsc::import::inputsToBind(result.status()))
      options.bindings[name] = absl::StrCat(data[name].values.at(0));
    std::string text = importPath(path, options);
    ASSERT_TRUE(module) << text;
    auto function = mlir::cast<mlir::FunctionOpInterface>(module->lookupSymbol("main"));
    std::vector<Array> arguments;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      arguments.push_back(data[function.getArgAttrOfType<mlir::StringAttr>(i, "nn.name").str()]);
    std::string error;
    auto results = runReference(*module, arguments, error);
    ASSERT_TRUE(results) << error;
    ASSERT_EQ(results->size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ((*results)[i].shape, expected[i].array.shape);
      for (size_t k = 0; k < expected[i].array.values.size(); ++k) {
        const double want = expected[i].array.values[k];
        if (std::isnan(want) && std::isnan((*results)[i].values[k]))
          continue;
        ASSERT_NEAR((*results)[i].values[k], want, 1e-4 + 1e-3 * std::abs(want)) << expected[i].name << "[" << k << "]";
      }
    }
  }
};

TEST_F(TfShared, Graphs) {
  const char *given = std::getenv("WSC_TF_CASES");
  const fs::path shared = given ? fs::path(given) : fs::path(WSC_SOURCE_DIR) / "../shared/models/tf";
  if (!fs::is_directory(shared))
    // The graphs are not part of the tree; other tests build their own.
    GTEST_SKIP() << shared.string() << " does not exist";
  // Convolutions of this size take the reference, which is plain loops, seconds; wsc-test runs them.
  const std::set<std::string> large{"hey_snips_3",  "kws_CNN_M",    "kws_CNN_S",  "kws_CRNN_S",
                                    "kws_DS_CNN_M", "kws_DS_CNN_S", "mlnet_cifar"};
  int cases = 0;
  for (const auto &entry : fs::recursive_directory_iterator(shared)) {
    const fs::path folder = entry.path().parent_path();
    if (entry.path().filename() != "graph.pb" || (!given && large.count(folder.filename().string())))
      continue;
    SCOPED_TRACE(folder.filename().string());
    check(folder);
    ++cases;
  }
  std::printf("%d graphs\n", cases);
}

} // namespace
