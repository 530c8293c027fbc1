// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A run of a configuration in waves, written down: which operations the cores did, in which order, and where operands
// began. None of it depends on values, so a later run does the same steps without asking ports, threads and streams
// who can go on (WaveReplay.cpp).
//
//     wave      groups    steps of a group: one operation of up to 64 cores each
//     0         0 1 2     0: Scratch kept → slot   1: Row   2: Nest   3: Row   4: Scratch slot → kept
//     1         3 4       …
//
// Groups of a wave have nothing to do with each other. Operands are written as offsets in the runner's memory, so that
// it may be mapped anew between runs; windows of residents move by their runStep from iteration to iteration.
#pragma once

#include "runtime/emulator/RoleProgram.h"
#include "runtime/emulator/ScratchMoves.h"
#include "runtime/emulator/WaveChains.h"
#include "runtime/emulator/WaveStreams.h"

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace wsc::emulator {

constexpr size_t kMostCores = 64;            // of a step
constexpr int64_t kMostTogetherBytes = 4096; // of the sources, or results, of all cores of a step

struct WaveState;
struct WaveWorker;

// Where an operand begins on each core of a step.
struct RecordedOperand {
  enum class Region : uint8_t {
    None,    // there is no such operand, or its elements go nowhere
    Address, // constants, residents, immediates: as they are
    Scratch, // offsets in cores' own areas, in the worker's slots, in FIFOs, in the arena of words
    Slot,
    Fifo,
    Words,
    Pieces, // words that do not lie together
  };
  // Core i's offset is base + i · stride, or base + distances[table + i] of the stream. Pieces: firstPiece[table + i].
  uint64_t base : 48 = 0;
  Region region : 8 = Region::None;
  bool hasTable : 8 = false;
  union {
    int32_t stride = 0;
    uint32_t table;
  };
  int32_t runStep = 0; // bytes from one iteration to the next
  bool inPieces() const { return region == Region::Pieces; }
};
static_assert(sizeof(RecordedOperand) == 16);

struct RecordedStep {
  enum class Kind : uint8_t {
    Scratch,  // copies from a to dst (copyScratch)
    Bytes,    // `bytes` bytes from a to dst, and zeros up to a whole word
    Row,      // runRowAt
    Together, // a row of few elements, which those of all cores may be in one call
    Nest,     // runNestAt
    Chains,   // chains of nests that end here (WaveChains.h); of their sources a and b are what is common
  };
  Kind kind = Kind::Bytes;
  uint8_t cores = 1;
  bool isOfShape = false; // Together: the shape's kernel; else the operation's
  bool fresh = false;     // Nest: accumulators (dst) begin as zeros
  int32_t extra = -1;     // number among Stream::extras, of steps that need more
  union {
    const ScratchCopies *copies;
    int64_t bytes;
    const ShapeVariant *row;
    const PlanVariant *nest;
  };
  struct Chains {
    uint32_t first, count; // until links are joined: the first of a link per core
  };
  union {
    const DecodedOp *op = nullptr;
    Chains chains;
  };
  RecordedOperand dst, a, b;
};
static_assert(sizeof(RecordedStep) == 72);

// What few steps need.
struct RecordedExtra {
  RecordedOperand add, out; // Nest: as NestEnds
  IndexedPlace indexed;     // Row: of an indexed operand
  int32_t origins = -1;     // its origins, among Stream::origins; the one in `indexed` counts for nothing
};

// Grows without being copied.
class RecordedSteps {
public:
  size_t size() const { return count; }
  bool empty() const { return count == 0; }
  int64_t bytes() const { return int64_t(blocks.size() * kBlock * sizeof(RecordedStep)); }
  const RecordedStep &operator[](size_t i) const { return blocks[i / kBlock][i % kBlock]; }
  RecordedStep &operator[](size_t i) { return blocks[i / kBlock][i % kBlock]; }
  void push_back(const RecordedStep &step) {
    if (count % kBlock == 0)
      blocks.push_back(std::make_unique<RecordedStep[]>(kBlock));
    blocks.back()[count++ % kBlock] = step;
  }

private:
  static constexpr size_t kBlock = 512;
  size_t count = 0;
  std::vector<std::unique_ptr<RecordedStep[]>> blocks;
};

// Cores that were at work together.
struct RecordedGroup {
  uint32_t firstStep = 0;
  int64_t slotBytes = 0; // of the worker's slots
};

struct WaveRecord {
  struct Piece {
    int64_t offset = 0; // in the arena of words
    int64_t words = 0;
  };
  // What one host thread did.
  struct Stream {
    RecordedSteps steps;
    std::vector<RecordedExtra> extras;
    std::vector<RecordedGroup> groups;
    std::vector<int32_t> distances; // of operands' cores from the first one; steps share equal ones
    std::vector<int64_t> origins;
    std::vector<Piece> pieces;
    std::vector<uint32_t> firstPiece; // per core of an operand in pieces; one more than there are cores
    std::deque<ShapeVariant> shapes;  // of rows that the role's program has none for
    std::vector<RecordedLink> links;  // until they are joined
    std::deque<ChainForm> forms;      // of the links
    std::vector<RecordedChain> chains;
    std::vector<std::array<int64_t, 2>> chainSources; // per nest of a chain, as RecordedLink::source
    int64_t bytes() const;
    void shrink(); // to what it holds
    // The steps of a group.
    std::pair<size_t, size_t> stepsOf(size_t group) const {
      return {groups[group].firstStep, group + 1 < groups.size() ? groups[group + 1].firstStep : steps.size()};
    }
  };
  std::vector<Stream> streams;
  std::vector<uint32_t> waves; // per wave and stream: behind its last group
  struct Input {
    WaveLane lane;
    int64_t offset; // of its words in the arena
  };
  struct Output {
    WaveLane lane;
    std::vector<Piece> pieces;
  };
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::vector<SentLink> sent; // per port, while it is recorded
  // Per core and narrow copy (WaveRole::narrowOf), while it is recorded: where in the arena its words stay until the
  // run is over; -1: they are copied.
  std::vector<int64_t> staying;
  int64_t iteration = 0;   // that was recorded
  int64_t piecedWords = 0; // the most that one operand has in pieces
  int64_t arenaBytes = 0;  // in which all words are
};

// Distances of operands' cores in a stream, equal ones once.
class DistanceTables {
public:
  explicit DistanceTables(WaveRecord::Stream &stream) : stream(stream) {}
  // Cores have the operand at these offsets. False: some lie 2 GB and more apart.
  bool place(RecordedOperand &operand, std::span<const int64_t> offsets);

private:
  uint32_t tableOf(std::span<const int32_t> distances);

  WaveRecord::Stream &stream;
  std::unordered_map<uint64_t, uint32_t> tables; // by hash
};

// Writes down what a worker does.
class WaveRecorder {
public:
  static constexpr int64_t kMostBytes = int64_t(512) << 20; // of a stream; a longer run is not recorded

  // Records what the worker does in stream number `number` of the record.
  WaveRecorder(WaveState &state, const WaveWorker &worker, WaveRecord &record, size_t number)
      : state(state), worker(worker), stream(record.streams[number]), number(int32_t(number)), sent(record.sent),
        staying(record.staying), tables(stream) {}

  void beginGroup(int64_t slotBytes) { stream.groups.push_back({uint32_t(stream.steps.size()), slotBytes}); }
  // Of operands that are not words which a sink takes.
  RecordedOperand places(std::span<std::byte *const> begins, int64_t runStep = 0);
  // The next `words` words of sinks, all of which have come; those behind the next `before` words of each.
  RecordedOperand words(std::span<const int32_t> ports, int64_t words) { return this->words(ports, {}, words); }
  RecordedOperand words(std::span<const int32_t> ports, std::span<const int64_t> before, int64_t words);
  int32_t origins(std::span<const int64_t> all);
  int32_t extra(const RecordedExtra &extra) {
    stream.extras.push_back(extra);
    return int32_t(stream.extras.size()) - 1;
  }
  const ShapeVariant *keep(const ShapeVariant &shape) { return &stream.shapes.emplace_back(shape); }
  void add(const RecordedStep &step);
  // Links of a step's cores are added one after the other, behind the step.
  void addChains(RecordedStep step, const ChainForm &form);
  // `link`: its sources. The nest is added to the next `words` words of the sink `from` (-1: to zeros), which lie
  // together; the sum goes to the source `to` (-1: to nobody who could go on).
  void addLink(RecordedLink link, int32_t from, int32_t to, int32_t words);
  // Leaves the words at `at` of a source where they are until the run is over.
  void keepWords(int32_t source, const std::byte *at);
  // Lets a sink's next `words` words stay where they are for narrow copy number `copy` of all, where many take them and
  // they lie together.
  void letStay(int32_t port, int64_t words, int64_t copy);
  // Where they are; null: they do not stay.
  std::byte *stayingWords(int64_t copy) const;
  int64_t offsetOfWords(const std::byte *at) const;
  // Of a single core.
  void addScratch(const ScratchCopies &copies, std::byte *from, std::byte *to);

  // Something was done that has no step. What is recorded is of no use then.
  void giveUp() { isLost = true; }
  bool lost() const { return isLost; }
  int64_t mostPiecedWords() const { return piecedWords; }

private:
  RecordedOperand::Region regionOf(const std::byte *at, const std::byte *&begin) const;

  WaveState &state;
  const WaveWorker &worker;
  WaveRecord::Stream &stream;
  const int32_t number;
  std::vector<SentLink> &sent;
  std::vector<int64_t> &staying;
  DistanceTables tables;
  bool isLost = false;
  int64_t piecedWords = 0;
};

// The pieces of the words of a sink that come behind the next `before` ones.
void piecesThere(WaveState &state, int32_t port, int64_t before, int64_t words, std::vector<WaveRecord::Piece> &pieces);

// Does the steps of a group again. `iterations`: how many the run is behind the recorded one.
class WaveReplay {
public:
  WaveReplay(const Kernels &kernels, const WaveState &state, int64_t iterations)
      : kernels(kernels), state(state), iterations(iterations) {}
  void runGroup(WaveWorker &worker, const WaveRecord::Stream &stream, size_t group) const;

private:
  void runChains(WaveWorker &worker, const WaveRecord::Stream &stream, const RecordedStep &step) const;

  const Kernels &kernels;
  const WaveState &state;
  const int64_t iterations;
};

} // namespace wsc::emulator
