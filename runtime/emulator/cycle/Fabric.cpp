// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lays the fabric out in passes over the lattices: tiles and their colours; ports that have queues; queues; routes;
// cores; ports of the wafer.
#include "runtime/emulator/cycle/Fabric.h"

#include "runtime/emulator/LatticeWalk.h"
#include "runtime/emulator/Network.h"
#include "runtime/timing/Cost.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

namespace wsc::emulator::cycle {

using namespace format;

int Fabric::colourOf(const Tile &tile, uint32_t bit) const {
  uint64_t colours = tile.colours;
  for (; bit > 0; --bit)
    colours &= colours - 1;
  return std::countr_zero(colours);
}

static bool step(int32_t rows, int32_t cols, int32_t &row, int32_t &col, int port) {
  row += port == int(Port::South) ? 1 : port == int(Port::North) ? -1 : 0;
  col += port == int(Port::East) ? 1 : port == int(Port::West) ? -1 : 0;
  return row >= 0 && row < rows && col >= 0 && col < cols;
}

int32_t Fabric::neighbour(const Tile &tile, int port) const {
  int32_t r = row(tile), c = col(tile);
  return step(rows, cols, r, c, port) ? tileAt[size_t(r) * size_t(cols) + size_t(c)] : -1;
}

int64_t Fabric::bytes() const {
  const auto of = [](const auto &vector) { return int64_t(vector.capacity() * sizeof(vector[0])); };
  int64_t bytes = of(tileAt) + of(tiles) + of(nodes) + of(nodeRouter) + of(routes) + of(arena) + of(nodeQueue) +
                  of(nodePorts) + of(nodeQueues) + of(cores) + of(threads) + of(coreQueues) + of(fifoElements) +
                  of(ports);
  for (const ProgramTable &table : programs)
    bytes += table.bytes();
  return bytes;
}

namespace {

const char *const kPortNames[] = {"NORTH", "SOUTH", "EAST", "WEST", "RAMP"};
constexpr int kRamp = int(Port::Ramp);

class Builder {
public:
  Builder(const Executable &executable, int number, int samples)
      : target(executable.target), configuration(executable.configurations[number]), number(number), samples(samples) {
    fabric.executable = &executable;
    fabric.configuration = &configuration;
    fabric.rows = target.rows;
    fabric.cols = target.cols;
    fabric.hop = target.hopLatencyCycles;
    fabric.ramp = target.rampLatencyCycles;
    fabric.credit = target.creditLatencyCycles;
    fabric.taskStart = target.taskStartCycles;
  }

  absl::StatusOr<Fabric> run() {
    for (auto pass : {&Builder::findTiles, &Builder::placeNodes, &Builder::placePorts, &Builder::placeCores,
                      &Builder::makeQueues, &Builder::makeRoutes})
      if (absl::Status status = (this->*pass)(); !status.ok())
        return absl::Status(status.code(),
                            absl::StrCat("configuration ", configuration.name, ": ", std::string(status.message())));
    fabric.routes.shrink_to_fit();
    fabric.threads.shrink_to_fit();
    fabric.coreQueues.shrink_to_fit();
    fabric.fifoElements.shrink_to_fit();
    fabric.arena.shrink_to_fit();
    return std::move(fabric);
  }

private:
  std::string place(int32_t row, int32_t col, int colour) const {
    return absl::StrCat("router (", row, ", ", col, "), colour ", colour);
  }

  // The number of the tile at a place of the mesh; made if it is new.
  uint32_t touch(int32_t row, int32_t col) {
    int32_t &tile = fabric.tileAt[size_t(row) * size_t(fabric.cols) + size_t(col)];
    if (tile < 0) {
      tile = int32_t(fabric.tiles.size());
      fabric.tiles.emplace_back().cell = row * fabric.cols + col;
    }
    return uint32_t(tile);
  }
  Tile &tileOf(int32_t row, int32_t col) {
    return fabric.tiles[size_t(fabric.tileAt[size_t(row) * size_t(fabric.cols) + size_t(col)])];
  }

  absl::Status checkPlace(int32_t row, int32_t col, int colour) const {
    if (row < 0 || row >= fabric.rows || col < 0 || col >= fabric.cols)
      return absl::InvalidArgumentError(
          absl::StrCat("(", row, ", ", col, ") is outside the mesh of ", fabric.rows, "x", fabric.cols));
    if (colour < 0 || colour >= 64)
      return absl::InvalidArgumentError(absl::StrCat("colour ", colour, " does not exist"));
    return absl::OkStatus();
  }

