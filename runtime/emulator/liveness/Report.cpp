// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a run has to tell. A deadlock is told as the chain of waits from the first thread that is not done: each thread,
// router and port waits for exactly one other, so the chain ends in a circle or at one that is done.
#include "runtime/emulator/liveness/Run.h"

#include "runtime/emulator/LatticeWalk.h"
#include "runtime/emulator/WaitChain.h"
#include "runtime/format/Isa.h"
#include "runtime/format/Ports.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <bit>
#include <optional>

namespace wsc::emulator::liveness {

using namespace format;
using cycle::Access;
using cycle::Item;
using cycle::ItemKind;

namespace {

std::string routerName(const Layout &layout, int32_t cell, int colour) {
  return absl::StrCat("router (", layout.row(cell), ", ", layout.col(cell), "), colour ", colour);
}

std::string coreName(const Layout &layout, const Core &core) {
  return absl::StrCat("role ", layout.configuration->roles[size_t(core.role)].name, ", core (", layout.row(core.cell),
                      ", ", layout.col(core.cell), ")");
}

absl::Status failed(const Layout &layout, const std::string &what) {
  return absl::FailedPreconditionError(absl::StrCat("configuration ", layout.configuration->name, ": ", what));
}

// A thread, a router's colour (cell, colour), or a port of the wafer (a sender, or one of Layout::leaving).
struct Who {
  enum Kind { Thread, Router, Sends, Leaves } kind;
  int32_t a = 0, b = 0;
  bool operator==(const Who &) const = default;
};

struct Wait {
  std::string text;
  std::optional<Who> on; // none: waits for something that will not come
};

} // namespace

class Waits {
public:
  explicit Waits(const Run &run) : run(run), layout(run.layout) {}

  Wait of(const Who &who) const {
    switch (who.kind) {
    case Who::Thread:
      return ofThread(who.a);
    case Who::Router:
      return ofRouter(who.a, who.b);
    case Who::Sends:
      return ofSending(who.a);
    case Who::Leaves:
      return ofLeaving(who.a);
    }
    return {};
  }

private:
  std::optional<Who> threadOf(int32_t thread) const {
    return thread < 0 ? std::nullopt : std::optional(Who{Who::Thread, thread, 0});
  }

  // The thread of the core that pushes (or pops) a FIFO.
  std::optional<Who> fifoUser(const Core &core, int16_t fifo, bool pushes) const {
    const size_t count = layout.configuration->roles[size_t(core.role)].threads.size();
    for (size_t t = core.firstThread; t < core.firstThread + count; ++t)
      for (const Item &item : layout.threads[t].program->items)
        for (const Access *access : {&item.a, &item.b, &item.dst})
          if (access->kind == Access::Fifo && access->index == fifo && (access == &item.dst) == pushes)
            return Who{Who::Thread, int32_t(t), 0};
    return std::nullopt;
  }

  Wait ofThread(int32_t number) const {
    const liveness::Thread &thread = layout.threads[size_t(number)];
    const Core &core = layout.cores[size_t(thread.core)];
    const Role &role = layout.configuration->roles[size_t(core.role)];
    const size_t t = size_t(number) - core.firstThread;
    std::string text = absl::StrCat(coreName(layout, core), ", thread ", t);
    if (thread.done)
      return {text + " is done", {}};
    const Item &item = thread.program->items[size_t(thread.item)];
    absl::StrAppend(&text, ", instruction ", item.instruction, " ",
                    std::string(opcodeInfo(role.threads[t][size_t(item.instruction)].opcode).name));
    const int64_t elements = std::min<int64_t>(item.batch, item.elements - thread.elements);
    for (const Access *access : {&item.a, &item.b, &item.dst}) {
      const bool room = access == &item.dst;
      if (access->kind == Access::Fifo) {
        const int64_t held = layout.fifos[core.firstFifo + uint32_t(access->index)];
        const int64_t have = room ? layout.roles[size_t(core.role)].fifoSizes[size_t(access->index)] - held : held;
        const int64_t need = item.queues ? elements : 1;
        const int32_t buffer = layout.programs[size_t(core.role)]->fifos()[size_t(access->index)];
        if (have < need)
          return {absl::StrCat(text, " waits for ", room ? "space in" : "elements of", " FIFO ",
                               role.buffers[size_t(buffer)].name, ": has ", have, ", needs ", need),
                  fifoUser(core, access->index, !room)};
      } else if (access->kind == Access::Queue) {
        int64_t have, need;
        const int colour = role.queues[size_t(access->index)].colour;
        if (room) {
          const Sender &sender = layout.senders[size_t(run.senderOf(thread, *access))];
          have = sender.capacity - sender.held;
          need = item.kind == ItemKind::Control ? 1 : access->wordsEnded(thread.elements, elements, item.elements);
        } else {
          have = layout.inputs[size_t(run.inputOf(thread, *access))].words;
          need = access->wordsBegun(thread.elements, elements);
        }
        if (have < need)
          return {absl::StrCat(text, " waits for ", room ? "space in output" : "words of input", " queue ",
                               access->index, " (colour ", colour, "): has ", have, ", needs ", need),
                  Who{Who::Router, core.cell, colour}};
      }
    }
    return {text + " can go on", {}};
  }

