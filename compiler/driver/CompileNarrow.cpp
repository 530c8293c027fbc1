// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/CompileNarrow.h"

#include "compiler/driver/PhaseRun.h"
#include "compiler/driver/PrecisionError.h"

#include "absl/strings/str_cat.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

using namespace mlir;

namespace wsc::driver {

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
  target::Target larger = target;
  larger.sramBytes *= 2;
  larger.json = target::targetJson(larger);
  CompileOptions wide = options;
  wide.precision = Precision::Model;
  wide.target = larger.json;
  wide.output = folder + "/wide.wse";
  wide.dumpDir.clear();
  wide.hooks.progress = nullptr;
  absl::Status status = runPhases(wide, larger, context, true, std::move(module), at).status();
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

absl::StatusOr<CompileReport> compileNarrow(const CompileOptions &options, const target::Target &target,
                                            MLIRContext &context, OwningOpRef<ModuleOp> module, Phase at) {
  OwningOpRef<ModuleOp> copy = module->clone();
  auto report = runPhases(options, target, context, true, std::move(module), at);
  if (!report.ok() || options.to != Phase::Wse)
    return report;
  auto facts = measurePrecision(options, target, context, std::move(copy), at);
  if (!facts.ok())
    return facts.status();
  report->precision = *std::move(facts);
  return report;
}

} // namespace wsc::driver
