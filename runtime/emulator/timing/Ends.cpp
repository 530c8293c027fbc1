// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The ends of channels as processes see them: each slot's feeds and sinks, side by side.
#include "runtime/emulator/timing/Model.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace wsc::emulator::timing {

void listEnds(Model &model) {
  std::vector<int32_t> lastSegment(model.slots.size(), -1); // of the channel under work
  std::vector<std::pair<int32_t, Feed>> feeds;
  for (size_t c = 0; c < model.channels.size(); ++c) {
    const Channel &channel = model.channels[c];
    for (int32_t s = channel.firstSegment + channel.numSegments - 1; s >= channel.firstSegment; --s) {
      SourceSegment &segment = model.segments[s];
      segment.next = lastSegment[segment.slot];
      lastSegment[segment.slot] = s;
    }
    for (int32_t s = channel.firstSegment; s < channel.firstSegment + channel.numSegments; ++s) {
      const int32_t slot = model.segments[s].slot;
      if (lastSegment[slot] == s)
        feeds.emplace_back(slot, Feed{int32_t(c), s});
    }
    for (int32_t s = channel.firstSegment; s < channel.firstSegment + channel.numSegments; ++s)
      lastSegment[model.segments[s].slot] = -1;
  }
  std::sort(feeds.begin(), feeds.end(), [](const auto &a, const auto &b) {
    return std::tie(a.first, a.second.channel) < std::tie(b.first, b.second.channel);
  });
  for (const auto &[slot, feed] : feeds) {
    if (model.slots[slot].numFeeds++ == 0)
      model.slots[slot].firstFeed = int32_t(model.feeds.size());
    model.feeds.push_back(feed);
  }
  for (const SourceSegment &segment : model.segments)
    model.slots[segment.slot].cores = std::max(model.slots[segment.slot].cores, int32_t(segment.cores));
  for (Sink &sink : model.sinks) {
    Slot &slot = model.slots[sink.slot];
    sink.process = model.channels[sink.channel].fifo ? slot.popper : slot.process;
    ++slot.numSinks;
  }
  int32_t total = 0;
  for (Slot &slot : model.slots) {
    slot.firstSink = total;
    total += std::exchange(slot.numSinks, 0);
  }
  model.slotSinks.resize(total);
  for (size_t s = 0; s < model.sinks.size(); ++s) {
    Slot &slot = model.slots[model.sinks[s].slot];
    model.slotSinks[slot.firstSink + slot.numSinks++] = int32_t(s);
  }
}

} // namespace wsc::emulator::timing
