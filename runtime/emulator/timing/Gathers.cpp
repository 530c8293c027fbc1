// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the other threads of a core take from one that sends in a gather.
//
// Cores of a gather send one after another, so what one of them waits for its slots all of them wait. A core's turn is
// short against a sample, and its other threads are busy for o of the I cycles of a sample: on average, while it issues
// n slots they issue n · o/I. I is the busiest core's slots, or what the gather needs by this rule,
//   I = idle + Σ slots · (1 + o/I)  over all turns of a sample,
// where `idle` are cycles of turns that need no slots. In the first sample the other threads have gone through theirs
// when the last turn comes. Threads of a lower priority do not count.
#include "runtime/emulator/timing/Model.h"

#include <algorithm>
#include <cmath>

namespace wsc::emulator::timing {

namespace {

// Per sample, of one core and all its turns.
struct Turns {
  double slots = 0, idle = 0, number = 0;
  int32_t priority = 0; // the highest
};

// Slots per sample that a thread takes at a priority or a higher one.
double slotsFrom(const ThreadProgram &program, int32_t priority) {
  double sum = program.tailPriority >= priority ? double(program.tail) : 0;
  std::vector<double> times{1};
  for (const Item &item : program.items) {
    if (item.kind == ItemKind::LoopBegin)
      times.push_back(times.back() * double(item.trips));
    else if (item.kind == ItemKind::LoopEnd)
      times.pop_back();
    else
      sum += times.back() * ((item.beforePriority >= priority ? double(item.before) : 0) +
                             (item.priority >= priority ? double(item.setup + item.stream + item.controls) : 0));
  }
  return sum;
}

// Of the thread behind `slot`.
Turns turnsOf(const Model &model, int32_t slot) {
  const Process &process = model.processes[model.slots[slot].process];
  const int32_t local = slot - model.units[process.unit].firstSlot;
  Turns turns;
  std::vector<double> times{1};
  for (const Item &item : model.program(process).items) {
    if (item.kind == ItemKind::LoopBegin) {
      times.push_back(times.back() * double(item.trips));
    } else if (item.kind == ItemKind::LoopEnd) {
      times.pop_back();
    } else if (item.out.slot == local && item.out.count > 0) {
      turns.priority = std::max(turns.priority, item.priority);
      turns.number += times.back();
      turns.slots += times.back() * double(item.turnSlots());
      turns.idle += times.back() * double(item.turnCycles() - item.turnSlots());
    }
  }
  return turns;
}

// Slots per sample of the core's other threads, of no lower priority than the turns' own.
double othersOf(const Model &model, int32_t slot, int32_t priority) {
  const Process &process = model.processes[model.slots[slot].process];
  const Unit &unit = model.units[process.unit];
  double sum = 0;
  for (int32_t p = unit.firstProcess; p < unit.firstProcess + unit.numProcesses; ++p)
    if (model.processes[p].thread != process.thread)
      sum += slotsFrom(model.program(model.processes[p]), priority);
  return sum;
}

// What sends over a channel: a slot of so many cores, the turns of each, and the slots of its other threads.
struct Source {
  int32_t slot;
  const SourceSegment *first;
  double cores;
  Turns turns;
  double others;
};

std::vector<Source> sourcesOf(const Model &model, const Channel &channel) {
  std::vector<Source> sources;
  for (int32_t s = channel.firstSegment; s < channel.firstSegment + channel.numSegments; ++s) {
    const SourceSegment &segment = model.segments[s];
    if (std::any_of(sources.begin(), sources.end(), [&](const Source &known) { return known.slot == segment.slot; }))
      continue;
    const Turns turns = turnsOf(model, segment.slot);
    sources.push_back(
        {segment.slot, &segment, double(segment.cores), turns, othersOf(model, segment.slot, turns.priority)});
  }
  return sources;
}

// Marks the FIFOs that the thread takes what it sends from.
void markFifos(Model &model, int32_t slot) {
  const Process &process = model.processes[model.slots[slot].process];
  const int32_t firstSlot = model.units[process.unit].firstSlot;
  for (const Item &item : model.program(process).items)
    if (item.kind == ItemKind::Step && firstSlot + item.out.slot == slot)
      for (const Access &in : item.in)
        if (in.slot >= 0)
          model.slots[size_t(firstSlot + in.slot)].feedsGather = true;
}

// Cycles by which the core that sends first is done earlier than the furthest core of its unit or of those whose chains
// end there, whose time is the unit's: words of a row's multicast reach one column after another.
int32_t earlierBy(const Model &model, const SourceSegment &first, int32_t hopCycles) {
  const Unit &unit = model.units[model.processes[model.slots[first.slot].process].unit];
  int32_t begin = unit.col, end = unit.col + unit.cores; // columns whose furthest sets the unit's time
  int32_t direction = 0;                                 // that a multicast comes along the row
  for (int32_t slot = unit.firstSlot; slot < unit.firstSlot + unit.numSlots; ++slot)
    for (int32_t k = model.slots[slot].firstSink; k < model.slots[slot].firstSink + model.slots[slot].numSinks; ++k) {
      const Sink &sink = model.sinks[model.slotSinks[k]];
      if (!sink.straight)
        continue;
      if (sink.colsAway != 0) {
        direction = sink.colsAway;
        continue;
      }
      const SourceSegment &source = model.segments[model.channels[sink.channel].firstSegment];
      const Unit &above = model.units[model.processes[model.slots[source.slot].process].unit];
      begin = std::min(begin, above.col);
      end = std::max(end, above.col + above.cores);
    }
  const int32_t hops = direction > 0 ? end - 1 - first.firstCol : direction < 0 ? first.firstCol - begin : 0;
  return unit.role < 0 ? 0 : hops * hopCycles;
}

} // namespace

void findGathers(const target::Target &target, Model &model) {
  int64_t busiest = 1;
  for (const Unit &unit : model.units)
    busiest = std::max(busiest, unit.busy);
  for (Channel &channel : model.channels) {
    if (channel.fifo || model.nearestFirst(channel))
      continue;
    std::vector<Source> sources = sourcesOf(model, channel);
    double cores = 0, alone = 0, taken = 0; // alone: idle + Σ slots; taken: Σ slots · o
    for (const Source &source : sources) {
      cores += source.cores;
      alone += source.cores * (source.turns.slots + source.turns.idle);
      taken += source.cores * source.turns.slots * source.others;
    }
    if (cores < 2)
      continue;
    channel.turns = int64_t(alone);
    const double interval = std::max(double(busiest), (alone + std::sqrt(alone * alone + 4 * taken)) / 2);
    for (const Source &source : sources) {
      markFifos(model, source.slot);
      Slot &slot = model.slots[source.slot];
      const double contention = Slot::kWholeContention * std::min(1.0, source.others / interval);
      slot.turnContention = std::max(slot.turnContention, int32_t(contention));
      slot.earlier = earlierBy(model, *source.first, target.hopLatencyCycles);
      slot.firstContention = int32_t(slot.turnContention * (1 - 1 / std::max(1.0, source.turns.number)));
    }
  }
}

} // namespace wsc::emulator::timing
