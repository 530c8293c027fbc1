// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A configuration as the count-only run sees it: threads with their places in their programs, both ends of every route
// as word counts, switches with their positions. Tables are flat and cover only the rectangle of the mesh that is in
// use; routers with one position are entries of a table and have no state.
#pragma once

#include "runtime/emulator/LargePages.h"
#include "runtime/emulator/cycle/Program.h"
#include "runtime/format/Executable.h"

#include "absl/status/statusor.h"

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

namespace wsc::emulator::liveness {

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max() / 4;
constexpr int32_t kMostWords = 1 << 29; // that a queue holds, or an input absorbs
constexpr int32_t kNever = std::numeric_limits<int32_t>::max();
constexpr int kColours = 64;
constexpr int kRamp = int(format::Port::Ramp);
constexpr int opposite(int port) { return port ^ 1; } // North–South, East–West

template <typename T> using Table = std::vector<T, LargePages<T>>;

// Of every `period` data words that meet RAMP, those from `begin` up to `end` pass.
struct FilterCount {
  int64_t period = 1, begin = 0, end = 0;
  int64_t met = 0; // of this period
  // Of the next `words` that meet RAMP, those that pass.
  int64_t passing(int64_t words) const;
  // Words that may meet RAMP until one more than `room` of them would have passed.
  int64_t meeting(int64_t room) const;
  void meet(int64_t words) { met = (met + words) % period; }
};

// The way from a router's RAMP to a core with the core's input queue. There are millions of these and of senders.
struct Input {
  int32_t capacity = 0, words = 0;
  // Its thread waits for it: words that the thread takes in any case, whatever others do, as soon as they come (at most
  // kMostWords of them); from how many on it is to be woken (least: it could go on, wake: as far as it can). Else 0,
  // kNever, kNever.
  int32_t absorbs = 0, least = kNever, wake = kNever;
  int32_t thread = -1;  // that takes from it
  int32_t filter = -1;  // index into Layout::filters
  int32_t waiting = -1; // the first sender that waits for its space (Sender::nextWaiting)
  bool late = false;    // its thread is to be woken when nothing else is left to do
  int64_t room() const { return int64_t(capacity) - words + absorbs; }
};

// Tokens of a kind, one after another in an output queue: data words, or one control word.
struct Tokens {
  int64_t count = 0;
  int32_t control = 0; // 0: data
  int32_t next = -1;   // index into Layout::tokens
};

// The output queue of a core with its way over the ramp, or an input port of the wafer.
struct Sender {
  int32_t cell = 0;
  uint8_t colour = 0;
  uint8_t port = kRamp;           // by which its words enter the router
  bool waits = false;             // in somebody's list
  bool pending = false;           // in the list of those that could not send
  bool queued = false;            // in the work list
  int32_t thread = -1;            // that sends
  int32_t entering = -1;          // of a port of the wafer: index into Layout::entering
  int32_t capacity = 0, held = 0; // tokens of an output queue
  int32_t first = -1, last = -1;  // its tokens
  int32_t nextWaiting = -1;
  int32_t tree = -1, takers = -1; // once known: its takers in Layout::trees, if no switch is on the way
};

struct Entering { // an input port of the wafer
  int32_t binding = 0;
  int64_t words = 0, left = 0; // that have still to enter, of all
};

struct Leaving { // an output port of the wafer
  int32_t cell = 0;
  uint8_t colour = 0, side = 0;
  int32_t binding = 0;
  int64_t wanted = 0, words = 0;
};

// What a router does with a colour in one position, small and beside the others', for long walks.
struct Way {
  uint8_t input = 0;            // port
  format::PortMask outputs = 0; // of ports that exist
};

// A router with two or more positions on a colour.
struct Switch {
  int32_t role = 0, position = 0;
  int32_t waiting = -1;          // the first sender that waits for another position
  Way way;                       // of the position
  int32_t known = -1, place = 0; // the last way that led through it (index into Run::known), and its number there
};

struct Thread {
  const cycle::ThreadProgram *program = nullptr;
  int32_t core = 0;
  int32_t item = 0, depth = 0;
  bool queued = false, onFifo = false, done = false;
  int32_t onSender = -1; // waits for space there
  int32_t onInput = -1;  // waits for words there
  int64_t elements = 0;  // done, of a vector instruction
  std::array<int64_t, format::kMaxDims> tripsLeft{};
};

struct Core {
  int32_t cell = 0, role = 0;
  int64_t ordinal = 0; // in the role's lattice
  uint32_t firstThread = 0, firstInput = 0, firstSender = 0, firstFifo = 0;
};

// What all cores of a role have in common.
struct RoleFacts {
  std::vector<int32_t> place;            // per queue: its number among the role's inputs, or outputs
  std::array<int8_t, kColours> output{}; // per colour: that number, or -1
  std::vector<int64_t> fifoSizes;        // elements
  int32_t inputs = 0, outputs = 0;
};

struct Layout {
  const format::Executable *executable = nullptr;
  const format::Configuration *configuration = nullptr;
  int32_t meshRows = 0, meshCols = 0;
  // The rectangle in use with a border of cells around it that have no router, be they beyond the mesh's end or not.
  int32_t firstRow = 0, firstCol = 0, rows = 0, cols = 0;
  int64_t linkWords = 0; // that a router's queue holds

