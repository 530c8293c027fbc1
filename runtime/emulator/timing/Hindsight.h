// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What others take from a train that is timed before them.
//
// Threads of a core, and channels on a link, are timed one train after another: who is timed first does not know what
// the others will take meanwhile. So the first sample is timed more than once. When all of it is known, the slots of
// the core and the cycles of the links that others have taken during each train, and had not when it was timed, are
// what it had been short of; with these charged it is timed again, and so on: what is charged in the end is what others
// take of a train that is charged with it. Once more is enough: charges that are too high come down to what others
// take, those that are too low are found from how much of each cycle is left. Where nothing is to be charged, as in
// phases whose cores have one thread each, once is.
//
// These charges hold for all samples. But on links a later sample meets more than the first: results of the sample
// before, which come while its own words do. Of those that had been timed before the train each link knows its own; yet
// a word of a multicast leaves over all links at once, and what others have of them at different times adds up. So some
// samples on, when all overlap as they always will, trains are looked at again. From then on each asks of every link,
// beside the cycles for its words, those that others took later, no more than in the first sample, and those that
// others had taken before of any of its links beyond what they had of that with most. More than a few looks would only
// let charges feed on the trains that they have made longer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wsc::emulator::timing {

constexpr int kLooks = 1; // times that the first sample is timed again
// Samples of which all overlap with the one before, and looks at later ones: each takes two samples.
constexpr int kOverlapping = 4, kLaterLooks = 2;

// Of one step of a sample.
struct Charge {
  int64_t slots = kUnseen; // of its core, that others take; slot contention (SlotContention.cpp) is the least
  int64_t links = 0;       // cycles in which others have one of its links
  int64_t crossing = 0;    // in later samples, cycles of each link beside those for its words

  static constexpr int64_t kUnseen = -1;
};

// A train that has been timed: cycles [from, to), and what others had taken of them until then, in parts of a slot.
struct Train {
  int32_t process = 0, item = 0, ordinal = 0;
  int64_t from = 0, to = 0;
  int64_t ownSlots = 0, ownWords = 0;
  int64_t slots = 0, links = 0;
  int64_t mostOfLink = 0; // of `links`, what they had taken of one link, at most
  int32_t sharers = 1;    // channels of one of its links, at most
  int64_t othersMost = 0; // `links` in cycles, and those in which the others have its links later in the sample
};

class Hindsight {
public:
  explicit Hindsight(size_t processes) : charges(processes) {}

  // The charge of the step that is the `ordinal`-th of a sample.
  Charge of(int32_t process, int64_t ordinal) const {
    const std::vector<Charge> &own = charges[size_t(process)];
    return size_t(ordinal) < own.size() ? own[size_t(ordinal)] : Charge{};
  }

  // Whether the trains of the sample, counted from 1, are to be noted.
  static bool watches(int64_t sample) {
    return sample == 1 || (sample > kOverlapping && sample <= lastWatched() && (lastWatched() - sample) % 2 == 0);
  }
  // The last sample without all charges.
  static int64_t lastBefore() { return lastWatched() + 1; }

  Charge &step(const Train &train) {
    std::vector<Charge> &own = charges[size_t(train.process)];
    if (size_t(train.ordinal) >= own.size())
      own.resize(size_t(train.ordinal) + 1, Charge{0, 0, 0});
    return own[size_t(train.ordinal)];
  }

  bool watching = false; // trains are to be noted
  std::vector<Train> trains;
  std::vector<std::vector<Charge>> charges; // per process and step

private:
  static int64_t lastWatched() { return kOverlapping + 2 * kLaterLooks - 1; }
};

} // namespace wsc::emulator::timing
