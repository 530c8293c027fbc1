// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread that fills a FIFO has company: the thread that empties it, and those that go on with what that one makes.
// Slots go round, so while the thread issues n of its own, each of the others issues n at most of those that it has
// been given to do. That much longer the thread takes, if words and room do not hold it up anyway.
#include "runtime/emulator/timing/Program.h"

#include <algorithm>

namespace wsc::emulator::timing {

namespace {

// Per sample and thread: elements popped from and pushed to each slot.
struct Flow {
  std::vector<int64_t> popped, pushed;
};

Flow flowOf(const ThreadProgram &program, size_t slots) {
  Flow flow{std::vector<int64_t>(slots), std::vector<int64_t>(slots)};
  std::vector<int64_t> times{1};
  for (const Item &item : program.items) {
    if (item.kind == ItemKind::LoopBegin) {
      times.push_back(times.back() * item.trips);
    } else if (item.kind == ItemKind::LoopEnd) {
      times.pop_back();
    } else {
      for (const Access &in : item.in)
        if (in.slot >= 0)
          flow.popped[size_t(in.slot)] += times.back() * in.count;
      if (item.out.slot >= 0)
        flow.pushed[size_t(item.out.slot)] += times.back() * item.out.count;
    }
  }
  return flow;
}

// The work that pushes leave to the other threads of a core, in slots.
class Backlog {
public:
  Backlog(std::span<const ThreadProgram> threads, size_t own, size_t firstFifo, const std::vector<Flow> &flows)
      : threads(threads), own(own), firstFifo(firstFifo), flows(flows), waiting(threads.size()) {}

  // `elements` elements come into a FIFO while `own` issues `slots` slots.
  void push(size_t fifo, double elements, double slots) {
    std::vector<bool> seen(threads.size());
    seen[own] = true;
    while (fifo >= firstFifo && fifo < flows[own].popped.size()) {
      size_t popper = 0;
      while (popper < threads.size() && flows[popper].popped[fifo] == 0)
        ++popper;
      if (popper == threads.size() || seen[popper])
        return;
      seen[popper] = true;
      const double samples = elements / double(flows[popper].popped[fifo]);
      const double work = samples * double(threads[popper].slots);
      waiting[popper] += work;
      if (work <= 0)
        return;
      // What it makes goes on as fast as it is made.
      const auto &pushed = flows[popper].pushed;
      const auto next = std::find_if(pushed.begin() + long(firstFifo), pushed.end(), [](int64_t n) { return n > 0; });
      if (next == pushed.end())
        return;
      elements = samples * double(*next) * std::min(1.0, slots / work);
      fifo = size_t(next - pushed.begin());
    }
  }
  // Slots the others take while `own` issues `slots`.
  int64_t take(double slots) {
    double sum = 0;
    for (double &work : waiting) {
      const double taken = std::min(work, slots);
      work -= taken;
      sum += taken;
    }
    return int64_t(sum);
  }

  void drop() { std::fill(waiting.begin(), waiting.end(), 0); }

private:
  std::span<const ThreadProgram> threads;
  const size_t own, firstFifo;
  const std::vector<Flow> &flows;
  std::vector<double> waiting; // per thread
};

} // namespace

void findCompany(std::span<ThreadProgram> threads, int32_t firstFifo) {
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
  for (size_t t = 0; t < threads.size(); ++t) {
    Backlog backlog(threads, t, size_t(firstFifo), flows);
    std::vector<Item> &items = threads[t].items;
    std::vector<bool> repeated(items.size());
    for (size_t i = 0; i < items.size(); ++i) {
      Item &item = items[i];
      if (item.kind == ItemKind::LoopEnd &&
          !repeated[i]) { // the second time shows what an iteration leaves to the next
        repeated[i] = true;
        i = size_t(item.body) - 1;
      } else if (item.kind == ItemKind::Step) {
        item.leadCompany = backlog.take(double(item.before + item.setup));
        backlog.drop();
        if (item.out.slot >= firstFifo)
          backlog.push(size_t(item.out.slot), double(item.out.count), double(item.stream));
        item.company = backlog.take(double(item.stream + item.controls));
      }
    }
  }
}

} // namespace wsc::emulator::timing
