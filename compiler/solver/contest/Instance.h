// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the search sees of a contest problem: leaves in dataflow order, the wires between them, and a ladder of target
// times with the outline of every leaf at each.
#pragma once

#include "compiler/solver/contest/Compact.h"
#include "compiler/solver/contest/Shapes.h"

#include <memory>
#include <mutex>
#include <vector>

namespace wsc::solver::contest {

// Target times to choose from and the outlines of every type of kernel at each, computed when first asked for. Safe for
// several threads.
class TargetLadder {
public:
  struct Rung {
    int64_t ticks = 0; // the slowest shape's
    int64_t area = 0;  // sum of the kernels' least areas, tiles
    std::vector<ShapeCurve> curves;
  };
  // From the lower bound on, 0.05 % apart, wider from 1.25 times the bound on. The table outlives the ladder.
  explicit TargetLadder(const ShapeTable &table);
  int32_t size() const { return int32_t(targets.size()); }
  int64_t boundTicks() const { return targets.front(); }
  // The first rung whose target is not below, or the last.
  int32_t atLeast(int64_t ticks) const;
  const Rung &rung(int32_t index) const;

private:
  const ShapeTable &table;
  std::vector<int64_t> targets;
  mutable std::vector<std::unique_ptr<Rung>> rungs;
  mutable std::mutex mutex;
};

// Price of time beyond the slack that is allowed, as a multiple of its share of the time term, or of a long wire where
// wires cost more: only taken where nothing else fits.
constexpr double kOverCap = 60;

struct Instance {
  // `timeSlack`: see SolveOptions.
  Instance(const Problem &problem, const ShapeTable &table, double timeSlack);

  // Weighted time of a rung, and kOverCap for what exceeds capTicks.
  double timeCost(int32_t rung) const;
  bool isOverCap(int32_t rung) const { return ladder.rung(rung).ticks > capTicks; }
  // Of a wire from corner to corner.
  double wireSpan() const { return double(problem.wireWeight) * double(problem.width + problem.height); }
  // Weighted length of the wires.
  double wireCost(const std::vector<Rectangle> &rectangles) const {
    return double(problem.wireWeight) * double(doubleWireLength(rectangles, wires)) / 2;
  }
  std::vector<const Staircase *> outlines(int32_t rung) const;
  int32_t numLeaves() const { return int32_t(kernels.size()); }

  const Problem &problem;
  const ShapeTable &table;
  TargetLadder ladder;
  std::vector<int32_t> kernels, types; // of the leaves, which follow the dataflow
  std::vector<Wire> wires;
  std::vector<std::vector<int32_t>> neighbours; // leaves, of each leaf
  std::vector<std::vector<int32_t>> alike;      // leaves, of each type
  int64_t capTicks = 0;
};

} // namespace wsc::solver::contest
