// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/Pipeline.h"

#include "compiler/driver/Registration.h"

#include "absl/strings/str_cat.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>

using namespace mlir;

namespace wsc::driver {

absl::StatusOr<std::string> runPipeline(std::string_view ir, std::string_view pipeline, const std::string &name) {
  static std::once_flag registered;
  std::call_once(registered, registerPasses);
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  context.disableMultithreading();
  std::string text;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return success();
    absl::StrAppend(&text, text.empty() ? "" : "\n");
    if (auto place = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
      absl::StrAppend(&text, place.getFilename().str(), ":", place.getLine(), ":", place.getColumn(), ": ");
    text += diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(ir, &context, name);
  if (!module)
    return absl::InvalidArgumentError(text.empty() ? absl::StrCat("cannot read ", name) : text);
  PassManager manager(&context);
  std::string wanted(pipeline), problem;
  if (wanted.find("builtin.module(") == std::string::npos)
    wanted = absl::StrCat("builtin.module(", wanted, ")");
  llvm::raw_string_ostream problems(problem);
  FailureOr<OpPassManager> parsed = parsePassPipeline(wanted, problems);
  if (failed(parsed))
    return absl::InvalidArgumentError(absl::StrCat("pipeline ", wanted, ": ", problem));
  static_cast<OpPassManager &>(manager) = std::move(*parsed);
  if (failed(manager.run(*module)))
    return absl::InvalidArgumentError(text.empty() ? absl::StrCat("pipeline ", wanted, " failed") : text);
  std::string result;
  llvm::raw_string_ostream stream(result);
  OpPrintingFlags flags;
  flags.enableDebugInfo();
  module->print(stream, flags);
  return result + "\n";
}

} // namespace wsc::driver
