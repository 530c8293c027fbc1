// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler predicts against what the analytic engine finds: words over the busiest link exactly, the interval
// within a tenth on average.
#include "test/models/ModelCheck.h"
#include "test/models/RandomNet.h"
#include "test/models/TimedModel.h"
#include "test/support/Seed.h"

#include <algorithm>
#include <cmath>
#include <iostream>

namespace wsc::test {
namespace {

absl::StatusOr<TimedModel> predict(const OnnxBuilder &model, const std::string &target, bool equalColumns = false) {
  driver::CompileOptions options;
  options.target = target;
  options.equalColumns = equalColumns;
  return compileAndTime(model, options);
}

TEST(Prediction, CountsTheWordsOfTheBusiestLink) {
  const uint64_t first = seedOf(8100);
  for (uint64_t seed = first; seed < first + uint64_t(casesOf(12)); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    auto predicted = predict(randomNetwork(seed), "mesh-64x64");
    ASSERT_TRUE(predicted.ok()) << predicted.status();
    // The engine counts data, the compiler the control word that hands a lane on as well.
    EXPECT_GE(predicted->report.linkWords, predicted->maxLinkWords);
    EXPECT_LE(predicted->report.linkWords, predicted->maxLinkWords + 1);
  }
}

// In the mean; and nine of ten networks. Where kernels take some hundred cycles, the words' way between cores counts,
// which sizing does not know.
TEST(Prediction, IsNearTheEmulatedInterval) {
  const uint64_t first = seedOf(8100);
  const int cases = casesOf(20);
  double sum = 0;
  int near = 0;
  for (uint64_t seed = first; seed < first + uint64_t(cases); ++seed) {
    auto predicted = predict(randomNetwork(seed), "wse2");
    ASSERT_TRUE(predicted.ok()) << "seed " << seed << ": " << predicted.status();
    const double error = std::abs(double(predicted->report.predictedIntervalCycles - predicted->intervalCycles)) /
                         double(predicted->intervalCycles);
    std::cout << "seed " << seed << ": predicted " << predicted->report.predictedIntervalCycles << ", emulated "
              << predicted->intervalCycles << ", optimum of the candidates " << predicted->report.optimumCycles << "\n";
    EXPECT_GE(predicted->intervalCycles, predicted->report.boundIoCycles);
    sum += error;
    near += error <= 0.05;
  }
  std::cout << "mean error " << 100 * sum / cases << " %, " << near << " of " << cases << " within 5 %\n";
  EXPECT_LE(sum, 0.02 * cases);
  EXPECT_GE(10 * near, 9 * cases);
}

// Cores of a row send their results one after another, with the slots that multiply-adds leave them: that, not the
// slots of any core nor the words of any lane, sets the pace of a layer with short dot products.
TEST(Prediction, KnowsGathersOfBusyCores) {
  NetBuilder net(7);
  net.output(net.conv(net.input("x", {1, 16, 12, 12}), 24, {.kernel = {1, 1}}));
  driver::CompileOptions options;
  options.target = "mesh-32x32";
  options.search.effort = kernels::Effort::Fast;
  auto timed = compileAndTime(net.onnx, options);
  ASSERT_TRUE(timed.ok()) << timed.status();
  EXPECT_NEAR(double(timed->report.predictedIntervalCycles), double(timed->intervalCycles),
              0.1 * double(timed->intervalCycles));
}

// The beginning of SqueezeNet where memory is short: rows of cores wait for their neighbours' words and get ahead of
// each other, 2.7 times as slow as the busiest kernel word by word (`--engine cycle`). Trains of words that wait for
// parts of each other must not make that grow from sample to sample.
TEST(Prediction, WaitsDoNotGrowFromSampleToSample) {
  NetBuilder net(7);
  NetValue x = net.maxPool(net.unary("Relu", net.conv(net.input("x", {1, 3, 224, 224}), 64, {.strides = {2, 2}})),
                           {.strides = {2, 2}});
  for (int fire = 0; fire < 2; ++fire) {
    x = net.unary("Relu", net.conv(x, 16, {.kernel = {1, 1}}));
    x = net.concat({net.unary("Relu", net.conv(x, 64, {.kernel = {1, 1}})),
                    net.unary("Relu", net.conv(x, 64, {.pads = {1, 1, 1, 1}}))});
  }
  net.output(x);
  driver::CompileOptions options;
  options.target = "mesh-128x60";
  options.search.effort = kernels::Effort::Fast;
  auto timed = compileAndTime(net.onnx, options);
  ASSERT_TRUE(timed.ok()) << timed.status();
  EXPECT_LE(timed->intervalCycles, 4 * timed->report.predictedIntervalCycles);
}

TEST(Prediction, EqualColumnsAreNeverQuickerThanTheBound) {
  for (uint64_t seed = 8100; seed < 8104; ++seed) {
    auto naive = predict(randomNetwork(seed), "mesh-64x64", true);
    ASSERT_TRUE(naive.ok()) << naive.status();
    EXPECT_GE(naive->intervalCycles, naive->report.boundIoCycles);
  }
}

} // namespace
} // namespace wsc::test
