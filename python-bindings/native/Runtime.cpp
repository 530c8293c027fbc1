// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wsc._runtime: executables and sessions for Python. Plain calls with plain results; wsc/_executable.py gives them
// their form. Links the runtime only. The interpreter lock is released while a session works.
#include "python-bindings/native/Arrays.h"
#include "python-bindings/native/Status.h"
#include "runtime/report/Report.h"
#include "runtime/session/Session.h"
#include "runtime/session/TensorFile.h"
#include "tools/wsc-info/Facts.h"
#include "tools/wsc-info/Views.h"

#include "absl/strings/str_cat.h"

namespace py = pybind11;
using namespace py::literals;

namespace wsc::python {

namespace {

// Python's classes hold this: a session keeps its executable alive.
struct Program {
  ExecutablePtr loaded;
  const format::Executable &content() const { return loaded->content; }
};

py::list tensorsOf(const std::vector<format::TensorType> &types) {
  py::list list;
  for (const format::TensorType &type : types)
    list.append(py::make_tuple(type.name, std::string(format::elementTypeName(type.type)), dtypeOf(type.type),
                               py::tuple(py::cast(type.shape))));
  return list;
}

py::list entriesOf(const Program &program) {
  py::list list;
  for (const format::Entry &entry : program.content().entries)
    list.append(py::make_tuple(entry.name, tensorsOf(entry.inputs), tensorsOf(entry.outputs)));
  return list;
}

py::list statesOf(const Program &program) {
  std::vector<format::TensorType> types;
  for (const format::StateVariable &state : program.content().states)
    types.push_back(state.tensor);
  return tensorsOf(types);
}

py::list kernelsOf(const Program &program) {
  py::list list;
  for (const info::KernelFacts &facts : info::collectFacts(program.content()).kernels) {
    const format::Configuration &configuration = program.content().configurations[size_t(facts.configuration)];
    const format::Kernel &kernel = configuration.kernels[size_t(facts.kernel)];
    list.append(py::dict("name"_a = kernel.name, "layers"_a = kernel.layers, "configuration"_a = configuration.name,
                         "row"_a = kernel.row, "col"_a = kernel.col, "rows"_a = kernel.rows, "cols"_a = kernel.cols,
                         "cores"_a = facts.cores, "macs"_a = kernel.macs,
                         "predicted_interval_cycles"_a = kernel.predictedIntervalCycles,
                         "sram_bytes"_a = facts.sramBytes));
  }
  return list;
}

py::dict meshOf(const Program &program) {
  const target::Target &target = program.content().target;
  return py::dict("name"_a = target.name, "rows"_a = target.rows, "cols"_a = target.cols,
                  "clock_ghz"_a = target.clockGHz, "sram_bytes"_a = target.sramBytes);
}

std::string reportOf(const Program &program) {
  return absl::StrCat(info::summaryView(program.content()), "\n", info::kernelsView(program.content()), "\n",
                      info::floorPlanView(program.content()));
}

py::list run(Session &session, int entry, const py::list &values) {
  const format::Entry &signature = session.executable().entries.at(size_t(entry));
  if (values.size() != signature.inputs.size())
    raise(absl::InvalidArgumentError(absl::StrCat("entry ", signature.name, " takes ", signature.inputs.size(),
                                                  " inputs, ", values.size(), " given")));
  std::vector<py::array> arrays;
  std::vector<emulator::HostView> views;
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    const format::TensorType &type = signature.inputs[i];
    arrays.push_back(checkedArray(values[i], type, absl::StrCat("input ", type.name, " of entry ", signature.name)));
    views.push_back(bytesOf(arrays.back()));
  }
  absl::StatusOr<std::vector<emulator::HostTensor>> outputs;
  {
    const py::gil_scoped_release unlocked;
    outputs = session.runViews(entry, views);
  }
  py::list results;
  std::vector<emulator::HostTensor> tensors = take(std::move(outputs));
  for (size_t i = 0; i < tensors.size(); ++i)
    results.append(arrayOf(signature.outputs[i], std::move(tensors[i].bytes)));
  return results;
}

py::dict timeOf(Session &session, int entry) {
  absl::StatusOr<const emulator::TimingResult *> timing;
  {
    const py::gil_scoped_release unlocked;
    timing = session.timing(entry);
  }
  const emulator::TimingResult &result = *take(std::move(timing));
  py::list parts;
  for (const emulator::TimingPart &part : result.parts)
    parts.append(py::make_tuple(part.kind == emulator::TimingPart::Kind::Run ? "run" : "configure", part.name,
                                part.count, part.cyclesEach));
  return py::dict("latency_cycles"_a = result.latencyCycles, "interval_cycles"_a = result.intervalCycles,
                  "interval_settled"_a = result.intervalSettled, "interval_low"_a = result.intervalLow,
                  "interval_high"_a = result.intervalHigh, "utilisation"_a = result.computeUtilisation,
                  "bottleneck"_a = result.bottleneck, "parts"_a = parts);
}

// What wsc-run --timing-only --report writes of an entry.
void writeReport(Session &session, const Program &program, int entry, const std::string &path) {
  const auto write = [&]() -> absl::Status {
    if (absl::Status status = report::checkPath(path); !status.ok())
      return status;
    const auto timing = session.timing(entry);
    report::RunFacts run;
    run.timing = timing.ok() ? *timing : nullptr;
    run.emulation.unknown = timing.ok() ? "" : std::string(timing.status().message());
    run.emulation.engine = "core";
    const emulator::ValueCounters counters = session.counters(entry);
    run.emulation.macs = counters.macs;
    run.emulation.coresFma = counters.coresFma;
    report::Report report = report::describe(program.content(), program.loaded->name, entry);
    report::addRun(report, std::move(run));
    report::conclude(report);
    return report::write(report, path);
  };
  absl::Status status;
  {
    const py::gil_scoped_release unlocked;
    status = write();
  }
  check(status);
}

py::array readState(Session &session, const std::string &name) {
  absl::StatusOr<Tensor> tensor;
  {
    const py::gil_scoped_release unlocked;
    tensor = session.readState(name);
  }
  Tensor state = take(std::move(tensor));
  return arrayOf(state.type, std::move(state.bytes));
}

void writeState(Session &session, const std::string &name, const py::object &value) {
  for (const format::StateVariable &state : session.executable().states)
    if (state.tensor.name == name) {
      const py::array array = checkedArray(value, state.tensor, absl::StrCat("state variable ", name));
      const emulator::HostView bytes = bytesOf(array);
      const Tensor tensor{state.tensor, {bytes.begin(), bytes.end()}};
      absl::Status status;
      {
        const py::gil_scoped_release unlocked;
        status = session.writeState(name, tensor);
      }
      return check(status);
    }
  check(session.readState(name).status()); // says which there are
}

std::unique_ptr<Session> openSession(const Program &program, int threads) {
  absl::StatusOr<std::unique_ptr<Session>> session;
  {
    const py::gil_scoped_release unlocked;
    session = Session::open(program.loaded, {.threads = threads});
  }
  return take(std::move(session));
}

} // namespace

