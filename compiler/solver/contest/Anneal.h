// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Simulated annealing over slicing trees, the target time part of the state.
#pragma once

#include "compiler/solver/contest/Instance.h"
#include "compiler/solver/contest/SlicingTree.h"

#include <atomic>

namespace wsc::solver::contest {

struct Floorplan {
  Tree tree;
  int32_t rung = 0;
  double cost = 0; // with a price on what it overflows by
  bool fits = false;
};

struct Schedule {
  uint64_t seed = 0;
  int64_t moves = 0;
  double hot = 0, cold = 0; // first and last temperature, in cost
  double overflowPrice = 0; // of a row that does not fit, in cost, at least; it rises while too few trees fit
  double hardPrice = 0;     // of such a row at least when targets are chosen and floorplans compared
  double pressure = 1;      // on that; above 1, targets are chosen from the whole ladder, not from those near
  bool freeTarget = true;   // else the start's target stays
};

// The best floorplan met, one that fits if there was one. Depends on nothing but its arguments, unless `stop` is set:
// then it ends early.
Floorplan anneal(const Instance &instance, const Floorplan &start, const Schedule &schedule,
                 const std::atomic<bool> &stop);

} // namespace wsc::solver::contest
