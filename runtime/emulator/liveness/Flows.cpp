// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Flows: words of a sender go through all routers on their way at once, as many as every taker has space for. They do
// so only if every router on the way stands in the position that takes them and no word stands on the way; a sender
// whose words cannot go waits in the list of the input or switch that it met first.
#include "runtime/emulator/liveness/Run.h"

#include <algorithm>
#include <bit>

namespace wsc::emulator::liveness {

using namespace format;

namespace {

constexpr size_t kJoins = 4;           // switches within which a way may join a known one
constexpr size_t kLeastKept = 2;       // switches of ways that are kept
constexpr size_t kMostKnown = 1 << 20; // ways that are kept

} // namespace

// The rest of the way from a switch, if it is known; false: it is not.
bool Run::join(const Switch &at) {
  if (at.known < 0 || at.place < known[size_t(at.known)].begin)
    return false;
  const KnownWay &way = known[size_t(at.known)];
  for (int32_t k = 0; k < way.count; ++k)
    if (way.places[size_t(k)] >= at.place)
      found.push_back(way.takers[size_t(k)]);
  return true;
}

// Keeps the way that was walked, if it has some switches and few takers.
void Run::keepWay() {
  if (forks || walked.size() < kLeastKept || found.size() > KnownWay::kMostTakers)
    return;
  if (known.size() == kMostKnown) {
    known.clear();
    for (Switch &each : layout.switches)
      each.known = -1;
  }
  KnownWay &way = known.emplace_back();
  way.count = int32_t(found.size());
  std::copy(found.begin(), found.end(), way.takers.begin());
  std::copy(foundAt.begin(), foundAt.end(), way.places.begin());
  for (size_t i = 0; i < walked.size(); ++i) {
    layout.switches[size_t(walked[i])].known = int32_t(known.size()) - 1;
    layout.switches[size_t(walked[i])].place = int32_t(i);
  }
}

// Goes along a way from a router's port to its end; other ways that part from it go to the stack. False: it is blocked.
bool Run::follow(int32_t number, int32_t cell, int32_t port, const int32_t *routes, bool mayStand, bool &fixed) {
  const int colour = layout.senders[size_t(number)].colour;
  const auto block = [&](auto kind, int32_t at) {
    reached.blocker = kind;
    reached.at = at;
    return false;
  };
  for (bool goesOn = true; goesOn;) {
    const int32_t route = routes[cell];
    if (route < 0 || (mayStand && occupied(cell, port, colour)))
      return block(Reach::Elsewhere, -1);
    const Way way = layout.wayOf(route);
    fixed &= !(route & 1);
    if (way.input != port)
      return block(route & 1 ? Reach::AtSwitch : Reach::Elsewhere, route >> 1);
    if ((route & 1) && !mayStand) {
      if (!forks && walked.size() < kJoins && join(layout.switches[size_t(route >> 1)])) {
        forks = true; // not walked to its end
        return true;
      }
      walked.push_back(route >> 1);
    }
    goesOn = false;
    const int32_t from = cell;
    for (unsigned left = way.outputs; left; left &= left - 1) {
      const int out = std::countr_zero(left);
      if (out == kRamp) {
        const int32_t input = layout.inputAt(from, colour);
        if (input < 0) {
          error = openRoute(from, colour, out);
          return block(Reach::Elsewhere, -1);
        }
        found.push_back(input);
        foundAt.push_back(int32_t(walked.size()) - 1);
      } else if (const int32_t next = layout.neighbour(from, out); routes[next] >= 0) {
        if (goesOn) {
          stack.insert(stack.end(), {cell, port});
          forks = true;
        }
        goesOn = true;
        cell = next;
        port = opposite(out);
      } else if (!layout.endOfMesh(from, out)) {
        return block(Reach::Elsewhere, -1);
      } else if (const auto edge = layout.leavingAt.find(layout.portKey(from, out, colour));
                 edge != layout.leavingAt.end()) {
        found.push_back(~edge->second);
        foundAt.push_back(int32_t(walked.size()) - 1);
      } else {
        error = openRoute(from, colour, out);
        return block(Reach::Elsewhere, -1);
      }
    }
  }
  return true;
}

// Fills reached.takers with where words of the sender go; an empty list with a blocker if they cannot. Ways without
// switches are the sender's for good, and kept.
void Run::findTakers(int32_t number) {
  const Sender &sender = layout.senders[size_t(number)];
  reached.takers = {};
  reached.blocker = Reach::Nothing;
  if (sender.takers >= 0 && standing.empty()) {
    reached.takers = {layout.trees.data() + sender.tree, size_t(sender.takers - sender.tree)};
    return;
  }
  found.clear();
  foundAt.clear();
  walked.clear();
  forks = false;
  bool fixed = true;
  const int colour = sender.colour;
  const int32_t *const routes = layout.routes[size_t(colour)].data();
  if (!routes) {
    reached.blocker = Reach::Elsewhere;
    reached.at = -1;
    return;
  }
  const bool mayStand = !standing.empty();
  stack.assign({sender.cell, int32_t(sender.port)});
  while (!stack.empty()) {
    const int32_t port = stack.back(), cell = stack[stack.size() - 2];
    stack.resize(stack.size() - 2);
    if (!follow(number, cell, port, routes, mayStand, fixed))
      return;
  }
  reached.takers = found;
  keepWay();
  if (fixed && standing.empty()) {
    Sender &known = layout.senders[size_t(number)];
    known.tree = int32_t(layout.trees.size());
    layout.trees.insert(layout.trees.end(), found.begin(), found.end());
    known.takers = int32_t(layout.trees.size());
  }
}

// What of the sender's data words could go now.
void Run::reach(int32_t number) {
  findTakers(number);
  reached.words = reached.blocker == Reach::Nothing ? kUnlimited : 0;
  for (int32_t taker : reached.takers) {
    if (taker < 0)
      continue;
    const Input &input = layout.inputs[size_t(taker)];
    const int64_t words = input.filter < 0 ? input.room() : layout.filters[size_t(input.filter)].meeting(input.room());
    if (words >= reached.words)
      continue;
    reached.words = std::max<int64_t>(words, 0);
    reached.blocker = Reach::AtInput;
    reached.at = taker;
  }
}

void Run::arrive(int32_t number, int64_t words) {
  Input &input = layout.inputs[size_t(number)];
  if (input.filter >= 0) {
    FilterCount &filter = layout.filters[size_t(input.filter)];
    const int64_t passing = filter.passing(words);
    filter.meet(words);
    words = passing;
  }
  input.words += int32_t(words);
  if (input.words >= input.wake) {
    wakeThread(input.thread);
  } else if (input.words >= input.least && !input.late) {
    input.late = true;
    late.push_back(number);
  }
}

void Run::deliver(int64_t words) {
  if (words == 0)
    return;
  ++stats.flows;
  for (int32_t taker : reached.takers)
    if (taker < 0)
      layout.leaving[size_t(~taker)].words += words;
    else
      arrive(taker, words);
}

void Run::advance(int32_t number, const RouterRole &router) {
  Switch &at = layout.switches[size_t(number)];
  at.position = (at.position + 1) % int32_t(router.positions.size());
  at.way = wayOf(router.positions[size_t(at.position)]);
  if (at.known >= 0)
    known[size_t(at.known)].begin = std::max(known[size_t(at.known)].begin, at.place + 1);
  if (at.waiting >= 0)
    wakeSenders(at.waiting);
}

// A control word that stands first goes all its ways, or none.
bool Run::sendControl(int32_t number, int32_t control) {
  const Sender &sender = layout.senders[size_t(number)];
  const int colour = sender.colour;
  reached.blocker = Reach::Elsewhere;
  turned.clear();
  stack.assign({sender.cell, int32_t(sender.port), control});
  while (!stack.empty()) {
    int32_t count = stack.back();
    const int32_t port = stack[stack.size() - 2], cell = stack[stack.size() - 3];
    stack.resize(stack.size() - 3);
    const int32_t route = layout.routeAt(cell, colour);
    if (route < 0 || occupied(cell, port, colour))
      return false;
    const SwitchPosition &position = layout.positionOf(route);
    if (int(position.input) != port) {
      reached.blocker = route & 1 ? Reach::AtSwitch : Reach::Elsewhere;
      reached.at = route >> 1;
      return false;
    }
    if (route & 1) {
      turned.push_back(route >> 1);
      if (--count == 0)
        continue;
    }
    const PortMask outputs = format::controlOutputs(position.outputs);
    for (int out = 0; out < kNumPorts; ++out) {
      if (!(outputs >> out & 1))
        continue;
      if (out == kRamp || layout.endOfMesh(cell, out)) { // an error, if it comes so far
        reached.blocker = Reach::Elsewhere;
        return false;
      }
      stack.insert(stack.end(), {layout.neighbour(cell, out), opposite(out), count});
    }
  }
  ++stats.flows;
  for (int32_t at : turned)
    advance(at, layout.configuration->routers[size_t(layout.switches[size_t(at)].role)]);
  return true;
}

// Lists the sender where reach() or sendControl() has been stopped.
void Run::wait(int32_t number) {
  Sender &sender = layout.senders[size_t(number)];
  if (!sender.pending) {
    sender.pending = true;
    pending.push_back(number);
  }
  if (sender.waits || (reached.blocker != Reach::AtInput && reached.blocker != Reach::AtSwitch))
    return;
  int32_t &list = reached.blocker == Reach::AtInput ? layout.inputs[size_t(reached.at)].waiting
                                                    : layout.switches[size_t(reached.at)].waiting;
  sender.waits = true;
  sender.nextWaiting = list;
  list = number;
}

void Run::wakeSenders(int32_t &list) {
  while (list >= 0) {
    Sender &sender = layout.senders[size_t(list)];
    sender.waits = false;
    if (!sender.queued) {
      sender.queued = true;
      work.push_back(list << 1 | 1);
    }
    list = sender.nextWaiting;
  }
}

void Run::hold(int32_t number, int64_t count, int32_t control) {
  Sender &sender = layout.senders[size_t(number)];
  sender.held += int32_t(count);
  if (control == 0 && sender.last >= 0 && layout.tokens[size_t(sender.last)].control == 0) {
    layout.tokens[size_t(sender.last)].count += count;
  } else {
    int32_t at = layout.freeTokens;
    if (at < 0) {
      at = int32_t(layout.tokens.size());
      layout.tokens.emplace_back();
    } else {
      layout.freeTokens = layout.tokens[size_t(at)].next;
    }
    layout.tokens[size_t(at)] = {count, control, -1};
    if (sender.last >= 0)
      layout.tokens[size_t(sender.last)].next = at;
    else
      sender.first = at;
    sender.last = at;
  }
  flow(number);
}

// The first of the sender's tokens is used up.
void Run::forget(int32_t number) {
  Sender &sender = layout.senders[size_t(number)];
  const int32_t at = sender.first;
  sender.first = layout.tokens[size_t(at)].next;
  if (sender.first < 0)
    sender.last = -1;
  layout.tokens[size_t(at)].next = layout.freeTokens;
  layout.freeTokens = at;
}

// Sends what the sender holds, as far as it goes.
void Run::flow(int32_t number) {
  Sender &sender = layout.senders[size_t(number)];
  while (sender.held > 0 && error.ok()) {
    Tokens &first = layout.tokens[size_t(sender.first)];
    if (first.control > 0) {
      if (!sendControl(number, first.control))
        return wait(number);
      --sender.held;
      forget(number);
      continue;
    }
    reach(number);
    const int64_t words = std::min(first.count, reached.words);
    deliver(words);
    first.count -= words;
    sender.held -= int32_t(words);
    if (first.count > 0)
      return wait(number);
    forget(number);
  }
}

// The sender may be able to send more.
void Run::retry(int32_t number) {
  Sender &sender = layout.senders[size_t(number)];
  sender.queued = false;
  flow(number);
  if (sender.thread >= 0) {
    if (layout.threads[size_t(sender.thread)].onSender == number)
      wakeThread(sender.thread);
    return;
  }
  if (layout.leftOf(sender) == 0 || !error.ok())
    return;
  reach(number);
  int64_t &left = layout.entering[size_t(sender.entering)].left;
  const int64_t words = std::min(left, reached.words);
  deliver(words);
  left -= words;
  if (left > 0)
    wait(number);
}

// How many of `words` data words a thread can put into its output queue: those that go on at once, which send() then
// moves, and those that it holds.
int64_t Run::roomFor(int32_t number, int64_t words) {
  flow(number);
  const Sender &sender = layout.senders[size_t(number)];
  reached.words = sender.held > 0 ? 0 : reached.words;
  if (sender.held == 0)
    reach(number);
  return std::min(words, reached.words + sender.capacity - sender.held);
}

void Run::send(int32_t number, int64_t words) {
  if (words == 0)
    return;
  Sender &sender = layout.senders[size_t(number)];
  const int64_t now = sender.held > 0 ? 0 : std::min(words, reached.words);
  deliver(now);
  if (words > now)
    hold(number, words - now, 0);
}

} // namespace wsc::emulator::liveness
