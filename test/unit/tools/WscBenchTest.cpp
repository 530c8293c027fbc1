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
  auto outcome = wscBench({"compile", folder / "dense/model.onnx", folder / "relu", "--target", "mesh-64x64", "--json",
                           folder / "out.json"});
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
  auto outcome =
      wscBench({"emulate", folder.path(), "--target", "mesh-24x24", "--samples", "3", "--json", folder / "out.json"});
  EXPECT_EQ(outcome.exitStatus, 0) << outcome.errors;
  EXPECT_NE(outcome.output.find("note: ONNX Runtime is not timed: ORT_NODE_ROOT is not set"), std::string::npos)
      << outcome.output;
  auto json = readJson(folder / "out.json");
  EXPECT_EQ(value(json, "product.max_error"), 0);
  EXPECT_EQ(value(json, "product.multiply_adds", "bound"), 2 * 3 * 2);
  EXPECT_GE(value(json, "product.multiply_adds"), 2 * 3 * 2);
  EXPECT_DOUBLE_EQ(value(json, "product.bound.multiply_adds"),
                   12.0 / (24 * 24)); // wse2's cores: one fp32 FMA per cycle
  EXPECT_NEAR(value(json, "product.bound.input"), 6 / (1.2e12 / 32 / 0.85e9), 1e-9);
  for (const char *figure : {"product.latency", "product.interval"}) {
    EXPECT_EQ(value(json, figure, "bound"), 1);
    EXPECT_GT(value(json, figure), 1);
    EXPECT_EQ(value(json, std::string(figure) + ".ratio_to_bound"), value(json, figure));
  }
  EXPECT_GT(value(json, "product.cores_fma"), 0);
  for (const char *figure :
       {"compile.seconds", "load.seconds", "timing.seconds", "sample.seconds.threads1", "sample.seconds.threads2",
        "sample.speedup.threads2", "peak_rss.threads1", "peak_rss.threads2"})
    EXPECT_GT(value(json, std::string("product.") + figure), 0) << figure;
}

TEST(WscBench, EmulateInPhases) {
  CaseFolder folder;
  addProduct(folder);
  unsetenv("ORT_NODE_ROOT");
  double interval[2];
  for (bool phased : {false, true}) {
    auto outcome = wscBench({"emulate", folder.path(), "--target", "mesh-24x24", "--samples", "1", "--threads", "1",
                             "--execution", phased ? "phased" : "pipelined", "--json", folder / "out.json"});
    EXPECT_EQ(outcome.exitStatus, 0) << outcome.errors;
    auto json = readJson(folder / "out.json");
    EXPECT_EQ(value(json, "product.max_error"), 0);
    interval[phased] = value(json, "product.interval");
    EXPECT_EQ(interval[phased] == value(json, "product.latency"), phased) << "samples overlap in strips alone";
  }
  EXPECT_NE(interval[0], interval[1]);
  for (const char *suite : {"map", "place"}) {
    auto outcome = wscBench({suite, folder.path(), "--execution", "phased"});
    EXPECT_EQ(outcome.exitStatus, 2);
    EXPECT_NE(outcome.errors.find("has no use for it"), std::string::npos) << outcome.errors;
  }
}

TEST(WscBench, EmulateRefusesWrongResults) {
  CaseFolder folder;
  addProduct(folder, {1, 2, 8, 11});
  auto outcome = wscBench({"emulate", folder.path(), "--target", "mesh-24x24"});
  EXPECT_EQ(outcome.exitStatus, 1);
  EXPECT_NE(outcome.errors.find("product: error: wrong result: y: largest error 1"), std::string::npos)
      << outcome.errors;
}

