// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each generation is a fixed number of annealing runs. The first starts from snakes: the dataflow order folded into
// strips. Later ones start from the population, the best floorplans so far, few of them with the same time, so that
// neighbouring times stay in the race; and some from new snakes.
#include "compiler/solver/contest/Solve.h"

#include "compiler/solver/contest/Anneal.h"
#include "runtime/base/Random.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>
#include <tuple>

namespace wsc::solver::contest {

namespace {

constexpr int32_t kStepsPerGeneration = 8, kRescueGenerations = 3, kPopulation = 8, kMostOfOneTime = 3;

struct Job {
  Floorplan start;
  Schedule schedule;
};

class Portfolio {
public:
  Portfolio(const Instance &instance, const SolveOptions &options)
      : instance(instance), options(options), random(options.seed * 0x9E3779B97F4A7C15u + 1) {
    const Problem &problem = instance.problem;
    const double time = instance.timeCost(0);
    const double wires = instance.wireSpan();
    wireScale = std::max({0.04 * wires, std::min(0.127 * wires, 0.005 * time), 1e-4 * time + 1e-6});
    timeScale = std::max(wireScale, 0.005 * time);
    // Fixed targets worth trying: where areas leave some space, only if areas shrink since the one before; and the last
    // that the slack allows, which leaves most.
    const double grid = double(problem.width * problem.height);
    double last = 0.985 * grid, least = last;
    int32_t roomiest = -1;
    for (int32_t rung = 0; rung < instance.ladder.size(); ++rung) {
      const TargetLadder::Rung &at = instance.ladder.rung(rung);
      if (double(at.ticks) > 1.25 * double(instance.ladder.boundTicks()) || at.ticks > instance.capTicks)
        break;
      if (double(at.area) < least) {
        roomiest = rung;
        least = double(at.area);
      }
      if (double(at.area) < last && levels.size() + 1 < kStepsPerGeneration) {
        levels.push_back(rung);
        last = double(at.area) - 0.003 * grid;
      }
    }
    if (roomiest >= 0 && levels.back() != roomiest)
      levels.push_back(roomiest);
    if (levels.empty())
      levels.push_back(0);
  }

  // Completed steps.
  int32_t run() {
    const auto start = std::chrono::steady_clock::now();
    std::atomic<bool> stop{false}, finished{false};
    std::thread clock([&] {
      while (!finished.load() && !stop.load()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() >= options.seconds)
          stop.store(true);
      }
    });
    int32_t steps = 0;
    const int32_t most = options.steps + kRescueGenerations * kStepsPerGeneration;
    while (steps < (fits() ? options.steps : most) && !stop.load()) {
      const int32_t count =
          steps < options.steps ? std::min(kStepsPerGeneration, options.steps - steps) : kStepsPerGeneration;
      // Kernels large for their grid: fitting at all may take far more time than the bound.
      pressure *= steps == 0 || fits() ? 1 : 10;
      std::vector<Job> jobs;
      for (int32_t i = 0; i < kStepsPerGeneration; ++i)
        jobs.push_back(fits() ? laterJob(i) : freshJob(i));
      std::vector<Floorplan> results(static_cast<size_t>(count));
      std::vector<char> done(size_t(count), 0);
      std::atomic<int32_t> next{0};
      auto work = [&] {
        for (int32_t i = next++; i < count && !stop.load(); i = next++) {
          results[i] = anneal(instance, jobs[i].start, jobs[i].schedule, stop);
          done[i] = !stop.load();
        }
      };
      std::vector<std::thread> helpers;
      for (int32_t i = 1; i < std::min(options.threads, count); ++i)
        helpers.emplace_back(work);
      work();
      for (std::thread &helper : helpers)
        helper.join();
      int32_t completed = 0;
      while (completed < count && done[completed])
        ++completed;
      steps += completed;
      results.resize(size_t(steps > 0 ? completed : 1));
      select(results);
    }
    finished.store(true);
    clock.join();
    if (!fits())
      settleForSlower();
    return steps;
  }

  const std::vector<Floorplan> &best() const { return population; }

private:
  double unit() { return double(random.next() >> 11) * 0x1p-53; }

  // `from` to `to` of the order as a balanced tree of one cut.
  int32_t chain(const std::vector<int32_t> &nodes, size_t from, size_t to, Cut cut, Tree &tree) {
    if (to - from == 1)
      return nodes[from];
    const size_t middle = (from + to) / 2;
    const int32_t first = chain(nodes, from, middle, cut, tree), second = chain(nodes, middle, to, cut, tree),
                  node = int32_t(tree.size());
    tree.push_back({-1, first, second, cut});
    tree[first].parent = tree[second].parent = node;
    return node;
  }

