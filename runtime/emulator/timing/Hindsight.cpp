// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/timing/Hindsight.h"

#include "runtime/emulator/timing/Simulation.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace wsc::emulator::timing {

// Cycles of [from, to) in which other channels have one of the links that the step sends over, in parts: in each cycle
// the link of which they have most, as a word goes out over all its links at once.
int64_t Simulation::linksTaken(const Item &item, Train &train) {
  const auto [p, from, to] = std::tuple(train.process, train.from, train.to);
  if (item.out.count == 0)
    return 0;
  const Slot &slot = slotOf(p, item.out);
  int64_t most = 0;
  for (int32_t f = slot.firstFeed; f < slot.firstFeed + slot.numFeeds; ++f) {
    const Feed &feed = model.feeds[f];
    const Channel &channel = model.channels[feed.channel];
    linkEdges.clear();
    int64_t left = 0;
    for (int32_t l = 0; l < channel.numLinks; ++l) {
      const LinkShare &share = model.linkShares[channel.firstLink + l];
      const int32_t part = model.partOf(share, feed);
      if (part == 0)
        continue;
      train.sharers = std::max(train.sharers, model.linkMembers[size_t(share.link)]);
      int64_t takenHere = 0;
      links[size_t(share.link)].forOthers(from + share.delay, to + share.delay, {share.member, share.priority},
                                          [&](int64_t begin, int64_t end, int64_t parts) {
                                            const int64_t crossing = LinkShare::crossing(parts, part);
                                            linkEdges.push_back({begin - share.delay, l, crossing});
                                            linkEdges.push_back({end - share.delay, l, 0});
                                            takenHere += (end - begin) * crossing;
                                          });
      train.mostOfLink = std::max(train.mostOfLink, takenHere);
      const int64_t others = model.linkCycles[size_t(share.link)] - share.cycles(channel);
      left += std::max<int64_t>(0, others * SharedSlots::kWhole - takenHere);
    }
    // A stretch that ends where the next of the same link begins comes first.
    std::stable_sort(linkEdges.begin(), linkEdges.end(),
                     [](const LinkEdge &a, const LinkEdge &b) { return a.cycle < b.cycle; });
    linkTaken.assign(size_t(channel.numLinks), 0);
    int64_t sum = 0, at = from, taken = 0;
    for (const LinkEdge &edge : linkEdges) {
      sum += (edge.cycle - at) * taken;
      at = edge.cycle;
      const int64_t before = std::exchange(linkTaken[size_t(edge.link)], edge.parts);
      if (edge.parts >= taken)
        taken = edge.parts;
      else if (before == taken)
        taken = *std::max_element(linkTaken.begin(), linkTaken.end());
    }
    most = std::max(most, sum);
    train.othersMost = std::max(train.othersMost, (sum + left) / SharedSlots::kWhole);
  }
  return most;
}

// Of a train in cycles [from, to).
Train Simulation::look(int32_t p, int32_t itemIndex, int64_t ordinal, int64_t from, int64_t to) {
  const Process &process = model.processes[p];
  const Item &item = programOf(p).items[size_t(itemIndex)];
  Train train{p, itemIndex, int32_t(ordinal), from, to};
  if (const int32_t shared = issueSlotsOf[process.unit]; shared >= 0)
    issueSlots[shared].forOthers(
        from, to, {process.thread, item.priority},
        [&](int64_t begin, int64_t end, int64_t parts) { train.slots += (end - begin) * parts; });
  train.links = linksTaken(item, train);
  return train;
}

void Simulation::watch(int32_t p, const Part &part, const Span &when) {
  const ProcessState &state = processes[p];
  bool shares = issueSlotsOf[model.processes[p].unit] >= 0;
  for (size_t i = part.firstSending; i < part.firstSending + size_t(part.numSendings); ++i)
    shares |= model.channels[known.sendings[i].channel].numLinks > 0;
  if (!shares) // nobody can take anything
    return;
  Train train = look(p, state.cursor.item, state.serial - state.sampleSerial, when.first, when.last + 1);
  train.ownSlots = part.slots;
  for (size_t i = part.firstSending; i < part.firstSending + size_t(part.numSendings); ++i)
    train.ownWords = std::max(train.ownWords, known.sendings[i].end - known.sendings[i].begin);
  hindsight.trains.push_back(train);
}

