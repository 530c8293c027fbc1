// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Imports the shared trained models where they exist, prints what they consist of, and holds a large model to its limits of time and memory.
// WSC_SHARED names the folder (by default the one beside the project), WSC_MODELS a folder of exported models.
#include "compiler/import/onnx/Import.h"
#include "dialects/nn/Nn.h"
#include "gtest/gtest.h"
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <sys/resource.h>

namespace {

using namespace wsc::import;

std::string folderOf(const char *variable, const std::string &otherwise) {
  const char *value = std::getenv(variable);
  return value ? value : otherwise;
}

struct Case {
  const char *name;
  ImportOptions options;
};

void importAndPrint(const std::string &path, const ImportOptions &options) {
  mlir::MLIRContext context;
  auto begin = std::chrono::steady_clock::now();
  auto module = importOnnx(context, path, options);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  ASSERT_TRUE(module.ok()) << module.status().ToString();
  std::map<std::string, int> counts;
  (*module)->walk([&](mlir::Operation *op) {
    if (llvm::isa_and_nonnull<wsc::nn::NnDialect>(op->getDialect()))
      ++counts[op->getName().stripDialect().str()];
  });
  EXPECT_FALSE(counts.empty());
  std::cout << path << ": " << seconds << " s";
  for (const auto &[name, count] : counts)
    std::cout << " " << name << "=" << count;
  std::cout << std::endl;
}

TEST(ImportModels, Trained) {
  std::string folder = folderOf("WSC_SHARED", WSC_SOURCE_DIR "/../shared") + "/models/real/";
  if (!std::filesystem::exists(folder))
    GTEST_SKIP() << "no trained models in " << folder;
  for (const Case &c : {Case{"mnist_cnn8", {}}, Case{"mnist_burn", {}}, Case{"micro_kws_fp32", {}}, Case{"squeezenet_fp16", {}},
                        Case{"ultraface_rfb320", {}}, Case{"super_resolution10", {{{"batch_size", 1}}, {}, {}}},
                        Case{"dtln_2", {}}, Case{"magika_v3_3", {{{"unk__214", 1}}, {}, {}}}})
    importAndPrint(folder + c.name + "/model.onnx", c.options);
}

TEST(ImportModels, ExportedWithinTimeAndMemory) {
  std::string folder = folderOf("WSC_MODELS", "");
  if (folder.empty() || !std::filesystem::exists(folder))
    GTEST_SKIP() << "WSC_MODELS names no folder of exported models";
  for (const auto &entry : std::filesystem::directory_iterator(folder)) {
    std::string path = entry.path().string() + "/model.onnx";
    if (!std::filesystem::exists(path))
      continue;
    importAndPrint(path, {});
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    EXPECT_LT(usage.ru_maxrss / 1024, 200) << "MiB resident after " << path;
  }
}

} // namespace
