// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One case, in a process of its own: compile, open, then run and compare each data set on the same executable.
#include "compiler/driver/Compiler.h"
#include "runtime/base/PeakMemory.h"
#include "runtime/session/Session.h"
#include "runtime/session/TensorFile.h"
#include "tools/support/Child.h"
#include "tools/support/Json.h"
#include "tools/support/ModelFacts.h"
#include "tools/support/TensorFlowCase.h"
#include "tools/wsc-run/Run.h"
#include "tools/wsc-test/Test.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

namespace wsc::test_tool {

namespace json = llvm::json;

namespace {

void stage(const std::string &name) {
  std::printf("stage %s\n", name.c_str());
  std::fflush(stdout);
}

// The first line of an error, and what its colon announces.
std::string firstLine(const absl::Status &status) {
  std::string message(status.message());
  size_t end = message.find('\n');
  while (end != std::string::npos && end > 0 && message[end - 1] == ':') {
    const size_t text = message.find_first_not_of(" \n", end);
    message.replace(end, (text == std::string::npos ? message.size() : text) - end, " ");
    end = message.find('\n', end);
  }
  return message.substr(0, end);
}

// Where an executable's steps run.
std::string placeOf(const format::Executable &executable) {
  bool wafer = false, host = false;
  for (const format::Entry &entry : executable.entries)
    for (const format::Step &step : entry.steps) {
      wafer |= step.kind == format::StepKind::Run;
      host |= step.kind != format::StepKind::Run && step.kind != format::StepKind::Configure;
    }
  return wafer && host ? "both" : host ? "host" : "wafer";
}

class OneCase {
public:
  explicit OneCase(const json::Object &request) : request(request) {}

  json::Object run() {
    absl::Status status = work();
    json::Object outcome{
        {"status", status.ok() ? "PASS" : "FAIL"},
        {"where", where},
        {"max_error", compared ? tools::number(maxError) : json::Value(nullptr)},
        {"relative_l2", compared ? tools::number(relativeL2) : json::Value(nullptr)},
        {"reason", tools::text(status.ok() ? notes : absl::StrCat(firstLine(status), notes.empty() ? "" : " ", notes))},
        {"data_sets", int64_t(dataSetsRun)},
        {"compile_seconds", compileSeconds},
        {"run_seconds", runSeconds},
        {"peak_rss_bytes", peakRssBytes()},
        {"outputs", std::move(outputs)}};
    return outcome;
  }

private:
  std::string string(const char *key) const { return request.getString(key).value_or("").str(); }
  double number(const char *key) const { return request.getNumber(key).value_or(0); }

  absl::Status work() {
    std::vector<std::string> dataSets;
    if (const json::Array *array = request.getArray("data_sets"))
      for (const json::Value &value : *array)
        dataSets.push_back(value.getAsString().value_or("").str());
    stage("compiling");
    const auto start = std::chrono::steady_clock::now();
    if (absl::Status status = compile(dataSets.front()); !status.ok())
      return status;
    compileSeconds = secondsSince(start);
    stage("opening the executable");
    auto opened = Session::open(string("executable"), {.threads = int(number("threads"))});
    if (!opened.ok())
      return opened.status();
    absl::StatusOr<int> entry = (*opened)->findEntry("");
    if (!entry.ok())
      return entry.status();
    // Data that TensorFlow.js made have its shapes where it leaves TensorFlow's definition.
    if (isTensorFlow && !haveShapes((*opened)->executable().entries[*entry].outputs, dataSets.front())) {
      likeTensorFlowJs = true;
      stage("compiling as TensorFlow.js computes");
      if (absl::Status status = compile(dataSets.front()); !status.ok())
        return status;
      opened = Session::open(string("executable"), {.threads = int(number("threads"))});
      if (!opened.ok())
        return opened.status();
      entry = (*opened)->findEntry("");
      if (!entry.ok())
        return entry.status();
    }
    where = placeOf((*opened)->executable());
    absl::Status all = absl::OkStatus();
    for (size_t k = 0; k < dataSets.size(); ++k) {
      stage(absl::StrCat("running data set ", k));
      absl::Status status = runSet(**opened, *entry, dataSets[k], k);
      if (!status.ok() && dataSets.size() > 1)
        status = absl::Status(status.code(), absl::StrCat("data set ", k, ": ", std::string(status.message())));
      all.Update(status);
    }
    if (all.ok() && string("engine") == "cycle")
      all.Update(runCycles(**opened, *entry, int(dataSets.size())));
    return all;
  }

