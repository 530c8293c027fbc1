// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How space at the sinks, and the order of words on a channel, bound a piece of a train.
//
// A word can leave when every sink has taken the word `capacity` before it. Sinks take evenly inside a piece of their
// curve and may pause between pieces (the set-up of their next instruction). A pause begins when the sink has taken the
// word before it, which may be later than it could have been taken: because it left late, or because the sink has not
// yet made up for the pause before. A multicast waits for all: a pause holds words up at further sinks as soon as the
// queue of the pausing one is full, at nearer ones and at the source when those between are full too. So the pauses of
// all sinks are gone through in the order of their words.
#include "runtime/emulator/timing/Simulation.h"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace wsc::emulator::timing {

void Simulation::boundByOutputs(int32_t p, const Item &item, const Part &part, bool lastPart, bool final, Span &span) {
  for (size_t i = part.firstSending; i < part.firstSending + size_t(part.numSendings); ++i) {
    const Sending &sending = known.sendings[i];
    if (lastPart) {
      boundByPauses(p, item, part, sending, final, span);
      boundByLinks(part, sending, span);
    } else {
      boundByFirst(sending, span);
    }
  }
}

// Colours take turns on a link, but for those that yield (LinkPriorities.cpp) to the words of a row's multicast, which
// leave their cores no slots if they come one a cycle. They do not while others pass the row, and not when they set in
// while a gather has the link, if it is one that keeps half then: both go on with half of it. Words that have only
// waited for their cores' next set-up stand in the queues and come one a cycle as soon as they are taken.
SharedSlots::Claim Simulation::claimOf(int32_t c, const LinkShare &share, const Span &span) const {
  SharedSlots::Claim claim{share.member, share.priority};
  if (claim.priority == 0)
    return claim;
  const SharedSlots::Holders holders = links[size_t(share.link)].holders(span.resumed + share.delay, claim);
  if (!holders.lower)
    return claim;
  const Channel &channel = model.channels[c];
  int64_t standing = 0; // words that stand in the queues when nobody takes any
  for (int32_t s = channel.firstSink; s < channel.firstSink + channel.numSinks; ++s)
    standing = std::max(standing, sinks[s].capacity);
  const bool setsIn = span.resumed - span.first > standing || span.first - channels[c].lastCycle > standing;
  if (holders.equal || (setsIn && share.givesHalf))
    claim.priority = 0;
  return claim;
}

// A word goes out over all its links at once, so the slowest sets the pace.
void Simulation::boundByLinks(const Part &part, const Sending &sending, Span &span) const {
  const int32_t c = sending.channel;
  const int64_t words = sending.end - sending.begin, charged = mulDiv(part.stepCrossing, words, sending.total);
  const Channel &channel = model.channels[c];
  for (int32_t l = channel.firstLink; l < channel.firstLink + channel.numLinks; ++l) {
    const LinkShare &share = model.linkShares[l];
    const int32_t crosses = partOf(share, sending);
    if (crosses == 0)
      continue;
    const SharedSlots &link = links[size_t(share.link)];
    const SharedSlots::Claim claim = claimOf(c, share, span);
    const int64_t all = LinkShare::crossing(words, crosses) + charged,
                  left = LinkShare::crossing(span.later(words), crosses);
    const int64_t delay = share.delay + sending.further;
    const int64_t after =
        std::max(link.after(span.first + delay, all, claim), link.after(span.resumed + delay, left, claim));
    span.last = std::max(span.last, after - 1 - delay);
  }
}

int64_t Simulation::linkDue(int32_t c, const LinkShare &share) const {
  const ChannelState &state = channels[c];
  return links[size_t(share.link)].due(share.member, state.trainFirst + share.delay, state.lastCycle + 1 + share.delay);
}