// What is to be charged to a train that took `own` of `cycles`, if others took `before` until it was timed and `after`
// until all were. Where that is more than there is, others go on as long as the train does: what is left of each cycle
// then makes it so much longer, up to the turns of `sharers`.
static int64_t chargeFor(int64_t own, int64_t cycles, int64_t before, int64_t after, int64_t sharers) {
  const int64_t taken = std::max<int64_t>(0, after - before) / SharedSlots::kWhole;
  const int64_t left = cycles - before / SharedSlots::kWhole;
  if (own + taken <= left)
    return taken;
  return std::min(mulDiv(own, taken, std::max<int64_t>(1, left - taken)), std::max(taken, own * (sharers - 1)));
}

// Charges the steps of the first sample with what others took of their trains since these were timed.
bool Simulation::charge() {
  for (std::vector<Charge> &steps : hindsight.charges)
    std::fill(steps.begin(), steps.end(), Charge{0, 0, 0});
  for (const Train &before : hindsight.trains) {
    const Train now = look(before.process, before.item, before.ordinal, before.from, before.to);
    Charge &step = hindsight.step(before);
    const int64_t cycles = before.to - before.from;
    step.slots += chargeFor(before.ownSlots, cycles, before.slots, now.slots,
                            model.units[model.processes[before.process].unit].numProcesses);
    // What others have left of their words of a sample is all that they can take longer.
    step.links = std::min(step.links + chargeFor(before.ownWords, cycles, before.links, now.links, now.sharers),
                          std::max(step.links, now.othersMost));
  }
  hindsight.trains = {};
  // Shared issue slots are timed by estimates until they are charged.
  return !issueSlots.empty() || std::ranges::any_of(hindsight.charges, [](const std::vector<Charge> &steps) {
    return std::ranges::any_of(steps, [](const Charge &step) { return step.slots > 0 || step.links > 0; });
  });
}

// Charges the steps of all samples that follow with what others take of their links beyond what these know.
void Simulation::chargeLater() {
  for (std::vector<Charge> &steps : hindsight.charges)
    for (Charge &step : steps)
      step.crossing = 0;
  for (const Train &before : hindsight.trains) {
    const Train now = look(before.process, before.item, before.ordinal, before.from, before.to);
    Charge &step = hindsight.step(before);
    const int64_t later = std::max<int64_t>(0, now.links - before.links) / SharedSlots::kWhole;
    step.crossing += std::min(later, step.links) + (before.links - before.mostOfLink) / SharedSlots::kWhole;
  }
  hindsight.trains = {};
}

// The words of a known part stay, its times follow from the step's charge.
void Simulation::recharge(int32_t p, const Item &item, Part &part) {
  const int64_t scale = scaleOf(p, item), before = part.stepCycles;
  findCycles(p, item, part, scale);
  for (size_t i = part.firstSending; i < part.firstSending + size_t(part.numSendings); ++i)
    findCycles(part, known.sendings[i]);
  for (size_t r = part.firstRaise; r < part.firstRaise + size_t(part.numRaises); ++r)
    known.raises[r].own = mulDiv(known.raises[r].own, part.stepCycles, std::max<int64_t>(1, before));
}

// Times the first sample again, with the same moves.
void Simulation::timeAgain() {
  const std::vector<ProcessState> decided = processes;
  for (size_t p = 0; p < processes.size(); ++p) {
    processes[p] = ProcessState();
    processes[p].cursor.begin(programOf(int32_t(p)));
  }
  for (ChannelState &channel : channels) {
    channel.curve.clear();
    channel.produced = channel.trainFirst = 0;
    channel.lastCycle = -1;
  }
  for (SinkState &sink : sinks) {
    sink.ready.clear();
    sink.resumed.clear();
    sink.readyHint = sink.arrivalHint = 0;
    sink.promised = sink.lateCycles = 0;
    sink.lateWord = kNever;
  }
  for (std::vector<SharedSlots> *shared : {&issueSlots, &links})
    for (SharedSlots &slots : *shared)
      slots.clear();
  repeats = recharges = true;
  repeated = -1;
  repeatMoves();
  repeats = recharges = false;
  for (size_t p = 0; p < processes.size(); ++p)
    processes[p].promisedSerial = decided[p].promisedSerial;
}

} // namespace wsc::emulator::timing
