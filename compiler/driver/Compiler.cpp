// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the phases one after another on one module. Each phase is a pass pipeline or a translation; after each the IR
// can be dumped or the compilation ended.
#include "compiler/driver/Compiler.h"

#include "compiler/driver/CoreGeneration.h"
#include "compiler/driver/MappingTimer.h"
#include "compiler/driver/ModelFile.h"
#include "compiler/driver/PrecisionError.h"
#include "compiler/driver/Registration.h"
#include "compiler/emit/Module.h"
#include "compiler/emit/TextFile.h"
#include "compiler/emit/WeightFiles.h"
#include "compiler/import/onnx/Import.h"
#include "compiler/import/tf/Import.h"
#include "compiler/kernels/mapping/Embed.h"
#include "dialects/core/CoreDialect.h"
#include "dialects/wafer/Wafer.h"
#include "passes/spmd/Passes.h"
#include "passes/wafer/Passes.h"
#include "runtime/base/PeakMemory.h"
#include "runtime/files/OutputFile.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>

using namespace mlir;

namespace wsc::driver {

namespace {

absl::Status cancelled() { return absl::CancelledError("the compilation was cancelled"); }

bool isCancelled(const CompileOptions &options) { return options.hooks.cancelled && options.hooks.cancelled(); }

// Collects errors as text while it lives, and passes warnings and remarks on.
class Diagnostics {
public:
  Diagnostics(MLIRContext &context, const CompileOptions &options)
      : handler(&context, [this, &options](Diagnostic &diagnostic) {
          const DiagnosticSeverity severity = diagnostic.getSeverity();
          if (severity != DiagnosticSeverity::Error) {
            if (options.hooks.log)
              options.hooks.log(
                  absl::StrCat(severity == DiagnosticSeverity::Warning ? "warning: " : "note: ", diagnostic.str()));
            return success();
          }
          if (!text.empty())
            text += '\n';
          if (auto file = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
            absl::StrAppend(&text, file.getFilename().str(), ":", file.getLine(), ":", file.getColumn(), ": ");
          else if (auto name = diagnostic.getLocation()->findInstanceOf<NameLoc>())
            absl::StrAppend(&text, "layer ", name.getName().str(), ": ");
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
        timer, options.hooks.cancelled));
    break;
  case Phase::Placed:
    functions.addPass(wafer::createPlaceKernels({options.target, options.defects,
                                                 options.equalColumns ? kernels::Effort::Fast : options.search.effort,
                                                 options.search.seed, options.problemsDir}));
    break;
  case Phase::Nests:
    functions.addPass(spmd::createStoreAsBytes());
    functions.addPass(spmd::createLowerToNests());
    functions.addPass(spmd::createFuseNests());
    if (isNarrow(options.precision))
      functions.addPass(spmd::createNarrowFloats(
          {narrowType(options.precision), options.precision == Precision::Mixed, options.narrowSums}));
    functions.addPass(createCSEPass());
    break;
  case Phase::Routed:
    functions.addPass(wafer::createRouteStreams({options.target, options.defects, options.problemsDir}));
    break;
  default:
    break;
  }
}

import::ImportOptions importOptionsOf(const CompileOptions &options) {
  import::ImportOptions result;
  result.dims = options.dims;
  result.bindings = options.bindings;
  result.inputs = options.inputs;
  result.outputs = options.outputs;
  result.signature = options.signature;
  result.keepVariables = options.keepVariables;
  result.likeTensorFlowJs = options.likeTensorFlowJs;
  return result;
}

// What importers open: the model's file, or the one that holds its bytes.
std::string importPath(const CompileOptions &options, const ModelFile &file) {
  return file.path().empty() ? options.model : file.path();
}

// `file` holds a model that comes as bytes.
absl::StatusOr<OwningOpRef<ModuleOp>> loadModel(MLIRContext &context, const CompileOptions &options,
                                                const ModelFile &file, Phase &at) {
  if (llvm::sys::path::extension(options.model) != ".mlir") {
    at = Phase::Import;
    const import::ImportOptions importOptions = importOptionsOf(options);
    if (import::isTensorFlow(options.model))
      return import::importTensorFlow(context, options.model, importOptions);
    if (!options.signature.empty() || options.keepVariables || options.likeTensorFlowJs)
      return absl::InvalidArgumentError(absl::StrCat(!options.signature.empty() ? "--signature"
                                                     : options.keepVariables    ? "--keep-variables"
                                                                                : "--tensorflow-js",
                                                     " is for TensorFlow models; ", options.model, " is none"));
    return import::importOnnx(context, importPath(options, file), importOptions);
  }
  Diagnostics diagnostics(context, options);
  OwningOpRef<ModuleOp> module = options.content
                                     ? parseSourceString<ModuleOp>(*options.content, &context, options.model)
                                     : parseSourceFile<ModuleOp>(options.model, &context);
  if (!module)
    return diagnostics.status(absl::StrCat("cannot read ", options.model));
  at = options.from ? *options.from : phaseOf(*module);
  emit::resolvePaths(*module, llvm::sys::path::parent_path(options.model).str());
  if (auto status = emit::checkWeights(*module); !status.ok())
    return absl::Status(status.code(), absl::StrCat(options.model, ": ", std::string(status.message())));
  return module;
}

// What the IR says it was made for: a name or description, or empty.
std::string recordedTarget(ModuleOp module) {
  if (auto recorded = module->getAttrOfType<StringAttr>(wafer::WaferDialect::getTargetAttrName()))
    return recorded.str();
  for (auto executable : module.getOps<core::ExecutableOp>())
    return executable.getTarget().str();
  return "";
}

// The target to compile for: the one asked for, else the one the IR records, else wse2. From sizing on the IR is made
// for one target, and another is refused.
absl::StatusOr<target::Target> chooseTarget(const CompileOptions &options, ModuleOp module, Phase at) {
  const std::string recorded = recordedTarget(module);
  const std::string asked = !options.target.empty() ? options.target : recorded.empty() ? "wse2" : recorded;
  auto target = target::loadTarget(asked, options.defects);
  if (!target.ok() || recorded.empty() || at < Phase::Sized || at == Phase::Nests)
    return target;
  auto made = target::loadTarget(recorded);
  if (!made.ok())
    return made.status();
  if (made->json != target->json)
    return absl::InvalidArgumentError(
        absl::StrCat(options.model, " at phase ", phaseName(at), " is made for target ", made->name,
                     made->hasDefects() ? " with its defects" : "", ", not for ", target->name,
                     target->hasDefects() ? " with defects" : "",
                     "; leave --target and --defects out, or compile from an earlier phase"));
  return target;
}

// Names that need no file stand for themselves; any other target is recorded whole.
std::string describeTarget(const target::Target &target) {
  const bool named = !target.hasDefects() && target::loadTarget(target.name).ok() &&
                     target::loadTarget(target.name)->json == target.json;
  return named ? target.name : target.json;
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
    auto coreModule = phased ? generatePhased(target, *module, options.search.threads)
                             : generateCore(target, *module, options.problemsDir);
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

// What only strips read.
bool asksForStrips(const CompileOptions &options) {
  return options.equalColumns || !options.pins.empty() || !options.problemsDir.empty() ||
         (options.to > Phase::Nn && options.to < Phase::Nests);
}

// The first float type that an operation's result has and of which `is` holds, or null.
Type findFloatType(ModuleOp module, llvm::function_ref<bool(FloatType)> is) {
  Type found;
  module.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type)); element && is(element)) {
        found = element;
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return found;
}

std::string nameOf(Type type) {
  std::string name;
  llvm::raw_string_ostream(name) << type;
  return name;
}

// Whether the model and the other options go with the precision that is asked for.
absl::Status checkPrecision(const CompileOptions &options, ModuleOp module, Phase at) {
  const auto refuse = [&](const auto &...parts) { return absl::InvalidArgumentError(absl::StrCat(parts...)); };
  const std::string asked = absl::StrCat("--precision ", precisionName(options.precision));
  if (options.precision == Precision::F32)
    if (Type other = findFloatType(module, [](FloatType type) { return !type.isF32(); }))
      return refuse(options.model, " computes in ", nameOf(other),
                    ", not in f32 alone; --precision model takes it as it is");
  if (!isNarrow(options.precision))
    return absl::OkStatus();
  if (at > Phase::Nn)
    return refuse(options.model, " is at phase ", phaseName(at), "; ", asked,
                  " is decided on the way to phase nests, compile from phase nn or before");
  if (options.to <= Phase::Nn)
    return refuse(asked, " is decided on the way to phase nests; phase ", phaseName(options.to),
                  " comes before it, leave the option out or stop later");
  if (options.execution == Execution::Pipelined || asksForStrips(options))
    return refuse(asked,
                  " is for phased execution, and strips compute in f32; choose --execution phased, or auto, which "
                  "takes phases then, and leave out what is for strips (--pins, --dump-problems, phases kernels "
                  "to routed)");
  if (findFloatType(module, [](FloatType type) { return type.isF64(); }))
    return refuse(options.model, " computes in f64, of which ", asked,
                  " would keep little; convert the model to f32 first, or leave the option out");
  if (!findFloatType(module, [](FloatType type) { return type.isF32(); }))
    return refuse(options.model, " computes nothing in f32, so ", asked, " has nothing to do; leave it out");
  return absl::OkStatus();
}

} // namespace

