// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The course of one call: open, time, state in, samples, comparison, state out, replay, report.
#include "tools/wsc-run/Run.h"

#include "runtime/emulator/cycle/CycleReports.h"
#include "runtime/format/Disassembly.h"

#include "absl/strings/str_cat.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <thread>
#include <unistd.h>

namespace wsc::run {

using namespace format;

namespace {

double secondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// What an interrupted run says, since its report is not written.
std::string interruption;

void interrupted(int) {
  // Only what a signal handler may call.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, interruption.data(), interruption.size());
  _exit(1);
}

void announceInterruptions(const std::string &report) {
  interruption = absl::StrCat("error: interrupted; report ", printable(report), " was not written\n");
  std::signal(SIGINT, interrupted);
  std::signal(SIGTERM, interrupted);
}

class Runner {
public:
  explicit Runner(const Options &options) : options(options) {}

  absl::Status run() {
    const auto start = std::chrono::steady_clock::now();
    if (!options.report.empty()) {
      if (absl::Status status = wsc::report::checkPath(options.report); !status.ok())
        return status;
      announceInterruptions(options.report);
    }
    // Where no values are computed, the order of the units that compute them need not be found.
    absl::StatusOr<std::unique_ptr<Session>> opened =
        Session::open(options.model, {.threads = options.threads, .worklist = options.timingOnly});
    if (!opened.ok())
      return opened.status();
    session = *std::move(opened);
    report.loadSeconds = secondsSince(start);
    absl::StatusOr<int> found = session->findEntry(options.entry);
    if (!found.ok())
      return found.status();
    entry = *found;
    if (absl::Status status = describeRun(); !status.ok())
      return status;
    if (options.engine == "cycle")
      if (absl::Status status = runEngine(); !status.ok())
        return status;
    if (!options.timingOnly)
      if (absl::Status status = values(); !status.ok())
        return status;
    if (!options.trace.empty())
      if (absl::Status status =
              writeFileWhole(emulator::traceJson(cycles, *report.configuration, kMostTraceSpans), options.trace);
          !status.ok())
        return status;
    if (!options.stats.empty())
      if (absl::Status status = writeFileWhole(statsJson(report), options.stats); !status.ok())
        return status;
    if (!options.report.empty()) {
      const wsc::report::Report full = fullReport(report, options.model, entry);
      std::signal(SIGINT, SIG_IGN); // what has begun to be written is finished
      std::signal(SIGTERM, SIG_IGN);
      if (absl::Status status = wsc::report::write(full, options.report); !status.ok())
        return status;
    }
    if (!options.quiet)
      std::fputs(summary(report, options.verbose).c_str(), stdout);
    if (failedComparisons > 0)
      return absl::DataLossError(absl::StrCat("--verify ", options.verify, ": ", failedComparisons, " of ", comparisons,
                                              " outputs differ by more than --rtol ", options.rtol, " and --atol ",
                                              options.atol));
    return absl::OkStatus();
  }

private:
  absl::Status describeRun() {
    const Executable &executable = session->executable();
    report.executable = &executable;
    report.engine = options.engine;
    report.threads = options.threads > 0 ? options.threads : int(std::thread::hardware_concurrency());
    report.counters = session->counters(entry);
    report.samples = std::max(1, options.samples);
    if (absl::StatusOr<const Configuration *> timed = session->timedConfiguration(entry); timed.ok())
      report.configuration = *timed;
    absl::StatusOr<const emulator::TimingResult *> timing = session->timing(entry);
    if (timing.ok()) {
      report.timing = *timing;
      return absl::OkStatus();
    }
    if (options.engine == "cycle" && absl::IsFailedPrecondition(timing.status()))
      return absl::OkStatus(); // the cycle engine tells more of a program that stops
    if (!absl::IsUnimplemented(timing.status()) || options.timingOnly || options.engine == "cycle")
      return timing.status();
    report.configuration = nullptr;
    report.timingUnknown = std::string(timing.status().message());
    return absl::OkStatus();
  }

  // Before values, so that a program that stops leaves no files.
  absl::Status runEngine() {
    if (!options.timingOnly) {
      absl::StatusOr<SampleSource> source = SampleSource::create(session->executable().entries[entry], options);
      if (!source.ok())
        return source.status();
      report.samples = source->count();
    }
    emulator::CycleOptions wanted;
    wanted.samples = report.samples;
    wanted.threads = report.threads;
    wanted.perCore = !options.stats.empty() || !options.report.empty();
    wanted.mostTraceSpans = options.trace.empty() && options.report.empty() ? 0 : kMostTraceSpans;
    const auto start = std::chrono::steady_clock::now();
    std::vector<emulator::TimingPart> parts;
    absl::StatusOr<emulator::CycleResult> run = session->cycles(entry, wanted, &parts);
    if (!run.ok())
      return run.status();
    report.cycleSeconds = secondsSince(start);
    cycles = *std::move(run);
    cycleTiming = emulator::timingOf(cycles, *report.configuration, report.samples, report.timing);
    cycleTiming.parts = std::move(parts);
    report.timing = &cycleTiming;
    report.cycles = &cycles;
    return absl::OkStatus();
  }

