// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine as data: every hardware number the compiler and the emulator use, with its source.
//
// A Target is loaded from JSON: one of the built-in descriptions (wse1, wse2, wse3), `mesh-RxC` (wse2's cores on an R×C
// mesh), or a user's file. Files may say `"base": "wse2"` and override fields. An executable embeds the complete JSON.
#pragma once

#include "absl/status/statusor.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace wsc::target {

// Most rows and columns of a mesh: keeps coordinates and core counts far from overflow, ten times any known machine.
constexpr int32_t kMaxMeshSide = 8192;

enum class Side : int8_t { North, South, East, West };

// A core that can run no program. Its router still passes words; where that is broken too, its links are listed.
struct DeadCore {
  int32_t row = 0, col = 0;
  bool operator==(const DeadCore &) const = default;
};
// The link of router (row, col) on one side, both directions; at the edge of the mesh the port to the outside.
struct DeadLink {
  int32_t row = 0, col = 0;
  Side side = Side::North;
  bool operator==(const DeadLink &) const = default;
};

struct Target {
  std::string name;

  // Mesh (the usable rectangle; routers outside it carry I/O only).
  int32_t rows = 0, cols = 0;
  double clockGHz = 0;

  // SRAM, bytes per core.
  int64_t sramBytes = 0;
  int32_t sramBanks = 0;       // interleaved by accesses: bank of byte b is (b / sramAccessBytes) mod sramBanks
  int32_t sramAccessBytes = 8; // of one access
  int32_t sramReadsPerCycle = 2, sramWritesPerCycle = 1; // accesses, in different banks
  int64_t runtimeReserveBytes = 0;                       // taken by runtime code
  int64_t stackBytes = 0;
  int64_t instructionBytes = 0; // code bytes per instruction
  int64_t descriptorBytes = 0;  // bytes per memory operand descriptor

  // Fabric.
  int32_t colours = 0;                  // routable colours per router
  std::vector<int32_t> reservedColours; // kept for the system
  int32_t switchPositions = 0;          // most positions per router and colour
  int32_t hopLatencyCycles = 0, rampLatencyCycles = 0;
  int32_t routerQueueWords = 0; // router queue per colour and input
  int32_t creditLatencyCycles = 0;
  std::vector<int32_t> inputQueueWords, outputQueueWords; // depth of each hardware queue

  // Defects of this one wafer; programs and routes keep clear of them.
  std::vector<DeadCore> deadCores;
  std::vector<DeadLink> deadLinks;

  // Core.
  int32_t descriptorsPerOperandKind = 0;
  int32_t backgroundOperations = 0; // threads beside the main one
  int32_t taskIds = 0;
  int32_t inputFilters = 0;      // most input queues with a filter (format::Filter)
  int32_t issuePriorities = 1;   // levels at which instructions contend for issue slots
  int32_t vectorSetupCycles = 0; // issue slots before the first element of a vector instruction
  int32_t loopCycles = 0;        // issue slots per iteration of a program loop
  int32_t taskStartCycles =
      0; // issue slots after an instruction with a queue operand: its end starts the task that goes on
  double elementsPerCycleF32 = 0, elementsPerCycleF16 = 0; // moves and elementwise
  double fmaPerCycleF32 = 0, fmaPerCycleF16 = 0;
  // Of the other types; 0: derived from those above, an assumption that README.md states. I8 to I64 stand for the
  // unsigned types of the same width, too, and I8 for bool.
  double elementsPerCycleBF16 = 0, elementsPerCycleF64 = 0;
  double elementsPerCycleI8 = 0, elementsPerCycleI16 = 0, elementsPerCycleI32 = 0, elementsPerCycleI64 = 0;
  double fmaPerCycleBF16 = 0, fmaPerCycleF64 = 0;
  double fmaPerCycleI8 = 0, fmaPerCycleI16 = 0, fmaPerCycleI32 = 0, fmaPerCycleI64 = 0;
  double fmaPerCycleF16ToF32 = 0;     // f16 or bf16 sources onto f32
  double routineCyclesPerElement = 0; // exp, log, tanh, erf, division, square root

  // What measurements of whole programs hold beside the program itself; the engines never add them.
  int32_t programStartCycles = 0; // from the host's start to the first instruction
  int32_t timeStampCycles = 0;    // of the program's own two readings of the clock, together

  // Off-wafer I/O.
  double ioTerabitsPerSecond = 0;

  // Changing the configuration (timing::configurationCycles).
  int32_t routerSettingBytes = 4;        // of one switch position of a router
  double configurationWordsPerCycle = 1; // 32-bit words of code that one core takes
  int32_t configurationRoundTrips = 1;   // of a word around rows and columns: all are quiet; all may start

  // The JSON this target was read from, complete (no "base"): what an executable embeds.
  std::string json;

  int64_t numCores() const { return int64_t(rows) * cols; }
  int32_t usableColours() const { return colours - int32_t(reservedColours.size()); }
  int64_t usableSramBytes() const { return sramBytes - runtimeReserveBytes - stackBytes; }
  double ioWordsPerCycle() const { return ioTerabitsPerSecond * 1e12 / 32 / (clockGHz * 1e9); }
  bool isReservedColour(int32_t colour) const;
  bool hasDefects() const { return !deadCores.empty() || !deadLinks.empty(); }
  bool operator==(const Target &) const = default;
};

// `nameOrPath`: "wse1", "wse2", "wse3", "mesh-RxC", the path of a JSON file, or a description itself, which begins
// with '{'. Errors name file, line, column and field.
// `defects`: empty, or the path of a JSON file with the fields dead_cores and dead_links only, which are added to the
// target's.
absl::StatusOr<Target> loadTarget(const std::string &nameOrPath, const std::string &defects = "");
// Parses a description; `where` names it in messages.
absl::StatusOr<Target> parseTarget(const std::string &json, const std::string &where);
// The same for a description that stands alone, as an executable embeds it: naming a base is an error.
absl::StatusOr<Target> parseCompleteTarget(const std::string &json, const std::string &where);
// The value judged: positive sizes, queues deep enough to stream at full rate (queue ≥ hop + credit latency), ….
absl::Status checkTarget(const Target &target, const std::string &where);

// The canonical complete JSON of a target as its fields now stand; equals `target.json` unless a program changed fields
// after loading.
std::string targetJson(const Target &target);

} // namespace wsc::target
