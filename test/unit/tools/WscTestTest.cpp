// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wsc-test as a command: what it prints, what it writes, how it exits.
#include "Tools.h"

#include <cstring>

namespace wsc::test {
namespace {

tools::ChildOutcome wscTest(const std::vector<std::string> &arguments) {
  std::vector<std::string> command{WSC_TEST};
  if (std::find(arguments.begin(), arguments.end(), "--target") == arguments.end())
    command.insert(command.end(), {"--target", "mesh-24x24"}); // small, hence quick
  command.insert(command.end(), arguments.begin(), arguments.end());
  return call(command);
}

TEST(WscTest, PassesAndTellsErrors) {
  CaseFolder folder;
  folder.model("group/relu", relu());
  folder.data("group/relu", 0, {reluInput()}, {reluOutput()});
  auto outcome = wscTest({folder.path()});
  EXPECT_EQ(outcome.exitStatus, 0) << outcome.errors;
  EXPECT_EQ(outcome.output, "PASS group/relu wafer 0 0\n1 passed, 0 failed, 0 skipped\n");
  // A folder that is itself a case is named by its last part.
  outcome = wscTest({folder / "group/relu/", "-v"});
  EXPECT_EQ(outcome.output, "PASS relu wafer 0 0\n  data set 0: y: equal\n1 passed, 0 failed, 0 skipped\n");
}

TEST(WscTest, CycleEngineRunsEachCase) {
  CaseFolder folder;
  folder.model("relu", relu());
  folder.data("relu", 0, {reluInput()}, {reluOutput()});
  folder.data("relu", 1, {reluInput()}, {reluOutput()});
  auto outcome = wscTest({folder.path(), "--engine", "cycle"});
  EXPECT_EQ(outcome.exitStatus, 0) << outcome.errors;
  EXPECT_EQ(outcome.output.find("PASS relu wafer 0 0 latency "), 0u) << outcome.output;
  EXPECT_NE(outcome.output.find(" cycles\n1 passed, 0 failed, 0 skipped\n"), std::string::npos) << outcome.output;
}

TEST(WscTest, WrongResultFailsWithItsPlace) {
  CaseFolder folder;
  folder.model("relu", relu());
  folder.data("relu", 0, {reluInput()}, {floats("y", {1, 2, 2, 2}, {0, 2, 0, 4, 5, 0.5, 7, 0})});
  auto outcome = wscTest({folder.path()});
  EXPECT_EQ(outcome.exitStatus, 1);
  EXPECT_NE(outcome.output.find("FAIL relu wafer 0.5 0.05"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("largest error 0.5 at [0,1,0,1] (got 0, expected 0.5)"), std::string::npos)
      << outcome.output;
  EXPECT_NE(outcome.output.find("0 passed, 1 failed, 0 skipped\n"), std::string::npos);
  // The same error is allowed by --atol, and refused again by --l2.
  EXPECT_EQ(wscTest({folder.path(), "--atol", "0.6"}).exitStatus, 0);
  outcome = wscTest({folder.path(), "--atol", "0.6", "--l2", "0.01"});
  EXPECT_EQ(outcome.exitStatus, 1);
  EXPECT_NE(outcome.output.find("more than --l2 0.01"), std::string::npos) << outcome.output;
}

TEST(WscTest, WrongShapeAndTypeFail) {
  CaseFolder folder;
  folder.model("shape", relu());
  folder.data("shape", 0, {reluInput()}, {floats("y", {2, 2, 2}, {0, 2, 0, 4, 5, 0, 7, 0})});
  Tensor whole = floats("y", {1, 2, 2, 2}, {0, 2, 0, 4, 5, 0, 7, 0});
  whole.type.type = format::ElementType::I32;
  folder.model("type", relu());
  folder.data("type", 0, {reluInput()}, {whole});
  auto outcome = wscTest({folder.path()});
  EXPECT_NE(outcome.output.find("FAIL shape wafer - - output y is"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("FAIL type wafer - - output y is"), std::string::npos) << outcome.output;
}

// As the data sets of ONNX 1.12 hold it.
TEST(WscTest, Bfloat16MayComeAsItsBits) {
  CaseFolder folder;
  OnnxBuilder model;
  model.input("x", {2}, wsc::onnx::TensorProto::BFLOAT16);
  model.output(model.node("Neg", {"x"}, {}, "y"));
  folder.model("neg", model);
  const auto bits = [](const std::string &name, uint16_t a, uint16_t b) {
    Tensor tensor{{name, format::ElementType::U16, {2}}, std::vector<std::byte>(4)};
    std::memcpy(tensor.bytes.data(), &a, 2);
    std::memcpy(tensor.bytes.data() + 2, &b, 2);
    return tensor;
  };
  folder.data("neg", 0, {bits("x", 0x3f80, 0xc000)}, {bits("y", 0xbf80, 0x4000)}); // 1, -2
  const auto outcome = wscTest({folder.path(), "--execution", "phased"});
  EXPECT_EQ(outcome.output, "PASS neg wafer 0 0 (u16 of x read as bf16) (u16 of y read as bf16)\n"
                            "1 passed, 0 failed, 0 skipped\n")
      << outcome.errors;
}

TEST(WscTest, EveryDataSetRuns) {
  CaseFolder folder;
  folder.model("relu", relu());
  folder.data("relu", 0, {reluInput()}, {reluOutput()});
  folder.data("relu", 1, {reluOutput()}, {reluOutput()});
  folder.data("relu", 2, {reluInput()}, {reluInput()});
  auto outcome = wscTest({folder.path(), "--json", folder / "out.json"});
  EXPECT_NE(outcome.output.find("FAIL relu wafer 8 "), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find(" data set 2: y: largest error 8"), std::string::npos) << outcome.output;
  auto json = readJson(folder / "out.json");
  EXPECT_EQ((*json.getArray("cases"))[0].getAsObject()->getInteger("data_sets"), 3);
}

TEST(WscTest, UnsupportedOperatorFailsWithItsName) {
  CaseFolder folder;
  OnnxBuilder b;
  b.input("x", {1, 2, 2, 2});
  b.output(b.node("NoSuchOperator", {"x"}, {}, "y"));
  folder.model("unsupported", b);
  folder.data("unsupported", 0, {reluInput()}, {reluOutput()});
  auto outcome = wscTest({folder.path()});
  EXPECT_EQ(outcome.exitStatus, 1);
  EXPECT_NE(outcome.output.find("FAIL unsupported - - - "), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("NoSuchOperator"), std::string::npos) << outcome.output;
}

TEST(WscTest, TimeOutIsThatCasesFailure) {
  CaseFolder folder;
  folder.model("a-slow", buildResNet50(1, 224, 8, 100));
  folder.data("a-slow", 0, {floats("input", {1}, {1})}, {floats("output", {1}, {1})});
  folder.model("b-no-data", relu());
  auto outcome = wscTest({folder.path(), "--timeout", "0.02", "--target", "wse2"});
  EXPECT_EQ(outcome.exitStatus, 1);
  EXPECT_NE(outcome.output.find("FAIL a-slow - - - time-out: not done after 0.02 s, while "), std::string::npos)
      << outcome.output;
  EXPECT_NE(outcome.output.find("SKIP b-no-data - - - no test_data_set_0\n0 passed, 1 failed, 1 skipped\n"),
            std::string::npos)
      << outcome.output;
}

TEST(WscTest, DamagedModelFails) {
  CaseFolder folder;
  folder.text("damaged/model.onnx", "no model");
  folder.data("damaged", 0, {reluInput()}, {reluOutput()});
  folder.model("input", relu());
  folder.data("input", 0, {reluInput()}, {reluOutput()});
  folder.text("input/test_data_set_0/input_0.pb", "no tensor");
  auto outcome = wscTest({folder.path()});
  EXPECT_EQ(outcome.exitStatus, 1);
  EXPECT_NE(outcome.output.find("0 passed, 2 failed, 0 skipped"), std::string::npos) << outcome.output;
  EXPECT_EQ(outcome.output.find("crash"), std::string::npos) << outcome.output;
}

TEST(WscTest, DimensionsComeFromTheData) {
  CaseFolder folder;
  for (const auto &[name, batch] :
       {std::pair<std::string, Dim>("named", "N"), std::pair<std::string, Dim>("unnamed", "")}) {
    folder.model(name, product(batch));
    folder.data(name, 0, {floats("x", {2, 3}, {1, 0, 0, 0, 1, 1})}, {floats("y", {2, 2}, {1, 2, 8, 10})});
  }
  auto outcome = wscTest({folder.path()});
  EXPECT_EQ(outcome.output, "PASS named wafer 0 0 (with --dim N=2)\nPASS unnamed wafer 0 0 (with --input x:2x3)\n"
                            "2 passed, 0 failed, 0 skipped\n");
  // A given dimension goes before what the data says; the data then does not fit. A model without it is not concerned.
  outcome = wscTest({folder.path(), "--dim", "N=3"});
  EXPECT_NE(outcome.output.find("FAIL named wafer - - input x is"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("PASS unnamed"), std::string::npos) << outcome.output;
}

TEST(WscTest, ChoosesCases) {
  CaseFolder folder;
  for (const char *name : {"one", "two", "more/three"}) {
    folder.model(name, relu());
    folder.data(name, 0, {reluInput()}, {reluOutput()});
  }
  EXPECT_EQ(wscTest({folder.path(), "--filter", "^t|ree$", "--jobs", "2"}).output,
            "PASS more/three wafer 0 0\nPASS two wafer 0 0\n2 passed, 0 failed, 0 skipped\n");
  folder.text("list", "# wanted\n  two \nthree # by its last part\n\nfour\n");
  auto outcome = wscTest({folder.path(), "--list", folder / "list"});
  EXPECT_EQ(outcome.exitStatus, 1);
  EXPECT_NE(outcome.output.find("PASS more/three wafer 0 0\nPASS two wafer 0 0\nFAIL four - - - named in "),
            std::string::npos)
      << outcome.output;
  EXPECT_EQ(wscTest({folder.path(), "--list", folder / "list", "--quiet"}).output.find("PASS"), std::string::npos);
  outcome = wscTest({folder.path(), "--filter", "nothing"});
  EXPECT_EQ(outcome.exitStatus, 1);
  EXPECT_NE(outcome.errors.find("error: --filter and --list leave none of 3 cases"), std::string::npos)
      << outcome.errors;
}

TEST(WscTest, JsonHoldsAllFields) {
  CaseFolder folder;
  folder.model("pass", relu());
  folder.data("pass", 0, {reluInput()}, {reluOutput()});
  folder.model("skip", relu());
  folder.model("zero", relu());
  folder.data("zero", 0, {reluInput()}, {floats("y", {1, 2, 2, 2}, std::vector<float>(8, 0))});
  EXPECT_EQ(wscTest({folder.path(), "--json", folder / "out.json"}).exitStatus, 1);
  auto json = readJson(folder / "out.json");
  EXPECT_EQ(json.getString("target"), "mesh-24x24");
  EXPECT_EQ(json.getString("engine"), "core");
  EXPECT_EQ(json.getNumber("rtol"), 1e-3);
  EXPECT_EQ(json.getNumber("atol"), 1e-7);
  EXPECT_EQ(json.getInteger("passed"), 1);
  EXPECT_EQ(json.getInteger("failed"), 1);
  EXPECT_EQ(json.getInteger("skipped"), 1);
  const llvm::json::Array *cases = json.getArray("cases");
  ASSERT_TRUE(cases);
  ASSERT_EQ(cases->size(), 3u);
  const char *statuses[] = {"PASS", "SKIP", "FAIL"};
  for (size_t i = 0; i < 3; ++i) {
    const llvm::json::Object &result = *(*cases)[i].getAsObject();
    EXPECT_EQ(result.getString("status"), statuses[i]);
    for (const char *key : {"name", "folder", "where", "reason"})
      EXPECT_TRUE(result.getString(key)) << key;
    for (const char *key : {"max_error", "relative_l2"})
      EXPECT_TRUE(result.get(key)) << key;
    EXPECT_TRUE(result.getArray("outputs"));
    EXPECT_TRUE(result.getInteger("data_sets"));
  }
  const llvm::json::Object &wrong = *(*cases)[2].getAsObject();
  EXPECT_EQ(wrong.getNumber("max_error"), 7);
  EXPECT_EQ(wrong.getString("relative_l2"), "inf"); // against zeros
  for (const char *key : {"seconds", "compile_seconds", "run_seconds", "peak_rss_bytes"})
    EXPECT_TRUE(wrong.getNumber(key)) << key;
  const llvm::json::Object &output = *(*wrong.getArray("outputs"))[0].getAsObject();
  EXPECT_EQ(output.getString("name"), "y");
  EXPECT_EQ(output.getInteger("data_set"), 0);
  EXPECT_EQ(output.getInteger("outside"), 4);
  EXPECT_EQ(output.getBoolean("passed"), false);
}

TEST(WscTest, ExitStatuses) {
  CaseFolder folder;
  folder.model("relu", relu());
  folder.data("relu", 0, {reluInput()}, {reluOutput()});
  EXPECT_EQ(wscTest({"--help"}).exitStatus, 0);
  EXPECT_NE(wscTest({"--version"}).output.find(", format "), std::string::npos);
  for (const std::vector<std::string> &wrong :
       std::vector<std::vector<std::string>>{{},
                                             {folder.path(), "--engine", "clock"},
                                             {folder.path(), "--filter", "("},
                                             {folder.path(), "--jobs", "0"},
                                             {folder.path(), "--dim", "N"},
                                             {folder.path(), "--dim", "N=0"},
                                             {folder.path(), "--timeout", "-1"},
                                             {folder.path(), "--rtol", "x"},
                                             {folder.path(), "--nothing"},
                                             {folder.path(), "--quiet", "-v"}}) {
    auto outcome = wscTest(wrong);
    EXPECT_EQ(outcome.exitStatus, 2) << (wrong.empty() ? "" : wrong.back());
    EXPECT_EQ(outcome.errors.rfind("error: ", 0), 0u) << outcome.errors;
  }
  for (const std::vector<std::string> &failing :
       std::vector<std::vector<std::string>>{{folder / "nowhere"},
                                             {folder.path(), "--target", "mesh-0x0"},
                                             {folder.path(), "--list", folder / "nowhere"},
                                             {folder.path(), "--json", folder / "nowhere/out.json"}}) {
    auto outcome = wscTest(failing);
    EXPECT_EQ(outcome.exitStatus, 1) << failing.back();
    EXPECT_NE(outcome.errors.find("error: "), std::string::npos) << failing.back();
  }
}

} // namespace
} // namespace wsc::test
