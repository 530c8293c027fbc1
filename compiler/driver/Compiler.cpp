// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the phases one after another on one module. Each phase is a pass pipeline or a translation; after each the IR
// can be dumped or the compilation ended.
#include "compiler/driver/Compiler.h"

#include "compiler/driver/CoreGeneration.h"
#include "compiler/driver/MappingTimer.h"
#include "compiler/driver/Registration.h"
#include "compiler/emit/Module.h"
#include "compiler/import/onnx/Import.h"
#include "compiler/kernels/mapping/Embed.h"
#include "dialects/core/CoreDialect.h"
#include "dialects/wafer/Wafer.h"
#include "passes/spmd/Passes.h"
#include "passes/wafer/Passes.h"

#include "absl/strings/str_cat.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/ToolOutputFile.h"

#include <chrono>
#include <sys/resource.h>

using namespace mlir;

namespace wsc::driver {

namespace {

int64_t peakRssBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return int64_t(usage.ru_maxrss) * 1024;
}

// Collects diagnostics as text while it lives.
class Diagnostics {
public:
  explicit Diagnostics(MLIRContext &context)
      : handler(&context, [this](Diagnostic &diagnostic) {
          if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
            return success();
          if (!text.empty())
            text += '\n';
          if (auto file = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
            absl::StrAppend(&text, file.getFilename().str(), ":", file.getLine(), ":", file.getColumn(), ": ");
          else if (auto name = diagnostic.getLocation()->findInstanceOf<NameLoc>())
            absl::StrAppend(&text, name.getName().str(), ": ");
          text += diagnostic.str();
          return success();
        }) {}
  absl::Status status(const std::string &fallback) const {
    return absl::InvalidArgumentError(text.empty() ? fallback : text);
  }

private:
  std::string text;
  ScopedDiagnosticHandler handler;
};

// Layers carry their names as locations until kernels note them down.
absl::Status writeIR(ModuleOp module, Phase phase, const std::string &path) {
  std::string temporary = path + ".partial";
  std::error_code error;
  llvm::ToolOutputFile file(temporary, error, llvm::sys::fs::OF_Text);
  if (error)
    return absl::InvalidArgumentError(absl::StrCat("cannot write ", path, ": ", error.message()));
  OpPrintingFlags flags;
  if (phase < Phase::Kernels)
    flags.enableDebugInfo();
  module.print(file.os(), flags);
  file.os() << '\n';
  file.os().close();
  if (file.os().has_error())
    return absl::InvalidArgumentError(absl::StrCat("cannot write ", path, ": ", file.os().error().message()));
  if (std::error_code failed = llvm::sys::fs::rename(temporary, path))
    return absl::InvalidArgumentError(absl::StrCat("cannot rename ", temporary, " to ", path, ": ", failed.message()));
  file.keep();
  return absl::OkStatus();
}

// The phase a module is at, from its operations.
Phase phaseOf(ModuleOp module) {
  Phase phase = Phase::Import;
  module.walk([&](Operation *op) {
    const StringRef dialect = op->getName().getDialectNamespace();
    if (dialect == core::CoreDialect::getDialectNamespace()) {
      phase = Phase::Core;
      return WalkResult::interrupt();
    }
    if (dialect == "linalg" || isa<wafer::RemapOp>(op)) {
      phase = Phase::Nests;
      return WalkResult::interrupt();
    }
    if (auto kernel = dyn_cast<wafer::KernelOp>(op)) {
      phase = kernel.getLaneColoursAttr() ? Phase::Routed
              : kernel.getRectAttr()      ? Phase::Placed
              : kernel.getMappingAttr()   ? Phase::Sized
                                          : Phase::Kernels;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return phase;
}

void addPasses(Phase phase, bool phased, const CompileOptions &options, const kernels::MappingTimer &timer,
               OpPassManager &module) {
  if (phase == Phase::Sized)
    module.addPass(wafer::createLayOutState({options.target, options.defects}));
  OpPassManager &functions = module.nest<func::FuncOp>();
  switch (phase) {
  case Phase::Nn:
    functions.addPass(createCanonicalizerPass());
    if (phased) {
      functions.addPass(createCSEPass());
      break;
    }
    functions.addPass(wafer::createFlattenRows());
    functions.addPass(createCSEPass());
    functions.addPass(wafer::createForwardState());
    functions.addPass(wafer::createFoldPadding());
    functions.addPass(wafer::createDecomposeReductions());
    functions.addPass(wafer::createShareConcats());
    break;
  case Phase::Kernels:
    functions.addPass(wafer::createFormKernels());
    break;
  case Phase::Sized:
    if (!options.pins.empty())
      functions.addPass(wafer::createPinKernels({options.pins}));
    functions.addPass(wafer::createSizeKernels(
        wafer::SizeKernelsOptions{options.target, options.defects, options.equalColumns, options.search.effort,
                                  options.search.seed, options.search.threads, options.problemsDir},
        timer));
    break;
  case Phase::Placed:
    functions.addPass(wafer::createPlaceKernels({options.target, options.defects,
                                                 options.equalColumns ? kernels::Effort::Fast : options.search.effort,
                                                 options.search.seed, options.problemsDir}));
    break;
  case Phase::Nests:
    functions.addPass(spmd::createLowerToNests());
    functions.addPass(spmd::createFuseNests());
    functions.addPass(createCSEPass());
    break;
  case Phase::Routed:
    functions.addPass(wafer::createRouteStreams({options.target, options.defects, options.problemsDir}));
    break;
  default:
    break;
  }
}

absl::StatusOr<OwningOpRef<ModuleOp>> loadModel(MLIRContext &context, const CompileOptions &options, Phase &at) {
  if (llvm::sys::path::extension(options.model) != ".mlir") {
    at = Phase::Import;
    import::ImportOptions importOptions;
    importOptions.dims = options.dims;
    importOptions.bindings = options.bindings;
    importOptions.inputs = options.inputs;
    importOptions.outputs = options.outputs;
    return import::importOnnx(context, options.model, importOptions);
  }
  Diagnostics diagnostics(context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(options.model, &context);
  if (!module)
    return diagnostics.status(absl::StrCat("cannot read ", options.model));
  at = options.from ? *options.from : phaseOf(*module);
  return module;
}

} // namespace

namespace {

// One way of compiling a module, from the phase it is at. The module belongs to the run, which changes it.
class Run {
public:
  Run(const CompileOptions &options, const target::Target &target, MLIRContext &context, bool phased)
      : options(options), target(target), context(context), phased(phased) {}

  // Errors carry the diagnostics of the phase that failed.
  absl::StatusOr<CompileReport> finish(OwningOpRef<ModuleOp> start, Phase at) {
    module = std::move(start);
    done(at);
    if (options.to < at)
      return absl::InvalidArgumentError(
          absl::StrCat(options.model, " is at phase ", phaseName(at), ", past ", phaseName(options.to)));
    if (auto status = dump(at); !status.ok())
      return status;
    // A module given at phase X is complete as X; the phases after it are still to run.
    for (Phase next = nextPhase(at, phased); next < Phase::Core && next <= options.to; next = nextPhase(next, phased)) {
      Diagnostics diagnostics(context);
      PassManager manager(&context);
      addPasses(next, phased, options, timer(), manager);
      if (failed(manager.run(*module)))
        return diagnostics.status(absl::StrCat("phase ", phaseName(next), " failed"));
      at = next;
      done(at);
      if (auto status = dump(at); !status.ok())
        return status;
    }
    if (at < Phase::Core && options.to >= Phase::Core) {
      if (auto status = generate(); !status.ok())
        return status;
      at = Phase::Core;
    }
    if (options.to < Phase::Wse) {
      if (auto status = writeIR(*module, at, options.output); !status.ok())
        return status;
      return report;
    }
    return write();
  }

private:
  kernels::MappingTimer timer() const {
    auto mesh = kernels::usableMesh(target);
    if (!mesh.ok()) // sizing says why not
      return {};
    return [mesh = mesh->target](const kernels::NetworkPlan &network) { return emulatedInterval(mesh, network); };
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
    Diagnostics diagnostics(context);
    if (!phased)
      readPredictions(*module, report);
    auto coreModule = phased ? generatePhased(target, *module) : generateCore(target, *module, options.problemsDir);
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
      Diagnostics diagnostics(context);
      auto read = emit::fromCoreIR(*module);
      if (!read.ok())
        return read.status();
      programs = *std::move(read);
    }
    if (auto status = emit::writeWse(*programs, options.output); !status.ok())
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

// What only strips read.
bool asksForStrips(const CompileOptions &options) {
  return options.equalColumns || !options.pins.empty() || !options.problemsDir.empty() ||
         (options.to > Phase::Nn && options.to < Phase::Nests);
}

} // namespace

absl::StatusOr<CompileReport> compile(const CompileOptions &options) {
  auto target = target::loadTarget(options.target, options.defects);
  if (!target.ok())
    return target.status();
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  context.disableMultithreading();
  context.loadAllAvailableDialects();
  Phase at = Phase::Import;
  auto loaded = loadModel(context, options, at);
  if (!loaded.ok())
    return loaded.status();
  OwningOpRef<ModuleOp> module = *std::move(loaded);
  const bool open = at <= Phase::Nn; // both ways lead on from here
  const bool phased = open ? options.execution == Execution::Phased || options.to == Phase::Nests : at == Phase::Nests;
  if (!open || options.execution != Execution::Auto || phased || asksForStrips(options) || options.to <= Phase::Nn)
    return Run(options, *target, context, phased).finish(std::move(module), at);
  // Strips where every layer has that form and all fit; else phases.
  OwningOpRef<ModuleOp> copy = module->clone();
  auto pipelined = Run(options, *target, context, false).finish(std::move(copy), at);
  if (pipelined.ok())
    return pipelined;
  auto inPhases = Run(options, *target, context, true).finish(std::move(module), at);
  if (inPhases.ok())
    return inPhases;
  return absl::Status(inPhases.status().code(), absl::StrCat(std::string(inPhases.status().message()), "\nas strips: ",
                                                             std::string(pipelined.status().message())));
}

std::vector<std::string> inputsToBind(const absl::Status &status) { return import::inputsToBind(status); }

absl::StatusOr<std::vector<std::string>> validate(const CompileOptions &options) {
  std::vector<std::string> lines;
  if (llvm::sys::path::extension(options.model) != ".mlir") {
    import::ImportOptions importOptions;
    importOptions.dims = options.dims;
    importOptions.bindings = options.bindings;
    importOptions.inputs = options.inputs;
    importOptions.outputs = options.outputs;
    auto unsupported = import::listUnsupportedOperators(options.model, importOptions);
    if (!unsupported.ok())
      return unsupported.status();
    for (const auto &op : *unsupported)
      lines.push_back(absl::StrCat(op.domain.empty() ? "" : op.domain + ".", op.type, " (opset ", op.opset,
                                   "): ", op.count, op.count == 1 ? " node" : " nodes", ", first ", op.firstNode));
    if (!lines.empty())
      return lines;
  }
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  Phase at = Phase::Import;
  auto module = loadModel(context, options, at);
  if (!module.ok())
    return module.status();
  Diagnostics diagnostics(context);
  if (at > Phase::Nn && at != Phase::Nests)
    return lines;
  const bool strips = options.execution == Execution::Pipelined;
  PassManager manager(&context);
  for (Phase next = at; next != Phase::Nests && next != Phase::Kernels;) {
    next = nextPhase(next, !strips);
    addPasses(next, !strips, options, {}, manager);
  }
  if (failed(manager.run(**module)) || (strips && failed(checkKernels(**module))))
    lines.push_back(std::string(diagnostics.status("some layers have no form").message()));
  return lines;
}

} // namespace wsc::driver
