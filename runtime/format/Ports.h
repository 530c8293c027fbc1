// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ports of a router in numbers and words.
#pragma once

#include "runtime/format/Executable.h"

namespace wsc::format {

// In messages, and of the four sides in JSON.
inline constexpr const char *kPortNames[kNumPorts] = {"NORTH", "SOUTH", "EAST", "WEST", "RAMP"};
inline constexpr const char *kSideNames[] = {"north", "south", "east", "west"};

// The port of the neighbour at the other end of a link; of RAMP itself.
constexpr Port opposite(Port port) { return port == Port::Ramp ? port : Port(int(port) ^ 1); }
constexpr int opposite(int port) { return int(opposite(Port(port))); }
static_assert(opposite(Port::North) == Port::South && opposite(Port::South) == Port::North &&
              opposite(Port::East) == Port::West && opposite(Port::West) == Port::East);

} // namespace wsc::format
