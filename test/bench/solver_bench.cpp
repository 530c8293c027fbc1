// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Times of the solvers at the sizes of a whole wafer (750x994): build/bin/solver_bench.
#include "compiler/solver/Allocation.h"
#include "compiler/solver/Colouring.h"
#include "compiler/solver/Placement.h"
#include "compiler/solver/Routing.h"
#include "compiler/solver/Sizing.h"

#include <benchmark/benchmark.h>

#include <random>

namespace {

using namespace wsc::solver;

constexpr int32_t kRows = 750, kCols = 994;

// A lane on every row out of strips of 24 columns, `branches` branches each.
colouring::Problem lanes(int32_t items, int32_t branches) {
  std::minstd_rand random(1);
  colouring::Problem problem{kRows, kCols, {}, {}};
  for (int32_t c = 0; c < 24; ++c)
    problem.colours.push_back(c);
  for (int32_t i = 0; i < items; ++i) {
    int32_t row = i % kRows, begin = i / kRows * 24;
    colouring::Item item{"lane", {{row, row + 1, begin, begin + 40}}, {}};
    for (int32_t t = 0; t < branches; ++t) {
      int32_t col = begin + int32_t(random() % 40);
      item.rectangles.push_back({std::max(0, row - 2), std::min(kRows, row + 3), col, col + 1});
    }
    problem.items.push_back(item);
  }
  return problem;
}

template <absl::StatusOr<colouring::Solution> (*Solve)(const colouring::Problem &)>
void colour(benchmark::State &state) {
  colouring::Problem problem = lanes(int32_t(state.range(0)), 5);
  absl::StatusOr<colouring::Solution> solution = absl::InternalError("");
  for (auto _ : state)
    benchmark::DoNotOptimize(solution = Solve(problem));
  if (!solution.ok())
    state.SkipWithError("no colouring");
  else
    state.counters["colours"] = double(colouring::evaluate(problem, *solution).value);
}
BENCHMARK_TEMPLATE(colour, colouring::solveFirstFit)->Arg(3000)->Arg(30000)->Unit(benchmark::kMillisecond);
BENCHMARK_TEMPLATE(colour, colouring::solveDsatur)->Arg(3000)->Arg(30000)->Unit(benchmark::kMillisecond);

void size(benchmark::State &state) {
  std::minstd_rand random(1);
  sizing::Problem problem{state.range(0) * 100, {}, {}};
  for (int64_t k = 0; k < state.range(0); ++k) {
    sizing::Kernel kernel{"k", {}};
    int64_t work = 1000 + int64_t(random() % 1000000);
    for (int64_t columns = 1; columns <= 200; ++columns)
      kernel.candidates.push_back({columns, work / columns, 1000, ""});
    problem.kernels.push_back(kernel);
  }
  for (auto _ : state)
    benchmark::DoNotOptimize(sizing::solve(problem));
}
BENCHMARK(size)->Arg(100)->Arg(1000)->Unit(benchmark::kMillisecond);

void place(benchmark::State &state) {
  std::minstd_rand random(1);
  placement::Problem problem{kRows, kCols, {}, {}};
  for (int32_t k = 0; k < state.range(0); ++k) {
    problem.kernels.push_back({"k", kRows, 1 + int32_t(random() % 4), {}});
    if (k > 0)
      problem.edges.push_back({k - 1, k, 1000 + int64_t(random() % 800000)});
    if (k > 3 && k % 3 == 0)
      problem.edges.push_back({k - 3, k, 1000 + int64_t(random() % 800000)});
  }
  absl::StatusOr<placement::Solution> solution = absl::InternalError("");
  for (auto _ : state)
    benchmark::DoNotOptimize(solution = placement::solveLocalSearch(problem));
  if (!solution.ok())
    state.SkipWithError("no placement");
  else
    state.counters["gapPercent"] = placement::evaluate(problem, *solution).gapPercent();
}
BENCHMARK(place)->Arg(60)->Arg(300)->Unit(benchmark::kMillisecond);

void route(benchmark::State &state) {
  std::minstd_rand random(1);
  routing::Problem problem{kRows, kCols, {}, {}};
  for (int64_t n = 0; n < state.range(0); ++n) {
    int32_t row = int32_t(random() % kRows), col = int32_t(random() % 900);
    problem.nets.push_back({"n", row, col, 100, {{col + 40, std::max(0, row - 10), row}, {col + 80, row, row}}});
  }
  for (auto _ : state) {
    absl::StatusOr<routing::Solution> solution = routing::solveCombs(problem);
    benchmark::DoNotOptimize(routing::evaluate(problem, *solution).value);
  }
}
BENCHMARK(route)->Arg(30000)->Unit(benchmark::kMillisecond);

void allocate(benchmark::State &state) {
  std::minstd_rand random(1);
  allocation::Problem problem{0, 1 << 22, 0, {}};
  for (int64_t b = 0; b < state.range(0); ++b) {
    int64_t begin = int64_t(random() % 1000);
    problem.buffers.push_back({"b", 1 + int64_t(random() % 2000), 16, {}, begin, begin + 1 + int64_t(random() % 30)});
  }
  absl::StatusOr<allocation::Solution> solution = absl::InternalError("");
  for (auto _ : state)
    benchmark::DoNotOptimize(solution = allocation::solve(problem));
  if (!solution.ok())
    state.SkipWithError("no allocation");
  else
    state.counters["gapPercent"] = allocation::evaluate(problem, *solution).gapPercent();
}
BENCHMARK(allocate)->Arg(50)->Arg(5000)->Unit(benchmark::kMillisecond);

} // namespace

BENCHMARK_MAIN();
