// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The count-only run of one sample. Its schedule is chosen so that most of the work is done in long stretches:
//
//  - A thread goes on until it lacks words or space (Threads.cpp). One that waits for words only, and could take more
//    of them whatever others do, says how many: then so many may come at once, though its queue holds fewer, as it
//    would take them while they come.
//  - Words of a sender go all the way to its takers, as many at once as all takers have space for (Flows.cpp). Between
//    flows no word stands in a router, so the routers' own queues are not used.
//  - Only when no thread can go on, words move router by router, as far as they can, into the routers' queues
//    (Steps.cpp). What stands there moves by steps until it has arrived.
//
// All three are sequences of moves that the fabric may make, and together they are all of them: the run stops only
// where nothing can move.
#pragma once

#include "runtime/emulator/liveness/Layout.h"
#include "runtime/emulator/liveness/Liveness.h"

#include "absl/status/status.h"

#include <array>
#include <deque>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace wsc::emulator::liveness {

class Run {
public:
  Run(Layout &layout, const LivenessOptions &options, LivenessStats &stats)
      : layout(layout), movesLeft(options.mostMoves), mostMoves(options.mostMoves), stats(stats) {}
  absl::Status run();

private:
  friend class Waits;

  // Threads.cpp
  void runThread(int32_t number);
  bool takeTurn(int32_t number, Thread &thread);
  bool vector(int32_t number, Thread &thread, const cycle::Item &item);
  int64_t elementsOf(const cycle::Item &item, const Thread &thread, const cycle::Access *but) const;
  void waitForWords(int32_t number, Thread &thread, const cycle::Item &item, const cycle::Access &access);
  void take(int32_t input, int64_t words);
  void wakeThread(int32_t number);
  void wakeFifos(const Core &core, int32_t but);
  int32_t inputOf(const Thread &thread, const cycle::Access &access) const;
  int32_t senderOf(const Thread &thread, const cycle::Access &access) const;

  // Flows.cpp
  struct Reach {                     // where words of a sender go
    std::span<const int32_t> takers; // inputs, or ~index into Layout::leaving
    int64_t words = 0;               // that can go there now
    enum { Nothing, AtInput, AtSwitch, Elsewhere } blocker = Nothing;
    int32_t at = -1; // an input or a switch
  };
  // A way without forks that words have gone, by the numbers of the switches on it. Other senders' ways that lead into
  // it go on as it does, as long as no switch behind has turned: gathers, where each core of a line sends to one.
  struct KnownWay {
    static constexpr size_t kMostTakers = 4;
    int32_t begin = 0; // switches before this one have turned since, or one behind them has
    int32_t count = 0; // of takers
    std::array<int32_t, kMostTakers> takers{}, places{}; // and the last switch before each
  };
  void reach(int32_t sender);
  void findTakers(int32_t sender);
  bool follow(int32_t sender, int32_t cell, int32_t port, const int32_t *routes, bool mayStand, bool &fixed);
  bool join(const Switch &at);
  void keepWay();
  void deliver(int64_t words);
  bool sendControl(int32_t sender, int32_t control);
  void wait(int32_t sender);
  void wakeSenders(int32_t &list);
  void flow(int32_t sender);
  void retry(int32_t sender);
  int64_t roomFor(int32_t sender, int64_t words);
  void send(int32_t sender, int64_t words);
  void hold(int32_t sender, int64_t count, int32_t control);
  void forget(int32_t sender);
  void arrive(int32_t input, int64_t words);
  void advance(int32_t number, const format::RouterRole &router);

  // Steps.cpp
  using Place = int64_t; // Layout::portKey of a router's input
  bool stepAll();
  bool step(int32_t cell, int colour);
  void look(int32_t cell, int colour);
  bool occupied(int32_t cell, int port, int colour) const {
    return !standing.empty() && standing.count(layout.portKey(cell, port, colour));
  }
  // The token at the head of what a router takes from by a port: 0 data, else its count; -1: none.
  int32_t head(int32_t cell, int port, int colour) const;
  void drop(int32_t cell, int port, int colour);

  // Report.cpp
  absl::Status checkEnd() const;
  absl::Status openRoute(int32_t cell, int colour, int port) const;
  absl::Status strayControl(int32_t cell, int colour) const;
  absl::Status tooLarge() const;

  // Counts a move; false, with an error: it was one too many.
  bool mayMove();

  Layout &layout;
  int64_t movesLeft;
  const int64_t mostMoves;
  LivenessStats &stats;
  absl::Status error;
  std::vector<int32_t> work;    // thread << 1, or sender << 1 | 1
  std::vector<int32_t> late;    // inputs whose threads could go on a little
  std::vector<int32_t> pending; // senders that could not send all
  Reach reached;
  std::vector<int32_t> found, foundAt; // takers on the ways that are being followed; their places
  std::vector<int32_t> walked;         // switches on them
  bool forks = false;                  // they part
  std::vector<KnownWay> known;
  std::vector<int32_t> stack;                              // (cell, port) pairs, and counts for control words
  std::vector<int32_t> turned;                             // switches
  std::unordered_map<Place, std::deque<int32_t>> standing; // words in routers' queues
  std::vector<std::pair<int32_t, int32_t>> routers;        // to look at: cell, colour
  std::unordered_set<Place> listed;                        // these
};

} // namespace wsc::emulator::liveness
