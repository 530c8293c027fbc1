// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Section "Routers" of docs/Timing.md.
#include "test/support/fabric/Fabric.h"

#include <algorithm>

namespace wsc::fabric {

using namespace format;

namespace {

constexpr PortMask kRamp = PortMask(1u << unsigned(Port::Ramp));

bool passes(const WordFilter &filter) {
  const int64_t number = filter.period > 0 ? filter.met % filter.period : 0;
  return filter.period == 0 || (number >= filter.begin && number < filter.end);
}

} // namespace

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
      decision.moves.push_back({c, true, true, false, false, 0});
      continue;
    }
    const bool meetsRamp = queue.head().control == 0 && (position.outputs & kRamp);
    const bool filtered = meetsRamp && !passes(colour.filter);
    // A control word is not offered to RAMP, unless it can go nowhere else.
    const bool staysOut = filtered || (queue.head().control > 0 && position.outputs != kRamp);
    const PortMask outputs = staysOut ? position.outputs & ~kRamp : position.outputs;
    int withRoom = 0, without = 0;
    for (int port = 0; port < kNumPorts; ++port)
      if (outputs >> port & 1) {
        const Output &output = colour.out[size_t(port)];
        ++((output.queue ? output.queue->hasRoom(t) : open(output.port)) ? withRoom : without);
      }
    if (without > 0) {
      decision.unevenMulticasts += withRoom > 0;
      continue;
    }
    if (outputs & taken) {
      ++decision.losers;
      if (decision.firstLoser < 0)
        decision.firstLoser = colour.colour;
      continue;
    }
    decision.filteredPastRamp += filtered && (taken & kRamp || !colour.out[size_t(Port::Ramp)].queue->hasRoom(t));
    taken |= outputs;
    decision.moves.push_back({c, advance, false, meetsRamp, filtered, outputs});
  }
  return decision;
}

} // namespace wsc::fabric
