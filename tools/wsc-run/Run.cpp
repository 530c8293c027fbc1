// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The course of one call: open, state in, samples, comparison, state out, replay, time, report.
#include "tools/wsc-run/Run.h"

#include "runtime/emulator/cycle/CycleReports.h"
#include "runtime/files/OutputFile.h"
#include "runtime/format/Disassembly.h"

#include "tools/support/CommandLine.h"
#include "tools/support/Progress.h"

#include "absl/strings/str_cat.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
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

struct sigaction actionsBefore[NSIG]; // of the signals that interrupted() takes
constexpr int kInterruptions[] = {SIGINT, SIGTERM};

void interrupted(int signal) {
  // Only what a signal handler may call. What was set before removes temporary files and ends the process.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, interruption.data(), interruption.size());
  ::sigaction(signal, &actionsBefore[signal], nullptr);
  ::raise(signal);
}

void announceInterruptions(const std::string &report) {
  interruption = absl::StrCat("error: interrupted; report ", printable(report), " was not written\n");
  for (int signal : kInterruptions) {
    ::sigaction(signal, nullptr, &actionsBefore[signal]);
    if (actionsBefore[signal].sa_handler == SIG_IGN)
      continue;
    struct sigaction action{};
    action.sa_handler = interrupted;
    ::sigemptyset(&action.sa_mask);
    ::sigaction(signal, &action, nullptr);
  }
}

void stopAnnouncing() {
  for (int signal : kInterruptions)
    ::sigaction(signal, &actionsBefore[signal], nullptr);
}

class Runner {
public:
  explicit Runner(const Options &options) : options(options) {}

  absl::Status run() {
    if (absl::Status status = checkFiles(); !status.ok())
      return status;
    const auto start = std::chrono::steady_clock::now();
    if (!options.report.empty())
      announceInterruptions(options.report);
    if (absl::Status status = open(); !status.ok())
      return status;
    report.loadSeconds = secondsSince(start);
    absl::StatusOr<int> found = session->findEntry(options.entry);
    if (!found.ok())
      return found.status();
    entry = *found;
    describeRun();
    // Values first: they are what most runs are for. The cycle engine says more of a program that stops.
    const bool cycle = options.engine == "cycle";
    if (!options.timingOnly && !cycle)
      if (absl::Status status = values(); !status.ok())
        return status;
    if (!options.noTiming)
      if (absl::Status status = time(); !status.ok())
        return status;
    if (cycle)
      if (absl::Status status = runEngine(); !status.ok())
        return status;
    if (!options.timingOnly && cycle)
      if (absl::Status status = values(); !status.ok())
        return status;
    if (!options.trace.empty()) {
      if (absl::Status status =
              files::writeWhole(emulator::traceJson(cycles, *report.configuration, kMostTraceSpans), options.trace);
          !status.ok())
        return status;
      if (cycles.traceCut)
        std::fprintf(stderr, "note: %s ends before cycle %lld of %lld: it keeps %lld spans of threads\n",
                     printable(options.trace).c_str(), (long long)cycles.trace.back().begin, (long long)cycles.endCycle,
                     (long long)kMostTraceSpans);
    }
    if (!options.stats.empty())
      if (absl::Status status = files::writeWhole(statsJson(report), options.stats); !status.ok())
        return status;
    if (!options.report.empty()) {
      const wsc::report::Report full = fullReport(report, options.model, entry);
      if (absl::Status status = wsc::report::write(full, options.report); !status.ok())
        return status;
      stopAnnouncing();
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
  // Before anything is computed that could not be written.
  absl::Status checkFiles() const {
    if (!options.report.empty())
      if (absl::Status status = wsc::report::checkPath(options.report); !status.ok())
        return status;
    const bool archive = options.output.ends_with(".npz");
    const files::Output outputs[] = {{"--output", options.output, !archive},
                                     {"--state-out", options.stateOut},
                                     {"--stats", options.stats},
                                     {"--report", options.report},
                                     {"--trace", options.trace}};
    // State may go back to the file that it came from.
    std::vector<std::string> inputs{options.model};
    for (const std::string &input : options.inputs)
      inputs.push_back(std::filesystem::exists(input) ? input : input.substr(input.find('=') + 1));
    return files::checkOutputs(outputs, inputs);
  }

  absl::Status open() {
    tools::Progress progress("loading " + options.model, options.quiet);
    // Where no values are computed, the order of the units that compute them need not be found.
    absl::StatusOr<std::unique_ptr<Session>> opened =
        Session::open(options.model, {.threads = options.threads, .worklist = options.timingOnly});
    if (opened.ok())
      session = *std::move(opened);
    return opened.status();
  }

  void describeRun() {
    report.executable = &session->executable();
    report.engine = options.engine;
    report.threads = options.threads > 0 ? options.threads : int(std::thread::hardware_concurrency());
    report.counters = session->counters(entry);
    report.samples = std::max(1, options.samples);
    if (absl::StatusOr<const Configuration *> timed = session->timedConfiguration(entry); timed.ok())
      report.configuration = *timed;
  }

  absl::Status time() {
    tools::Progress progress("timing", options.quiet);
    const auto start = std::chrono::steady_clock::now();
    absl::StatusOr<const emulator::TimingResult *> timing = session->timing(entry);
    report.timingSeconds = secondsSince(start);
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
    tools::Progress progress("cycle engine", options.quiet);
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
      if (k == 0 && !options.quiet) {
        for (const Tensor &output : *outputs)
          std::fputs(resultLine(output).c_str(), stdout);
        std::fflush(stdout);
      }
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
    return std::fflush(stdout) == 0 ? 0 : tools::fail("cannot write to standard output");
  return tools::fail(std::string(status.message()));
}

} // namespace wsc::run
