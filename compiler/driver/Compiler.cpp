// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles a model: loads it, chooses its target and the way it is executed, and runs the phases of that way.
#include "compiler/driver/Compiler.h"

#include "compiler/driver/CheckOptions.h"
#include "compiler/driver/CompileNarrow.h"
#include "compiler/driver/LoadModel.h"
#include "compiler/driver/PhaseRun.h"
#include "compiler/driver/Registration.h"
#include "compiler/import/onnx/Import.h"
#include "runtime/files/OutputFile.h"

#include "absl/strings/str_cat.h"

using namespace mlir;

namespace wsc::driver {

static absl::StatusOr<CompileReport> compileModel(const CompileOptions &given, const ModelFile &file) {
  if (isCancelled(given))
    return cancelled();
  if (given.hooks.progress)
    given.hooks.progress({Phase::Import, 0, 0});
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  context.disableMultithreading();
  context.loadAllAvailableDialects();
  Phase at = Phase::Import;
  if (!given.target.empty()) // before the work
    if (auto target = target::loadTarget(given.target, given.defects); !target.ok())
      return target.status();
  auto loaded = loadModel(context, given, file, at);
  if (!loaded.ok())
    return loaded.status();
  OwningOpRef<ModuleOp> module = *std::move(loaded);
  auto target = chooseTarget(given, *module, at);
  if (!target.ok())
    return target.status();
  // From here on the target's description holds its defects.
  CompileOptions options = given;
  options.target = describeTarget(*target);
  options.defects.clear();
  if (auto status = checkPrecision(options, *module, at); !status.ok())
    return status;
  const bool open = at <= Phase::Nn; // both ways lead on from here
  if (!open && at < Phase::Core && options.execution != Execution::Auto &&
      (options.execution == Execution::Phased) != (at == Phase::Nests))
    return absl::InvalidArgumentError(absl::StrCat(options.model, " is at phase ", phaseName(at), " of ",
                                                   at == Phase::Nests ? "phased" : "pipelined",
                                                   " execution; --execution cannot change that, leave "
                                                   "it out or compile from phase nn"));
  if (auto status = checkWay(options, at); !status.ok())
    return status;
  const bool phased = open ? options.execution == Execution::Phased || options.to == Phase::Nests : at == Phase::Nests;
  if (isNarrow(options.precision))
    return compileNarrow(options, *target, context, std::move(module), at);
  if (!open || options.execution != Execution::Auto || phased || asksForStrips(options) || options.to <= Phase::Nn)
    return runPhases(options, *target, context, phased, std::move(module), at);
  // Strips where every layer has that form and all fit; else phases.
  OwningOpRef<ModuleOp> copy = module->clone();
  auto pipelined = runPhases(options, *target, context, false, std::move(copy), at);
  if (pipelined.ok() || absl::IsCancelled(pipelined.status()) || files::isOutputFailure(pipelined.status()))
    return pipelined;
  auto inPhases = runPhases(options, *target, context, true, std::move(module), at);
  if (inPhases.ok() || absl::IsCancelled(inPhases.status()) || files::isOutputFailure(inPhases.status()))
    return inPhases;
  return absl::Status(inPhases.status().code(), absl::StrCat(std::string(inPhases.status().message()), "\nas strips: ",
                                                             std::string(pipelined.status().message())));
}

absl::StatusOr<CompileReport> compile(const CompileOptions &options) {
  ModelFile file;
  if (absl::Status status = holdContent(options, file); !status.ok())
    return status;
  auto report = compileModel(options, file);
  if (!report.ok())
    return file.named(report.status());
  return report;
}

std::vector<std::string> inputsToBind(const absl::Status &status) { return import::inputsToBind(status); }

} // namespace wsc::driver
