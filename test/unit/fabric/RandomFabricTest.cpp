// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs and traffic on small meshes: the reference's output bits against the core engine's.
#include "RandomFabric.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

namespace wsc::fabric {
namespace {

// WSC_FABRIC_SEED: the first seed instead of 1.
uint64_t firstSeed() {
  const char *text = std::getenv("WSC_FABRIC_SEED");
  return text ? std::strtoull(text, nullptr, 10) : 1;
}

TEST(RandomFabric, EnginesAgree) {
  constexpr int kPrograms = 1200;
  std::cout << kPrograms << " programs from seed " << firstSeed() << "\n";
  const Tally tally = compareMany(firstSeed(), kPrograms);
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
      {"deadlocks", tally.deadlocks, tally.deadlocks},
  };
  std::cout << tally.programs << " compared, " << tally.live << " live, " << tally.cycles << " cycles\n";
  for (const auto &row : rows) {
    std::cout << "  " << row.what << ": " << row.programs << " programs, " << row.times << " times\n";
    EXPECT_GE(row.programs, 100) << row.what;
  }
}

} // namespace
} // namespace wsc::fabric
