// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What changes while a configuration runs in waves, in flat arrays over all cores: how far threads, FIFOs and ports
// have come. During a wave a core changes its own entries only; words that it sends are counted at its own port and
// told to the sinks between waves.
#pragma once

#include "runtime/emulator/EngineParts.h"
#include "runtime/emulator/Pages.h"
#include "runtime/emulator/WaveStreams.h"
#include "runtime/emulator/WaveWords.h"

#include <array>
#include <atomic>
#include <limits>
#include <map>
#include <memory>
#include <utility>

namespace wsc::emulator {

struct WaveThread {
  int32_t pc = 0; // operation; the number of operations when it is done
  int32_t depth = 0;
  int32_t counter[format::kMaxDims] = {}; // loop iterations, outermost first
  int64_t element = 0;                    // next element of an operation done in part
};

constexpr int32_t kNobodyWaits = std::numeric_limits<int32_t>::max();

struct WavePort {
  int32_t position = 0; // words taken or sent by completed operations
  int32_t there = 0; // a sink's words that have come; a source's that have been sent, also by an operation done in part
  int32_t wanted = kNobodyWaits;          // a sink: words that must be there before its thread can go on
  int32_t segment = 0, base = 0;          // a sink: the segment that is read, and the words before it
  int32_t arriving = 0, arrivingBase = 0; // a sink: the first segment that has not come whole, and the words before it
  // A source: its newest words. Its core may take a new chunk while sinks read from those before.
  WaveChunk *chunk = nullptr;

  // A source's words from number `word` on, of which so many lie together.
  struct Piece {
    const std::byte *data;
    int64_t words;
  };
  Piece piece(int64_t word) {
    WaveChunk *at = std::atomic_ref(chunk).load(std::memory_order_acquire);
    int64_t end = kNobodyWaits;
    for (; at->first > word; at = at->older)
      end = at->first;
    return {at->data() + (word - at->first) * 4, end - word};
  }
  // Where a source's next `words` words go, beginning at its position.
  std::byte *room(WaveArena &arena, WaveChunks &chunks, int64_t words) {
    if (!chunk || position - chunk->first + words > chunk->words()) {
      WaveChunk *next = chunks.take(arena, std::max(words, chunk ? int64_t(chunk->words()) * 2 : 0));
      next->first = position;
      next->older = chunk;
      std::atomic_ref(chunk).store(next, std::memory_order_release);
    }
    return chunk->data() + int64_t(position - chunk->first) * 4;
  }
};

// Whether so many words behind its position have come to a sink.
inline bool isThere(const WavePort &port, int32_t words) { return port.there - port.position >= words; }
// Leaves word of what the sink's core waits for; true if a part of it has come.
inline bool waitFor(WavePort &port, int32_t words) {
  const int32_t wanted = port.position + words;
  port.wanted = wanted > port.there ? wanted : kNobodyWaits;
  return port.there > port.position;
}

// Gives the memory of vectors back.
template <typename... Vectors> void freeAll(Vectors &...vectors) { ((vectors = Vectors()), ...); }

struct WaveState {
  std::shared_ptr<const WaveStreams> streams; // of the configuration that runs
  std::vector<format::LatticeIndex> index;    // per core
  std::vector<WaveThread> threads;
  std::vector<FifoPort> fifos;
  std::vector<std::byte *> buffers;
  std::vector<WavePort> ports;
  WaveArena arena;
  Pages scratch, fifoArea;
  // Per core (CoreScratch.h): its scratch is in `kept`, null where nothing of it matters; else it is in `scratch`.
  std::vector<uint8_t> isKept;
  std::vector<WaveChunk *> kept;

