// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A wafer executable between code generation and file, as plain data, and its two outside forms: core IR (text) and
// `.wse`.
//
//   CoreModule ⇄ core IR    toCoreIR, fromCoreIR
//   CoreModule ⇄ .wse       writeWse, fromWse
//
// The forms say the same, up to what means nothing: fields that an opcode or a kind does not use come back as their
// defaults, and so do affine steps over lattice dimensions that are not there. Kernels, nets, roles, sections, states,
// residents, configurations and entries need names that are unique among their kind, buffers among their role.
#pragma once

#include "compiler/emit/SectionRecipe.h"
#include "runtime/format/Executable.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <string>
#include <vector>

namespace wsc::emit {

struct CoreModule {
  format::Executable executable; // its `sections` are not used
  // What Buffer::section, Resident::section and StateVariable::initialSection index.
  std::vector<SectionRecipe> sections;
};

// A module holding one core.executable, verified. Null after emitting an error diagnostic when an index is out of
// range, a loop is not closed, an operand is missing, or the core dialect's verifier refuses the result.
mlir::OwningOpRef<mlir::ModuleOp> toCoreIR(mlir::MLIRContext &context, const CoreModule &module);

// Errors: the IR does not verify, there is not exactly one core.executable, its target cannot be loaded.
absl::StatusOr<CoreModule> fromCoreIR(mlir::ModuleOp module);

// Verifies (format::verifyExecutable, emulator::checkLiveness) and writes, both at once unless `threads` is 1; nothing
// is left on failure. `goOn`, if given, is asked before each section; its error ends the writing.
absl::Status writeWse(const CoreModule &module, const std::string &path, const std::function<absl::Status()> &goOn = {},
                      int threads = 0);

// Sections become views of bytes of the .wse itself, with the element type of the buffers that read them.
absl::StatusOr<CoreModule> fromWse(const std::string &path);

} // namespace wsc::emit
