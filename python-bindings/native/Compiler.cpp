// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wsc._compiler: compilations for Python, a module of its own so that running an executable loads no compiler. The
// interpreter lock is released while the compiler works; callbacks take it, and an exception in one, or a signal that
// Python answers with one, ends the compilation and is raised from it.
#include "compiler/driver/Compiler.h"
#include "compiler/driver/Pipeline.h"
#include "python-bindings/native/Status.h"

#include "absl/strings/str_cat.h"

#include <optional>

namespace py = pybind11;
using namespace py::literals;

namespace wsc::python {

namespace {

// The callbacks of one compilation, with the first exception that comes out of them.
class Callbacks {
public:
  Callbacks(py::object progress, py::object log) : progress(std::move(progress)), log(std::move(log)) {}

  driver::CompileHooks hooks() {
    driver::CompileHooks hooks;
    if (!progress.is_none())
      hooks.progress = [this](const driver::Progress &step) {
        guarded([&] { progress(driver::phaseName(step.phase), step.done, step.total); });
      };
    if (!log.is_none())
      hooks.log = [this](std::string_view line) { guarded([&] { log(std::string(line)); }); };
    hooks.cancelled = [this] {
      guarded([] {
        if (PyErr_CheckSignals() != 0)
          throw py::error_already_set();
      });
      return error.has_value();
    };
    return hooks;
  }

  // With the interpreter lock held.
  void rethrow() {
    if (error)
      throw py::error_already_set(std::move(*error));
  }

private:
  template <typename Call> void guarded(Call call) {
    const py::gil_scoped_acquire locked;
    if (error)
      return;
    try {
      call();
    } catch (py::error_already_set &raised) {
      error = std::move(raised);
    }
  }

  py::object progress, log;
  std::optional<py::error_already_set> error;
};

template <typename Known>
Known oneOf(const std::optional<Known> &found, const char *what, const std::string &given, const std::string &known) {
  if (!found)
    raise(absl::InvalidArgumentError(absl::StrCat("unknown ", what, " ", given, "; there are: ", known)));
  return *found;
}

driver::Phase phaseOf(const std::string &name) {
  std::string names;
  for (std::string_view phase : driver::kPhaseNames)
    absl::StrAppend(&names, names.empty() ? "" : " ", std::string(phase));
  return oneOf(driver::findPhase(name), "phase", name, names);
}

driver::Execution executionOf(const std::string &name) {
  return oneOf(driver::findExecution(name), "execution", name, "auto pipelined phased");
}

py::dict reportOf(const driver::CompileReport &report) {
  py::list kernels, phases;
  for (const driver::KernelReport &kernel : report.kernels)
    kernels.append(py::dict("name"_a = kernel.name, "layers"_a = kernel.layers,
                            "rectangle"_a = std::vector<int64_t>{kernel.row, kernel.col, kernel.rows, kernel.cols},
                            "cores"_a = kernel.cores, "macs"_a = kernel.macs,
                            "predicted_interval_cycles"_a = kernel.predictedIntervalCycles,
                            "sram_bytes"_a = kernel.sramBytes));
  for (const driver::PhaseTime &phase : report.phases)
    phases.append(py::dict("phase"_a = driver::phaseName(phase.phase), "seconds"_a = phase.seconds,
                           "peak_rss_bytes"_a = phase.peakRssBytes));
  return py::dict("target"_a = report.target, "execution"_a = report.execution, "cores_total"_a = report.coresTotal,
                  "cores_used"_a = report.coresUsed, "cores_fma"_a = report.coresFma,
                  "sram_worst_bytes"_a = report.sramWorstBytes, "macs"_a = report.macs,
                  "predicted_interval_cycles"_a = report.predictedIntervalCycles,
                  "candidates_optimum_cycles"_a = report.optimumCycles, "link_words"_a = report.linkWords,
                  "word_hops"_a = report.wordHops, "samples_per_second"_a = report.samplesPerSecond,
                  "utilisation"_a = report.utilisation, "bottleneck"_a = report.bottleneck,
                  "precision"_a = report.precision ? report::precisionText(*report.precision) : "",
                  "kernels"_a = kernels, "phases"_a = phases, "summary"_a = driver::printSummary(report));
}

// Fills options from Python's; `content` keeps the bytes of a model in memory.
struct Request {
  driver::CompileOptions options;
  py::object content;