  // Gives back what a repeated run needs not.
  void forgetRun() {
    streams = nullptr;
    freeAll(index, threads, fifos, buffers, ports, isKept, kept);
  }
};

class WaveRecorder; // WaveRecord.h

// What one host thread needs and finds.
struct WaveWorker {
  std::vector<QueuePort> queues; // of the core at work, for one operation
  std::vector<FifoPort> fifos;
  std::vector<std::byte> pieced[2]; // words put together from pieces, per source
  std::vector<const float *> chainSources;
  // How scratch moves, by role and the operation that cores go on at; records point to the copies.
  std::map<std::pair<const WaveRole *, int32_t>, std::unique_ptr<ScratchPath>> paths;
  Pages scratch; // for nests' rearranged copies
  Pages slots;   // of cores that are at work: their scratch, in the caches
  WaveChunks chunks;
  std::vector<WaveChunk *> released; // of any worker: they are free when the wave is over
  std::vector<int32_t> sentOn;       // streams that carry more words
  std::vector<int32_t> takenFrom;    // streams of which a sink has taken all that has come
  std::vector<int32_t> ready;        // cores that can go on
  std::vector<int32_t> partly;       // cores that could do a part of an operation
  WaveRecorder *recorder = nullptr;  // of what it does, if that is written down
  bool isAlone = true;               // there are no other workers

  // Nobody needs the chunk any more. What groups of a wave do is written down as if it were done at the same time.
  void release(WaveChunk *chunk) {
    if (isAlone && !recorder)
      chunks.give(chunk);
    else
      released.push_back(chunk);
  }
};

// Whether the core's state of affairs is recorded.
inline bool isTraced(const SampleContext &context, const WavePlan &plan, const WaveRole &role, int32_t core) {
  return !context.traces.empty() && context.traces.contains({int32_t(&role - plan.roles.data()), core - role.core});
}

// The next words of a sink, `words` of which have come; `pieced` takes them where they do not lie together.
const std::byte *wordsThere(WaveState &state, int32_t port, int64_t words, std::vector<std::byte> &pieced);

// Runs a core as far as it comes. Whole operations only, unless `partly`: then an operation begins with the elements
// that are there.
class WaveCore {
public:
  WaveCore(const SampleContext &context, const WavePlan &plan, WaveState &state, WaveWorker &worker,
           const WaveRole &role, int32_t core, bool partly);

  void run();
  // Does the operation, no loop's begin or end, that the thread stands at. False: it waits.
  bool step(const WaveOp &op, WaveThread &thread);
  // Somebody else writes down what it does.
  void leaveOutOfRecord() { records = false; }
  bool done() const;
  // Queues that words were sent on: bit q mod 64.
  uint64_t sentOn() const { return sent; }
  // The same of queues that words were taken from.
  uint64_t takenFrom() const { return taken; }
  // A waiting operation has some but not all of its elements.
  bool couldDoPart() const { return partAhead; }

private:
  bool runThread(size_t t);
  bool runOperation(const WaveOp &op, WaveThread &thread, int64_t elements);
  bool runPart(const WaveOp &op, WaveThread &thread, int64_t elements);
  bool copy(const WaveOp &op, WaveThread &thread, int64_t elements);
  int64_t elementsThere(const WaveOp &op, const WaveThread &thread, int64_t elements) const;
  void bindQueues(const WaveOp &op, int64_t elements, bool part);
  void bindFifos(const WaveOp &op);
  void record(const WaveOp &op, const WaveThread &thread);
  void recordCopy(const WaveOp &op, std::byte *to, int64_t from, int64_t bytes);
  void finish(const WaveOp &op, int64_t elements);
  void wait(const WaveOp &op, int64_t elements);
  void copyWords(int32_t port, int64_t fromByte, std::byte *to, int64_t bytes);

  WavePort &port(int16_t queue) { return state.ports[size_t(firstPort + queue)]; }
  const WavePort &port(int16_t queue) const { return state.ports[size_t(firstPort + queue)]; }

  const SampleContext &context;
  const WavePlan &plan;
  WaveState &state;
  WaveWorker &worker;
  const WaveRole &role;
  WaveThread *threads;
  FifoPort *fifos;
  int64_t firstPort;
  CoreFrame frame;
  const bool partly;
  bool records = true; // what it does, if the worker is recorded
  bool partAhead = false;
  int64_t ordinal = 0; // of the core in its role
  uint64_t sent = 0, taken = 0;
};

} // namespace wsc::emulator
