// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tests of all importers share: a folder of their own, the imported module or the error as text, and random
// cases whose seed a failure names.
#pragma once
#include "absl/status/statusor.h"
#include "dialects/nn/Nn.h"
#include "test/support/NnReference.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <unistd.h>

namespace wsc::test {

class ImportBase : public ::testing::Test {
protected:
  explicit ImportBase(const std::string &name)
      : folder(std::filesystem::temp_directory_path() / (name + "-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder);
  }
  ~ImportBase() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }

  /// Path of a file in the folder; may lie in folders below it.
  std::string write(const std::string &name, const std::string &bytes) {
    std::filesystem::path path = folder / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << bytes;
    return path.string();
  }

  /// The module as text, or "error: …".
  std::string show(absl::StatusOr<mlir::OwningOpRef<mlir::ModuleOp>> result) {
    module = {};
    if (!result.ok())
      return "error: " + std::string(result.status().message());
    module = std::move(*result);
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream);
    return text;
  }

  static void expectIn(const std::string &part, const std::string &text) {
    EXPECT_NE(text.find(part), std::string::npos) << "expected \"" << part << "\" in:\n" << text;
  }
  static void expectNotIn(const std::string &part, const std::string &text) {
    EXPECT_EQ(text.find(part), std::string::npos) << "did not expect \"" << part << "\" in:\n" << text;
  }

  /// Runs `body` for a number of seeds, from WSC_SEED on.
  template <typename Body> void forSeeds(int runs, Body body) {
    const char *given = std::getenv("WSC_SEED");
    for (int i = 0; i < runs && !HasFailure(); ++i) {
      const uint64_t seed = (given ? std::strtoull(given, nullptr, 10) : 1) + static_cast<uint64_t>(i);
      SCOPED_TRACE("WSC_SEED=" + std::to_string(seed));
      random.seed(seed);
      body();
    }
  }
  int64_t between(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); }
  /// Whole numbers from −8 to 8.
  Array numbers(const std::vector<int64_t> &shape) {
    Array array{shape, {}};
    int64_t count = 1;
    for (int64_t extent : shape)
      count *= extent;
    for (int64_t i = 0; i < count; ++i)
      array.values.push_back(static_cast<double>(between(-8, 8)));
    return array;
  }

  std::mt19937_64 random;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::filesystem::path folder;
};

} // namespace wsc::test
