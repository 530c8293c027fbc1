// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/timing/Parts.h"
#include "runtime/emulator/timing/Simulation.h"

#include <algorithm>

namespace wsc::emulator::timing {

// The part of the process's step up to `to`. `input`: the one whose words it only promises to take, -1: the part moves.
const Part &Simulation::findPart(int32_t p, const Item &item, int64_t to, int input) {
  if (nextPart < known.parts.size()) {
    Part &part = known.parts[nextPart++];
    if (recharges)
      recharge(p, item, part);
    return part;
  }
  if (notes == Notes::None)
    forgetParts();
  Part part;
  part.from = processes[p].done;
  part.to = to;
  part.whole = to == scaleOf(p, item);
  const int64_t scale = scaleOf(p, item);
  findCycles(p, item, part, scale);
  const int64_t slots = item.stream + item.controls;
  part.slots = mulDiv(to, slots, scale) - mulDiv(part.from, slots, scale);
  part.firstTaking = known.takings.size();
  part.firstSending = known.sendings.size();
  part.firstRaise = known.raises.size();
  for (int i = 0; i < 2; ++i)
    if (item.in[i].slot >= 0) {
      if (i != input)
        findTakings(p, item.in[i], part, scale);
      if (input < 0 || i == input)
        findRaises(p, item, i, part, scale, input >= 0);
    }
  if (item.out.count > 0)
    findSendings(p, item, part, scale);
  part.numTakings = int32_t(known.takings.size() - part.firstTaking);
  part.numSendings = int32_t(known.sendings.size() - part.firstSending);
  part.numRaises = int32_t(known.raises.size() - part.firstRaise);
  known.parts.push_back(part);
  ++nextPart;
  return known.parts.back();
}

void Simulation::findCycles(int32_t p, const Item &item, Part &part, int64_t scale) const {
  const Charge charge = chargeOf(p, processes[p].serial);
  part.stepCycles = cyclesOf(p, item, charge);
  part.stepCrossing = charge.crossing;
  part.stepSlots = item.stream + item.controls + contentionOf(p, item, charge);
  if (item.out.count > 0)
    if (const Slot &slot = slotOf(p, item.out); slot.gathers()) {
      part.turnSlots = slot.cores * item.turnSlots();
      part.turnCycles = item.turnsOf(slot.cores, processes[p].sample == 0);
    }
  part.cycles =
      std::max<int64_t>(1, mulDiv(part.to, part.stepCycles, scale) - mulDiv(part.from, part.stepCycles, scale));
}

void Simulation::findCycles(const Part &part, Sending &sending) {
  const int64_t words = sending.end - sending.begin;
  sending.last = mulDiv(words - 1, part.stepCycles, sending.total);
  sending.mostLeft = std::max<int64_t>(1, mulDiv(words, part.stepCycles, sending.total));
}

void Simulation::findTakings(int32_t p, const Access &in, const Part &part, int64_t scale) {
  const int64_t a = mulDivUp(in.count, part.from, scale), b = mulDivUp(in.count, part.to, scale);
  if (a == b)
    return;
  const Slot &slot = slotOf(p, in);
  for (int32_t k = slot.firstSink; k < slot.firstSink + slot.numSinks; ++k) {
    const int32_t s = model.slotSinks[k];
    const int64_t begin = sinks[s].base + a, end = sinks[s].base + b;
    known.takings.push_back({s, model.sinks[s].channel, in.count, begin, end, placeOf(s, begin), placeOf(s, end - 1)});
  }
}

void Simulation::findRaises(int32_t p, const Item &item, int i, const Part &part, int64_t scale, bool ahead) {
  const Access &in = item.in[i];
  const Slot &slot = slotOf(p, in);
  for (int32_t k = slot.firstSink; k < slot.firstSink + slot.numSinks; ++k) {
    const int32_t s = model.slotSinks[k];
    const SinkState &sink = sinks[s];
    const int64_t words = sink.base + mulDivUp(in.count, part.to, scale);
    if (words > sink.promised)
      known.raises.push_back({s, words, ahead && part.from == 0 && sink.promised == sink.base ? item.lead() : 0,
                              mulDiv(part.stepCycles, words - sink.promised, in.count)});
  }
}

void Simulation::findSendings(int32_t p, const Item &item, const Part &part, int64_t scale) {
  const int32_t slotIndex = model.units[model.processes[p].unit].firstSlot + item.out.slot;
  const Slot &slot = model.slots[slotIndex];
  const int64_t sent = sentOf(p, slotIndex);
  for (int32_t f = slot.firstFeed; f < slot.firstFeed + slot.numFeeds; ++f) {
    const FeedState &feed = feedState(p, f);
    const int32_t c = model.feeds[f].channel;
    if (feed.segment < 0 || channels[c].segment != feed.segment)
      continue;
    const SourceSegment &segment = model.segments[feed.segment];
    Sending sending;
    sending.channel = c;
    sending.feed = f;
    sending.begin = channels[c].segmentBase + segmentWords(segment, sent, item.out.count, part.from, scale);
    sending.end = channels[c].segmentBase + segmentWords(segment, sent, item.out.count, part.to, scale);
    if (sending.begin >= sending.end)
      continue;
    const int64_t begin = sending.begin, end = sending.end;
    sending.total = item.out.count * segment.cores;
    sending.further = segment.further;
    sending.between = segment.between;
    findCycles(part, sending);
    sending.firstNeed = known.needs.size();
    const Channel &channel = model.channels[c];
    bool windows = false;
    for (int32_t s = channel.firstSink; s < channel.firstSink + channel.numSinks; ++s) {
      const Sink &sink = model.sinks[s];
      windows |= sinks[s].windows;
      // `capacity` words per round trip of word and credit is the most that such a buffer passes.
      if (sink.capacity < sink.latency + sink.credit)
        sending.roundTrip =
            std::max(sending.roundTrip, mulDiv(end - 1 - begin, sink.latency + sink.credit, sink.capacity));
    }
    for (int32_t s = channel.firstSink; windows && s < channel.firstSink + channel.numSinks; ++s) {
      const Sink &sink = model.sinks[s];
      Need need;
      // Words before the first sample's come to be those of samples.
      const int64_t earlier = sink.routeWords() / channel.words + 3;
      need.first = neededFor(s, begin + earlier * channel.words) - earlier * sink.words;
      const int64_t last = neededFor(s, end - 1 + earlier * channel.words);
      need.last = last - earlier * sink.words;
      need.freed = std::clamp(freedBy(s, last) - earlier * channel.words, begin, end - 1);
      // With one sink only what the source can still notice matters.
      need.stop = channel.numSinks > 1 ? takenOf(s, end) : need.last + 1;
      need.begin = channel.numSinks > 1 ? takenOf(s, begin) : 0;
      known.needs.push_back(need);
    }
    known.sendings.push_back(sending);
  }
}

} // namespace wsc::emulator::timing
