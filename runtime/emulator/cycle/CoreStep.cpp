// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A core's cycle: which threads could use the slot, which one gets it, what it does with it. A thread that alone can go
// on, or alone has the highest priority of those that can, and needs neither queue nor FIFO gets all its slots in one
// event, until another one's word or space comes.
#include "runtime/emulator/cycle/Strip.h"

#include <algorithm>

namespace wsc::emulator::cycle {

// From the item that comes next to the next that needs a queue or FIFO, or has another priority than what is pending
// before it, or to the sample's end; slots on the way are pending.
void Strip::advance(Core &core, int thread) {
  ThreadState &state = fabric.threads[core.firstThread + uint32_t(thread)];
  const std::vector<Item> &items = core.program->threads[size_t(thread)].items;
  state.elements = 0;
  state.entered = false;
  while (size_t(state.item) < items.size()) {
    const Item &item = items[size_t(state.item)];
    if (item.kind == ItemKind::LoopBegin) {
      state.tripsLeft[state.depth++] = item.trips;
      ++state.item;
      continue;
    }
    if (item.kind == ItemKind::LoopEnd) {
      if (--state.tripsLeft[state.depth - 1] > 0) {
        state.item = item.body;
      } else {
        --state.depth;
        ++state.item;
      }
      continue;
    }
    if (item.priority != state.priority) {
      if (state.slotsLeft > 0)
        return;
      state.priority = item.priority;
    }
    state.slotsLeft += item.slots;
    core.bank += item.bank;
    core.busy -= item.bank;
    if (item.vector) {
      if (state.afterQueue)
        state.slotsLeft += fabric.taskStart;
      state.afterQueue = false;
    }
    if (item.kind != ItemKind::Slots) {
      state.entered = true;
      return;
    }
    ++state.item;
  }
}

// The thread has had the slots pending. It goes on to what comes next; after its sample's last, to the next sample.
void Strip::endSlots(Core &core, int thread, int64_t end) {
  ThreadState &state = fabric.threads[core.firstThread + uint32_t(thread)];
  const size_t items = core.program->threads[size_t(thread)].items.size();
  if (mostSpans > 0)
    showSlots(core, thread, end);
  if (!state.entered && size_t(state.item) < items)
    advance(core, thread); // to what has another priority
  if (state.slotsLeft > 0 || size_t(state.item) < items)
    return;
  if (fabric.outputWords == 0) {
    int64_t &done = sampleDone[size_t(state.sample)];
    done = std::max(done, end);
  }
  if (mostSpans > 0)
    showSample(core, thread, end);
  ++state.sample;
  state.item = 0;
  if (state.sample == samples)
    core.unfinished &= ~(uint64_t(1) << thread);
  else
    advance(core, thread);
}

bool Strip::wordsThere(Core &core, const Access &access, int64_t words, Party party) {
  if (words == 0)
    return true;
  WordQueue &queue = queueOf(core, access);
  const int64_t at = queue.head + words - 1;
  const uint64_t slot = words > queue.slots ? 0 : load(queue.ring()[at < queue.slots ? at : at - queue.slots]);
  if (slot & kFull) {
    if (slotCycle(slot) <= now)
      return true;
    wake(party, slotCycle(slot));
    return false;
  }
  queue.flags |= kTakerWaits;
  return false;
}

bool Strip::roomThere(Core &core, const Access &access, int64_t words, Party party) {
  if (words == 0)
    return true;
  WordQueue &queue = queueOf(core, access);
  const int64_t at = queue.tail + words - 1;
  const uint64_t slot = words > queue.slots ? kFull : load(queue.ring()[at < queue.slots ? at : at - queue.slots]);
  if (!(slot & kFull)) {
    if (slotCycle(slot) <= now)
      return true;
    wake(party, slotCycle(slot));
    return false;
  }
  queue.flags |= kSenderWaits;
  return false;
}

// Whether the thread could use this cycle's slot, and for how many elements of a batch; if not, it is blocked until
// what it lacks first may be there.
bool Strip::able(Core &core, int thread, int64_t &elements) {
  ThreadState &state = fabric.threads[core.firstThread + uint32_t(thread)];
  if (state.slotsLeft > 0)
    return true;
  const Item &item = core.program->threads[size_t(thread)].items[size_t(state.item)];
  const Party party = partyOf(core.tile, uint32_t(fabric.tiles[core.tile].nodes) + uint32_t(thread));
  const uint64_t bit = uint64_t(1) << thread;
  const auto block = [&](bool room) {
    state.waitsForRoom = room;
    core.blocked |= bit;
    return false;
  };
  if (item.kind == ItemKind::Control)
    return roomThere(core, item.dst, 1, party) || block(true);
  elements = std::min<int64_t>(item.batch, item.elements - state.elements);
  for (const Access *access : {&item.a, &item.b})
    if (access->kind == Access::Fifo) {
      const int64_t have = fabric.fifoElements[core.firstFifo + uint32_t(access->index)];
      if (have < (item.queues ? elements : 1)) {
        core.fifoBlocked |= bit;
        return block(false);
      }
      elements = std::min(elements, have);
    }
  for (const Access *access : {&item.a, &item.b})
    if (access->kind == Access::Queue &&
        !wordsThere(core, *access, access->wordsBegun(state.elements, elements), party))
      return block(false);
  if (item.dst.kind == Access::Fifo) {
    const int64_t room = fabric.fifoSizes[core.role][size_t(item.dst.index)] -
                         fabric.fifoElements[core.firstFifo + uint32_t(item.dst.index)];
    if (room < (item.queues ? elements : 1)) {
      core.fifoBlocked |= bit;
      return block(true);
    }
    elements = std::min(elements, room);
  }
  if (item.dst.kind == Access::Queue &&
      !roomThere(core, item.dst, item.dst.wordsEnded(state.elements, elements, item.elements), party))
    return block(true);
  return true;
}

// One slot of a thread that is able: a slot that needs nothing, a control word, or a batch.
void Strip::issue(Core &core, int thread, int64_t elements) {
  ThreadState &state = fabric.threads[core.firstThread + uint32_t(thread)];
  ++core.busy;
  core.lastSlot = now;
  if (state.sampleBegin < 0)
    state.sampleBegin = now;
  if (state.slotsLeft > 0) {
    if (state.spanBegin < 0)
      state.spanBegin = now;
    if (--state.slotsLeft == 0 && (!state.entered || mostSpans > 0))
      endSlots(core, thread, now + 1);
    return;
  }
  const Item &item = core.program->threads[size_t(thread)].items[size_t(state.item)];
  if (item.kind == ItemKind::Control) {
    putWord(queueOf(core, item.dst), now + 1 + fabric.ramp, item.control);
    if (mostSpans > 0)
      showItem(core, thread, now, item);
  } else {
    bool fifos = false;
    for (const Access *access : {&item.a, &item.b}) {
      if (access->kind == Access::Fifo) {
        fabric.fifoElements[core.firstFifo + uint32_t(access->index)] -= elements;
        fifos = true;
      } else if (access->kind == Access::Queue) {
        WordQueue &queue = queueOf(core, *access);
        for (int64_t words = access->wordsBegun(state.elements, elements); words > 0; --words)
          takeWord(queue);
      }
    }
    if (item.dst.kind == Access::Fifo) {
      fabric.fifoElements[core.firstFifo + uint32_t(item.dst.index)] += elements;
      fifos = true;
    } else if (item.dst.kind == Access::Queue) {
      WordQueue &queue = queueOf(core, item.dst);
      for (int64_t words = item.dst.wordsEnded(state.elements, elements, item.elements); words > 0; --words)
        putWord(queue, now + 1 + fabric.ramp, 0);
    }
    if (fifos) {
      core.blocked &= ~core.fifoBlocked;
      core.fifoBlocked = 0;
    }
    if (state.elements == 0)
      state.spanBegin = now;
    state.elements += elements;
    state.slotsLeft = item.batchSlots - 1;
    core.bank += item.bankSlots;
    core.busy -= item.bankSlots;
    if (state.elements < item.elements)
      return;
    if (mostSpans > 0)
      showItem(core, thread, state.spanBegin, item);
    state.afterQueue = item.queues;
  }
  state.spanBegin = -1;
  ++state.item;
  advance(core, thread);
  if (state.slotsLeft == 0 && !state.entered)
    endSlots(core, thread, now + 1);
}

// The slots that a lone thread has had up to this cycle.
void Strip::endAlone(Core &core) {
  ThreadState &state = fabric.threads[core.firstThread + core.aloneThread];
  const int64_t slots = now - core.aloneSince;
  core.alone = false;
  core.busy += slots;
  core.lastSlot = now - 1;
  skippedTileCycles += slots;
  state.slotsLeft -= slots;
  if (state.slotsLeft == 0) {
    endCycle = std::max(endCycle, now);
    endSlots(core, core.aloneThread, now);
  }
}

// Of these threads, those that are able and have the highest priority of all that are.
uint64_t Strip::ableOfHighestPriority(Core &core, uint64_t threads) {
  const auto priorityOf = [&](int thread) { return fabric.threads[core.firstThread + uint32_t(thread)].priority; };
  while (threads) {
    uint64_t equals = 0;
    int highest = 0;
    for (uint64_t left = threads; left; left &= left - 1) {
      const int thread = std::countr_zero(left), priority = priorityOf(thread);
      equals = (priority > highest ? 0 : equals) | (priority < highest ? 0 : left & -left);
      highest = std::max(highest, priority);
    }
    threads ^= equals;
    for (uint64_t left = equals; left; left &= left - 1)
      if (int64_t unused = 0; !able(core, std::countr_zero(left), unused))
        equals ^= left & -left;
    if (equals)
      return equals;
  }
  return 0;
}

bool Strip::stepCore(Tile &tile, uint64_t bits) {
  Core &core = fabric.cores[tile.core];
  if (core.alone) {
    if (now < core.aloneUntil && (bits & ~(uint64_t(1) << core.aloneThread)) == 0)
      return false;
    endAlone(core);
  }
  core.blocked &= ~bits;
  core.fifoBlocked &= ~bits;
  int winner = -1, other = -1;
  int64_t elements = 0; // of the winner's batch
  uint64_t ready = core.unfinished & ~core.blocked;
  if (core.priorities)
    ready = ableOfHighestPriority(core, ready);
  const uint64_t first = ready >> core.pointer << core.pointer;
  for (uint64_t part : {first, ready ^ first})
    for (; part && other < 0; part &= part - 1) {
      const int thread = std::countr_zero(part);
      if (winner < 0) {
        if (able(core, thread, elements))
          winner = thread;
      } else if (int64_t unused = 0; able(core, thread, unused)) {
        other = thread;
      }
    }
  if (winner < 0) {
    rest(core);
    return false;
  }
  if (core.idleSince >= 0) {
    (core.idleForRoom ? core.room : core.words) += now - core.idleSince;
    core.idleSince = -1;
  }
  if (core.firstSlot < 0)
    core.firstSlot = now;
  const Party party = partyOf(core.tile, uint32_t(tile.nodes) + uint32_t(winner));
  ThreadState &state = fabric.threads[core.firstThread + uint32_t(winner)];
  if (other < 0 && state.slotsLeft > 0) {
    if (state.spanBegin < 0)
      state.spanBegin = now;
    if (state.sampleBegin < 0)
      state.sampleBegin = now;
    core.alone = true;
    core.aloneThread = uint8_t(winner);
    core.aloneSince = now;
    core.aloneUntil = now + state.slotsLeft;
    wake(party, core.aloneUntil);
    return false;
  }
  if (other >= 0)
    core.pointer = uint8_t(other);
  issue(core, winner, elements);
  endCycle = std::max(endCycle, now + 1);
  if (core.unfinished)
    wake(party, now + 1);
  return true;
}

// No thread could use the slot; a core that has not begun or is done does not count it.
void Strip::rest(Core &core) {
  if (core.unfinished == 0 || core.firstSlot < 0)
    return;
  const int thread = std::countr_zero(core.unfinished);
  const bool room = fabric.threads[core.firstThread + uint32_t(thread)].waitsForRoom;
  if (core.idleSince >= 0 && room != core.idleForRoom) {
    (core.idleForRoom ? core.room : core.words) += now - core.idleSince;
    core.idleSince = -1;
  }
  if (core.idleSince < 0) {
    core.idleSince = now;
    core.idleForRoom = room;
  }
}

} // namespace wsc::emulator::cycle