  std::array<Table<int32_t>, kColours> routes;   // per cell: -1, role << 1, or switch << 1 | 1
  std::array<Table<int32_t>, kColours> inputsAt; // per cell: its core's input on the colour, or -1
  Table<int32_t> coreAt;                         // per cell
  std::vector<std::unique_ptr<cycle::ProgramTable>> programs;
  std::vector<RoleFacts> roles;
  Table<Core> cores;
  Table<Thread> threads;
  std::vector<int64_t> fifos; // elements held
  Table<Input> inputs;
  Table<FilterCount> filters;
  Table<Sender> senders;
  std::vector<Entering> entering;
  std::vector<Leaving> leaving;
  Table<Switch> switches;
  std::vector<Way> ways;                                     // per router role: of its first position
  std::vector<int32_t> switchCell;                           // per switch
  std::unordered_map<int64_t, int32_t> sendersAt, leavingAt; // ports of the wafer, by portKey
  std::vector<Tokens> tokens;
  int32_t freeTokens = -1;
  Table<int32_t> trees; // takers: inputs, or ~index into `leaving`

  int32_t row(int32_t cell) const { return firstRow + cell / cols; }
  int32_t col(int32_t cell) const { return firstCol + cell % cols; }
  int32_t cellAt(int32_t r, int32_t c) const { return (r - firstRow) * cols + (c - firstCol); }
  int64_t portKey(int32_t cell, int side, int colour) const {
    return (int64_t(cell) * format::kNumPorts + side) * kColours + colour;
  }
  // The cell across a port, of a cell that is no border.
  int32_t neighbour(int32_t cell, int port) const {
    return cell + (port < 2 ? (port == 0 ? -cols : cols) : (port == 2 ? 1 : -1));
  }
  bool endOfMesh(int32_t cell, int port) const;
  const format::RouterRole &routerOf(int32_t route) const {
    return configuration->routers[size_t(route & 1 ? switches[size_t(route >> 1)].role : route >> 1)];
  }
  const format::SwitchPosition &positionOf(int32_t route) const {
    return routerOf(route).positions[route & 1 ? size_t(switches[size_t(route >> 1)].position) : 0];
  }
  Way wayOf(int32_t route) const { return route & 1 ? switches[size_t(route >> 1)].way : ways[size_t(route >> 1)]; }
  int32_t routeAt(int32_t cell, int colour) const {
    return routes[size_t(colour)].empty() ? -1 : routes[size_t(colour)][size_t(cell)];
  }
  // The core's input on a colour at a cell; and the sender whose words enter the router there by a port. -1: none.
  int32_t inputAt(int32_t cell, int colour) const {
    return inputsAt[size_t(colour)].empty() ? -1 : inputsAt[size_t(colour)][size_t(cell)];
  }
  int32_t senderAt(int32_t cell, int port, int colour) const;
  // Words that a sender has still to bring into the wafer.
  int64_t leftOf(const Sender &sender) const {
    return sender.entering < 0 ? 0 : entering[size_t(sender.entering)].left;
  }
  int64_t bytes() const;
};

inline Way wayOf(const format::SwitchPosition &position) {
  return {uint8_t(position.input), format::PortMask(position.outputs & ((1u << format::kNumPorts) - 1))};
}

absl::StatusOr<std::unique_ptr<Layout>> layOut(const format::Executable &executable, int number);

} // namespace wsc::emulator::liveness
