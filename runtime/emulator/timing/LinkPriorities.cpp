// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who yields on a shared link. Routers let colours take turns, but a core that takes the words of one of them at a
// higher priority than it sends those of the other issues no word of the other while the first keep coming: a gather
// along a row waits for the row's multicast, word by word, in the cores. A core that takes a window of the words has
// its slots to itself while the others' windows pass.
//
// A multicast that sets in while a gather has the link stops it, too: the core whose turn it is has no slot any more,
// and as all cores take words in step its turn does not end. But let the multicast miss a cycle or two: the turn goes
// on to the next core, whose first words stand ready in its queue; they take turns with the multicast's, so cores have
// a slot every other cycle and send on. Those that do are done early with the sample and wait for those that sent
// later: from then on some core has free slots whenever the multicast sets in, and the gather keeps half of the link.
//
// That comes about where the queues before a core hold all words that it takes from a third channel at a time. Their
// senders get ahead, and sooner or later the words come over the ramp in the midst of the multicast's; what is more
// than the queues hold comes when the core takes it. And it does where the gather's turns and the multicast, one after
// the other, take longer than the busiest core needs for a sample: then words of the gather still stand in the routers
// when the multicast sets in. A turn takes a cycle more than its words, for the switch that its control word advances.
#include "runtime/emulator/timing/Model.h"

#include <algorithm>
#include <climits>

namespace wsc::emulator::timing {

namespace {

class Yielding {
public:
  explicit Yielding(const Model &model) : model(model) {
    for (const Unit &unit : model.units)
      busiest = std::max(busiest, unit.busy);
  }

  // Whether every core that sends over `sender` takes the words of `other` first.
  bool yields(const Channel &sender, const Channel &other) const {
    for (int32_t s = sender.firstSegment; s < sender.firstSegment + sender.numSegments; ++s)
      if (const int32_t slot = model.segments[s].slot; takes(unitOf(slot), other) <= sends(slot))
        return false;
    return true;
  }

  // Whether `sender`, which yields to `other`, keeps half of their link if it has it when that sets in.
  bool keepsHalf(const Channel &sender, const Channel &other) const {
    int64_t cycles = other.words + sender.turns;
    for (int32_t s = sender.firstSegment; s < sender.firstSegment + sender.numSegments; ++s) {
      cycles += model.segments[s].cores;
      if (holdsWords(unitOf(model.segments[s].slot), other))
        return true;
    }
    return cycles > busiest;
  }

private:
  // Whether the queues before the unit's cores hold all words that an instruction takes of a channel beside `other`.
  bool holdsWords(int32_t unitIndex, const Channel &other) const {
    const Unit &unit = model.units[unitIndex];
    const auto holds = [&](const Access &in) {
      if (in.slot < 0)
        return false;
      const Slot &slot = model.slots[unit.firstSlot + in.slot];
      return std::any_of(model.slotSinks.begin() + slot.firstSink,
                         model.slotSinks.begin() + slot.firstSink + slot.numSinks, [&](int32_t s) {
                           const Sink &sink = model.sinks[s];
                           const Channel &channel = model.channels[sink.channel];
                           return !channel.fifo && &channel != &other && in.count <= sink.capacity;
                         });
    };
    for (int32_t p = unit.firstProcess; p < unit.firstProcess + unit.numProcesses; ++p)
      for (const Item &item : model.program(model.processes[p]).items)
        if (item.kind == ItemKind::Step && (holds(item.in[0]) || holds(item.in[1])))
          return true;
    return false;
  }

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
  int64_t busiest = 0; // issue slots of a core per sample
};

} // namespace

void findLinkPriorities(Model &model) {
  struct Member {
    int32_t channel, share;
  };
  std::vector<std::vector<Member>> membersOf(model.linkMembers.size()); // per link
  for (size_t c = 0; c < model.channels.size(); ++c)
    for (int32_t l = model.channels[c].firstLink; l < model.channels[c].firstLink + model.channels[c].numLinks; ++l) {
      model.linkShares[l].priority = 1;
      membersOf[size_t(model.linkShares[l].link)].push_back({int32_t(c), l});
    }
  const Yielding yielding(model);
  for (const std::vector<Member> &members : membersOf)
    for (const Member &member : members)
      for (const Member &other : members) {
        const Channel &sender = model.channels[member.channel], &first = model.channels[other.channel];
        if (&sender == &first || !yielding.yields(sender, first))
          continue;
        model.linkShares[member.share].priority = 0;
        LinkShare &share = model.linkShares[other.share];
        share.givesHalf = share.givesHalf || yielding.keepsHalf(sender, first);
      }
}

} // namespace wsc::emulator::timing
