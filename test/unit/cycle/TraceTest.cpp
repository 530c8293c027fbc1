// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Traces: what spans say, their order, their limit, and the file Perfetto opens.
#include "Cycle.h"

#include "runtime/emulator/cycle/CycleReports.h"

#include <algorithm>

namespace wsc::test {
namespace {

using emulator::TraceSpan;

CycleResult traced(const Executable &e, int samples, int64_t most) {
  CycleOptions options;
  options.samples = samples;
  options.mostTraceSpans = most;
  auto run = runCycles(e, 0, options);
  EXPECT_TRUE(run.ok()) << run.status();
  return run.ok() ? *run : CycleResult();
}

// The sender's set-up in [0, 14) and ten words in [14, 24); the taker's words come in 20; the kernel's sample is all.
TEST(CycleTrace, SpansOfOneSample) {
  const CycleResult run = traced(sendAlongRow(2, 10), 1, 100);
  ASSERT_EQ(run.trace.size(), 5u);
  const TraceSpan kernel{0, 30, 0, -1, -1, -1, 0, -1, -1, -1};
  const int32_t move = int32_t(Opcode::Move);
  EXPECT_THAT(run.trace, testing::ElementsAre(kernel, TraceSpan{0, 14, 0, 0, 0, 0, 0, 0, -1, -1},
                                              TraceSpan{0, 14, 0, 0, 1, 0, 0, 1, -1, -1},
                                              TraceSpan{14, 24, 0, 0, 0, 0, 0, 0, 0, move},
                                              TraceSpan{20, 30, 0, 0, 1, 0, 0, 1, 0, move}));
  EXPECT_FALSE(run.traceCut);
}

TEST(CycleTrace, TheFirstSpansAreKept) {
  const CycleResult all = traced(sendAlongRow(4, 10), 20, 1000), some = traced(sendAlongRow(4, 10), 20, 13);
  EXPECT_TRUE(some.traceCut);
  const auto threads = [](const CycleResult &run) {
    std::vector<TraceSpan> spans;
    std::copy_if(run.trace.begin(), run.trace.end(), std::back_inserter(spans),
                 [](const TraceSpan &span) { return span.thread >= 0; });
    return spans;
  };
  EXPECT_EQ(threads(some).size(), 13u);
  int64_t last = 0;
  for (const TraceSpan &span : threads(some)) {
    EXPECT_THAT(threads(all), testing::Contains(span));
    last = std::max(last, span.end);
  }
  int64_t before = 0;
  for (const TraceSpan &span : threads(all))
    before += span.end < last;
  EXPECT_LE(before, 13);
  EXPECT_EQ(some.sampleDone, all.sampleDone);
}

TEST(CycleTrace, JsonNamesTracksAndItsLimit) {
  const Executable e = sendAlongRow(2, 10);
  const std::string json = emulator::traceJson(traced(e, 1, 100), e.configurations[0], 100);
  EXPECT_THAT(json, testing::StartsWith("{\"displayTimeUnit\": \"ns\",\n\"otherData\": {\"one microsecond is\": \"one "
                                        "cycle\", \"most thread spans\": 100, \"cut\": false, \"cut at cycle\": "
                                        "null},\n\"traceEvents\": ["));
  EXPECT_THAT(json, testing::HasSubstr("{\"ph\": \"M\", \"pid\": 1, \"name\": \"process_name\", \"args\": {\"name\": "
                                       "\"k\"}}"));
  EXPECT_THAT(json,
              testing::HasSubstr("\"name\": \"thread_name\", \"args\": {\"name\": \"take, core (0, 1) thread 0\"}}"));
  EXPECT_THAT(json, testing::HasSubstr("{\"ph\": \"X\", \"pid\": 1, \"tid\": 1, \"ts\": 14, \"dur\": 10, \"name\": "
                                       "\"move\", \"args\": {\"sample\": 0, \"role\": \"send\", \"instruction\": 0}}"));
  // The taker's set-up ends in cycle 14, its words come in 20.
  EXPECT_THAT(json, testing::HasSubstr("\"ts\": 14, \"dur\": 6, \"name\": \"wait\", \"args\": {\"for\": \"words of "
                                       "colour 0, or issue slots\"}}"));
  const std::string cut = emulator::traceJson(traced(e, 20, 3), e.configurations[0], 3);
  EXPECT_THAT(cut, testing::HasSubstr("\"cut\": true, \"cut at cycle\": 24}"));
  EXPECT_THAT(json, testing::EndsWith("\n]}\n"));
}

} // namespace
} // namespace wsc::test
