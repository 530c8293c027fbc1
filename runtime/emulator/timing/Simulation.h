// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Solves a model sample by sample: how far every process gets (exactly, by word counts) and when (by trains of words).
//
// A step of a process is a train: it moves the words of all its operands side by side. Two watermarks drive the
// solution:
//  - `produced` of a channel: words that are certain to be sent, with their times (a curve of linear pieces);
//  - `promised` of a sink: words it will take as soon as they are there, because nothing else can hold it up, with the
//  earliest times.
// A source may send up to min over sinks (promised + capacity); a step may run up to the words produced on its inputs.
// Both only grow, so the worklist reaches the one least fixpoint whatever its order (the network is a Kahn network); it
// moves whole trains, not queue lengths, because a relay's promise passes on what its own sinks promise, and a sink
// that only stores promises the whole step and those that follow. A piece of a train then is timed by
//    first ≥ issue + set-up, arrival of its first words, space for its first words
//    last  ≥ first + length − 1, and for every kink of an input's or sink's curve: the kink + the words left after it.
// If the worklist runs dry before all processes have finished the sample, the program is not live.
//
// Who moves how far, and in which order, depends on word counts alone. So a sample that begins with as many words
// promised and asked for as the one before repeats its moves: they are noted, and only timed from then on (Moves.cpp).
//
// Approximations: inside a piece words are evenly spaced; a word that waits for its turn in a gather waits in its core;
// threads of a core are timed train by train; they are charged for those that are timed later (Hindsight.h) and due
// what these take beyond that (SharedSlots.h).
#pragma once

#include "runtime/emulator/timing/Curve.h"
#include "runtime/emulator/timing/Hindsight.h"
#include "runtime/emulator/timing/Model.h"
#include "runtime/emulator/timing/Parts.h"
#include "runtime/emulator/timing/SharedSlots.h"
#include "runtime/emulator/timing/Worklist.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace wsc::emulator::timing {

constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

struct ChannelState {
  Curve curve;
  int64_t produced = 0;
  int64_t trainFirst = 0;  // of the first word of the last train
  int64_t lastCycle = -1;  // of the last word sent
  int64_t words = 0;       // Channel's
  int64_t segmentBase = 0; // word at which the segment began
  int32_t segment = 0;     // whose turn it is: index into Model::segments
  int32_t watched = -1;    // the sink whose promise holds the source up
  int64_t passed = 0;      // words for which every sink's own queue has space
  bool held = false;       // some sink waits for words that another one holds up
};

// Two cache lines; trains that may only have to wait for space look at the first.
struct alignas(64) SinkState {
  struct Resumed {
    int64_t word = -1, cycle = 0;           // the first word after a pause, and when it was taken
    int64_t place = 0, full = 0, freed = 0; // Pause's
  };
  Curve ready;
  std::vector<Resumed> resumed; // pauses whose space the source has not asked for yet, and the last one before them
  int64_t capacity = 0;         // Sink's
  int32_t credit = 0;           // Sink's
  uint32_t readyHint = 0;

  int64_t words = 0;    // Sink's
  int32_t latency = 0;  // Sink's
  bool windows = false; // it does not take all of the channel's words
  uint32_t arrivalHint = 0;
  int64_t promised = 0;
  int64_t lateWord = kNever,
          lateCycles = 0;  // of the channel's, words from there on arrive later than they left: others held them up
  int64_t base = 0;        // words taken before the current step
  int64_t wakeAt = kNever; // wake the process when this many words of the channel are produced
};

struct FeedState {
  int64_t sample = -1;
  int32_t segment = -1; // the next own segment; -1: none left in this sample
};

struct SlotState {
  int64_t sample = -1, sent = 0; // words of one core sent in this sample before the current step
};

struct ProcessState {
  Cursor cursor;
  int64_t sample = 0;
  int64_t serial = 0;                  // steps reached so far, over all samples
  int64_t sampleSerial = 0;            // when the sample began
  int64_t promisedSerial = 0;          // steps before this one are promised completely
  int64_t done = 0;                    // progress in the current step, 0 … scale
  int64_t clock = 0;                   // when the step before was done
  int64_t trainFirst = 0;              // first cycle of the step that moved last
  int64_t lastCycle = 0;               // of the progress so far
  int64_t waitWords = 0, waitRoom = 0; // cycles held up in this sample
  int64_t finished = 0;                // when the last finished sample was done
};

struct Blocker {
  enum Kind { Words, Fork, Room, Turn } kind = Words;
  int32_t channel = -1, process = -1; // what it waits for, and who would have to move
  int64_t have = 0, need = 0;
};