  absl::Status values() {
    const Entry &wanted = session->executable().entries[entry];
    if (!options.stateIn.empty())
      if (absl::Status status = readStates(); !status.ok())
        return status;
    absl::StatusOr<SampleSource> source = SampleSource::create(wanted, options);
    if (!source.ok())
      return source.status();
    report.samples = source->count();
    report.ranValues = true;
    report.results = wanted.outputs;
    const std::vector<std::string> expected =
        options.verify.empty() ? std::vector<std::string>() : dataSetFolders(options.verify);
    std::vector<std::vector<Tensor>> results;
    double seconds = 0;
    for (int k = 0; k < source->count(); ++k) {
      absl::StatusOr<Inputs> inputs = source->sample(k);
      if (!inputs.ok())
        return inputs.status();
      const auto start = std::chrono::steady_clock::now();
      absl::StatusOr<std::vector<Tensor>> outputs = session->run(entry, *inputs);
      if (!outputs.ok())
        return outputs.status();
      seconds += secondsSince(start);
      progress(k + 1, source->count());
      if (!expected.empty())
        if (absl::Status status = compare(*outputs, expected[size_t(k) % expected.size()], k, source->count());
            !status.ok())
          return status;
      if (!options.output.empty())
        results.push_back(*std::move(outputs));
    }
    report.secondsPerSample = seconds / source->count();
    if (!options.output.empty())
      if (absl::Status status = writeResults(results, options.output); !status.ok())
        return status;
    if (!options.stateOut.empty())
      if (absl::Status status = writeStates(); !status.ok())
        return status;
    return options.replay > 0 ? replay(*source) : absl::OkStatus();
  }

  void progress(int done, int all) const {
    if (options.quiet || all == 1 || !isatty(STDERR_FILENO))
      return;
    std::fprintf(stderr, "\rsample %d of %d%s", done, all, done == all ? "\n" : "");
  }

  absl::Status compare(const std::vector<Tensor> &outputs, const std::string &folder, int k, int all) {
    absl::StatusOr<std::vector<Tensor>> tensors = readTensorFolder(folder, "output");
    if (!tensors.ok())
      return tensors.status();
    absl::StatusOr<Inputs> expected =
        matchTensors(*std::move(tensors), session->executable().entries[entry].outputs, folder);
    if (!expected.ok())
      return expected.status();
    for (const Tensor &output : outputs) {
      absl::StatusOr<Comparison> result =
          compareTensors(output, expected->at(output.type.name), options.rtol, options.atol);
      if (!result.ok())
        return result.status();
      ++comparisons;
      failedComparisons += !result->passed();
      if (!options.quiet)
        std::printf("%s%s %s\n", result->passed() ? "PASS" : "FAIL", all > 1 ? absl::StrCat(" sample ", k).c_str() : "",
                    printable(describe(*result, output.type.shape)).c_str());
    }
    return absl::OkStatus();
  }

  absl::Status readStates() {
    absl::StatusOr<std::vector<Tensor>> states = readNpz(options.stateIn);
    if (!states.ok())
      return states.status();
    for (const Tensor &state : *states)
      if (absl::Status status = session->writeState(state.type.name, state); !status.ok())
        return absl::Status(status.code(), absl::StrCat(options.stateIn, ": ", std::string(status.message())));
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<Tensor>> states() const {
    std::vector<Tensor> all;
    for (const StateVariable &variable : session->executable().states) {
      absl::StatusOr<Tensor> state = session->readState(variable.tensor.name);
      if (!state.ok())
        return state.status();
      all.push_back(*std::move(state));
    }
    return all;
  }

  absl::Status writeStates() {
    absl::StatusOr<std::vector<Tensor>> all = states();
    if (!all.ok())
      return all.status();
    if (all->empty())
      return absl::InvalidArgumentError(
          absl::StrCat("--state-out ", options.stateOut, ": ", options.model, " has no state variables"));
    return writeNpz(*all, options.stateOut);
  }

  // After everything else, as it runs one more sample.
  absl::Status replay(const SampleSource &source) {
    absl::StatusOr<Inputs> inputs = source.sample(0);
    if (!inputs.ok())
      return inputs.status();
    if (absl::Status status = session->replay(entry, *inputs, options.replay, options.random); !status.ok())
      return status;
    if (!options.quiet)
      std::printf("replay       %d cores agree with the scalar interpreter\n", options.replay);
    return absl::OkStatus();
  }

  const Options &options;
  std::unique_ptr<Session> session;
  Report report;
  emulator::CycleResult cycles;
  emulator::TimingResult cycleTiming;
  int entry = 0;
  int comparisons = 0, failedComparisons = 0;
};

} // namespace

int runTool(const Options &options) {
  const absl::Status status = Runner(options).run();
  if (status.ok())
    return std::fflush(stdout) == 0 ? 0 : 1;
  std::fflush(stdout);
  std::fprintf(stderr, "error: %s\n", printable(std::string(status.message())).c_str());
  return 1;
}

} // namespace wsc::run
