// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What others take from a train that is timed before them.
//
// Threads of a core, and channels on a link, are timed one train after another: who is timed first does not know what
// the others will take meanwhile. So the first sample is timed more than once. When all of it is known, the slots of
// the core and the cycles of the links that others have taken during each train, and had not when it was timed, are
// what it had been short of; with these charged it is timed again, and so on: what is charged in the end is what others
// take of a train that is charged with it. The last charges hold for all samples. Once more is enough: charges that are
// too high come down to what others take, those that are too low are found from how much of each cycle is left.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wsc::emulator::timing {

constexpr int kLooks = 1; // times that the first sample is timed again

// Of one step of a sample.
struct Charge {
  int64_t slots = kUnseen; // of its core, that others take; company (Company.cpp) is the least
  int64_t links = 0;       // cycles in which others have one of its links

  static constexpr int64_t kUnseen = -1;
};

// A train that has been timed: cycles [from, to), and what others had taken of them until then, in parts of a slot.
struct Train {
  int32_t process = 0, item = 0, ordinal = 0;
  int64_t from = 0, to = 0;
  int64_t ownSlots = 0, ownWords = 0;
  int64_t slots = 0, links = 0;
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

  bool watching = true; // trains are to be noted
  std::vector<Train> trains;
  std::vector<std::vector<Charge>> charges; // per process and step
};

} // namespace wsc::emulator::timing
