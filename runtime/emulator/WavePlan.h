// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A configuration laid out for the wave schedule (WaveRunner.h): its cores and threads numbered. Everything here is
// fixed, as are the streams between cores (WaveStreams.h); what changes in a run is in WaveState.h.
#pragma once

#include "runtime/emulator/Network.h"
#include "runtime/emulator/RoleProgram.h"
#include "runtime/emulator/ScratchMoves.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <vector>

namespace wsc::emulator {

constexpr int kHeldPlaces = 4; // of copies of words that cores hold at a time

// An operation with what has to be there before it can run.
struct WaveOp {
  enum class Kind : uint8_t {
    Run,       // as decoded
    Copy,      // a Move from a queue or FIFO to a queue or FIFO, or to nothing: bytes only
    LoopBegin, // as DecodedOp
    LoopEnd,
  };
  Kind kind = Kind::Run;
  bool fixed = false; // the same number of elements on all cores
  bool plain = false; // fixed, some elements, array kernels, and of FIFOs none: cores may run it side by side
  int8_t inputs = 0;  // of the queues and FIFOs it takes from, `input` holds so many
  struct Input {
    format::OperandKind kind = format::OperandKind::None; // Queue or Fifo
    int16_t slot = -1;                                    // queue, or place among the role's FIFOs
    int32_t width = 0, share = 1;                         // bytes of an element; 2: both sources take from it in turns
    int32_t words = 0;                                    // of a queue, if fixed
  };
  Input input[2];
  // Words that it and those behind it take before one of them sends, where others than its own are among them: a core
  // that waits for some of them anyway may as well wait here, and then does all at once. Outside of loops only.
  struct Need {
    int16_t queue;
    int32_t words;
  };
  std::vector<Need> needs;
  std::vector<const OperandPlace *> fetches; // where needs are: sources in constants and residents that they all read
  int16_t output = -1;                       // queue it sends on
  int16_t push = -1;                         // place among the role's FIFOs of the one it fills
  int32_t width = 0;                         // bytes of an element sent or pushed
  int64_t elements = 0;                      // if fixed
  const DecodedOp *op = nullptr;
  // What nests and rows do along with their own (WaveFusion.h), unless the run is traced.
  bool leftOut = false;            // takes nothing, and nobody reads what it leaves, or it is the zeros of a nest
  bool isDropped = false;          // takes words of which nobody reads what it makes
  int8_t heldIn = -1;              // a copy of words that only sources of nests and rows read: its place among those
                                   // that are held
  uint8_t letsGo = 0;              // no operation behind reads from these places: bit p
  bool addsNext = false;           // Nest: the next operation (a sum, if its words are there, or sends the results)
  bool addsIfHeld = false;         // only while its sources that are copies of words are held: the sum goes there
  int32_t zeros = -1;              // Nest: the operation that was left out
  int32_t narrow = -1;             // a copy of words of which each core reads a part, or that may stay where they are:
                                   // its number among the narrow ones
  int32_t wordsOf[2] = {-1, -1};   // the copy from whose words a source is read; it begins so many bytes, and what
  int32_t wordsOffset[2] = {0, 0}; // its place on a core adds, behind the first word
};

struct WaveRole {
  const format::Role *role = nullptr;
  const RoleProgram *program = nullptr;
  std::vector<std::vector<WaveOp>> threads;
  std::vector<int16_t> fifos;        // buffers that are FIFOs
  std::vector<int16_t> fifoOfBuffer; // place among them, -1
  // A core's own memory: bytes and, per buffer, where it lies there; FIFOs have an area of their own.
  std::vector<int64_t> bufferOffset;
  int64_t scratchBytes = 0, fifoBytes = 0;
  ScratchPlan kept;      // what cores keep of their scratch while they wait; all of it if nothing moves
  int64_t keptBytes = 0; // of the arena that a core takes at most for that
  // Where the role's first core, thread, FIFO, buffer, port and narrow copy are among all.
  int64_t core = 0, thread = 0, fifo = 0, buffer = 0, port = 0, scratch = 0, fifoArea = 0, narrow = 0;
  // The number of a narrow copy of core number `ordinal` among those of all cores.
  int64_t narrowOf(int64_t ordinal, int32_t copy) const {
    return narrow + ordinal * int64_t(kept.narrow.size()) + copy;
  }
};

struct WavePlan {
  std::vector<WaveRole> roles;
  int64_t cores = 0, threads = 0, fifos = 0, buffers = 0, narrow = 0;
  int64_t scratchBytes = 0, keptBytes = 0, fifoBytes = 0;
  int32_t roleOf(int64_t core) const;
};

// A role as it is run in waves, without the numbers of its cores; `program` must outlive it.
WaveRole planRole(const RoleProgram &program);

// `programs` are those of the configuration's roles and must outlive the plan. Errors: more than 2^31 cores.
absl::StatusOr<WavePlan> planWaves(const format::Configuration &configuration, const Networks &networks,
                                   const std::vector<RoleProgram> &programs);

} // namespace wsc::emulator
