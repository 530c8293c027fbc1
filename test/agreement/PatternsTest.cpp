// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Collectives written by hand: chain, two-phase reduce, gather, broadcast, ring.
#include "test/agreement/Agreement.h"
#include "test/unit/timing/Builder.h"

namespace wsc::test {
namespace {

constexpr int kSamples = 24;

std::string mesh(int32_t rows, int32_t cols) { return "mesh-" + std::to_string(rows) + "x" + std::to_string(cols); }

// Core `at` of a chain over `cores` cores takes on queue 0 and sends on queue 1, which adds what it holds.
Thread chainStage(int32_t at, int32_t cores, int64_t words) {
  if (at == 0)
    return {move(words, queue(1), memory())};
  return {instruction(Opcode::Add, words, at + 1 < cores ? queue(1) : memory(), queue(0), memory())};
}

// Routers of a chain step from (row, col) to its neighbour over `side`.
void stepRoute(Configuration &c, uint8_t colour, Lattice from, Lattice to, Port side, Port opposite) {
  c.routers.push_back(router(colour, from, {{Port::Ramp, bit(side)}}));
  c.routers.push_back(router(colour, to, {{opposite, bit(Port::Ramp)}}));
}

// Down each of `cols` columns, with colours by parity of the row.
Executable chain(int32_t rows, int32_t cols, int64_t words) {
  Executable e = executable(mesh(rows, cols));
  Configuration &c = e.configurations[0];
  for (int32_t r = 0; r < rows; ++r) {
    const auto north = uint8_t((r + 1) % 2), south = uint8_t(r % 2);
    c.roles.push_back(role("row" + std::to_string(r), rectangle(r, 0, 1, cols), {in(north), out(south)},
                           {chainStage(r, rows, words)}));
    if (r + 1 < rows)
      stepRoute(c, south, rectangle(r, 0, 1, cols), rectangle(r + 1, 0, 1, cols), Port::South, Port::North);
  }
  return e;
}

// Along every row to the last column, then down that column.
Executable twoPhase(int32_t rows, int32_t cols, int64_t words) {
  Executable e = executable(mesh(rows, cols));
  Configuration &c = e.configurations[0];
  for (int32_t col = 0; col < cols; ++col) {
    const auto west = uint8_t((col + 1) % 2), east = uint8_t(col % 2);
    if (col + 1 < cols) {
      c.roles.push_back(role("col" + std::to_string(col), rectangle(0, col, rows, 1), {in(west), out(east)},
                             {chainStage(col, cols, words)}));
      stepRoute(c, east, rectangle(0, col, rows, 1), rectangle(0, col + 1, rows, 1), Port::East, Port::West);
      continue;
    }
    for (int32_t r = 0; r < rows; ++r) {
      const auto north = uint8_t(2 + (r + 1) % 2), south = uint8_t(2 + r % 2);
      Thread thread = {instruction(Opcode::Add, words, memory(), queue(0), memory())};
      if (r == 0)
        thread.push_back(move(words, queue(2), memory()));
      else
        thread.push_back(instruction(Opcode::Add, words, r + 1 < rows ? queue(2) : memory(), queue(1), memory()));
      c.roles.push_back(
          role("last" + std::to_string(r), rectangle(r, col, 1, 1), {in(west, 0), in(north, 1), out(south)}, {thread}));
      if (r + 1 < rows)
        stepRoute(c, south, rectangle(r, col, 1, 1), rectangle(r + 1, col, 1, 1), Port::South, Port::North);
    }
  }
  return e;
}

// The cores of a row send in turn; the one after them stores all.
Executable gather(int32_t cores, int64_t words) {
  Executable e = executable(mesh(1, cores + 1));
  Configuration &c = e.configurations[0];
  const std::vector<SwitchPosition> both{{Port::West, bit(Port::East)}, {Port::Ramp, bit(Port::East)}};
  const auto sender = [&](int32_t col, int32_t count, uint8_t controls) {
    c.roles.push_back(
        role("send", rectangle(0, col, 1, count), {out(0)}, {{move(words, queue(0), memory()), control(0, controls)}}));
  };
  sender(0, 1, 1);
  sender(1, cores - 2, 2);
  sender(cores - 1, 1, 1);
  c.roles.push_back(role("store", rectangle(0, cores, 1, 1), {in(0)}, {{move(words * cores, memory(), queue(0))}}));
  c.routers.push_back(router(0, rectangle(0, 0, 1, 1), {{Port::Ramp, bit(Port::East)}}));
  c.routers.push_back(router(0, rectangle(0, 1, 1, cores - 1), both));
  c.routers.push_back(router(0, rectangle(0, cores, 1, 1), {{Port::West, bit(Port::Ramp)}}));
  return e;
}

// Core (0, 0) sends to all others of its row, which store; `windows`: each keeps its own part only.
Executable broadcast(int32_t cores, int64_t words, bool windows) {
  Executable e = executable(mesh(1, cores + 1));
  Configuration &c = e.configurations[0];
  c.roles.push_back(role("send", rectangle(0, 0, 1, 1), {out(0)}, {{move(words, queue(0), memory())}}));
  if (windows) {
    const int64_t window = words / cores;
    Role r = role("window", rectangle(0, 1, 1, cores), {in(0)},
                  {{move(1, null(), queue(0)), move(window, memory(), queue(0)), move(1, null(), queue(0))}});
    Affine skip(0), rest(words - window);
    skip.perDim[3] = window;
    rest.perDim[3] = -window;
    r.threads[0][0].extent[0] = skip;
    r.threads[0][2].extent[0] = rest;
    c.roles.push_back(r);
  } else {
    c.roles.push_back(role("store", rectangle(0, 1, 1, cores), {in(0)}, {{move(words, memory(), queue(0))}}));
  }
  c.routers.push_back(router(0, rectangle(0, 0, 1, 1), {{Port::Ramp, bit(Port::East)}}));
  c.routers.push_back(
      router(0, rectangle(0, 1, 1, cores - 1), {{Port::West, PortMask(bit(Port::Ramp) | bit(Port::East))}}));
  c.routers.push_back(router(0, rectangle(0, cores, 1, 1), {{Port::West, bit(Port::Ramp)}}));
  return e;
}

// `senders` cores of a row gather their words; `cores` cores behind them each take a window of every period through a
// filter, `periods` times a sample.
Executable filteredWindows(int32_t senders, int32_t cores, int64_t window, int64_t periods, uint8_t priority) {
  const int64_t words = window * cores * periods;
  Executable e = executable(mesh(1, senders + cores));
  Configuration &c = e.configurations[0];
  const auto sender = [&](int32_t col, int32_t count, uint8_t controls) {
    if (count == 0)
      return;
    Thread thread{move(words / senders, queue(0), memory())};
    if (senders > 1)
      thread.push_back(control(0, controls));
    c.roles.push_back(role("send", rectangle(0, col, 1, count), {out(0)}, {thread}));
  };
  sender(0, 1, 1);
  sender(1, senders - 2, 2);
  sender(senders - 1, senders > 1 ? 1 : 0, 1);
  Queue filtered = in(0);
  filtered.filter = {window * cores, Affine(0), Affine(window)};
  filtered.filter.begin.perDim[3] = window;
  Thread take{move(window * periods, fifo(1), queue(0))};
  take[0].priority = priority;
  c.roles.push_back(role("take", rectangle(0, senders, 1, cores), {filtered},
                         {take, {instruction(Opcode::Max, window * periods, memory(), fifo(1))}},
                         {2 * window * periods}));
  const std::vector<SwitchPosition> both{{Port::West, bit(Port::East)}, {Port::Ramp, bit(Port::East)}};
  c.routers.push_back(router(0, rectangle(0, 0, 1, 1), {{Port::Ramp, bit(Port::East)}}));
  if (senders > 1)
    c.routers.push_back(router(0, rectangle(0, 1, 1, senders - 1), both));
  c.routers.push_back(
      router(0, rectangle(0, senders, 1, cores - 1), {{Port::West, PortMask(bit(Port::Ramp) | bit(Port::East))}}));
  c.routers.push_back(router(0, rectangle(0, senders + cores - 1, 1, 1), {{Port::West, bit(Port::Ramp)}}));
  return e;
}

// Two rows of cores form a ring, east along row 0 and back along row 1. Every core sends its block and passes on those
// of all others; each link carries all blocks but one. Colours in turns of three along the ring.
Executable ring(int32_t cols, int64_t words) {
  const int32_t cores = 2 * cols;
  Executable e = executable(mesh(2, cols));
  Configuration &c = e.configurations[0];
  const auto place = [&](int32_t k) { return k < cols ? rectangle(0, k, 1, 1) : rectangle(1, cores - 1 - k, 1, 1); };
  // The last one's colour differs from its neighbours' also where the ring closes.
  const auto colour = [&](int32_t k) { return uint8_t(k == cores - 1 ? 2 : k % 2); };
  for (int32_t k = 0; k < cores; ++k) {
    const int32_t next = (k + 1) % cores;
    const Port side = k == cols - 1 ? Port::South : k == cores - 1 ? Port::North : k < cols ? Port::East : Port::West;
    const Port opposite = side == Port::South   ? Port::North
                          : side == Port::North ? Port::South
                          : side == Port::East  ? Port::West
                                                : Port::East;
    c.roles.push_back(
        role("core" + std::to_string(k), place(k), {in(colour((k + cores - 1) % cores)), out(colour(k))},
             {{move(words, queue(1), memory()), loop(cores - 2), move(words, queue(1), fifo(1)), endLoop()},
              {loop(cores - 2), move(words, fifo(1), queue(0)), endLoop(), move(words, memory(), queue(0))}},
             {2 * words}));
    stepRoute(c, colour(k), place(k), place(next), side, opposite);
  }
  return e;
}

TEST(Agreement, Chain) {
  expectAgreement("chain of 2", chain(2, 1, 100), kSamples);
  expectAgreement("chain of 16, 300 words", chain(16, 3, 300), kSamples);
  expectAgreement("chain of 64, 16 words", chain(64, 4, 16), kSamples);
}

TEST(Agreement, TwoPhaseReduce) {
  expectAgreement("two-phase reduce 8x8", twoPhase(8, 8, 64), kSamples);
  expectAgreement("two-phase reduce 32x16", twoPhase(32, 16, 200), kSamples);
}

TEST(Agreement, Gather) {
  expectAgreement("gather from 10", gather(10, 20), kSamples);
  // Turns leave gaps; how many of them the words of the next sample close depends on turns and queues.
  expectAgreement("gather from 60", gather(60, 5), kSamples);
  expectAgreement("gather from 60, long turns", gather(60, 20), kSamples);
  expectAgreement("gather from 40, short turns", gather(40, 2), kSamples);
}

TEST(Agreement, Broadcast) {
  expectAgreement("broadcast to 20", broadcast(20, 200, false), kSamples);
  expectAgreement("broadcast to 60", broadcast(60, 30, false), kSamples);
  expectAgreement("windows of 8", broadcast(8, 320, true), kSamples);
  expectAgreement("windows of 32", broadcast(32, 320, true), kSamples);
  expectAgreement("windows of 60, long", broadcast(60, 3000, true), kSamples);
}

TEST(Agreement, FilteredWindows) {
  expectAgreement("filtered windows of 8", filteredWindows(1, 8, 40, 1, 0), kSamples);
  expectAgreement("filtered windows of 8, first", filteredWindows(1, 8, 40, 1, 2), kSamples);
  expectAgreement("filtered windows of 32", filteredWindows(1, 32, 10, 1, 2), kSamples);
  expectAgreement("filtered windows of 6, 20 times", filteredWindows(1, 6, 7, 20, 2), kSamples);
  expectAgreement("filtered windows of 6 from 3 cores", filteredWindows(3, 6, 15, 4, 2), kSamples);
}

TEST(Agreement, Ring) {
  expectAgreement("ring of 8", ring(4, 50), kSamples);
  expectAgreement("ring of 20", ring(10, 30), kSamples);
}

} // namespace
} // namespace wsc::test