  explicit Request(const py::dict &given) : content(given["content"]) {
    options.model = py::cast<std::string>(given["model"]);
    if (!content.is_none())
      options.content = py::cast<std::string_view>(content);
    options.output = py::cast<std::string>(given["file"]);
    if (const auto target = py::cast<std::string>(given["target"]); !target.empty())
      options.target = target;
    options.defects = py::cast<std::string>(given["defects"]);
    options.pins = py::cast<std::string>(given["pins"]);
    options.dims = py::cast<std::map<std::string, int64_t>>(given["dim"]);
    options.inputs = py::cast<std::vector<std::string>>(given["input"]);
    options.outputs = py::cast<std::vector<std::string>>(given["output"]);
    options.bindings = py::cast<std::map<std::string, std::string>>(given["bind"]);
    options.signature = py::cast<std::string>(given["signature"]);
    options.keepVariables = py::cast<bool>(given["keep_variables"]);
    options.precision = *driver::findPrecision(py::cast<std::string>(given["precision"])); // checked before
    options.narrowSums = py::cast<std::string>(given["accumulate"]) != "fp32";
    options.precisionSamples = py::cast<int>(given["precision_samples"]);
    options.to = phaseOf(py::cast<std::string>(given["to"]));
    options.execution = executionOf(py::cast<std::string>(given["execution"]));
    if (const auto from = py::cast<std::string>(given["compile_from"]); !from.empty())
      options.from = phaseOf(from);
    options.dumpDir = py::cast<std::string>(given["dump_phases"]);
    options.problemsDir = py::cast<std::string>(given["dump_problems"]);
    const auto effort = py::cast<std::string>(given["effort"]);
    options.search.effort = oneOf(kernels::findEffort(effort), "effort", effort, "fast default high");
    options.search.seed = py::cast<uint64_t>(given["seed"]);
    options.search.threads = py::cast<int>(given["threads"]);
  }
};

py::dict compile(const py::dict &given, const py::object &progress, const py::object &log) {
  Request request(given);
  Callbacks callbacks(progress, log);
  request.options.hooks = callbacks.hooks();
  absl::StatusOr<driver::CompileReport> report;
  {
    const py::gil_scoped_release unlocked;
    report = driver::compile(request.options);
  }
  callbacks.rethrow();
  if (!report.ok())
    raise(report.status(), driver::inputsToBind(report.status()));
  return reportOf(*report);
}

std::vector<std::string> validate(const py::dict &given) {
  const Request request(given);
  absl::StatusOr<std::vector<std::string>> lines;
  {
    const py::gil_scoped_release unlocked;
    lines = driver::validate(request.options);
  }
  if (!lines.ok())
    raise(lines.status(), driver::inputsToBind(lines.status()));
  return *std::move(lines);
}

std::string runPipeline(const std::string &ir, const std::string &pipeline, const std::string &name) {
  absl::StatusOr<std::string> text;
  {
    const py::gil_scoped_release unlocked;
    text = driver::runPipeline(ir, pipeline, name);
  }
  return take(std::move(text));
}

} // namespace

PYBIND11_MODULE(_compiler, module) {
  module.doc() = "The compiler of wsc.";
  module.attr("phases") =
      py::tuple(py::cast(std::vector<std::string>(driver::kPhaseNames.begin(), driver::kPhaseNames.end())));
  module.def("compile", &compile, "options"_a, "progress"_a = py::none(), "log"_a = py::none());
  module.def("validate", &validate, "options"_a);
  module.def("run_pipeline", &runPipeline, "ir"_a, "pipeline"_a, "name"_a);
}

} // namespace wsc::python