// The pauses of a channel's sinks that a train meets, and what each holds up. A window whose words the sink takes more
// slowly than they come holds up the others' words behind it like a pause, until it has space for its last word.
struct Pause {
  int32_t sink;
  uint32_t piece;             // of the sink's curve; kKnown: met by an earlier train
  int64_t word;               // the first after the pause, of the sink's words
  int64_t place, full, freed; // of the channel's: that word; the first that its queue has no space for before; the
                              // first that the source sends after it
  int64_t taken;              // when that is taken
  int64_t windowBegin;        // -1, or the first word of a window of which `word` is taken slowly
  int64_t atSink, atSource;   // how late words behind it are at other sinks, and at the source

  static constexpr uint32_t kKnown = UINT32_MAX;
};

// What a process did in a sample.
struct Move {
  enum Kind : int8_t { Compute, Commit, Promise, PromiseAhead } kind;
  int8_t input; // Promise: which
  int32_t process;
  int64_t to; // Commit, Promise: progress in the step
};

class Simulation {
public:
  // What the notes of a sample's moves are for. Times are the same.
  enum class Notes {
    Repeat, // for samples that repeat them, and for another look at the first where somebody is charged
    Look,   // for the latter alone, in any case: to hold the others against; every sample's moves are decided anew
    None,   // there are none, and only one sample
  };
  explicit Simulation(const Model &model, Notes notes = Notes::Repeat);

  // Runs every process through one more sample; false: not live, see blockers.
  bool runSample();
  // Without notes: the sample's times are not right, as others take of its trains what only another look would show.
  bool lacksNotes() const { return isShort; }
  // Whether the last sample was charged with all that others take (Hindsight.h), as those that follow.
  bool charged() const { return limit > Hindsight::lastBefore(); }
  // Forgets what later samples do not need.
  void trim();

  const ProcessState &process(int32_t p) const { return processes[p]; }
  bool repeating() const { return repeats; }
  bool unfinished(int32_t p) const { return processes[p].sample < limit; }
  Blocker blockerOf(int32_t p);

private:
  // The first and the last slot of a part of a step that takes `cycles` if nothing holds it up. Its end is known from
  // what is left to do, `left` cycles, when it was held up last, at `resumed`.
  struct Span {
    int64_t first, last;
    int64_t cycles = 1, resumed = 0, left = 1;
    int64_t earlier = 0; // than the unit's clock and the words that reach its furthest core

    // Less left to do, from an earlier cycle: nothing that `last` does not know.
    bool covers(int64_t from, int64_t leftThen) const { return from <= resumed && leftThen <= left; }
    // Of `amount` evenly done in the part's own cycles, what is done from `resumed` on.
    int64_t later(int64_t amount) const { return mulDivUp(amount, left, cycles); }
  };
  void end(int32_t p, const Item &item, const Part &part, int64_t from, int64_t left, Span &span) const;

  const ThreadProgram &programOf(int32_t p) const { return model.programs[model.processes[p].program]; }
  const Slot &slotOf(int32_t p, const Access &access) const {
    return model.slots[model.units[model.processes[p].unit].firstSlot + access.slot];
  }

  // Windows: the place in the channel of the sink's word `word`; how many of the channel's first `passed` words it
  // takes.
  int64_t placeOf(int32_t s, int64_t word) const {
    const Sink &sink = model.sinks[s];
    return sink.numStretches == 0 ? word : model.window(sink).place(word);
  }
  int64_t takenOf(int32_t s, int64_t passed) const {
    const Sink &sink = model.sinks[s];
    return sink.numStretches == 0 ? passed : model.window(sink).taken(passed);
  }
  // The first of the channel's words that leaves only when the sink has taken its word `word`: when its queue is full,
  // the next of its words stops in the router before it, and all that follow fill the queues of the route.
  int64_t freedBy(int32_t s, int64_t word) const {
    const Sink &sink = model.sinks[s];
    return placeOf(s, word + sink.queueWords) + sink.routeWords();
  }
  // The sink's word that it must have taken when the channel's word `word` leaves; < 0: none.
  int64_t neededFor(int32_t s, int64_t word) const {
    const Sink &sink = model.sinks[s];
    return takenOf(s, word - sink.routeWords() + 1) - 1 - sink.queueWords;
  }