  absl::Status findTiles() {
    fabric.tileAt.assign(size_t(fabric.rows) * size_t(fabric.cols), -1);
    absl::Status status;
    const auto add = [&](int32_t row, int32_t col, int colour) {
      status.Update(checkPlace(row, col, std::max(colour, 0)));
      if (status.ok() && colour >= 0)
        fabric.tiles[touch(row, col)].colours |= uint64_t(1) << colour;
      else if (status.ok())
        touch(row, col);
      return status.ok();
    };
    for (const RouterRole &router : configuration.routers) {
      PortMask outputs = 0;
      for (const SwitchPosition &position : router.positions)
        outputs |= position.outputs;
      forEachPoint(router.routers, [&](const LatticeIndex &, int32_t row, int32_t col) {
        if (!add(row, col, router.colour))
          return false;
        // A word sent to a router without settings stands there for ever.
        for (int port = 0; port < kRamp; ++port) {
          int32_t r = row, c = col;
          if (outputs >> port & 1 && step(fabric.rows, fabric.cols, r, c, port))
            add(r, c, router.colour);
        }
        return true;
      });
    }
    for (const Role &role : configuration.roles)
      forEachPoint(role.cores, [&](const LatticeIndex &, int32_t row, int32_t col) {
        bool good = add(row, col, -1);
        for (const format::Queue &queue : role.queues)
          good = good && add(row, col, queue.colour);
        return good;
      });
    for (const IoBinding &binding : configuration.io)
      forEachPoint(binding.ports,
                   [&](const LatticeIndex &, int32_t row, int32_t col) { return add(row, col, binding.colour); });
    if (!status.ok())
      return status;
    if (fabric.tiles.size() >= size_t(1) << 26)
      return absl::ResourceExhaustedError(absl::StrCat("too large: ", fabric.tiles.size(),
                                                       " tiles are in use; the cycle engine holds ", (1 << 26) - 1));
    // Row-major order, so that strips of the mesh are ranges.
    std::sort(fabric.tiles.begin(), fabric.tiles.end(), [](const Tile &a, const Tile &b) { return a.cell < b.cell; });
    uint64_t nodes = 0;
    for (size_t t = 0; t < fabric.tiles.size(); ++t) {
      Tile &tile = fabric.tiles[t];
      fabric.tileAt[size_t(tile.cell)] = int32_t(t);
      tile.firstNode = uint32_t(nodes);
      tile.nodes = uint8_t(std::popcount(tile.colours));
      nodes += tile.nodes;
    }
    if (nodes >= uint64_t(1) << 31)
      return absl::ResourceExhaustedError(absl::StrCat("too large: ", nodes, " colours of routers are in use"));
    fabric.nodes.assign(nodes, kNone);
    fabric.nodeRouter.assign(nodes, -1);
    fabric.nodePorts.assign(nodes, 0);
    return absl::OkStatus();
  }

  absl::Status placeNodes() {
    absl::Status status;
    for (size_t r = 0; r < configuration.routers.size(); ++r) {
      const RouterRole &router = configuration.routers[r];
      if (router.positions.empty())
        return absl::InvalidArgumentError(absl::StrCat("router role ", r, " has no switch position"));
      PortMask outputs = 0, inputs = 0;
      for (const SwitchPosition &position : router.positions) {
        outputs |= position.outputs;
        inputs |= PortMask(1u << unsigned(position.input));
      }
      forEachPoint(router.routers, [&](const LatticeIndex &, int32_t row, int32_t col) {
        const uint32_t node = fabric.nodeOf(tileOf(row, col), router.colour);
        if (fabric.nodeRouter[node] >= 0) {
          status = absl::InvalidArgumentError(absl::StrCat("two routes: ", place(row, col, router.colour),
                                                           " has router roles ", fabric.nodeRouter[node], " and ", r));
          return false;
        }
        fabric.nodeRouter[node] = int32_t(r);
        fabric.nodePorts[node] |= inputs;
        for (int port = 0; port < kRamp; ++port) {
          int32_t toRow = row, toCol = col;
          if (outputs >> port & 1 && step(fabric.rows, fabric.cols, toRow, toCol, port))
            fabric.nodePorts[fabric.nodeOf(tileOf(toRow, toCol), router.colour)] |= PortMask(1u << opposite(port));
        }
        return true;
      });
      if (!status.ok())
        return status;
    }
    return absl::OkStatus();
  }

