// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs and traffic on small meshes: the reference's bits against the core engine's, its times against the
// cycle engine's.
#include "RandomFabric.h"
#include "test/support/Seed.h"

#include <gtest/gtest.h>

#include <iostream>

namespace wsc::fabric {
namespace {

TEST(RandomFabric, EnginesAgree) {
  constexpr int kPrograms = 1300;
  const Tally tally = compareMany(test::seedOf(1), test::casesOf(kPrograms), randomPlan);
  const struct {
    const char *what;
    int64_t programs, times;
  } rows[] = {
      {"shared links", tally.programsWith.sharedLinks, tally.times.sharedLinks},
      {"uneven multicast back-pressure", tally.programsWith.unevenMulticasts, tally.times.unevenMulticasts},
      {"switch advance", tally.programsWith.switchAdvances, tally.times.switchAdvances},
      {"background operations", tally.programsWith.sharedSlots, tally.times.sharedSlots},
      {"bank conflicts", tally.programsWith.bankConflicts, tally.times.bankConflicts},
      {"I/O allowance used up", tally.programsWith.portsRefused, tally.times.portsRefused},
      {"batches cut short by FIFOs", tally.programsWith.partialBatches, tally.times.partialBatches},
      {"filtered words that go on elsewhere", tally.programsWith.filteredMulticasts, tally.times.filteredMulticasts},
      {"filtered words that end in a router", tally.programsWith.filteredEnds, tally.times.filteredEnds},
      {"filtered words past a RAMP that is full or taken", tally.programsWith.filteredPastRamp,
       tally.times.filteredPastRamp},
      {"contests decided by priority", tally.programsWith.priorities, tally.times.priorities},
      {"deadlocks", tally.deadlocks, tally.deadlocks},
  };
  std::cout << tally.programs << " compared, " << tally.live << " live, " << tally.cycles << " cycles\n";
  for (const auto &row : rows) {
    std::cout << "  " << row.what << ": " << row.programs << " programs, " << row.times << " times\n";
    EXPECT_GE(row.programs, 100) << row.what;
  }
}

TEST(RandomFabric, FaultyProgramsAreTold) {
  constexpr int kPrograms = 600;
  const Tally tally = compareMany(test::seedOf(1), test::casesOf(kPrograms), faultyPlan, /*lawful=*/false);
  std::cout << tally.programs << " programs: " << tally.leftovers << " with words left over, " << tally.strayControls
            << " with a control word astray, " << tally.deadlocks << " stopped, " << tally.live
            << " with only padding changed\n";
  EXPECT_GE(tally.leftovers, 50);
  EXPECT_GE(tally.strayControls, 50);
  EXPECT_GE(tally.deadlocks, 100);
}

} // namespace
} // namespace wsc::fabric
