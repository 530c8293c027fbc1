// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps: words move by one router at a time, with the routers' own queues, as docs/Timing.md says but for time. Routers
// are looked at again when a word came to them or went from behind them, until none can move. And the run as a whole.
#include "runtime/emulator/liveness/Run.h"

#include <algorithm>

namespace wsc::emulator::liveness {

using namespace format;

int32_t Run::head(int32_t cell, int port, int colour) const {
  if (port == kRamp || layout.endOfMesh(cell, port)) {
    const int32_t number = layout.senderAt(cell, port, colour);
    if (number < 0)
      return -1;
    const Sender &sender = layout.senders[size_t(number)];
    if (sender.entering >= 0)
      return layout.leftOf(sender) > 0 ? 0 : -1;
    return sender.held > 0 ? layout.tokens[size_t(sender.first)].control : -1;
  }
  const auto found = standing.find(layout.portKey(cell, port, colour));
  return found == standing.end() ? -1 : found->second.front();
}

void Run::drop(int32_t cell, int port, int colour) {
  if (port != kRamp && !layout.endOfMesh(cell, port)) {
    const auto found = standing.find(layout.portKey(cell, port, colour));
    found->second.pop_front();
    if (found->second.empty())
      standing.erase(found);
    return look(layout.neighbour(cell, port), colour);
  }
  const int32_t number = layout.senderAt(cell, port, colour);
  Sender &sender = layout.senders[size_t(number)];
  if (sender.entering >= 0) {
    --layout.entering[size_t(sender.entering)].left;
    return;
  }
  --sender.held;
  if (--layout.tokens[size_t(sender.first)].count == 0)
    forget(number);
  if (sender.thread >= 0 && layout.threads[size_t(sender.thread)].onSender == number)
    wakeThread(sender.thread);
}

void Run::look(int32_t cell, int colour) {
  if (layout.routeAt(cell, colour) >= 0 && listed.insert(int64_t(cell) * kColours + colour).second)
    routers.emplace_back(cell, colour);
}

// Moves the router's next word on the colour, if it can.
bool Run::step(int32_t cell, int colour) {
  const int32_t route = layout.routeAt(cell, colour);
  if (route < 0)
    return false;
  const RouterRole &router = layout.routerOf(route);
  const SwitchPosition &position = layout.positionOf(route);
  const int from = int(position.input);
  int32_t control = head(cell, from, colour);
  if (control < 0)
    return false;
  const bool turns = control > 0 && (route & 1);
  PortMask outputs = position.outputs;
  const bool data = control == 0;
  bool strays = false;
  if (turns && --control == 0)
    outputs = 0;
  if (!data)
    outputs = format::controlOutputs(outputs);
  for (int out = 0; out < kNumPorts; ++out) {
    if (!(outputs >> out & 1))
      continue;
    if (out != kRamp && !layout.endOfMesh(cell, out)) {
      const auto found = standing.find(layout.portKey(layout.neighbour(cell, out), opposite(out), colour));
      if (int64_t(found == standing.end() ? 0 : found->second.size()) >= layout.linkWords)
        return false;
      continue;
    }
    if (out != kRamp) {
      if (layout.leavingAt.count(layout.portKey(cell, out, colour))) {
        strays |= !data;
        continue;
      }
      error = openRoute(cell, colour, out);
      return false;
    }
    const int32_t number = layout.inputAt(cell, colour);
    if (number < 0) {
      error = openRoute(cell, colour, out);
      return false;
    }
    const Input &input = layout.inputs[size_t(number)];
    if (input.room() <= 0 && (!data || input.filter < 0 || layout.filters[size_t(input.filter)].passing(1) > 0))
      return false;
    strays |= !data;
  }
  if (strays) {
    error = strayControl(cell, colour);
    return false;
  }
  ++stats.routerSteps;
  drop(cell, from, colour);
  for (int out = 0; out < kNumPorts; ++out) {
    if (!(outputs >> out & 1))
      continue;
    if (out == kRamp) {
      arrive(layout.inputAt(cell, colour), 1);
    } else if (layout.endOfMesh(cell, out)) {
      ++layout.leaving[size_t(layout.leavingAt.at(layout.portKey(cell, out, colour)))].words;
    } else {
      const int32_t next = layout.neighbour(cell, out);
      standing[layout.portKey(next, opposite(out), colour)].push_back(control);
      look(next, colour);
    }
  }
  if (turns)
    advance(route >> 1, router);
  return true;
}

// Moves all that can move by steps; false: no thread can go on for it.
bool Run::stepAll() {
  for (int32_t number : pending)
    look(layout.senders[size_t(number)].cell, layout.senders[size_t(number)].colour);
  for (const auto &[place, words] : standing)
    look(int32_t(place / kColours / kNumPorts), int(place % kColours));
  while (!routers.empty() && error.ok()) {
    const auto [cell, colour] = routers.back();
    routers.pop_back();
    listed.erase(int64_t(cell) * kColours + colour);
    while (error.ok() && mayMove() && step(cell, colour)) {
    }
  }
  std::erase_if(pending, [&](int32_t number) {
    Sender &sender = layout.senders[size_t(number)];
    sender.pending = sender.held > 0 || layout.leftOf(sender) > 0;
    return !sender.pending;
  });
  return !work.empty() || !late.empty();
}

bool Run::mayMove() {
  if (--movesLeft >= 0)
    return true;
  error = tooLarge();
  return false;
}

absl::Status Run::run() {
  for (size_t t = layout.threads.size(); t-- > 0;)
    if (!layout.threads[t].done)
      wakeThread(int32_t(t));
  for (size_t s = layout.senders.size(); s-- > 0;)
    if (Sender &sender = layout.senders[s]; layout.leftOf(sender) > 0) {
      sender.queued = true;
      work.push_back(int32_t(s) << 1 | 1);
    }
  do {
    while (error.ok() && !(work.empty() && late.empty())) {
      if (!work.empty()) {
        const int32_t next = work.back();
        work.pop_back();
        if (next & 1)
          retry(next >> 1);
        else
          runThread(next >> 1);
        continue;
      }
      Input &input = layout.inputs[size_t(late.back())];
      const bool waits = input.thread >= 0 && layout.threads[size_t(input.thread)].onInput == late.back();
      late.pop_back();
      input.late = false;
      if (waits && input.words >= input.least)
        wakeThread(input.thread);
    }
  } while (error.ok() && stepAll());
  return error.ok() ? checkEnd() : error;
}

} // namespace wsc::emulator::liveness
