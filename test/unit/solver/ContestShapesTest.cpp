// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes and the bound on the time term of contest problems, against exhaustive search; kernels that fit nowhere.
#include "compiler/solver/contest/Shapes.h"
#include "compiler/solver/contest/Solve.h"
#include "test/unit/solver/RandomContest.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

using namespace wsc::solver::contest;
using wsc::solver::test::message;
using wsc::solver::test::Random;

namespace {

Problem parse(const std::string &text) {
  absl::StatusOr<Problem> problem = parseKgraph(text);
  EXPECT_TRUE(problem.ok()) << message(problem.status());
  return problem.ok() ? *problem : Problem();
}

// Every shape of a convolution that fits the grid and the memory: (height, width) with the least time.
std::map<std::pair<int64_t, int64_t>, double> allShapes(const Problem &problem, const Kernel &kernel) {
  std::map<std::pair<int64_t, int64_t>, double> shapes;
  const int64_t side = problem.width; // square
  for (int64_t h = 1; 2 * h <= side; ++h)
    for (int64_t w = 1; 2 * h * w <= side; ++w)
      for (int64_t c = 1; h * w * (c + 1) <= side; ++c)
        for (int64_t k = 1; 3 * k <= side; ++k) {
          const Shape shape = shapeOf(kernel, {h, w, {c}, {k}});
          if (Fraction{problem.memoryLimit, 1} < shape.memory)
            continue;
          auto [at, isNew] = shapes.try_emplace({shape.height, shape.width}, shape.time.value());
          at->second = std::min(at->second, shape.time.value());
        }
  return shapes;
}

using Sides = std::vector<std::pair<int64_t, int64_t>>; // width, height

// Rectangles at positions that are sums of other rectangles' sides, as in any packing pushed to the lower left.
bool packs(const Sides &sides, int64_t grid, std::vector<std::array<int64_t, 2>> &at) {
  const size_t i = at.size();
  if (i == sides.size())
    return true;
  std::set<int64_t> xs{0}, ys{0};
  for (size_t j = 0; j < sides.size(); ++j)
    if (j != i) {
      for (int64_t x : std::set<int64_t>(xs))
        xs.insert(x + sides[j].first);
      for (int64_t y : std::set<int64_t>(ys))
        ys.insert(y + sides[j].second);
    }
  for (int64_t x : xs)
    for (int64_t y : ys) {
      bool free = x + sides[i].first <= grid && y + sides[i].second <= grid;
      for (size_t j = 0; j < i && free; ++j)
        free = x >= at[j][0] + sides[j].first || at[j][0] >= x + sides[i].first || y >= at[j][1] + sides[j].second ||
               at[j][1] >= y + sides[i].second;
      if (!free)
        continue;
      at.push_back({x, y});
      if (packs(sides, grid, at))
        return true;
      at.pop_back();
    }
  return false;
}

bool packsWithin(const Problem &problem, double time, size_t kernel, Sides &sides) {
  std::vector<std::array<int64_t, 2>> at;
  if (kernel == problem.kernels.size())
    return packs(sides, problem.width, at);
  int64_t narrowest = 1 << 20;
  for (const auto &[outline, least] : allShapes(problem, problem.kernels[kernel])) {
    if (least > time || outline.second >= narrowest) // dominated: taller, and no narrower
      continue;
    narrowest = outline.second;
    for (bool turned : {false, true}) {
      sides.push_back(turned ? std::pair(outline.first, outline.second) : std::pair(outline.second, outline.first));
      if (packsWithin(problem, time, kernel + 1, sides))
        return true;
      sides.pop_back();
    }
  }
  return false;
}

TEST(ContestShapes, EveryOutlineAtEveryTimeAsByExhaustiveSearch) {
  Random random(1);
  for (int round = 0; round < 60; ++round) {
    const Problem problem = parse(wsc::solver::test::tinyNetwork(random));
    absl::StatusOr<ShapeTable> table = ShapeTable::create(problem);
    if (!table.ok())
      continue;
    for (size_t kernel = 0; kernel < problem.kernels.size(); ++kernel) {
      const auto shapes = allShapes(problem, problem.kernels[kernel]);
      std::set<double> times;
      for (const auto &[outline, time] : shapes)
        times.insert(time);
      for (double time : times) {
        const int64_t ticks = int64_t(time * double(table->ticksPerUnit()));
        const ShapeCurve curve = table->curve(table->typeOf(int32_t(kernel)), ticks);
        int64_t leastArea = -1;
        for (int64_t x = 0; x <= problem.width; ++x) {
          int64_t least = kNoExtent;
          for (const auto &[outline, fastest] : shapes)
            if (fastest <= time) {
              if (outline.second <= x)
                least = std::min(least, outline.first);
              if (outline.first <= x)
                least = std::min(least, outline.second);
              if (leastArea < 0 || outline.first * outline.second < leastArea)
                leastArea = outline.first * outline.second;
            }
          EXPECT_EQ(curve.outline[x], least) << "round " << round << " kernel " << kernel << " time " << time;
        }
        EXPECT_EQ(curve.leastArea, leastArea);
        EXPECT_LE(curve.slowest, ticks);
      }
    }
  }
}

TEST(ContestShapes, ExecutionsOfBlocksKeepTheirPromise) {
  const Problem problem = parse("(* width=200 height=200 wdeltat=1 wlength=1 wadapter=0 memlimit=9000 *)\n"
                                "cblock[1] f=128 h=14 w=14 name='k1'\ndblock[2] f=128 h=7 w=7 name='k2'");
  absl::StatusOr<ShapeTable> table = ShapeTable::create(problem);
  ASSERT_TRUE(table.ok()) << message(table.status());
  int shapes = 0;
  for (int64_t time : {200, 500, 2000, 9000})
    for (int32_t kernel : {0, 1}) {
      const int64_t ticks = time * table->ticksPerUnit();
      const ShapeCurve curve = table->curve(table->typeOf(kernel), ticks);
      for (int64_t x = 1; x <= 200; ++x) {
        const int64_t y = curve.outline[x];
        if (y == kNoExtent || y == curve.outline[x - 1])
          continue;
        std::optional<Execution> execution = table->execution(table->typeOf(kernel), y, x, ticks);
        if (!execution)
          execution = table->execution(table->typeOf(kernel), x, y, ticks);
        ASSERT_TRUE(execution) << x << "x" << y;
        const Shape shape = shapeOf(problem.kernels[kernel], *execution);
        EXPECT_EQ(std::minmax(shape.height, shape.width), std::minmax(x, y));
        EXPECT_LE(shape.time.value(), double(time));
        EXPECT_LE(shape.memory.value(), 9000);
        ++shapes;
      }
    }
  EXPECT_GT(shapes, 50);
}

TEST(ContestShapes, BoundNeverAboveTheExhaustiveOptimum) {
  Random random(2);
  int compared = 0, tight = 0, reached = 0;
  for (int round = 0; compared < 220 && round < 2000; ++round) {
    const std::string text = wsc::solver::test::tinyNetwork(random);
    const Problem problem = parse(text);
    std::set<double> times;
    for (const Kernel &kernel : problem.kernels)
      for (const auto &[outline, time] : allShapes(problem, kernel))
        times.insert(time);
    double optimum = -1;
    for (double time : times) { // ascending
      Sides sides;
      if (packsWithin(problem, time, 0, sides)) {
        optimum = time;
        break;
      }
    }
    if (optimum < 0)
      continue;
    ++compared;
    absl::StatusOr<Fraction> bound = timeBound(problem);
    ASSERT_TRUE(bound.ok()) << message(bound.status());
    EXPECT_LE(bound->value(), optimum) << text;
    tight += bound->value() == optimum;
    SolveOptions options;
    options.steps = 8;
    options.movesPerKernel = 1000;
    options.threads = 1;
    absl::StatusOr<Solved> solved = solve(problem, options);
    ASSERT_TRUE(solved.ok()) << text << message(solved.status());
    const double time = evaluate(problem, solved->solution).time.value();
    EXPECT_GE(time, optimum) << text;
    reached += time == optimum;
  }
  std::printf("%d compared, bound tight in %d, solver optimal in %d\n", compared, tight, reached);
  EXPECT_GE(compared, 200);
  EXPECT_GE(tight, compared / 4);
  EXPECT_GE(reached, compared * 19 / 20);
}

TEST(ContestShapes, KernelsThatFitNowhereAreNamed) {
  auto refuse = [](const std::string &header, const std::string &nodes) {
    absl::StatusOr<Problem> problem = parseKgraph("(* wdeltat=1 wlength=1 wadapter=0 " + header + " *)\n" + nodes);
    return problem.ok() ? message(solve(*problem, {}).status()) : message(problem.status());
  };
  const std::string conv = "conv[1] H=8 W=8 R=3 S=3 C=512 K=512 T=1 U=1 name='big'\n";
  EXPECT_EQ(refuse("width=2 height=2 memlimit=9000", conv),
            "kernel big needs 2 x 3 tiles at least, the grid has 2x2; enlarge the grid");
  const std::string memory = refuse("width=40 height=40 memlimit=90", conv);
  EXPECT_EQ(memory.substr(0, 32), "kernel big needs memory of about");
  EXPECT_NE(memory.find("the limit is 90"), std::string::npos) << memory;
  EXPECT_EQ(refuse("width=5000 height=40 memlimit=90", conv), "grid of 5000x40: the solver takes sides of 1 to 4096");
  EXPECT_EQ(refuse("width=40 height=40 memlimit=90", "input[0] name='k0'"), "the problem has no kernel to place");
}

TEST(ContestShapes, BoundsOfTheContestAsComputedElsewhere) {
  const char *folder = std::getenv("WSC_ISPD2020");
  if (!folder) // the graphs carry no licence, so they are not kept here
    GTEST_SKIP() << "WSC_ISPD2020 does not name the contest's folder";
  std::ifstream table(std::string(folder) + "/area_bounds.csv");
  int graphs = 0;
  for (std::string line; std::getline(table, line);) {
    if (line.empty() || line[0] == '#' || line.substr(0, 5) == "graph")
      continue;
    const double bound = std::atof(line.substr(line.find(',') + 1).c_str());
    for (size_t i = 0; i < line.find(','); i += 2) { // "A=E"
      std::ifstream file(std::string(folder) + "/benchmarks/" + line[i] + ".kgraph");
      std::ostringstream text;
      text << file.rdbuf();
      EXPECT_EQ(timeBound(parse(text.str()))->value(), bound) << line[i];
      ++graphs;
    }
  }
  EXPECT_EQ(graphs, 12);
}

} // namespace
