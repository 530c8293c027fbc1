// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tests of the TensorFlow importer share: import of a builder's graph and its execution by the reference of
// nn.
#pragma once
#include "compiler/import/tf/Import.h"
#include "test/support/TfBuilder.h"
#include "test/unit/import/ImportBase.h"

namespace wsc::test {

class TfTest : public ImportBase {
protected:
  TfTest() : ImportBase("wsc-tf") {}

  std::string importPath(const std::string &path, const import::ImportOptions &options = {}) {
    return show(import::importTensorFlow(context, path, options));
  }
  std::string importBytes(const std::string &bytes, const import::ImportOptions &options = {}) {
    return importPath(write("graph.pb", bytes), options);
  }
  std::string importGraph(const TfBuilder &builder, const import::ImportOptions &options = {}) {
    return importBytes(builder.bytes(), options);
  }

  /// Imports and executes; nothing but a failure where either refuses.
  std::vector<Array> run(const TfBuilder &builder, const std::vector<Array> &arguments,
                         const import::ImportOptions &options = {}) {
    return runPath(write("graph.pb", builder.bytes()), arguments, options);
  }
  std::vector<Array> runPath(const std::string &path, const std::vector<Array> &arguments,
                             const import::ImportOptions &options = {}) {
    std::string text = importPath(path, options);
    EXPECT_TRUE(module) << text;
    std::string error;
    auto results = module ? runReference(*module, arguments, error) : std::nullopt;
    EXPECT_TRUE(results) << error;
    return results.value_or(std::vector<Array>{});
  }

  static void expectNear(const Array &found, const std::vector<int64_t> &shape, const std::vector<double> &values,
                         double tolerance = 1e-5) {
    EXPECT_EQ(found.shape, shape);
    ASSERT_EQ(found.values.size(), values.size());
    for (size_t i = 0; i < values.size(); ++i)
      EXPECT_NEAR(found.values[i], values[i], tolerance * std::max(1.0, std::abs(values[i]))) << "element " << i;
  }
  static import::ImportOptions outputs(std::vector<std::string> names) {
    import::ImportOptions options;
    options.outputs = std::move(names);
    return options;
  }
};

} // namespace wsc::test
