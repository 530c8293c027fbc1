// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Samples whose moves are known.
//
// Every decision of a sample (Simulation.cpp, Promises.cpp) is one over words: how many are promised ahead of those
// taken, let through ahead of those sent, and for how many a process waits to be woken. Where all these numbers are at
// a sample's end what they were at the end of the one before, all samples that follow decide alike, and the moves of
// the last are theirs. Only times differ.
#include "runtime/emulator/timing/Simulation.h"

#include <algorithm>
#include <utility>

namespace wsc::emulator::timing {

void Simulation::repeatMoves() {
  nextPart = 0;
  ++repeated;
  for (size_t m = 0; m < moves.size(); ++m) {
    const Move &move = moves[m];
    const int32_t p = move.process;
    fetchMove(m);
    if (move.kind == Move::Compute) {
      reachStep(p);
      continue;
    }
    const Item &item = programOf(p).items[processes[p].cursor.item];
    switch (move.kind) {
    case Move::Commit:
      commit(p, item, move.to);
      break;
    case Move::Promise:
      promiseInput(p, item, move.input, move.to);
      break;
    default:
      promiseAhead(p, item);
    }
  }
}

// The moves to come are known, so what they look at can be on its way: first the states, then what these point to.
void Simulation::fetchMove(size_t move) const {
  constexpr size_t kFar = 12, kNear = 6;
  if (move + kFar < moves.size()) {
    const int32_t p = moves[move + kFar].process;
    __builtin_prefetch(&processes[p]);
    __builtin_prefetch(&processes[p].clock);
    __builtin_prefetch(&model.processes[p]);
  }
  if (move + kNear < moves.size())
    if (const int32_t shared = issueSlotsOf[model.processes[moves[move + kNear].process].unit]; shared >= 0)
      issueSlots[shared].fetch();
  if (nextPart + kFar < known.parts.size()) {
    const Part &part = known.parts[nextPart + kFar];
    for (size_t t = part.firstTaking; t < part.firstTaking + size_t(part.numTakings); ++t) {
      __builtin_prefetch(&sinks[known.takings[t].sink]);
      __builtin_prefetch(&sinks[known.takings[t].sink].promised);
      __builtin_prefetch(&channels[known.takings[t].channel]);
    }
    for (size_t i = part.firstSending; i < part.firstSending + size_t(part.numSendings); ++i) {
      const int32_t c = known.sendings[i].channel;
      __builtin_prefetch(&channels[c]);
      __builtin_prefetch(&model.channels[c]);
    }
  }
  if (nextPart + kNear < known.parts.size()) {
    const Part &part = known.parts[nextPart + kNear];
    for (size_t t = part.firstTaking; t < part.firstTaking + size_t(part.numTakings); ++t)
      __builtin_prefetch(channels[known.takings[t].channel].curve.data() + sinks[known.takings[t].sink].arrivalHint);
    for (size_t i = part.firstSending; i < part.firstSending + size_t(part.numSendings); ++i)
      __builtin_prefetch(&sinks[model.channels[known.sendings[i].channel].firstSink]);
  }
}

void Simulation::noteSample() {
  std::vector<int64_t> now;
  now.reserve(processes.size() + channels.size() + 2 * sinks.size());
  const auto relative = [](int64_t words, int64_t base) { return words == kNever ? kNever : words - base; };
  for (const ProcessState &process : processes)
    now.push_back(std::max<int64_t>(0, process.promisedSerial - process.serial));
  for (const ChannelState &channel : channels) // `passed` only remembers what would be found again
    now.push_back(channel.watched * 2 + channel.held);
  for (size_t s = 0; s < sinks.size(); ++s) {
    now.push_back(sinks[s].promised - sinks[s].base);
    now.push_back(relative(sinks[s].wakeAt, channels[model.sinks[s].channel].produced));
  }
  repeats = notes == Notes::Repeat && now == ahead;
  if (!repeats)
    forgetParts();
  ahead = repeats ? std::vector<int64_t>() : std::move(now);
}

} // namespace wsc::emulator::timing