  absl::Status placePorts() {
    std::vector<ElementType> types = bindingTypes(*fabric.executable, number);
    types.resize(configuration.io.size(), ElementType::F32);
    absl::Status status;
    for (size_t b = 0; b < configuration.io.size(); ++b) {
      const IoBinding &binding = configuration.io[b];
      forEachPoint(binding.ports, [&](const LatticeIndex &index, int32_t row, int32_t col) {
        PortState port;
        port.tile = uint32_t(fabric.tileAt[size_t(row) * size_t(fabric.cols) + size_t(col)]);
        port.node = fabric.nodeOf(fabric.tiles[port.tile], binding.colour);
        port.binding = int32_t(b);
        port.output = binding.output;
        int64_t elements = 1;
        for (const Affine &extent : binding.extent)
          elements *= std::max<int64_t>(0, extent.at(index));
        port.wordsPerSample = timing::fabricWords(types[b], elements);
        if (port.wordsPerSample > (int64_t(1) << 60) / samples) {
          status = absl::ResourceExhaustedError(
              absl::StrCat("too large: ", port.wordsPerSample, " words per sample at a port"));
          return false;
        }
        port.all = port.wordsPerSample * samples;
        int32_t r = row, c = col;
        const auto key = std::tuple(row * fabric.cols + col, int(binding.side), int(binding.colour), binding.output);
        if (step(fabric.rows, fabric.cols, r, c, int(binding.side)) || binding.side == Port::Ramp)
          status = absl::InvalidArgumentError(absl::StrCat("I/O binding ", b, ": ", kPortNames[int(binding.side)],
                                                           " of (", row, ", ", col, ") is no outer port"));
        else if (!portAt.emplace(key, uint32_t(fabric.ports.size())).second)
          status = absl::InvalidArgumentError(
              absl::StrCat("two bindings: ", kPortNames[int(binding.side)], " of ", place(row, col, binding.colour)));
        if (binding.output)
          fabric.outputWords += port.wordsPerSample;
        else
          fabric.nodePorts[port.node] |= PortMask(1u << unsigned(binding.side));
        fabric.ports.push_back(port);
        return status.ok();
      });
    }
    return status;
  }

  absl::Status placeCores();
  absl::Status makeQueues();
  absl::Status makeRoutes();
  absl::Status makeRoute(Tile &tile, int colour, const SwitchPosition &position, bool switches);
  absl::StatusOr<uint32_t> makeQueue(int64_t words, Party taker, Party sender);

  const target::Target &target;
  const Configuration &configuration;
  const int number, samples;
  Fabric fabric;
  std::map<std::tuple<int32_t, int, int, bool>, uint32_t> portAt; // cell, side, colour, output
  std::vector<uint32_t> coreInput;                                // per node: the core's input queue, kNone without
};

// The roles' cores in the order of tiles, with their threads, FIFOs and lists of queues.
absl::Status Builder::placeCores() {
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

absl::StatusOr<uint32_t> Builder::makeQueue(int64_t words, Party taker, Party sender) {
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

absl::Status Builder::makeQueues() {
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
          if (other.colours >> colour & 1)
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
  for (const Core &core : fabric.cores) {
    const Role &role = configuration.roles[core.role];
    const Tile &tile = fabric.tiles[core.tile];
    std::vector<uint32_t> user(role.queues.size(), 0);
    for (size_t t = 0; t < role.threads.size(); ++t)
      for (const Instruction &instruction : role.threads[t])
        for (const Operand *operand : {&instruction.dst, &instruction.a, &instruction.b})
          if (operand->kind == OperandKind::Queue)
            user[size_t(operand->queue)] = uint32_t(t);
    for (size_t q = 0; q < role.queues.size(); ++q) {
      const format::Queue &queue = role.queues[q];
      const uint32_t node = fabric.nodeOf(tile, queue.colour);
      const Party thread = partyOf(core.tile, tile.nodes + user[q]);
      uint32_t &id = fabric.coreQueues[core.firstQueue + q];
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

absl::Status Builder::makeRoutes() {
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

absl::Status Builder::makeRoute(Tile &tile, int colour, const SwitchPosition &position, bool switches) {
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
  if (fabric.routes.size() + RouteView::kNumbers + outputs.size() >= kNone)
    return absl::ResourceExhaustedError("too large: routes");
  fabric.routes.push_back(fabric.queueAt(node, int(position.input)));
  fabric.routes.push_back(position.outputs | (switches ? 256u : 0u) | (leaves ? 512u : 0u) |
                          uint32_t(outputs.size()) << 16);
  fabric.routes.push_back(0);
  fabric.routes.insert(fabric.routes.end(), outputs.begin(), outputs.end());
  return absl::OkStatus();
}

} // namespace

absl::StatusOr<Fabric> buildFabric(const Executable &executable, int configuration, int samples) {
  return Builder(executable, configuration, samples).run();
}

} // namespace wsc::emulator::cycle
