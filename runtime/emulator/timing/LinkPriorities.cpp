// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who yields on a shared link. Routers let colours take turns, but a core that takes the words of one of them at a
// higher priority than it sends those of the other issues no word of the other while the first keep coming: a gather
// along a row waits for the row's multicast, word by word, in the cores. A core that takes a window of the words has
// its slots to itself while the others' windows pass.
#include "runtime/emulator/timing/Model.h"

#include <algorithm>
#include <climits>

namespace wsc::emulator::timing {

namespace {

class Yielding {
public:
  explicit Yielding(const Model &model) : model(model) {}

  // Whether every core that sends over `sender` takes the words of `other` first.
  bool yields(const Channel &sender, const Channel &other) const {
    for (int32_t s = sender.firstSegment; s < sender.firstSegment + sender.numSegments; ++s)
      if (const int32_t slot = model.segments[s].slot; takes(unitOf(slot), other) <= sends(slot))
        return false;
    return true;
  }

private:
  int32_t unitOf(int32_t slot) const { return model.processes[model.slots[slot].process].unit; }

  // The highest priority of the instructions that send from the slot.
  int32_t sends(int32_t slot) const {
    const Process &process = model.processes[model.slots[slot].process];
    int32_t most = 0;
    for (const Item &item : model.program(process).items)
      if (item.kind == ItemKind::Step && model.units[process.unit].firstSlot + item.out.slot == slot)
        most = std::max(most, item.priority);
    return most;
  }

  // The least priority at which the unit takes the channel's words; -1: it takes none.
  int32_t takes(int32_t unit, const Channel &channel) const {
    int32_t least = INT32_MAX;
    for (int32_t s = channel.firstSink; s < channel.firstSink + channel.numSinks; ++s) {
      const Process &process = model.processes[model.sinks[s].process];
      if (process.unit != unit || model.sinks[s].words < channel.words)
        continue;
      for (const Item &item : model.program(process).items)
        for (const Access &in : item.in)
          if (item.kind == ItemKind::Step && model.units[unit].firstSlot + in.slot == model.sinks[s].slot)
            least = std::min(least, item.priority);
    }
    return least == INT32_MAX ? -1 : least;
  }

  const Model &model;
};

} // namespace

void findLinkPriorities(Model &model) {
  std::vector<std::vector<int32_t>> membersOf(model.linkMembers.size()); // per link, its channels
  for (size_t c = 0; c < model.channels.size(); ++c)
    for (int32_t l = model.channels[c].firstLink; l < model.channels[c].firstLink + model.channels[c].numLinks; ++l)
      membersOf[size_t(model.linkShares[l].link)].push_back(int32_t(c));
  const Yielding yielding(model);
  for (const Channel &channel : model.channels)
    for (int32_t l = channel.firstLink; l < channel.firstLink + channel.numLinks; ++l) {
      LinkShare &share = model.linkShares[l];
      const std::vector<int32_t> &members = membersOf[size_t(share.link)];
      share.priority = std::none_of(members.begin(), members.end(), [&](int32_t other) {
        return &model.channels[other] != &channel && yielding.yields(channel, model.channels[other]);
      });
    }
}

} // namespace wsc::emulator::timing
