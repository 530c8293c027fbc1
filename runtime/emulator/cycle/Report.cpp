// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors of a run. A deadlock is told as the chain of waits from the first thread that is not done: each of thread,
// router and port waits for exactly one other, so the chain ends in a cycle or at one that is done.
#include "runtime/emulator/cycle/Report.h"

#include "runtime/emulator/WaitChain.h"
#include "runtime/format/Isa.h"
#include "runtime/format/Ports.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <optional>

namespace wsc::emulator::cycle {

using namespace format;

namespace {

// A thread (core, thread), a node (tile, bit) or a port of the wafer.
struct Who {
  enum Kind { Thread, Node, Port } kind;
  uint32_t a = 0, b = 0;
  bool operator==(const Who &) const = default;
};

struct Wait {
  std::string text;
  std::optional<Who> on; // none: waits for something that will not come
};

int64_t wordsIn(const WordQueue &queue) {
  int64_t words = 0;
  for (uint32_t i = 0; i < queue.slots; ++i)
    words += queue.ring()[i] & kFull;
  return words;
}

class Waits {
public:
  explicit Waits(const Fabric &fabric) : fabric(fabric), configuration(*fabric.configuration) {}

  Wait of(const Who &who) const {
    return who.kind == Who::Thread ? ofThread(who.a, int(who.b))
           : who.kind == Who::Node ? ofNode(who.a, who.b)
                                   : ofPort(who.a);
  }

private:
  Who fromParty(Party party) const {
    const uint32_t tile = party / kPartiesPerTile, bit = party % kPartiesPerTile;
    if (bit < fabric.tiles[tile].nodes)
      return {Who::Node, tile, bit};
    return {Who::Thread, fabric.tiles[tile].core, bit - fabric.tiles[tile].nodes};
  }
  std::optional<Who> sender(const WordQueue &queue) const {
    if (queue.flags & kSenderIsPort)
      return Who{Who::Port, queue.sender, 0};
    return queue.sender == kNobody ? std::nullopt : std::optional(fromParty(queue.sender));
  }
  std::optional<Who> taker(const WordQueue &queue) const {
    return queue.taker == kNobody ? std::nullopt : std::optional(fromParty(queue.taker));
  }

  // The thread of the core that pushes (or pops) a FIFO.
  std::optional<Who> fifoUser(uint32_t number, int16_t fifo, bool pushes) const {
    const Core &core = fabric.cores[number];
    for (size_t t = 0; t < core.threads; ++t)
      for (const Item &item : core.program->threads[t].items)
        for (const Access *access : {&item.a, &item.b, &item.dst})
          if (access->kind == Access::Fifo && access->index == fifo && (access == &item.dst) == pushes)
            return Who{Who::Thread, number, uint32_t(t)};
    return std::nullopt;
  }

  Wait ofThread(uint32_t number, int thread) const {
    const Core &core = fabric.cores[number];
    const Tile &tile = fabric.tiles[core.tile];
    const Role &role = configuration.roles[core.role];
    std::string text =
        absl::StrCat("role ", role.name, ", core (", fabric.row(tile), ", ", fabric.col(tile), "), thread ", thread);
    if (!(core.unfinished >> thread & 1))
      return {text + " is done", {}};
    const ThreadState &state = fabric.threads[core.firstThread + uint32_t(thread)];
    const Item &item = core.program->threads[size_t(thread)].items[size_t(state.item)];
    absl::StrAppend(&text, ", instruction ", item.instruction, " ",
                    std::string(opcodeInfo(role.threads[size_t(thread)][size_t(item.instruction)].opcode).name));
    const int64_t elements = std::min<int64_t>(item.batch, item.elements - state.elements);
    for (const Access *access : {&item.a, &item.b, &item.dst}) {
      const bool room = access == &item.dst;
      int64_t have, need;
      if (access->kind == Access::Fifo) {
        const int64_t held = fabric.fifoElements[core.firstFifo + uint32_t(access->index)];
        have = room ? fabric.fifoSizes[core.role][size_t(access->index)] - held : held;
        need = item.queues ? elements : 1;
        if (have < need)
          return {absl::StrCat(text, " waits for ", room ? "space in" : "elements of", " FIFO ",
                               role.buffers[size_t(fabric.programs[core.role].fifos()[size_t(access->index)])].name,
                               ": has ", have, ", needs ", need),
                  fifoUser(number, access->index, !room)};
      } else if (access->kind == Access::Queue) {
        const WordQueue &queue = fabric.queue(fabric.coreQueues[core.firstQueue + uint32_t(access->index)]);
        have = room ? queue.slots - wordsIn(queue) : wordsIn(queue);
        need = item.kind == ItemKind::Control ? 1
               : room                         ? access->wordsEnded(state.elements, elements, item.elements)
                                              : access->wordsBegun(state.elements, elements);
        if (have < need)
          return {absl::StrCat(text, " waits for ", room ? "space in output" : "words of input", " queue ",
                               access->index, " (colour ", int(role.queues[size_t(access->index)].colour), "): has ",
                               have, ", needs ", need),
                  room ? taker(queue) : sender(queue)};
      }
    }
    return {text + " can go on", {}};
  }

