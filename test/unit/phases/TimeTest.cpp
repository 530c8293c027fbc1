// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The time of a phased entry: what a change of configuration costs, the sum over parts, both engines, and how wsc-run
// tells it.
#include "runtime/format/Writer.h"
#include "runtime/session/Session.h"
#include "runtime/timing/Cost.h"
#include "runtime/timing/Phases.h"
#include "test/unit/phases/ChainRounds.h"
#include "test/unit/phases/GatherRounds.h"
#include "tools/wsc-run/Run.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace wsc;
using namespace wsc::format;
using namespace wsc::testing;
using emulator::TimingPart;

namespace {

// Rounds of gathers in two configurations that differ in their name: the first, the second, the second again.
Executable twoPhases() {
  Executable e = gatherRounds({.rows = 3, .cols = 5, .rounds = 2, .words = 4}).result;
  e.configurations[0].name = "first";
  e.configurations[0].kernels.push_back({"gather", {"layer"}, 0, 0, 3, 5, 100, 0});
  for (Role &role : e.configurations[0].roles)
    role.kernel = 0;
  e.configurations.push_back(e.configurations[0]);
  e.configurations[1].name = "second";
  e.entries[0].steps = {{StepKind::Configure, 0, {}},
                        {StepKind::Run, 0, {0}},
                        {StepKind::Configure, 1, {1}},
                        {StepKind::Run, 1, {2}},
                        {StepKind::Run, 1, {3}}};
  return e;
}

// In a file in a folder of its own, and open.
class Opened {
public:
  explicit Opened(const Executable &executable) {
    std::string pattern = (std::filesystem::temp_directory_path() / "wsc-phases-XXXXXX").string();
    folder = mkdtemp(pattern.data());
    std::vector<SectionSource> sections;
    for (const Section &section : executable.sections)
      sections.push_back({section.name, int64_t(section.bytes.size()), [&section](std::span<std::byte> out) {
                            std::memcpy(out.data(), section.bytes.data(), out.size());
                            return absl::OkStatus();
                          }});
    const absl::Status written = writeExecutable(executable, sections, path());
    EXPECT_TRUE(written.ok()) << written;
    auto opened = Session::open(path());
    EXPECT_TRUE(opened.ok()) << opened.status();
    if (opened.ok())
      session = *std::move(opened);
  }
  ~Opened() { std::filesystem::remove_all(folder); }
  std::string path() const { return folder + "/phases.wse"; }

  std::string folder;
  std::unique_ptr<Session> session;
};

} // namespace

TEST(PhaseTime, AChangeOfConfigurationCostsCodeAndDistance) {
  target::Target target = *target::loadTarget("wse2");
  // The largest core's 8 KB: 2,048 words, one a cycle; distances: 2 · (750 + 994) on the whole wafer.
  timing::ConfigurationWords all{.largestCode = 2048, .code = 20000, .routes = 1000, .rows = 750, .cols = 994};
  EXPECT_EQ(timing::configurationCycles(target, all), 2048 + 3488);
  // 60 roles with 8 KB each enter at 44.1 words a cycle.
  all.code = 60 * 2048;
  EXPECT_EQ(timing::configurationCycles(target, all), 2808 + 3488);
  all.rows = all.cols = 64;
  EXPECT_EQ(timing::configurationCycles(target, all), 2808 + 256);
  target.configurationRoundTrips = 0;
  target.configurationWordsPerCycle = 4;
  EXPECT_EQ(timing::configurationCycles(target, {.largestCode = 2048}), 512);

  const Executable e = twoPhases();
  int64_t most = 0, routes = 0;
  for (const Role &role : e.configurations[0].roles) {
    int64_t bytes = 0;
    for (const Thread &thread : role.threads)
      for (const Instruction &instruction : thread) {
        bytes += target.instructionBytes;
        for (const Operand *operand : {&instruction.dst, &instruction.a, &instruction.b})
          bytes += operand->kind == OperandKind::Memory ? target.descriptorBytes : 0;
      }
    most = std::max(most, bytes / 4);
  }
  for (const RouterRole &router : e.configurations[0].routers)
    routes += int64_t(router.positions.size());
  const timing::ConfigurationWords words = timing::configurationWords(e.target, e.configurations[0]);
  EXPECT_EQ(words.largestCode, most);
  EXPECT_EQ(words.routes, routes);
  EXPECT_EQ(std::pair(words.rows, words.cols),
            std::pair(e.configurations[0].kernels[0].rows, e.configurations[0].kernels[0].cols));
}

TEST(PhaseTime, RolesShareTheirCode) {
  const Executable e = twoPhases();
  Configuration configuration = e.configurations[0];
  auto words = [&] { return timing::configurationWords(e.target, configuration).code; };
  const Role role = configuration.roles[0];
  configuration.roles = {role};
  const int64_t alone = words();
  configuration.roles.push_back(role);
  EXPECT_EQ(words(), alone);
  // An extent that is another is a word, an instruction that is another takes code of its own.
  Instruction &changed = configuration.roles.back().threads[0][0];
  changed.extent[0].constant += 1;
  EXPECT_EQ(words(), alone + 1);
  changed.priority += 1;
  EXPECT_EQ(words(), 2 * alone);
}

TEST(PhaseTime, OfChangesBackToAConfiguration) {
  Executable e = twoPhases();
  EXPECT_EQ(timing::repeatedConfigurationCycles(e), 0);
  const auto change = [&](int32_t configuration) {
    e.entries[0].steps.push_back({.kind = StepKind::Configure, .configuration = configuration});
    return timing::configurationCycles(e.target,
                                       timing::configurationWords(e.target, e.configurations[size_t(configuration)]));
  };
  const int64_t back = change(0), forth = change(1);
  EXPECT_EQ(timing::repeatedConfigurationCycles(e), back + forth);
}

