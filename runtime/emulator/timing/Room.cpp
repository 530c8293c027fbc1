// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How room at the sinks, and the order of words on a channel, bound a piece of a train.
//
// A word can leave when every sink has taken the word `capacity` before it. Sinks take evenly inside a piece of their
// curve and may pause between pieces (the set-up of their next instruction). A pause begins when the sink has taken the
// word before it, which may be later than it could have been taken: because it left late, or because the sink has not
// yet made up for the pause before. So pauses of all sinks are gone through in the order of the words they hold up, and
// what each adds moves the rest of the train for all of them.
#include "runtime/emulator/timing/Simulation.h"

#include <algorithm>
#include <tuple>

namespace wsc::emulator::timing {

void Simulation::boundByOutputs(int32_t p, const Item &item, int64_t from, int64_t to, int64_t scale, bool lastPart,
                                bool final, Span &span) {
  if (item.out.count == 0)
    return;
  const int32_t slotIndex = model.units[model.processes[p].unit].firstSlot + item.out.slot;
  const Slot &slot = model.slots[slotIndex];
  const int64_t sent = sentOf(p, slotIndex);
  for (int32_t f = slot.firstFeed; f < slot.firstFeed + slot.numFeeds; ++f) {
    const FeedState &feed = feedState(p, f);
    if (feed.segment < 0)
      continue;
    const SourceSegment &segment = model.segments[feed.segment];
    const int32_t c = model.feeds[f].channel;
    const ChannelState &state = channels[c];
    if (state.segment != feed.segment)
      continue;
    const int64_t begin = state.segmentBase + segmentWords(segment, sent, item.out.count, from, scale);
    const int64_t end = state.segmentBase + segmentWords(segment, sent, item.out.count, to, scale);
    if (begin >= end)
      continue;
    if (lastPart)
      boundByPauses(p, item, c, begin, end, segment.cores, final, span);
    else
      boundByFirst(c, begin, span);
  }
}

void Simulation::boundByFirst(int32_t c, int64_t begin, Span &span) {
  const Channel &channel = model.channels[c];
  if (!channel.fifo)
    span.first = std::max(span.first, channels[c].lastCycle + 1);
  for (int32_t s = channel.firstSink; s < channel.firstSink + channel.numSinks; ++s) {
    const int64_t word = begin - model.sinks[s].capacity;
    SinkState &sink = sinks[s];
    if (word < 0 || sink.ready.empty())
      continue;
    sink.readyHint = findPiece(sink.ready, word, sink.readyHint);
    span.first = std::max(span.first, sink.ready[sink.readyHint].start(word) + model.sinks[s].credit);
  }
}

// Words [begin, end) of channel `c`.
void Simulation::boundByPauses(int32_t p, const Item &item, int32_t c, int64_t begin, int64_t end, int64_t cores,
                               bool final, Span &span) {
  const Channel &channel = model.channels[c];
  const ChannelState &state = channels[c];
  const int64_t cycles = cyclesOf(p, item), total = item.out.count * cores;
  const auto bound = [&](int32_t s, int64_t word, int64_t taken) {
    const int64_t left = std::max<int64_t>(1, mulDiv(end - model.sinks[s].capacity - word, cycles, total));
    span.last = std::max(span.last, trainEnd(p, item, std::max(span.first, taken + model.sinks[s].credit), left));
  };
  holds.pauses.clear();
  holds.late.clear();
  for (int32_t s = channel.firstSink; s < channel.firstSink + channel.numSinks; ++s) {
    const int64_t capacity = model.sinks[s].capacity;
    // `capacity` words per round trip of word and credit is the most that such a buffer passes.
    const int64_t roundTrip = model.sinks[s].latency + model.sinks[s].credit;
    if (capacity < roundTrip)
      span.last = std::max(span.last, span.first + mulDiv(end - 1 - begin, roundTrip, capacity));
    const int64_t first = std::max<int64_t>(0, begin - capacity), last = end - 1 - capacity;
    SinkState &sink = sinks[s];
    if (last < 0 || sink.ready.empty())
      continue;
    uint32_t at = sink.readyHint = findPiece(sink.ready, first, sink.readyHint);
    sink.tried = sink.resumed;
    for (; at + 1 < sink.ready.size() && sink.ready[at + 1].begin <= last; ++at)
      holds.pauses.push_back({sink.ready[at + 1].begin + capacity, s, at + 1});
    bound(s, last, sink.ready[at].start(last));
  }
  if (holds.pauses.empty())
    return;
  if (channel.numSinks > 1)
    std::sort(holds.pauses.begin(), holds.pauses.end(), [](const Holds::Pause &a, const Holds::Pause &b) {
      return std::tie(a.word, a.sink) < std::tie(b.word, b.sink);
    });
  const auto leaves = [&](int64_t word) { return span.first + mulDiv(word - begin, cycles, total) + holds.at(word); };
  for (const Holds::Pause &pause : holds.pauses) {
    SinkState &sink = sinks[pause.sink];
    const Sink &route = model.sinks[pause.sink];
    const Piece &next = sink.ready[pause.piece], &piece = sink.ready[pause.piece - 1];
    const int64_t before = next.begin - 1; // the last word before the pause
    int64_t taken = next.first;
    if (before >= 0) {
      int64_t done = 0;
      if (before >= begin)
        done = leaves(before) + route.latency;
      else if (!state.curve.empty() && before >= state.curve.front().begin)
        done =
            state.curve[findPiece(state.curve, before, uint32_t(state.curve.size()) - 1)].done(before) + route.latency;
      if (sink.tried.word >= piece.begin)
        done = std::max(done, sink.tried.cycle + mulDiv(before - sink.tried.word, piece.last - piece.first + 1,
                                                        piece.end - piece.begin));
      if (done > 0)
        taken = std::max(taken, done + 1 + next.pause);
      sink.tried = {next.begin, taken};
    }
    bound(pause.sink, next.begin, taken);
    if (const int64_t late = taken + route.credit - leaves(pause.word); late > 0)
      holds.late.push_back({pause.word, holds.at(pause.word) + late});
  }
  if (final)
    for (const Holds::Pause &pause : holds.pauses)
      sinks[pause.sink].resumed = sinks[pause.sink].tried;
}

} // namespace wsc::emulator::timing
