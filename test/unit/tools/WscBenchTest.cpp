// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wsc-bench as a command: figures that can be known beforehand, JSON, exit statuses.
#include "Tools.h"

#include <cstdlib>

namespace wsc::test {
namespace {

tools::ChildOutcome wscBench(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), WSC_BENCH);
  return call(arguments);
}

// The result of that name; checks every field of every result.
const llvm::json::Object *find(const llvm::json::Object &json, const std::string &name) {
  const llvm::json::Object *found = nullptr;
  EXPECT_TRUE(json.getString("suite"));
  EXPECT_TRUE(json.getString("machine") && !json.getString("machine")->empty());
  const llvm::json::Array *results = json.getArray("results");
  EXPECT_TRUE(results);
  for (size_t i = 0; results && i < results->size(); ++i) {
    const llvm::json::Object &result = *(*results)[i].getAsObject();
    EXPECT_EQ(result.size(), 5u);
    EXPECT_TRUE(result.getString("name"));
    EXPECT_TRUE(result.getNumber("value"));
    EXPECT_TRUE(result.getString("unit"));
    for (const char *key : {"bound", "reference"})
      EXPECT_TRUE(result.getNumber(key) || result.getNull(key)) << key;
    if (result.getString("name") == name)
      found = &result;
  }
  EXPECT_TRUE(found) << name;
  return found;
}

double value(const llvm::json::Object &json, const std::string &name, const char *key = "value") {
  const llvm::json::Object *result = find(json, name);
  return result ? result->getNumber(key).value_or(-1) : -1;
}

void addProduct(CaseFolder &folder, const std::vector<float> &expected = {1, 2, 8, 10}) {
  folder.model("product", product("N"));
  folder.data("product", 0, {floats("x", {2, 3}, {1, 0, 0, 0, 1, 1})}, {floats("y", {2, 2}, expected)});
}

TEST(WscBench, Compile) {
  CaseFolder folder;
  folder.model("relu", relu());
  OnnxBuilder b;
  b.input("x", {1, 100});
  b.output(b.node("MatMul", {"x", b.floats("w", {100, 50}, std::vector<float>(5000, 1))}, {}, "y"));
  folder.model("dense", b);
  auto outcome = wscBench({"compile", folder / "dense/model.onnx", folder / "relu", "--target", "mesh-64x64", "--json", folder / "out.json"});
  EXPECT_EQ(outcome.exitStatus, 0) << outcome.errors;
  EXPECT_NE(outcome.output.find("dense.file "), std::string::npos) << outcome.output;
  auto json = readJson(folder / "out.json");
  EXPECT_EQ(json.getString("suite"), "compile");
  EXPECT_EQ(value(json, "dense.weights"), 20000);
  EXPECT_EQ(value(json, "dense.file", "bound"), 1.1 * 20000 + 20e6);
  EXPECT_GT(value(json, "dense.file"), 20000);
  double seconds = 0;
  for (const char *phase : {"import", "nn", "kernels", "sized", "placed", "routed", "core", "wse"}) {
    seconds += value(json, std::string("dense.") + phase + ".seconds");
    EXPECT_LE(value(json, std::string("dense.") + phase + ".peak_rss"), 1.01 * value(json, "dense.peak_rss"));
  }
  EXPECT_LE(seconds, value(json, "dense.seconds"));
  EXPECT_EQ(value(json, "relu.weights"), 0);
}

TEST(WscBench, Emulate) {
  CaseFolder folder;
  addProduct(folder);
  unsetenv("ORT_NODE_ROOT");
  auto outcome = wscBench({"emulate", folder.path(), "--target", "mesh-24x24", "--samples", "3", "--json", folder / "out.json"});
  EXPECT_EQ(outcome.exitStatus, 0) << outcome.errors;
  EXPECT_NE(outcome.output.find("note: ONNX Runtime is not timed: ORT_NODE_ROOT is not set"), std::string::npos) << outcome.output;
  auto json = readJson(folder / "out.json");
  EXPECT_EQ(value(json, "product.max_error"), 0);
  EXPECT_EQ(value(json, "product.multiply_adds", "bound"), 2 * 3 * 2);
  EXPECT_GE(value(json, "product.multiply_adds"), 2 * 3 * 2);
  EXPECT_DOUBLE_EQ(value(json, "product.bound.multiply_adds"), 12.0 / (24 * 24)); // wse2's cores: one fp32 FMA per cycle
  EXPECT_NEAR(value(json, "product.bound.input"), 6 / (1.2e12 / 32 / 0.85e9), 1e-9);
  for (const char *figure : {"product.latency", "product.interval"}) {
    EXPECT_EQ(value(json, figure, "bound"), 1);
    EXPECT_GT(value(json, figure), 1);
    EXPECT_EQ(value(json, std::string(figure) + ".ratio_to_bound"), value(json, figure));
  }
  EXPECT_GT(value(json, "product.cores_fma"), 0);
  for (const char *figure : {"compile.seconds", "load.seconds", "timing.seconds", "sample.seconds.threads1", "sample.seconds.threads2",
                             "sample.speedup.threads2", "peak_rss.threads1", "peak_rss.threads2"})
    EXPECT_GT(value(json, std::string("product.") + figure), 0) << figure;
}

