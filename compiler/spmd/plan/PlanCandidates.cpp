// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which rectangles are planned: squares of growing size, then the shapes around the best one, and around a smaller one
// that is nearly as quick; of the promising ones, then, three quarters of their rows or columns, and what the costly
// layers use of them.
#include "compiler/solver/Threads.h"
#include "compiler/spmd/plan/Plan.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <map>
#include <set>
#include <thread>
#include <utility>

namespace wsc::spmd {

namespace {

constexpr int kMostRetries = 12; // of a rectangle's plan, where none has one without
constexpr double kNearlyAsQuick = 1.02;
constexpr double kPromising = 1.15;     // times the best estimate
constexpr int64_t kLeastBetween = 8192; // cores of a rectangle from which shapes between its half and it are looked at
constexpr double kRareShare = 0.1;      // of a plan's cycles: layers that may have to do with less
constexpr size_t kMostPlannedMoves = 30000; // by joint choices, before no more shapes are looked at
constexpr size_t kAtOnce = 6;               // shapes
constexpr int kMostWorse = 2;               // squares in a row that do not get better before larger ones are left out

using Size = std::pair<int32_t, int32_t>; // rows, columns

/// Plans of rectangles, made side by side before they are asked for.
class PlansAhead {
public:
  PlansAhead(const Network &network, const Views &views, const target::Target &target, const std::vector<Loop> &loops,
             PlanPolicy policy, EstimateCaches &caches, const PlanHost &host)
      : network(network), views(views), target(target), loops(loops), policy(policy), caches(caches), host(host) {}

  /// Makes those that are not there yet, if there is more than one thread.
  void prepare(const std::vector<Size> &sizes) {
    if (!host.goesOn().ok() || host.threads == 1 || std::thread::hardware_concurrency() == 1)
      return;
    std::vector<std::pair<Size, EstimateCache *>> missing;
    for (const Size &size : sizes)
      if (!made.contains(size)) {
        made.emplace(size, absl::UnknownError("not planned yet"));
        missing.emplace_back(size, &caches[size]);
      }
    solver::overThreads(host.threads, missing.size(),
                        [&](size_t i) { made.at(missing[i].first) = plan(missing[i].first, *missing[i].second); });
  }

  absl::StatusOr<NetworkPlan> take(const Size &size) {
    if (absl::Status status = host.goesOn(); !status.ok())
      return status;
    const auto found = made.find(size);
    return found == made.end() ? plan(size, caches[size]) : std::move(found->second);
  }

private:
  absl::StatusOr<NetworkPlan> plan(const Size &size, EstimateCache &cache) const {
    Views own = views; // they remember what they are asked
    return planNetwork(network, own, target, {0, 0, size.first, size.second}, loops, policy, &cache);
  }

