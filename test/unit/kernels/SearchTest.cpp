// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of the search for mappings: links are counted as they are used, and what the compiler chose solves the
// problems that it writes down. (What the search reaches: test/models/SearchTest.cpp.)
#include "compiler/kernels/mapping/Generate.h"
#include "compiler/kernels/mapping/MapNetwork.h"
#include "compiler/kernels/mapping/PlaceNetwork.h"
#include "compiler/kernels/programs/AllocationProblem.h"
#include "compiler/kernels/routes/LinkLoads.h"
#include "compiler/kernels/sizing/MappingScore.h"
#include "test/support/Seed.h"

#include "ConvThenRelu.h"
#include "OnMesh.h"

#include <gtest/gtest.h>

#include <array>
#include <map>

namespace wsc::kernels {
namespace {

const uint64_t kSeed = wsc::test::seedOf(11);

class Search : public OnMesh {
protected:
  Search() : OnMesh("mesh-48x48", kSeed) {}
  /// One of many small networks, unsized.
  NetworkPlan someNetwork() {
    const int64_t kernelH = pick(1, 3), kernelW = pick(1, 3);
    return convThenRelu({pick(1, 24), pick(6, 40), pick(4, 24)}, pick(1, 24), kernelH, kernelW, pick(1, 2));
  }
  absl::StatusOr<NetworkPlan> routed(NetworkPlan plan) {
    auto report = sizeNetwork(target, plan);
    absl::Status status = report.status();
    if (status.ok())
      status = placeInOrder(target, plan);
    if (status.ok())
      status = routeNetwork(target, plan);
    if (!status.ok())
      return status;
    return plan;
  }
};

/// Calls visit(direction, row, col, words) for every link of a load.
template <typename Visit> void forEachLink(const RouteLoad &load, Visit visit) {
  const solver::routing::Segment &s = load.segment;
  const int rowStep = (s.rowEnd > s.row) - (s.rowEnd < s.row), colStep = (s.colEnd > s.col) - (s.colEnd < s.col);
  for (int32_t column = 0; column < load.columns; ++column) {
    int64_t words = load.words;
    for (int32_t row = s.row, col = s.col; row != s.rowEnd || col != s.colEnd; row += rowStep, col += colStep) {
      visit(int(solver::routing::directionOf(s)), row, col + column, words);
      words += load.wordsMore;
    }
  }
}

TEST_F(Search, LinksCountWhatTheyCarry) {
  for (int i = 0; i < 10; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", case " + std::to_string(i));
    auto network = routed(someNetwork());
    ASSERT_TRUE(network.ok()) << network.status();
    const NetworkLoads loads = networkLoads(target, *network, laneRoutes(target, *network));
    std::map<std::array<int, 3>, int64_t> words;
    int64_t hops = 0, most = 0;
    for (const RouteLoad &load : loads.loads)
      forEachLink(load, [&](int direction, int row, int col, int64_t onLink) {
        hops += onLink;
        most = std::max(most, words[{direction, row, col}] += onLink);
      });
    EXPECT_EQ(wordHopsOf(loads), hops);
    const MappingScore score = scoreOf(target, *network);
    EXPECT_EQ(score.wordHops, hops);
    EXPECT_GE(score.intervalCycles, most);
    EXPECT_FALSE(score.bottleneck.empty());
    const int64_t capacity = most / 2;
    auto excessAt = [&](int64_t on) {
      const int64_t parts = on > capacity ? (on - capacity) * 1024 / capacity : 0;
      return parts * parts;
    };
    int64_t expected = 0, all = 0;
    for (const auto &[link, on] : words)
      expected += excessAt(on);
    std::vector<int64_t> ofNet(loads.nets.size(), 0);
    for (const RouteLoad &load : loads.loads)
      forEachLink(load, [&](int direction, int row, int col, int64_t) {
        ofNet[size_t(load.net)] += excessAt(words[{direction, row, col}]);
      });
    EXPECT_EQ(excessOf(loads, capacity, all), ofNet);
    EXPECT_EQ(all, expected);
    EXPECT_GT(all, 0);
  }
}

TEST_F(Search, WhatWasChosenSolvesTheProblemsWrittenDown) {
  int shared = 0;
  for (int i = 0; i < 10; ++i) {
    SCOPED_TRACE("seed " + std::to_string(kSeed) + ", case " + std::to_string(i));
    NetworkPlan plan = someNetwork();
    auto report = sizeNetwork(target, plan);
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_TRUE(report->solution.verify(report->problem).ok()) << report->solution.verify(report->problem);
    auto network = routed(plan);
    ASSERT_TRUE(network.ok()) << network.status();
    std::vector<int32_t> kernels;
    const solver::placement::Problem strips = placementProblem(target, *network, kernels);
    solver::placement::Solution places;
    for (int32_t k : kernels)
      places.places.push_back({0, network->kernels[k].placement.col});
    EXPECT_TRUE(places.verify(strips).ok()) << places.verify(strips);
    SectionTable sections;
    auto configuration = generateConfiguration(target, *network, sections);
    ASSERT_TRUE(configuration.ok()) << configuration.status();
    for (const format::Role &role : configuration->roles) {
      solver::allocation::Solution chosen;
      const solver::allocation::Problem memory = allocationProblem(target, role, chosen);
      EXPECT_TRUE(chosen.verify(memory).ok()) << role.name << ": " << chosen.verify(memory);
      const auto stats = solver::allocation::evaluate(memory, chosen);
      EXPECT_LE(stats.lowerBound, stats.value);
      for (const solver::allocation::Buffer &buffer : memory.buffers)
        shared += buffer.lifeEnd != solver::allocation::kForever;
    }
  }
  EXPECT_GT(shared, 0) << "no buffer of one thread's own";
}

TEST_F(Search, APinnedColumnKeepsTheOrder) {
  NetworkPlan plan = someNetwork();
  ASSERT_TRUE(sizeNetwork(target, plan).ok());
  plan.kernels[1].placement.col = 30;
  NetworkPlan inOrder = plan;
  ASSERT_TRUE(placeInOrder(target, inOrder).ok());
  ASSERT_TRUE(placeNetwork(target, plan, {Effort::High}).ok());
  EXPECT_EQ(plan.kernels[0].placement.col, inOrder.kernels[0].placement.col);
  EXPECT_EQ(plan.kernels[1].placement.col, 30);
}

} // namespace
} // namespace wsc::kernels
