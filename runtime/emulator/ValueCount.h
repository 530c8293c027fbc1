// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Multiply-adds of a sample, from extents and trip counts over lattices, without running anything.
#pragma once

#include "runtime/emulator/CoreEngine.h"

namespace wsc::emulator {

// Over all `configurations` run in a sample; kernelMacs lists their kernels one configuration after the other, a core counts once.
ValueCounters countValues(const target::Target &target, std::span<const format::Configuration *const> configurations);

} // namespace wsc::emulator
