// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rule families, in the order in which they run: later ones rely on what earlier ones have established.
#pragma once

#include "runtime/format/verifier/CoreSet.h"
#include "runtime/format/verifier/Lives.h"
#include "runtime/format/verifier/Report.h"

namespace wsc::format::verifier {

// Numbers of the target that the verifier itself relies on; indices in range; coefficients small enough to compute
// with. False: nothing else may run.
bool checkIndices(const Executable &executable, Report &report);

// Residents themselves: their cores, place and source. False: their lattices may be without bound.
bool checkResidents(const Executable &executable, Report &report);
// No two residents that share bytes of a core live at the same time.
void checkNeighbours(const Executable &executable, const Lives &lives, const std::vector<CoreSet> &cores,
                     Report &report);

// True when every core of the lattice lies in the mesh and no more than the mesh has are listed. `what` has the
// lattice.
bool checkInMesh(const target::Target &target, const Lattice &lattice, const std::string &what, Report &report);
// Lattices and kernels inside the mesh, colours usable. False: no map of the mesh may be drawn.
bool checkMesh(const Scope &scope);
// No core in two roles, no router with two roles on one colour.
bool checkOverlaps(const Scope &scope);

// Loop structure and extents. False: the role's program may not be walked.
bool checkPrograms(const RoleScope &scope);
void checkSram(const RoleScope &scope);
// Bytes of SRAM that runtime, stack and the role's code take from address 0 on.
int64_t codeEnd(const target::Target &target, const Role &role);
// `bytes` bytes of a section from `offset` on, which differs over the lattice: inside the section and aligned.
struct SectionView {
  const Section &section;
  const Affine &offset;
  int64_t bytes;
  ElementType type;
  const Lattice &lattice;
};
// `what` views it: "constant weights".
void checkSectionView(const SectionView &view, const std::string &key, const std::string &what, Report &report);
// Buffers that are windows of residents.
void checkWindows(const RoleScope &scope);
void checkOperands(const RoleScope &scope);
void checkMemory(const RoleScope &scope);
void checkSharing(const RoleScope &scope);

bool checkSwitches(const Scope &scope);
// Routes connected end to end, and words sent = words received: colour by colour.
void checkColours(const Scope &scope);

void checkEntries(const Executable &executable, Report &report);
void checkStates(const Scope &scope);
// Code and buffers against the residents that live while the configuration is in place.
void checkOccupants(const Scope &scope);

} // namespace wsc::format::verifier
