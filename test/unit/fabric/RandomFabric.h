// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds the engines against the reference on many random programs, and makes what differs small.
#pragma once

#include "test/support/fabric/FabricReference.h"
#include "test/support/fabric/RandomProgram.h"

#include <string>

namespace wsc::fabric {

// Programs in which each of these came about at least once, and how often in all.
struct Tally {
  int programs = 0, live = 0, deadlocks = 0;
  FabricCounts programsWith, times;
  int64_t cycles = 0;
};

// The first difference between the reference and the engines on one plan; empty: none. Adds to the tally if given.
std::string findDifference(const Plan &plan, Tally *tally = nullptr);

// Compares the programs of `count` seeds from `firstSeed` on. A difference fails the test with the seed, the streams
// that are still needed to see it, and the disassembly of what is left.
Tally compareMany(uint64_t firstSeed, int count);

} // namespace wsc::fabric
