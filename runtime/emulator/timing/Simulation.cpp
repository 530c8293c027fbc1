// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Progress: processes from the worklist, each carried as far as the words and space known so far allow.
#include "runtime/emulator/timing/Simulation.h"

#include <algorithm>

namespace wsc::emulator::timing {

Simulation::Simulation(const Model &model, Notes notes)
    : model(model), notes(notes), channels(model.channels.size()), sinks(model.sinks.size()), feeds(model.feeds.size()),
      slots(model.slots.size()), processes(model.processes.size()), hindsight(model.processes.size()), work(model) {
  for (size_t c = 0; c < channels.size(); ++c) {
    channels[c].segment = model.channels[c].firstSegment;
    channels[c].words = model.channels[c].words;
  }
  for (size_t s = 0; s < sinks.size(); ++s) {
    sinks[s].words = model.sinks[s].words;
    sinks[s].latency = int32_t(model.sinks[s].latency);
    sinks[s].credit = int32_t(model.sinks[s].credit);
    sinks[s].capacity = model.sinks[s].capacity;
    sinks[s].windows = model.sinks[s].numStretches > 0;
  }
  for (size_t p = 0; p < processes.size(); ++p)
    processes[p].cursor.begin(programOf(int32_t(p)));
  for (const Unit &unit : model.units) {
    issueSlotsOf.push_back(unit.numProcesses > 1 ? int32_t(issueSlots.size()) : -1);
    if (unit.numProcesses > 1)
      issueSlots.emplace_back(unit.numProcesses);
  }
  for (int32_t members : model.linkMembers)
    links.emplace_back(members);
}

bool Simulation::runSample() {
  ++limit;
  for (ProcessState &state : processes)
    state.waitWords = state.waitRoom = 0;
  hindsight.watching = Hindsight::watches(limit);
  if (repeats)
    repeatMoves();
  else if (!decideMoves())
    return false;
  recharges = false;
  if (limit == 1) {
    const bool looksAgain = charge() || notes == Notes::Look;
    isShort = looksAgain && notes == Notes::None;
    for (int look = 0; look < kLooks && looksAgain && !isShort; ++look) {
      timeAgain();
      charge();
    }
  } else if (!hindsight.watching && !hindsight.trains.empty()) {
    chargeLater();
    recharges = true;
  }
  if (!repeats && notes != Notes::None)
    noteSample();
  return true;
}

bool Simulation::decideMoves() {
  moves.clear();
  // Everybody promises before anybody sends, sinks first.
  for (auto p = work.order().rbegin(); p != work.order().rend(); ++p) {
    if (reachStep(*p))
      promise(*p);
    work.add(*p);
  }
  work.run([&](int32_t p) { advance(p); });
  return std::none_of(processes.begin(), processes.end(),
                      [&](const ProcessState &state) { return state.sample < limit; });
}

void Simulation::trim() {
  if (!hindsight.trains.empty()) // they are to be looked at once more
    return;
  for (size_t u = 0; u < model.units.size(); ++u)
    if (const int32_t shared = issueSlotsOf[u]; shared >= 0) {
      const Unit &unit = model.units[u];
      int64_t earliest = kNever;
      for (int32_t t = 0; t < unit.numProcesses; ++t)
        earliest = std::min(earliest, processes[unit.firstProcess + t].clock);
      issueSlots[shared].trim(earliest);
    }
  std::vector<int64_t> idle(links.size(), kNever); // nobody asks for what lies before
  for (size_t c = 0; c < channels.size(); ++c)
    for (int32_t l = model.channels[c].firstLink; l < model.channels[c].firstLink + model.channels[c].numLinks; ++l) {
      int64_t &cycle = idle[size_t(model.linkShares[l].link)];
      cycle = std::min(cycle, channels[c].lastCycle + model.linkShares[l].delay);
    }
  for (size_t l = 0; l < links.size(); ++l)
    links[l].trim(idle[l]);
  for (ChannelState &channel : channels)
    channel.curve.clear();
  for (size_t s = 0; s < sinks.size(); ++s) {
    SinkState &sink = sinks[s];
    sink.arrivalHint = sink.readyHint = 0;
    const int64_t needed = neededFor(int32_t(s), channels[model.sinks[s].channel].produced - 1);
    auto keep =
        std::find_if(sink.ready.begin(), sink.ready.end(), [&](const Piece &piece) { return piece.end > needed; });
    sink.ready.erase(sink.ready.begin(), keep);
  }
}

// Carries the process over slots without words.
void Simulation::compute(int32_t p, int64_t slots, int32_t priority) {
  ProcessState &state = processes[p];
  if (slots > 0) {
    slots += slotsDue(p);
    repaySlots(p);
  }
  const int64_t end = slotsAfter(p, state.clock, slots, priority);
  takeSlots(p, state.clock, end, slots, priority);
  state.clock = end;
}

void Simulation::endSample(int32_t p) {
  ProcessState &state = processes[p];
  const ThreadProgram &program = programOf(p);
  compute(p, program.tail, program.tailPriority);
  state.finished = state.clock;
  ++state.sample;
  state.sampleSerial = state.serial;
  compute(p, program.carry, program.tailPriority);
  state.cursor.begin(program);
}

// Carries the process over cycles of computation to its next step with words.
bool Simulation::reachStep(int32_t p) {
  ProcessState &state = processes[p];
  const ThreadProgram &program = programOf(p);
  for (bool moved = false;; moved = true) {
    if (state.sample == limit) {
      if (moved)
        note(Move::Compute, p);
      return false;
    }
    if (state.cursor.item == int32_t(program.items.size())) {
      endSample(p);
      continue;
    }
    const Item &item = program.items[state.cursor.item];
    if (item.in[0].slot >= 0 || item.out.count > 0) {
      if (moved)
        note(Move::Compute, p);
      return true;
    }
    compute(p, item.before + item.setup + item.stream + item.controls, item.priority);
    if (item.controls > 0)
      state.clock += item.controls * (slotOf(p, item.out).cores - 1);
    ++state.serial;
    state.cursor.next(program);
  }
}

int64_t Simulation::scaleOf(int32_t p, const Item &item) const {
  int64_t scale = std::max(item.in[0].count, item.in[1].count);
  if (item.out.count > 0)
    scale = std::max(scale, item.out.count * slotOf(p, item.out).cores);
  return scale;
}

int64_t Simulation::cyclesOf(int32_t p, const Item &item, const Charge &charge) const {
  int64_t cycles = item.stream + item.controls + contentionOf(p, item, charge);
  if (charge.links > 0)
    cycles = std::max(cycles, item.out.count + charge.links);
  if (item.out.count > 0)
    if (const Slot &slot = slotOf(p, item.out); slot.gathers()) {
      const bool first = processes[p].sample == 0;
      const int64_t contention = first ? slot.firstContention : slot.turnContention;
      cycles = std::max(cycles, item.turnsOf(slot.cores, first) +
                                    slot.cores * (item.turnSlots() * contention / Slot::kWholeContention));
    }
  return cycles;
}

// Of the channel's first `wanted` words those that pass the router of sink `s`: a word passes it to all sides at once,
// so the other sinks on the line need space for it, in their queues and, those that lie behind, in the routers between.
// `holder`: who has none for the next.
int64_t Simulation::passing(int32_t s, int64_t wanted, int32_t *holder) const {
  const Sink &sink = model.sinks[s];
  const Channel &channel = model.channels[sink.channel];
  if (!sink.straight)
    return wanted;
  for (int32_t o = channel.firstSink; o < channel.firstSink + channel.numSinks; ++o) {
    const int64_t between = o == s ? -1 : sink.wordsTo(model.sinks[o]);
    if (between < 0)
      continue;
    const int64_t bound = placeOf(o, sinks[o].promised + model.sinks[o].queueWords) + between;
    if (bound < wanted) {
      wanted = bound;
      *holder = o;
    }
  }
  return wanted;
}

// How far the words produced so far carry input i of the step.
int64_t Simulation::inputLimit(int32_t p, const Item &item, int i, int64_t scale) {
  const Access &in = item.in[i];
  if (in.slot < 0)
    return scale;
  const Slot &slot = slotOf(p, in);
  int64_t reach = scale;
  for (int32_t k = slot.firstSink; k < slot.firstSink + slot.numSinks; ++k) {
    const int32_t s = model.slotSinks[k], c = model.sinks[s].channel;
    const Channel &channel = model.channels[c];
    ChannelState &state = channels[c];
    int64_t produced = std::min(state.produced, placeOf(s, sinks[s].base + in.count - 1) + 1);
    if (channel.numSinks > 1 && produced > state.passed) {
      state.passed = kNever;
      for (int32_t o = channel.firstSink; o < channel.firstSink + channel.numSinks; ++o)
        state.passed = std::min(state.passed, placeOf(o, sinks[o].promised + model.sinks[o].queueWords));
      int32_t holder = -1;
      if (produced > state.passed)
        produced = passing(s, produced, &holder);
      state.held |= holder >= 0;
    }
    const int64_t words = takenOf(s, produced) - sinks[s].base;
    if (words < in.count)
      reach = std::min(reach, mulDiv(std::max<int64_t>(0, words), scale, in.count));
  }
  return reach;
}

FeedState &Simulation::feedState(int32_t p, int32_t feed) {
  FeedState &state = feeds[feed];
  if (state.sample != processes[p].sample) {
    state.sample = processes[p].sample;
    state.segment = model.feeds[feed].firstSegment;
  }
  return state;
}

int64_t &Simulation::sentOf(int32_t p, int32_t slot) {
  SlotState &state = slots[slot];
  if (state.sample != processes[p].sample) {
    state.sample = processes[p].sample;
    state.sent = 0;
  }
  return state.sent;
}

// Words of the segment that are out when a step of `count` words that follows `sent` words has come to done/scale.
int64_t Simulation::segmentWords(const SourceSegment &segment, int64_t sent, int64_t count, int64_t done,
                                 int64_t scale) const {
  const int64_t before = (sent - segment.sourceBegin) * segment.cores;
  return std::clamp<int64_t>(before + mulDiv(count * segment.cores, done, scale), 0, segment.words());
}

// Up to which word of the channel there is space; at least `wanted` if it returns `wanted`. Otherwise the holding sink
// is watched.
int64_t Simulation::room(int32_t c, int64_t wanted) {
  const Channel &channel = model.channels[c];
  ChannelState &state = channels[c];
  const int64_t shorterBy = model.segments[state.segment].shorterBy;
  const auto bound = [&](int32_t s) { return freedBy(s, sinks[s].promised) - shorterBy; };
  if (state.watched >= 0 && bound(state.watched) <= state.produced)
    return state.produced;
  int64_t least = wanted;
  int32_t holder = -1;
  for (int32_t s = channel.firstSink; s < channel.firstSink + channel.numSinks; ++s)
    if (bound(s) < least) {
      least = bound(s);
      holder = s;
    }
  state.watched = holder;
  return least;
}

// How far space and turn in the output's channels let the step go.
int64_t Simulation::outputLimit(int32_t p, const Item &item, int64_t scale) {
  if (item.out.count == 0)
    return scale;
  const int32_t slotIndex = model.units[model.processes[p].unit].firstSlot + item.out.slot;
  const Slot &slot = model.slots[slotIndex];
  const int64_t sent = sentOf(p, slotIndex), count = item.out.count;
  int64_t reach = scale;
  for (int32_t f = slot.firstFeed; f < slot.firstFeed + slot.numFeeds; ++f) {
    const FeedState &feed = feedState(p, f);
    if (feed.segment < 0)
      continue;
    const SourceSegment &segment = model.segments[feed.segment];
    const int64_t before = (sent - segment.sourceBegin) *
                           segment.cores; // words of the segment out before the step, or still ahead of it (< 0)
    const int64_t total = count * segment.cores;
    if (before + total <= 0)
      continue;
    const int32_t c = model.feeds[f].channel;
    int64_t words = 0; // of the segment
    if (channels[c].segment == feed.segment) {
      const int64_t end = channels[c].segmentBase + std::min(segment.words(), before + total);
      words = room(c, end) - channels[c].segmentBase;
    } else {
      words = std::max<int64_t>(0, before);
    }
    if (words < before + total) {
      const bool whole = words == segment.words(); // the piece must hold the segment's last word
      const int64_t part = std::max<int64_t>(0, words - before);
      reach = std::min(reach, whole ? mulDivUp(part, scale, total) : mulDiv(part, scale, total));
    }
  }
  return reach;
}

void Simulation::advance(int32_t p) {
  ProcessState &state = processes[p];
  while (reachStep(p)) {
    const Item &item = programOf(p).items[state.cursor.item];
    const int64_t scale = scaleOf(p, item);
    int64_t reach = std::min(inputLimit(p, item, 0, scale), inputLimit(p, item, 1, scale));
    if (reach > state.done)
      reach = std::min(reach, outputLimit(p, item, scale));
    if (reach == scale || (reach > state.done && work.takesParts())) {
      note(Move::Commit, p, reach);
      commit(p, item, reach);
      continue;
    }
    if (reach > state.done)
      work.putOff(p);
    block(p, item);
    promise(p);
    return;
  }
}

void Simulation::finishStep(int32_t p, const Item &item) {
  ProcessState &state = processes[p];
  for (const Access &in : item.in)
    if (in.slot >= 0 && !repeats) {
      const Slot &slot = slotOf(p, in);
      for (int32_t k = slot.firstSink; k < slot.firstSink + slot.numSinks; ++k)
        sinks[model.slotSinks[k]].base += in.count;
    }
  if (item.out.count > 0 && !repeats)
    sentOf(p, model.units[model.processes[p].unit].firstSlot + item.out.slot) += item.out.count;
  state.clock = state.lastCycle + 1;
  state.done = 0;
  ++state.serial;
  state.cursor.next(programOf(p));
}

// Leaves word with every channel whose next words matter. A step that only stores is woken once, for its last word.
void Simulation::block(int32_t p, const Item &item) {
  const bool passesOn = item.out.count > 0 || item.in[1].slot >= 0;
  for (const Access &in : item.in) {
    if (in.slot < 0)
      continue;
    const Slot &slot = slotOf(p, in);
    for (int32_t k = slot.firstSink; k < slot.firstSink + slot.numSinks; ++k) {
      const int32_t s = model.slotSinks[k];
      const int64_t arrived = takenOf(s, channels[model.sinks[s].channel].produced), end = sinks[s].base + in.count;
      if (arrived < end)
        sinks[s].wakeAt = placeOf(s, passesOn ? arrived : end - 1) + 1;
    }
  }
}

} // namespace wsc::emulator::timing
