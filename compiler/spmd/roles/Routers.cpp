// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/roles/Routers.h"

#include <algorithm>

namespace wsc::spmd {

using namespace format;

namespace {

PortMask bit(Port port) { return PortMask(1u << unsigned(port)); }

struct Ways {
  Port from, to;
};
Ways waysOf(const Route &route) {
  if (route.axis == Axis::Row)
    return route.backward ? Ways{Port::East, Port::West} : Ways{Port::West, Port::East};
  return route.backward ? Ways{Port::South, Port::North} : Ways{Port::North, Port::South};
}

/// Segments: counted from where the streams of the direction begin.
StreamPlace placeInSegment(const Route &route, int32_t coordinate) {
  const int32_t unit = coordinate / route.unit;
  const int32_t segments = (route.units + route.segment - 1) / route.segment, segment = unit / route.segment;
  const bool others = route.overlap && segment % 2 != route.parity; // takes the stream of a neighbour
  auto end = [&](int32_t s, bool high) {                            // coordinate of the segment's first or last core
    return high ? std::min((s + 1) * route.segment, route.units) * route.unit - 1 : s * route.segment * route.unit;
  };
  const int32_t firstUnit =
      route.backward ? std::min((segment + 1) * route.segment, route.units) - 1 : segment * route.segment;
  const int32_t giver = route.backward ? firstUnit * route.unit : (firstUnit + 1) * route.unit - 1;
  const bool goesOn = route.overlap && !others && (route.backward ? segment > 0 : segment + 1 < segments);
  return {!others && coordinate == giver, !goesOn && coordinate == end(segment, !route.backward)};
}

/// Streams begin at the giver that is the farthest from the takers.
StreamPlace placeOnShift(const Route &route, int32_t coordinate) {
  const int32_t segments = (route.units + route.segment - 1) / route.segment;
  const int32_t segment = coordinate / route.segment, at = coordinate % route.segment;
  const bool gives = segment % 2 == route.parity;
  const int32_t partner = gives == route.backward ? segment - 1 : segment + 1; // the segment taken from or given to
  if (coordinate >= route.units || partner < 0 || partner >= segments)
    return {};
  const int32_t high = std::min(route.segment, route.units - segment * route.segment) - 1;
  if (gives)
    return {at == (route.backward ? high : 0), false};
  const bool isLast = at == (route.backward ? 0 : high);
  return {false, isLast, !isLast};
}

/// Words of a chain of runs pass the cores between the first core of one run and that of the run before.
StreamPlace placeOnChain(const Route &route, int32_t coordinate) {
  if (route.unit == 1 || coordinate >= route.units * route.segment)
    return {};
  const int32_t at = coordinate % route.segment, behind = at / route.unit + 1;
  if (at % route.unit == 0 || behind >= route.segment / route.unit || behind % 2 != route.parity)
    return {};
  return {false, false, true, coordinate - at + behind * route.unit};
}

StreamPlace placeOnBus(const Route &route, int32_t length, int32_t coordinate) {
  const bool isWhole = route.segment == 0;
  const int32_t cores = isWhole ? length : route.segment * route.unit;
  const int32_t segment = coordinate / cores, at = coordinate % cores;
  if (!isWhole && segment * route.segment >= route.units)
    return {};
  if (route.kind == Route::Kind::BusIn) {
    const int32_t giver = isWhole ? length - 1 : (route.segment - 1) * route.unit; // of the last turn
    return {at == giver, at == 0, at > 0 && at < giver};
  }
  return {at == 0, at == cores - 1, at > 0 && at < cores - 1};
}

} // namespace

Axis axisOf(const Route &route) {
  return route.kind == Route::Kind::Input || route.kind == Route::Kind::Output ? Axis::Row : route.axis;
}

StreamPlace placeOf(const Route &route, int32_t length, int32_t coordinate) {
  const bool low = coordinate == 0, high = coordinate + 1 == length;
  switch (route.kind) {
  case Route::Kind::Segments:
    return placeInSegment(route, coordinate);
  case Route::Kind::Shift:
    return placeOnShift(route, coordinate);
  case Route::Kind::Chain:
    return placeOnChain(route, coordinate);
  case Route::Kind::BusIn:
  case Route::Kind::BusOut:
    return placeOnBus(route, length, coordinate);
  default:
    return route.backward ? StreamPlace{high, low} : StreamPlace{low, high};
  }
}

std::vector<SwitchPosition> positionsOf(const Route &route, StreamPlace place, bool sends, bool takes) {
  const PortMask ramp = bit(Port::Ramp);
  const auto [from, to] = waysOf(route);
  std::vector<SwitchPosition> positions;
  switch (route.kind) {
  case Route::Kind::Input:
    if (takes)
      positions.push_back({Port::West, PortMask(ramp | (place.last ? 0 : bit(Port::East)))});
    break;
  case Route::Kind::Output: // those of higher columns first; the stream goes on beyond column 0
    if (sends && !place.first)
      positions.push_back({Port::East, bit(Port::West)});
    if (sends)
      positions.push_back({Port::Ramp, bit(Port::West)});
    break;
  case Route::Kind::Segments: // a core's own words, then those from behind
    if (sends && !place.last)
      positions.push_back({Port::Ramp, bit(to)});
    if (!place.first)
      if (const PortMask on = PortMask((place.last ? 0 : bit(to)) | (takes ? ramp : 0)))
        positions.push_back({from, on});
    break;
  case Route::Kind::BusIn:
  case Route::Kind::BusOut:
    if (!place.first) {
      const PortMask on = PortMask((place.last ? 0 : bit(to)) | (takes ? ramp : 0));
      if (on)
        positions.push_back({from, on});
    }
    if (sends && !place.last)
      positions.push_back({Port::Ramp, bit(to)});
    break;
  case Route::Kind::Shift:
    if (sends) {
      positions.push_back({Port::Ramp, bit(to)});
      if (!place.first)
        positions.push_back({from, bit(to)});
    } else if (takes || place.passes) {
      positions.push_back({from, PortMask((place.last ? 0 : bit(to)) | (takes ? ramp : 0))});
    }
    break;
  case Route::Kind::Chain:
    if (sends)
      positions.push_back({Port::Ramp, bit(to)});
    else if (takes)
      positions.push_back({from, ramp});
    else if (place.passes)
      positions.push_back({from, bit(to)});
    break;
  }
  return positions;
}

} // namespace wsc::spmd
