// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/CoreGeneration.h"

#include "compiler/kernels/mapping/Embed.h"
#include "compiler/kernels/mapping/Generate.h"
#include "compiler/kernels/programs/AllocationProblem.h"
#include "compiler/kernels/programs/RoleBuilder.h"
#include "compiler/kernels/programs/StateRows.h"
#include "passes/wafer/NetworkIR.h"
#include "runtime/format/MemoryMap.h"
#include "runtime/timing/Phases.h"

#include "absl/strings/str_cat.h"

#include <algorithm>

using namespace mlir;

namespace wsc::driver {

absl::StatusOr<emit::CoreModule> generateCore(const target::Target &target, ModuleOp module,
                                              const std::string &problemsDir) {
  emit::CoreModule result;
  result.executable.target = target;
  result.executable.execution = "pipelined";
  auto mesh = kernels::usableMesh(target);
  if (!mesh.ok())
    return mesh.status();
  kernels::SectionTable sections;
  for (auto func : module.getOps<func::FuncOp>()) {
    auto network = wafer::readNetwork(func, wafer::Phase::Routed);
    if (failed(network))
      return absl::InvalidArgumentError("");
    if (result.executable.entries.empty())
      result.executable.states = kernels::stateVariables(network->plan.variables, sections);
    auto configuration = kernels::generateConfiguration(mesh->target, network->plan, sections);
    if (!configuration.ok())
      return configuration.status();
    if (!problemsDir.empty())
      for (const kernels::PosedProblem &problem : kernels::allocationProblems(target, *configuration))
        if (auto status = kernels::writeProblem(problemsDir, network->plan.name, problem); !status.ok())
          return status;
    if (target.hasDefects())
      kernels::embed(target, *mesh, *configuration);
    format::Entry entry;
    entry.name = network->plan.name;
    entry.inputs = network->plan.inputs;
    entry.outputs = network->plan.outputs;
    int32_t index = int32_t(result.executable.configurations.size());
    entry.steps = {{format::StepKind::Configure, index, {}}, {format::StepKind::Run, index, {0}}};
    result.executable.configurations.push_back(*std::move(configuration));
    result.executable.entries.push_back(std::move(entry));
  }
  if (result.executable.entries.empty())
    return absl::InvalidArgumentError("the module has no function to compile");
  result.sections = sections.take();
  return result;
}

LogicalResult checkKernels(ModuleOp module) {
  LogicalResult result = success();
  for (auto func : module.getOps<func::FuncOp>())
    if (failed(wafer::readNetwork(func, wafer::Phase::Kernels)))
      result = failure();
  return result;
}

void readPredictions(ModuleOp module, CompileReport &report) {
  using wafer::WaferDialect;
  for (auto func : module.getOps<func::FuncOp>()) {
    auto bounds = func->getAttrOfType<DenseI64ArrayAttr>(WaferDialect::getBoundsAttrName());
    if (bounds && bounds.size() == 4 && bounds[0] > report.optimumCycles) {
      report.optimumCycles = bounds[0];
      report.boundMultiplyAddCycles = bounds[1];
      report.boundIoCycles = bounds[2];
      report.slowestKernelCycles = bounds[3];
    }
    if (auto search = func->getAttrOfType<DenseI64ArrayAttr>(wafer::kSearchAttrName); search && search.size() == 3) {
      report.mappingsTried += search[0];
      report.foundBetterMapping |= search[1] != 0;
      report.timedIntervalCycles = std::max(report.timedIntervalCycles, search[2]);
    }
    auto words = func->getAttrOfType<IntegerAttr>(WaferDialect::getLinkWordsAttrName());
    auto link = func->getAttrOfType<StringAttr>(WaferDialect::getLinkAttrName());
    if (words)
      report.linkWords = std::max(report.linkWords, words.getInt());
    if (auto hops = func->getAttrOfType<IntegerAttr>(WaferDialect::getWordHopsAttrName()))
      report.wordHops = std::max(report.wordHops, hops.getInt());
    if (words && link && words.getInt() > report.predictedIntervalCycles) {
      report.predictedIntervalCycles = words.getInt();
      report.bottleneck = link.str();
    }
  }
}

// How often the first entry runs each configuration.
static std::vector<int64_t> runsOf(const format::Executable &executable) {
  std::vector<int64_t> runs(executable.configurations.size());
  if (!executable.entries.empty())
    for (const format::Step &step : executable.entries.front().steps)
      if (step.kind == format::StepKind::Run)
        runs[size_t(step.configuration)] += step.count;
  return runs;
}

void fillReport(const emit::CoreModule &module, CompileReport &report) {
  const format::Executable &executable = module.executable;
  const target::Target &target = executable.target;
  report.target = target.name;
  report.execution = executable.execution;
  report.coresTotal = target.numCores();
  report.sramLimitBytes = target.sramBytes;
  const bool phased = executable.execution == "phased"; // one after another: their times add up
  const std::vector<int64_t> runs = runsOf(executable);
  std::vector<int64_t> times; // per kernel
  for (const format::Configuration &configuration : executable.configurations) {
    const int64_t count = phased ? runs[size_t(&configuration - executable.configurations.data())] : 1;
    size_t first = report.kernels.size();
    times.insert(times.end(), configuration.kernels.size(), count);
    int64_t used = 0, fma = 0; // configurations run one at a time
    for (const format::Kernel &kernel : configuration.kernels)
      report.kernels.push_back({kernel.name, kernel.layers, kernel.row, kernel.col, kernel.rows, kernel.cols, 0,
                                kernel.macs, kernel.predictedIntervalCycles, 0});
    for (const format::Role &role : configuration.roles) {
      int64_t cores = role.cores.size(), end = format::memoryMap(target, role).usedBytes;
      used += cores;
      if (kernels::fmaElements(role) > 0)
        fma += cores;
      report.sramWorstBytes = std::max(report.sramWorstBytes, end);
      if (role.kernel >= 0) {
        KernelReport &kernel = report.kernels[first + role.kernel];
        kernel.cores += cores;
        kernel.sramBytes = std::max(kernel.sramBytes, end);
      }
    }
    report.coresUsed = std::max(report.coresUsed, used);
    report.coresFma = std::max(report.coresFma, fma);
  }
  for (const format::Entry &entry : executable.entries)
    for (const format::Step &step : entry.steps)
      report.hostSteps += step.kind != format::StepKind::Configure && step.kind != format::StepKind::Run;
  if (phased && !executable.entries.empty())
    report.predictedIntervalCycles += timing::predictedCycles(executable, executable.entries.front());
  int64_t longest = 0;
  for (size_t k = 0; k < report.kernels.size(); ++k) {
    const KernelReport &kernel = report.kernels[k];
    report.macs += kernel.macs * times[k];
    if (phased) {
      const int64_t cycles = kernel.predictedIntervalCycles * times[k];
      if (cycles > longest) {
        longest = cycles;
        report.bottleneck = kernel.name;
      }
    } else if (kernel.predictedIntervalCycles > report.predictedIntervalCycles) {
      report.predictedIntervalCycles = kernel.predictedIntervalCycles;
      report.bottleneck = kernel.name;
    }
  }
  // Words of inputs and outputs at the wafer's edge may take longer than any kernel.
  for (const format::Entry &entry : executable.entries) {
    int64_t words = 0;
    for (const auto *tensors : {&entry.inputs, &entry.outputs})
      for (const format::TensorType &tensor : *tensors)
        words += tensor.elements();
    auto cycles = int64_t(double(words) / target.ioWordsPerCycle());
    if (cycles > report.predictedIntervalCycles) {
      report.predictedIntervalCycles = cycles;
      report.bottleneck = absl::StrCat("input and output words of ", entry.name);
    }
  }
  if (report.predictedIntervalCycles > 0) {
    report.samplesPerSecond = target.clockGHz * 1e9 / double(report.predictedIntervalCycles);
    report.utilisation = double(report.macs) /
                         (double(report.coresTotal) * double(report.predictedIntervalCycles) * target.fmaPerCycleF32);
  }
}

} // namespace wsc::driver
