// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves: bringing the elements that every core wants from where they lie to where they are wanted (reshard, and every
// remap with it).
//
// A move works for any two shardings. Where the wanted elements are strided pieces of the sources and dimensions fall
// into factors, it goes by factors (FactoredMove.h); BestMove.h chooses. Else it is a chain of stages, element by
// element. A *line stage* is an all-gather along one axis: every core of the line (row or column) sees all the line's
// buffers, and selects what it wants. A *local stage* only selects.
//
// Selections are strided where all cores' are the same up to a base that is affine in (row, column); else they go
// through an index table per core.
//
// Cost of a line stage: about 2 · words of the line + 10 · cores cycles; docs/Phases.md, Moves.
#pragma once

#include "compiler/spmd/collectives/Collectives.h"
#include "compiler/spmd/network/Network.h"
#include "compiler/spmd/sharding/Sharding.h"
#include "runtime/format/Isa.h"

#include "absl/status/statusor.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace wsc::spmd {

/// A tensor at rest: its elements carry the numbers firstId + row-major number in the move's numbering.
struct MoveSource {
  Sharding sharding;
  int64_t firstId = 0;
};

/// Elements of the wanted tensor as elements of a source: for all j_k in [0, extent_k), element
/// resultOffset + Σ j_k·resultStride_k is element sourceOffset + Σ j_k·sourceStride_k of the source (row-major
/// numbers).
struct StridedPiece {
  int32_t source = 0; // number among the problem's
  int64_t sourceOffset = 0, resultOffset = 0;
  std::vector<Piece::Digit> digits; // outermost first
};

struct MoveProblem {
  Rectangle rectangle; // of the network: lines run over all of it
  format::ElementType type = format::ElementType::F32;
  std::vector<MoveSource> sources;
  int64_t ids = 0;   // elements of all sources together
  int64_t width = 0; // elements that each core wants
  /// Fills `ids` (`width` of them) for the core at (row, col): -1 is padding. Left empty: the core wants nothing.
  std::function<void(int32_t row, int32_t col, std::vector<int64_t> &ids)> wanted;
  /// The same in strided form, if it has one: the wanted tensor in a sharding, every element of it in one piece or, if
  /// in none, the fill. Then `wanted` says the same, and moves of the pieces are planned by factors.
  std::optional<Sharding> target;
  std::vector<StridedPiece> pieces;
  /// Whether padding must hold `fill`, or may be anything.
  bool fillMatters = false;
  double fill = 0;
  int64_t roomBytes = INT64_MAX;  // of a line's buffer: plans that keep to it come first
  int64_t blockBytes = INT64_MAX; // of what lines bring to a core: one hop exceeds it where no chain keeps to it
  bool thorough = true;           // several chains of hops are planned for moves that take long
  bool packs = false;             // cores pack what somebody wants before anything travels
  bool picks = true;              // lines may pick (LinePick.h), which takes tables in SRAM
  bool gathers = true;            // lines may gather by streams (LinePlan.h), which takes two route families each
  bool shifts = true;             // lines may shift (SegmentShift.h), which takes a filter for each input queue

  absl::Status check() const;
};

/// What a core takes from the positions of its stage's input, in elements.
struct Selection {
  struct Digit {
    int64_t count = 1, stride = 1;
    bool operator==(const Digit &) const = default;
  };
  int64_t width = 0;
  /// Strided: position base + baseRow·row + baseCol·col + Σ stride_d·i_d, coordinates of the network's rectangle.
  bool strided = true;
  int64_t base = 0, baseRow = 0, baseCol = 0;
  std::vector<Digit> digits; // outermost first, at most 4
  /// Indexed: position outer·outerStride + index[core][inner]; `indices` holds one row of `inner` numbers for each core
  /// of the rectangle, row by row; masks likewise: 0 where the element is padding to be filled. No masks: nothing to
  /// fill, or the input's element `positions` holds the fill.
  int64_t outer = 1, outerStride = 0, inner = 0;
  std::vector<int32_t> indices;
  std::vector<uint8_t> masks;
  bool fillElement = false; // element `positions` of the stage's input must hold the fill
};

struct MoveStage {
  std::optional<Axis> axis;           // none: local
  std::vector<Rectangle> holders;     // of each input: the cores that have its buffer
  std::vector<LineGather> gathers;    // of an axis: one for each input
  std::vector<int64_t> firstPosition; // of each input's elements among the stage's positions
  int64_t positions = 0;              // elements that the selection may name
  Rectangle active;                   // the cores that select something that matters, and those between them
  bool clears = false;                // some of them have not all inputs: positions are set to zero first
  Selection selection;
};

struct MovePlan {
  bool clears = false; // some cores want what does not matter only: the result is set to the fill first
  /// None: every core's wanted elements are its buffer of the one source as it lies (or the beginning of it).
  std::vector<MoveStage> stages;
  int64_t estimatedCycles = 0;
  int64_t lineBytes = 0; // of the largest buffer of a stage's positions
};

/// Numbers that moves element by element may look at: cores of the rectangle times elements that each wants.
constexpr int64_t kMostByElement = int64_t(1) << 22;

/// Errors: an element that is wanted lies nowhere (InvalidArgument, with its number); more than kMostByElement
/// numbers (ResourceExhausted).
absl::StatusOr<MovePlan> planMove(const MoveProblem &problem);

/// A move of the wanted elements [begin, begin + width) of every core.
struct MovePart {
  int64_t begin = 0, width = 0;
  MovePlan plan;
};

/// The problem of a part.
MoveProblem partOf(const MoveProblem &problem, int64_t begin, int64_t width);

/// One part where its lines keep to the problem's room; else as many as that takes, each packed first. The last resort
/// is the division with the shortest lines.
absl::StatusOr<std::vector<MovePart>> planMoveInParts(const MoveProblem &problem);

/// The wanted elements of a tensor in another sharding.
std::function<void(int32_t, int32_t, std::vector<int64_t> &)> wantedBy(const Sharding &sharding);

} // namespace wsc::spmd
