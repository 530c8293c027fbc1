// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What columns are spent on that the least interval leaves over.
#include "compiler/kernels/mapping/SearchMapping.h"
#include "compiler/kernels/sizing/LeftoverColumns.h"

#include "ConvThenRelu.h"
#include "OnMesh.h"

#include <gtest/gtest.h>

#include <atomic>

namespace wsc::kernels {
namespace {

using solver::sizing::Problem;
using solver::sizing::Solution;

Problem problemOf(int64_t columns, std::vector<std::vector<std::pair<int64_t, int64_t>>> kernels) {
  Problem problem{columns, std::nullopt, {}};
  for (const auto &candidates : kernels) {
    problem.kernels.push_back({"k" + std::to_string(problem.kernels.size()), {}});
    for (auto [width, cycles] : candidates)
      problem.kernels.back().candidates.push_back({width, cycles, 0, ""});
  }
  return problem;
}

std::vector<int32_t> spent(const Problem &problem, int64_t limitCycles) {
  NetworkTraits traits;
  for (const solver::sizing::Kernel &kernel : problem.kernels)
    traits.emplace_back(kernel.candidates.size());
  Solution solution{std::vector<int32_t>(problem.kernels.size(), 0)};
  spendColumns(problem, traits, limitCycles, solution);
  EXPECT_TRUE(solution.verify(problem).ok());
  return solution.candidateOf;
}

/// What blocks that end between the receivers' slices are worth: a quarter of a kernel's columns more, or one.
TEST(Spending, AlignsBlocksForFewColumns) {
  const auto aligned = [](int64_t columns, int64_t wider) {
    const Problem problem = problemOf(200, {{{columns, 1000}, {wider, 900}}});
    Solution solution{{0}};
    alignColumns(problem, {{{.aligned = false}, {.aligned = true}}}, solution);
    return solution.candidateOf.front() == 1;
  };
  EXPECT_TRUE(aligned(16, 20));
  EXPECT_FALSE(aligned(16, 21));
  EXPECT_TRUE(aligned(2, 3));
  EXPECT_FALSE(aligned(2, 4));
}

TEST(Spending, GoesToKernelsNearTheInterval) {
  // The second saves more, but takes half of the interval and so waits for nobody.
  const Problem problem = problemOf(30, {{{10, 960}, {20, 700}}, {{10, 500}, {20, 200}}});
  EXPECT_EQ(spent(problem, 1000), (std::vector<int32_t>{1, 0}));
}

TEST(Spending, SavesMostCyclesAmongEquals) {
  EXPECT_EQ(spent(problemOf(30, {{{10, 900}, {20, 800}}, {{10, 900}, {20, 600}}}), 1000), (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(spent(problemOf(40, {{{10, 900}, {20, 800}}, {{10, 900}, {20, 600}}}), 1000), (std::vector<int32_t>{1, 1}));
}

// On a mesh whose edge is slow enough to set the interval.
class SpendingOtherwise : public OnMesh {
protected:
  SpendingOtherwise() : OnMesh("mesh-48x96") {}
  void SetUp() override {
    OnMesh::SetUp();
    target.ioTerabitsPerSecond = 0.01;
    sized = unsized;
    auto sizing = sizeNetwork(target, sized);
    ASSERT_TRUE(sizing.ok()) << sizing.status();
    report = *std::move(sizing);
    first = sized;
    ASSERT_GE(first.bounds.io, first.bounds.sizing);
  }
  bool isFirst(const NetworkPlan &network) const {
    for (size_t k = 0; k < network.kernels.size(); ++k)
      if (network.kernels[k].mapping != first.kernels[k].mapping)
        return false;
    for (size_t s = 0; s < network.streams.size(); ++s)
      if (network.streams[s].layout != first.streams[s].layout)
        return false;
    return true;
  }
  /// Searches with an emulator that says so many cycles for the first mapping and for others. Times it was asked.
  int search(int64_t ofFirst, int64_t ofOthers) {
    std::atomic<int> asked = 0;
    SearchOptions options{Effort::Default, 1, 2, [&](const NetworkPlan &network) -> absl::StatusOr<int64_t> {
                            ++asked;
                            return isFirst(network) ? ofFirst : ofOthers;
                          }};
    CandidateCache cache;
    searchMapping(target, unsized, options, cache, sized, report);
    return asked;
  }

  const NetworkPlan unsized = convThenRelu({32, 24, 96}, 64, 3, 3, 1);
  NetworkPlan sized, first;
  SizingReport report;
};

TEST_F(SpendingOtherwise, IsTriedWhereKernelsWait) {
  EXPECT_EQ(search(2 * first.bounds.io, first.bounds.io), 3);
  EXPECT_FALSE(isFirst(sized));
}

TEST_F(SpendingOtherwise, MustBeQuicker) {
  EXPECT_EQ(search(2 * first.bounds.io, 2 * first.bounds.io - 1), 3);
  EXPECT_TRUE(isFirst(sized));
}

TEST_F(SpendingOtherwise, IsNotTriedWhereNobodyWaits) {
  EXPECT_EQ(search(first.bounds.io, 1), 1);
  EXPECT_TRUE(isFirst(sized));
}

} // namespace
} // namespace wsc::kernels