TEST(PhaseTime, AnEntryIsTheSumOfItsParts) {
  const Executable e = twoPhases();
  Opened opened(e);
  auto timing = opened.session->timing(0);
  ASSERT_TRUE(timing.ok()) << timing.status();
  const int64_t change =
      timing::configurationCycles(e.target, timing::configurationWords(e.target, e.configurations[0]));
  const auto run = emulator::runCycles(e, 0, {});
  ASSERT_TRUE(run.ok()) << run.status();
  // A configuration that is in place is not put there again.
  using enum TimingPart::Kind;
  const std::vector<TimingPart> want{{Configure, "first", 0, 1, change, false},
                                     {Run, "first", 0, 1, run->endCycle, true},
                                     {Configure, "second", 1, 1, change, false},
                                     {Run, "second", 1, 1, run->endCycle, true},
                                     {Run, "second", 1, 1, run->endCycle, true}};
  EXPECT_EQ((*timing)->parts, want);
  EXPECT_EQ((*timing)->latencyCycles, 2 * change + 3 * run->endCycle);
  EXPECT_EQ((*timing)->intervalCycles, (*timing)->latencyCycles);
  ASSERT_EQ((*timing)->kernels.size(), 3u); // one per run
  EXPECT_GT((*timing)->kernels[0].fmaCycles, 0);
  EXPECT_GT((*timing)->computeUtilisation, 0);
  EXPECT_EQ((*timing)->linkWordHops, 3 * run->wordHops);

  std::vector<TimingPart> parts;
  const auto cycles = opened.session->cycles(0, {.samples = 2, .perCore = true, .mostTraceSpans = 100000}, &parts);
  ASSERT_TRUE(cycles.ok()) << cycles.status();
  EXPECT_EQ(parts, want);
  EXPECT_EQ(cycles->latencyCycles, (*timing)->latencyCycles);
  EXPECT_EQ(cycles->sampleDone, (std::vector<int64_t>{cycles->latencyCycles, 2 * cycles->latencyCycles}));
  EXPECT_EQ(cycles->wordHops, 2 * 3 * run->wordHops);
  ASSERT_EQ(cycles->kernels.size(), 3u);
  EXPECT_EQ(cycles->kernels[2].sum.busy, 2 * run->kernels[0].sum.busy);
  EXPECT_EQ(cycles->cores.size(), 15u);
  EXPECT_EQ(cycles->trace.back().end, cycles->latencyCycles);
  EXPECT_TRUE(std::is_sorted(cycles->trace.begin(), cycles->trace.end(),
                             [](const auto &x, const auto &y) { return x.begin < y.begin; }));
}

TEST(PhaseTime, ReplayDrawsFromAllRuns) {
  Opened opened(twoPhases());
  EXPECT_TRUE(opened.session->replay(0, {}, 60, 1).ok());
  const auto counters = opened.session->counters(0);
  EXPECT_EQ(counters.macs, 3 * 3 * 4 * 2 * 4 * 4); // runs, rows, columns without the relay, rounds, words, words
  EXPECT_EQ(counters.kernelMacs.size(), 3u);
}

// The analytic engine on what phases consist of, against the cycle engine.
TEST(PhaseTime, TheAnalyticEngineComesClose) {
  const auto expectClose = [](const Executable &e, double tolerance) {
    const auto networks = emulator::resolveNetworks(e.target, e.configurations[0]);
    ASSERT_TRUE(networks.ok()) << networks.status();
    const auto analytic = emulator::analyseTiming(e, 0, *networks, 1);
    ASSERT_TRUE(analytic.ok()) << analytic.status();
    const auto cycles = emulator::runCycles(e, 0, {});
    ASSERT_TRUE(cycles.ok()) << cycles.status();
    EXPECT_NEAR(double(analytic->latencyCycles), double(cycles->endCycle), tolerance * double(cycles->endCycle));
  };
  for (const ChainShape &shape : {ChainShape{1, 7, 3, 8}, ChainShape{16, 16, 4, 64}, ChainShape{1, 64, 4, 16}})
    expectClose(chainRounds(shape).result, 0.01);
  for (const GatherShape &shape :
       {GatherShape{4, 6, 3, 8}, GatherShape{1, 16, 4, 64}, GatherShape{16, 16, 4, 16}, GatherShape{4, 6, 3, 8, true},
        GatherShape{1, 64, 4, 16}, GatherShape{1, 64, 20, 16}, GatherShape{1, 16, 20, 4}})
    expectClose(gatherRounds(shape).result, 0.05);
}

TEST(PhaseTime, WscRunListsTheParts) {
  Opened opened(twoPhases());
  const std::string stats = opened.folder + "/stats.json", trace = opened.folder + "/trace.json";
  run::Options options;
  options.model = opened.path();
  options.stats = stats;
  options.engine = "cycle";
  options.trace = trace;
  options.replay = 5;
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(run::runTool(options), 0);
  const std::string out = ::testing::internal::GetCapturedStdout();
  EXPECT_NE(out.find("configure    first"), std::string::npos) << out;
  EXPECT_NE(out.find("phase        second"), std::string::npos) << out;
  EXPECT_NE(out.find("interval     the latency: samples of a phased entry do not overlap"), std::string::npos) << out;
  std::ifstream file(stats);
  const std::string json{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(
      json.find("\"phases\": [\n    {\"name\": \"first\", \"kind\": \"configure\", \"configuration\": 0, \"count\": 1"),
      std::string::npos)
      << json;
  EXPECT_NE(json.find("\"kind\": \"run\""), std::string::npos) << json;
}