  // Moves.cpp: samples that repeat the moves of the one before.
  void repeatMoves();
  void noteSample();
  void forgetParts() {
    known.clear();
    nextPart = 0;
  }
  void fetchMove(size_t move) const;
  // Of sinks that come up.
  void fetchSink(int32_t sink, int32_t pastSinks) const {
    if (sink + 4 < pastSinks) {
      __builtin_prefetch(&sinks[sink + 4]);
      __builtin_prefetch(&sinks[sink + 4].promised);
    }
    if (sink < pastSinks) {
      __builtin_prefetch(sinks[sink].ready.data() + sinks[sink].readyHint);
      __builtin_prefetch(sinks[sink].resumed.data());
    }
  }
  void note(Move::Kind kind, int32_t p, int64_t to = 0, int input = 0) {
    if (!repeats && notes != Notes::None)
      moves.push_back({kind, int8_t(input), p, to});
  }

  // Simulation.cpp: progress.
  bool decideMoves(); // of the sample; false: not live
  void advance(int32_t p);
  bool reachStep(int32_t p); // false: the sample limit is reached
  void endSample(int32_t p);
  void finishStep(int32_t p, const Item &item);
  void block(int32_t p, const Item &item);
  int64_t scaleOf(int32_t p, const Item &item) const;
  // `charge`: of the step.
  int64_t cyclesOf(int32_t p, const Item &item, const Charge &charge) const;
  int64_t contentionOf(int32_t p, const Item &item, const Charge &charge) const {
    const bool least = charge.slots == Charge::kUnseen || (item.contention > 0 && !slotOf(p, item.out).feedsGather);
    return least ? std::max<int64_t>(item.contention, charge.slots) : charge.slots;
  }
  Charge chargeOf(int32_t p, int64_t serial) const { return hindsight.of(p, serial - processes[p].sampleSerial); }
  int64_t inputLimit(int32_t p, const Item &item, int i, int64_t scale);
  int64_t outputLimit(int32_t p, const Item &item, int64_t scale);
  int64_t passing(int32_t s, int64_t wanted, int32_t *holder) const;
  int64_t room(int32_t channel, int64_t wanted);
  FeedState &feedState(int32_t p, int32_t feed);
  int64_t &sentOf(int32_t p, int32_t slot);
  int64_t segmentWords(const SourceSegment &segment, int64_t sent, int64_t count, int64_t done, int64_t scale) const;

  // Hindsight.cpp: what others take.
  int64_t linksTaken(const Item &item, Train &train);
  Train look(int32_t p, int32_t item, int64_t ordinal, int64_t from, int64_t to);
  void watch(int32_t p, const Part &part, const Span &when);
  bool charge(); // whether trains would be timed otherwise with the charges
  void chargeLater();
  void recharge(int32_t p, const Item &item, Part &part);
  void timeAgain();

  // Parts.cpp: words of parts, and what these need if nothing holds them up.
  const Part &findPart(int32_t p, const Item &item, int64_t to, int input);
  void findCycles(int32_t p, const Item &item, Part &part, int64_t scale) const;
  static void findCycles(const Part &part, Sending &sending);
  void findTakings(int32_t p, const Access &in, const Part &part, int64_t scale);
  void findRaises(int32_t p, const Item &item, int i, const Part &part, int64_t scale, bool ahead);
  void findSendings(int32_t p, const Item &item, const Part &part, int64_t scale);

  // Spans.cpp: times.
  Span span(int32_t p, const Item &item, const Part &part, int64_t *waitWords, int64_t *waitRoom);
  void boundByInputs(int32_t p, const Item &item, const Part &part, bool lastPart, Span &span);
  // QueueSpace.cpp. `final`: the part is committed, not only tried.
  void boundByOutputs(int32_t p, const Item &item, const Part &part, bool lastPart, bool final, Span &span);
  int64_t lateAt(int32_t s, int64_t word, size_t before) const;
  int64_t lateAtSource(int64_t word) const;
  // What the sink must have taken for words that the channel sends, in the words of this sample.
  Need needOf(int32_t s, const Sending &sending, bool single) const {
    const SinkState &sink = sinks[s];
    const int64_t moved = repeated * channels[sending.channel].words;
    const int64_t begin = sending.begin + moved, end = sending.end + moved;
    if (!sink.windows) {
      const int64_t last = end - 1 - sink.capacity;
      return {begin - sink.capacity, last, end - 1, begin, single ? last + 1 : end};
    }
    const Channel &channel = model.channels[sending.channel];
    const Need &need = known.needs[sending.firstNeed + size_t(s - channel.firstSink)];
    const int64_t own = repeated * sink.words;
    return {need.first + own, need.last + own, need.freed + moved, need.begin + own, need.stop + own};
  }
  void boundByFirst(const Sending &sending, Span &span);
  int32_t partOf(const LinkShare &share, const Sending &sending) const {
    return model.partOf(share, model.feeds[size_t(sending.feed)]);
  }
  SharedSlots::Claim claimOf(int32_t c, const LinkShare &share, const Span &span) const;
  int64_t linkDue(int32_t c, const LinkShare &share) const;
  void boundByLinks(const Part &part, const Sending &sending, Span &span) const;
  void boundByStanding(const Sending &sending, int64_t begin, int64_t end, Span &span) const;
  void takeLinks(const Sending &sending, const Span &span);
  void keepPauses(int32_t c, int64_t begin, int64_t end, int64_t late);
  template <typename Meet>
  void meetWindows(int32_t s, int64_t begin, int64_t stop, int64_t cycles, int64_t total, Meet meet) const;
  void boundByPauses(int32_t p, const Item &item, const Part &part, const Sending &sending, bool final, Span &span);
  void commit(int32_t p, const Item &item, int64_t to);
  void send(int32_t p, const Sending &sending, const Item &item, const Span &span);

