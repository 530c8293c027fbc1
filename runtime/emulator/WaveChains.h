// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums that go from core to core, in runs that are written down. Each core adds the accumulators of a nest to the words
// that come and sends them on, where only the next core takes them:
//
//     wave   core
//     3      0      nest 0 ──► words
//     4      1                 words + nest 1 ──► words
//     5      2                                    words + nest 2 ──► words
//
// As nobody else sees the words between, a repeated run does all nests where the last one is done (NestChain). Sources
// of those before must still be there then: constants are; chunks of words stay until the recorded run is over, so that
// nobody else's words lie there in repeated ones.
#pragma once

#include "runtime/emulator/RoleProgram.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace wsc::emulator {

struct WaveRecord;

// What nests of a chain have in common.
struct ChainForm {
  const NestPlan *plan = nullptr;
  bool inWords[2] = {false, false}; // per source; else it is at an address
  int32_t runStep[2] = {0, 0};      // bytes from one iteration to the next
};
bool operator==(const ChainForm &x, const ChainForm &y);

// Whether there is a kernel for chains of the plan.
bool isChainable(const PlanVariant &variant);

// A core's nest, with what its sum begins with and where that goes on.
struct RecordedLink {
  int64_t source[2] = {0, 0}; // offsets in the arena of words, or addresses
  int64_t add = -1;           // offset in the arena of words; -1: zeros, or the link before
  // The link before: number among those of a stream of the record; -1: there is none.
  int32_t before = -1, streamBefore = 0;
  bool goesOn = false; // another one comes behind it
};

// A chain whose last nest is of core number `core` of a step.
struct RecordedChain {
  int64_t add = -1;              // as of its first link
  uint32_t first = 0, nests = 0; // its sources among the stream's
  int32_t core = 0;
};

// The words that a source has sent last, if they are the sum of a chain that can go on.
struct SentLink {
  const ChainForm *form = nullptr;  // null: they are not
  int32_t stream = -1, link = -1;   // as RecordedLink::before
  int32_t position = -1, words = 0; // of the source
};

// So that those with the same words lie one behind the other. `sources`: of all nests of chains.
void sortChains(const std::vector<std::array<int64_t, 2>> &sources, std::span<RecordedChain> chains);

// Makes chains of the links that were recorded.
void joinLinks(WaveRecord &record);

} // namespace wsc::emulator
