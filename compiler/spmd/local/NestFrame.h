// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the instructions of a local nest have in common while they are emitted: the iterators that are left once
// neighbours are merged, the slice of them that is being computed, places of values in memory, and temporaries.
#pragma once

#include "compiler/spmd/local/LocalNest.h"

#include <vector>

namespace wsc::spmd {

/// Where the elements of a value lie: that of the slice's point i is at baseBytes + Σ i_k·stride[k] of `buffer`.
struct Place {
  int16_t buffer = -1;
  int64_t baseBytes = 0;
  std::vector<int64_t> stride; // bytes, per iterator of the space
  /// Slices open when the place was made: it belongs to their current points and does not move with them.
  size_t slices = 0;
  bool operator==(const Place &) const = default;
};

/// The iterators of a nest after merging, parallel ones first, and where its operands and result lie. None has one
/// point.
struct Space {
  std::vector<int64_t> extents;
  size_t numParallel = 0;
  bool empty = false, nothingReduced = false; // no parallel, no reduced points
  std::vector<Place> operands;
  Place result;
  std::vector<size_t> packing; // order of the iterators in temporaries, outermost first
};

/// Parallel iterators ordered by the result's stride; then neighbours join where all operands and the result walk
/// evenly through both. `reduced` walks with the result if it is given, and is put in terms of the space's iterators.
Space makeSpace(const LocalNest &local, LocalOperand *reduced = nullptr);

/// The largest extents of a slice: of iterator `iterator` so many points at a time, outermost loop first.
struct SliceStep {
  size_t iterator = 0;
  int64_t points = 1;
  bool operator==(const SliceStep &) const = default;
};
using Slicing = std::vector<SliceStep>;

/// A value that takes a temporary: bytes of an element and the iterators it is packed over, a bit each.
struct Temporary {
  int64_t elementBytes = 0;
  uint64_t support = 0;
};

/// Instructions under construction and the slice that they are for.
class Frame {
public:
  Frame(const Code &code, std::string name, const Space &space, int64_t temporaryBytes)
      : space(space), block(space.extents), code(code), name(std::move(name)), temporaryBytes(temporaryBytes) {}

  const Space &space;
  std::vector<int64_t> block; // extents of the current slice
  format::Thread thread;
  std::vector<format::Buffer> buffers; // numbered on from those of the code
  /// Set to find out what temporaries are needed: they are noted here and have no limit, and instructions are left out.
  std::vector<Temporary> *noted = nullptr;

  /// Calls body() for all slices of the current one: in loops, the rest of an iterator behind its whole steps by code
  /// of its own.
  template <typename Body> absl::Status forSlices(const Slicing &slicing, const Body &body, size_t level = 0);

  /// A memory operand at the first point of the current slice, with the steps of the open loops. Its strides are those
  /// of walk dimensions (VectorWalk.h).
  format::Operand operand(const Place &place) const;
  int openLoops() const { return loops; }
  size_t openSlices() const { return slices.size(); }
  int64_t bytesOf(int16_t buffer) const {
    auto number = size_t(buffer), known = code.buffers.size();
    return number < known ? code.buffers[number].bytes : buffers[number - known].bytes;
  }

  /// Room for the current slice's points over the iterators in `support` (a bit each), packed in the space's order.
  /// Error: ResourceExhausted if that exceeds the limit for temporaries.
  absl::StatusOr<Place> acquire(uint64_t support, format::ElementType type);
  void release(const Place &place);
  /// The strides that acquire gives.
  std::vector<int64_t> packed(uint64_t support, format::ElementType type) const;

private:
  struct Slice {
    size_t iterator = 0;
    int64_t points = 0, first = 0; // of a step; of the rest: where it begins
    bool loop = true;
  };
  struct Room {
    int16_t buffer = -1;
    bool taken = false;
  };

  const Code &code;
  std::string name;
  int64_t temporaryBytes;
  std::vector<Slice> slices;
  int loops = 0;
  std::vector<Room> rooms;

  absl::Status openLoop(int64_t trips);
  void closeLoop();
};

template <typename Body> absl::Status Frame::forSlices(const Slicing &slicing, const Body &body, size_t level) {
  if (level == slicing.size())
    return body();
  auto [iterator, points] = slicing[level];
  int64_t extent = block[iterator], trips = extent / points, rest = extent % points;
  if (extent <= points)
    return forSlices(slicing, body, level + 1);
  const bool loop = trips > 1;
  absl::Status status = loop ? openLoop(trips) : absl::OkStatus();
  if (!status.ok())
    return status;
  slices.push_back({iterator, points, 0, loop});
  block[iterator] = points;
  status = forSlices(slicing, body, level + 1);
  slices.pop_back();
  if (loop)
    closeLoop();
  if (status.ok() && rest > 0) {
    slices.push_back({iterator, 0, trips * points, false});
    block[iterator] = rest;
    status = forSlices(slicing, body, level + 1);
    slices.pop_back();
  }
  block[iterator] = extent;
  return status;
}

} // namespace wsc::spmd
