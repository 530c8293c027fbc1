// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/collectives/Laws.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <span>

namespace wsc::spmd {

namespace {

int64_t flight(const target::Target &target, int64_t hops) {
  return 2 * target.rampLatencyCycles + 1 + hops * target.hopLatencyCycles;
}
int64_t answer(const target::Target &target) { return target.vectorSetupCycles + target.taskStartCycles; }

/// Cycles from one word to the next of a port that shares the bandwidth of all ports evenly with others.
double wordSpacing(const target::Target &target, int32_t ports) {
  return std::max(1.0, double(ports) / target.ioWordsPerCycle());
}

/// Slots of a move of words within SRAM.
int64_t copySlots(const target::Target &target, int64_t words) {
  return int64_t(std::ceil(double(words) / std::max(1.0, std::floor(target.elementsPerCycleF32))));
}

} // namespace

int64_t allReduceCycles(const target::Target &target, int32_t group, int32_t run, int64_t words) {
  // A single core copies.
  if (group <= 1)
    return target.vectorSetupCycles + copySlots(target, words);
  // Cores between the first and the last of a chain hand on in the slot in which they take.
  int64_t cycles = target.vectorSetupCycles + (run - 1) * flight(target, 1) + words;
  if (run < group)
    cycles += answer(target) + (group / run - 1) * flight(target, run) + words;
  return cycles + answer(target) + flight(target, group - 1) + words;
}

namespace {

/// perUnit · n + constant, from blocks of `words` words on.
struct HeldUp {
  int64_t words;
  double perUnit;
  int64_t constant;
};
// In one direction, in both.
constexpr HeldUp kHeldUp[] = {{1, 0, 0}, {3, 4, 29}, {5, 5.3, 27}, {8, 7, 19}, {11, 12, 17}};
constexpr HeldUp kHeldUpBoth[] = {{1, 4, 66},  {2, 3, 82},    {3, 7, 47},  {4, 8.5, 49},
                                  {5, 11, 38}, {6, 13.2, 33}, {8, 15, 38}, {11, 27, 18}};

int64_t heldUp(std::span<const HeldUp> forms, int64_t words, int64_t units) {
  const HeldUp *form = &forms.front();
  for (const HeldUp &each : forms)
    if (words >= each.words)
      form = &each;
  return int64_t(form->perUnit * double(units)) + form->constant;
}

} // namespace

int64_t segmentGatherCycles(const target::Target &target, int32_t unit, int32_t segment, int64_t words) {
  const int64_t n = segment, u = unit, all = 2 * n * words;
  const int64_t inTurn = target.vectorSetupCycles + (n > 1 ? 3 : 1) * answer(target) + 2 * flight(target, n * u) + all;
  if (n == 1)
    return inTurn;
  const int64_t late = target.vectorSetupCycles + flight(target, 2) + 3 * flight(target, n * u) + (n + 1) * words;
  // Between units more routers hold words.
  return std::max({inTurn, late, all + 2 * n * (u - 1) + heldUp(kHeldUp, words > 10 ? words - (u - 1) : words, n)});
}

int64_t gatherCycles(const target::Target &target, int32_t unit, int32_t segment, int64_t words) {
  constexpr int64_t kQueueWords = 2, kRampWords = 5; // of blocks up to which cores give without waiting, or begin to
  const int64_t n = segment, cores = n * unit, S = target.vectorSetupCycles;
  if (cores == 2)
    return S + 2 * answer(target) + 2 * words + 2;
  const int64_t inTurn =
      2 * (n - 1) * words + S + std::max(2 * answer(target) + flight(target, cores), 3 * answer(target) + 2);
  if (words > kRampWords)
    return inTurn;
  const int64_t together = std::max((n - 1) * words + 2 * (words - 1) + std::max<int64_t>(cores, 7) + S +
                                        2 * answer(target) + flight(target, 2),
                                    2 * flight(target, cores) + 2 * words - flight(target, 1));
  return words > kQueueWords ? std::max(together, inTurn - kRampWords) : together;
}

int64_t windowCycles(const target::Target &target, int32_t segment, int64_t words) {
  const int64_t n = segment, all = 4 * n * words, answers = 2 * std::min<int64_t>(n, 3) + 1;
  const int64_t inTurn = target.vectorSetupCycles + answers * answer(target) + 2 * flight(target, n) + all;
  return n == 1 ? inTurn : std::max(inTurn, all + heldUp(kHeldUpBoth, words, n));
}

int64_t segmentShiftCycles(const target::Target &target, int32_t segment, int64_t words, bool inBothDirections) {
  constexpr int64_t kShortWords = 2, kQueueWords = 4; // that pass without waiting, that cores give without waiting
  const int64_t n = segment, all = 2 * n * words;
  const int64_t controls = words > kShortWords ? std::max<int64_t>(0, n - 3) : 0;
  if (!inBothDirections) {
    const int64_t handedOn =
        target.vectorSetupCycles + 2 * flight(target, n) + answer(target) + (n + 1) * words + controls;
    return std::max(handedOn, all + std::max(target.vectorSetupCycles + flight(target, 1), 2 * n + 15 - words));
  }
  const int64_t handedOn = (words + 2) * n + 2 * words + 50 + controls;
  if (words <= kShortWords)
    return std::max(handedOn, all + 2 * n + 11);
  if (words <= kQueueWords)
    return std::max(handedOn, all + 7 * n / 2 + 15);
  return all + 7 * n / 2 + 45 + (n % 2 != 0 ? 3 * words - 8 : 0);
}

int64_t lineBusCycles(const target::Target &target, const LineBus &bus, int32_t length) {
  const bool isWhole = bus.segment >= bus.units, relayGives = bus.begin == 0;
  const int64_t ramp = target.rampLatencyCycles, hop = target.hopLatencyCycles, setUp = target.vectorSetupCycles;
  const int64_t blocks = std::min(bus.segment, bus.units), givers = blocks - (relayGives ? 1 : 0);
  // A bus of a whole line is as long as its givers and takers need it (ShortBuses.h).
  const int64_t giving =
      isWhole ? std::min<int64_t>(length, bus.begin + int64_t(bus.units) * bus.unit) : int64_t(bus.segment) * bus.unit;
  const int64_t cores = isWhole ? std::min(length, bus.takerEnd) : giving;
  int64_t cycles = setUp;
  if (givers > 0) {
    // Turns: of a whole line each core's but the relay's, of a segment each unit's. Those before the first giver are
    // control words, which need no set-up.
    const int64_t far = isWhole ? giving - 1 : (blocks - 1) * bus.unit, perTurn = isWhole ? 1 : bus.unit;
    const int64_t firstGiver = isWhole ? bus.begin + (int64_t(bus.units) - 1) * bus.unit : far;
    const int64_t lastGiver = isWhole ? bus.begin + (relayGives ? bus.unit : 0) : int64_t(relayGives ? bus.unit : 0);
    const int64_t idleTurns = (far - firstGiver) / perTurn, turns = (firstGiver - lastGiver) / perTurn;
    const int64_t begins = std::max(setUp + 1 + ramp, 1 + ramp + idleTurns * (1 + perTurn * hop));
    cycles = begins + turns + givers * bus.words + firstGiver * hop + ramp;
    // The relay passes over the blocks behind those that it keeps, then over those before them: it has to catch up
    // with the words that come while it sets up, by one at every hand-over.
    const int64_t kept = bus.blocks - (relayGives && bus.firstBase == 0 && bus.first.isZero() ? 1 : 0);
    if (kept > 0 && kept < givers)
      cycles += std::max<int64_t>(0, answer(target) - 1 - (kept - 1));
    if (relayGives && bus.firstBase == 0 && bus.first.isZero())
      cycles += setUp + copySlots(target, bus.words);
    cycles += target.taskStartCycles + setUp;
  } else if (relayGives) {
    cycles += copySlots(target, bus.words) + setUp;
  }
  if (cores > 1)
    cycles += bus.blocks * bus.words + flight(target, cores - 1);
  return cycles;
}

// In max-plus terms: a core that resumes at cycle t with word b takes word j at t + j − b at the earliest, and what it
// takes makes room for the word C behind: so the row's word j passes it not before t + credit + (j − b − C), C words
// being what its queue holds. Of all such bounds, which grow alike with j, the largest counts; each sets in at word
// b + C. Places are as seen from the port: less one hop for each core before.
int64_t inputCycles(const target::Target &target, int32_t rows, int32_t cols, int64_t words, int32_t length) {
  const int64_t ramp = target.rampLatencyCycles, hop = target.hopLatencyCycles;
  const int64_t capacity = target.inputQueueWords.front() + ramp, all = words * cols;
  const double spacing = wordSpacing(target, rows);
  const int64_t arrives = hop + ramp; // of word 0 at core 0
  int64_t bound = INT64_MIN / 2;      // of word 0 at core 0, extrapolated, where a resumption holds the row
  struct Resumption {
    int64_t word, bound;
  };
  std::deque<Resumption> coming;
  auto takes = [&](int64_t word, int64_t own) { // at core 0's place
    while (!coming.empty() && coming.front().word <= word) {
      bound = std::max(bound, coming.front().bound);
      coming.pop_front();
    }
    return std::max({int64_t(double(word) * spacing) + arrives, bound + word, own + word});
  };
  // `own`: the same extrapolated bound of a core by its own instructions; `latest`: the largest, at the core's place.
  int64_t before = target.vectorSetupCycles, latest = before;
  for (int32_t c = 1; c < cols; ++c) {
    const int64_t word = c * words;
    int64_t next = target.vectorSetupCycles - c * hop;
    for (const auto &[core, own] : {std::pair(c - 1, before), std::pair(c, next)}) {
      const int64_t resumes = takes(word - 1, own) + 1 + answer(target) - word; // extrapolated
      coming.push_back({word + capacity, resumes + ramp + target.creditLatencyCycles - capacity});
      latest = std::max(latest, resumes + core * hop);
      next = resumes;
    }
    before = next;
  }
  return std::max(takes(all - 1, INT64_MIN / 2) + (length - 1) * hop, latest + all - 1) + 1;
}

int64_t boxInputCycles(const target::Target &target, int32_t rows, int64_t words, int32_t length) {
  const int64_t last = int64_t(double(words - 1) * wordSpacing(target, rows));
  return std::max<int64_t>(target.vectorSetupCycles + words,
                           length * target.hopLatencyCycles + target.rampLatencyCycles + last + 1);
}

int64_t outputCycles(const target::Target &target, int32_t rows, int32_t cols, int64_t words, int32_t length) {
  const int64_t ramp = target.rampLatencyCycles, hop = target.hopLatencyCycles;
  const int64_t idleTurns = length - cols;
  const int64_t begins =
      std::max<int64_t>(target.vectorSetupCycles + 1 + ramp, 1 + ramp + idleTurns * (1 + hop)) + cols * hop;
  const int64_t row = cols - 1 + cols * words;
  return begins + std::max(row, int64_t(std::ceil(double(cols * words) * wordSpacing(target, rows))));
}

} // namespace wsc::spmd