  // The first cycle after `slots` issue slots of a priority that are free from `cycle` on; and takes such slots.
  int64_t slotsAfter(int32_t p, int64_t cycle, int64_t slots, int32_t priority) const {
    const Process &process = model.processes[p];
    const int32_t shared = issueSlotsOf[process.unit];
    return shared < 0 ? cycle + slots : issueSlots[shared].after(cycle, slots, {process.thread, priority});
  }
  void takeSlots(int32_t p, int64_t from, int64_t to, int64_t slots, int32_t priority) {
    const Process &process = model.processes[p];
    if (const int32_t shared = issueSlotsOf[process.unit]; shared >= 0)
      issueSlots[shared].take(from, to, slots, {process.thread, priority});
  }
  // Slots that the process has still to be given for what it has done, and notes that it has been.
  int64_t slotsDue(int32_t p) const {
    const Process &process = model.processes[p];
    const int32_t shared = issueSlotsOf[process.unit];
    return shared < 0 ? 0 : issueSlots[shared].due(process.thread, processes[p].trainFirst, processes[p].lastCycle + 1);
  }
  void repaySlots(int32_t p) {
    const Process &process = model.processes[p];
    if (const int32_t shared = issueSlotsOf[process.unit]; shared >= 0)
      issueSlots[shared].repay(process.thread);
  }
  // When the step's first element could be taken if words and space were there.
  int64_t leadEnd(int32_t p, const Item &item) const;
  int64_t trainEnd(int32_t p, const Item &item, const Part &part, int64_t first, int64_t cycles) const;
  void compute(int32_t p, int64_t slots, int32_t priority);

  // Promises.cpp.
  void promise(int32_t p);
  void promiseInput(int32_t p, const Item &item, int i, int64_t reach);
  bool promiseAhead(int32_t p, const Item &current);
  void raise(const Item &item, const Part &part, const Span &when);
  void raise(int32_t sink, int64_t words, int64_t first, int64_t last, int64_t pause, int64_t own);

  const Model &model;
  const Notes notes;
  int64_t limit = 0;
  std::vector<ChannelState> channels;
  std::vector<SinkState> sinks;
  std::vector<FeedState> feeds;
  std::vector<SlotState> slots;
  std::vector<ProcessState> processes;
  std::vector<SharedSlots> issueSlots; // per core unit with more than one thread
  std::vector<int32_t> issueSlotsOf;   // per unit, -1 for the others
  std::vector<SharedSlots> links;      // per shared link
  Hindsight hindsight;
  struct LinkEdge { // from `cycle` on others have so many parts of the link
    int64_t cycle;
    int32_t link;
    int64_t parts;
  };
  std::vector<LinkEdge> linkEdges; // of the train under work
  std::vector<int64_t> linkTaken;  // of its links, parts in the cycle under work
  Worklist work;
  struct Tried {
    int64_t word = -1, cycle = 0;
  };
  std::vector<Pause> pauses;  // of the train under work
  std::vector<Tried> tried;   // per sink of its channel, the last pause it has resumed from
  std::vector<Move> moves;    // of the last sample, in their order
  std::vector<int64_t> ahead; // Moves.cpp: what the moves of the next sample depend on
  Parts known;                // of the moves of the sample
  size_t nextPart = 0;        // of these
  int64_t repeated = 0;       // samples since these were found
  bool isShort = false;       // there are charges, and no notes to time the sample again
  bool repeats = false;       // every sample from here on makes the same moves
  bool recharges = false;     // charges are others than when the parts were found
};

} // namespace wsc::emulator::timing
