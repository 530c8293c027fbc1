// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wsc-reduce: makes IR that shows a fault smaller while a test script still finds the fault in it. MLIR's reductions
// with wsc's dialects and passes; the result is written as all outputs are.
#include "compiler/driver/Registration.h"
#include "compiler/emit/TextFile.h"
#include "runtime/files/OutputFile.h"
#include "tools/support/CommandLine.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Reducer/Passes.h"
#include "llvm/Support/CommandLine.h"

#include <cstdio>
#include <string>

namespace {

constexpr const char *kHelp =
    "Example:\n"
    "  wsc-reduce model.mlir --reduction-tree='traversal-mode=0 test=./is_interesting.sh' -o small.mlir\n"
    "  wsc-reduce model.mlir --opt-reduction-pass='opt-pass=canonicalize test=./is_interesting.sh' -o small.mlir\n\n"
    "Makes IR that shows a fault smaller while a test script still finds the fault in it. The script gets a file and\n"
    "exits with 1 if the fault is in it, with 0 if not.\n\n"
    "Usage: wsc-reduce [OPTIONS] [FILE]\n\n"
    "Options:\n"
    "  -o FILE                    where to print (default: standard output)\n"
    "  --reduction-tree=OPTIONS   leave out operations: traversal-mode=0 (whole parts first), test=SCRIPT\n"
    "  --opt-reduction-pass=OPTIONS\n"
    "                             keep what a pass makes where it is smaller: opt-pass=PASS, test=SCRIPT\n"
    "  --version                  versions\n"
    "  --help-list                all options, those of MLIR and LLVM included\n";

int reduce(mlir::MLIRContext &context, const std::string &input, const std::string &output,
           const mlir::PassPipelineCLParser &reductions) {
  if (!reductions.hasAnyOccurrences())
    return wsc::tools::failUsage("name a reduction with --reduction-tree or --opt-reduction-pass");
  const wsc::files::Output outputs[] = {{"-o", output == "-" ? "" : output}};
  if (absl::Status status = wsc::files::checkOutputs(outputs, {&input, 1}); !status.ok())
    return wsc::tools::fail(std::string(status.message()));
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::parseSourceFile<mlir::ModuleOp>(input, &context);
  if (!module)
    return 1; // the parser says why
  mlir::PassManager manager(&context);
  const auto refuse = [](const llvm::Twine &message) {
    wsc::tools::fail(message.str());
    return mlir::failure();
  };
  if (mlir::failed(reductions.addToPipeline(manager, refuse)) || mlir::failed(manager.run(*module)))
    return 1;
  const absl::Status written =
      wsc::emit::writeText(output, [&](llvm::raw_ostream &out) { out << *module->getOperation(); });
  return written.ok() ? 0 : wsc::tools::fail(std::string(written.message()));
}

} // namespace

int main(int argc, char **argv) {
  if (wsc::tools::answers(argc, argv, [] { std::fputs(kHelp, stdout); }))
    return 0;
  mlir::DialectRegistry registry;
  wsc::driver::registerDialects(registry);
  wsc::driver::registerPasses();
  mlir::registerReducerPasses();
  const llvm::cl::opt<std::string> input(llvm::cl::Positional, llvm::cl::desc("FILE"), llvm::cl::init("-"));
  const llvm::cl::opt<std::string> output("o", llvm::cl::desc("where to print"), llvm::cl::init("-"));
  const mlir::PassPipelineCLParser reductions("", "Reductions");
  llvm::cl::ParseCommandLineOptions(argc, argv, kHelp);
  mlir::MLIRContext context(registry);
  return reduce(context, input, output, reductions);
}
