// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads: each goes on until it lacks words or space. Batches are atomic as docs/Timing.md says; as many of them as
// words, elements and space suffice for are done at once.
#include "runtime/emulator/liveness/Run.h"

#include <algorithm>

namespace wsc::emulator::liveness {

using namespace format;
using cycle::Access;
using cycle::Item;
using cycle::ItemKind;

namespace {

// The most elements from number `begin` on, of `all`, that begin no more than `words` words.
int64_t elementsBegun(const Access &access, int64_t begin, int64_t words) {
  if (access.wide)
    return words / 2;
  const int64_t per = int64_t(1) << access.packing;
  if (words > kUnlimited / per)
    return kUnlimited;
  return (per - begin % per) % per + words * per;
}

// The most elements from number `begin` on, up to `left`, that complete no more than `words` words.
int64_t elementsEnded(const Access &access, int64_t begin, int64_t left, int64_t words) {
  if (access.wide)
    return std::min(left, words / 2);
  if (access.wordsEnded(begin, left, begin + left) <= words)
    return left;
  const int64_t per = int64_t(1) << access.packing;
  return std::min(left - 1, (begin / per + words + 1) * per - 1 - begin);
}

} // namespace

int32_t Run::inputOf(const Thread &thread, const Access &access) const {
  const Core &core = layout.cores[size_t(thread.core)];
  return int32_t(core.firstInput) + layout.roles[size_t(core.role)].place[size_t(access.index)];
}

int32_t Run::senderOf(const Thread &thread, const Access &access) const {
  const Core &core = layout.cores[size_t(thread.core)];
  return int32_t(core.firstSender) + layout.roles[size_t(core.role)].place[size_t(access.index)];
}

void Run::wakeThread(int32_t number) {
  Thread &thread = layout.threads[size_t(number)];
  if (thread.queued || thread.done)
    return;
  thread.queued = true;
  work.push_back(number << 1);
}

void Run::wakeFifos(const Core &core, int32_t but) {
  const size_t count = layout.configuration->roles[size_t(core.role)].threads.size();
  for (size_t t = 0; t < count; ++t)
    if (const auto number = int32_t(core.firstThread + t); number != but && layout.threads[size_t(number)].onFifo)
      wakeThread(number);
}

void Run::runThread(int32_t number) {
  Thread &thread = layout.threads[size_t(number)];
  thread.queued = thread.onFifo = false;
  thread.onSender = -1;
  if (thread.onInput >= 0) {
    Input &input = layout.inputs[size_t(thread.onInput)];
    input.absorbs = 0;
    input.least = input.wake = kNever;
    thread.onInput = -1;
  }
  ++stats.turns;
  while (error.ok() && mayMove() && takeTurn(number, thread)) {
  }
}

// One item, or a part of it; false: it cannot go on, or is done.
bool Run::takeTurn(int32_t number, Thread &thread) {
  const std::vector<Item> &items = thread.program->items;
  if (size_t(thread.item) == items.size()) {
    thread.done = true;
    return false;
  }
  const Item &item = items[size_t(thread.item)];
  switch (item.kind) {
  case ItemKind::Slots:
    ++thread.item;
    return true;
  case ItemKind::LoopBegin:
    thread.tripsLeft[size_t(thread.depth++)] = item.trips;
    ++thread.item;
    return true;
  case ItemKind::LoopEnd:
    if (--thread.tripsLeft[size_t(thread.depth - 1)] > 0) {
      thread.item = item.body;
    } else {
      --thread.depth;
      ++thread.item;
    }
    return true;
  case ItemKind::Control: {
    const int32_t sender = senderOf(thread, item.dst);
    flow(sender);
    Sender &out = layout.senders[size_t(sender)];
    if (out.held > 0 || !sendControl(sender, item.control)) {
      if (out.held >= out.capacity) {
        wait(sender);
        thread.onSender = sender;
        return false;
      }
      hold(sender, 1, item.control);
    }
    ++thread.item;
    return true;
  }
  case ItemKind::Vector:
    return vector(number, thread, item);
  }
  return false;
}

// The elements that the operands allow, all but `but`, in whole batches.
int64_t Run::elementsOf(const Item &item, const Thread &thread, const Access *but) const {
  const Core &core = layout.cores[size_t(thread.core)];
  const int64_t left = item.elements - thread.elements;
  int64_t most = left;
  for (const Access *access : {&item.a, &item.b}) {
    if (access == but)
      continue;
    if (access->kind == Access::Fifo)
      most = std::min(most, layout.fifos[core.firstFifo + uint32_t(access->index)]);
    else if (access->kind == Access::Queue)
      most = std::min(most,
                      elementsBegun(*access, thread.elements, layout.inputs[size_t(inputOf(thread, *access))].words));
  }
  if (item.dst.kind == Access::Fifo)
    most = std::min(most, layout.roles[size_t(core.role)].fifoSizes[size_t(item.dst.index)] -
                              layout.fifos[core.firstFifo + uint32_t(item.dst.index)]);
  if (item.dst.kind == Access::Queue && &item.dst != but) {
    const Sender &sender = layout.senders[size_t(senderOf(thread, item.dst))];
    most = std::min(most, elementsEnded(item.dst, thread.elements, left, int64_t(sender.capacity) - sender.held));
  }
  most = std::max<int64_t>(most, 0);
  return item.queues && most < left ? most / item.batch * item.batch : most;
}

// Waits for words of one input. What it could take of it without anything else is absorbed.
void Run::waitForWords(int32_t number, Thread &thread, const Item &item, const Access &access) {
  thread.onInput = inputOf(thread, access);
  Input &input = layout.inputs[size_t(thread.onInput)];
  const int64_t left = item.elements - thread.elements;
  input.least = int32_t(access.wordsBegun(thread.elements, std::min<int64_t>(item.batch, left)));
  const int64_t most = elementsOf(item, thread, &access);
  input.absorbs = int32_t(std::min<int64_t>(kMostWords, access.wordsBegun(thread.elements, most)));
  input.wake = std::max(input.least, input.absorbs);
  if (input.absorbs > 0 && input.waiting >= 0)
    wakeSenders(input.waiting);
}

void Run::take(int32_t number, int64_t words) {
  Input &input = layout.inputs[size_t(number)];
  input.words -= int32_t(words);
  if (words > 0 && input.waiting >= 0)
    wakeSenders(input.waiting);
}

bool Run::vector(int32_t number, Thread &thread, const Item &item) {
  const Core &core = layout.cores[size_t(thread.core)];
  const int64_t left = item.elements - thread.elements;
  const int64_t batch = std::min<int64_t>(item.batch, left);
  int64_t elements = elementsOf(item, thread, &item.dst);
  int32_t sender = -1;
  if (item.dst.kind == Access::Queue && elements > 0) {
    sender = senderOf(thread, item.dst);
    const int64_t words = item.dst.wordsEnded(thread.elements, elements, item.elements);
    if (words > 0) {
      const int64_t room = roomFor(sender, words);
      if (!error.ok())
        return false;
      if (room < words) {
        const int64_t fit = elementsEnded(item.dst, thread.elements, left, room);
        elements = std::min(elements, fit < left ? fit / item.batch * item.batch : fit);
        if (elements <= 0) {
          thread.onSender = sender;
          wait(sender);
          return false;
        }
      }
    }
  }
  if (elements <= 0) {
    for (const Access *access : {&item.a, &item.b})
      if (access->kind == Access::Queue &&
          layout.inputs[size_t(inputOf(thread, *access))].words < access->wordsBegun(thread.elements, batch)) {
        waitForWords(number, thread, item, *access);
        return false;
      }
    thread.onFifo = true;
    return false;
  }
  bool fifos = false;
  for (const Access *access : {&item.a, &item.b}) {
    if (access->kind == Access::Fifo) {
      layout.fifos[core.firstFifo + uint32_t(access->index)] -= elements;
      fifos = true;
    } else if (access->kind == Access::Queue) {
      take(inputOf(thread, *access), access->wordsBegun(thread.elements, elements));
    }
  }
  if (item.dst.kind == Access::Fifo) {
    layout.fifos[core.firstFifo + uint32_t(item.dst.index)] += elements;
    fifos = true;
  } else if (item.dst.kind == Access::Queue) {
    send(sender, item.dst.wordsEnded(thread.elements, elements, item.elements));
  }
  if (fifos)
    wakeFifos(core, number);
  thread.elements += elements;
  if (thread.elements == item.elements) {
    thread.elements = 0;
    ++thread.item;
  }
  return true;
}

} // namespace wsc::emulator::liveness
