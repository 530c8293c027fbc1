// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Segments of equal surroundings (their units, those of the segments before and behind) have equal code. Within one,
// what a core at position p takes is computed for every p; runs of positions on which all numbers are affine in p
// become one group of instructions each.
#include "compiler/spmd/collectives/SegmentGather.h"

#include "compiler/spmd/collectives/Words.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace wsc::spmd {

using namespace format;

namespace {

/// Segments [begin, end) with the same number of units, and of units of the segments before and behind them (0: none,
/// or none that matters).
struct Range {
  int32_t begin = 0, end = 0;
  int32_t own = 0, before = 0, behind = 0;
};

/// What arrives at a core in one stream: blocks passed over, taken, passed over, in the order of arrival.
struct Arrival {
  int64_t first = 0, count = 0, last = 0;
  int64_t place = 0; // of the taken block that arrives first, bytes
  std::array<int64_t, 4> numbers() const { return {first, count, last, place}; }
  /// 0: nothing arrives; 1: all is passed over; 2: some is taken. Cores of one sort may have instructions in common.
  int sort() const { return count > 0 ? 2 : first + last > 0 ? 1 : 0; }
};

class Writer {
public:
  /// `meanwhile` is called once, by the first of several writers that has cores give.
  Writer(Code &code, Axis axis, int32_t length, const SegmentGather &gather, Place into,
         std::function<void()> &meanwhile)
      : code(code), axis(axis), length(length), gather(gather), into(into), meanwhile(meanwhile),
        lines(narrowed({}, other(axis), gather.lineBegin, gather.lineEnd)),
        segments((gather.units + gather.segment - 1) / gather.segment), parities(gather.overlap && segments > 1) {
    for (int32_t s = 0; s < segments; ++s) {
      const Range next{s, s + 1, unitsOf(s), parities ? unitsOf(s - 1) : 0, parities ? unitsOf(s + 1) : 0};
      if (!ranges.empty() && ranges.back().own == next.own && ranges.back().before == next.before &&
          ranges.back().behind == next.behind)
        ranges.back().end = s + 1;
      else
        ranges.push_back(next);
    }
  }

  /// The streams of segments of a parity.
  void write(int32_t parity) {
    if (parity > 0 && !parities)
      return;
    for (bool backward : {false, true}) {
      const SegmentGather::Direction &direction = backward ? gather.backward : gather.forward;
      if (direction.words == 0)
        continue;
      for (const Range &range : ranges)
        give(direction, backward, parity, range);
      if (const auto work = std::exchange(meanwhile, nullptr))
        work();
      for (const Range &range : ranges)
        takeOwn(direction, backward, parity, range);
      takeFromNeighbours(direction, backward, 1 - parity);
    }
  }

  void copyOwnBlocks() {
    const SegmentGather::Direction &direction = gather.forward;
    for (const Range &range : ranges)
      if (const auto guard = cores(range, 0, 0, range.own)) {
        Operand to = memory(into.buffer, 0, {4});
        to.base = atPosition(into.baseBytes, direction.pitchBytes, 0);
        code.append(moveWords(std::move(to), direction.source, Affine(direction.words)), *guard);
      }
  }

private:
  int32_t unitsOf(int32_t segment) const {
    return segment < 0 ? 0 : std::clamp(gather.units - segment * gather.segment, 0, gather.segment);
  }

  Route route(bool backward, int32_t parity) const {
    return {.kind = Route::Kind::Segments,
            .axis = axis,
            .backward = backward,
            .parity = parity,
            .unit = gather.unit,
            .segment = gather.segment,
            .units = gather.units,
            .overlap = parities};
  }

