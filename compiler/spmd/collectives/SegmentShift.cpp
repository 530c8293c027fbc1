// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turn t of a stream that goes forward is that of the core at position n − 1 − t of its segment, backward that of
// position t. No core waits for one that waits for it: what it does in its later turn follows on earlier turns only.
#include "compiler/spmd/collectives/SegmentShift.h"

#include "compiler/spmd/collectives/Words.h"

#include <algorithm>
#include <tuple>

namespace wsc::spmd {

using namespace format;

namespace {

class Writer {
public:
  Writer(Code &code, Axis axis, const SegmentShift &shift, Place into)
      : code(code), axis(axis), shift(shift), into(into), n(shift.segment),
        segments((shift.units + shift.segment - 1) / shift.segment) {}

  void write(const std::function<void()> &meanwhile) {
    // Positions below the middle have their turn backward before the one forward.
    const int32_t middle = n / 2;
    for (int32_t parity : {0, 1}) {
      giveBackward(parity, 0, middle);
      giveForward(parity);
      giveBackward(parity, middle, n);
      if (parity == 0 && meanwhile)
        meanwhile();
      take(shift.backward, true, parity, 0, middle);
      take(shift.forward, false, parity, 0, n);
      take(shift.backward, true, parity, middle, n);
    }
  }

private:
  int32_t lengthOf(int32_t segment) const { return std::clamp(shift.units - segment * n, 0, n); }

  Route route(bool backward, int32_t parity) const {
    return {.kind = Route::Kind::Shift,
            .axis = axis,
            .backward = backward,
            .parity = parity,
            .segment = n,
            .units = shift.units,
            .words = int32_t((backward ? shift.backward : shift.forward).words)};
  }

  /// Positions [low, high) of the segments [begin, end) of a parity.
  Guard cores(int32_t parity, int32_t begin, int32_t end, int32_t low, int32_t high) const {
    AxisGuard part;
    part.begin = begin * n;
    part.end = std::max(part.begin, std::min(end * n, shift.units));
    part.modulus = 2 * n;
    part.subBegin = parity * n + low;
    part.subEnd = parity * n + std::max(low, high);
    return withAlong(narrowed({}, other(axis), shift.lineBegin, shift.lineEnd), axis, part);
  }
  static bool hasCores(const Guard &guard, Axis axis) {
    const AxisGuard part = along(guard, axis);
    for (int32_t k = part.begin; k < std::min(part.end, part.begin + 2 * part.modulus); ++k)
      if (part.holds(k))
        return true;
    return false;
  }
  void append(Instruction instruction, const Guard &guard) {
    if (hasCores(guard, axis))
      code.append(std::move(instruction), guard);
  }
  void control(const Route &via, int32_t count, const Guard &guard) {
    if (count > 0 && hasCores(guard, axis))
      sendControl(code, via, count, guard);
  }

  void send(const SegmentShift::Direction &direction, const Route &via, const Guard &guard) {
    Instruction send = instruction(Opcode::Move, direction.type, {}, queue(code, via, true), direction.source);
    send.extent = direction.extent;
    append(std::move(send), guard);
  }

  /// A core's control word sets its own router to hand on; that of the last one to give sets all back.
  void giveForward(int32_t parity) {
    if (shift.forward.words == 0)
      return;
    const Route via = route(false, parity);
    const int32_t end = segments - 1; // the last segment has nobody behind it
    send(shift.forward, via, cores(parity, 0, end, 0, n));
    control(via, 1, cores(parity, 0, end, 1, n));
    control(via, n - 1, cores(parity, 0, end, 0, 1));
  }
  void giveBackward(int32_t parity, int32_t low, int32_t high) {
    if (shift.backward.words == 0)
      return;
    const Route via = route(true, parity);
    const int32_t shortest = lengthOf(segments - 1), full = shortest < n ? segments - 1 : segments;
    for (const auto &[begin, end, length] :
         {std::tuple(1, full, n), std::tuple(std::max(full, 1), segments, shortest)}) {
      if (begin >= end)
        continue;
      send(shift.backward, via, cores(parity, begin, end, low, std::min(high, length)));
      control(via, 1, cores(parity, begin, end, low, std::min(high, length - 1)));
      if (low < length && length <= high)
        control(via, length - 1, cores(parity, begin, end, length - 1, length));
    }
  }

  /// What cores take of the streams from segments of a parity.
  void take(const SegmentShift::Direction &direction, bool backward, int32_t parity, int32_t low, int32_t high) {
    if (direction.words == 0)
      return;
    const Route via = route(backward, parity);
    Instruction move = moveWords({}, queue(code, via, false), Affine(direction.words));
    std::vector<int64_t> strides{4};
    if (!direction.scatter.empty()) {
      strides.clear();
      for (size_t d = 0; d < direction.scatter.size(); ++d) {
        move.extent[size_t(kMaxDims) - direction.scatter.size() + d] = Affine(direction.scatter[d].first);
        strides.push_back(direction.scatter[d].second);
      }
    }
    move.dst = memory(into.buffer, into.baseBytes + direction.place, strides);
    const int32_t takers = 1 - parity;
    if (!backward)
      return append(std::move(move), cores(takers, 1, segments, low, high));
    const int32_t shortest = lengthOf(segments - 1), full = shortest < n ? segments - 1 : segments;
    append(move, cores(takers, 0, full - 1, low, high));
    if (shortest < n)
      append(move, cores(takers, segments - 2, segments - 1, low, std::min(high, shortest)));
  }

  Code &code;
  const Axis axis;
  const SegmentShift &shift;
  const Place into;
  const int32_t n, segments;
};

} // namespace

ShiftPart partOfShift(const Route &route, int32_t coordinate) {
  const int32_t segment = coordinate / route.segment, at = coordinate % route.segment;
  const int32_t giver = route.backward ? segment + 1 : segment - 1;
  const int32_t blocks = std::clamp(route.units - giver * route.segment, 0, route.segment);
  if (coordinate >= route.units || giver < 0 || giver % 2 != route.parity || at >= blocks)
    return {};
  return {int64_t(blocks) * route.words, int64_t(route.backward ? at : blocks - 1 - at) * route.words};
}

void emitSegmentShift(Code &code, Axis axis, const SegmentShift &shift, Place into,
                      const std::function<void()> &meanwhile) {
  const bool gives = shift.units > shift.segment,
             isFirst = meanwhile && (!gives || std::max(shift.forward.words, shift.backward.words) > kGivenAhead);
  if (isFirst)
    meanwhile();
  if (gives)
    Writer(code, axis, shift, into).write(isFirst ? nullptr : meanwhile);
}

} // namespace wsc::spmd
