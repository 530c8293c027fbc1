// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/collectives/ShortBuses.h"

#include "compiler/spmd/collectives/Family.h"

#include <algorithm>

namespace wsc::spmd {

using namespace format;

namespace {

class Shortener {
public:
  Shortener(Code &code, int16_t family, int32_t length)
      : code(code), family(family), route(code.routes[size_t(family)]), length(length) {}

  void shorten() {
    const bool isIn = route.kind == Route::Kind::BusIn;
    int32_t end = 0;
    for (size_t i = 0; i < code.main.size(); ++i)
      if (isIn ? gives(i) : keeps(i))
        end = std::max(end, std::min(length, part(i).end));
    // What is left needs a giver and a taker besides the relay.
    if (end < 2 || end >= length)
      return;
    code.guards.resize(code.main.size());
    for (size_t i = 0; i < code.main.size(); ++i) {
      if (isIn && isTurn(i))
        moveTurn(i, end);
      else if (!isIn && takes(i))
        set(i, part(i).begin, std::min(part(i).end, end));
    }
    route.unit = 1;
    route.segment = route.units = end;
  }

private:
  AxisGuard part(size_t i) const { return along(i < code.guards.size() ? code.guards[i] : Guard(), route.axis); }
  bool isTurn(size_t i) const {
    return code.main[i].opcode == Opcode::SendControl && code.main[i].dst.queue == queueOf(family, true);
  }
  bool gives(size_t i) const {
    const Instruction &each = code.main[i];
    return each.opcode != Opcode::SendControl && each.dst.kind == OperandKind::Queue &&
           each.dst.queue == queueOf(family, true);
  }
  bool takes(size_t i) const {
    const Instruction &each = code.main[i];
    auto isArriving = [&](const Operand &operand) {
      return operand.kind == OperandKind::Queue && operand.queue == queueOf(family, false);
    };
    return isArriving(each.a) || isArriving(each.b);
  }
  bool keeps(size_t i) const { return takes(i) && code.main[i].dst.kind != OperandKind::Null; }

  void set(size_t i, int32_t begin, int32_t end) {
    AxisGuard changed = part(i);
    changed.begin = begin;
    changed.end = std::max(begin, end);
    code.guards[i] = withAlong(code.guards[i], route.axis, changed);
  }

  /// Turns are the last core's (count 1), those of the cores between (2), and the first one's behind the relay (1).
  void moveTurn(size_t i, int32_t end) {
    const int32_t last = end - 1;
    if (part(i).begin == length - 1)
      set(i, last, last < 2 ? last : last + 1);
    else if (code.main[i].controlCount == 2)
      set(i, 2, last);
    else if (last < 2)
      set(i, 1, 1);
  }

  Code &code;
  const int16_t family;
  Route &route;
  const int32_t length;
};

} // namespace

void shortenBuses(Code &code, const Rectangle &rectangle) {
  for (size_t family = 0; family < code.routes.size(); ++family) {
    const Route &route = code.routes[family];
    if ((route.kind == Route::Kind::BusIn || route.kind == Route::Kind::BusOut) && route.segment == 0)
      Shortener(code, int16_t(family), rectangle.count(route.axis)).shorten();
  }
}

} // namespace wsc::spmd
