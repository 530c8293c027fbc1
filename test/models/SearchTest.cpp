// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What --effort, --seed and --threads do: more effort is never worse by the compiler's own prediction (interval, then
// weighted wire length) and sometimes better; the result depends on effort and seed alone, and is right.
#include "test/models/ModelCheck.h"
#include "test/models/RandomNet.h"
#include "test/models/TimedModel.h"

#include <iostream>

namespace wsc::test {
namespace {

using kernels::Effort;

/// A chain of depthwise and pointwise convolutions with a skip connection: many words pass columns that are narrow.
OnnxBuilder mobileNetwork() {
  NetBuilder net(41);
  NetValue x = net.input("x", {1, 3, 16, 16});
  x = net.unary("Relu", net.conv(x, 16, {.pads = {1, 1, 1, 1}}));
  NetValue y = net.unary("Relu", net.conv(x, 48, {.kernel = {1, 1}}));
  y = net.unary("Relu", net.conv(y, 48, {.pads = {1, 1, 1, 1}}, 48));
  x = net.binary("Add", x, net.conv(y, 16, {.kernel = {1, 1}}));
  net.output(net.gemm(net.flatten(net.globalAverage(x)), 10));
  return std::move(net.onnx);
}

/// Branches of different widths that come together: strips may stand in several orders.
OnnxBuilder branchedNetwork() {
  NetBuilder net(42);
  NetValue x = net.input("x", {1, 4, 16, 16});
  x = net.unary("Relu", net.conv(x, 8, {.pads = {1, 1, 1, 1}}));
  NetValue wide = net.unary("Relu", net.conv(x, 24, {.pads = {1, 1, 1, 1}}));
  NetValue narrow = net.conv(x, 4, {.kernel = {1, 1}});
  NetValue pooled = net.maxPool(x, {.pads = {1, 1, 1, 1}});
  net.output(net.conv(net.concat({narrow, wide, pooled}), 8, {.kernel = {1, 1}}));
  return std::move(net.onnx);
}

OnnxBuilder denseNetwork() {
  NetBuilder net(43);
  NetValue x = net.input("x", {1, 512});
  x = net.unary("Relu", net.gemm(x, 256));
  net.output(net.gemm(x, 10));
  return std::move(net.onnx);
}

struct Case {
  std::string name, target;
  OnnxBuilder model;
};
std::vector<Case> cases() {
  std::vector<Case> all;
  all.push_back({"mobile", "mesh-96x96", mobileNetwork()});
  all.push_back({"branched", "mesh-64x64", branchedNetwork()});
  all.push_back({"dense", "wse2", denseNetwork()});
  for (uint64_t seed = 8100; seed < 8103; ++seed)
    all.push_back({"random " + std::to_string(seed), "mesh-64x64", randomNetwork(seed)});
  return all;
}

absl::StatusOr<TimedModel> compileWith(const OnnxBuilder &model, const std::string &target,
                                       const kernels::SearchOptions &search) {
  driver::CompileOptions options;
  options.target = target;
  options.search = search;
  return compileAndTime(model, options);
}

TEST(Search, MoreEffortIsNeverWorse) {
  int quicker = 0, shorter = 0;
  for (const Case &net : cases()) {
    SCOPED_TRACE(net.name);
    std::pair<int64_t, int64_t> last; // interval, word-hops
    int64_t first = 0;                // emulated interval
    std::cout << net.name << ":";
    for (Effort effort : {Effort::Fast, Effort::Default, Effort::High}) {
      auto compiled = compileWith(net.model, net.target, {effort, 1, 2});
      ASSERT_TRUE(compiled.ok()) << compiled.status();
      const std::pair now{compiled->report.predictedIntervalCycles, compiled->report.wordHops};
      std::cout << " " << now.first << " cycles (emulated " << compiled->intervalCycles << ") " << now.second
                << " word-hops;";
      EXPECT_GT(now.second, 0);
      if (effort == Effort::Fast) {
        first = compiled->intervalCycles;
      } else {
        // What the search finds is emulated; strips may change their order after that.
        EXPECT_LE(double(compiled->intervalCycles), 1.05 * double(first));
        EXPECT_LE(now, last);
        quicker += now.first < last.first;
        shorter += now.first == last.first && now.second < last.second;
      }
      last = now;
    }
    std::cout << std::endl;
  }
  std::cout << quicker << " times quicker, " << shorter << " times shorter wires" << std::endl;
  EXPECT_GE(quicker, 2);
  EXPECT_GE(shorter, 3);
}

TEST(Search, SeedAndEffortDecideAndThreadsDoNot) {
  const OnnxBuilder model = branchedNetwork();
  auto one = compileWith(model, "mesh-64x64", {Effort::High, 5, 1});
  auto three = compileWith(model, "mesh-64x64", {Effort::High, 5, 3});
  auto other = compileWith(model, "mesh-64x64", {Effort::High, 6, 2});
  ASSERT_TRUE(one.ok() && three.ok() && other.ok());
  EXPECT_EQ(one->bytes, three->bytes);
  EXPECT_NE(one->bytes, other->bytes) << "the seed changes nothing";
}

TEST(Search, WhatIsFoundIsRight) {
  CheckOptions options;
  options.search.effort = Effort::High;
  options.targets = {"mesh-64x64"};
  checkModel(branchedNetwork(), 1, options);
  options.targets = {"mesh-96x96"};
  options.search.effort = Effort::Default;
  options.worklist = false;
  checkModel(mobileNetwork(), 2, options);
}

} // namespace
} // namespace wsc::test