  /// Cores of the units at positions [begin, end) of the range's segments of a parity, at places [placeBegin, placeEnd)
  /// of their units.
  std::optional<Guard> cores(const Range &range, int32_t parity, int32_t begin, int32_t end, int32_t placeBegin = 0,
                             int32_t placeEnd = INT32_MAX) const {
    const int32_t unit = gather.unit, size = unit * gather.segment;
    if (begin >= end || placeBegin >= std::min(placeEnd, unit))
      return std::nullopt;
    const int32_t s = range.begin + (parities && range.begin % 2 != parity); // first of the parity
    if (s >= range.end)
      return std::nullopt;
    const int32_t groups = parities ? 2 : 1;
    AxisGuard part;
    if (s + groups >= range.end && begin + 1 == end) { // one unit
      part.begin = s * size + begin * unit + placeBegin;
      part.end = s * size + begin * unit + std::min(placeEnd, unit);
      return withAlong(lines, axis, part);
    }
    part.begin = range.begin * size;
    part.end = std::min(range.end * gather.segment, gather.units) * unit;
    if (part.end >= length)
      part.end = INT32_MAX;
    part.modulus = groups * size;
    part.unit = unit;
    part.subBegin = parity * gather.segment + begin;
    part.subEnd = parity * gather.segment + end;
    part.placeBegin = placeBegin;
    part.placeEnd = placeEnd;
    return withAlong(lines, axis, part);
  }

  /// value + step · p on the cores of a guard made by cores(range, parity, …).
  Affine atPosition(int64_t value, int64_t step, int32_t parity) const {
    Affine affine(value - step * parity * gather.segment);
    affine.perDim[size_t(subDim(axis))] = step;
    return affine;
  }

  Arrival arrival(const SegmentGather::Direction &direction, const SegmentGather::Take &take, bool backward, int64_t p,
                  int64_t blocks) const {
    const int64_t skip = std::clamp<int64_t>(take.skip + p * take.skipPerPosition, 0, blocks);
    const int64_t count = std::clamp<int64_t>(take.count + p * take.countPerPosition, 0, blocks - skip);
    const int64_t rest = blocks - skip - count;
    if (count == 0)
      return {blocks, 0, 0, 0};
    const int64_t place = take.place + p * take.placePerPosition;
    return backward ? Arrival{skip, count, rest, place}
                    : Arrival{rest, count, skip, place + (count - 1) * direction.pitchBytes};
  }

  /// The cores at positions [0, range.own) take what `at` says.
  template <typename At>
  void take(const SegmentGather::Direction &direction, bool backward, int32_t parity, const Range &range,
            const Route &from, const At &at) {
    for (int32_t begin = 0, end = 0; begin < range.own; begin = end) {
      const std::array<int64_t, 4> first = at(begin).numbers();
      std::array<int64_t, 4> step{};
      for (end = begin + 1; end < range.own; ++end) {
        const std::array<int64_t, 4> next = at(end).numbers(), before = at(end - 1).numbers();
        std::array<int64_t, 4> rise{};
        for (size_t k = 0; k < next.size(); ++k)
          rise[k] = next[k] - before[k];
        if ((end > begin + 1 && rise != step) || at(end).sort() != at(end - 1).sort())
          break;
        step = rise;
      }
      if (end == begin + 1)
        step = {};
      if (const auto guard = cores(range, parity, begin, end))
        takeAffine(direction, backward, from, *guard, [&](size_t k, int64_t scale, int64_t constant = 0) {
          return atPosition(constant + scale * (first[k] - step[k] * begin), scale * step[k], parity);
        });
    }
  }

  /// number(k, scale, constant): constant + scale · number k of Arrival.
  template <typename Number>
  void takeAffine(const SegmentGather::Direction &direction, bool backward, const Route &from, const Guard &guard,
                  const Number &number) {
    const int64_t words = direction.words, pitch = backward ? direction.pitchBytes : -direction.pitchBytes;
    const Operand queue = spmd::queue(code, from, false);
    auto none = [](const Affine &affine) { return affine == Affine(0); };
    if (const Affine skipped = number(0, words); !none(skipped))
      code.append(moveWords(nullOperand(), queue, skipped), guard);
    const Affine count = number(1, 1);
    if (!none(count) && !direction.scatter.empty()) {
      std::vector<int64_t> strides{pitch};
      Instruction move = moveWords({}, queue, Affine(words));
      move.extent[size_t(kMaxDims) - 1 - direction.scatter.size()] = count;
      for (size_t d = 0; d < direction.scatter.size(); ++d) {
        move.extent[size_t(kMaxDims) - direction.scatter.size() + d] = Affine(direction.scatter[d].first);
        strides.push_back(direction.scatter[d].second);
      }
      move.dst = memory(into.buffer, 0, strides);
      move.dst.base = number(3, 1, into.baseBytes);
      code.append(std::move(move), guard);
    } else if (!none(count)) {
      const bool packed = pitch == words * 4 || count == Affine(1);
      Operand to = memory(into.buffer, 0, packed ? std::vector<int64_t>{4} : std::vector<int64_t>{pitch, 4});
      to.base = number(3, 1, into.baseBytes);
      Instruction move = moveWords(std::move(to), queue, packed ? number(1, words) : Affine(words));
      if (!packed)
        move.extent[kMaxDims - 2] = count;
      code.append(std::move(move), guard);
    }
    if (const Affine skipped = number(2, words); !none(skipped))
      code.append(moveWords(nullOperand(), queue, skipped), guard);
  }

