// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Meshes with defects: mapping works on the smaller, sound mesh of the rows and columns that stay, and what it
// generates is then laid onto the real one.
//
//   real mesh, row 2 taken out        the mapping's mesh            laid out
//   0  a a a                          0  a a a                      0  a a a
//   1  b b b                          1  b b b                      1  b b b
//   2  . x .   x: dead core           2  c c c                      2  │ │ │   routers pass on what crosses, nothing
//   else 3  c c c                                                        3  c c c
//
// Words that cross lines taken out need a hop more for each; nothing else changes. Roles are cut where a line is
// missing within their lattice, so metadata grows with the lines taken out, not with cores.
#pragma once

#include "runtime/format/Executable.h"

#include "absl/status/statusor.h"

#include <string>
#include <vector>

namespace wsc::kernels {

struct UsableMesh {
  target::Target target;           // `rows.size()` × `cols.size()` cores, without defects
  std::vector<int32_t> rows, cols; // row and column of the real mesh, ascending
};

// The lines to use (solver/Lines.h). Errors: the defects leave no row or no column; says which defects cut the mesh.
absl::StatusOr<UsableMesh> usableMesh(const target::Target &real);

// The same for a target by name and a file of defects (or ""), see target::loadTarget.
absl::StatusOr<UsableMesh> loadUsableMesh(const std::string &target, const std::string &defects);

// Moves everything in `configuration` from mesh.target's coordinates to `real`'s and adds the routers that pass words
// over the lines between.
void embed(const target::Target &real, const UsableMesh &mesh, format::Configuration &configuration);

} // namespace wsc::kernels
