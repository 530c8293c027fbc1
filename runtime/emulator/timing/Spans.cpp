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
      const int64_t firstPlace = placeOf(s, begin), lastPlace = placeOf(s, end - 1);
      const auto late = [&](int64_t place) { return place >= sink.lateWord ? sink.lateCycles : 0; };
      sink.arrivalHint = findPiece(curve, firstPlace, sink.arrivalHint);
      if (!lastPart) {
        const Piece &piece = curve[sink.arrivalHint];
        if (piece.last + latency + late(firstPlace) > span.first)
          span.first = std::max(span.first, piece.done(firstPlace) + latency + late(firstPlace));
        continue;
      }
      const int64_t mostLeft = std::max<int64_t>(1, mulDiv(b - a, cycles, in.count));
      const auto bound = [&](int64_t word, int64_t place, const Piece &piece) {
        if (span.covers(std::max(span.first, piece.last + latency + late(place)), mostLeft))
          return;
        const int64_t left = std::max<int64_t>(1, mulDiv(end - word, cycles, in.count));
        const int64_t arrival = piece.done(place) + latency + late(place);
        this->end(p, item, std::max(span.first, arrival), left, span);
      };
      uint32_t at = sink.arrivalHint;
      for (; at + 1 < curve.size() && curve[at + 1].begin <= lastPlace; ++at) {
        const Piece &next = curve[at + 1];
        const int64_t word = takenOf(s, next.begin); // the first that comes with it, if one does
        if (const int64_t place = placeOf(s, word); place < next.end)
          bound(word, place, next);
      }
      bound(end - 1, lastPlace, curve[at]);
      sink.arrivalHint = at;
    }
  }
}

// The last cycle of a part of a step that begins in cycle `first` and takes `cycles` of the step's cyclesOf.
int64_t Simulation::trainEnd(int32_t p, const Item &item, int64_t first, int64_t cycles) const {
  const int64_t slots = mulDiv(cycles, item.stream + item.controls + item.company, cyclesOf(p, item));
  return std::max(first + cycles, slotsAfter(p, first, slots, item.priority)) - 1;
}

// Raises last to when a part is done of which `left` cycles are left in cycle `from`.
void Simulation::end(int32_t p, const Item &item, int64_t from, int64_t left, Span &span) const {
  if (span.covers(from, left))
    return;
  span.last = std::max(span.last, trainEnd(p, item, from, left));
  // Where it is slowed down to half its pace, the hold-up counts from which it would be done last.
  left = std::min(left, span.cycles);
  if (from + 2 * left > span.resumed + 2 * span.left) {
    span.resumed = from;
    span.left = left;
  }
}

int64_t Simulation::leadEnd(int32_t p, const Item &item) const {
  const int64_t computed = slotsAfter(p, processes[p].clock, item.before + slotsOwed(p), item.beforePriority);
  return slotsAfter(p, computed, item.setup, item.priority);
}

Simulation::Span Simulation::span(int32_t p, const Item &item, int64_t from, int64_t to, int64_t scale, int skipInput,
                                  int64_t *waitWords, int64_t *waitRoom) {
  const ProcessState &state = processes[p];
  const int64_t cycles = cyclesOf(p, item);
  Span span;
  span.first = from == 0 ? leadEnd(p, item) : state.lastCycle + 1;
  const int64_t ownFirst = span.first;
  boundByInputs(p, item, from, to, scale, skipInput, false, span);
  const int64_t wordsFirst = span.first;
  boundByOutputs(p, item, from, to, scale, false, waitRoom != nullptr, span);
  const int64_t roomFirst = span.first;
  span.cycles = std::max<int64_t>(1, mulDiv(to, cycles, scale) - mulDiv(from, cycles, scale));
  span.left = span.cycles;
  span.resumed = span.first;
  span.last = trainEnd(p, item, span.first, span.cycles);
  const int64_t ownLast = span.last;
  boundByInputs(p, item, from, to, scale, skipInput, true, span);
  const int64_t wordsLast = span.last;
  boundByOutputs(p, item, from, to, scale, true, waitRoom != nullptr, span);
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
  if (state.done == 0) {
    const int64_t before = item.before + slotsOwed(p);
    const int64_t computed = slotsAfter(p, state.clock, before, item.beforePriority);
    repaySlots(p);
    takeSlots(p, state.clock, computed, before, item.beforePriority);
    takeSlots(p, computed, slotsAfter(p, computed, item.setup, item.priority), item.setup, item.priority);
  }
  const int64_t all = slotsBetween(item, state.done, to, scale), later = when.later(all);
  takeSlots(p, when.first, when.resumed, all - later, item.priority);
  takeSlots(p, when.resumed, when.last + 1, later, item.priority);
  for (const Access &in : item.in) {
    if (in.slot < 0)
      continue;
    const int64_t taken = mulDivUp(in.count, to, scale);
    const Slot &slot = slotOf(p, in);
    for (int32_t k = slot.firstSink; k < slot.firstSink + slot.numSinks; ++k) {
      const int32_t s = model.slotSinks[k];
      if (sinks[s].base + taken > sinks[s].promised)
        raise(s, sinks[s].base + taken, when.first, when.last - item.rest, 0,
              mulDiv(cyclesOf(p, item), sinks[s].base + taken - sinks[s].promised, in.count));
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
  takeLinks(c, end - state.produced, when);
  state.curve.push_back({state.produced, end, when.first, last});
  state.produced = end;
  state.lastCycle = last;
  for (int32_t s = channel.firstSink; s < channel.firstSink + channel.numSinks && !repeats; ++s)
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
  if (channel.numSegments > 1 && !repeats)
    work.add(model.slots[model.segments[state.segment].slot].process);
}

} // namespace wsc::emulator::timing
