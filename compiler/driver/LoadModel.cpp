// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/LoadModel.h"

#include "compiler/driver/Diagnostics.h"
#include "compiler/emit/WeightFiles.h"
#include "compiler/import/onnx/Import.h"
#include "compiler/import/tf/Import.h"
#include "dialects/core/CoreDialect.h"
#include "dialects/wafer/Wafer.h"

#include "absl/strings/str_cat.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace wsc::driver {

namespace {

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

// What the IR says it was made for: a name or description, or empty.
std::string recordedTarget(ModuleOp module) {
  if (auto recorded = module->getAttrOfType<StringAttr>(wafer::WaferDialect::getTargetAttrName()))
    return recorded.str();
  for (auto executable : module.getOps<core::ExecutableOp>())
    return executable.getTarget().str();
  return "";
}

} // namespace

absl::Status holdContent(const CompileOptions &options, ModelFile &file) {
  if (!options.content || llvm::sys::path::extension(options.model) == ".mlir")
    return absl::OkStatus();
  if (import::isTensorFlow(options.model))
    return absl::InvalidArgumentError(absl::StrCat(
        options.model, " came as bytes; a TensorFlow model may have files beside it, give the path it has"));
  return file.hold(*options.content, options.model);
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

std::string importPath(const CompileOptions &options, const ModelFile &file) {
  return file.path().empty() ? options.model : file.path();
}

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

std::string describeTarget(const target::Target &target) {
  const bool named = !target.hasDefects() && target::loadTarget(target.name).ok() &&
                     target::loadTarget(target.name)->json == target.json;
  return named ? target.name : target.json;
}

} // namespace wsc::driver
