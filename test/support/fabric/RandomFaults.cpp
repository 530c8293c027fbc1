// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "test/support/fabric/Plan.h"

namespace wsc::fabric {

Plan faultyPlan(uint64_t seed) {
  Plan plan = randomPlan(seed);
  Random random(seed);
  std::vector<Item *> items, controls;
  for (StreamPlan &stream : plan.streams)
    for (auto *parties : {&stream.senders, &stream.takers})
      for (Party &party : *parties)
        for (Item &item : party.items) {
          if (!party.port && item.elements > 1)
            items.push_back(&item);
          if (item.control > 0)
            controls.push_back(&item);
        }
  if (!controls.empty() && random.chance(40))
    ++random.of(controls)->control;
  else if (!items.empty())
    --random.of(items)->elements;
  return plan;
}

} // namespace wsc::fabric
