// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Metropolis steps on trees; every few thousand of them a line search moves the target time to where the tree at hand
// costs least, what it overflows by included.
#include "compiler/solver/contest/Anneal.h"

#include "runtime/base/Random.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace wsc::solver::contest {

namespace {

constexpr int64_t kMovesPerTarget = 2000;
constexpr int32_t kLongestStep = 32; // of the line search, rungs
// The price of a row that does not fit goes up or down by this factor per target, down to the schedule's and up to
// kMostPrice times that, so that of the last trees kFitting of them fit, early in a run hardly any
// (progress^kFitPower).
constexpr double kPriceStep = 1.1, kMostPrice = 64, kFitting = 0.5, kFitPower = 4;
// A row that does not fit costs as much as this multiple of what its share of the area adds to the time. Areas shrink
// about as times grow, so 1 would be fair; a floorplan that cannot be had is worth less.
constexpr double kOverflowWeight = 6;
// More than any cost.
constexpr double kImpossible = 1e30;

struct Evaluation {
  double cost = 0;
  bool fits = false;
};

class Search {
public:
  Search(const Instance &instance, const Floorplan &start, const Schedule &schedule)
      : instance(instance), schedule(schedule), random(schedule.seed), rung(start.rung),
        tree(instance.problem.width, instance.problem.height, start.tree, instance.outlines(start.rung)),
        side(double(std::min(instance.problem.width, instance.problem.height))) {}

  Floorplan run(const std::atomic<bool> &stop) {
    best.cost = std::numeric_limits<double>::infinity();
    for (int64_t move = 0; move < schedule.moves; ++move) {
      if (move % kMovesPerTarget == 0) {
        if (stop.load(std::memory_order_relaxed))
          break;
        const double progress = double(move) / double(schedule.moves);
        chooseTarget();
        temperature = schedule.hot * std::pow(schedule.cold / schedule.hot, progress);
        if (double(fitted) < kFitting * std::pow(progress, kFitPower) * double(kMovesPerTarget))
          priceFactor = std::min(priceFactor * kPriceStep, kMostPrice);
        else
          priceFactor = std::max(priceFactor / kPriceStep, 1.0);
        fitted = 0;
        overflowPrice = schedule.overflowPrice * priceFactor;
        now = evaluate();
      }
      fitted += now.fits;
      if (!propose())
        continue;
      const double most = now.cost - temperature * std::log(random.unit());
      const Evaluation next = evaluate(most);
      if (next.cost <= most) {
        tree.keep();
        now = next;
        if (now.fits)
          note();
      } else {
        tree.undo();
      }
    }
    chooseTarget();
    return best;
  }

private:
  // Exact if the cost is at most `most`.
  Evaluation evaluate(double most = std::numeric_limits<double>::max()) {
    const int32_t overflow = tree.overflow();
    const double withoutWires = timeCost + std::max(0, overflow) * overflowPrice;
    if (overflow >= 2 * kNoExtent) // the later the target, the sooner it fits
      return {kImpossible * (1 - 1e-6 * rung), false};
    if (withoutWires > most)
      return {std::numeric_limits<double>::max(), false};
    tree.realise(rectangles);
    return {withoutWires + instance.wireCost(rectangles), overflow <= 0};
  }

  void note() {
    if (now.fits != best.fits ? now.fits : now.cost < best.cost)
      best = {tree.nodes(), rung, now.cost, now.fits};
  }

  // A line search over the ladder, overflow at its full price; where nothing fits at all, for any schedule.
  void chooseTarget() {
    const int32_t last = instance.ladder.size() - 1;
    auto price = [&] {
      timeCost = instance.timeCost(rung);
      overflowPrice = schedule.pressure * std::max(schedule.hardPrice, kOverflowWeight * timeCost / side);
    };
    price();
    now = evaluate();
    note();
    auto attempt = [&](int32_t candidate) {
      // The first rung at which everything is as there, so that the one before it differs.
      candidate = instance.ladder.atLeast(instance.ladder.rung(std::clamp(candidate, 0, last)).ticks);
      if (candidate == rung)
        return;
      const int32_t before = rung;
      rung = candidate;
      tree.setOutlines(instance.outlines(rung));
      price();
      const Evaluation next = evaluate();
      if (next.cost < now.cost) {
        now = next;
        note();
      } else {
        rung = before;
      }
    };
    const bool mayMove = schedule.freeTarget || tree.overflow() >= 2 * kNoExtent;
    const int32_t longest = schedule.pressure > 1 ? std::max(kLongestStep, last / 2) : kLongestStep;
    for (int32_t step = mayMove ? longest : 0; step > 0; step /= 2) {
      attempt(rung - step);
      attempt(rung + step);
    }
    if (mayMove) {
      tree.setOutlines(instance.outlines(rung));
      timeCost = instance.timeCost(rung);
    }
  }

  int32_t below(int32_t limit) { return int32_t(random.below(uint64_t(limit))); }
  int32_t anyNode() { return below(int32_t(tree.nodes().size())); }
  Cut anyCut() { return below(2) ? Cut::Stack : Cut::Line; }
  int32_t climb(int32_t node, int32_t levels) {
    while (levels-- > 0 && tree.nodes()[node].parent >= 0)
      node = tree.nodes()[node].parent;
    return node;
  }
  // Itself most often, else some levels up.
  int32_t climbABit(int32_t node) {
    const int32_t dice = below(8);
    return climb(node, dice < 4 ? 0 : dice < 6 ? 1 : dice < 7 ? 2 : 3);
  }

  bool propose() {
    const int32_t n = tree.numLeaves(), dice = below(100);
    if (n < 2)
      return false;
    if (dice < 15)
      return tree.swapSubtrees(below(n), below(n));
    if (dice < 25)
      return tree.swapSubtrees(climbABit(below(n)), climbABit(below(n)));
    if (dice < 50) { // beside a neighbour in the graph, or beside what holds it
      const int32_t leaf = below(n);
      const std::vector<int32_t> &near = instance.neighbours[leaf];
      if (near.empty())
        return false;
      return tree.graft(climbABit(leaf), climbABit(near[below(int32_t(near.size()))]), anyCut(), below(2));
    }
    if (dice < 57) { // beside another of its kind, which leaves no gap
      const int32_t leaf = below(n);
      const std::vector<int32_t> &alike = instance.alike[instance.types[leaf]];
      const int32_t other = alike[below(int32_t(alike.size()))];
      return other != leaf && tree.graft(leaf, other, anyCut(), below(2));
    }
    if (dice < 65)
      return tree.graft(climbABit(below(n)), anyNode(), anyCut(), below(2));
    if (dice < 75)
      return tree.toggle(n + below(n - 1));
    if (dice < 88)
      return tree.swapChildren(n + below(n - 1));
    return tree.mirror(n + below(n - 1), anyCut());
  }

  const Instance &instance;
  const Schedule schedule;
  Random random;
  int32_t rung;
  SlicingTree tree;
  std::vector<Rectangle> rectangles;
  Evaluation now;
  Floorplan best;
  const double side;
  double timeCost = 0, temperature = 0, overflowPrice = 0, priceFactor = 1;
  int64_t fitted = 0; // moves from a tree that fits, at this target
};

} // namespace

Floorplan anneal(const Instance &instance, const Floorplan &start, const Schedule &schedule,
                 const std::atomic<bool> &stop) {
  return Search(instance, start, schedule).run(stop);
}

} // namespace wsc::solver::contest