  Wait ofNode(uint32_t number, uint32_t bit) const {
    const Tile &tile = fabric.tiles[number];
    const uint32_t node = tile.firstNode + bit;
    std::string text = nodeName(fabric, number, bit);
    if (fabric.nodes[node] == kNone)
      return {text + " has no settings", {}};
    const RouteView view{&fabric.routes[fabric.nodes[node]]};
    const RouterRole &router = configuration.routers[size_t(fabric.nodeRouter[node])];
    int port = 0;
    for (int p = 0; p < kNumPorts; ++p)
      if (fabric.queueAt(node, p) == view.in())
        port = p;
    if (router.positions.size() > 1)
      absl::StrAppend(&text, " in a switch position with input ", kPortNames[port]);
    const WordQueue &in = fabric.queue(view.in());
    if (!(in.ring()[in.head] & kFull))
      return {absl::StrCat(text, " waits for words at ", kPortNames[port], ": has 0, needs 1"), sender(in)};
    // RAMP comes last: a word that a filter keeps from it waits for one of the others.
    for (uint32_t i = 0, ports = view.ports(); i < view.outputs(); ++i, ports &= ports - 1) {
      if (view.output(i) & RouteView::kPortBit)
        continue;
      const WordQueue &out = fabric.queue(view.output(i));
      if (out.ring()[out.tail] & kFull)
        return {absl::StrCat(text, " waits for space at ", kPortNames[std::countr_zero(ports)], ": the queue holds ",
                             wordsIn(out), " of ", out.slots),
                taker(out)};
    }
    return {text + " can go on", {}};
  }

  Wait ofPort(uint32_t number) const {
    const PortState &port = fabric.ports[number];
    const IoBinding &binding = configuration.io[size_t(port.binding)];
    const Tile &tile = fabric.tiles[port.tile];
    std::string text = absl::StrCat(port.output ? "output" : "input", " binding ", port.binding, ", port ",
                                    kPortNames[int(binding.side)], " of (", fabric.row(tile), ", ", fabric.col(tile),
                                    "), colour ", int(binding.colour));
    if (port.words >= port.all)
      return {absl::StrCat(text, " has passed all its ", port.all, " words"), {}};
    absl::StrAppend(&text, port.output ? " waits for words: " : " waits for space: ", port.words, " of ", port.all,
                    " words have passed");
    return {text, Who{Who::Node, port.tile, port.node - tile.firstNode}};
  }

