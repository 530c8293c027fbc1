// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/collectives/LineBus.h"

#include "compiler/spmd/collectives/Words.h"

#include <algorithm>
#include <limits>
#include <optional>

namespace wsc::spmd {

using namespace format;

namespace {

Operand wordsAt(Place place) { return memory(place.buffer, place.baseBytes, {4}); }

/// The lines whose `first` is 0: an interval of coordinates, or of places in groups of first.modulus lines.
struct KeepingLines {
  int32_t begin = 0, end = 0;
  bool bySub = false;
};

/// Nothing where they are no interval.
std::optional<KeepingLines> linesThatKeepFirst(const LineBus &bus) {
  const GroupNumber &first = bus.first;
  if (bus.firstBase > 0 && first.perGroup >= 0 && first.perSub >= 0)
    return KeepingLines();
  if (first.perGroup != 0 && first.perSub != 0) {
    if (bus.firstBase != 0 || first.perGroup < 0 || first.perSub < 0)
      return std::nullopt;
    return KeepingLines{0, 1, false};
  }
  const bool bySub = first.perSub != 0;
  const int64_t step = bySub ? first.perSub : first.perGroup;
  if (bus.firstBase % step != 0 || -bus.firstBase / step < 0 || (bySub && first.modulus <= 1))
    return std::nullopt;
  const int32_t zero = int32_t(-bus.firstBase / step), lines = bySub ? 1 : int32_t(first.modulus);
  return KeepingLines{zero * lines, (zero + 1) * lines, bySub};
}

class BusWriter {
public:
  BusWriter(Code &code, Axis axis, int32_t length, const LineBus &bus, Place from, Place into)
      : code(code), axis(axis), bus(bus), from(from), into(into), isWhole(bus.segment >= bus.units),
        givers(std::min(bus.segment, bus.units)), cores(isWhole ? length : bus.segment * bus.unit),
        relayGives(bus.begin == 0), takerBegin(isWhole ? bus.takerBegin : 0),
        takerEnd(isWhole ? std::min(bus.takerEnd, length) : cores) {
    in = {.kind = Route::Kind::BusIn, .axis = axis, .backward = true};
    if (!isWhole) {
      in.unit = bus.unit;
      in.segment = bus.segment;
      in.units = bus.units;
    }
    out = in;
    out.kind = Route::Kind::BusOut;
    out.backward = false;
  }

  void write() {
    give();
    if (bus.first.isZero()) {
      variant({}, bus.firstBase == 0);
      return;
    }
    const std::optional<KeepingLines> keeping = linesThatKeepFirst(bus);
    if (!relayGives || !keeping || keeping->begin == keeping->end) {
      variant({}, false);
      return;
    }
    AxisGuard lines;
    if (keeping->bySub)
      lines.modulus = int32_t(bus.first.modulus);
    int32_t &begin = keeping->bySub ? lines.subBegin : lines.begin, &end = keeping->bySub ? lines.subEnd : lines.end;
    for (const auto &[from, to] : {std::pair(0, keeping->begin), std::pair(keeping->begin, keeping->end),
                                   std::pair(keeping->end, std::numeric_limits<int32_t>::max())}) {
      begin = from;
      end = to;
      if (from < to)
        variant(lines, from == keeping->begin);
    }
  }

private:
  /// The cores [begin, end) of every segment, on the lines that take part and that `lines` holds.
  Guard guard(const AxisGuard &lines, int32_t begin, int32_t end) const {
    AxisGuard across = lines;
    across.begin = std::max(across.begin, bus.lineBegin);
    across.end = std::min(across.end, bus.lineEnd);
    if (across.modulus <= 1 && bus.first.modulus > 1 && !bus.first.isZero()) {
      across.modulus = kWholeAxis; // the sub-index is line / modulus
      across.unit = int32_t(bus.first.modulus);
    }
    AxisGuard part;
    if (isWhole) {
      part.begin = begin;
      part.end = end;
    } else {
      part.end = bus.units * bus.unit;
      part.modulus = cores;
      part.subBegin = begin;
      part.subEnd = end;
    }
    return withAlong(withAlong({}, axis, part), other(axis), across);
  }

  /// Turns go from the far end to the relay. Of a whole line all cores have one, whoever gives: so all buses of an axis
  /// share their routes.
  void give() {
    const int32_t least = relayGives ? 1 : 0;
    if (givers == least)
      return;
    code.append(moveWords(queue(code, in, true), wordsAt(from), Affine(bus.words)), unitGuard(least, givers));
    const int32_t last = isWhole ? cores - 1 : givers - 1; // in cores or units from the relay: 1 … last
    auto turns = [&](int32_t begin, int32_t end) { return isWhole ? guard({}, begin, end) : unitGuard(begin, end); };
    if (last < 2)
      return;
    sendControl(code, in, 1, turns(last, last + 1));
    sendControl(code, in, 2, turns(2, last));
    sendControl(code, in, 1, turns(1, 2));
  }

