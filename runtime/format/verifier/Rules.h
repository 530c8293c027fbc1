// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rule families, in the order in which they run: later ones rely on what earlier ones have established.
#pragma once

#include "runtime/format/verifier/Report.h"

namespace wsc::format::verifier {

// Numbers of the target that the verifier itself relies on; indices in range; coefficients small enough to compute with. False: nothing else may run.
bool checkIndices(const Executable &executable, Report &report);

// Lattices and kernels inside the mesh, colours usable. False: no map of the mesh may be drawn.
bool checkMesh(const Scope &scope);
// No core in two roles, no router with two roles on one colour.
bool checkOverlaps(const Scope &scope);

// Loop structure and extents. False: the role's program may not be walked.
bool checkPrograms(const RoleScope &scope);
void checkSram(const RoleScope &scope);
void checkOperands(const RoleScope &scope);
void checkMemory(const RoleScope &scope);
void checkSharing(const RoleScope &scope);

bool checkSwitches(const Scope &scope);
// Routes connected end to end, and words sent = words received: colour by colour.
void checkColours(const Scope &scope);

void checkEntries(const Executable &executable, Report &report);
void checkStates(const Scope &scope);

} // namespace wsc::format::verifier
