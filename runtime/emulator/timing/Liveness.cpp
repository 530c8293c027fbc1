// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Follows "waits for" from an unfinished process until a process comes again; what lies between is the cycle.
#include "runtime/emulator/timing/Liveness.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::emulator::timing {

using namespace format;

Blocker Simulation::blockerOf(int32_t p) {
  const ProcessState &state = processes[p];
  const Item &item = programOf(p).items[state.cursor.item];
  const int64_t scale = scaleOf(p, item);
  Blocker blocker;
  const auto turnOwner = [&](int32_t c) { return model.slots[model.segments[channels[c].segment].slot].process; };
  for (int i = 0; i < 2; ++i) {
    const Access &in = item.in[i];
    if (in.slot < 0 || inputLimit(p, item, i, scale) > state.done)
      continue;
    const Slot &slot = slotOf(p, in);
    for (int32_t k = slot.firstSink; k < slot.firstSink + slot.numSinks; ++k) {
      const int32_t s = model.slotSinks[k], c = model.sinks[s].channel;
      int32_t holder = -1;
      const int64_t words = takenOf(s, passing(s, channels[c].produced, &holder)) - sinks[s].base;
      if (blocker.channel >= 0 && words >= blocker.have)
        continue;
      if (holder >= 0)
        blocker = {Blocker::Fork, c, model.sinks[holder].process, words, in.count};
      else
        blocker = {Blocker::Words, c, turnOwner(c), words, in.count};
    }
    return blocker;
  }
  if (item.out.slot < 0)
    return blocker;
  outputLimit(p, item, scale);
  const Slot &slot = slotOf(p, item.out);
  for (int32_t f = slot.firstFeed; f < slot.firstFeed + slot.numFeeds; ++f) {
    const int32_t c = model.feeds[f].channel;
    const FeedState &feed = feedState(p, f);
    if (feed.segment < 0)
      continue;
    if (channels[c].segment != feed.segment)
      blocker = {Blocker::Turn, c, turnOwner(c), 0, 0};
    else if (const int32_t s = channels[c].watched; s >= 0)
      blocker = {Blocker::Room, c, model.sinks[s].process, takenOf(s, channels[c].produced) - sinks[s].promised,
                 freedBy(s, sinks[s].promised) - placeOf(s, sinks[s].promised)};
    else
      continue;
    return blocker;
  }
  return blocker;
}

namespace {

std::string processName(const Configuration &configuration, const Model &model, int32_t p) {
  const Process &process = model.processes[p];
  const Unit &unit = model.units[process.unit];
  if (unit.role < 0)
    return absl::StrCat(configuration.io[unit.binding].output ? "output" : "input", " port of binding ", unit.binding,
                        " at row ", unit.row, ", col ", unit.col);
  const std::string kernel = unit.kernel >= 0 && unit.kernel < int32_t(configuration.kernels.size())
                                 ? absl::StrCat("kernel ", configuration.kernels[unit.kernel].name, ", ")
                                 : std::string();
  return absl::StrCat(kernel, "role ", configuration.roles[unit.role].name, ", core (", unit.row, ", ", unit.col,
                      "), thread ", process.thread);
}

std::string channelName(const Configuration &configuration, const Model &model, int32_t c) {
  const Channel &channel = model.channels[c];
  if (channel.fifo) {
    const int32_t slot = model.segments[channel.firstSegment].slot;
    const Unit &unit = model.units[model.processes[model.slots[slot].process].unit];
    const Role &role = configuration.roles[unit.role];
    return absl::StrCat("FIFO ", role.buffers[slot - unit.firstSlot - int32_t(role.queues.size())].name);
  }
  if (channel.net >= 0 && channel.net < int32_t(configuration.nets.size()))
    return absl::StrCat("net ", configuration.nets[channel.net].name, " (colour ", int(channel.colour), ")");
  return absl::StrCat("colour ", int(channel.colour));
}

std::string waitText(const Configuration &configuration, const Model &model, const Simulation &simulation, int32_t p,
                     const Blocker &blocker) {
  const Process &process = model.processes[p];
  const Item &item = model.program(process).items[simulation.process(p).cursor.item];
  const Unit &unit = model.units[process.unit];
  std::string text = processName(configuration, model, p);
  if (unit.role >= 0)
    absl::StrAppend(
        &text, ", instruction ", item.instruction, " ",
        std::string(opcodeInfo(configuration.roles[unit.role].threads[process.thread][item.instruction].opcode).name));
  if (blocker.channel < 0)
    return text;
  const std::string channel = channelName(configuration, model, blocker.channel);
  switch (blocker.kind) {
  case Blocker::Words:
    absl::StrAppend(&text, " waits for words of ", channel, ": ", blocker.have, " of ", blocker.need, " have come");
    break;
  case Blocker::Fork:
    absl::StrAppend(&text, " waits for words of ", channel, ": ", blocker.have, " of ", blocker.need,
                    " have come, the next ones cannot pass its router while another receiver has no space");
    break;
  case Blocker::Room:
    absl::StrAppend(&text, " waits for space in ", channel, ": ", blocker.have, " of ", blocker.need,
                    " words are not taken");
    break;
  case Blocker::Turn:
    absl::StrAppend(&text, " waits for its turn on ", channel);
    break;
  }
  return text;
}

} // namespace

absl::Status livenessError(const Configuration &configuration, const Model &model, Simulation &simulation) {
  int32_t start = -1;
  int64_t waiting = 0;
  for (int32_t p = 0; p < int32_t(model.processes.size()); ++p)
    if (simulation.unfinished(p)) {
      ++waiting;
      if (start < 0)
        start = p;
    }
  std::vector<int32_t> chain;
  std::vector<Blocker> blockers;
  std::vector<int32_t> seen(model.processes.size(), -1);
  bool cycle = false;
  for (int32_t p = start; p >= 0 && simulation.unfinished(p);) {
    if (seen[p] >= 0) {
      chain.erase(chain.begin(), chain.begin() + seen[p]);
      blockers.erase(blockers.begin(), blockers.begin() + seen[p]);
      cycle = true;
      break;
    }
    seen[p] = int32_t(chain.size());
    chain.push_back(p);
    blockers.push_back(simulation.blockerOf(p));
    p = blockers.back().process;
  }
  if (!cycle && chain.size() > 5) { // the far end is what holds the others up
    blockers.erase(blockers.begin(), blockers.end() - 5);
    chain.erase(chain.begin(), chain.end() - 5);
  }
  std::string text =
      absl::StrCat("configuration ", configuration.name, " stops: ", waiting, " threads never finish a sample; ",
                   cycle ? "a cycle of waiting threads:" : "waiting threads:");
  for (size_t i = 0; i < chain.size() && i < 5; ++i)
    absl::StrAppend(&text, i ? "; " : " ", waitText(configuration, model, simulation, chain[i], blockers[i]));
  if (chain.size() > 5)
    absl::StrAppend(&text, "; and ", chain.size() - 5, " more");
  absl::StrAppend(&text, ". Deepen the FIFO that is full, or send and take in the same order");
  return absl::FailedPreconditionError(text);
}

} // namespace wsc::emulator::timing