  const Network &network;
  const Views &views;
  const target::Target &target;
  const std::vector<Loop> &loops;
  const PlanPolicy policy;
  EstimateCaches &caches;
  const PlanHost &host;
  std::map<Size, absl::StatusOr<NetworkPlan>> made;
};

/// Rows and columns that suffice to all layers but those that take a small part of the plan's cycles: networks' own
/// extents, which squares and their halves do not meet.
Size sizeUsed(const Network &network, const NetworkPlan &plan) {
  std::vector<std::pair<Rectangle, int64_t>> layers; // cycles of all repetitions
  int64_t all = 0;
  for (size_t n = 0; n < network.nodes.size(); ++n)
    if (std::holds_alternative<Nest>(network.nodes[n])) {
      int64_t cycles = plan.nodeCycles[n];
      for (const Loop &loop : plan.loops)
        if (loop.holds(n))
          cycles *= loop.count;
      layers.emplace_back(plan.distributions[n].rectangle, cycles);
      all += cycles;
    }
  auto used = [&](auto extentOf) {
    std::stable_sort(layers.begin(), layers.end(),
                     [&](const auto &a, const auto &b) { return extentOf(a.first) > extentOf(b.first); });
    int64_t rare = 0;
    for (const auto &[rectangle, cycles] : layers)
      if (rare += cycles; double(rare) > kRareShare * double(all))
        return extentOf(rectangle);
    return 1;
  };
  return {used([](const Rectangle &each) { return each.row + each.rows; }),
          used([](const Rectangle &each) { return each.col + each.cols; })};
}

absl::StatusOr<std::vector<NetworkPlan>> plansOf(const Network &network, const Views &views,
                                                 const target::Target &target, const std::vector<Loop> &loops,
                                                 PlanPolicy policy, EstimateCaches &caches, const PlanHost &host) {
  std::vector<NetworkPlan> plans;
  PlansAhead ahead(network, views, target, loops, policy, caches, host);
  std::set<Size> tried;
  const int32_t ports = int32_t(std::max(network.inputs.size(), network.outputs.size()));
  absl::Status last = absl::ResourceExhaustedError(
      absl::StrCat("entry ", network.name, " has ", network.inputs.size(), " inputs and ", network.outputs.size(),
                   " outputs, each needs the ports of a row; the mesh has ", target.rows, " rows"));
  int64_t best = INT64_MAX;
  size_t plannedMoves = 0;
  // As much of a rectangle as the mesh has; nothing where that is not enough or was looked at before.
  auto sizeOf = [&](int64_t rows, int64_t cols) -> std::optional<Size> {
    const Size size(int32_t(std::min<int64_t>(rows, target.rows)), int32_t(std::min<int64_t>(cols, target.cols)));
    return size.first < std::max(1, ports) || size.second < 1 || tried.contains(size) ? std::nullopt
                                                                                      : std::optional(size);
  };
  auto prepare = [&](const std::vector<std::pair<int64_t, int64_t>> &rectangles) {
    std::vector<Size> sizes;
    for (const auto &[rows, cols] : rectangles)
      if (const auto size = sizeOf(rows, cols))
        sizes.push_back(*size);
    ahead.prepare(sizes);
  };
  // The estimate of a rectangle; nothing where it holds no plan.
  auto look = [&](int64_t rows, int64_t cols) -> std::optional<int64_t> {
    const auto size = sizeOf(rows, cols);
    if (!size)
      return std::nullopt;
    tried.insert(*size);
    auto plan = ahead.take(*size);
    if (!plan.ok()) {
      last = plan.status();
      return std::nullopt;
    }
    best = std::min(best, plan->estimatedCycles);
    plannedMoves += plan->plannedMoves;
    plans.push_back(*std::move(plan));
    return plans.back().estimatedCycles;
  };
  // Squares from the smallest on, as long as they get better or nearly so; then the shapes around the best.
  // Two at once where the second is likely to be looked at too: 2 and 4, 8 and 16, ….
  int worse = 0;
  for (int64_t side = 1, number = 0; side <= 1024 && worse < kMostWorse; side *= 2, ++number) {
    if (number % 2 == 1 && worse == 0)
      prepare({{side, side}, {2 * side, 2 * side}});
    if (const auto estimate = look(side, side))
      worse = *estimate > best ? worse + 1 : 0;
  }
  // A few at once, so that what is looked at does not depend on the threads.
  auto lookAt = [&](const std::vector<std::pair<int64_t, int64_t>> &shapes) {
    for (size_t i = 0; i < shapes.size() && plannedMoves < kMostPlannedMoves; i += kAtOnce) {
      const std::vector<std::pair<int64_t, int64_t>> some(
          shapes.begin() + ptrdiff_t(i), shapes.begin() + ptrdiff_t(std::min(i + kAtOnce, shapes.size())));
      prepare(some);
      for (const auto &[rows, cols] : some)
        look(rows, cols);
    }
  };
  auto lookAround = [&](const Rectangle &at) {
    std::vector<std::pair<int64_t, int64_t>> around;
    for (const auto &[up, down] : {std::pair(2, 1), std::pair(2, 2), std::pair(1, 2)}) {
      around.emplace_back(int64_t(at.rows) * up, std::max(1, at.cols / down));
      around.emplace_back(std::max(1, at.rows / down), int64_t(at.cols) * up);
    }
    lookAt(around);
  };
  auto quickest = [&] {
    return std::min_element(
               plans.begin(), plans.end(),
               [](const NetworkPlan &a, const NetworkPlan &b) { return a.estimatedCycles < b.estimatedCycles; })
        ->rectangle;
  };
  // Estimates of a plan that is made greedily jump from shape to shape: of nearly as quick squares the smallest is a
  // second place to begin at.
  if (!plans.empty()) {
    const Rectangle first = quickest();
    const auto smallest = std::find_if(plans.begin(), plans.end(), [&](const NetworkPlan &plan) {
      return double(plan.estimatedCycles) <= kNearlyAsQuick * double(best);
    });
    if (const Rectangle second = smallest->rectangle; second != first)
      lookAround(second);
  }
  for (bool better = !plans.empty(); better;) {
    const int64_t before = best;
    lookAround(quickest());
    better = best < before;
  }
  if (plans.empty())
    return last;
  // Of those that promise most: three quarters of their rows or columns, and what their layers use of them.
  auto ofPromising = [&](auto shapesOf) {
    std::vector<std::pair<int64_t, int64_t>> shapes;
    for (const NetworkPlan &plan : plans)
      if (double(plan.estimatedCycles) <= kPromising * double(best))
        shapesOf(plan, shapes);
    return shapes;
  };
  lookAt(ofPromising([&](const NetworkPlan &plan, auto &shapes) {
    const Rectangle &at = plan.rectangle;
    if (int64_t(at.rows) * at.cols < kLeastBetween)
      return;
    shapes.emplace_back(at.rows, std::max(1, at.cols * 3 / 4));
    shapes.emplace_back(std::max(1, at.rows * 3 / 4), at.cols);
  }));
  lookAt(ofPromising([&](const NetworkPlan &plan, auto &shapes) { shapes.push_back(sizeUsed(network, plan)); }));
  std::stable_sort(plans.begin(), plans.end(),
                   [](const NetworkPlan &a, const NetworkPlan &b) { return a.estimatedCycles < b.estimatedCycles; });
  return plans;
}

} // namespace

absl::StatusOr<std::vector<NetworkPlan>> planCandidates(const Network &network, const Views &views,
                                                        const target::Target &target, const std::vector<Loop> &loops,
                                                        PlanPolicy policy, EstimateCaches &caches,
                                                        const PlanHost &host) {
  auto plans = plansOf(network, views, target, loops, policy, caches, host);
  if (plans.ok() || !absl::IsResourceExhausted(plans.status()))
    return plans;
  policy.mostRetries = kMostRetries;
  for (int64_t margin : {policy.marginBytes, policy.marginBytes - spareCodeBytes(target)}) {
    policy.marginBytes = margin;
    if (auto again = plansOf(network, views, target, loops, policy, caches, host); again.ok())
      return again;
  }
  return plans;
}

} // namespace wsc::spmd
