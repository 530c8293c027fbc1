// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Suite `compile`, and compiling in a child, whose peak memory is then the compiler's alone.
#include "compiler/driver/Compiler.h"
#include "runtime/base/PeakMemory.h"
#include "tools/support/Child.h"
#include "tools/support/Json.h"
#include "tools/support/ModelFacts.h"
#include "tools/wsc-bench/Bench.h"

#include "absl/strings/str_cat.h"

#include <chrono>
#include <cstdio>

namespace wsc::bench {

namespace json = llvm::json;

namespace {

absl::StatusOr<json::Object> compileHere(const json::Object &request) {
  driver::CompileOptions options;
  options.model = request.getString("model").value_or("").str();
  options.output = request.getString("executable").value_or("").str();
  options.target = request.getString("target").value_or("").str();
  options.execution =
      driver::findExecution(request.getString("execution").value_or("")).value_or(driver::Execution::Auto);
  options.equalColumns = request.getBoolean("equal_columns").value_or(false);
  auto facts = tools::readModelFacts(options.model);
  if (!facts.ok())
    return facts.status();
  std::vector<Tensor> inputs;
  if (auto folder = request.getString("data_set"); folder && !folder->empty())
    if (auto read = readTensorFolder(folder->str(), "input"); read.ok())
      inputs = *std::move(read);
  tools::fixShapes(*facts, inputs, tools::toDims(request.getObject("dims")), options);
  const auto start = std::chrono::steady_clock::now();
  auto report = driver::compile(options);
  if (!report.ok())
    return report.status();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  json::Array phases;
  for (const driver::PhaseTime &phase : report->phases)
    phases.push_back(json::Object{
        {"name", driver::phaseName(phase.phase)}, {"seconds", phase.seconds}, {"peak_rss_bytes", phase.peakRssBytes}});
  return json::Object{{"seconds", seconds},
                      {"peak_rss_bytes", peakRssBytes()},
                      {"output_bytes", report->outputBytes},
                      {"weight_bytes", facts->weightBytes},
                      {"predicted_cycles", report->predictedIntervalCycles},
                      {"candidates_optimum_cycles", report->optimumCycles},
                      {"bound_multiply_add_cycles", report->boundMultiplyAddCycles},
                      {"bound_io_cycles", report->boundIoCycles},
                      {"candidates_slowest_kernel_cycles", report->slowestKernelCycles},
                      {"cores_fma", report->coresFma},
                      {"cores_total", report->coresTotal},
                      {"phases", std::move(phases)}};
}

absl::Status benchCompile(const tools::Case &model, const Options &options, Results &results) {
  tools::TemporaryFolder folder;
  auto compiled = compileInChild(model, options, folder.path + "/model.wse");
  if (!compiled.ok())
    return compiled.status();
  for (const Compiled::Phase &phase : compiled->phases) {
    results.add({absl::StrCat(model.name, ".", phase.name, ".seconds"), phase.seconds, "s", {}, {}});
    results.add({absl::StrCat(model.name, ".", phase.name, ".peak_rss"), double(phase.peakRssBytes), "bytes", {}, {}});
  }
  results.add({model.name + ".seconds", compiled->seconds, "s", {}, {}});
  results.add({model.name + ".peak_rss", double(compiled->peakRssBytes), "bytes", {}, {}});
  results.add({model.name + ".weights", double(compiled->weightBytes), "bytes", {}, {}});
  const double limit = 1.1 * double(compiled->weightBytes) + 20e6; // most bytes an executable should take
  results.add({model.name + ".file", double(compiled->outputBytes), "bytes", limit, {}});
  if (double(compiled->outputBytes) > limit)
    results.note(absl::StrCat(model.name, ": the executable is larger than 1.1 times its weights and 20 MB"));
  return absl::OkStatus();
}

} // namespace

absl::Status withName(const std::string &name, const absl::Status &status) {
  return status.ok() ? status : absl::Status(status.code(), absl::StrCat(name, ": ", std::string(status.message())));
}

absl::Status forModels(const std::vector<std::string> &paths, bool needsData,
                       const std::function<absl::Status(const tools::Case &)> &measure) {
  std::vector<tools::Case> models;
  if (absl::Status status = findModels(paths, needsData, models); !status.ok())
    return status;
  absl::Status all = absl::OkStatus();
  for (const tools::Case &model : models)
    all.Update(withName(model.name, measure(model)));
  return all;
}

absl::StatusOr<Compiled> compileInChild(const tools::Case &model, const Options &options, const std::string &executable,
                                        bool equalColumns) {
  const json::Object request{{"model", model.model},
                             {"executable", executable},
                             {"target", options.target},
                             {"execution", options.execution},
                             {"equal_columns", equalColumns},
                             {"data_set", model.dataSets.empty() ? std::string() : model.dataSets.front()},
                             {"dims", tools::fromDims(options.dims)}};
  auto child = tools::Dialogue::start({tools::ownPath(), kCompileOne, tools::print(json::Object(request))});
  if (!child.ok())
    return child.status();
  auto line = (*child)->read();
  if (!line.ok())
    return line.status();
  auto answer = tools::parseObject(*line);
  if (!answer.ok())
    return answer.status();
  if (auto error = answer->getString("error"))
    return absl::InvalidArgumentError(error->str());
  Compiled compiled;
  compiled.seconds = answer->getNumber("seconds").value_or(0);
  compiled.peakRssBytes = answer->getInteger("peak_rss_bytes").value_or(0);
  compiled.outputBytes = answer->getInteger("output_bytes").value_or(0);
  compiled.weightBytes = answer->getInteger("weight_bytes").value_or(0);
  auto cycles = [&](const char *name) { return answer->getInteger(name).value_or(0); };
  compiled.predictedCycles = cycles("predicted_cycles");
  compiled.optimumCycles = cycles("candidates_optimum_cycles");
  compiled.boundMultiplyAddCycles = cycles("bound_multiply_add_cycles");
  compiled.boundIoCycles = cycles("bound_io_cycles");
  compiled.slowestKernelCycles = cycles("candidates_slowest_kernel_cycles");
  compiled.coresFma = cycles("cores_fma");
  compiled.coresTotal = cycles("cores_total");
  for (const json::Value &value : *answer->getArray("phases")) {
    const json::Object &phase = *value.getAsObject();
    compiled.phases.push_back(
        {phase.getString("name")->str(), *phase.getNumber("seconds"), *phase.getInteger("peak_rss_bytes")});
  }
  return compiled;
}

int compileOne(const std::string &text) {
  tools::followParent();
  auto request = tools::parseObject(text);
  if (!request.ok())
    return fail(request.status());
  auto answer = compileHere(*request);
  std::printf("%s\n",
              tools::print(answer.ok() ? std::move(*answer)
                                       : json::Object{{"error", tools::text(std::string(answer.status().message()))}})
                  .c_str());
  return 0;
}

absl::Status runCompile(const Options &options, Results &results) {
  return forModels(options.paths, false,
                   [&](const tools::Case &model) { return benchCompile(model, options, results); });
}

} // namespace wsc::bench
