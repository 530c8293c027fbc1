// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Numbers by which cores gather are mostly constants: tables of places, made by the compiler. From the least and the
// largest of them follows which part of its buffer a gather reads, so that of a large table which others share only
// that part is kept while cores wait (LiveScratch.h).
#pragma once

#include "runtime/emulator/ResidentStore.h"
#include "runtime/emulator/RoleProgram.h"

namespace wsc::emulator {

// Sets DecodedOp::numbers of gathers whose numbers lie in a window of a resident with a section that is the same in all
// iterations. `windows`: [role][buffer]; `programs`: of the configuration's roles.
void findGatherNumbers(const format::Executable &executable, const std::vector<std::vector<WindowPlace>> &windows,
                       std::vector<RoleProgram> &programs);

} // namespace wsc::emulator
