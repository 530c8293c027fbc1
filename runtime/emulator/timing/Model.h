// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The network of processes and channels that timing is solved on.
//
// A *unit* is a run of neighbouring cores of one role in one row that run the same program and exchange words with the
// same others (Partition.h): one timeline stands for all of them (the furthest hop for its latencies, all their words
// for a gather). A *process* is a thread of a
// unit, or an I/O port. A *channel* is a FIFO, or all streams that connect the same units in the same way: a bounded
// buffer of words with one or more sources in a fixed order and one or more sinks that each take every word, or a
// window of them (Windows.h).
//
// Cores of a unit may depend on each other (a ring along the row); then one timeline cannot stand for them and the
// role's units are single cores.
#pragma once

#include "runtime/emulator/Network.h"
#include "runtime/emulator/timing/Partition.h"
#include "runtime/emulator/timing/Program.h"
#include "runtime/emulator/timing/Windows.h"

#include "absl/status/statusor.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace wsc::emulator::timing {

// The words one unit contributes to a channel at one place of its composition: words [sourceBegin, sourceBegin +
// sourceCount) of each of its `cores` cores.
struct SourceSegment {
  int32_t slot = 0;  // of the process: index into Model::slots
  int32_t next = -1; // the same slot's next segment in this channel
  int64_t sourceBegin = 0, sourceCount = 0, cores = 1;
  int64_t channelBegin = 0; // first word in the channel's sample
  int64_t shorterBy = 0;    // words by which its way holds less than the furthest source's, of the first of the cores
  // Of words that come from the nearest first: cycles to where the channel's first segment comes from, and words that
  // lie between its core and the one before.
  int64_t further = 0, between = 0;
  int32_t firstCol = -1; // of the core that sends first

  int64_t words() const { return sourceCount * cores; }
};

struct LinkShare;
struct Sink {
  int32_t channel = 0, slot = 0, process = 0;
  int64_t capacity = 1;                       // words that may lie between source and this sink
  int64_t latency = 0;                        // cycles from a word's issue to its arrival
  int64_t credit = 0;                         // cycles from taking a word to the source knowing it
  int64_t words = 0;                          // that it takes per sample
  int32_t firstStretch = 0, numStretches = 0; // which these are; none: all of the channel's
  // Of these in and after the sink's own input queue, the last on the way; a multicast waits for space in it.
  int64_t queueWords = 0, queueLatency = 0, queueCredit = 0;

  // Where it lies from the channel's source; the way is straight if one of both is 0 and the hops are as many.
  int32_t rowsAway = 0, colsAway = 0;
  bool straight = false;
  int32_t hopWords = 0; // that each hop holds

  bool sameWay(int32_t rows, int32_t cols) const {
    const auto sign = [](int32_t n) { return n > 0 ? 1 : n < 0 ? -1 : 0; };
    return sign(rowsAway) == sign(rows) && sign(colsAway) == sign(cols);
  }
  int32_t hops() const { return std::abs(rowsAway) + std::abs(colsAway); }
  // Words that lie between this sink's router and the queue of `other` behind it; -1: the ways part elsewhere.
  int64_t wordsTo(const Sink &other) const {
    if (!straight || !other.straight || !sameWay(other.rowsAway, other.colsAway))
      return -1;
    return std::max(0, other.hops() - hops()) * int64_t(hopWords);
  }

  // Words that lie between a link and the sink's queue; -1: it is not on the way, or that is not straight.
  int64_t wordsFrom(const LinkShare &share) const;

  // The words on the way to the sink's queue, its own and those that pass its router.
  int64_t routeWords() const { return capacity - queueWords; }
};

// A channel's share of a link that others cross too.
struct Channel;
struct LinkShare {
  int32_t link = 0;                   // shared links are numbered; those that the same channels cross are one
  int32_t member = 0;                 // of the link's channels
  int64_t delay = 0;                  // cycles from a word's slot at the source to its turn on the link
  int32_t priority = 0;               // 1, or 0 if it yields to others
  int32_t part = kAll;                // of the channel's words that cross it, in parts of kAll
  int32_t rowsAway = 0, colsAway = 0; // where it leads to, from the channel's first source
  int32_t firstPart = -1; // into Model::linkParts: of the words of each of the channel's segments; -1: all as `part`
  bool givesHalf = false; // to those that yield to it, if they have the link when it sets in

  static constexpr int64_t kAll = 1 << 16;
  static int64_t crossing(int64_t words, int32_t part) { return (words * part + kAll - 1) / kAll; }
  // Cycles per sample in which the channel has the link: those of its words, or of a gather's turns.
  int64_t cycles(const Channel &channel) const;
};

inline int64_t Sink::wordsFrom(const LinkShare &share) const {
  const int32_t linkHops = std::abs(share.rowsAway) + std::abs(share.colsAway);
  if (!straight || !sameWay(share.rowsAway, share.colsAway) || linkHops > hops())
    return -1;
  return (hops() - linkHops + 1) * int64_t(hopWords);
}

struct Channel {
  int32_t firstSegment = 0, numSegments = 0;
  int32_t firstSink = 0, numSinks = 0;
  int32_t firstLink = 0, numLinks = 0; // into Model::linkShares
  int64_t words = 0;                   // per sample
  int64_t turns = 0;                   // of a gather: cycles that the turns of all its cores take per sample, alone
  int32_t net = -1;
  uint8_t colour = 0;
  bool fifo = false;
};

inline int64_t LinkShare::cycles(const Channel &channel) const {
  return crossing(std::max(channel.words, channel.turns), part);
}

