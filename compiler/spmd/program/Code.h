// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program of a configuration under construction, one for all cores of its rectangle alike (SPMD): buffers and the
// instructions of the main thread. What differs from core to core is affine in the core's place: in every
// format::Affine, perDim[2] is the step per row and perDim[3] the step per column of the rectangle; perDim[0] and
// perDim[1] are the steps per sub-index of the row and of the column, as the instruction's own guard defines it. Roles
// come later (Roles.h).
//
// Scratch buffers are virtual: each may be asked for freely, lives from the first instruction that names it to the
// last, and gets its bytes in packScratch, which lets buffers with disjoint lives share SRAM.
#pragma once

#include "compiler/spmd/sharding/Sharding.h"
#include "runtime/format/Executable.h"

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace wsc::spmd {

// Of format::Affine::perDim; kRowDim and kColDim of Lattice::dims too, where one dimension per axis is enough.
constexpr int kRowSubDim = 0, kColSubDim = 1, kRowDim = 2, kColDim = 3;

/// A modulus beyond every coordinate: the sub-index is coordinate / unit.
constexpr int32_t kWholeAxis = 1 << 20;

/// perGroup·(x / modulus) + perSub·(x % modulus) of a coordinate x.
struct GroupNumber {
  int64_t modulus = 1, perGroup = 0, perSub = 0;
  bool isZero() const { return perGroup == 0 && perSub == 0; }
  int64_t at(int64_t x) const { return perGroup * (x / modulus) + perSub * (x % modulus); }
  bool operator==(const GroupNumber &) const = default;
};

/// The cores that execute an instruction: rows and columns of the rectangle in [begin, end), and of one parity only.
///
/// With a modulus m > 1, groups of m adjacent rows do the same: row r has the sub-index s = (r mod m) / rowUnit and the
/// place r mod rowUnit in its unit (rowUnit divides m), and both lie in the ranges given. Without, sub-ranges and units
/// say nothing. Columns likewise.
struct Guard {
  int32_t rowBegin = 0, rowEnd = INT32_MAX, rowParity = -1; // parity of s (without a modulus: of r): 0, 1, -1 for both
  int32_t colBegin = 0, colEnd = INT32_MAX, colParity = -1;
  int32_t rowModulus = 1, rowSubBegin = 0, rowSubEnd = INT32_MAX;
  int32_t colModulus = 1, colSubBegin = 0, colSubEnd = INT32_MAX;
  int32_t rowUnit = 1, rowPlaceBegin = 0, rowPlaceEnd = INT32_MAX;
  int32_t colUnit = 1, colPlaceBegin = 0, colPlaceEnd = INT32_MAX;
  bool operator==(const Guard &) const = default;
};

/// What a guard says of one axis.
struct AxisGuard {
  int32_t begin = 0, end = INT32_MAX, parity = -1;
  int32_t modulus = 1, subBegin = 0, subEnd = INT32_MAX;
  int32_t unit = 1, placeBegin = 0, placeEnd = INT32_MAX;
  auto operator<=>(const AxisGuard &) const = default;
  /// The sub-index of a coordinate: 0 without a modulus.
  int32_t sub(int32_t coordinate) const { return modulus > 1 ? coordinate % modulus / unit : 0; }
  bool holds(int32_t coordinate) const;
};
/// Axis::Row: of the columns, the coordinates along a row; Axis::Col: of the rows.
AxisGuard along(const Guard &guard, Axis axis);

/// One coordinate in [0, length) of each sort: coordinates of a sort are in the same ones of `parts`.
std::vector<int32_t> oneOfEachSort(const std::set<AxisGuard> &parts, int32_t length);

/// A core executes what the guard guards.
bool runs(const Guard &guard, int32_t row, int32_t col);

/// How words of one colour travel in a configuration: a route family. Collectives that name equal families share a
/// colour; successive ones are one longer stream. compiler/spmd/collectives/Family.h makes them.
struct Route {
  enum class Kind : uint8_t {
    Input,    // from the west port of a row to all its cores
    Output,   // from all cores of a row, in turns from the east, to its west port
    Segments, // from all cores of a segment to those behind them, the nearest first, each of which takes all that comes
    Shift,    // from all cores of a segment in turns, the nearest first, to those of the next, each of which gets one
              // block
    Chain,    // from each core, or first core of a run, to the one before, sent by those of one parity
    BusIn,    // units of each segment give in turns to the segment's first core
    BusOut,   // from the first core of each segment to all cores behind it
  };
  Kind kind = Kind::Input;
  Axis axis = Axis::Row;
  bool backward = false; // towards lower coordinates
  int32_t parity = 0;    // Chain: of the senders' place in their group; Segments, Shift: of the senders' segment
  int32_t unit = 1;      // Segments: adjacent cores that give as one; Chain: cores of a run, whose first one takes part
  int32_t segment = 0;  // Segments, Shift, buses: units of a segment (buses 0: the whole line); Chain: cores of a group
                        // (0: any even number)
  int32_t units = 0;    // Segments, Shift: units of the line; Chain of runs: groups of the line
  bool overlap = false; // Segments: the next segment takes too
  int32_t words = 0;    // Shift: of a block
  auto operator<=>(const Route &) const = default;
};

struct Code {
  std::vector<format::Buffer> buffers;
  std::vector<format::Instruction> main;
  std::vector<Guard> guards; // of main's first instructions; those beyond run on all cores

  std::set<int16_t> bounded; // buffers read by index where no number is beyond their end: they may share SRAM,
  std::set<int16_t> clamped; // unless another reader relies on the end of the buffer

  std::vector<Route> routes; // the palette of route families, in the order of their first use

  /// Number of a route family; it is entered in the palette if it is not there yet.
  int16_t family(const Route &route);
  /// The same of one that is in use, else -1.
  int16_t findFamily(const Route &route) const;

  void append(format::Instruction instruction, const Guard &guard);

  /// Index of a scratch buffer of `elements` elements of `type`; elements past its first write are undefined.
  int16_t scratch(std::string name, format::ElementType type, int64_t elements);
};

/// Memory operand: byte base + Σ i_d·strides[d] of `buffer`; missing outer strides are 0 (strides are of the innermost
/// dimensions).
format::Operand memory(int16_t buffer, int64_t baseBytes, const std::vector<int64_t> &strideBytes = {});
format::Operand immediate(double value);

/// Instruction over extents (innermost last, at most four; missing outer ones are 1).
format::Instruction instruction(format::Opcode opcode, format::ElementType type, const std::vector<int64_t> &extents,
                                format::Operand dst, format::Operand a, format::Operand b = {});

} // namespace wsc::spmd
