// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread that fills a FIFO contends for slots with others: the thread that empties it, and those that go on with what
// that one makes. Slots go round, so while the thread issues n of its own, each of the others issues n at most of those
// that it has been given to do, or none if its priority is lower. That much longer the thread takes, if words and space
// do not hold it up anyway. The same goes for threads that fill other FIFOs for the same thread. That is the least that
// they are charged with, and all when nothing is known of the others yet (Hindsight.h): a train that seems to run free
// because others were timed at other times would let words wait for each other in ever longer trains. Not so where the
// FIFO's words go to a gather: they are sent in turns, not while they are made.
#include "runtime/emulator/timing/Program.h"

#include <algorithm>

namespace wsc::emulator::timing {

namespace {

// Per sample and thread: elements popped from and pushed to each slot; the priority at which they are.
struct Flow {
  std::vector<int64_t> popped, pushed;
  std::vector<int32_t> priority;
};

Flow flowOf(const ThreadProgram &program, size_t slots) {
  Flow flow{std::vector<int64_t>(slots), std::vector<int64_t>(slots), std::vector<int32_t>(slots)};
  std::vector<int64_t> times{1};
  for (const Item &item : program.items) {
    if (item.kind == ItemKind::LoopBegin) {
      times.push_back(times.back() * item.trips);
    } else if (item.kind == ItemKind::LoopEnd) {
      times.pop_back();
    } else {
      for (const Access &in : item.in)
        if (in.slot >= 0) {
          flow.popped[size_t(in.slot)] += times.back() * in.count;
          flow.priority[size_t(in.slot)] = item.priority;
        }
      if (item.out.slot >= 0) {
        flow.pushed[size_t(item.out.slot)] += times.back() * item.out.count;
        flow.priority[size_t(item.out.slot)] = item.priority;
      }
    }
  }
  return flow;
}

// Slots that the other threads of thread `own`'s core take for `elements` elements pushed into `fifo` while `own`
// issues `slots`.
double contentionOf(std::span<const ThreadProgram> threads, const std::vector<Flow> &flows, size_t own,
                    size_t firstFifo, size_t fifo, int32_t priority, double elements, double slots) {
  std::vector<bool> seen(threads.size());
  seen[own] = true;
  double contention = 0;
  for (;;) {
    size_t popper = 0;
    while (popper < threads.size() && flows[popper].popped[fifo] == 0)
      ++popper;
    if (popper == threads.size() || seen[popper])
      return contention;
    seen[popper] = true;
    const double samples = elements / double(flows[popper].popped[fifo]);
    const double work = samples * double(threads[popper].slots);
    const int32_t popped = flows[popper].priority[fifo];
    const double taken = popped < priority ? 0 : std::min(work, slots);
    contention += taken;
    const auto &pushed = flows[popper].pushed;
    const auto next = std::find_if(pushed.begin() + long(firstFifo), pushed.end(), [](int64_t n) { return n > 0; });
    if (next == pushed.end() || taken <= 0)
      return contention;
    elements = samples * taken / work * double(*next); // what it makes of them goes on as fast as it is made
    fifo = size_t(next - pushed.begin());
  }
}

// Slots that threads which fill other FIFOs of the same popper take meanwhile at no lower priority: lanes of a tensor
// come side by side. Two operands of one instruction are no such lanes, they come from elsewhere at their own times.
double besideOf(std::span<const ThreadProgram> threads, const std::vector<Flow> &flows, size_t own, size_t firstFifo,
                size_t fifo, int32_t priority, double slots) {
  const auto pops = [&](const Item &item, size_t f) {
    return item.in[0].slot == int32_t(f) || item.in[1].slot == int32_t(f);
  };
  double beside = 0;
  for (size_t popper = 0; popper < threads.size(); ++popper) {
    if (flows[popper].popped[fifo] == 0)
      continue;
    for (size_t t = 0; t < threads.size(); ++t) {
      const auto isLane = [&](size_t f) {
        return flows[t].pushed[f] > 0 && flows[t].priority[f] >= priority && flows[popper].popped[f] > 0 &&
               std::none_of(threads[popper].items.begin(), threads[popper].items.end(),
                            [&](const Item &item) { return pops(item, f) && pops(item, fifo); });
      };
      for (size_t f = firstFifo; t != own && f < flows[t].pushed.size(); ++f)
        if (isLane(f)) {
          beside += std::min(slots, double(threads[t].slots));
          break;
        }
    }
  }
  return beside;
}

} // namespace

void findContention(std::span<ThreadProgram> threads, int32_t firstFifo) {
  if (threads.size() < 2)
    return;
  auto slots = size_t(firstFifo);
  for (const ThreadProgram &program : threads)
    for (const Item &item : program.items)
      for (const Access *access : {&item.in[0], &item.in[1], &item.out})
        slots = std::max(slots, size_t(access->slot + 1));
  std::vector<Flow> flows;
  for (const ThreadProgram &program : threads)
    flows.push_back(flowOf(program, slots));
  for (size_t t = 0; t < threads.size(); ++t)
    for (Item &item : threads[t].items)
      if (item.kind == ItemKind::Step && item.out.slot >= firstFifo && item.out.count > 0)
        item.contention = int64_t(
            contentionOf(threads, flows, t, size_t(firstFifo), size_t(item.out.slot), item.priority,
                         double(item.out.count), double(item.stream)) +
            besideOf(threads, flows, t, size_t(firstFifo), size_t(item.out.slot), item.priority, double(item.stream)));
}

} // namespace wsc::emulator::timing
