// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a process promises to take: the words of its current step that only this input can hold up, and those of the
// steps after it that do nothing but take from the same queue and store.
#include "runtime/emulator/timing/Simulation.h"

#include <algorithm>
#include <utility>

namespace wsc::emulator::timing {

// The sink will take words up to `words` from cycle `first` to `last`. Wakes the source that waited for it.
void Simulation::raise(int32_t s, int64_t words, int64_t first, int64_t last, int64_t pause, int64_t own) {
  SinkState &sink = sinks[s];
  if (words <= sink.promised)
    return;
  if (!sink.ready.empty())
    first = std::max(first, sink.ready.back().last + 1);
  sink.ready.push_back({sink.promised, words, first, std::max(first, last), pause, own});
  sink.promised = words;
  if (repeats)
    return;
  const int32_t c = model.sinks[s].channel;
  if (channels[c].held) {
    channels[c].held = false;
    for (int32_t o = model.channels[c].firstSink; o < model.channels[c].firstSink + model.channels[c].numSinks; ++o)
      work.add(model.sinks[o].process);
  }
  if (channels[c].watched == s)
    work.add(model.slots[model.segments[channels[c].segment].slot].process);
}

void Simulation::raise(const Item &item, const Part &part, const Span &when) {
  for (size_t r = part.firstRaise; r < part.firstRaise + size_t(part.numRaises); ++r) {
    const Raise &up = known.raises[r];
    raise(up.sink, up.words + repeated * sinks[up.sink].words, when.first, when.last - item.rest, up.pause, up.own);
  }
}

void Simulation::promise(int32_t p) {
  ProcessState &state = processes[p];
  if (state.serial < state.promisedSerial)
    return;
  const Item &item = programOf(p).items[state.cursor.item];
  if (item.in[0].slot < 0)
    return;
  const int64_t scale = scaleOf(p, item);
  const int64_t output = outputLimit(p, item, scale);
  bool whole = item.in[1].slot < 0;
  for (int i = 0; i < 2; ++i) {
    const Access &in = item.in[i];
    if (in.slot < 0)
      continue;
    const int64_t reach = std::min(output, inputLimit(p, item, 1 - i, scale));
    whole &= reach == scale;
    if (reach <= state.done)
      continue;
    if (reach < scale && !work.takesParts()) {
      work.putOff(p);
      continue;
    }
    const Slot &slot = slotOf(p, in);
    const int64_t words = mulDivUp(in.count, reach, scale);
    bool more = false;
    for (int32_t k = slot.firstSink; k < slot.firstSink + slot.numSinks; ++k)
      more |= sinks[model.slotSinks[k]].promised < sinks[model.slotSinks[k]].base + words;
    if (!more)
      continue;
    note(Move::Promise, p, reach, i);
    promiseInput(p, item, i, reach);
  }
  if (whole) {
    if (promiseAhead(p, item))
      note(Move::PromiseAhead, p);
  }
}

// The words of input i that the step takes up to `reach`.
void Simulation::promiseInput(int32_t p, const Item &item, int i, int64_t reach) {
  const Part &part = findPart(p, item, reach, i);
  raise(item, part, span(p, item, part, nullptr, nullptr));
}

// All words of `current` are promised; false: none of those after it.
bool Simulation::promiseAhead(int32_t p, const Item &current) {
  ProcessState &state = processes[p];
  state.promisedSerial = state.serial + 1;
  const SinkState &taken = sinks[model.slotSinks[slotOf(p, current.in[0]).firstSink]];
  // When `current` would be done if its words were there.
  int64_t clock = taken.ready.empty() ? state.clock : taken.ready.back().last + 1;
  const ThreadProgram &program = programOf(p);
  const int32_t firstSlot = model.units[model.processes[p].unit].firstSlot;
  int32_t pushSlot = current.out.count > 0 ? current.out.slot : -1;
  int64_t pushWords =
      current.out.count > 0 ? current.out.count - mulDiv(current.out.count, state.done, scaleOf(p, current)) : 0;
  const Slot &slot = slotOf(p, current.in[0]);
  bool any = false;
  int64_t computed = 0; // cycles without words since the last step
  Cursor cursor = state.cursor;
  for (cursor.next(program); cursor.item < int32_t(program.items.size()); cursor.next(program)) {
    const Item &item = program.items[cursor.item];
    if (item.in[0].slot < 0 && item.out.slot < 0) { // computation
      clock += item.before;
      computed += item.before;
      ++state.promisedSerial;
      continue;
    }
    if (item.in[0].slot != current.in[0].slot || item.in[1].slot >= 0)
      return any;
    const int64_t pause = std::exchange(computed, 0) + item.lead();
    int64_t first = clock + item.lead();
    if (item.out.slot >= 0) {
      const Slot &push = model.slots[firstSlot + item.out.slot];
      if (item.out.count == 0 || push.numFeeds != 1 || !model.channels[model.feeds[push.firstFeed].channel].fifo ||
          (pushSlot >= 0 && pushSlot != item.out.slot))
        return any;
      pushSlot = item.out.slot;
      pushWords += item.out.count;
      const int32_t c = model.feeds[push.firstFeed].channel;
      const int32_t s = model.channels[c].firstSink;
      const int64_t room = channels[c].produced + pushWords - model.sinks[s].capacity;
      if (room > sinks[s].promised)
        return any;
      // Space for the last word comes when the word `capacity` before it leaves.
      const Curve &ready = sinks[s].ready;
      if (room > 0 && !ready.empty() && room > ready.front().begin) {
        const auto leaves =
            std::partition_point(ready.begin(), ready.end(), [&](const Piece &piece) { return piece.end < room; });
        first = std::max(first, leaves->start(room - 1) + 1);
      }
    }
    const int64_t cycles = cyclesOf(p, item, chargeOf(p, state.promisedSerial));
    const int64_t last = first + std::max<int64_t>(0, cycles - 1);
    for (int32_t k = slot.firstSink; k < slot.firstSink + slot.numSinks; ++k) {
      const int32_t s = model.slotSinks[k];
      raise(s, sinks[s].promised + item.in[0].count, first, last - item.rest, pause, cycles);
    }
    any = true;
    clock = last + 1;
    ++state.promisedSerial;
  }
  return any;
}

} // namespace wsc::emulator::timing
