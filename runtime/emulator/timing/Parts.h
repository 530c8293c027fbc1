// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A part of a step in words: which it takes and sends, and which earlier ones it waits for. All of it follows from word
// counts, so samples that repeat the moves of another find it once and then only add the samples' words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wsc::emulator::timing {

// Words [begin, end) of those that a sink takes, and where the first and the last stand in the channel.
struct Taking {
  int32_t sink = 0, channel = 0;
  int64_t count = 0; // words of the whole step
  int64_t begin = 0, end = 0, firstPlace = 0, lastPlace = 0;
};

// Words [begin, end) of a channel, of a step that sends `total` over it.
struct Sending {
  int32_t channel = 0, feed = 0;
  size_t firstNeed = 0; // one for each of the channel's sinks; none if all of them take all words
  int64_t begin = 0, end = 0, total = 0;
  int64_t last = 0;                 // cycles from the first word to the last if nothing holds up the train
  int64_t mostLeft = 0;             // cycles of the step that these words take
  int64_t roundTrip = 0;            // cycles from the first word to the last if credits set the pace
  int64_t further = 0, between = 0; // its SourceSegment's
};

// What a sink must have taken for a Sending. Words are the sink's; `freed` is the channel's.
struct Need {
  int64_t first = 0, last = 0; // for its first and its last word; < 0: none
  int64_t freed = 0;           // of the Sending's, the first that waits for `last`
  int64_t begin = 0, stop = 0; // pauses at words before `stop` are met, windows from `begin` on
};

// Words of a sink up to `words` that the part promises to take; see Piece for the rest.
struct Raise {
  int32_t sink = 0;
  int64_t words = 0, pause = 0, own = 0;
};

struct Part {
  bool whole = false;                    // up to the step's end
  int64_t from = 0, to = 0;              // progress in the step
  int64_t stepCycles = 0, stepSlots = 0; // of the whole step, if nothing holds it up
  int64_t stepCrossing = 0;              // of the whole step, Charge's
  int64_t turnSlots = 0, turnCycles = 0; // of a gather's step, what its cores need one after another
  int64_t cycles = 0, slots = 0;         // of these, the part's; slots of one core
  size_t firstTaking = 0, firstSending = 0, firstRaise = 0;
  int32_t numTakings = 0, numSendings = 0, numRaises = 0;
};

struct Parts {
  std::vector<Part> parts;
  std::vector<Taking> takings;
  std::vector<Sending> sendings;
  std::vector<Need> needs;
  std::vector<Raise> raises;

  void clear() {
    parts.clear();
    takings.clear();
    sendings.clear();
    needs.clear();
    raises.clear();
  }
};

} // namespace wsc::emulator::timing
