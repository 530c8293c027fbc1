// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times of a piece of a train, and its entry into the curves.
#include "runtime/emulator/timing/Simulation.h"

#include <algorithm>

namespace wsc::emulator::timing {

// Raises first (lastPart = false) or last to what the arrival of words allows.
void Simulation::boundByInputs(int32_t p, const Item &item, const Part &part, bool lastPart, Span &span) {
  for (size_t t = part.firstTaking; t < part.firstTaking + size_t(part.numTakings); ++t) {
    const Taking &taking = known.takings[t];
    const int32_t s = taking.sink;
    SinkState &sink = sinks[s];
    const ChannelState &channel = channels[taking.channel];
    const Curve &curve = channel.curve;
    const int64_t latency = sink.latency - span.earlier, moved = repeated * sink.words,
                  movedPlaces = repeated * channel.words;
    const int64_t end = taking.end + moved, firstPlace = taking.firstPlace + movedPlaces,
                  lastPlace = taking.lastPlace + movedPlaces;
    const auto late = [&](int64_t place) { return place >= sink.lateWord ? sink.lateCycles : 0; };
    sink.arrivalHint = findPiece(curve, firstPlace, sink.arrivalHint);
    if (!lastPart) {
      const Piece &piece = curve[sink.arrivalHint];
      if (piece.last + latency + late(firstPlace) > span.first)
        span.first = std::max(span.first, piece.done(firstPlace) + latency + late(firstPlace));
      continue;
    }
    const int64_t mostLeft = std::max<int64_t>(1, mulDiv(taking.end - taking.begin, part.stepCycles, taking.count));
    const auto bound = [&](int64_t word, int64_t place, const Piece &piece) {
      if (span.covers(std::max(span.first, piece.last + latency + late(place)), mostLeft))
        return;
      const int64_t left = std::max<int64_t>(1, mulDiv(end - word, part.stepCycles, taking.count));
      const int64_t arrival = piece.done(place) + latency + late(place);
      this->end(p, item, part, std::max(span.first, arrival), left, span);
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

// The last cycle of a part of a step that begins in cycle `first` and takes `cycles` of the step's.
int64_t Simulation::trainEnd(int32_t p, const Item &item, const Part &part, int64_t first, int64_t cycles) const {
  if (part.turnSlots > 0) { // what a core issues in its turn all wait for
    const int64_t slots = mulDiv(cycles, part.turnSlots, part.stepCycles);
    const int64_t idle = mulDiv(cycles, part.turnCycles - part.turnSlots, part.stepCycles);
    return std::max(first + cycles, slotsAfter(p, first, slots, item.priority) + idle) - 1;
  }
  const int64_t slots = mulDiv(cycles, part.stepSlots, part.stepCycles);
  return std::max(first + cycles, slotsAfter(p, first, slots, item.priority)) - 1;
}

// Raises last to when a part is done of which `left` cycles are left in cycle `from`.
void Simulation::end(int32_t p, const Item &item, const Part &part, int64_t from, int64_t left, Span &span) const {
  if (span.covers(from, left))
    return;
  span.last = std::max(span.last, trainEnd(p, item, part, from, left));
  // Where it is slowed down to half its pace, the hold-up counts from which it would be done last.
  left = std::min(left, span.cycles);
  if (from + 2 * left > span.resumed + 2 * span.left) {
    span.resumed = from;
    span.left = left;
  }
}

int64_t Simulation::leadEnd(int32_t p, const Item &item) const {
  const int64_t computed = slotsAfter(p, processes[p].clock, item.before + slotsDue(p), item.beforePriority);
  return slotsAfter(p, computed, item.setup, item.priority);
}

Simulation::Span Simulation::span(int32_t p, const Item &item, const Part &part, int64_t *waitWords,
                                  int64_t *waitRoom) {
  Span span;
  span.first = part.from == 0 ? leadEnd(p, item) : processes[p].lastCycle + 1;
  if (item.out.count > 0 && processes[p].sample == 0)
    span.earlier = std::min<int64_t>(slotOf(p, item.out).earlier, span.first);
  if (part.from == 0)
    span.first -= span.earlier;
  const int64_t ownFirst = span.first;
  boundByInputs(p, item, part, false, span);
  const int64_t wordsFirst = span.first;
  boundByOutputs(p, item, part, false, waitRoom != nullptr, span);
  const int64_t roomFirst = span.first;
  span.cycles = span.left = part.cycles;
  span.resumed = span.first;
  span.last = trainEnd(p, item, part, span.first, span.cycles);
  const int64_t ownLast = span.last;
  boundByInputs(p, item, part, true, span);
  const int64_t wordsLast = span.last;
  boundByOutputs(p, item, part, true, waitRoom != nullptr, span);
  if (waitWords)
    *waitWords += wordsFirst - ownFirst + wordsLast - ownLast;
  if (waitRoom)
    *waitRoom += roomFirst - wordsFirst + span.last - wordsLast;
  return span;
}

// Carries the current step from state.done to `to`.
void Simulation::commit(int32_t p, const Item &item, int64_t to) {
  ProcessState &state = processes[p];
  const Part &part = findPart(p, item, to, -1);
  const Span when = span(p, item, part, &state.waitWords, &state.waitRoom);
  if (hindsight.watching)
    watch(p, part, when);
  if (part.from == 0) {
    const int64_t before = item.before + slotsDue(p);
    const int64_t computed = slotsAfter(p, state.clock, before, item.beforePriority);
    repaySlots(p);
    takeSlots(p, state.clock, computed, before, item.beforePriority);
    takeSlots(p, computed, slotsAfter(p, computed, item.setup, item.priority), item.setup, item.priority);
  }
  const int64_t later = when.later(part.slots);
  takeSlots(p, when.first, when.resumed, part.slots - later, item.priority);
  takeSlots(p, when.resumed, when.last + 1, later, item.priority);
  raise(item, part, when);
  for (size_t i = part.firstSending; i < part.firstSending + size_t(part.numSendings); ++i)
    send(p, known.sendings[i], item, when);
  if (part.from == 0)
    state.trainFirst = when.first;
  state.done = to;
  state.lastCycle = when.last;
  if (part.whole)
    finishStep(p, item);
}

void Simulation::send(int32_t p, const Sending &sending, const Item &item, const Span &when) {
  const int32_t c = sending.channel;
  const Channel &channel = model.channels[c];
  ChannelState &state = channels[c];
  const int64_t end = sending.end + repeated * channel.words;
  // Control words that end in the core's router do so unseen while those behind it still send their own words.
  const int64_t turned = item.out.count <= sending.between ? item.controls : 0;
  const int64_t first = when.first + sending.further,
                last = std::max(first, when.last - item.rest - turned + sending.further);
  takeLinks(sending, when);
  state.curve.push_back({state.produced, end, first, last});
  state.produced = end;
  state.trainFirst = first;
  state.lastCycle = last;
  if (repeats)
    return;
  for (int32_t s = channel.firstSink; s < channel.firstSink + channel.numSinks; ++s)
    if (end >= sinks[s].wakeAt) {
      sinks[s].wakeAt = kNever;
      work.add(model.sinks[s].process);
    }
  FeedState &feed = feedState(p, sending.feed);
  const SourceSegment &segment = model.segments[feed.segment];
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