TEST(WscBench, EmulateRefusesWrongResults) {
  CaseFolder folder;
  addProduct(folder, {1, 2, 8, 11});
  auto outcome = wscBench({"emulate", folder.path(), "--target", "mesh-24x24"});
  EXPECT_EQ(outcome.exitStatus, 1);
  EXPECT_NE(outcome.errors.find("product: error: wrong result: y: largest error 1"), std::string::npos) << outcome.errors;
}

// A package in place of ONNX Runtime's answers at once; what the tool asks of it is then in its results.
TEST(WscBench, EmulateBesideOnnxRuntime) {
  auto node = tools::runChild({"node", "--version"}, 20);
  if (!node.ok() || !node->ok())
    GTEST_SKIP() << "node is not installed";
  CaseFolder folder;
  addProduct(folder);
  folder.text("ort/node_modules/onnxruntime-node/index.js",
              "exports.Tensor = class { constructor(type, data, dims) { Object.assign(this, {type, data, dims}); } };\n"
              "exports.InferenceSession = {create: async (model, options) => ({run: async (feeds) => {\n"
              "  if (!model.endsWith('model.onnx') || options.intraOpNumThreads !== 1) throw new Error('wrong session');\n"
              "  if (feeds.x.type !== 'float32' || feeds.x.data.length !== 6 || feeds.x.dims.join() !== '2,3') throw new Error('wrong feeds');\n"
              "}})};\n");
  folder.text("ort/package.json", "{}");
  setenv("ORT_NODE_ROOT", (folder / "ort").c_str(), 1);
  auto outcome = wscBench({"emulate", folder / "product", "--target", "mesh-24x24", "--samples", "2", "--threads", "1", "--json", folder / "out.json"});
  EXPECT_EQ(outcome.exitStatus, 0) << outcome.errors;
  auto json = readJson(folder / "out.json");
  EXPECT_GT(value(json, "product.sample.seconds.threads1", "reference"), 0) << outcome.output;
  EXPECT_GT(value(json, "product.sample.ratio_to_onnxruntime.threads1"), 0);
  // Without the package: a note, and all other figures.
  setenv("ORT_NODE_ROOT", (folder / "product").c_str(), 1);
  outcome = wscBench({"emulate", folder / "product", "--target", "mesh-24x24", "--samples", "1"});
  EXPECT_EQ(outcome.exitStatus, 0) << outcome.errors;
  EXPECT_NE(outcome.output.find("note: ONNX Runtime is not timed: "), std::string::npos) << outcome.output;
  unsetenv("ORT_NODE_ROOT");
}

TEST(WscBench, Place) {
  CaseFolder folder;
  auto outcome = wscBench({"place", WSC_PROBLEMS_DIR "/placement-skip.txt", WSC_PROBLEMS_DIR "/sizing-pipeline.txt", "--json", folder / "out.json"});
  EXPECT_EQ(outcome.exitStatus, 0) << outcome.errors;
  auto json = readJson(folder / "out.json");
  for (const char *figure : {"placement-skip.value", "sizing-pipeline.value", "sizing-pipeline.columns"}) {
    EXPECT_GT(value(json, figure, "bound"), 0) << figure;
    EXPECT_GE(value(json, figure), value(json, figure, "bound")) << figure;
  }
  EXPECT_GT(value(json, "placement-skip.seconds"), 0);
  // What cannot be solved fails; the others are measured all the same.
  outcome = wscBench({"place", folder / "nowhere", WSC_PROBLEMS_DIR "/placement-skip.txt"});
  EXPECT_EQ(outcome.exitStatus, 1);
  EXPECT_NE(outcome.output.find("placement-skip.value"), std::string::npos) << outcome.output;
}

TEST(WscBench, ExitStatuses) {
  CaseFolder folder;
  folder.text("damaged.onnx", "no model");
  folder.text("empty/readme", "");
  EXPECT_EQ(wscBench({"--help"}).exitStatus, 0);
  auto outcome = wscBench({"validation", "x.csv"});
  EXPECT_EQ(outcome.exitStatus, 2);
  EXPECT_NE(outcome.errors.find("no suite validation; there are compile, emulate, cycle, place"), std::string::npos) << outcome.errors;
  for (const std::vector<std::string> &wrong : std::vector<std::vector<std::string>>{
           {}, {"compile"}, {"compile", "x", "--samples", "3"}, {"place", "x", "--target", "wse1"}, {"emulate", "x", "--dim", "N=x"}, {"cycle", "--samples", "3"}, {"cycle", "x.wse", "--target", "wse1"}})
    EXPECT_EQ(wscBench(wrong).exitStatus, 2) << (wrong.empty() ? "" : wrong.back());
  for (const std::vector<std::string> &failing : std::vector<std::vector<std::string>>{
           {"compile", folder / "nowhere"}, {"compile", folder / "empty"}, {"emulate", folder / "empty"}, {"compile", folder / "damaged.onnx"}, {"cycle", folder / "damaged.onnx"}, {"cycle", "--target", "nowhere"}}) {
    outcome = wscBench(failing);
    EXPECT_EQ(outcome.exitStatus, 1) << failing.back();
    EXPECT_EQ(outcome.errors.rfind("error: ", 0), 0u) << outcome.errors;
  }
}

} // namespace
} // namespace wsc::test
