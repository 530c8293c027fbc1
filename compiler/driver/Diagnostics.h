// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What MLIR says while a phase runs, as text.
#pragma once

#include "compiler/driver/Compiler.h"

#include "mlir/IR/Diagnostics.h"

namespace wsc::driver {

// Collects errors as text while it lives, and passes warnings and remarks on to `options.hooks.log`. The options must
// live as long.
class Diagnostics {
public:
  Diagnostics(mlir::MLIRContext &context, const CompileOptions &options);
  // InvalidArgument with all that was said, a line each, or `fallback` where nothing was.
  absl::Status status(const std::string &fallback) const;

private:
  void add(mlir::Diagnostic &diagnostic, const CompileOptions &options);

  std::string text;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace wsc::driver
