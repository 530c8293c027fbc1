// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tests of the TensorFlow importer share: a folder of their own, import of a builder's graph, the printed
// module or the error's text, and its execution by the reference of nn.
#pragma once
#include "compiler/import/tf/Import.h"
#include "dialects/nn/Nn.h"
#include "test/support/NnReference.h"
#include "test/support/TfBuilder.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <filesystem>
#include <fstream>
#include <unistd.h>

namespace wsc::test {

class TfTest : public ::testing::Test {
protected:
  TfTest() {
    folder = std::filesystem::temp_directory_path() / ("wsc-tf-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
  }
  ~TfTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  std::string write(const std::string &name, const std::string &bytes) {
    std::filesystem::path path = folder / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }

  /// The module as text, or "error: …".
  std::string importPath(const std::string &path, const import::ImportOptions &options = {}) {
    module = {};
    auto result = import::importTensorFlow(context, path, options);
    if (!result.ok())
      return "error: " + std::string(result.status().message());
    module = std::move(*result);
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream);
    return text;
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

  static void expectIn(const std::string &part, const std::string &text) {
    EXPECT_NE(text.find(part), std::string::npos) << "expected \"" << part << "\" in:\n" << text;
  }
  static void expectNotIn(const std::string &part, const std::string &text) {
    EXPECT_EQ(text.find(part), std::string::npos) << "did not expect \"" << part << "\" in:\n" << text;
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::filesystem::path folder;
};

} // namespace wsc::test
