// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a report says of an executable's time: one case for each thing that may bound it.
#include "runtime/report/Report.h"
#include "test/unit/verifier/Fixture.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace wsc::report {
namespace {

// Two kernels side by side, of 900 and 400 slots, in an interval of 1,000 cycles.
Report strips() {
  Report report;
  report.target = format::fixture::meshTarget("mesh-8x8");
  report.execution = "pipelined";
  report.coresTotal = report.coresUsed = 64;
  report.predictedIntervalCycles = 1000;
  report.entries.emplace_back().steps = {{format::StepKind::Run, 0, {}}};
  ConfigurationFacts &configuration = report.configurations.emplace_back();
  configuration.numKernels = 2;
  for (auto [name, compute] : {std::pair("wide", 700), std::pair("narrow", 200)}) {
    KernelFacts &kernel = report.kernels.emplace_back();
    kernel.name = name;
    kernel.busiest.computeCycles = compute;
    kernel.busiest.setupCycles = 200;
  }
  return report;
}

bool advises(const Report &report, const std::string &title) {
  return std::any_of(report.advice.begin(), report.advice.end(),
                     [&](const Advice &advice) { return advice.title == title; });
}

TEST(Conclude, FullPortsBound) {
  Report report = strips();
  report.configurations[0].inputWords = int64_t(1000 * report.target.ioWordsPerCycle());
  conclude(report);
  EXPECT_NE(report.bound.find("Input and output bound the network"), std::string::npos) << report.bound;
  EXPECT_TRUE(advises(report, "The ports are full"));
  EXPECT_EQ(report.limits.front().name, "ports");
  EXPECT_EQ(report.split.input, 100);
  EXPECT_EQ(report.split.total(), 1000);
}

TEST(Conclude, ABusyCoreBounds) {
  Report report = strips();
  report.kernels[0].busiest.computeCycles = 800;
  conclude(report);
  EXPECT_NE(report.bound.find("Kernel wide bounds the network: its busiest core issues 1,000 slots in 1,000 cycles"),
            std::string::npos)
      << report.bound;
  EXPECT_EQ(report.split.waiting, 0);
}

TEST(Conclude, AFullLinkBounds) {
  Report report = strips();
  report.configurations[0].maxLinkWords = 990;
  report.configurations[0].maxLink = "row 1, col 2, east";
  conclude(report);
  EXPECT_NE(report.bound.find("990 words cross row 1, col 2, east"), std::string::npos) << report.bound;
  EXPECT_TRUE(advises(report, "A link is full"));
}

TEST(Conclude, WhereNothingIsFullKernelsWaitForEachOther) {
  Report report = strips();
  conclude(report);
  EXPECT_NE(report.bound.find("No single resource is full in 1,000 cycles"), std::string::npos) << report.bound;
  EXPECT_EQ(report.split.waiting, 100);
}

TEST(Conclude, EmulationThatIsSlowerThanPredictedIsTold) {
  Report report = strips();
  report.emulation.emplace().intervalCycles = 1300;
  conclude(report);
  EXPECT_TRUE(advises(report, "Emulated slower than predicted"));
  EXPECT_EQ(report.split.total(), 1300);
}

// A change of 300 cycles, then two runs of a phase, of 200 cycles each.
Report phases(int64_t change) {
  Report report = strips();
  report.execution = "phased";
  report.parts = {{"a", false, 0, 1, change}, {"a", true, 0, 2, 2000}};
  report.predictedIntervalCycles = change + 2000;
  return report;
}

TEST(Conclude, ALongPhaseBounds) {
  Report report = phases(300);
  conclude(report);
  EXPECT_NE(report.bound.find("Phase a bounds the network: 2,000 of 2,300 cycles, in 2 runs"), std::string::npos)
      << report.bound;
  EXPECT_EQ(report.split.configuration, 300);
  EXPECT_EQ(report.split.compute, 2 * 700);
  EXPECT_EQ(report.split.total(), 2300);
}

TEST(Conclude, ChangesOfConfigurationBound) {
  Report report = phases(5000);
  conclude(report);
  EXPECT_NE(report.bound.find("Changes of configuration bound the network: 5,000 of 7,000 cycles"), std::string::npos)
      << report.bound;
  EXPECT_TRUE(advises(report, "Many changes of configuration"));
}

TEST(Conclude, UnknownCyclesAreSaidToBe) {
  Report report = strips();
  report.predictedIntervalCycles = 0;
  report.emulation.emplace().unknown = "the program stops";
  conclude(report);
  EXPECT_EQ(report.bound, "Cycles are not known: the program stops");
  EXPECT_TRUE(report.limits.empty());
}

} // namespace
} // namespace wsc::report
