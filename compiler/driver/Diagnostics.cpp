// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/Diagnostics.h"

#include "absl/strings/str_cat.h"
#include "mlir/IR/Location.h"

using namespace mlir;

namespace wsc::driver {

Diagnostics::Diagnostics(MLIRContext &context, const CompileOptions &options)
    : handler(&context, [this, &options](Diagnostic &diagnostic) {
        add(diagnostic, options);
        return success();
      }) {}

void Diagnostics::add(Diagnostic &diagnostic, const CompileOptions &options) {
  const DiagnosticSeverity severity = diagnostic.getSeverity();
  if (severity != DiagnosticSeverity::Error) {
    if (options.hooks.log)
      options.hooks.log(
          absl::StrCat(severity == DiagnosticSeverity::Warning ? "warning: " : "note: ", diagnostic.str()));
    return;
  }
  if (!text.empty())
    text += '\n';
  if (auto file = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
    absl::StrAppend(&text, file.getFilename().str(), ":", file.getLine(), ":", file.getColumn(), ": ");
  else if (auto name = diagnostic.getLocation()->findInstanceOf<NameLoc>())
    absl::StrAppend(&text, "layer ", name.getName().str(), ": ");
  text += diagnostic.str();
}

absl::Status Diagnostics::status(const std::string &fallback) const {
  return absl::InvalidArgumentError(text.empty() ? fallback : text);
}

} // namespace wsc::driver
