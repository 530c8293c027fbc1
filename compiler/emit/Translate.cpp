// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text files of core IR: parsing with diagnostics collected into one status, printing to a file that is kept only on
// success.
#include "compiler/emit/Translate.h"

#include "compiler/emit/Module.h"
#include "compiler/emit/TextFile.h"
#include "compiler/emit/WeightFiles.h"
#include "dialects/core/CoreDialect.h"

#include "absl/strings/str_cat.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

#include <filesystem>

using namespace mlir;

namespace wsc::emit {
namespace {

// Diagnostics of a context as one text, each line `file:line:column: …`; notes follow their error.
class Collector {
public:
  explicit Collector(MLIRContext &context)
      : handler(&context, [this](Diagnostic &diagnostic) {
          append(diagnostic);
          for (Diagnostic &note : diagnostic.getNotes())
            if (!isa<UnknownLoc>(note.getLocation()) && note.str().find("see current operation") == std::string::npos)
              append(note);
          return success();
        }) {}
  absl::Status status() const { return absl::InvalidArgumentError(text); }

private:
  std::string text;
  ScopedDiagnosticHandler handler;

  void append(Diagnostic &diagnostic) {
    if (!text.empty())
      text += "\n";
    if (auto place = dyn_cast<FileLineColLoc>(diagnostic.getLocation()))
      text += absl::StrCat(place.getFilename().str(), ":", place.getLine(), ":", place.getColumn(), ": ");
    text += diagnostic.str();
  }
};

} // namespace

absl::Status translateCoreToWse(const std::string &corePath, const std::string &wsePath) {
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(corePath);
  if (!buffer)
    return absl::NotFoundError(absl::StrCat("cannot open ", corePath, ": ", buffer.getError().message()));
  MLIRContext context;
  context.loadDialect<core::CoreDialect>();
  context.printOpOnDiagnostic(false);
  Collector diagnostics(context);
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(*buffer), llvm::SMLoc());
  OwningOpRef<ModuleOp> ir = parseSourceFile<ModuleOp>(sources, &context);
  if (!ir)
    return diagnostics.status();
  resolvePaths(*ir, std::filesystem::path(corePath).parent_path().string());
  absl::Status status = checkWeights(*ir);
  if (status.ok()) {
    absl::StatusOr<CoreModule> module = fromCoreIR(*ir);
    status = module.ok() ? writeWse(*module, wsePath) : module.status();
  }
  if (!status.ok())
    return absl::Status(status.code(), absl::StrCat(corePath, ": ", std::string(status.message())));
  return status;
}

absl::Status translateWseToCore(const std::string &wsePath, const std::string &corePath) {
  absl::StatusOr<CoreModule> module = fromWse(wsePath);
  if (!module.ok())
    return module.status();
  MLIRContext context;
  context.printOpOnDiagnostic(false);
  Collector diagnostics(context);
  OwningOpRef<ModuleOp> ir = toCoreIR(context, *module);
  if (!ir)
    return diagnostics.status();
  if (absl::Status status = hashWeights(*ir); !status.ok())
    return status;
  namePathsFrom(*ir, std::filesystem::path(corePath).parent_path().string());
  return writeText(corePath, [&](llvm::raw_ostream &out) { ir->print(out); });
}

} // namespace wsc::emit