  // The dataflow order folded into strips of about equal area.
  Tree snake(int32_t strips, Cut across) {
    const int32_t n = instance.numLeaves();
    const TargetLadder::Rung &rung = instance.ladder.rung(levels.front());
    Tree tree(static_cast<size_t>(n));
    std::vector<std::vector<int32_t>> members(static_cast<size_t>(strips));
    double before = 0;
    for (int32_t leaf = 0; leaf < n; ++leaf) {
      const double area = double(rung.curves[instance.types[leaf]].leastArea);
      const int32_t strip = int32_t((before + area / 2) / double(rung.area) * strips);
      members[std::min(strip, strips - 1)].push_back(leaf);
      before += area;
    }
    std::vector<int32_t> tops;
    for (int32_t strip = 0; strip < strips; ++strip) {
      std::vector<int32_t> &nodes = members[strip];
      if (strip % 2 == 1)
        std::reverse(nodes.begin(), nodes.end());
      if (!nodes.empty())
        tops.push_back(chain(nodes, 0, nodes.size(), across == Cut::Line ? Cut::Stack : Cut::Line, tree));
    }
    chain(tops, 0, tops.size(), across, tree);
    return tree;
  }

  Schedule schedule(bool freeTarget, double heat) {
    Schedule result;
    result.seed = random.next();
    // A tree of few kernels takes less time, and is small enough to try for the best.
    const int64_t n = instance.numLeaves();
    result.moves = options.movesPerKernel * std::max(n, std::min<int64_t>(2048 / n, n * n / 2));
    result.freeTarget = freeTarget;
    result.hot = heat * (freeTarget ? timeScale : wireScale);
    result.cold = 0.2 * wireScale;
    const double side = double(std::min(instance.problem.width, instance.problem.height));
    result.overflowPrice = std::max(freeTarget ? 1.5 * instance.timeCost(0) / side : 0, 0.5 * wireScale) * pressure;
    result.hardPrice = 2 * wireScale;
    result.pressure = pressure;
    return result;
  }

  Job freshJob(int32_t index) {
    const int32_t most = std::max(1, int32_t(std::lround(std::sqrt(double(instance.numLeaves())))));
    Job job;
    job.start.tree = snake(1 + int32_t(random.next() % uint64_t(most)), random.next() % 2 ? Cut::Line : Cut::Stack);
    // The first generation tries all targets, later ones those of the best.
    job.start.rung = fits() ? anyOfBest().rung : levels[size_t(index) % levels.size()];
    job.schedule = schedule(index % 2 == 0, 1);
    return job;
  }

  bool fits() const { return !population.empty() && population.front().fits; }

  // Better ones more often.
  const Floorplan &anyOfBest() {
    const double u = unit();
    return population[size_t(u * u * double(population.size()))];
  }

  Job laterJob(int32_t index) {
    if (index % 4 == 0)
      return freshJob(index / 4);
    Job job;
    job.start = anyOfBest();
    const double heat = std::pow(0.2, unit());
    const bool freeTarget = random.next() % 2 == 0;
    job.schedule = schedule(freeTarget, heat);
    if (!freeTarget) { // its target, or the next below or above at which anything changes
      const int32_t step = int32_t(random.next() % 3) - 1;
      const int64_t ticks = instance.ladder.rung(job.start.rung).ticks;
      while (step != 0 && job.start.rung + step >= 0 && job.start.rung + step < instance.ladder.size() &&
             instance.ladder.rung(job.start.rung).ticks == ticks)
        job.start.rung += step;
    }
    return job;
  }

  // Where time or steps end before anything fits: floorplans met, and snakes, at the first target at which they fit.
  // What fits at one target fits at all later ones.
  void settleForSlower() {
    std::vector<Floorplan> starts = population;
    const int32_t most = std::max(1, int32_t(std::lround(2 * std::sqrt(double(instance.numLeaves())))));
    for (int32_t strips = 1; strips <= most; ++strips)
      for (Cut cut : {Cut::Line, Cut::Stack})
        starts.push_back({snake(strips, cut), 0});
    std::vector<Floorplan> fitting;
    for (Floorplan &start : starts) {
      if (start.tree.empty())
        continue;
      SlicingTree tree(instance.problem.width, instance.problem.height, start.tree, instance.outlines(0));
      auto fitsAt = [&](int32_t rung) {
        tree.setOutlines(instance.outlines(rung));
        return tree.overflow() <= 0;
      };
      int32_t below = -1, at = instance.ladder.size() - 1; // the first that fits is in (below, at]
      if (!fitsAt(at))
        continue;
      while (at - below > 1) {
        const int32_t middle = below + (at - below) / 2;
        (fitsAt(middle) ? at : below) = middle;
      }
      start.rung = at;
      start.cost = instance.timeCost(at);
      start.fits = true;
      fitting.push_back(std::move(start));
    }
    select(fitting);
  }

