// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wsc-opt: reads textual IR of any phase, runs passes, verifies, prints. MLIR's own driver with wsc's dialects and
// passes; but --help lists this project's passes, where MLIR's would begin with LLVM's options, the result is written
// as all outputs are, and diagnostics of operations that know a layer's name and no line give that name.
#include "compiler/driver/Registration.h"
#include "compiler/emit/TextFile.h"
#include "runtime/files/OutputFile.h"
#include "tools/support/CommandLine.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Debug.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <string>
#include <tuple>
#include <vector>

namespace {

constexpr const char *kExample =
    "Example:\n"
    "  wsc-opt net.mlir --canonicalize -o simpler.mlir\n"
    "  wsc-opt kernels.mlir --pass-pipeline='builtin.module(func.func(wafer-size{target=mesh-64x64}))'\n\n"
    "Reads IR of any phase, verifies it, runs passes in the order given, and prints the result.\n";

// Passes are options without a name of their own, so their names are among the registered options.
void listPasses(const char *title, bool own) {
  std::vector<llvm::StringRef> names;
  for (const auto &option : llvm::cl::getRegisteredOptions())
    names.push_back(option.first);
  std::sort(names.begin(), names.end());
  // Descriptions begin behind the widest name: MLIR cannot print a wider one.
  std::vector<const mlir::PassInfo *> passes;
  size_t width = 34;
  for (llvm::StringRef name : names)
    if (const mlir::PassInfo *pass = mlir::PassInfo::lookup(name);
        pass && own == (name.starts_with("nn-") || name.starts_with("spmd-") || name.starts_with("wafer-"))) {
      passes.push_back(pass);
      width = std::max(width, pass->getOptionWidth() + 4); // options stand four columns in
    }
  llvm::outs() << title << "\n";
  for (const mlir::PassInfo *pass : passes)
    pass->printHelpStr(2, width);
}

void printHelp() {
  const mlir::PassPipelineCLParser parser("", "passes"); // registers their names
  llvm::outs() << kExample << "\nUSAGE: wsc-opt [options] [FILE]\n\n";
  listPasses("Passes, with their options:", true);
  listPasses("\nPasses of MLIR:", false);
  llvm::outs() << "\nOptions:\n"
                  "  -o FILE                    where to print (default: standard output)\n"
                  "  --pass-pipeline=TEXT       passes with their options and the operations they run on\n"
                  "  --split-input-file         treat parts between lines of // ----- as files of their own\n"
                  "  --verify-diagnostics       compare diagnostics with expected-error comments\n"
                  "  --debug-only=PASS[,PASS]   tell on standard error what passes decide, and why\n"
                  "  --mlir-print-ir-after-all  print the IR after each pass\n"
                  "  --version                  versions\n"
                  "  --help-list                all options, those of MLIR and LLVM included\n";
}

// Sets what LLVM_DEBUG in this project's passes asks: LLVM's library as it is distributed has no option for it. Taken
// out of the arguments, as LLVM does not know it.
void takeDebugTypes(int &argc, char **argv) {
  constexpr llvm::StringRef kOption = "--debug-only=";
  static llvm::SmallVector<std::string> types;
  int kept = 0;
  for (int i = 0; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    if (argument.consume_front(kOption))
      for (llvm::StringRef type : llvm::split(argument, ','))
        types.push_back(type.str());
    else
      argv[kept++] = argv[i];
  }
  argv[argc = kept] = nullptr;
  llvm::SmallVector<const char *> names;
  for (const std::string &type : types)
    names.push_back(type.c_str());
  if (names.empty())
    return;
  llvm::DebugFlag = true;
  llvm::setCurrentDebugTypes(names.data(), unsigned(names.size()));
}

// Layers carry their names as locations: where a diagnostic has no line, its layer is named in its place. The handler
// lives as long as the context.
void nameLayersIn(mlir::MLIRContext *context, const std::string &file) {
  context->getDiagEngine().registerHandler([file](mlir::Diagnostic &diagnostic) {
    const mlir::Location place = diagnostic.getLocation();
    if (place->findInstanceOf<mlir::FileLineColLoc>() || diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
      return mlir::failure(); // to the handler that knows the source
    const auto layer = place->findInstanceOf<mlir::NameLoc>();
    wsc::tools::fail(file + ": " + (layer ? "layer " + layer.getName().str() + ": " : "") + diagnostic.str());
    return mlir::success();
  });
}

int run(int argc, char **argv) {
  mlir::DialectRegistry registry;
  wsc::driver::registerDialects(registry);
  std::string input, output;
  std::tie(input, output) = mlir::registerAndParseCLIOptions(argc, argv, kExample, registry);
  mlir::MlirOptMainConfig config = mlir::MlirOptMainConfig::createFromCLOptions();
  const wsc::files::Output outputs[] = {{"-o", output == "-" ? "" : output}};
  if (absl::Status status = wsc::files::checkOutputs(outputs, {&input, 1}); !status.ok())
    return wsc::tools::fail(std::string(status.message()));
  auto buffer = llvm::MemoryBuffer::getFileOrSTDIN(input, /*IsText=*/true);
  if (!buffer)
    return wsc::tools::fail("cannot open " + input + ": " + buffer.getError().message());
  if (!config.shouldVerifyDiagnostics())
    config.setPassPipelineSetupFn([&input, inner = config](mlir::PassManager &manager) {
      nameLayersIn(manager.getContext(), input);
      return inner.setupPassPipeline(manager);
    });
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (mlir::failed(mlir::MlirOptMain(stream, std::move(*buffer), registry, config)))
    return 1;
  const absl::Status written = wsc::emit::writeText(output, [&](llvm::raw_ostream &out) { out << text; });
  return written.ok() ? 0 : wsc::tools::fail(std::string(written.message()));
}

} // namespace

int main(int argc, char **argv) {
  wsc::driver::registerPasses();
  if (wsc::tools::answers(argc, argv, printHelp))
    return 0;
  takeDebugTypes(argc, argv);
  return run(argc, argv);
}
