// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One executable on the emulator, in a process of its own. Prints its facts as one JSON object once it is loaded, timed
// and has given the data set's results; then each line K on standard input runs sample K, and the answer is the seconds
// taken. At the end of its input it prints its peak memory.
#include "runtime/base/PeakMemory.h"
#include "runtime/files/OutputFile.h"
#include "runtime/session/Session.h"
#include "runtime/session/TensorFile.h"
#include "runtime/timing/Cost.h"
#include "tools/support/Child.h"
#include "tools/support/Json.h"
#include "tools/wsc-bench/Bench.h"
#include "tools/wsc-run/Run.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>

namespace wsc::bench {

namespace json = llvm::json;

namespace {

using Clock = std::chrono::steady_clock;
double secondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The samples' inputs: floats in [-1, 1), integers in 0 … 15, a seed of its own for each sample and input.
run::Inputs sampleInputs(const format::Entry &entry, uint64_t seed, int64_t sample) {
  run::Inputs inputs;
  for (size_t i = 0; i < entry.inputs.size(); ++i)
    inputs.emplace(entry.inputs[i].name,
                   run::randomTensor(entry.inputs[i], (seed * 1000003 + uint64_t(sample)) * 1009 + i));
  return inputs;
}

class Emulation {
public:
  explicit Emulation(const json::Object &request) : request(request) {}

  absl::StatusOr<json::Object> prepare() {
    auto start = Clock::now();
    auto opened = Session::open(string("executable"), {.threads = int(number("threads"))});
    if (!opened.ok())
      return opened.status();
    session = *std::move(opened);
    facts["load_seconds"] = secondsSince(start);
    absl::StatusOr<int> found = session->findEntry("");
    if (!found.ok())
      return found.status();
    entry = *found;
    start = Clock::now();
    auto timing = session->timing(entry);
    if (!timing.ok())
      return timing.status();
    facts["timing_seconds"] = secondsSince(start);
    facts["latency_cycles"] = (*timing)->latencyCycles;
    facts["interval_cycles"] = (*timing)->intervalCycles;
    addCounts();
    if (absl::Status status = verify(); !status.ok())
      return status;
    if (const std::string folder = string("dump"); !folder.empty())
      if (absl::Status status = dump(folder); !status.ok())
        return status;
    return std::move(facts);
  }

  absl::StatusOr<double> sample(int64_t k) {
    const run::Inputs inputs = sampleInputs(signature(), uint64_t(number("seed")), k);
    const auto start = Clock::now();
    auto outputs = session->run(entry, inputs);
    if (!outputs.ok())
      return outputs.status();
    return secondsSince(start);
  }

private:
  std::string string(const char *key) const { return request.getString(key).value_or("").str(); }
  double number(const char *key) const { return request.getNumber(key).value_or(0); }
  const format::Entry &signature() const { return session->executable().entries[entry]; }

  // Multiply-adds, cores and what no mapping can go below: all multiply-adds over all cores at the fastest rate the
  // programs use, and the inputs over the wafer's edge.
  void addCounts() {
    const format::Executable &executable = session->executable();
    const emulator::ValueCounters counters = session->counters(entry);
    int64_t macs = 0, words = 0;
    double rate = 0;
    for (const format::Step &step : signature().steps) {
      if (step.kind != format::StepKind::Run)
        continue;
      const format::Configuration &configuration = executable.configurations[step.configuration];
      for (const format::Kernel &kernel : configuration.kernels)
        macs += kernel.macs * step.count;
      for (const format::Role &role : configuration.roles)
        for (const format::Thread &thread : role.threads)
          for (const format::Instruction &instruction : thread)
            if (instruction.opcode == format::Opcode::Fma)
              rate = std::max(rate, timing::elementsPerCycle(executable.target, instruction));
    }
    for (const format::TensorType &type : signature().inputs)
      words += timing::fabricWords(type.type, type.elements());
    const double cores = double(executable.target.numCores());
    facts["macs_executed"] = counters.macs;
    facts["macs_network"] = macs;
    facts["cores_fma"] = counters.coresFma;
    facts["cores_total"] = executable.target.numCores();
    facts["bound_fma_cycles"] = rate > 0 ? double(macs) / (cores * rate) : 0.0;
    facts["bound_input_cycles"] = double(words) / executable.target.ioWordsPerCycle();
  }

  absl::Status verify() {
    const std::string folder = string("data_set");
    auto given = readTensorFolder(folder, "input"), wanted = readTensorFolder(folder, "output");
    for (const auto *tensors : {&given, &wanted})
      if (!tensors->ok())
        return tensors->status();
    auto inputs = run::matchTensors(*std::move(given), signature().inputs, folder + " input");
    auto expected = run::matchTensors(*std::move(wanted), signature().outputs, folder + " output");
    for (const auto *tensors : {&inputs, &expected})
      if (!tensors->ok())
        return tensors->status();
    auto outputs = session->run(entry, *inputs);
    if (!outputs.ok())
      return outputs.status();
    double maxError = 0, relativeL2 = 0;
    for (const Tensor &output : *outputs) {
      auto result = run::compareTensors(output, expected->at(output.type.name), 0, 0);
      if (!result.ok())
        return result.status();
      maxError = std::max(maxError, result->largestError);
      relativeL2 = std::max(relativeL2, result->relativeL2);
      if (!(result->relativeL2 <= number("l2")))
        return absl::DataLossError(absl::StrCat("wrong result: ", run::describe(*result, output.type.shape)));
    }
    facts["max_error"] = tools::number(maxError);
    facts["relative_l2"] = tools::number(relativeL2);
    return absl::OkStatus();
  }

  // The samples' inputs as raw files, for another program to run on.
  absl::Status dump(const std::string &folder) {
    json::Array samples;
    for (int64_t k = 0; k < int64_t(number("samples")); ++k) {
      json::Array tensors;
      for (const auto &[name, tensor] : sampleInputs(signature(), uint64_t(number("seed")), k)) {
        const std::string path = absl::StrCat(folder, "/", k, "-", tensors.size(), ".bin");
        const std::string_view bytes(reinterpret_cast<const char *>(tensor.bytes.data()), tensor.bytes.size());
        if (absl::Status status = files::writeWhole(bytes, path); !status.ok())
          return status;
        json::Array shape;
        for (int64_t extent : tensor.type.shape)
          shape.push_back(extent);
        tensors.push_back(json::Object{{"name", name},
                                       {"type", std::string(format::elementTypeName(tensor.type.type))},
                                       {"shape", std::move(shape)},
                                       {"file", path}});
      }
      samples.push_back(std::move(tensors));
    }
    return tools::writeJson(json::Object{{"samples", std::move(samples)}}, folder + "/inputs.json");
  }

  const json::Object &request;
  json::Object facts;
  std::unique_ptr<Session> session;
  int entry = 0;
};

} // namespace

int emulateOne(const std::string &text) {
  tools::followParent();
  auto request = tools::parseObject(text);
  if (!request.ok())
    return fail(request.status());
  Emulation emulation(*request);
  auto facts = emulation.prepare();
  if (!facts.ok())
    return fail(facts.status());
  std::printf("%s\n", tools::print(std::move(*facts)).c_str());
  std::fflush(stdout);
  for (std::string line; std::getline(std::cin, line);) {
    auto seconds = emulation.sample(std::strtoll(line.c_str(), nullptr, 10));
    if (!seconds.ok())
      return fail(seconds.status());
    std::printf("%.9f\n", *seconds);
    std::fflush(stdout);
  }
  std::printf("%lld\n", (long long)peakRssBytes());
  return 0;
}

} // namespace wsc::bench
