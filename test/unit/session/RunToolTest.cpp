// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wsc-run from its command line on, in this process.
#include "Folder.h"

#include "tools/wsc-run/Run.h"

#include <cmath>

namespace wsc::test {
namespace {

struct Outcome {
  int status = 0;
  std::string out, error;
};

Outcome wscRun(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "wsc-run");
  std::vector<char *> argv;
  for (std::string &argument : arguments)
    argv.push_back(argument.data());
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  run::Options options;
  Outcome outcome;
  outcome.status = run::parseOptions(int(argv.size()), argv.data(), options);
  if (outcome.status < 0)
    outcome.status = run::runTool(options);
  outcome.out = testing::internal::GetCapturedStdout();
  outcome.error = testing::internal::GetCapturedStderr();
  return outcome;
}

bool has(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

TEST(RunTool, UsageErrorsHaveStatus2) {
  for (const std::vector<std::string> &arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"x.wse", "--engine", "clock"},
                                             {"x.wse", "--trace", "t"},
                                             {"x.wse", "--random", "1", "--input", "x=x.npy"},
                                             {"x.wse", "--timing-only", "--random", "1"},
                                             {"x.wse", "--timing-only", "--verify", "d"},
                                             {"x.wse", "--rtol", "1"},
                                             {"x.wse", "--samples", "0"},
                                             {"x.wse", "--quiet", "-v"}}) {
    Outcome outcome = wscRun(arguments);
    EXPECT_EQ(outcome.status, 2) << testing::PrintToString(arguments);
    EXPECT_EQ(outcome.error.substr(0, 7), "error: ") << outcome.error;
  }
  Outcome help = wscRun({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_EQ(help.out.substr(0, 8), "Example:");
  EXPECT_EQ(wscRun({"--version"}).status, 0);
  Outcome none = wscRun({"none.wse", "--timing-only"});
  EXPECT_EQ(none.status, 1);
  EXPECT_TRUE(has(none.error, "none.wse")) << none.error;
}

TEST(RunTool, RandomSamplesAreWrittenAndVerified) {
  Folder folder;
  const std::string model = writeGood(folder);
  Outcome first =
      wscRun({model, "--random", "7", "--samples", "3", "--output", folder / "r.npz", "--stats", folder / "s.json",
              "--replay", "20", "--state-out", folder / "state.npz", "-v", "--threads", "1"});
  ASSERT_EQ(first.status, 0) << first.error;
  for (const char *part :
       {"result ", "latency ", "interval ", "samples/s", "utilisation ", "bottleneck ", "3 samples", "20 cores agree"})
    EXPECT_TRUE(has(first.out, part)) << part << " in " << first.out;
  auto results = readNpz(folder / "r.npz");
  ASSERT_TRUE(results.ok()) << results.status();
  ASSERT_EQ(results->size(), 3u);
  EXPECT_TRUE(has((*results)[2].type.name, ".2"));
  EXPECT_NE((*results)[0].bytes, (*results)[1].bytes);
  Outcome second =
      wscRun({model, "--random", "7", "--samples", "3", "--output", folder / "again.npz", "--quiet", "--threads", "2"});
  ASSERT_EQ(second.status, 0) << second.error;
  EXPECT_EQ(second.out, "");
  EXPECT_EQ(*readFile(folder / "r.npz"), *readFile(folder / "again.npz"));
  const std::string stats = *readFile(folder / "s.json");
  for (const char *field :
       {"engine", "threads", "samples", "latency_cycles", "interval_cycles", "macs", "cores_fma", "load_seconds",
        "wall_seconds_per_sample", "peak_rss_bytes", "utilisation", "bottleneck", "kernels", "links", "stalls"})
    EXPECT_TRUE(has(stats, "\"" + std::string(field) + "\": ")) << field;
  EXPECT_EQ(wscRun({model, "--random", "1", "--state-in", folder / "state.npz", "--quiet"}).status, 0);
}

TEST(RunTool, DataSetsAreComparedWithExpectedOutputs) {
  Folder folder;
  const std::string model = writeGood(folder);
  auto session = Session::open(model);
  ASSERT_TRUE(session.ok()) << session.status();
  const format::Entry &entry = (*session)->executable().entries[0];
  std::vector<Tensor> expected;
  for (int k = 0; k < 2; ++k) {
    const std::string set = folder / ("data/test_data_set_" + std::to_string(k));
    std::filesystem::create_directories(set);
    std::map<std::string, Tensor> inputs;
    for (size_t i = 0; i < entry.inputs.size(); ++i) {
      inputs[entry.inputs[i].name] = run::randomTensor(entry.inputs[i], uint64_t(10 * k) + i);
      ASSERT_TRUE(writeTensor(inputs[entry.inputs[i].name], set + "/input_" + std::to_string(i) + ".pb").ok());
    }
    auto outputs = (*session)->run(0, inputs);
    ASSERT_TRUE(outputs.ok()) << outputs.status();
    for (size_t i = 0; i < outputs->size(); ++i)
      ASSERT_TRUE(writeTensor((*outputs)[i], set + "/output_" + std::to_string(i) + ".pb").ok());
    expected.push_back((*outputs)[0]);
  }
  // The executable keeps a state; the same samples from its beginning give the same results.
  Outcome good = wscRun({model, "--data", folder / "data", "--verify", folder / "data", "--rtol", "0", "--atol", "0"});
  EXPECT_EQ(good.status, 0) << good.out << good.error;
  EXPECT_TRUE(has(good.out, "PASS sample 1")) << good.out;

  float value;
  std::memcpy(&value, expected[0].bytes.data() + 4, 4);
  value += 1;
  std::memcpy(expected[0].bytes.data() + 4, &value, 4);
  ASSERT_TRUE(writeTensor(expected[0], folder / "data/test_data_set_0/output_0.pb").ok());
  Outcome bad = wscRun({model, "--data", folder / "data/test_data_set_0", "--verify", folder / "data/test_data_set_0"});
  EXPECT_EQ(bad.status, 1);
  EXPECT_TRUE(has(bad.out, "FAIL ")) << bad.out;
  EXPECT_TRUE(has(bad.error, "1 of 1 outputs differ")) << bad.error;
}

TEST(RunTool, TimingOnlyNeedsNoInputs) {
  Folder folder;
  const std::string model = writeGood(folder);
  Outcome timing = wscRun({model, "--timing-only", "--stats", folder / "s.json"});
  EXPECT_EQ(timing.status, 0) << timing.error;
  EXPECT_TRUE(has(*readFile(folder / "s.json"), "\"wall_seconds_per_sample\": null"));
  Outcome missing = wscRun({model});
  EXPECT_EQ(missing.status, 1);
  EXPECT_TRUE(has(missing.error, "--timing-only")) << missing.error;
}

TEST(RunTool, ComparisonFindsTheWorstPlace) {
  using format::ElementType;
  const Tensor expected = tensorOf<float>("y", ElementType::F32, {2, 2}, {1, 100, 0, NAN});
  auto same = run::compareTensors(expected, expected, 0, 0);
  ASSERT_TRUE(same.ok());
  EXPECT_TRUE(same->passed());
  auto off = run::compareTensors(tensorOf<float>("y", ElementType::F32, {2, 2}, {1, 100.05f, 0.01f, NAN}), expected,
                                 1e-3, 1e-3);
  ASSERT_TRUE(off.ok());
  EXPECT_EQ(off->outside, 1); // 0.05 is within 1e-3 · 100, 0.01 is not within 1e-3
  // Each number stands with its own element.
  EXPECT_EQ(off->largest.element, 1);
  EXPECT_NEAR(off->largestError, 0.05, 1e-5);
  EXPECT_EQ(off->furthest.element, 2);
  EXPECT_TRUE(has(run::describe(*off, {2, 2}), "at [0,1] (got 100.05")) << run::describe(*off, {2, 2});
  EXPECT_TRUE(has(run::describe(*off, {2, 2}), "furthest [1,0] (got 0.01"));
  auto nan = run::compareTensors(tensorOf<float>("y", ElementType::F32, {2, 2}, {NAN, 100, 0, NAN}), expected, 1, 1);
  ASSERT_TRUE(nan.ok());
  EXPECT_FALSE(nan->passed());
  EXPECT_FALSE(run::compareTensors(expected, tensorOf<float>("y", ElementType::F32, {4}, {1, 2, 3, 4}), 1, 1).ok());
}

} // namespace
} // namespace wsc::test