// Whether the phases behind `at` lead to the one that is asked for: strips and nests are two ways.
static absl::Status checkWay(const CompileOptions &options, Phase at) {
  const auto isOfStrips = [](Phase phase) { return phase > Phase::Nn && phase < Phase::Nests; };
  const bool phased = at == Phase::Nests || options.execution == Execution::Phased;
  const bool pipelined = isOfStrips(at) || options.execution == Execution::Pipelined;
  if (!(phased && isOfStrips(options.to)) && !(pipelined && options.to == Phase::Nests))
    return absl::OkStatus();
  std::string others;
  for (Phase phase = Phase::Import; phase <= Phase::Wse; phase = nextPhase(phase, phased))
    absl::StrAppend(&others, " ", phaseName(phase));
  return absl::InvalidArgumentError(absl::StrCat("phase ", phaseName(options.to), " is of ",
                                                 phased ? "pipelined" : "phased", " execution; the phases of ",
                                                 phased ? "phased" : "pipelined", " execution are", others));
}

// The error of what was compiled, against the module in f32.
static absl::StatusOr<report::PrecisionFacts> measurePrecision(const CompileOptions &options,
                                                               const target::Target &target, MLIRContext &context,
                                                               OwningOpRef<ModuleOp> module, Phase at) {
  report::PrecisionFacts facts;
  facts.name = precisionName(options.precision);
  facts.operands = narrowName(options.precision);
  facts.sums = options.narrowSums ? facts.operands : "fp32";
  facts.samples = options.precisionSamples;
  facts.seed = options.search.seed;
  facts.unknown = "no samples were asked for";
  if (options.precisionSamples <= 0)
    return facts;
  std::string folder = (std::filesystem::temp_directory_path() / "wsc-XXXXXX").string();
  if (!mkdtemp(folder.data()))
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot make a temporary folder ", folder));
  target::Target roomy = target;
  roomy.sramBytes *= 2;
  roomy.json = target::targetJson(roomy);
  CompileOptions wide = options;
  wide.precision = Precision::Model;
  wide.target = roomy.json;
  wide.output = folder + "/wide.wse";
  wide.dumpDir.clear();
  wide.hooks.progress = nullptr;
  absl::Status status = Run(wide, roomy, context, true).finish(std::move(module), at).status();
  facts.unknown.clear();
  if (status.ok())
    status = measureError(options.output, wide.output, options.search.threads, facts);
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  if (absl::IsCancelled(status))
    return status;
  if (!status.ok())
    facts.unknown = absl::StrCat("the network in fp32, with twice the SRAM, fails: ", std::string(status.message()));
  return facts;
}

