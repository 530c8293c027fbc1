// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a router of a route family does, from the geometry of the family and from who sends and takes.
#pragma once

#include "compiler/spmd/program/Code.h"

#include <vector>

namespace wsc::spmd {

/// A coordinate's part in the streams of a family along its axis.
struct StreamPlace {
  bool first = false;  // a stream begins here
  bool last = false;   // the stream that comes here ends here; where a stream begins: nobody is behind
  bool passes = false; // words pass the router whatever its core does,
  int32_t sender = -1; // of this coordinate, if it sends; -1: of whichever
};
/// `length`: cores of the family's lines.
StreamPlace placeOf(const Route &route, int32_t length, int32_t coordinate);

/// The axis along which a family's words travel.
Axis axisOf(const Route &route);

/// The switch positions of a router whose core sends or takes; none: the router has no part.
std::vector<format::SwitchPosition> positionsOf(const Route &route, StreamPlace place, bool sends, bool takes);

} // namespace wsc::spmd
