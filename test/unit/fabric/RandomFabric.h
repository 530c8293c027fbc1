// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds the engines against the reference on many random programs, and makes what differs small.
#pragma once

#include "test/support/fabric/FabricReference.h"
#include "test/support/fabric/RandomProgram.h"

#include <functional>
#include <string>

namespace wsc::fabric {

// Programs in which each of these came about at least once, and how often in all.
struct Tally {
  int programs = 0, live = 0, deadlocks = 0, leftovers = 0, strayControls = 0;
  FabricCounts programsWith, times;
  int64_t cycles = 0;
};

// A program's first difference between the reference and the engines; empty: none. Adds to the tally if given.
// `lawful`: the verifier has to let it pass.
std::string findDifference(const Plan &plan, Tally *tally = nullptr, bool lawful = true);

// A plan with less in it that still shows a difference: streams left out, items cut short, samples and copies taken
// away, the target calmed, as long as each step leaves one.
Plan shrink(const Plan &plan, bool lawful = true);

// What a program consists of, for people.
std::string describe(const format::Executable &executable);

// Compares the programs of `count` plans, made by `planOf` from the seeds from `firstSeed` on. A difference fails the
// test with the seed and what is left of the program after shrinking.
Tally compareMany(uint64_t firstSeed, int count, const std::function<Plan(uint64_t)> &planOf, bool lawful = true);

} // namespace wsc::fabric
