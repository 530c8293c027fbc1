// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Leaves are numbered depth first along the dataflow: after a kernel comes a successor all of whose inputs are there,
// so that chains stay together.
#include "compiler/solver/contest/Instance.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

namespace wsc::solver::contest {

TargetLadder::TargetLadder(const ShapeTable &table) : table(table) {
  const int64_t bound = table.leastTicks();
  double target = double(bound);
  targets.push_back(bound);
  while (targets.back() < table.mostTicks()) {
    target *= target < 1.25 * double(bound) ? 1.0005 : target < 4 * double(bound) ? 1.005 : 1.05;
    const int64_t next = target >= double(table.mostTicks()) ? table.mostTicks() : int64_t(std::ceil(target));
    targets.push_back(std::max(targets.back() + 1, next));
  }
  rungs.resize(targets.size());
}

int32_t TargetLadder::atLeast(int64_t ticks) const {
  return std::min(size() - 1, int32_t(std::lower_bound(targets.begin(), targets.end(), ticks) - targets.begin()));
}

const TargetLadder::Rung &TargetLadder::rung(int32_t index) const {
  std::lock_guard lock(mutex);
  if (!rungs[index]) {
    auto rung = std::make_unique<Rung>();
    for (int32_t type = 0; type < table.numTypes(); ++type) {
      rung->curves.push_back(table.curve(type, targets[index]));
      rung->ticks = std::max(rung->ticks, rung->curves.back().slowest);
      rung->area += table.kernelsOf(type) * rung->curves.back().leastArea;
    }
    rungs[index] = std::move(rung);
  }
  return *rungs[index];
}

namespace {

// Kernels depth first along the connections; those on cycles last.
std::vector<int32_t> dataflowOrder(const Problem &problem) {
  const size_t n = problem.kernels.size();
  std::vector<int32_t> inputs(n), order, ready;
  std::vector<std::vector<int32_t>> successors(n);
  for (const Connection &connection : problem.connections) {
    ++inputs[connection.to];
    successors[connection.from].push_back(connection.to);
  }
  for (size_t i = n; i-- > 0;)
    if (inputs[i] == 0)
      ready.push_back(int32_t(i));
  while (!ready.empty()) {
    const int32_t kernel = ready.back();
    ready.pop_back();
    order.push_back(kernel);
    for (int32_t successor : successors[kernel])
      if (--inputs[successor] == 0)
        ready.push_back(successor);
  }
  for (size_t i = 0; i < n; ++i)
    if (inputs[i] > 0)
      order.push_back(int32_t(i));
  return order;
}

} // namespace

Instance::Instance(const Problem &problem, const ShapeTable &table, double timeSlack)
    : problem(problem), table(table), ladder(table) {
  std::vector<int32_t> leafOf(problem.kernels.size(), -1);
  for (int32_t kernel : dataflowOrder(problem))
    if (table.typeOf(kernel) >= 0) {
      leafOf[kernel] = numLeaves();
      kernels.push_back(kernel);
      types.push_back(table.typeOf(kernel));
    }
  neighbours.resize(kernels.size());
  alike.resize(size_t(table.numTypes()));
  for (int32_t leaf = 0; leaf < numLeaves(); ++leaf)
    alike[types[leaf]].push_back(leaf);
  std::map<std::pair<int32_t, int32_t>, int32_t> counts;
  for (const Connection &connection : problem.connections)
    if (auto [a, b] = std::minmax({leafOf[connection.from], leafOf[connection.to]}); a >= 0 && a != b)
      ++counts[{a, b}];
  for (const auto &[ends, count] : counts) {
    wires.push_back({ends.first, ends.second, count});
    neighbours[ends.first].push_back(ends.second);
    neighbours[ends.second].push_back(ends.first);
  }
  const double bound = double(ladder.boundTicks());
  if (timeSlack < 0 || problem.timeWeight == 0)
    capTicks = std::numeric_limits<int64_t>::max();
  else
    // A single kernel's fastest shape can be kept to where area is not short.
    capTicks = int64_t(table.isBoundByOneKernel() ? bound : bound * (1 + timeSlack));
}

double Instance::timeCost(int32_t rung) const {
  const double perTick = double(problem.timeWeight) / double(table.ticksPerUnit()),
               ticks = double(ladder.rung(rung).ticks), excess = std::max(0.0, ticks / double(capTicks) - 1);
  return ticks * perTick + kOverCap * excess * std::max(double(capTicks) * perTick, wireSpan());
}

std::vector<const Staircase *> Instance::outlines(int32_t rung) const {
  std::vector<const Staircase *> result;
  const TargetLadder::Rung &at = ladder.rung(rung);
  for (int32_t type : types)
    result.push_back(&at.curves[type].outline);
  return result;
}

} // namespace wsc::solver::contest