  absl::Status runCycles(Session &session, int entry, int samples) {
    stage("running cycle by cycle");
    emulator::CycleOptions options;
    options.samples = samples;
    options.threads = int(number("threads"));
    absl::StatusOr<emulator::CycleResult> run = session.cycles(entry, options);
    if (!run.ok())
      return run.status();
    absl::StrAppend(&notes, notes.empty() ? "" : " ", "latency ", run->latencyCycles, " cycles");
    return absl::OkStatus();
  }

  // Whether a data set's outputs have the shapes of an executable's; what cannot be read is reported later.
  static bool haveShapes(const std::vector<format::TensorType> &types, const std::string &dataSet) {
    auto outputs = readTensorFolder(dataSet, "output");
    if (!outputs.ok() || outputs->size() != types.size())
      return true;
    for (const Tensor &output : *outputs)
      for (const format::TensorType &type : types)
        if (type.name == output.type.name && type.shape != output.type.shape)
          return false;
    return true;
  }

  absl::Status compile(const std::string &dataSet) {
    driver::CompileOptions options;
    options.likeTensorFlowJs = likeTensorFlowJs;
    options.model = string("model");
    options.output = string("executable");
    options.target = string("target");
    options.execution = driver::findExecution(string("execution")).value_or(driver::Execution::Auto);
    options.precision = driver::findPrecision(string("precision")).value_or(driver::Precision::Model);
    options.precisionSamples = 0; // the data set tells the error
    // A model or data set that cannot be read is reported by what follows.
    auto inputs = readTensorFolder(dataSet, "input");
    const std::vector<Tensor> given = inputs.ok() ? *std::move(inputs) : std::vector<Tensor>();
    std::vector<std::string> used;
    isTensorFlow = tools::isTensorFlowCase(options.model);
    if (isTensorFlow) {
      auto outputs = readTensorFolder(dataSet, "output");
      facts = tools::nameTensors(given, outputs.ok() ? *outputs : std::vector<Tensor>(), options);
    } else {
      auto read = tools::readModelFacts(options.model);
      if (!read.ok())
        return driver::compile(options).status();
      facts = *std::move(read);
      used = tools::fixShapes(facts, given, tools::toDims(request.getObject("dims")), options);
    }
    absl::Status status = driver::compile(options).status();
    // Inputs that shapes depend on are bound to the first data set's values, as the importer meets them.
    for (bool more = true; more && !status.ok();) {
      const auto bound = tools::bindInputs(facts, given, driver::inputsToBind(status), options);
      used.insert(used.end(), bound.begin(), bound.end());
      more = !bound.empty();
      if (more)
        status = driver::compile(options).status();
    }
    if (likeTensorFlowJs)
      used.push_back("--tensorflow-js");
    if (!used.empty())
      notes = absl::StrCat("(with ", absl::StrJoin(used, " "), ")");
    bindings = options.bindings;
    return status;
  }

  absl::Status runSet(Session &session, int entry, const std::string &folder, size_t set) {
    const format::Entry &signature = session.executable().entries[entry];
    absl::StatusOr<std::vector<Tensor>> given = readTensorFolder(folder, "input");
    if (!given.ok())
      return given.status();
    absl::StatusOr<run::Inputs> inputs =
        run::matchTensors(tools::withoutBound(facts, *std::move(given), bindings), signature.inputs, folder + " input");
    if (!inputs.ok())
      return inputs.status();
    if (isTensorFlow)
      for (const format::TensorType &type : signature.inputs)
        inputs->at(type.name) = tools::withIntegerType(inputs->at(type.name), type.type);
    readBits(signature.inputs, *inputs);
    absl::StatusOr<std::vector<Tensor>> wanted = readTensorFolder(folder, "output");
    if (!wanted.ok())
      return wanted.status();
    absl::StatusOr<run::Inputs> expected = run::matchTensors(*std::move(wanted), signature.outputs, folder + " output");
    if (!expected.ok())
      return expected.status();
    readBits(signature.outputs, *expected);
    const auto start = std::chrono::steady_clock::now();
    absl::StatusOr<std::vector<Tensor>> results = session.run(entry, *inputs);
    if (!results.ok())
      return results.status();
    runSeconds += secondsSince(start);
    ++dataSetsRun;
    absl::Status all = absl::OkStatus();
    for (const Tensor &result : *results)
      all.Update(
          compare(isTensorFlow ? tools::withIntegerType(result, expected->at(result.type.name).type.type) : result,
                  expected->at(result.type.name), set));
    return all;
  }

