// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cores in the order of tiles, queues in one arena, routes as records.
#include "runtime/emulator/cycle/FabricBuilder.h"

#include "runtime/emulator/LatticeWalk.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::emulator::cycle {

using namespace format;

// The roles' cores in the order of tiles, with their threads, FIFOs and lists of queues.
absl::Status FabricBuilder::placeCores() {
  struct Placed {
    uint32_t tile, role;
    int64_t ordinal;
  };
  std::vector<Placed> placed;
  for (size_t r = 0; r < configuration.roles.size(); ++r) {
    const Role &role = configuration.roles[r];
    fabric.programs.emplace_back(target, role);
    std::vector<int64_t> sizes;
    for (int32_t b : fabric.programs.back().fifos())
      sizes.push_back(role.buffers[size_t(b)].bytes / std::max<int64_t>(1, elementBytes(role.buffers[size_t(b)].type)));
    fabric.fifoSizes.push_back(std::move(sizes));
    for (size_t q = 0; q < role.queues.size(); ++q) {
      const auto &depths = role.queues[q].output ? target.outputQueueWords : target.inputQueueWords;
      if (role.queues[q].index >= depths.size())
        return absl::InvalidArgumentError(absl::StrCat("role ", role.name, ": hardware queue ", role.queues[q].index,
                                                       " does not exist; the target has ", depths.size()));
      for (size_t p = 0; p < q; ++p)
        if (role.queues[p].output == role.queues[q].output && role.queues[p].colour == role.queues[q].colour)
          return absl::InvalidArgumentError(absl::StrCat("two queues: role ", role.name, " binds colour ",
                                                         int(role.queues[q].colour), " twice in one direction"));
    }
    int64_t ordinal = 0;
    forEachPoint(role.cores, [&](const LatticeIndex &, int32_t row, int32_t col) {
      placed.push_back(
          {uint32_t(fabric.tileAt[size_t(row) * size_t(fabric.cols) + size_t(col)]), uint32_t(r), ordinal++});
      return true;
    });
  }
  std::sort(placed.begin(), placed.end(), [](const Placed &a, const Placed &b) { return a.tile < b.tile; });
  fabric.cores.reserve(placed.size());
  for (const Placed &where : placed) {
    const Role &role = configuration.roles[where.role];
    Tile &tile = fabric.tiles[where.tile];
    if (tile.core != kNone)
      return absl::InvalidArgumentError(
          absl::StrCat("core (", fabric.row(tile), ", ", fabric.col(tile), ") is in roles ",
                       configuration.roles[fabric.cores[tile.core].role].name, " and ", role.name));
    if (tile.nodes + role.threads.size() > kPartiesPerTile)
      return absl::ResourceExhaustedError(absl::StrCat("too large: core (", fabric.row(tile), ", ", fabric.col(tile),
                                                       ") has ", role.threads.size(), " threads and its router ",
                                                       int(tile.nodes), " colours; the cycle engine holds ",
                                                       kPartiesPerTile, " together"));
    tile.core = uint32_t(fabric.cores.size());
    Core core;
    core.tile = where.tile;
    core.role = where.role;
    core.ordinal = where.ordinal;
    auto program = fabric.programs[where.role].at(latticeIndex(role.cores, where.ordinal));
    if (!program.ok())
      return program.status();
    core.program = *program;
    core.threads = uint8_t(role.threads.size());
    core.priorities = core.program->priorities;
    core.firstThread = uint32_t(fabric.threads.size());
    core.firstQueue = uint32_t(fabric.coreQueues.size());
    core.firstFifo = uint32_t(fabric.fifoElements.size());
    for (size_t t = 0; t < role.threads.size(); ++t)
      if (core.program->threads[t].slotsPerSample > 0)
        core.unfinished |= uint64_t(1) << t;
    fabric.threads.resize(fabric.threads.size() + role.threads.size());
    fabric.coreQueues.resize(fabric.coreQueues.size() + role.queues.size(), kNone);
    fabric.fifoElements.resize(fabric.fifoElements.size() + fabric.fifoSizes[where.role].size());
    for (const format::Queue &queue : role.queues)
      if (queue.output)
        fabric.nodePorts[fabric.nodeOf(tile, queue.colour)] |= PortMask(1u << kRamp);
    fabric.cores.push_back(core);
  }
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> FabricBuilder::makeQueue(int64_t words, Party taker, Party sender) {
  if (words > UINT16_MAX)
    return absl::ResourceExhaustedError(
        absl::StrCat("too large: a queue and its way hold ", words, " words; the cycle engine holds ", UINT16_MAX));
  if (fabric.arena.size() + size_t(words) + WordQueue::kHeadWords >= size_t(1) << 31)
    return absl::ResourceExhaustedError("too large: queues take more than 16 GiB");
  const auto id = uint32_t(fabric.arena.size());
  fabric.arena.resize(fabric.arena.size() + WordQueue::kHeadWords + size_t(words), freeSlot(0));
  WordQueue &queue = fabric.queue(id);
  queue.slots = uint16_t(words);
  queue.flags = kTakerWaits;
  queue.taker = taker;
  queue.sender = sender;
  return id;
}

absl::Status FabricBuilder::makeFilter(const Core &core, const format::Queue &queue, uint32_t node) {
  if (queue.filter.period == 0)
    return absl::OkStatus();
  const Role &role = configuration.roles[core.role];
  const LatticeIndex index = latticeIndex(role.cores, core.ordinal);
  const int64_t period = queue.filter.period, begin = queue.filter.begin.at(index),
                words = queue.filter.words.at(index);
  if (queue.output || period < 0 || begin < 0 || words < 0 || begin > period || words > period - begin)
    return absl::InvalidArgumentError(
        absl::StrCat("role ", role.name, ": the filter of an ", queue.output ? "output" : "input", " queue of colour ",
                     int(queue.colour), " passes ", words, " words from number ", begin, " on of every ", period,
                     "; only input queues have filters, and what they pass lies inside the period"));
  coreFilter[node] = uint32_t(fabric.filters.size());
  fabric.filters.push_back({period, begin, begin + words, 0});
  return absl::OkStatus();
}

absl::Status FabricBuilder::makeQueues() {
  // Routers' queues.
  fabric.nodeQueue.resize(fabric.nodes.size());
  size_t count = 0;
  for (size_t n = 0; n < fabric.nodes.size(); ++n) {
    fabric.nodeQueue[n] = uint32_t(count);
    count += size_t(std::popcount(unsigned(fabric.nodePorts[n])));
  }
  fabric.nodeQueues.reserve(count);
  fabric.arena.reserve(count * (WordQueue::kHeadWords + size_t(target.routerQueueWords)));
  for (uint32_t t = 0; t < fabric.tiles.size(); ++t) {
    const Tile &tile = fabric.tiles[t];
    for (uint32_t bit = 0; bit < tile.nodes; ++bit) {
      const uint32_t node = tile.firstNode + bit;
      const Party taker = fabric.nodeRouter[node] >= 0 ? partyOf(t, bit) : kNobody;
      const int colour = fabric.colourOf(tile, bit);
      for (int port = 0; port < kNumPorts; ++port) {
        if (!(fabric.nodePorts[node] >> port & 1))
          continue;
        int64_t words = target.routerQueueWords;
        Party sender = kNobody;
        if (port == kRamp) {
          words = 1; // nothing ever comes unless the core has an output queue
          if (tile.core != kNone) {
            const Core &core = fabric.cores[tile.core];
            for (const format::Queue &queue : configuration.roles[core.role].queues)
              if (queue.output && queue.colour == colour)
                words = int64_t(target.outputQueueWords[queue.index]) + target.rampLatencyCycles;
          }
        } else if (const int32_t from = fabric.neighbour(tile, port); from >= 0) {
          const Tile &other = fabric.tiles[size_t(from)];
          if (other.colours >> colour & 1 && fabric.nodeRouter[fabric.nodeOf(other, colour)] >= 0)
            sender = partyOf(uint32_t(from), fabric.nodeOf(other, colour) - other.firstNode);
        }
        absl::StatusOr<uint32_t> queue = makeQueue(words, taker, sender);
        if (!queue.ok())
          return queue.status();
        fabric.nodeQueues.push_back(*queue);
      }
    }
  }
  for (uint32_t p = 0; p < fabric.ports.size(); ++p) {
    PortState &port = fabric.ports[p];
    if (port.output)
      continue;
    port.queue = fabric.queueAt(port.node, int(configuration.io[size_t(port.binding)].side));
    fabric.queue(port.queue).sender = p;
    fabric.queue(port.queue).flags |= kSenderIsPort;
  }
  // Cores' queues.
  coreInput.assign(fabric.nodes.size(), kNone);
  coreFilter.assign(fabric.nodes.size(), kNone);
  for (const Core &core : fabric.cores) {
    const Role &role = configuration.roles[core.role];
    const Tile &tile = fabric.tiles[core.tile];
    std::vector<uint32_t> user(role.queues.size(), 0);
    for (size_t t = 0; t < role.threads.size(); ++t)
      for (const Instruction &instruction : role.threads[t])
        for (const Operand *operand : {&instruction.dst, &instruction.a, &instruction.b})
          if (operand->kind == OperandKind::Queue && operand->queue >= 0 && size_t(operand->queue) < user.size())
            user[size_t(operand->queue)] = uint32_t(t);
    for (size_t q = 0; q < role.queues.size(); ++q) {
      const format::Queue &queue = role.queues[q];
      const uint32_t node = fabric.nodeOf(tile, queue.colour);
      const Party thread = partyOf(core.tile, tile.nodes + user[q]);
      uint32_t &id = fabric.coreQueues[core.firstQueue + q];
      if (absl::Status status = makeFilter(core, queue, node); !status.ok())
        return status;
      if (queue.output) {
        id = fabric.queueAt(node, kRamp);
        fabric.queue(id).sender = thread;
        continue;
      }
      absl::StatusOr<uint32_t> made = makeQueue(int64_t(target.inputQueueWords[queue.index]) + target.rampLatencyCycles,
                                                thread, partyOf(core.tile, node - tile.firstNode));
      if (!made.ok())
        return made.status();
      id = coreInput[node] = *made;
    }
  }
  return absl::OkStatus();
}

absl::Status FabricBuilder::makeRoutes() {
  for (Tile &tile : fabric.tiles)
    for (uint32_t bit = 0; bit < tile.nodes; ++bit) {
      const uint32_t node = tile.firstNode + bit;
      if (fabric.nodeRouter[node] < 0)
        continue;
      const RouterRole &router = configuration.routers[size_t(fabric.nodeRouter[node])];
      const auto first = uint32_t(fabric.routes.size());
      fabric.nodes[node] = first;
      uint32_t before = first;
      for (const SwitchPosition &position : router.positions) {
        const auto at = uint32_t(fabric.routes.size());
        if (absl::Status status = makeRoute(tile, router.colour, position, router.positions.size() > 1); !status.ok())
          return status;
        fabric.routes[before + 2] = at;
        before = at;
      }
      fabric.routes[before + 2] = first;
    }
  return absl::OkStatus();
}

absl::Status FabricBuilder::makeRoute(Tile &tile, int colour, const SwitchPosition &position, bool switches) {
  const uint32_t node = fabric.nodeOf(tile, colour);
  std::vector<uint32_t> outputs;
  bool leaves = false;
  for (int port = 0; port < kNumPorts; ++port) {
    if (!(position.outputs >> port & 1))
      continue;
    uint32_t to = kNone;
    if (port == kRamp) {
      to = coreInput[node];
    } else if (const int32_t next = fabric.neighbour(tile, port); next >= 0) {
      to = fabric.queueAt(fabric.nodeOf(fabric.tiles[size_t(next)], colour), opposite(port));
    } else if (auto found = portAt.find({tile.cell, port, colour, true}); found != portAt.end()) {
      to = RouteView::kPortBit | found->second;
      tile.outputs = leaves = true;
    }
    if (to == kNone)
      return absl::InvalidArgumentError(absl::StrCat(
          "open route: ", place(fabric.row(tile), fabric.col(tile), colour), " sends words to ", kPortNames[port],
          port == kRamp ? ", but the core has no input queue on that colour"
                        : ", but the mesh ends there and no output binding takes them"));
    outputs.push_back(to);
  }
  if (fabric.routes.size() + RouteView::kNumbers + outputs.size() + 1 >= kNone)
    return absl::ResourceExhaustedError("too large: routes");
  fabric.routes.push_back(fabric.queueAt(node, int(position.input)));
  const bool filters = position.outputs >> kRamp & 1 && coreFilter[node] != kNone;
  fabric.routes.push_back(position.outputs | (switches ? 256u : 0u) | (leaves ? 512u : 0u) |
                          (outputs.size() == 1 && !leaves && !filters ? 1024u : 0u) | (filters ? 2048u : 0u) |
                          uint32_t(outputs.size()) << 16);
  fabric.routes.push_back(0);
  fabric.routes.insert(fabric.routes.end(), outputs.begin(), outputs.end());
  if (filters)
    fabric.routes.push_back(coreFilter[node]);
  return absl::OkStatus();
}

} // namespace wsc::emulator::cycle