  Wait ofRouter(int32_t cell, int colour) const {
    std::string text = routerName(layout, cell, colour);
    const int32_t route = layout.routeAt(cell, colour);
    if (route < 0)
      return {text + " has no settings", {}};
    const SwitchPosition &position = layout.positionOf(route);
    const int from = int(position.input);
    if (route & 1)
      absl::StrAppend(&text, " in a switch position with input ", kPortNames[from]);
    if (run.head(cell, from, colour) < 0) {
      std::optional<Who> on;
      if (from != kRamp && !layout.endOfMesh(cell, from))
        on = Who{Who::Router, layout.neighbour(cell, from), colour};
      else if (const int32_t sender = layout.senderAt(cell, from, colour); sender >= 0)
        on = layout.senders[size_t(sender)].entering >= 0 ? Who{Who::Sends, sender, 0}
                                                          : threadOf(layout.senders[size_t(sender)].thread);
      return {absl::StrCat(text, " waits for words at ", kPortNames[from], ": has 0, needs 1"), on};
    }
    for (int out = 0; out < kNumPorts; ++out) {
      if (!(position.outputs >> out & 1) || layout.endOfMesh(cell, out))
        continue;
      if (out == kRamp) {
        const Input &input = layout.inputs[size_t(layout.inputAt(cell, colour))];
        if (input.room() <= 0)
          return {absl::StrCat(text, " waits for space at RAMP: the queue holds ", input.words, " of ", input.capacity),
                  threadOf(input.thread)};
        continue;
      }
      const auto found = run.standing.find(layout.portKey(layout.neighbour(cell, out), opposite(out), colour));
      if (found != run.standing.end() && int64_t(found->second.size()) >= layout.linkWords)
        return {absl::StrCat(text, " waits for space at ", kPortNames[out], ": the queue holds ", found->second.size(),
                             " of ", layout.linkWords),
                Who{Who::Router, layout.neighbour(cell, out), colour}};
    }
    return {text + " can go on", {}};
  }

  std::string portName(bool output, int32_t binding, int side, int32_t cell, int colour) const {
    return absl::StrCat(output ? "output" : "input", " binding ", binding, ", port ", kPortNames[side], " of (",
                        layout.row(cell), ", ", layout.col(cell), "), colour ", colour);
  }

  Wait ofSending(int32_t number) const {
    const Sender &sender = layout.senders[size_t(number)];
    const Entering &port = layout.entering[size_t(sender.entering)];
    const std::string name = portName(false, port.binding, sender.port, sender.cell, sender.colour);
    if (port.left == 0)
      return {absl::StrCat(name, " has passed all its ", port.words, " words"), {}};
    return {absl::StrCat(name, " waits for space: ", port.words - port.left, " of ", port.words, " words have passed"),
            Who{Who::Router, sender.cell, sender.colour}};
  }

  Wait ofLeaving(int32_t number) const {
    const Leaving &port = layout.leaving[size_t(number)];
    return {absl::StrCat(portName(true, port.binding, port.side, port.cell, port.colour),
                         " waits for words: ", port.words, " of ", port.wanted, " words have passed"),
            Who{Who::Router, port.cell, port.colour}};
  }

