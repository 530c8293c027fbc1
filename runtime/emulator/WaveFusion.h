// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations of a role that a nest does along with its own, where nobody else sees what they leave in scratch:
//
//     move x ← queue          x is not copied: the nest, rows or gathers read the words where they are
//     move acc ← 0            nothing is written: the accumulators begin as zeros in registers
//     acc += x · w            nest
//     queue ← queue + acc     added before the accumulators are stored, so they never are
//
// Operations whose results nobody reads are left out but for the words that they take. Cores that wait before they have
// read the words copy them; of those that many cores get, a run that is written down leaves that out (NarrowReads.h).
//
// The results are the same bits: the same operations on the same values.
#pragma once

#include "runtime/emulator/WavePlan.h"

namespace wsc::emulator {

// Marks them in the role's only thread (WaveOp).
void fuseNests(WaveRole &role);

} // namespace wsc::emulator