// In phases, with f32 tensors in 16 bits.
static absl::StatusOr<CompileReport> compileNarrow(const CompileOptions &options, const target::Target &target,
                                                   MLIRContext &context, OwningOpRef<ModuleOp> module, Phase at) {
  OwningOpRef<ModuleOp> copy = module->clone();
  auto report = Run(options, target, context, true).finish(std::move(module), at);
  if (!report.ok() || options.to != Phase::Wse)
    return report;
  auto facts = measurePrecision(options, target, context, std::move(copy), at);
  if (!facts.ok())
    return facts.status();
  report->precision = *std::move(facts);
  return report;
}

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
    return Run(options, *target, context, phased).finish(std::move(module), at);
  // Strips where every layer has that form and all fit; else phases.
  OwningOpRef<ModuleOp> copy = module->clone();
  auto pipelined = Run(options, *target, context, false).finish(std::move(copy), at);
  if (pipelined.ok() || absl::IsCancelled(pipelined.status()) || files::isOutputFailure(pipelined.status()))
    return pipelined;
  auto inPhases = Run(options, *target, context, true).finish(std::move(module), at);
  if (inPhases.ok() || absl::IsCancelled(inPhases.status()) || files::isOutputFailure(inPhases.status()))
    return inPhases;
  return absl::Status(inPhases.status().code(), absl::StrCat(std::string(inPhases.status().message()), "\nas strips: ",
                                                             std::string(pipelined.status().message())));
}