PYBIND11_MODULE(_runtime, module) {
  module.doc() = "The runtime of wsc: opens, runs and times wafer executables.";
  module.attr("version") = WSC_VERSION;
  module.attr("format_version") = format::kFormatVersion;

  py::class_<Program>(module, "Program")
      .def_static(
          "open",
          [](const std::string &path, bool verifyHashes, const std::string &name) {
            absl::StatusOr<ExecutablePtr> loaded;
            {
              const py::gil_scoped_release unlocked;
              loaded = openExecutable(path, {.verifyWeightHashes = verifyHashes}, name);
            }
            return Program{take(std::move(loaded))};
          },
          "path"_a, "verify_hashes"_a = false, "name"_a = "")
      .def_static(
          "from_bytes",
          [](const py::bytes &content, const std::string &name) {
            const std::string_view view = content;
            return Program{take(openExecutable(std::as_bytes(std::span(view)), name))};
          },
          "content"_a, "name"_a)
      .def_property_readonly("name", [](const Program &program) { return program.loaded->name; })
      .def_property_readonly("execution", [](const Program &program) { return program.content().execution; })
      .def_property_readonly("nbytes", [](const Program &program) { return program.loaded->file.size(); })
      .def("mesh", &meshOf)
      .def("entries", &entriesOf)
      .def("states", &statesOf)
      .def("kernels", &kernelsOf)
      .def("report", &reportOf)
      .def("floor_plan", [](const Program &program) { return info::floorPlanView(program.content()); })
      .def("json", [](const Program &program) { return info::jsonView(program.content()); })
      .def(
          "save",
          [](const Program &program, const std::string &path) {
            absl::Status status;
            {
              const py::gil_scoped_release unlocked;
              status = saveExecutable(*program.loaded, path);
            }
            check(status);
          },
          "path"_a);

  py::class_<Session>(module, "Session")
      .def(py::init(&openSession), "program"_a, "threads"_a = 0)
      .def(
          "find_entry", [](const Session &session, const std::string &name) { return take(session.findEntry(name)); },
          "name"_a)
      .def("run", &run, "entry"_a, "values"_a)
      .def("time", &timeOf, "entry"_a)
      .def("write_report", &writeReport, "program"_a, "entry"_a, "path"_a)
      .def("read_state", &readState, "name"_a)
      .def("write_state", &writeState, "name"_a, "value"_a);
}

} // namespace wsc::python