void Simulation::takeLinks(const Sending &sending, const Span &span) {
  const int32_t c = sending.channel;
  const int64_t words = sending.end - sending.begin;
  const Channel &channel = model.channels[c];
  for (int32_t l = channel.firstLink; l < channel.firstLink + channel.numLinks; ++l) {
    const LinkShare &share = model.linkShares[l];
    const int32_t part = partOf(share, sending);
    if (part == 0)
      continue;
    SharedSlots &link = links[size_t(share.link)];
    const SharedSlots::Claim claim = claimOf(c, share, span);
    const int64_t all = LinkShare::crossing(words, part), later = LinkShare::crossing(span.later(words), part),
                  due = linkDue(c, share), delay = share.delay + sending.further;
    link.repay(share.member);
    link.take(channels[c].lastCycle + 1 + share.delay, span.first + delay, due, claim);
    link.take(span.first + delay, span.resumed + delay, all - later, claim);
    link.take(span.resumed + delay, span.last + 1 + delay, later, claim);
  }
}

void Simulation::boundByFirst(const Sending &sending, Span &span) {
  const int32_t c = sending.channel;
  const Channel &channel = model.channels[c];
  if (!channel.fifo)
    span.first = std::max(span.first, channels[c].lastCycle + 1 - sending.further);
  for (int32_t l = channel.firstLink; l < channel.firstLink + channel.numLinks; ++l) {
    const LinkShare &share = model.linkShares[l];
    if (partOf(share, sending) == 0)
      continue;
    const SharedSlots &link = links[size_t(share.link)];
    const int64_t free =
        link.after(channels[c].lastCycle + 1 + share.delay, linkDue(c, share), {share.member, share.priority});
    span.first = std::max(span.first, free - share.delay - sending.further);
  }
  for (int32_t s = channel.firstSink; s < channel.firstSink + channel.numSinks; ++s) {
    SinkState &sink = sinks[s];
    fetchSink(s + 4, channel.firstSink + channel.numSinks);
    const int64_t word = needOf(s, sending, channel.numSinks == 1).first;
    if (word < 0 || sink.ready.empty())
      continue;
    sink.readyHint = findPiece(sink.ready, word, sink.readyHint);
    const Piece &piece = sink.ready[sink.readyHint];
    if (piece.last + sink.credit > span.first)
      span.first = std::max(span.first, piece.start(word) + sink.credit);
  }
}

// By how much a word comes later to a sink than it would if nothing held up the train, on account of the first `before`
// pauses: those at nearer sinks let it pass their routers late, those at further ones once the queues between are full.
int64_t Simulation::lateAt(int32_t s, int64_t word, size_t before) const {
  const Sink &at = model.sinks[s];
  int64_t late = 0;
  for (size_t i = 0; i < before; ++i) {
    if (pauses[i].atSink <= late)
      continue;
    const Sink &other = model.sinks[pauses[i].sink];
    const int64_t between = std::max<int64_t>(0, other.capacity - at.capacity);
    if (pauses[i].full + between > word)
      continue;
    // Queues that hold more than a stream under way needs make up for some of it.
    const int64_t spare =
        between > 0 ? std::max<int64_t>(0, between - (other.latency - at.latency) - (other.credit - at.credit)) : 0;
    late = std::max(late, pauses[i].atSink - spare);
  }
  return late;
}

// The same at the source.
int64_t Simulation::lateAtSource(int64_t word) const {
  int64_t late = 0;
  for (const Pause &pause : pauses)
    if (pause.atSource > late && pause.freed <= word)
      late = pause.atSource;
  return late;
}

// Windows of the sink from its word `begin` up to `stop`, of words that leave in `cycles` per `total`, that it takes
// more slowly.
template <typename Meet>
void Simulation::meetWindows(int32_t s, int64_t begin, int64_t stop, int64_t cycles, int64_t total, Meet meet) const {
  const Curve &ready = sinks[s].ready;
  const int64_t queueWords = model.sinks[s].queueWords;
  stop = std::min(stop, ready.back().end);
  uint32_t at = sinks[s].readyHint;
  for (int64_t word = std::max(begin, ready.front().begin), next = 0; word < stop; word = next) {
    at = findPiece(ready, word, at);
    next = std::min({model.window(model.sinks[s]).runEnd(word), ready[at].end, stop});
    const int64_t last = next - 1 - queueWords;
    if (last > word && ready[at].ownAfter(last - word) > mulDiv(next - 1 - word, cycles, total))
      meet(s, at, last, word);
  }
}

