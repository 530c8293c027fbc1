// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Suite `calls`: what a run costs by each way in: Session::runViews, wsc_session_run, and exe.run of the Python package
// in a child. Rounds of batches of calls take turns; the least batch of each way counts, so that whatever else the
// machine does is left out. Inputs are zeros.
#include "runtime/capi/wsc.h"
#include "runtime/session/Session.h"
#include "tools/support/Child.h"
#include "tools/wsc-bench/Bench.h"
#include "tools/wsc-bench/CallScript.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>

namespace wsc::bench {

namespace {

// Bounds on what a way in adds to the C++ call, µs.
constexpr double kMostOfC = 2, kMostOfPython = 50;
// Microseconds of a batch, of a round and of all rounds of one way, where a call is shorter.
constexpr double kBatch = 50, kRound = 10e3, kAll = 200e3;

// The calls of a batch, and the batches of a round.
struct Round {
  int calls, batches;
};

// Microseconds of a call, in the round's least batch.
template <typename Call> absl::StatusOr<double> timeRound(Round round, Call call) {
  double best = 1e300;
  for (int batch = 0; batch < round.batches; ++batch) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < round.calls; ++i)
      if (absl::Status status = call(); !status.ok())
        return status;
    const std::chrono::duration<double, std::micro> time = std::chrono::steady_clock::now() - start;
    best = std::min(best, time.count() / round.calls);
  }
  return best;
}

// The C handles of an executable and a session.
struct Handles {
  wsc_executable *executable = nullptr;
  wsc_session *session = nullptr;
  ~Handles() {
    if (session)
      wsc_session_close(session);
    if (executable)
      wsc_executable_close(executable);
  }
};

class CallsBench {
public:
  CallsBench(std::string name, std::string file, Results &results)
      : name(std::move(name)), file(std::move(file)), results(results) {}

  absl::Status run() {
    for (absl::Status status : {openCpp(), openC()})
      if (!status.ok())
        return status;
    const auto python = openPython();
    absl::StatusOr<double> first = roundOfCpp({1, 5});
    if (!first.ok())
      return first.status();
    const int calls = int(std::clamp(kBatch / *first, 1.0, 1000.0));
    const Round round{calls, int(std::clamp(kRound / (*first * calls), 5.0, 1000.0))};
    const int rounds = int(std::clamp(kAll / (*first * calls * round.batches), 3.0, 20.0));
    double cpp = *first, c = 1e300, inPython = 1e300;
    for (int i = 0; i < rounds; ++i) {
      if (absl::Status status = least(cpp, roundOfCpp(round)); !status.ok())
        return status;
      if (absl::Status status = least(c, roundOfC(round)); !status.ok())
        return status;
      if (python)
        if (absl::Status status = least(inPython, roundOfPython(*python, round)); !status.ok())
          return status;
    }
    results.add({name + ".cpp", cpp, "us", {}, {}});
    results.add({name + ".c", c, "us", {}, cpp});
    results.add({name + ".c.overhead", c - cpp, "us", kMostOfC, {}});
    if (python) {
      results.add({name + ".python", inPython, "us", {}, cpp});
      results.add({name + ".python.overhead", inPython - cpp, "us", kMostOfPython, {}});
    }
    return absl::OkStatus();
  }

private:
  static absl::Status least(double &best, absl::StatusOr<double> time) {
    if (time.ok())
      best = std::min(best, *time);
    return time.status();
  }

  absl::Status openCpp() {
    auto opened = Session::open(file);
    if (!opened.ok())
      return opened.status();
    session = *std::move(opened);
    const format::Entry &entry = session->executable().entries.at(0);
    const auto bytesOf = [](const format::TensorType &type) {
      return size_t(type.elements() * format::elementBytes(type.type));
    };
    for (const format::TensorType &type : entry.inputs)
      in.emplace_back(bytesOf(type));
    for (const format::TensorType &type : entry.outputs)
      out.emplace_back(bytesOf(type));
    for (const std::vector<std::byte> &bytes : in) {
      views.push_back({bytes.data(), bytes.size()});
      inputs.push_back({bytes.data(), bytes.size()});
    }
    for (std::vector<std::byte> &bytes : out)
      outputs.push_back({bytes.data(), bytes.size()});
    return absl::OkStatus();
  }

  absl::Status openC() {
    if (wsc_executable_open(file.c_str(), &handles.executable) != WSC_OK ||
        wsc_session_open(handles.executable, 0, &handles.session) != WSC_OK)
      return absl::UnknownError(wsc_last_error());
    return absl::OkStatus();
  }

  // Null, with a note, where there is no Python with the package.
  std::unique_ptr<tools::Dialogue> openPython() {
    const char *given = std::getenv("WSC_PYTHON");
    const std::string folder = std::filesystem::path(tools::ownPath()).parent_path().parent_path() / "python";
    auto child = tools::Dialogue::start({given && *given ? given : "python3", "-c", kCallScript, file, folder});
    absl::StatusOr<std::string> line = child.ok() ? (*child)->read() : child.status();
    if (line.ok() && *line == "ready")
      return *std::move(child);
    results.note(absl::StrCat("Python is not timed; WSC_PYTHON names an interpreter that has NumPy and wsc: ",
                              line.ok() ? *line : std::string(line.status().message())));
    return nullptr;
  }

  absl::StatusOr<double> roundOfCpp(Round round) {
    return timeRound(round, [&] { return session->runViews(0, views).status(); });
  }
  absl::StatusOr<double> roundOfC(Round round) {
    return timeRound(round, [&] {
      const wsc_status status =
          wsc_session_run(handles.session, 0, inputs.data(), inputs.size(), outputs.data(), outputs.size());
      return status == WSC_OK ? absl::OkStatus() : absl::UnknownError(wsc_last_error());
    });
  }
  static absl::StatusOr<double> roundOfPython(tools::Dialogue &python, Round round) {
    auto answer = python.ask(absl::StrCat(round.calls, " ", round.batches));
    if (!answer.ok())
      return answer.status();
    return std::strtod(answer->c_str(), nullptr);
  }

  const std::string name, file;
  Results &results;
  std::unique_ptr<Session> session;
  Handles handles;
  std::vector<std::vector<std::byte>> in, out;
  std::vector<emulator::HostView> views;
  std::vector<wsc_input> inputs;
  std::vector<wsc_output> outputs;
};

absl::Status benchCalls(const tools::Case &model, const Options &options, Results &results) {
  tools::TemporaryFolder folder;
  std::string executable = model.model;
  if (!executable.ends_with(".wse")) {
    executable = folder.path + "/model.wse";
    if (auto compiled = compileInChild(model, options, executable); !compiled.ok())
      return compiled.status();
  }
  return CallsBench(model.name, executable, results).run();
}

} // namespace

absl::Status runCalls(const Options &options, Results &results) {
  return forModels(options.paths, false, [&](const tools::Case &model) { return benchCalls(model, options, results); });
}

} // namespace wsc::bench
