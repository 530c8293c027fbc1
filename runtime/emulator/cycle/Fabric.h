// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of a run, laid out flat: tiles that routes or roles touch, in row-major order; a *node* per tile and
// colour; queues in one arena; routes as records of numbers. Nothing is kept for other tiles but one number each.
#pragma once

#include "runtime/emulator/cycle/Program.h"
#include "runtime/emulator/cycle/Queue.h"
#include "runtime/format/Ports.h"

#include "absl/status/statusor.h"

#include <bit>
#include <map>
#include <tuple>
#include <vector>

namespace wsc::emulator::cycle {

constexpr uint32_t kNone = ~uint32_t(0);

// The nodes of a tile are numbered by colour; its mask's bits are the nodes, then the threads of its core.
struct Tile {
  int32_t cell = 0; // row · columns + column
  uint32_t firstNode = 0;
  uint8_t nodes = 0;
  uint8_t pointer = 0;     // node that the router looks at first
  bool outputs = false;    // some route leaves the wafer here
  bool restricted = false; // in this cycle only ports that were served are open
  uint32_t core = kNone;
  uint64_t colours = 0;
  // The bits of a mask that are nodes.
  uint64_t coloursOf(uint64_t bits) const { return nodes == 64 ? bits : bits & ((uint64_t(1) << nodes) - 1); }
};

// A route: what a router does with a colour in one switch position. Numbers in Fabric::routes.
struct RouteView {
  const uint32_t *record;
  uint32_t in() const { return record[0]; }                   // the queue it takes from
  uint32_t ports() const { return record[1] & 31; }           // PortMask of its outputs
  bool switches() const { return record[1] & 256; }           // two or more positions
  bool leaves() const { return record[1] & 512; }             // over a port of the wafer
  bool plain() const { return record[1] & 1024; }             // one output, and it is a queue for all words
  bool filters() const { return record[1] & 2048; }           // the last output, RAMP, is not for all words
  uint32_t outputs() const { return record[1] >> 16; }        // how many follow
  uint32_t next() const { return record[2]; }                 // record of the next position
  uint32_t output(uint32_t i) const { return record[3 + i]; } // a queue, or kPortBit | port
  uint32_t filter() const { return record[3 + outputs()]; }   // if it filters: in Fabric::filters
  static constexpr uint32_t kPortBit = 1u << 31;
  static constexpr uint32_t kNumbers = 3;
};

// What passes to a core: of every `period` data words that meet RAMP, those from `begin` up to `end`.
struct FilterState {
  int64_t period = 0, begin = 0, end = 0;
  int64_t met = 0; // of this period
  bool passes() const { return met >= begin && met < end; }
  void meet() {
    if (++met == period)
      met = 0;
  }
};

struct ThreadState {
  int64_t slotsLeft = 0; // slots that need nothing, before the action
  int64_t elements = 0;  // done, of a vector instruction
  int64_t tripsLeft[format::kMaxDims] = {};
  int64_t spanBegin = -1;   // first slot of what the trace shows next
  int64_t sampleBegin = -1; // first slot of the sample
  int32_t item = 0, sample = 0;
  int32_t depth = 0;
  uint8_t priority = 0;    // of the slot that comes next
  bool entered = false;    // the item's own slots are among slotsLeft, or over
  bool afterQueue = false; // the vector instruction before had a queue operand
  bool waitsForRoom = false;
};

struct Core {
  uint32_t tile = 0, role = 0;
  int64_t ordinal = 0; // in the role's lattice
  const CoreProgram *program = nullptr;
  uint32_t firstThread = 0, firstQueue = 0, firstFifo = 0;
  uint8_t threads = 0;
  uint8_t pointer = 0;     // thread that is considered first
  uint8_t aloneThread = 0; // whose slots pass in one event,
  bool alone = false;
  int64_t aloneSince = 0, aloneUntil = 0; // from cycle to cycle
  uint64_t unfinished = 0, blocked = 0;   // threads
  uint64_t fifoBlocked = 0;               // of the blocked, those that wait on a FIFO
  int64_t firstSlot = -1, lastSlot = -1;
  int64_t idleSince = -1; // when a slot first went unused, -1: it did not
  bool idleForRoom = false;
  bool priorities = false; // of threads differ at times
  int64_t busy = 0, bank = 0, words = 0, room = 0;
};

struct PortState {
  uint32_t queue = kNone; // inputs: that it feeds
  uint32_t tile = 0, node = 0;
  int32_t binding = 0;
  bool output = false, blocked = false;
  int64_t wordsPerSample = 0, all = 0; // of all samples
  int64_t words = 0;                   // passed
  int64_t served = -1;                 // the last cycle in which the port was
};

struct Fabric {
  const format::Executable *executable = nullptr;
  const format::Configuration *configuration = nullptr;
  int32_t rows = 0, cols = 0;
  int64_t hop = 1, ramp = 1, credit = 1;
  int64_t taskStart = 0;

  std::vector<int32_t> tileAt; // per cell of the mesh; -1: no state
  std::vector<Tile> tiles;
  std::vector<uint32_t> nodes;     // per node: the record of the position in force, or kNone
  std::vector<int32_t> nodeRouter; // per node: the router role, or -1
  std::vector<uint32_t> routes;
  std::vector<uint64_t> arena;
  std::vector<uint32_t> nodeQueue;  // per node: the first of its queues in nodeQueues
  std::vector<uint8_t> nodePorts;   // per node: ports that have a queue
  std::vector<uint32_t> nodeQueues; // by node and port
  std::vector<FilterState> filters;

  std::vector<ProgramTable> programs; // per role
  std::vector<Core> cores;            // in the order of tiles
  std::vector<ThreadState> threads;
  std::vector<uint32_t> coreQueues;            // per core and queue of its role
  std::vector<int64_t> fifoElements;           // per core and FIFO
  std::vector<std::vector<int64_t>> fifoSizes; // per role and FIFO
  std::vector<PortState> ports;
  int64_t outputWords = 0; // per sample, over all ports

  WordQueue &queue(uint32_t id) { return *reinterpret_cast<WordQueue *>(&arena[id]); }
  const WordQueue &queue(uint32_t id) const { return *reinterpret_cast<const WordQueue *>(&arena[id]); }
  int32_t row(const Tile &tile) const { return tile.cell / cols; }
  int32_t col(const Tile &tile) const { return tile.cell % cols; }
  uint32_t nodeOf(const Tile &tile, int colour) const {
    return tile.firstNode + uint32_t(std::popcount(tile.colours & ((uint64_t(1) << colour) - 1)));
  }
  // The colour of the tile's bit `bit`.
  int colourOf(const Tile &tile, uint32_t bit) const;
  // The queue of a node's input port, or kNone.
  uint32_t queueAt(uint32_t node, int port) const {
    if (!(nodePorts[node] >> port & 1))
      return kNone;
    return nodeQueues[nodeQueue[node] + uint32_t(std::popcount(unsigned(nodePorts[node]) & ((1u << port) - 1)))];
  }
  // Tile across `port`, or -1 beyond the mesh's end or where nothing is.
  int32_t neighbour(const Tile &tile, int port) const;
  int64_t bytes() const;
};

// Lays out a configuration. Errors as runCycles.
absl::StatusOr<Fabric> buildFabric(const format::Executable &executable, int configuration, int samples);

} // namespace wsc::emulator::cycle
