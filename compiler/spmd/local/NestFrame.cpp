// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/local/NestFrame.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cstdlib>

namespace wsc::spmd {

using namespace format;

namespace {

// Temporaries have the parallel iterators in the result's order. Reduced ones are outside of them where each of their
// points is an instruction (Fma), so that it walks neighbours, and else where the operand that changes along most
// iterators has them.
std::vector<size_t> packingOf(const Space &space, const Nest &nest) {
  bool outside = nest.reduction && nest.reduction->opcode == Opcode::Fma;
  if (!outside) {
    size_t most = 0;
    for (const Place &operand : space.operands) {
      size_t support = 0, innermost = 0;
      int64_t least = INT64_MAX;
      for (size_t k = 0; k < space.extents.size(); ++k)
        if (const int64_t stride = std::abs(operand.stride[k]); stride != 0) {
          ++support;
          if (stride <= least) {
            least = stride;
            innermost = k;
          }
        }
      if (support > most) {
        most = support;
        outside = innermost < space.numParallel;
      }
    }
  }
  std::vector<size_t> order, reduced;
  for (size_t k = 0; k < space.extents.size(); ++k)
    (k < space.numParallel ? order : reduced).push_back(k);
  order.insert(outside ? order.begin() : order.end(), reduced.begin(), reduced.end());
  return order;
}

// Strides of one operand or result per iterator of the nest, and where they go.
struct Walker {
  std::vector<int64_t> stride;
  std::vector<int64_t> *merged;
};

} // namespace

Space makeSpace(const LocalNest &local, LocalOperand *reduced) {
  const size_t rank = local.extents.size();
  Space space;
  std::vector<Walker> walkers;
  space.operands.resize(local.operands.size());
  auto add = [&](const LocalOperand &from, std::vector<int64_t> *merged) {
    std::vector<int64_t> stride = from.strideBytes;
    stride.resize(rank, 0);
    walkers.push_back({std::move(stride), merged});
  };
  auto place = [&](const LocalOperand &from, Place &to) {
    to.buffer = from.buffer;
    to.baseBytes = from.baseBytes;
    add(from, &to.stride);
  };
  place(local.result, space.result);
  for (size_t i = 0; i < local.operands.size(); ++i)
    place(local.operands[i], space.operands[i]);
  std::vector<int64_t> reducedStride;
  if (reduced)
    add(*reduced, &reducedStride);

  std::vector<size_t> order;
  const auto numParallel = size_t(local.nest->numParallel);
  for (size_t k = 0; k < rank; ++k) {
    (k < numParallel ? space.empty : space.nothingReduced) |= local.extents[k] == 0;
    if (local.extents[k] > 1)
      order.push_back(k);
  }
  const auto firstReduced = std::partition_point(order.begin(), order.end(), [&](size_t k) { return k < numParallel; });
  std::stable_sort(order.begin(), firstReduced,
                   [&](size_t x, size_t y) { return std::abs(walkers[0].stride[x]) > std::abs(walkers[0].stride[y]); });
  for (auto at = order.begin(); at != order.end(); ++at) {
    const bool first = at == order.begin() || at == firstReduced;
    bool joins = !first;
    for (const Walker &walker : walkers)
      joins = joins && walker.stride[at[-1]] == walker.stride[*at] * local.extents[*at];
    if (!joins) {
      space.extents.push_back(1);
      for (Walker &walker : walkers)
        walker.merged->push_back(0);
      space.numParallel += at < firstReduced;
    }
    space.extents.back() *= local.extents[*at];
    for (Walker &walker : walkers)
      walker.merged->back() = walker.stride[*at];
  }
  if (reduced)
    reduced->strideBytes = reducedStride;
  space.packing = packingOf(space, *local.nest);
  return space;
}

absl::Status Frame::openLoop(int64_t trips) {
  if (loops == kMaxDims)
    return absl::ResourceExhaustedError(absl::StrCat("slices need more than ", kMaxDims, " loops"));
  Instruction loop;
  loop.opcode = Opcode::Loop;
  loop.extent[0] = Affine(trips);
  thread.push_back(loop);
  ++loops;
  return absl::OkStatus();
}

void Frame::closeLoop() {
  Instruction end;
  end.opcode = Opcode::EndLoop;
  thread.push_back(end);
  --loops;
}

Operand Frame::operand(const Place &place) const {
  int64_t base = place.baseBytes;
  Operand result = memory(place.buffer, 0);
  size_t loop = 0;
  for (size_t s = 0; s < slices.size(); ++s) {
    const Slice &slice = slices[s];
    const int64_t stride = s < place.slices ? 0 : place.stride[slice.iterator];
    base += slice.first * stride;
    if (slice.loop)
      result.loopStep[loop++] = int32_t(slice.points * stride);
  }
  result.base = Affine(base);
  return result;
}

std::vector<int64_t> Frame::packed(uint64_t support, ElementType type) const {
  std::vector<int64_t> stride(block.size(), 0);
  int64_t next = elementBytes(type);
  for (auto k = space.packing.rbegin(); k != space.packing.rend(); ++k)
    if (support >> *k & 1) {
      stride[*k] = next;
      next *= block[*k];
    }
  return stride;
}

absl::StatusOr<Place> Frame::acquire(uint64_t support, ElementType type) {
  int64_t bytes = elementBytes(type);
  for (size_t k = 0; k < block.size(); ++k)
    bytes *= support >> k & 1 ? block[k] : 1;
  if (noted)
    noted->push_back({elementBytes(type), support});
  else if (bytes > temporaryBytes)
    return absl::ResourceExhaustedError(
        absl::StrCat("a temporary needs ", bytes, " bytes, limit is ", temporaryBytes, " for each"));
  // The smallest free room that holds it, else the largest grows, else one more.
  Room *best = nullptr;
  auto size = [&](const Room &room) { return bytesOf(room.buffer); };
  for (Room &room : rooms) {
    if (room.taken)
      continue;
    const bool fits = size(room) >= bytes, bestFits = best && size(*best) >= bytes;
    if (!best || (fits && (!bestFits || size(room) < size(*best))) || (!fits && !bestFits && size(room) > size(*best)))
      best = &room;
  }
  if (!best) {
    Buffer buffer;
    buffer.name = absl::StrCat(name, ".t", rooms.size());
    buffer.kind = BufferKind::Scratch;
    buffer.type = type;
    buffers.push_back(std::move(buffer));
    best = &rooms.emplace_back(Room{int16_t(code.buffers.size() + buffers.size() - 1), false});
  }
  best->taken = true;
  Buffer &buffer = buffers[size_t(best->buffer) - code.buffers.size()];
  buffer.bytes = std::max(buffer.bytes, bytes);
  if (elementBytes(buffer.type) < elementBytes(type))
    buffer.type = type;
  return Place{best->buffer, 0, packed(support, type), slices.size()};
}

void Frame::release(const Place &place) {
  for (Room &room : rooms)
    if (room.buffer == place.buffer)
      room.taken = false;
}

} // namespace wsc::spmd
