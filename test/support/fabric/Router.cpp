// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Section "Routers" of docs/Timing.md.
#include "test/support/fabric/Fabric.h"

#include <algorithm>

namespace wsc::fabric {

using namespace format;

RouterDecision decide(const Router &router, int64_t t, const PortOpen &open) {
  RouterDecision decision;
  PortMask taken = 0;
  const size_t count = router.colours.size();
  size_t start = 0;
  while (start < count && router.colours[start].colour < router.pointer)
    ++start;
  for (size_t k = 0; k < count; ++k) {
    const size_t c = (start + k) % count;
    const RouterColour &colour = router.colours[c];
    const SwitchPosition &position = (*colour.positions)[colour.position];
    const WordQueue &queue = colour.in[size_t(position.input)];
    if (!queue.usable(t))
      continue;
    const bool advance = queue.head().control > 0 && colour.positions->size() > 1;
    if (advance && queue.head().control == 1) {
      decision.moves.push_back({c, true, true, 0});
      continue;
    }
    int withRoom = 0, without = 0;
    for (int port = 0; port < kNumPorts; ++port)
      if (position.outputs >> port & 1) {
        const Output &output = colour.out[size_t(port)];
        ++((output.queue ? output.queue->hasRoom(t) : open(output.port)) ? withRoom : without);
      }
    if (without > 0) {
      decision.unevenMulticasts += withRoom > 0;
      continue;
    }
    if (position.outputs & taken) {
      ++decision.losers;
      if (decision.firstLoser < 0)
        decision.firstLoser = colour.colour;
      continue;
    }
    taken |= position.outputs;
    decision.moves.push_back({c, advance, false, position.outputs});
  }
  return decision;
}

} // namespace wsc::fabric