// A package in place of ONNX Runtime's answers at once; what the tool asks of it is then in its results.
TEST(WscBench, EmulateBesideOnnxRuntime) {
  auto node = tools::runChild({"node", "--version"}, 20);
  if (!node.ok() || !node->ok())
    GTEST_SKIP() << "node is not installed";
  CaseFolder folder;
  addProduct(folder);
  folder.text(
      "ort/node_modules/onnxruntime-node/index.js",
      "exports.Tensor = class { constructor(type, data, dims) { Object.assign(this, {type, data, dims}); } };\n"
      "exports.InferenceSession = {create: async (model, options) => ({run: async (feeds) => {\n"
      "  if (!model.endsWith('model.onnx') || options.intraOpNumThreads !== 1) throw new Error('wrong session');\n"
      "  if (feeds.x.type !== 'float32' || feeds.x.data.length !== 6 || feeds.x.dims.join() !== '2,3') throw new "
      "Error('wrong feeds');\n"
      "}})};\n");
  folder.text("ort/package.json", "{}");
  setenv("ORT_NODE_ROOT", (folder / "ort").c_str(), 1);
  auto outcome = wscBench({"emulate", folder / "product", "--target", "mesh-24x24", "--samples", "2", "--threads", "1",
                           "--json", folder / "out.json"});
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

TEST(WscBench, Calls) {
  CaseFolder folder;
  addProduct(folder);
  auto outcome = wscBench({"calls", folder.path(), "--target", "mesh-24x24", "--json", folder / "out.json"});
  EXPECT_EQ(outcome.exitStatus, 0) << outcome.errors;
  auto json = readJson(folder / "out.json");
  EXPECT_GT(value(json, "product.cpp"), 0);
  EXPECT_EQ(value(json, "product.c", "reference"), value(json, "product.cpp"));
  EXPECT_EQ(value(json, "product.c.overhead", "bound"), 2);
  // Without a Python that has the package: a note, and all other figures.
  setenv("WSC_PYTHON", "/no/python3", 1);
  outcome = wscBench({"calls", folder.path(), "--target", "mesh-24x24"});
  EXPECT_EQ(outcome.exitStatus, 0) << outcome.errors;
  EXPECT_NE(outcome.output.find("note: Python is not timed; "), std::string::npos) << outcome.output;
  unsetenv("WSC_PYTHON");
}

TEST(WscBench, Place) {
  CaseFolder folder;
  auto outcome = wscBench({"place", WSC_PROBLEMS_DIR "/placement-skip.txt", WSC_PROBLEMS_DIR "/sizing-pipeline.txt",
                           "--json", folder / "out.json"});
  EXPECT_EQ(outcome.exitStatus, 0) << outcome.errors;
  auto json = readJson(folder / "out.json");
  for (const char *figure : {"placement-skip.value", "sizing-pipeline.value", "sizing-pipeline.columns"}) {
    EXPECT_GT(value(json, figure, "bound"), 0) << figure;
    EXPECT_GE(value(json, figure), value(json, figure, "bound")) << figure;
  }
  EXPECT_GT(value(json, "placement-skip.seconds"), 0);
  // Contest problems: terms and cost, each with its bound and the ratio.
  folder.text("two.kgraph",
              "(* test=two width=60 height=60 wdeltat=1 wlength=1 wadapter=0 memlimit=9000 *)\n"
              "conv[1] H=8 W=8 R=3 S=3 C=8 K=8 T=1 U=1 name='k1'\nconv[2] H=8 W=8 R=1 S=1 C=8 K=8 T=1 U=1 name='k2'\n"
              "conv[1]:y -> conv[2]:x");
  outcome = wscBench({"place", folder / "two.kgraph", "--time", "5", "--seed", "3", "--json", folder / "out.json"});
  EXPECT_EQ(outcome.exitStatus, 0) << outcome.errors;
  json = readJson(folder / "out.json");
  for (const char *figure : {"two.time", "two.cost"}) {
    EXPECT_GT(value(json, figure, "bound"), 0) << figure;
    EXPECT_GE(value(json, figure), value(json, figure, "bound")) << figure;
    EXPECT_NEAR(value(json, std::string(figure) + "-ratio"), value(json, figure) / value(json, figure, "bound"), 1e-3);
  }
  EXPECT_GT(value(json, "two.wire"), 0);
  // What cannot be solved fails; the others are measured all the same.
  outcome = wscBench({"place", folder / "nowhere", WSC_PROBLEMS_DIR "/placement-skip.txt"});
  EXPECT_EQ(outcome.exitStatus, 1);
  EXPECT_NE(outcome.output.find("placement-skip.value"), std::string::npos) << outcome.output;
}

TEST(WscBench, Validation) {
  CaseFolder folder;
  folder.text("rows.csv", "id,arch,kind,workload,parameters,published,unit,tolerance,note\n"
                          "chain,wse2,sim,reduce_1d_chain,P=11;B=40,125,cycles,0.25,arithmetic: 100\n"
                          "stars,wse3,sim,star_stencil,tile=2x2;radius=1;cores=3x3,1000,cycles,0.1,far off\n"
                          "layer,wse2,hw,llm_layer,model=x,1,tokens/s,0.3,\n");
  auto outcome =
      wscBench({"validation", folder / "rows.csv", "--keep", folder / "kept", "--json", folder / "out.json"});
  EXPECT_EQ(outcome.exitStatus, 0) << outcome.errors;
  EXPECT_NE(outcome.output.find("1 of 2 rows within tolerance"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("no workload for 1 rows: layer (llm_layer)"), std::string::npos) << outcome.output;
  auto json = readJson(folder / "out.json");
  const llvm::json::Array &results = *json.getArray("results");
  ASSERT_EQ(results.size(), 2u);
  const llvm::json::Object &chain = *results[0].getAsObject();
  EXPECT_EQ(chain.getString("name"), "chain");
  EXPECT_EQ(chain.getNumber("value"), 100);
  EXPECT_EQ(chain.getNumber("reference"), 125);
  EXPECT_EQ(chain.getNumber("tolerance"), 0.25);
  EXPECT_NEAR(chain.getNumber("error").value_or(0), -0.2, 1e-12);
  EXPECT_EQ(chain.getBoolean("within_tolerance"), true);
  EXPECT_EQ(results[1].getAsObject()->getBoolean("within_tolerance"), false);
  // The kept program alone: 107 cycles with the sender's set-up.
  for (const char *kept : {"kept/chain.wse", "kept/stars.wse"})
    EXPECT_GT(std::filesystem::file_size(folder / kept), 0u) << kept;
  // A row that cannot be built fails; the others are measured all the same.
  folder.text("rows.csv", "id,arch,kind,workload,parameters,published,unit,tolerance,note\n"
                          "large,wse2,sim,vector,op=add;n=100000,1,cycles,0.1,\n"
                          "small,wse2,sim,vector,op=add;n=100,57,cycles,0.1,\n");
  outcome = wscBench({"validation", folder / "rows.csv"});
  EXPECT_EQ(outcome.exitStatus, 1);
  EXPECT_NE(outcome.errors.find("large: vector: "), std::string::npos) << outcome.errors;
  EXPECT_NE(outcome.output.find("1 of 2 rows within tolerance"), std::string::npos) << outcome.output;
}

TEST(WscBench, ExitStatuses) {
  CaseFolder folder;
  folder.text("damaged.onnx", "no model");
  folder.text("empty/readme", "");
  EXPECT_EQ(wscBench({"--help"}).exitStatus, 0);
  auto outcome = wscBench({"validate", "x.csv"});
  EXPECT_EQ(outcome.exitStatus, 2);
  EXPECT_NE(outcome.errors.find("no suite validate; there are compile, emulate, cycle, map, agreement, calls, place, "
                                "validation"),
            std::string::npos)
      << outcome.errors;
  for (const std::vector<std::string> &wrong :
       std::vector<std::vector<std::string>>{{},
                                             {"compile"},
                                             {"compile", "x", "--samples", "3"},
                                             {"place", "x", "--target", "wse1"},
                                             {"emulate", "x", "--dim", "N=x"},
                                             {"cycle", "--samples", "3"},
                                             {"calls"},
                                             {"calls", "x.wse", "--samples", "3"},
                                             {"validation"},
                                             {"validation", "x.csv", "--target", "wse1"},
                                             {"place", "x", "--mesh-gemm"},
                                             {"cycle", "x.wse", "--target", "wse1"}})
    EXPECT_EQ(wscBench(wrong).exitStatus, 2) << (wrong.empty() ? "" : wrong.back());
  for (const std::vector<std::string> &failing :
       std::vector<std::vector<std::string>>{{"compile", folder / "nowhere"},
                                             {"compile", folder / "empty"},
                                             {"emulate", folder / "empty"},
                                             {"compile", folder / "damaged.onnx"},
                                             {"cycle", folder / "damaged.onnx"},
                                             {"cycle", "--target", "nowhere"}}) {
    outcome = wscBench(failing);
    EXPECT_EQ(outcome.exitStatus, 1) << failing.back();
    EXPECT_EQ(outcome.errors.rfind("error: ", 0), 0u) << outcome.errors;
  }
}

} // namespace
} // namespace wsc::test