  /// What cores of segments of a parity take of the other's streams.
  void takeFromNeighbours(const SegmentGather::Direction &direction, bool backward, int32_t parity) {
    if (!parities)
      return;
    for (const Range &range : ranges) {
      const int64_t blocks = backward ? range.behind : range.before;
      if (blocks > 0)
        take(direction, backward, parity, range, route(backward, 1 - parity),
             [&](int64_t p) { return arrival(direction, direction.other, backward, p, blocks); });
    }
  }

  /// Units of a segment of the range that give.
  int32_t giversOf(const Range &range, bool backward) const {
    const bool allGive = parities && (backward ? range.before : range.behind) > 0;
    return allGive ? range.own : range.own - 1;
  }

  /// What cores of the segments of a range give.
  void give(const SegmentGather::Direction &direction, bool backward, int32_t parity, const Range &range) {
    const int32_t own = range.own, givers = giversOf(range, backward);
    if (givers == 0)
      return;
    const Route via = route(backward, parity);
    // Of the units at positions [begin, end), counted along the stream, the core that gives.
    const int32_t unit = gather.unit;
    auto givesAt = [&](int32_t begin, int32_t end) {
      return backward ? cores(range, parity, own - end, own - begin, 0, 1)
                      : cores(range, parity, begin, end, unit - 1, unit);
    };
    const auto guard = givesAt(0, givers);
    if (!guard) // the range has no segment of the parity
      return;
    Instruction send = instruction(Opcode::Move, direction.type, {}, queue(code, via, true), direction.source);
    send.extent = direction.extent;
    code.append(std::move(send), *guard);
    // All but the first turn their switch to what comes from behind; the first one's word turns them all back.
    if (givers > 1) {
      sendControl(code, via, 1, *givesAt(1, givers));
      sendControl(code, via, givers - 1, *givesAt(0, 1));
    }
  }

  /// What they take of it.
  void takeOwn(const SegmentGather::Direction &direction, bool backward, int32_t parity, const Range &range) {
    const int32_t own = range.own;
    if (giversOf(range, backward) == 0)
      return;
    const Route via = route(backward, parity);
    take(direction, backward, parity, range, via,
         [&](int64_t p) { return arrival(direction, direction.own, backward, p, backward ? own - 1 - p : p); });
  }

  Code &code;
  const Axis axis;
  const int32_t length; // cores of the line
  const SegmentGather &gather;
  const Place into;
  std::function<void()> &meanwhile;
  const Guard lines;
  const int32_t segments;
  const bool parities; // neighbouring segments overlap
  std::vector<Range> ranges;
};

} // namespace

void emitSegmentGathers(Code &code, Axis axis, int32_t length, std::span<const SegmentGather> gathers, Place into,
                        std::function<void()> meanwhile) {
  for (const SegmentGather &gather : gathers)
    if (std::max(gather.forward.words, gather.backward.words) > kGivenAhead)
      if (const auto work = std::exchange(meanwhile, nullptr))
        work();
  std::vector<Writer> writers;
  for (const SegmentGather &gather : gathers)
    writers.emplace_back(code, axis, length, gather, into, meanwhile);
  for (int32_t parity : {0, 1})
    for (Writer &writer : writers)
      writer.write(parity);
  if (meanwhile) // nobody gives
    meanwhile();
}

void emitOwnBlocks(Code &code, Axis axis, int32_t length, const SegmentGather &gather, Place into) {
  std::function<void()> nothing;
  Writer(code, axis, length, gather, into, nothing).copyOwnBlocks();
}

} // namespace wsc::spmd