  const Fabric &fabric;
  const Configuration &configuration;
};

absl::Status deadlock(const Fabric &fabric, const Who &start, int64_t threads, int64_t ports, int64_t cycle) {
  const Waits waits(fabric);
  const WaitChain chain = followWaits(start, [&](const Who &who) { return waits.of(who); });
  return absl::FailedPreconditionError(absl::StrCat(
      "configuration ", fabric.configuration->name, ": deadlock in cycle ", cycle, ": ", threads, " threads and ",
      ports, " ports are not done; ", chain.isCircle ? "a cycle of waits: " : "who waits for whom: ", chain.text,
      ". Deepen what is full, or send and take in the same order"));
}

absl::Status leftWords(const Fabric &fabric, const std::string &where, int64_t words) {
  return absl::FailedPreconditionError(absl::StrCat("configuration ", fabric.configuration->name,
                                                    ": unbalanced words: ", words, " are left in ", where,
                                                    "; per sample as many must be taken as are sent"));
}

absl::Status checkEmpty(const Fabric &fabric) {
  for (const PortState &port : fabric.ports)
    if (port.words > port.all)
      return leftWords(
          fabric,
          absl::StrCat("output binding ", port.binding, ", which takes ", port.wordsPerSample, " words per sample"),
          port.words - port.all);
  for (uint32_t t = 0; t < fabric.tiles.size(); ++t)
    for (uint32_t bit = 0; bit < fabric.tiles[t].nodes; ++bit)
      for (int port = 0; port < kNumPorts; ++port)
        if (const uint32_t id = fabric.queueAt(fabric.tiles[t].firstNode + bit, port); id != kNone)
          if (const int64_t words = wordsIn(fabric.queue(id)); words > 0)
            return leftWords(fabric, absl::StrCat(nodeName(fabric, t, bit), ", at ", kPortNames[port]), words);
  for (const Core &core : fabric.cores) {
    const Role &role = fabric.configuration->roles[core.role];
    const Tile &tile = fabric.tiles[core.tile];
    const std::string name =
        absl::StrCat("role ", role.name, ", core (", fabric.row(tile), ", ", fabric.col(tile), "), ");
    for (size_t q = 0; q < role.queues.size(); ++q)
      if (const int64_t words = wordsIn(fabric.queue(fabric.coreQueues[core.firstQueue + q])); words > 0)
        return leftWords(fabric, absl::StrCat(name, "queue ", q, " (colour ", int(role.queues[q].colour), ")"), words);
    for (size_t f = 0; f < fabric.fifoSizes[core.role].size(); ++f)
      if (const int64_t elements = fabric.fifoElements[core.firstFifo + f]; elements > 0)
        return leftWords(fabric,
                         absl::StrCat(name, "FIFO ", role.buffers[size_t(fabric.programs[core.role].fifos()[f])].name),
                         elements);
  }
  return absl::OkStatus();
}

} // namespace

std::string nodeName(const Fabric &fabric, uint32_t number, uint32_t bit) {
  const Tile &tile = fabric.tiles[number];
  return absl::StrCat("router (", fabric.row(tile), ", ", fabric.col(tile), "), colour ", fabric.colourOf(tile, bit));
}

absl::Status tooLong(const Fabric &fabric, const CycleOptions &options) {
  return absl::DeadlineExceededError(absl::StrCat("configuration ", fabric.configuration->name,
                                                  ": too long: ", options.samples, " samples are not done after ",
                                                  options.mostCycles, " cycles; allow more or run fewer samples"));
}

absl::Status strayControl(const Fabric &fabric, const StrayControl &stray, int64_t cycle) {
  return absl::FailedPreconditionError(absl::StrCat(
      "configuration ", fabric.configuration->name, ": control word: in cycle ", cycle, " one leaves ",
      nodeName(fabric, stray.tile, stray.bit),
      " to RAMP or out of the wafer; its count must end it at a router with two or more switch positions"));
}

absl::Status checkEnd(const Fabric &fabric, const CycleOptions &options, const std::vector<Strip> &strips) {
  int64_t threads = 0, ports = 0, cycle = 0;
  std::optional<Who> first;
  for (uint32_t c = 0; c < fabric.cores.size(); ++c)
    if (const uint64_t unfinished = fabric.cores[c].unfinished) {
      threads += std::popcount(unfinished);
      if (!first)
        first = Who{Who::Thread, c, uint32_t(std::countr_zero(unfinished))};
    }
  for (uint32_t p = 0; p < fabric.ports.size(); ++p)
    if (fabric.ports[p].words < fabric.ports[p].all) {
      ++ports;
      if (!first)
        first = Who{Who::Port, p, 0};
    }
  for (const Strip &strip : strips)
    cycle = std::max(cycle, strip.endCycle);
  return first ? deadlock(fabric, *first, threads, ports, cycle) : checkEmpty(fabric);
}

} // namespace wsc::emulator::cycle
