// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Constants of loops, laid out as iterations read them. In the file the bytes of a core lie together, all iterations
// behind one another; an iteration reads a few of them on every core, and of most pages and cache lines no more than
// that. A near window is a copy in large pages:
//
//     file     core 0: iteration 0, 1, 2, … │ core 1: iteration 0, 1, 2, … │ …
//     copy     iteration 0: core 0, 1, 2, … │ iteration 1: core 0, 1, 2, … │ …
#pragma once

#include "runtime/emulator/ResidentStore.h"

namespace wsc::emulator {

// Gives the windows of configuration `number` ([role][buffer]) that move from iteration to iteration, and view a
// resident with a section, copies for all iterations that entries run. Those that would take more than a fair part of
// the host's memory stay in the file.
void bringNear(const format::Executable &executable, int number, std::vector<std::vector<WindowPlace>> &windows);

} // namespace wsc::emulator