void Simulation::boundByPauses(int32_t p, const Item &item, const Part &part, const Sending &sending, bool final,
                               Span &span) {
  const int32_t c = sending.channel;
  const Channel &channel = model.channels[c];
  const ChannelState &state = channels[c];
  const int64_t cycles = part.stepCycles, total = sending.total, mostLeft = sending.mostLeft;
  const int64_t begin = sending.begin + repeated * channel.words, end = sending.end + repeated * channel.words;
  const auto bound = [&](int32_t s, int64_t freed, int64_t taken) {
    if (freed >= begin && span.covers(std::max(span.first, taken + sinks[s].credit), mostLeft))
      return;
    const int64_t left = std::max<int64_t>(1, mulDiv(end - freed, cycles, total));
    this->end(p, item, part, std::max(span.first, taken + sinks[s].credit), left, span);
  };
  const auto meet = [&](int32_t s, uint32_t piece, int64_t word, int64_t windowBegin = -1) {
    const int64_t full = placeOf(s, word + model.sinks[s].queueWords);
    pauses.push_back(
        {s, piece, word, placeOf(s, word), full, full + model.sinks[s].routeWords(), 0, windowBegin, 0, 0});
  };
  pauses.clear();
  tried.clear();
  bool held = false; // some sink has not taken yet what it paused before
  span.last = std::max(span.last, span.first + sending.roundTrip);
  for (int32_t s = channel.firstSink; s < channel.firstSink + channel.numSinks; ++s) {
    SinkState &sink = sinks[s];
    if (sink.ready.empty()) {
      tried.emplace_back();
      continue;
    }
    const Need need = needOf(s, sending, channel.numSinks == 1);
    fetchSink(s + 4, channel.firstSink + channel.numSinks);
    // Of earlier pauses those whose space these words ask for, at the source or, the latest, at other sinks.
    const auto meetAgain = [&](const SinkState::Resumed &was) {
      pauses.push_back({s, Pause::kKnown, was.word, was.place, was.full, was.freed, was.cycle, -1, 0, 0});
    };
    held |= !sink.resumed.empty() && sink.resumed.back().freed >= begin;
    auto was = sink.resumed.begin();
    for (; was != sink.resumed.end() && was->freed < end; ++was)
      if (was->freed >= begin)
        meetAgain(*was);
    if (channel.numSinks > 1) {
      auto late = sink.resumed.end();
      while (late != was && std::prev(late)->full >= begin)
        --late;
      for (; late != sink.resumed.end() && late->full < end; ++late)
        meetAgain(*late);
    }
    const Tried &resumed =
        tried.emplace_back(sink.resumed.empty() ? Tried() : Tried{sink.resumed.back().word, sink.resumed.back().cycle});
    uint32_t at = sink.readyHint = findPiece(sink.ready, std::max(resumed.word, need.first), sink.readyHint);
    if (channel.numSinks > 1 && sink.windows)
      meetWindows(s, need.begin, need.stop, cycles, total, meet);
    for (; at + 1 < sink.ready.size() && sink.ready[at + 1].begin < need.stop; ++at)
      meet(s, at + 1, sink.ready[at + 1].begin);
    if (need.last >= 0) {
      const Piece &piece = sink.ready[findPiece(sink.ready, need.last, at)];
      if (!span.covers(std::max(span.first, piece.last + sink.credit), mostLeft))
        bound(s, need.freed, piece.start(need.last));
    }
  }
  if (pauses.empty() && !held)
    return;
  std::sort(pauses.begin(), pauses.end(),
            [](const Pause &a, const Pause &b) { return std::tie(a.place, a.sink) < std::tie(b.place, b.sink); });
  const auto leaves = [&](int64_t word) { return span.first + mulDiv(word - begin, cycles, total); };
  for (size_t i = 0; i < pauses.size(); ++i) {
    Pause &pause = pauses[i];
    const Sink &route = model.sinks[pause.sink];
    Tried &resumed = tried[size_t(pause.sink - channel.firstSink)];
    if (pause.windowBegin >= 0) {
      const SinkState &sink = sinks[pause.sink];
      const Piece &piece = sink.ready[pause.piece];
      const int64_t place = placeOf(pause.sink, pause.windowBegin);
      const int64_t arrival = leaves(place) + lateAt(pause.sink, place, i) + route.latency;
      pause.taken = std::max(piece.start(pause.word), arrival + piece.ownAfter(pause.word - pause.windowBegin));
      if (resumed.word >= piece.begin)
        pause.taken = std::max(pause.taken, resumed.cycle + piece.ownAfter(pause.word - resumed.word));
    } else if (pause.piece != Pause::kKnown) {
      const SinkState &sink = sinks[pause.sink];
      const Piece &next = sink.ready[pause.piece], &piece = sink.ready[pause.piece - 1];
      const int64_t before = pause.word - 1,
                    beforePlace = placeOf(pause.sink, before); // the last word before the pause
      int64_t done = 0;
      if (beforePlace >= begin)
        done = leaves(beforePlace) + lateAt(pause.sink, beforePlace, i) + route.latency;
      else if (!state.curve.empty() && beforePlace >= state.curve.front().begin)
        done = state.curve[findPiece(state.curve, beforePlace, uint32_t(state.curve.size()) - 1)].done(beforePlace) +
               route.latency;
      if (resumed.word >= piece.begin)
        done = std::max(done, resumed.cycle + piece.after(before - resumed.word));
      pause.taken = done > 0 ? std::max(next.first, done + 1 + next.pause) : next.first;
      resumed = {pause.word, pause.taken};
    }
    if (pause.freed < end)
      bound(pause.sink, pause.freed, pause.taken);
    if (pause.full >= begin && channel.numSinks > 1)
      pause.atSink = pause.taken + route.queueCredit - (leaves(pause.full) + route.latency - route.queueLatency);
    if (pause.freed >= begin)
      pause.atSource = pause.taken + route.credit - leaves(pause.freed);
  }
  span.last = std::max(span.last, leaves(end - 1) + lateAtSource(end - 1));
  boundByStanding(sending, begin, end, span);
  if (final)
    keepPauses(c, begin, end, span.last - leaves(end - 1));
}