  const Run &run;
  const Layout &layout;
};

namespace {

absl::Status deadlock(const Run &run, const Layout &layout, const Who &start, int64_t threads, int64_t ports) {
  const Waits waits(run);
  const WaitChain chain = followWaits(start, [&](const Who &who) { return waits.of(who); });
  return failed(layout, absl::StrCat("deadlock: ", threads, " threads and ", ports, " ports never finish a sample; ",
                                     chain.isCircle ? "a circle of waits: " : "who waits for whom: ", chain.text,
                                     ". Deepen what is full, or send and take in the same order"));
}

absl::Status leftWords(const Layout &layout, const std::string &where, int64_t words) {
  return failed(layout, absl::StrCat("unbalanced words: ", words, " are left in ", where,
                                     "; per sample as many must be taken as are sent"));
}

absl::Status checkCores(const Layout &layout) {
  for (const Core &core : layout.cores) {
    const Role &role = layout.configuration->roles[size_t(core.role)];
    const RoleFacts &facts = layout.roles[size_t(core.role)];
    for (size_t q = 0; q < role.queues.size(); ++q) {
      const Queue &queue = role.queues[q];
      const auto where = [&] {
        return absl::StrCat(coreName(layout, core), ", queue ", q, " (colour ", int(queue.colour), ")");
      };
      if (queue.output) {
        const Sender &sender = layout.senders[size_t(core.firstSender) + size_t(facts.place[q])];
        if (sender.held > 0)
          return leftWords(layout, where(), sender.held);
        continue;
      }
      const Input &input = layout.inputs[size_t(core.firstInput) + size_t(facts.place[q])];
      if (input.words > 0)
        return leftWords(layout, where(), input.words);
      if (input.filter >= 0 && layout.filters[size_t(input.filter)].met != 0)
        return failed(layout,
                      absl::StrCat("filter: ", where(), " ends a sample ", layout.filters[size_t(input.filter)].met,
                                   " words into a period of ", layout.filters[size_t(input.filter)].period));
    }
    for (size_t f = 0; f < facts.fifoSizes.size(); ++f)
      if (const int64_t elements = layout.fifos[core.firstFifo + f]; elements > 0)
        return leftWords(layout,
                         absl::StrCat(coreName(layout, core), ", FIFO ",
                                      role.buffers[size_t(layout.programs[size_t(core.role)]->fifos()[f])].name),
                         elements);
  }
  return absl::OkStatus();
}

} // namespace

absl::Status Run::openRoute(int32_t cell, int colour, int port) const {
  return absl::InvalidArgumentError(
      absl::StrCat("configuration ", layout.configuration->name, ": open route: ", routerName(layout, cell, colour),
                   " sends words to ", kPortNames[port],
                   port == kRamp ? ", but the core has no input queue on that colour"
                                 : ", but the mesh ends there and no output binding takes them"));
}

absl::Status Run::strayControl(int32_t cell, int colour) const {
  return failed(layout, absl::StrCat("control word: one leaves ", routerName(layout, cell, colour),
                                     " to RAMP or out of the wafer; its count must end it at a router with two or "
                                     "more switch positions"));
}

absl::Status Run::tooLarge() const {
  return absl::ResourceExhaustedError(absl::StrCat("configuration ", layout.configuration->name,
                                                   ": too large: one sample takes more than ", mostMoves,
                                                   " moves of threads and routers"));
}

absl::Status Run::checkEnd() const {
  int64_t threads = 0, ports = 0;
  std::optional<Who> first;
  const auto unfinished = [&](int64_t &count, const Who &who) {
    ++count;
    if (!first)
      first = who;
  };
  for (size_t t = 0; t < layout.threads.size(); ++t)
    if (!layout.threads[t].done)
      unfinished(threads, {Who::Thread, int32_t(t), 0});
  for (size_t s = 0; s < layout.senders.size(); ++s)
    if (layout.leftOf(layout.senders[s]) > layout.linkWords) // the others stand in the queue of the edge's router
      unfinished(ports, {Who::Sends, int32_t(s), 0});
  for (size_t l = 0; l < layout.leaving.size(); ++l)
    if (layout.leaving[l].words < layout.leaving[l].wanted)
      unfinished(ports, {Who::Leaves, int32_t(l), 0});
  if (first)
    return deadlock(*this, layout, *first, threads, ports);
  for (const Leaving &port : layout.leaving)
    if (port.words > port.wanted)
      return leftWords(
          layout, absl::StrCat("output binding ", port.binding, ", which takes ", port.wanted, " words per sample"),
          port.words - port.wanted);
  for (const Sender &sender : layout.senders)
    if (const int64_t left = layout.leftOf(sender); left > 0)
      return leftWords(
          layout, absl::StrCat(routerName(layout, sender.cell, sender.colour), ", at ", kPortNames[sender.port]), left);
  // The first place by number, whatever the order of the table.
  Place place = -1;
  for (const auto &[at, words] : standing)
    place = place < 0 ? at : std::min(place, at);
  if (place >= 0) {
    const auto cell = int32_t(place / kColours / kNumPorts);
    return leftWords(layout,
                     absl::StrCat(routerName(layout, cell, int(place % kColours)), ", at ",
                                  kPortNames[place / kColours % kNumPorts]),
                     int64_t(standing.at(place).size()));
  }
  if (absl::Status status = checkCores(layout); !status.ok())
    return status;
  for (size_t s = 0; s < layout.switches.size(); ++s)
    if (layout.switches[s].position != 0) {
      const int colour = layout.configuration->routers[size_t(layout.switches[s].role)].colour;
      return failed(layout, absl::StrCat("switch: ", routerName(layout, layout.switchCell[s], colour),
                                         " ends a sample in position ", layout.switches[s].position, " instead of 0"));
    }
  return absl::OkStatus();
}

} // namespace wsc::emulator::liveness