// A queue, FIFO end or port as a process sees it. A slot that feeds channels lists Feed's, one that takes lists sinks.
struct Feed {
  int32_t channel = 0, firstSegment = 0;
};
struct Slot {
  int32_t process = -1; // the process that pushes (FIFOs) or uses the queue
  int32_t popper = -1;  // FIFOs: the process that pops
  int32_t firstFeed = 0, numFeeds = 0;
  int32_t firstSink = 0, numSinks = 0; // into Model::slotSinks
  int32_t cores = 1;                   // the most cores of the unit that send over one channel, one after another
  // In a gather, slots that other threads take for each of its own, in parts of kWholeContention, -1 elsewhere; and in
  // the first sample.
  int32_t turnContention = -1, firstContention = 0;
  int32_t earlier = 0;      // in a gather, cycles by which its first core is done earlier than the unit's furthest one
  bool feedsGather = false; // a FIFO whose words go to a gather: they are sent in turns, not while they are made

  static constexpr int64_t kWholeContention = 1 << 16;
  bool gathers() const { return turnContention >= 0; }
};

struct Unit {
  int32_t role = -1;    // -1: a port
  int32_t binding = -1; // ports: index into Configuration::io
  int32_t kernel = -1;
  format::LatticeIndex index{}; // first core
  int32_t row = 0, col = 0, cores = 1;
  int32_t firstProcess = 0, numProcesses = 0;
  int32_t firstSlot = 0, numSlots = 0;
  int64_t busy = 0, fma = 0; // issue slots per sample of one core, all threads; of these in Fma
};

struct Process {
  int32_t unit = 0, thread = 0;
  int32_t program = 0; // index into Model::programs
};

struct Model {
  std::vector<ThreadProgram> programs;
  std::vector<Unit> units;
  std::vector<Process> processes;
  std::vector<Slot> slots;
  std::vector<Channel> channels;
  std::vector<SourceSegment> segments;
  std::vector<Sink> sinks;
  std::vector<Stretch> stretches;
  std::vector<Feed> feeds;
  std::vector<LinkShare> linkShares;
  std::vector<int32_t> linkParts;       // LinkShare::firstPart's
  std::vector<int32_t> linkMembers;     // per shared link: how many channels cross it
  std::vector<int64_t> linkCycles;      // the same: cycles that all of them have it per sample, at most
  std::vector<int32_t> channelOfStream; // per stream of the networks, the first of its channels; -1: none
  std::vector<int32_t> slotSinks;
  bool wholeRows = false;                  // some unit has more than one core
  int64_t inputWords = 0, outputWords = 0; // over I/O ports, per sample

  Window window(const Sink &sink) const {
    return {std::span(stretches).subspan(size_t(sink.firstStretch), size_t(sink.numStretches)), sink.words,
            channels[size_t(sink.channel)].words};
  }
  // Whether the words of a core pass its router before those from behind it, so that nobody waits for a turn.
  bool nearestFirst(const Channel &channel) const {
    return channel.numSegments > 1 && segments[size_t(channel.firstSegment) + 1].further > 0;
  }
  // The part of the words of a feed that crosses the link: all segments of a slot take the same way.
  int32_t partOf(const LinkShare &share, const Feed &feed) const {
    if (share.firstPart < 0)
      return share.part;
    return linkParts[size_t(share.firstPart + feed.firstSegment - channels[size_t(feed.channel)].firstSegment)];
  }
  const ThreadProgram &program(const Process &process) const { return programs[process.program]; }
};

// Builds the model. With `splitAll` every unit is a single core. Errors: malformed programs, FIFOs that are not
// balanced, words of programs that differ from those of `networks`.
absl::StatusOr<Model> buildModel(const format::Executable &executable, int configuration, const Networks &networks,
                                 bool splitAll);

// The parts of buildModel. Units, processes, programs and slots.
struct UnitTable {
  std::vector<int64_t> firstCore;                // per role: Partition's
  std::vector<int32_t> unitOfCore;               // per core of all roles
  std::vector<std::vector<int32_t>> queueThread; // per role and queue, -1 unused
  std::vector<int32_t> firstPort;                // per binding: unit of its first port

  int32_t unitOf(const format::Configuration &configuration, const Endpoint &endpoint) const;
};
absl::Status buildUnits(const format::Executable &executable, int configuration, const Partition &partition,
                        Model &model, UnitTable &table);
// Channels from streams and FIFOs. Returns the roles that must be split first, if any, in `split`.
absl::Status buildChannels(const format::Executable &executable, int configuration, const Networks &networks,
                           const UnitTable &table, Model &model, std::vector<int32_t> &split);
// FIFOs that carry words, unit by unit. Errors: FIFOs that are not balanced.
struct Fifo {
  int32_t slot = 0;
  int32_t pusher = -1, popper = -1; // processes
  int64_t words = 0, capacity = 0;  // elements per sample, and of space
};
absl::StatusOr<std::vector<Fifo>> findFifos(const format::Configuration &configuration, const Model &model);
// Lists each slot's feeds and sinks.
void listEnds(Model &model);
// Sets what slots say of gathers.
void findGathers(const target::Target &target, Model &model);
// Links that more than one channel crosses.
void findSharedLinks(const target::Target &target, const format::Configuration &configuration, const Networks &networks,
                     const UnitTable &table, Model &model);
// Sets LinkShare::priority.
void findLinkPriorities(Model &model);

} // namespace wsc::emulator::timing
