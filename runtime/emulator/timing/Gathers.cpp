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

// The FIFOs that the thread takes what it sends from.
void markFifos(Model &model, int32_t slot) {
  const Process &process = model.processes[model.slots[slot].process];
  const int32_t firstSlot = model.units[process.unit].firstSlot;
  for (const Item &item : model.program(process).items)
    if (item.kind == ItemKind::Step && firstSlot + item.out.slot == slot)
      for (const Access &in : item.in)
        if (in.slot >= 0)
          model.slots[firstSlot + in.slot].feedsGather = true;
}

} // namespace

void findGathers(Model &model) {
  int64_t busiest = 1;
  for (const Unit &unit : model.units)
    busiest = std::max(busiest, unit.busy);
  for (const Channel &channel : model.channels) {
    std::vector<int32_t> slots; // of its sources, each once
    int64_t cores = 0;
    for (int32_t s = channel.firstSegment; s < channel.firstSegment + channel.numSegments; ++s) {
      const int32_t slot = model.segments[s].slot;
      if (std::find(slots.begin(), slots.end(), slot) != slots.end())
        continue;
      slots.push_back(slot);
      cores += model.segments[s].cores;
    }
    if (channel.fifo || cores < 2)
      continue;
    double alone = 0, taken = 0; // alone: idle + Σ slots; taken: Σ slots · o
    for (int32_t s = channel.firstSegment; s < channel.firstSegment + channel.numSegments; ++s) {
      const SourceSegment &segment = model.segments[s];
      if (std::find(slots.begin(), slots.end(), segment.slot) == slots.end())
        continue;
      std::erase(slots, segment.slot);
      const Turns turns = turnsOf(model, segment.slot);
      alone += double(segment.cores) * (turns.slots + turns.idle);
      taken += double(segment.cores) * turns.slots * othersOf(model, segment.slot, turns.priority);
    }
    const double interval = std::max(double(busiest), (alone + std::sqrt(alone * alone + 4 * taken)) / 2);
    for (int32_t s = channel.firstSegment; s < channel.firstSegment + channel.numSegments; ++s) {
      const int32_t slot = model.segments[s].slot;
      const Turns turns = turnsOf(model, slot);
      const double company = Slot::kWholeCompany * std::min(1.0, othersOf(model, slot, turns.priority) / interval);
      model.slots[slot].turnCompany = std::max(model.slots[slot].turnCompany, int32_t(company));
      markFifos(model, slot);
      model.slots[slot].firstCompany = int32_t(model.slots[slot].turnCompany * (turns.number - 1) / turns.number);
    }
  }
}

} // namespace wsc::emulator::timing
