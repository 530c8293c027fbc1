// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times of a piece of a train, and its entry into the curves.
#include "runtime/emulator/timing/Simulation.h"

#include <algorithm>

namespace wsc::emulator::timing {

namespace {

// Issue slots that one core needs for a part of a step.
int64_t slotsBetween(const Item &item, int64_t from, int64_t to, int64_t scale) {
  const int64_t slots = item.stream + item.controls;
  return mulDiv(to, slots, scale) - mulDiv(from, slots, scale);
}

// The piece that holds `word`; `hint` stays near, as words are asked for in order.
uint32_t findPiece(const Curve &curve, int64_t word, uint32_t hint) {
  uint32_t i = std::min<uint32_t>(hint, uint32_t(curve.size()) - 1);
  while (i > 0 && curve[i].begin > word)
    --i;
  while (i + 1 < curve.size() && curve[i].end <= word)
    ++i;
  return i;
}

} // namespace

// Raises first (lastPart = false) or last to what the arrival of words allows.
void Simulation::boundByInputs(int32_t p, const Item &item, int64_t from, int64_t to, int64_t scale, int skipInput,
                               bool lastPart, Span &span) {
  const int64_t cycles = cyclesOf(p, item);
  for (int i = 0; i < 2; ++i) {
    const Access &in = item.in[i];
    if (in.slot < 0 || i == skipInput)
      continue;
    const int64_t a = mulDivUp(in.count, from, scale), b = mulDivUp(in.count, to, scale);
    if (a == b)
      continue;
    const Slot &slot = slotOf(p, in);
    for (int32_t k = slot.firstSink; k < slot.firstSink + slot.numSinks; ++k) {
      const int32_t s = model.slotSinks[k];
      SinkState &sink = sinks[s];
      const Curve &curve = channels[model.sinks[s].channel].curve;
      const int64_t latency = model.sinks[s].latency, begin = sink.base + a, end = sink.base + b;
      sink.arrivalHint = findPiece(curve, begin, sink.arrivalHint);
      if (!lastPart) {
        span.first = std::max(span.first, curve[sink.arrivalHint].done(begin) + latency);
        continue;
      }
      const auto bound = [&](int64_t word, int64_t arrival) {
        const int64_t left = std::max<int64_t>(1, mulDiv(end - word, cycles, in.count));
        span.last = std::max(span.last, trainEnd(p, item, std::max(span.first, arrival + latency), left));
      };
      uint32_t at = sink.arrivalHint;
      for (; at + 1 < curve.size() && curve[at + 1].begin < end; ++at)
        bound(curve[at + 1].begin, curve[at + 1].done(curve[at + 1].begin));
      bound(end - 1, curve[at].done(end - 1));
      sink.arrivalHint = at;
    }
  }
}

// The same for room at the sinks of the output, and for the order of words on the channel.
void Simulation::boundByOutputs(int32_t p, const Item &item, int64_t from, int64_t to, int64_t scale, bool lastPart,
                                Span &span) {
  if (item.out.count == 0)
    return;
  const int64_t cycles = cyclesOf(p, item);
  const int32_t slotIndex = model.units[model.processes[p].unit].firstSlot + item.out.slot;
  const Slot &slot = model.slots[slotIndex];
  const int64_t sent = sentOf(p, slotIndex);
  for (int32_t f = slot.firstFeed; f < slot.firstFeed + slot.numFeeds; ++f) {
    const FeedState &feed = feedState(p, f);
    if (feed.segment < 0)
      continue;
    const SourceSegment &segment = model.segments[feed.segment];
    const int32_t c = model.feeds[f].channel;
    const Channel &channel = model.channels[c];
    const ChannelState &state = channels[c];
    if (state.segment != feed.segment)
      continue;
    const int64_t begin = state.segmentBase + segmentWords(segment, sent, item.out.count, from, scale);
    const int64_t end = state.segmentBase + segmentWords(segment, sent, item.out.count, to, scale);
    if (begin >= end)
      continue;
    if (!lastPart && !channel.fifo)
      span.first = std::max(span.first, state.lastCycle + 1);
    for (int32_t s = channel.firstSink; s < channel.firstSink + channel.numSinks; ++s) {
      const int64_t capacity = model.sinks[s].capacity, credit = model.sinks[s].credit;
      SinkState &sink = sinks[s];
      // `capacity` words per round trip of word and credit is the most that such a buffer passes.
      const int64_t roundTrip = model.sinks[s].latency + model.sinks[s].credit;
      if (lastPart && capacity < roundTrip)
        span.last = std::max(span.last, span.first + mulDiv(end - 1 - begin, roundTrip, capacity));
      const int64_t first = std::max<int64_t>(0, begin - capacity), last = end - 1 - capacity;
      if (last < 0 || sink.ready.empty())
        continue;
      sink.readyHint = findPiece(sink.ready, first, sink.readyHint);
      if (!lastPart) {
        if (begin >= capacity)
          span.first = std::max(span.first, sink.ready[sink.readyHint].start(first) + credit);
        continue;
      }
      const auto bound = [&](int64_t word, int64_t taken) {
        const int64_t left = end - capacity - word;
        const int64_t slots = std::max<int64_t>(1, mulDiv(left, cycles, item.out.count * segment.cores));
        span.last = std::max(span.last, trainEnd(p, item, std::max(span.first, taken + credit), slots));
      };
      // A sink that pauses does so after it has taken the word before, which may come later than it could have been
      // taken. What such pauses hold up adds up along the train.
      const int64_t total = item.out.count * segment.cores;
      const auto sendCycle = [&](int64_t word) { return span.first + mulDiv(word - begin, cycles, total); };
      int64_t held = 0, heldFrom = 0;
      uint32_t at = sink.readyHint;
      for (; at + 1 < sink.ready.size() && sink.ready[at + 1].begin <= last; ++at) {
        const Piece &next = sink.ready[at + 1];
        int64_t taken = next.first;
        if (next.pause > 0 && next.begin > 0) {
          const int64_t before = next.begin - 1;
          if (before >= begin)
            taken = std::max(taken, sendCycle(before) + (before >= heldFrom ? held : 0) + model.sinks[s].latency + 1 +
                                        next.pause);
          else if (!state.curve.empty() && before >= state.curve.front().begin)
            taken = std::max(
                taken, state.curve[findPiece(state.curve, before, uint32_t(state.curve.size()) - 1)].done(before) +
                           model.sinks[s].latency + 1 + next.pause);
        }
        bound(next.begin, taken);
        if (const int64_t late = taken + model.sinks[s].credit - sendCycle(next.begin + capacity); late > held) {
          held = late;
          heldFrom = next.begin + capacity;
        }
      }
      bound(last, sink.ready[at].start(last));
      sink.readyHint = at;
    }
  }
}

// The last cycle of a part of a step that begins in cycle `first` and takes `cycles` of the step's cyclesOf.
int64_t Simulation::trainEnd(int32_t p, const Item &item, int64_t first, int64_t cycles) const {
  const int64_t slots = mulDiv(cycles, item.stream + item.controls, cyclesOf(p, item));
  return std::max(first + cycles, slotsAfter(p, first, slots)) - 1;
}

Simulation::Span Simulation::span(int32_t p, const Item &item, int64_t from, int64_t to, int64_t scale, int skipInput,
                                  int64_t *waitWords, int64_t *waitRoom) {
  const ProcessState &state = processes[p];
  const int64_t cycles = cyclesOf(p, item);
  Span span;
  span.first = from == 0 ? slotsAfter(p, state.clock, item.before + item.setup) : state.lastCycle + 1;
  const int64_t ownFirst = span.first;
  boundByInputs(p, item, from, to, scale, skipInput, false, span);
  const int64_t wordsFirst = span.first;
  boundByOutputs(p, item, from, to, scale, false, span);
  const int64_t roomFirst = span.first;
  span.last =
      trainEnd(p, item, span.first, std::max<int64_t>(1, mulDiv(to, cycles, scale) - mulDiv(from, cycles, scale)));
  const int64_t ownLast = span.last;
  boundByInputs(p, item, from, to, scale, skipInput, true, span);
  const int64_t wordsLast = span.last;
  boundByOutputs(p, item, from, to, scale, true, span);
  if (waitWords)
    *waitWords += wordsFirst - ownFirst + wordsLast - ownLast;
  if (waitRoom)
    *waitRoom += roomFirst - wordsFirst + span.last - wordsLast;
  return span;
}

// Carries the current step from state.done to `to`.
void Simulation::commit(int32_t p, const Item &item, int64_t to, int64_t scale) {
  ProcessState &state = processes[p];
  const Span when = span(p, item, state.done, to, scale, -1, &state.waitWords, &state.waitRoom);
  if (state.done == 0)
    takeSlots(p, state.clock, when.first, item.before + item.setup);
  takeSlots(p, when.first, when.last + 1, slotsBetween(item, state.done, to, scale));
  for (const Access &in : item.in) {
    if (in.slot < 0)
      continue;
    const int64_t taken = mulDivUp(in.count, to, scale);
    const Slot &slot = slotOf(p, in);
    for (int32_t k = slot.firstSink; k < slot.firstSink + slot.numSinks; ++k) {
      const int32_t s = model.slotSinks[k];
      if (sinks[s].base + taken > sinks[s].promised)
        raise(s, sinks[s].base + taken, when.first, when.last, 0);
    }
  }
  if (item.out.count > 0) {
    const Slot &slot = slotOf(p, item.out);
    for (int32_t f = slot.firstFeed; f < slot.firstFeed + slot.numFeeds; ++f)
      send(p, f, item, to, scale, when);
  }
  state.done = to;
  state.lastCycle = when.last;
}

void Simulation::send(int32_t p, int32_t f, const Item &item, int64_t to, int64_t scale, const Span &when) {
  FeedState &feed = feedState(p, f);
  const int32_t c = model.feeds[f].channel;
  const Channel &channel = model.channels[c];
  ChannelState &state = channels[c];
  if (feed.segment < 0 || state.segment != feed.segment)
    return;
  const SourceSegment &segment = model.segments[feed.segment];
  const int64_t sent = sentOf(p, model.units[model.processes[p].unit].firstSlot + item.out.slot);
  const int64_t end = state.segmentBase + segmentWords(segment, sent, item.out.count, to, scale);
  if (end <= state.produced)
    return;
  const int64_t last = std::max(when.first, when.last - item.rest);
  state.curve.push_back({state.produced, end, when.first, last});
  state.produced = end;
  state.lastCycle = last;
  for (int32_t s = channel.firstSink; s < channel.firstSink + channel.numSinks; ++s)
    if (end >= sinks[s].wakeAt) {
      sinks[s].wakeAt = kNever;
      work.add(model.sinks[s].process);
    }
  if (end - state.segmentBase < segment.words())
    return;
  feed.segment = segment.next;
  state.segmentBase = end;
  if (++state.segment == channel.firstSegment + channel.numSegments)
    state.segment = channel.firstSegment;
  if (channel.numSegments > 1)
    work.add(model.slots[model.segments[state.segment].slot].process);
}

} // namespace wsc::emulator::timing
