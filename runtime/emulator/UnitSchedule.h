// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The schedule of a configuration for values: units (runs of neighbouring cores of one role in one row) in tasks, tasks
// in levels, and where every stream's words lie.
//
// Tasks of one level are independent. A task is a chain of units down a column (a chain reduce) or a single unit. Words
// of streams inside one task lie in the worker's own arena, words between tasks in the common arena; both places are
// fixed when the schedule is made and reused as soon as the last reader has run, so that memory follows the widest
// moment of the network and not its sum.
#pragma once

#include "runtime/emulator/Network.h"
#include "runtime/emulator/RoleProgram.h"

#include <cstdint>
#include <vector>

namespace wsc::emulator {

// A word address: kind in the top two bits.
struct WordPlace {
  enum Kind : uint64_t { Common = 0, Local = 1, Pieced = 2, None = 3 };
  uint64_t bits = uint64_t(None) << 62;
  WordPlace() = default;
  WordPlace(Kind kind, uint64_t value) : bits(uint64_t(kind) << 62 | value) {}
  Kind kind() const { return Kind(bits >> 62); }
  uint64_t value() const { return bits & ~(uint64_t(3) << 62); } // words; Pieced: index into UnitSchedule::pieces
};

struct ScheduledUnit {
  int32_t role = 0, first = 0, count = 0; // ordinals in the role's lattice
};

struct ScheduledTask {
  uint32_t unitBegin = 0, unitEnd = 0;
  double cost = 0; // estimated nanoseconds
};

// What a sink sees, when its words do not lie together.
struct Piece {
  WordPlace place;
  int64_t words;
};

// Words of one lane of an IoBinding.
struct IoLane {
  int32_t binding = 0;
  format::LatticeIndex index{};
  WordPlace place;
};

struct UnitSchedule {
  bool possible = true; // false: cyclic even core by core; run the worklist
  std::vector<ScheduledUnit> units;
  std::vector<ScheduledTask> tasks;
  std::vector<uint32_t> levelBegin; // into tasks; one more than there are levels
  std::vector<WordPlace> portPlace; // as Networks::streamTable
  std::vector<std::vector<Piece>> pieces;
  std::vector<IoLane> inputs, outputs;
  int64_t commonWords = 0, localWords = 0;
};

// `cost(role)`: estimated nanoseconds per core.
UnitSchedule scheduleUnits(const format::Configuration &configuration, const Networks &networks,
                           const std::vector<double> &coreCost);

// Columns of a role that one unit covers (blocks of equal size), 1 when its cores run one by one.
int32_t unitColumns(const format::Role &role);

} // namespace wsc::emulator
