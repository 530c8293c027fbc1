// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the import tests share: a folder of their own, import of a builder's model, the printed module or the error's text.
#pragma once
#include "compiler/import/onnx/Import.h"
#include "dialects/nn/Nn.h"
#include "gtest/gtest.h"
#include "llvm/Support/raw_ostream.h"
#include "test/support/OnnxBuilder.h"
#include <filesystem>
#include <unistd.h>

namespace wsc::test {

class ImportTest : public ::testing::Test {
protected:
  ImportTest() {
    folder = std::filesystem::temp_directory_path() / ("wsc-import-" + std::to_string(::getpid()));
    std::filesystem::create_directories(folder);
  }
  ~ImportTest() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  std::string writeModel(const std::string &bytes) {
    std::string path = (folder / "model.onnx").string();
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }

  /// The module as text, or "error: …".
  std::string importBytes(const std::string &bytes, const import::ImportOptions &options = {}) {
    module = {};
    auto result = import::importOnnx(context, writeModel(bytes), options);
    if (!result.ok())
      return "error: " + std::string(result.status().message());
    module = std::move(*result);
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream);
    return text;
  }
  std::string importModel(const OnnxBuilder &builder, const import::ImportOptions &options = {}) {
    return importBytes(builder.bytes(), options);
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
