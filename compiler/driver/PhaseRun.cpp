// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/PhaseRun.h"

#include "compiler/driver/CoreGeneration.h"
#include "compiler/driver/Diagnostics.h"
#include "compiler/driver/MappingTimer.h"
#include "compiler/driver/PhasePasses.h"
#include "compiler/emit/Module.h"
#include "compiler/emit/TextFile.h"
#include "compiler/emit/WeightFiles.h"
#include "compiler/kernels/mapping/Embed.h"
#include "dialects/wafer/Wafer.h"
#include "runtime/base/PeakMemory.h"

#include "absl/strings/str_cat.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <chrono>

using namespace mlir;

namespace wsc::driver {

absl::Status cancelled() { return absl::CancelledError("the compilation was cancelled"); }

bool isCancelled(const CompileOptions &options) { return options.hooks.cancelled && options.hooks.cancelled(); }

namespace {

// Layers carry their names as locations until kernels note them down.
absl::Status writeIR(ModuleOp module, Phase phase, const std::string &path) {
  if (auto status = emit::hashWeights(module); !status.ok())
    return status;
  const std::string folder = llvm::sys::path::parent_path(path).str();
  emit::namePathsFrom(module, folder);
  OpPrintingFlags flags;
  if (phase < Phase::Kernels)
    flags.enableDebugInfo();
  auto status = emit::writeText(path, [&](raw_ostream &out) {
    module.print(out, flags);
    out << '\n';
  });
  emit::resolvePaths(module, folder);
  return status;
}

// The module belongs to the run, which changes it.
class Run {
public:
  Run(const CompileOptions &options, const target::Target &target, MLIRContext &context, bool phased)
      : options(options), target(target), context(context), phased(phased) {}

  // Errors carry the diagnostics of the phase that failed.
  absl::StatusOr<CompileReport> finish(OwningOpRef<ModuleOp> start, Phase at) {
    module = std::move(start);
    (*module)->setAttr(wafer::WaferDialect::getTargetAttrName(),
                       StringAttr::get(&context, options.target)); // so that the IR stands for itself
    done(at);
    if (options.to < at)
      return absl::InvalidArgumentError(
          absl::StrCat(options.model, " is at phase ", phaseName(at), ", past ", phaseName(options.to)));
    if (auto status = dump(at); !status.ok())
      return status;
    // A module given at phase X is complete as X; the phases after it are still to run.
    for (Phase next = nextPhase(at, phased); next < Phase::Core && next <= options.to; next = nextPhase(next, phased)) {
      if (auto status = begins(next); !status.ok())
        return status;
      Diagnostics diagnostics(context, options);
      PassManager manager(&context);
      addPasses(next, phased, options, timer(), manager);
      const bool failure = failed(manager.run(*module));
      if (isCancelled(options)) // also where the search ended early for it
        return cancelled();
      if (failure)
        return diagnostics.status(absl::StrCat("phase ", phaseName(next), " failed"));
      at = next;
      done(at);
      if (auto status = dump(at); !status.ok())
        return status;
    }
    if (at < Phase::Core && options.to >= Phase::Core) {
      if (auto status = begins(Phase::Core); !status.ok())
        return status;
      if (auto status = generate(); !status.ok())
        return status;
      at = Phase::Core;
    }
    if (options.to < Phase::Wse) {
      if (auto status = writeIR(*module, at, options.output); !status.ok())
        return status;
      return report;
    }
    if (auto status = begins(Phase::Wse); !status.ok())
      return status;
    return write();
  }

private:
  kernels::MappingTimer timer() const {
    auto mesh = kernels::usableMesh(target);
    if (!mesh.ok()) // sizing says why not
      return {};
    return [mesh = mesh->target](const kernels::NetworkPlan &network) { return emulatedInterval(mesh, network); };
  }

  // Tells of a phase, or ends a cancelled compilation.
  absl::Status begins(Phase phase) const {
    if (isCancelled(options))
      return cancelled();
    if (!options.hooks.progress)
      return absl::OkStatus();
    Progress progress{phase, 0, 1};
    for (Phase p = Phase::Import; p != options.to; p = nextPhase(p, phased)) {
      progress.done += p < phase;
      ++progress.total;
    }
    options.hooks.progress(progress);
    return absl::OkStatus();
  }

  void done(Phase phase) {
    auto now = std::chrono::steady_clock::now();
    report.phases.push_back({phase, std::chrono::duration<double>(now - begin).count(), peakRssBytes()});
    begin = now;
  }

  absl::Status dump(Phase phase) {
    if (options.dumpDir.empty())
      return absl::OkStatus();
    if (std::error_code error = llvm::sys::fs::create_directories(options.dumpDir))
      return absl::InvalidArgumentError(absl::StrCat("cannot create ", options.dumpDir, ": ", error.message()));
    return writeIR(*module, phase, absl::StrCat(options.dumpDir, "/", int(phase) + 1, "-", phaseName(phase), ".mlir"));
  }

  // Core programs become IR where somebody is to look at them.
  absl::Status generate() {
    Diagnostics diagnostics(context, options);
    if (!phased)
      readPredictions(*module, report);
    auto coreModule =
        phased ? generatePhased(target, *module, options) : generateCore(target, *module, options.problemsDir);
    if (!coreModule.ok())
      return coreModule.status().message().empty() ? diagnostics.status("core generation failed") : coreModule.status();
    programs = *std::move(coreModule);
    if (options.to == Phase::Core || !options.dumpDir.empty()) {
      module = emit::toCoreIR(context, *programs);
      if (!module)
        return diagnostics.status("core programs could not be written as IR");
    }
    done(Phase::Core);
    return dump(Phase::Core);
  }

  absl::StatusOr<CompileReport> write() {
    if (!programs) {
      Diagnostics diagnostics(context, options);
      auto read = emit::fromCoreIR(*module);
      if (!read.ok())
        return read.status();
      programs = *std::move(read);
    }
    const auto goOn = [&] { return isCancelled(options) ? cancelled() : absl::OkStatus(); };
    if (auto status = emit::writeWse(*programs, options.output, goOn, options.search.threads); !status.ok())
      return status;
    done(Phase::Wse);
    fillReport(*programs, report);
    report.model = options.model;
    report.output = options.output;
    uint64_t size = 0;
    if (!llvm::sys::fs::file_size(options.output, size))
      report.outputBytes = int64_t(size);
    return std::move(report);
  }

  const CompileOptions &options;
  const target::Target &target;
  MLIRContext &context;
  const bool phased;
  OwningOpRef<ModuleOp> module;
  std::optional<emit::CoreModule> programs;
  CompileReport report;
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

} // namespace

absl::StatusOr<CompileReport> runPhases(const CompileOptions &options, const target::Target &target,
                                        MLIRContext &context, bool phased, OwningOpRef<ModuleOp> module, Phase at) {
  return Run(options, target, context, phased).finish(std::move(module), at);
}

} // namespace wsc::driver
