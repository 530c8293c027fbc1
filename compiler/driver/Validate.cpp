// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Import and legality of a model, without a mapping.
#include "compiler/driver/CoreGeneration.h"
#include "compiler/driver/Diagnostics.h"
#include "compiler/driver/LoadModel.h"
#include "compiler/driver/PhasePasses.h"
#include "compiler/driver/Registration.h"
#include "compiler/import/onnx/Import.h"
#include "compiler/import/tf/Import.h"
#include "passes/wafer/Passes.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace wsc::driver {

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
