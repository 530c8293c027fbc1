// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wsc-info: its views of the sample, and the command's exit status.
#include "test/unit/format/Sample.h"
#include "tools/wsc-info/Facts.h"
#include "tools/wsc-info/Views.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <sys/wait.h>

namespace wsc::info {
namespace {

using namespace format;

// A sample as loaders give it: with its sections.
Executable loadedSample(Executable executable = sampleExecutable()) {
  static std::vector<std::byte> bytes(5000);
  for (const SectionSource &source : sampleSections())
    executable.sections.push_back({source.name, std::span<const std::byte>(bytes).first(size_t(source.bytes))});
  return executable;
}

TEST(Facts, CountCoresOnceAcrossConfigurations) {
  Executable executable = loadedSample();
  Facts facts = collectFacts(executable);
  EXPECT_EQ(facts.coresTotal, 64);
  EXPECT_EQ(facts.coresUsed, 8); // the idle role has no program
  EXPECT_EQ(facts.coresFma, 8);
  EXPECT_EQ(facts.sramWorstBytes, 6800);
  ASSERT_EQ(facts.kernels.size(), 2u);
  EXPECT_EQ(facts.kernels[1].cores, 8);
  EXPECT_EQ(facts.kernels[1].sramBytes, 6800);

  Configuration again = executable.configurations[0];
  again.roles[0].cores.row = 3; // same columns, the rows between, without multiply-adds
  again.roles[0].threads.erase(again.roles[0].threads.begin());
  executable.configurations.push_back(executable.configurations[0]);
  executable.configurations.push_back(again);
  facts = collectFacts(executable);
  EXPECT_EQ(facts.coresUsed, 16);
  EXPECT_EQ(facts.coresFma, 8);
}

TEST(Facts, Text) {
  EXPECT_EQ(withCommas(0), "0");
  EXPECT_EQ(withCommas(999), "999");
  EXPECT_EQ(withCommas(1000), "1,000");
  EXPECT_EQ(withCommas(-123456), "-123,456");
  EXPECT_EQ(withCommas(12345678901), "12,345,678,901");
  EXPECT_EQ(padded("ab", 4), "ab  ");
  EXPECT_EQ(padded("abcdef", 4), "abcd");
  EXPECT_EQ(padded("\xc3\xbc\xc3\xbc", 3), "\xc3\xbc\xc3\xbc ");
  EXPECT_EQ(padded("\xc3\xbc\xc3\xbc\xc3\xbc", 2), "\xc3\xbc\xc3\xbc");
}

TEST(Views, FloorPlanShowsKernelsWhereTheyAre) {
  std::string plan = floorPlanView(loadedSample());
  EXPECT_EQ(plan.substr(0, plan.find("A  conv1")),
            "all layers: 8 x 8 cores\n........\n........\n.BBBB...\n........\n.BBBB...\n"
            "........\n........\n........\n");
}

TEST(Views, FloorPlanOfAWholeWaferFitsTheTerminal) {
  Executable executable = loadedSample();
  executable.target = *target::loadTarget("wse2");
  executable.configurations[0].roles[0].cores = {0, 0, {Lattice::Dim{750, 1, 0}, {1, 0, 0}, {1, 0, 0}, {497, 0, 1}}};
  std::string plan = floorPlanView(executable);
  EXPECT_EQ(plan.find("all layers: 750 x 994 cores\na character is 26 rows of about 13 cores; kernels take one "
                      "character at least\n"),
            0u)
      << plan;
  for (size_t begin = 0, end; (end = plan.find('\n', begin)) != std::string::npos; begin = end + 1)
    EXPECT_LE(end - begin, 80u);
}

TEST(Views, FloorPlanShowsKernelsOfOneColumn) {
  Executable executable = loadedSample();
  executable.target = *target::loadTarget("wse2");
  Configuration &configuration = executable.configurations[0];
  configuration.kernels.resize(2);
  // A pool of one column between two stretches of a convolution.
  configuration.kernels[0].col = 400;
  configuration.kernels[0].cols = 1;
  configuration.kernels[1].col = 0;
  configuration.kernels[1].cols = 400;
  configuration.roles.resize(1);
  configuration.roles[0].kernel = 0;
  configuration.roles[0].cores = {0, 400, {Lattice::Dim{750, 1, 0}, {1, 0, 0}, {1, 0, 0}, {1, 0, 1}}};
  const std::string plan = floorPlanView(executable);
  const size_t line = plan.find('\n', plan.find('\n') + 1) + 1;
  const std::string first = plan.substr(line, plan.find('\n', line) - line);
  EXPECT_EQ(std::count(first.begin(), first.end(), 'A'), 1) << first;
  EXPECT_EQ(first.find('A'), 31u) << first;
}

TEST(Views, CoreResolvesItsNumbers) {
  auto view = coreView(loadedSample(), 4, 2);
  ASSERT_TRUE(view.ok());
  for (const char *line : {"role: worker, rows 2..4 step 2, cols 1..4, kernel fc\n",
                           "weights  constant f16 from section fc.weights at 584\n", "in2  colour 3, 4 words\n",
                           "0  loop l0 < 4\n", "colour 3: W -> E | RAMP -> N E  (net conv1 to fc)\n",
                           "in configuration spare\n  no program\n  no router settings\n"})
    EXPECT_NE(view->find(line), std::string::npos) << line << "\nnot in\n" << *view;
  EXPECT_EQ(std::string(coreView(loadedSample(), 8, 0).status().message()),
            "core (8, 0) is outside the mesh; rows are 0 to 7, columns 0 to 7");
}

TEST(Views, ResidentsAndStepsAreListed) {
  Executable executable = loadedSample(residentSample());
  const std::string summary = summaryView(executable);
  for (const char *line : {"resident        counters: i64, 16 bytes at 24576, from (0, 0), 8 times (1, 1), elements of "
                           "counter from 1 + 2*c0\n",
                           "  step          configure spare after 0 1\n", "  step          run spare x 12 after 2\n"})
    EXPECT_NE(summary.find(line), std::string::npos) << line << "\nnot in\n" << summary;
  const auto core = coreView(executable, 4, 4);
  ASSERT_TRUE(core.ok());
  for (const char *line :
       {"resident weights: f16, 2048 bytes at 20480, constant from section fc.weights at 2064\n",
        "first  resident f16 weights from 64, 64 further per iteration\n", "second  resident i16 between from 128\n"})
    EXPECT_NE(core->find(line), std::string::npos) << line << "\nnot in\n" << *core;
  const std::string json = jsonView(executable);
  EXPECT_NE(json.find("{\"kind\": \"run\", \"configuration\": 1, \"count\": 12, \"first\": 0, \"after\": [2]}"),
            std::string::npos);
  EXPECT_NE(json.find("{\"name\": \"between\", \"type\": \"u16\", \"cores\": 8, \"address\": 32768, \"bytes\": 256, "
                      "\"section\": -1, \"state\": -1}"),
            std::string::npos);
  executable.residents.resize(20);
  EXPECT_NE(summaryView(executable).find("resident        and 4 more, which --json lists\n"), std::string::npos);
}

TEST(Views, RoutesNameWhatThereIs) {
  EXPECT_EQ(*routesView(loadedSample(), "conv1 to fc"),
            "net conv1 to fc in configuration all layers, 128 words per sample planned\n"
            "  colour 3  W -> E | RAMP -> N E  rows 2..4 step 2, cols 1..4\n"
            "  8 routers, 16 outgoing links\n");
  EXPECT_EQ(std::string(routesView(loadedSample(), "x").status().message()),
            "no net is named \"x\"; there are 2: input, conv1 to fc");
}

TEST(Views, IsaListsEveryOpcode) {
  std::string isa = isaView(nullptr);
  EXPECT_EQ(std::count(isa.begin(), isa.end(), '\n'), kNumOpcodes + 1);
}

TEST(Views, JsonKeepsStringsInside) {
  Executable executable = loadedSample();
  executable.configurations[0].kernels[0].name = "a\"b\\c\n\xff";
  EXPECT_NE(jsonView(executable).find("{\"name\": \"a\\\"b\\\\c??\", "), std::string::npos);
}

// Runs the command; its standard output and error together.
std::string run(const std::string &arguments, int &status) {
  std::string output;
  FILE *pipe = ::popen((WSC_INFO_BINARY " " + arguments + " 2>&1").c_str(), "r");
  char buffer[4096];
  for (size_t n; (n = std::fread(buffer, 1, sizeof(buffer), pipe)) > 0;)
    output.append(buffer, n);
  status = WEXITSTATUS(::pclose(pipe));
  return output;
}

TEST(Command, ExitStatus) {
  TemporaryFile file("info.wse");
  ASSERT_EQ(writeExecutable(sampleExecutable(), sampleSections(), file.path), absl::OkStatus());
  int status = -1;
  EXPECT_EQ(run("--help", status).find("Example:"), 0u);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(run("--version", status).find("wsc "), 0u);
  EXPECT_EQ(status, 0);
  EXPECT_NE(run(file.path, status).find("8 of 64 used (12.5 %)"), std::string::npos);
  EXPECT_EQ(status, 0);
  EXPECT_NE(run(file.path + " --json", status).find("\"cores_fma\": 8,"), std::string::npos);
  EXPECT_EQ(status, 0);
  run(file.path + " --core 9,9", status);
  EXPECT_EQ(status, 1);
  EXPECT_EQ(run("no.wse", status), "error: no.wse: cannot open: No such file or directory\n");
  EXPECT_EQ(status, 1);
  for (const char *arguments :
       {"", "--map", "x.wse --core 1", "x.wse --core 1,2,3", "x.wse --json --map", "--no-such-option x.wse"}) {
    EXPECT_EQ(run(arguments, status).find("error: "), 0u) << arguments;
    EXPECT_EQ(status, 2) << arguments;
  }
}

TEST(Command, VerifyReportsLimitsAndDamage) {
  TemporaryFile file("verify.wse");
  int status = -1;
  ASSERT_EQ(writeExecutable(sampleExecutable(), sampleSections(), file.path), absl::OkStatus());
  EXPECT_NE(run(file.path + " --verify", status).find("sram-code: "), std::string::npos);
  EXPECT_EQ(status, 1);

  Executable empty;
  empty.target = *target::loadTarget("mesh-4x4");
  ASSERT_EQ(writeExecutable(empty, sampleSections(), file.path), absl::OkStatus());
  EXPECT_EQ(run(file.path + " --verify", status),
            "verified: hardware limits, determinacy, liveness and weight hashes hold\n");
  EXPECT_EQ(status, 0);
  std::vector<char> bytes = readBytes(file.path);
  bytes.back() ^= 1;
  writeBytes(file.path, bytes);
  EXPECT_NE(run(file.path + " --verify", status).find("section more at byte"), std::string::npos);
  EXPECT_EQ(status, 1);
}

} // namespace
} // namespace wsc::info
