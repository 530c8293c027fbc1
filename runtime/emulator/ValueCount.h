// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Multiply-adds of a sample, from extents and trip counts over lattices, without running anything.
#pragma once

#include "runtime/emulator/CoreEngine.h"

namespace wsc::emulator {

// Over all runs of an entry, each as often as it counts; kernelMacs lists their kernels one run after the other, a core
// counts once.
ValueCounters countValues(const format::Executable &executable, std::span<const EntryRun> runs);

} // namespace wsc::emulator