  // Data sets of ONNX up to 1.12 hold bf16 as u16 of the same bits, as its NumPy had no such type.
  void readBits(const std::vector<format::TensorType> &types, run::Inputs &tensors) {
    for (const format::TensorType &type : types) {
      auto found = tensors.find(type.name);
      if (found == tensors.end() || type.type != format::ElementType::BF16 ||
          found->second.type.type != format::ElementType::U16)
        continue;
      found->second.type.type = type.type;
      const std::string note = absl::StrCat("(u16 of ", type.name, " read as bf16)");
      if (notes.find(note) == std::string::npos)
        absl::StrAppend(&notes, notes.empty() ? "" : " ", note);
    }
  }

  absl::Status compare(const Tensor &got, const Tensor &expected, size_t set) {
    if (got.type.type != expected.type.type)
      return absl::DataLossError(absl::StrCat("output ", got.type.name, " is ", wsc::describe(got.type), ", expected ",
                                              wsc::describe(expected.type)));
    auto result = run::compareTensors(got, expected, number("rtol"), number("atol"));
    if (!result.ok())
      return result.status();
    compared = true;
    maxError = std::max(maxError, result->largestError);
    relativeL2 = std::max(relativeL2, result->relativeL2);
    const std::string told = run::describe(*result, got.type.shape);
    const double l2 = number("l2");
    const bool withinL2 = l2 < 0 || result->relativeL2 <= l2;
    outputs.push_back(json::Object{{"data_set", int64_t(set)},
                                   {"name", tools::text(got.type.name)},
                                   {"max_error", tools::number(result->largestError)},
                                   {"relative_l2", tools::number(result->relativeL2)},
                                   {"outside", result->outside},
                                   {"passed", result->passed() && withinL2},
                                   {"text", tools::text(told)}});
    if (!result->passed())
      return absl::DataLossError(told);
    if (!withinL2)
      return absl::DataLossError(absl::StrCat(told, ", more than --l2 ", l2));
    return absl::OkStatus();
  }

  static double secondsSince(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }

  const json::Object &request;
  tools::ModelFacts facts;
  std::map<std::string, std::string> bindings;
  json::Array outputs;
  std::string where = "-", notes;
  double maxError = 0, relativeL2 = 0, compileSeconds = 0, runSeconds = 0;
  int dataSetsRun = 0;
  bool compared = false, isTensorFlow = false, likeTensorFlowJs = false;
};

} // namespace

std::string requestFor(const tools::Case &test, const Options &options, const std::string &executable) {
  json::Array dataSets;
  for (const std::string &folder : test.dataSets)
    dataSets.push_back(folder);
  return tools::print(json::Object{{"model", test.model},
                                   {"data_sets", std::move(dataSets)},
                                   {"executable", executable},
                                   {"target", options.target},
                                   {"dims", tools::fromDims(options.dims)},
                                   {"rtol", options.rtol},
                                   {"atol", options.atol},
                                   {"l2", options.l2},
                                   {"engine", options.engine},
                                   {"execution", options.execution},
                                   {"precision", options.precision},
                                   {"threads", options.threads}});
}

int runOneCase(const std::string &text) {
  tools::followParent();
  absl::StatusOr<json::Object> request = tools::parseObject(text);
  if (!request.ok() || !request->getArray("data_sets") || request->getArray("data_sets")->empty()) {
    std::fprintf(stderr, "error: %s is for wsc-test itself\n", kOneCase);
    return 2;
  }
  std::printf("%s\n", tools::print(OneCase(*request).run()).c_str());
  return 0;
}

} // namespace wsc::test_tool