// Holds what comes as bytes and is to be imported.
static absl::Status holdContent(const CompileOptions &options, ModelFile &file) {
  if (!options.content || llvm::sys::path::extension(options.model) == ".mlir")
    return absl::OkStatus();
  if (import::isTensorFlow(options.model))
    return absl::InvalidArgumentError(absl::StrCat(
        options.model, " came as bytes; a TensorFlow model may have files beside it, give the path it has"));
  return file.hold(*options.content, options.model);
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

static absl::StatusOr<std::vector<std::string>> validateModel(const CompileOptions &options, const ModelFile &file) {
  std::vector<std::string> lines;
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  if (llvm::sys::path::extension(options.model) != ".mlir") {
    const import::ImportOptions importOptions = importOptionsOf(options);
    const bool isTensorFlow = import::isTensorFlow(options.model);
    auto unsupported = isTensorFlow ? import::listUnsupportedTensorFlowOperators(context, options.model, importOptions)
                                    : import::listUnsupportedOperators(importPath(options, file), importOptions);
    if (!unsupported.ok())
      return unsupported.status();
    for (const auto &op : *unsupported)
      lines.push_back(absl::StrCat(op.domain.empty() || isTensorFlow ? "" : op.domain + ".", op.type,
                                   isTensorFlow ? std::string() : absl::StrCat(" (opset ", op.opset, ")"), ": ",
                                   op.count, op.count == 1 ? " node" : " nodes", ", first ", op.firstNode));
    if (!lines.empty())
      return lines;
  }
  Phase at = Phase::Import;
  auto module = loadModel(context, options, file, at);
  if (!module.ok())
    return module.status();
  Diagnostics diagnostics(context, options);
  if (at > Phase::Nn && at != Phase::Nests)
    return lines;
  const bool strips = options.execution == Execution::Pipelined;
  const auto run = [&](Phase from, Phase to) {
    PassManager manager(&context);
    for (Phase next = from; next != to;) {
      next = nextPhase(next, !strips);
      addPasses(next, !strips, options, {}, manager);
    }
    return manager.run(**module);
  };
  LogicalResult sound = run(at, strips ? Phase::Nn : Phase::Nests);
  if (strips && succeeded(sound)) {
    OwningOpRef<ModuleOp> whole = (*module)->clone();
    sound = run(Phase::Nn, Phase::Kernels);
    if (failed(sound)) { // the layers that are left may have no form either
      module = std::move(whole);
      for (auto function : (**module).getOps<func::FuncOp>())
        wafer::cutUnknownLayers(function);
    }
    if ((succeeded(sound) || succeeded(run(Phase::Nn, Phase::Kernels))) && failed(checkKernels(**module)))
      sound = failure();
  }
  if (failed(sound)) {
    const absl::Status told = diagnostics.status("some layers have no form");
    lines = absl::StrSplit(told.message(), '\n');
  }
  return lines;
}

absl::StatusOr<std::vector<std::string>> validate(const CompileOptions &options) {
  ModelFile file;
  if (absl::Status status = holdContent(options, file); !status.ok())
    return status;
  auto lines = validateModel(options, file);
  if (!lines.ok())
    return file.named(lines.status());
  return lines;
}

} // namespace wsc::driver