  void select(const std::vector<Floorplan> &results) {
    std::vector<Floorplan> all = population;
    all.insert(all.end(), results.begin(), results.end());
    std::vector<size_t> order(all.size());
    for (size_t i = 0; i < order.size(); ++i)
      order[i] = i;
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
      return std::make_tuple(!all[a].fits, instance.isOverCap(all[a].rung), all[a].cost, a) <
             std::make_tuple(!all[b].fits, instance.isOverCap(all[b].rung), all[b].cost, b);
    });
    // Those that fit come first, of these those within the slack; others that cost less may be better starts.
    population.clear();
    for (size_t i : order) {
      if (fits() && !all[i].fits && all[i].cost >= population.front().cost)
        continue;
      int32_t sameTime = 0;
      bool known = false;
      for (const Floorplan &other : population) {
        sameTime += instance.ladder.rung(other.rung).ticks == instance.ladder.rung(all[i].rung).ticks;
        known = known || other.cost == all[i].cost;
      }
      if (!known && sameTime < kMostOfOneTime && int32_t(population.size()) < kPopulation)
        population.push_back(all[i]);
    }
  }

  const Instance &instance;
  const SolveOptions &options;
  Random random;
  double pressure = 1;                 // see Schedule
  double timeScale = 0, wireScale = 0; // temperatures
  std::vector<int32_t> levels;         // rungs
  std::vector<Floorplan> population;   // best first
};

// A compacted floorplan as places.
Solution toSolution(const Instance &instance, const Floorplan &floorplan) {
  SlicingTree tree(instance.problem.width, instance.problem.height, floorplan.tree, instance.outlines(floorplan.rung));
  std::vector<Rectangle> rectangles;
  tree.realise(rectangles);
  compact(rectangles, instance.wires, instance.problem.width, instance.problem.height);
  Solution solution;
  solution.places.resize(instance.problem.kernels.size());
  const int64_t ticks = instance.ladder.rung(floorplan.rung).ticks;
  for (int32_t leaf = 0; leaf < instance.numLeaves(); ++leaf) {
    const Rectangle &r = rectangles[leaf];
    std::optional<Execution> upright = instance.table.execution(instance.types[leaf], r.height, r.width, ticks),
                             turned = instance.table.execution(instance.types[leaf], r.width, r.height, ticks);
    if (upright)
      solution.places[instance.kernels[leaf]] = Place{*upright, r.x, r.y, false};
    else if (turned)
      solution.places[instance.kernels[leaf]] = Place{*turned, r.x, r.y, true};
  }
  return solution;
}

} // namespace

absl::StatusOr<Solved> solve(const Problem &problem, const SolveOptions &options) {
  absl::StatusOr<ShapeTable> table = ShapeTable::create(problem);
  if (!table.ok())
    return table.status();
  const Instance instance(problem, *table, options.timeSlack);
  Portfolio portfolio(instance, options);
  Solved solved;
  solved.steps = portfolio.run();
  double best = 0;
  for (const Floorplan &floorplan : portfolio.best()) {
    if (!floorplan.fits || instance.isOverCap(floorplan.rung) != instance.isOverCap(portfolio.best().front().rung))
      continue;
    Solution solution = toSolution(instance, floorplan);
    const Score score = evaluate(problem, solution);
    const double cost = instance.timeCost(floorplan.rung) + double(problem.wireWeight) * double(score.doubleWire) / 2;
    if (solved.solution.places.empty() || cost < best) {
      best = cost;
      solved.solution = std::move(solution);
    }
  }
  if (solved.solution.places.empty())
    return absl::ResourceExhaustedError(absl::StrCat(
        "no placement of ", instance.numLeaves(), " kernels on the grid of ", problem.width, "x", problem.height,
        " found in ", solved.steps, " steps; allow more steps or time, or enlarge the grid"));
  return solved;
}

absl::StatusOr<Fraction> timeBound(const Problem &problem) {
  absl::StatusOr<ShapeTable> table = ShapeTable::create(problem);
  if (!table.ok())
    return table.status();
  return Fraction{table->leastTicks(), table->ticksPerUnit()};
}

} // namespace wsc::solver::contest