// Words [begin, end) that a pause leaves standing before links on the way to its sink have still to cross these: all
// but those that the sink's queue and the routers behind the link hold.
void Simulation::boundByStanding(const Sending &sending, int64_t begin, int64_t end, Span &span) const {
  const Channel &channel = model.channels[sending.channel];
  for (int32_t l = channel.firstLink; l < channel.firstLink + channel.numLinks; ++l) {
    const LinkShare &share = model.linkShares[l];
    const int32_t part = partOf(share, sending);
    if (part == 0)
      continue;
    const SharedSlots &link = links[size_t(share.link)];
    const SharedSlots::Claim claim = claimOf(sending.channel, share, span);
    for (const Pause &pause : pauses) {
      const Sink &sink = model.sinks[pause.sink];
      const int64_t behind = sink.wordsFrom(share), first = std::max(begin, pause.full + behind);
      if (behind < 0 || first >= end)
        continue;
      const int64_t after = link.after(pause.taken + sink.queueCredit, LinkShare::crossing(end - first, part), claim);
      span.last = std::max(span.last, after - 1 - share.delay);
    }
  }
}

// What later trains and the sinks need of the pauses that words [begin, end) of channel `c` met; the last of them
// leaves `late` cycles later than it could have.
void Simulation::keepPauses(int32_t c, int64_t begin, int64_t end, int64_t late) {
  const Channel &channel = model.channels[c];
  for (const Pause &pause : pauses)
    if (pause.piece != Pause::kKnown)
      sinks[pause.sink].resumed.push_back({pause.word, pause.taken, pause.place, pause.full, pause.freed});
  // Only what is later elsewhere than at the source matters from here on.
  pauses.erase(std::remove_if(pauses.begin(), pauses.end(), [&](const Pause &pause) { return pause.atSink <= late; }),
               pauses.end());
  for (int32_t s = channel.firstSink; s < channel.firstSink + channel.numSinks; ++s) {
    std::vector<SinkState::Resumed> &resumed = sinks[s].resumed;
    size_t past = 0; // all but the last whose space nobody will ask for any more
    while (past + 1 < resumed.size() && resumed[past].freed < end)
      ++past;
    resumed.erase(resumed.begin(), resumed.begin() + long(past));
    if (channel.numSinks > 1) {
      sinks[s].lateWord = end - 1;
      sinks[s].lateCycles = std::max<int64_t>(0, lateAt(s, end - 1, pauses.size()) - late);
    }
  }
}

} // namespace wsc::emulator::timing
