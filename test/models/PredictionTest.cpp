// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the compiler predicts against what the analytic engine finds: words over the busiest link exactly, the interval
// within a tenth on average.
#include "test/models/ModelCheck.h"
#include "test/models/RandomNet.h"

#include "compiler/driver/Compiler.h"

#include <algorithm>
#include <cmath>
#include <iostream>

namespace wsc::test {
namespace {

struct Predicted {
  driver::CompileReport report;
  int64_t interval = 0, linkWords = 0; // of the analytic engine
};

absl::StatusOr<Predicted> predict(const OnnxBuilder &model, const std::string &target, bool equalColumns = false) {
  TemporaryFolder folder;
  driver::CompileOptions options;
  options.model = folder / "model.onnx";
  options.output = folder / "model.wse";
  options.target = target;
  options.equalColumns = equalColumns;
  if (!model.write(options.model))
    return absl::InternalError("cannot write the model");
  auto report = driver::compile(options);
  if (!report.ok())
    return report.status();
  auto session = Session::open(options.output, {.threads = 1});
  if (!session.ok())
    return session.status();
  auto timing = (*session)->timing(0);
  if (!timing.ok())
    return timing.status();
  return Predicted{*std::move(report), (*timing)->intervalCycles, (*timing)->maxLinkWords};
}

TEST(Prediction, CountsTheWordsOfTheBusiestLink) {
  for (uint64_t seed = 8100; seed < 8112; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    auto predicted = predict(randomNetwork(seed), "mesh-64x64");
    ASSERT_TRUE(predicted.ok()) << predicted.status();
    // The engine counts data, the compiler the control word that hands a lane on as well.
    EXPECT_GE(predicted->report.linkWords, predicted->linkWords);
    EXPECT_LE(predicted->report.linkWords, predicted->linkWords + 1);
  }
}

TEST(Prediction, IsNearTheEmulatedInterval) {
  double sum = 0, worst = 0;
  int count = 0;
  for (uint64_t seed = 8100; seed < 8120; ++seed, ++count) {
    auto predicted = predict(randomNetwork(seed), "wse2");
    ASSERT_TRUE(predicted.ok()) << "seed " << seed << ": " << predicted.status();
    double error =
        std::abs(double(predicted->report.predictedIntervalCycles - predicted->interval)) / double(predicted->interval);
    std::cout << "seed " << seed << ": predicted " << predicted->report.predictedIntervalCycles << ", emulated "
              << predicted->interval << ", bound " << predicted->report.boundCycles << "\n";
    EXPECT_GE(predicted->interval, predicted->report.boundIoCycles);
    sum += error;
    worst = std::max(worst, error);
  }
  std::cout << "mean error " << 100 * sum / count << " %, worst " << 100 * worst << " %\n";
  EXPECT_LE(sum / count, 0.05);
  // Seed 8115: kernels of some 200 cycles, where the words' way between cores counts, which sizing does not know.
  EXPECT_LE(worst, 0.32);
}

TEST(Prediction, EqualColumnsAreNeverQuickerThanTheBound) {
  for (uint64_t seed = 8100; seed < 8104; ++seed) {
    auto naive = predict(randomNetwork(seed), "mesh-64x64", true);
    ASSERT_TRUE(naive.ok()) << naive.status();
    EXPECT_GE(naive->interval, naive->report.boundIoCycles);
  }
}

} // namespace
} // namespace wsc::test