  /// The cores that give for units [begin, end) of every segment: the first ones of their units.
  Guard unitGuard(int32_t begin, int32_t end) const {
    AxisGuard part;
    if (isWhole) {
      part.begin = bus.begin + begin * bus.unit;
      part.end = begin < end ? bus.begin + (end - 1) * bus.unit + 1 : part.begin;
      if (bus.unit > 1) {
        part.modulus = bus.unit;
        part.subBegin = bus.begin % bus.unit;
        part.subEnd = part.subBegin + 1;
      }
    } else {
      part.end = bus.units * bus.unit;
      part.modulus = cores;
      part.unit = bus.unit;
      part.subBegin = begin;
      part.subEnd = std::max(begin, end);
      part.placeEnd = 1;
    }
    return withAlong(guard({}, 0, 0), axis, part);
  }

  /// scale·first + constant, as a number of the line.
  Affine firstTimes(const AxisGuard &lines, int64_t scale, int64_t constant) const {
    Affine affine(constant + scale * bus.firstBase);
    if (lines.modulus > 1) { // lines of one group number: perGroup is 0
      affine.perDim[subDim(other(axis))] = scale * bus.first.perSub;
      return affine;
    }
    AxisGuard part; // guard() has the modulus
    addNumber(other(axis), bus.first, scale, affine, part);
    return affine;
  }

  /// Kept blocks between memory and a queue, the highest number first: blocks [low, low + count) of those kept.
  Operand kept(int64_t low, int64_t count) const {
    return memory(into.buffer, into.baseBytes + (low + count - 1) * bus.pitchBytes, {-bus.pitchBytes, 4});
  }
  void blocks(Operand to, Operand source, int64_t count, const Guard &cores) {
    if (count <= 0)
      return;
    code.append(instruction(Opcode::Move, ElementType::I32, {count, bus.words}, std::move(to), std::move(source)),
                cores);
  }
  void words(Operand to, Operand source, Affine count, const Guard &cores) {
    if (count.isConstant() && count.constant <= 0)
      return;
    code.append(moveWords(std::move(to), std::move(source), count), cores);
  }

  /// `keepsFirst`: block 0 is among those kept (on the lines of this variant).
  void variant(const AxisGuard &lines, bool keepsFirst) {
    const Guard relay = guard(lines, 0, 1), takers = guard(lines, std::max(1, takerBegin), takerEnd);
    const Operand arriving = takerEnd > 1 ? queue(code, out, false) : Operand();
    const int64_t w = bus.words, n = bus.blocks, own = relayGives && keepsFirst;
    // All blocks arrive before the first one leaves: cores that wait for their turn to give cannot take.
    if (givers > (relayGives ? 1 : 0)) {
      const Operand coming = queue(code, in, false);
      Affine below = firstTimes(lines, w, 0);
      if (relayGives)
        below.constant -= keepsFirst ? 0 : w;
      words(nullOperand(), coming, firstTimes(lines, -w, (givers - n) * w), relay);
      blocks(kept(own, n - own), coming, n - own, relay);
      if (!own)
        words(nullOperand(), coming, below, relay);
    }
    if (own)
      words(wordsAt(into), wordsAt(from), Affine(w), relay);
    if (takerEnd <= 1)
      return;
    Operand all = memory(into.buffer, into.baseBytes, {bus.pitchBytes, 4});
    blocks(queue(code, out, true), all, n, relay);
    blocks(all, arriving, n, takers);
    for (const auto &[begin, end] : {std::pair(1, takerBegin), std::pair(takerEnd, cores)})
      if (begin < end)
        words(nullOperand(), arriving, Affine(n * w), guard(lines, begin, end));
  }

  Code &code;
  const Axis axis;
  const LineBus &bus;
  const Place from, into;
  const bool isWhole;
  const int32_t givers, cores;
  const bool relayGives;
  const int32_t takerBegin, takerEnd;
  Route in, out;
};

} // namespace

bool isSound(const LineBus &bus) { return bus.begin != 0 || bus.first.isZero() || linesThatKeepFirst(bus).has_value(); }

void emitLineBus(Code &code, Axis axis, int32_t length, const LineBus &bus, Place from, Place into) {
  if (bus.words == 0)
    return;
  BusWriter(code, axis, length, bus, from, into).write();
}

} // namespace wsc::spmd
