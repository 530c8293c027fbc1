// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cores of a role that stand at the same operation, run side by side: each operation is looked at once and done for all
// of them, one after the other. A core whose words are not there leaves the group. Values are those of the cores run
// alone. For roles of one thread.
#pragma once

#include "runtime/emulator/CoreScratch.h"
#include "runtime/emulator/WaveRecord.h"
#include "runtime/emulator/WaveState.h"

#include <array>
#include <optional>
#include <span>

namespace wsc::emulator {

class WaveGroup {
public:
  struct Member {
    int32_t core = 0;
    WaveThread *thread = nullptr;
    WavePort *ports = nullptr; // of its queues
    std::byte **buffers = nullptr;
    const format::LatticeIndex *index = nullptr;
    uint64_t sent = 0, taken = 0;             // queues: bit q mod 64
    bool partAhead = false;                   // it waits, but could do a part of its operation
    bool inSlot = false;                      // its scratch is in a slot
    const std::byte *words[kHeldPlaces] = {}; // that are held (WaveOp::heldIn)
  };
  static constexpr int64_t kMostBytes = 256 << 10; // of all members' scratch: what they hold stays in a cache

  // `patient`: members wait before they have to (WaveOp::needs).
  WaveGroup(const SampleContext &context, const WavePlan &plan, WaveState &state, WaveWorker &worker, bool patient)
      : context(context), plan(plan), state(state), worker(worker), patient(patient) {}

  // Takes the core in. False where it does not fit: the group is full or stands elsewhere, or the core is in the middle
  // of an operation.
  bool add(const WaveRole &role, int32_t core);
  // Runs all as far as they come. Members then say what they sent and took; they stay until clear().
  void run();
  std::span<const Member> all() const { return {members.data(), numMembers}; }
  const WaveRole &roleOfAll() const { return *role; }
  void clear() { numMembers = 0; }

private:
  static constexpr size_t kMost = kMostCores;
  static constexpr size_t kMembersAhead = 8; // whose operands are fetched while others are at work

  // An operand with what all members have in common.
  struct Place {
    format::OperandKind kind = format::OperandKind::None;
    int16_t slot = -1;
    int64_t offset = 0;                     // bytes
    const format::Affine *affine = nullptr; // null: `offset` is all of it
    const std::byte *immediate = nullptr;
    int32_t words = 0; // of a queue
  };

  struct NestPlaces {
    Place dst, a, b, add, out;
  };

  Place placeOf(const OperandPlace &operand, int64_t bytes) const;
  bool isFar(const Place &place) const;
  const OperandPlace *indexedOperand(const DecodedOp &op) const;
  IndexedPlace indexedPlace(const Place &place, const OperandPlace &operand, const Member &member) const;
  std::byte *pointer(const Place &place, const Member &member, size_t source);
  bool loop(const WaveOp &op);
  // Members whose wordsOf(member, input) words are not there wait.
  template <typename Words> void keepThere(const WaveOp &op, Words wordsOf);
  void keepNeeds(const WaveOp &op);
  void runPlain(const WaveOp &op);
  bool runRows(const WaveOp &row);
  bool runTogether(const WaveOp &row, ArrayOp function, int64_t n);
  bool holdWords(const WaveOp &op);
  void releaseWords(std::span<const uint8_t> leaving);
  // The place of the words that source `k` is read from; -1: these are not held.
  int placeHeld(const WaveOp &op, int k) const {
    const int32_t copy = op.wordsOf[k];
    const int place = copy < 0 ? -1 : role->threads[0][size_t(copy)].heldIn;
    return place >= 0 && held[place] == copy ? place : -1;
  }
  bool holds(const WaveOp &op, int k) const { return placeHeld(op, k) >= 0; }
  void letWordsGo(const WaveOp &op);
  const std::byte *sourceOf(const WaveOp &op, const Place &place, const Member &member, int k);
  NestPlaces nestPlaces(const WaveOp &op, const WaveOp *sum) const;
  void runNest(const WaveOp &nest, bool fuses);
  void copyWords(const WaveOp &op);
  void finish(const WaveOp &op);
  void record(const WaveOp &op, bool together);
  void recordRow(const WaveOp &op, bool together);
  void recordNest(const WaveOp &nest, const NestPlaces &places, bool fresh);
  void recordOneNest(const WaveOp &nest, const NestPlaces &places, bool fresh);
  struct ChainSource {
    int16_t queue = -1; // that its words come from; -1: it is at an address
    int32_t runStep = 0;
  };
  std::optional<ChainSource> chainSource(const WaveOp &nest, const Place &place, int k) const;
  bool recordLinks(const WaveOp &nest, const NestPlaces &places);
  int32_t portOf(const Member &member, int16_t queue) const {
    return int32_t(&member.ports[queue] - state.ports.data());
  }
  bool narrows() const { return worker.recorder && !role->kept.narrow.empty() && context.traces.empty(); }
  bool recordsNarrow(const WaveOp &op) const { return worker.recorder && op.narrow >= 0 && context.traces.empty(); }
  void recordNarrow(const WaveOp &op);
  void letStay(const WaveOp &op);
  // The words that stay (NarrowReads.h) and that source `k` is read from; null: it is not.
  std::byte *stayingSource(const WaveOp &op, int k, const Member &member) const;
  template <typename Record> void recordBySources(const WaveOp &op, Record write);
  int64_t narrowOf(const Member &member, int32_t copy) const { return role->narrowOf(member.core - role->core, copy); }
  void recordRelease(std::span<const uint8_t> leaving, const Place &dst, int place, int64_t bytes);
  bool goesTogether(const DecodedOp &op, const ShapeVariant &variant, const RecordedStep &step) const;
  RecordedOperand recorded(const Place &place, size_t source);
  RecordedOperand recordedSource(const WaveOp &op, const Place &place, int k);
  // Bytes between cores' places, as steps for runs of the same length.
  struct ByteRun {
    int64_t bytes;
    std::byte *from, *to;
  };
  void recordRuns(std::vector<ByteRun> &runs) const;
  void recordScratch(const ScratchCopies &copies, std::span<std::byte *const> from,
                     std::span<std::byte *const> to) const;
  void recordNarrowed(const NarrowedCopies &copies, std::span<const uint8_t> of, std::span<std::byte *const> from,
                      std::span<std::byte *const> to) const;
  void runEach(const WaveOp &op);
  void runAlone();
  void beginInSlots();
  void enter(int32_t pc);
  void keepScratch(std::span<const uint8_t> leaving);
  void moveScratch(const ScratchCopies &copies, const NarrowedCopies *narrowed, std::span<const uint8_t> of,
                   std::span<std::byte *const> from, std::span<std::byte *const> to) const;
  void tell(Member &member) const;
  CoreScratch scratchOf(const Member &member) const { return {state, *role, member.core}; }
  std::byte *slot(const Member &member) const;
  template <typename Stays> void keepIf(Stays stays);

  const SampleContext &context;
  const WavePlan &plan;
  WaveState &state;
  WaveWorker &worker;
  const bool patient;
  const WaveRole *role = nullptr;
  std::array<Member, kMost> members;
  size_t numMembers = 0, numActive = 0;
  std::array<uint8_t, kMost> active{};     // members that have not left
  WaveThread at;                           // where all active members stand
  ScratchPath *path = nullptr;             // how their scratch moves, if it does
  bool hasEntered = false;                 // something of it may be in slots
  std::array<int32_t, kHeldPlaces> held{}; // the copies whose words they hold; -1: none
};

} // namespace wsc::emulator
