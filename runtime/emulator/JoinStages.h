// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Multiply-adds that a thread does in stages, each when more of its input has come, joined for the engine of values: to
// values it makes no difference how long a thread waits in between.
#pragma once

#include "runtime/format/Executable.h"

#include <optional>

namespace wsc::emulator {

// The thread with nests of multiply-adds outside other loops that continue each other joined: the second goes on, in
// its outermost loop, where the first ended, with the same destination, and between them are only moves from queues or
// FIFOs into the buffer of one of their factors, to places that the first does not read. Every element is still the
// same sum in the same order. None if there is nothing to join.
std::optional<format::Thread> joinStages(const format::Role &role, const format::Thread &thread);

} // namespace wsc::emulator
