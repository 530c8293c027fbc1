// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/support/fabric/Plan.h"

#include <cstdlib>
#include <iostream>

namespace wsc::fabric {

target::Target randomTarget(Random &random, int32_t rows, int32_t cols) {
  static const target::Target base = [] {
    auto loaded = target::loadTarget("wse2");
    if (!loaded.ok()) {
      std::cerr << loaded.status() << "\n";
      std::abort();
    }
    return *loaded;
  }();
  target::Target target = base;
  target.name = "random";
  target.rows = rows;
  target.cols = cols;
  target.descriptorsPerOperandKind = 64; // whole threads are loops
  target.hopLatencyCycles = int32_t(random.chance(50) ? 1 : random.pick(1, 4));
  target.rampLatencyCycles = int32_t(random.pick(1, 4));
  target.creditLatencyCycles = int32_t(random.chance(50) ? 1 : random.pick(1, 4));
  const int32_t least = target.hopLatencyCycles + target.creditLatencyCycles;
  target.routerQueueWords = int32_t(random.chance(50) ? least : random.pick(least, least + 3));
  for (int32_t &depth : target.inputQueueWords)
    depth = int32_t(random.pick(1, random.chance(50) ? 3 : 8));
  for (int32_t &depth : target.outputQueueWords)
    depth = int32_t(random.pick(1, random.chance(50) ? 3 : 8));
  target.vectorSetupCycles = int32_t(random.chance(30) ? 0 : random.pick(0, 9));
  target.loopCycles = int32_t(random.chance(30) ? 0 : random.pick(0, 6));
  target.taskStartCycles = int32_t(random.chance(30) ? 0 : random.pick(0, 5));
  const double rates[] = {0.25, 0.5, 1, 2, 2, 4};
  const double halfRates[] = {0.5, 1, 2, 4, 4, 8};
  target.elementsPerCycleF32 = random.of(rates);
  target.elementsPerCycleF16 = random.of(halfRates);
  target.fmaPerCycleF32 = random.of(rates);
  target.fmaPerCycleF16 = random.of(halfRates);
  target.routineCyclesPerElement = double(random.pick(1, 6));
  const int32_t banks[] = {1, 2, 4, 8}, access[] = {4, 8, 8, 16};
  target.sramBanks = random.of(banks);
  target.sramAccessBytes = random.of(access);
  target.sramReadsPerCycle = int32_t(random.pick(1, 3));
  target.sramWritesPerCycle = int32_t(random.pick(1, 2));
  // Words per cycle, not all of them whole numbers of 2⁻²⁰.
  const double words[] = {0.15, 0.5, 0.7, 1, 1.3, 2, 3.1, 44.1};
  target.ioTerabitsPerSecond = random.of(words) * 32 * target.clockGHz / 1000;
  return target;
}

} // namespace wsc::fabric
