// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/cycle/CycleReports.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace wsc::emulator {

using namespace format;

namespace {

constexpr int64_t kThreadsPerCore = 64; // of a track's number
constexpr int64_t kSteadySamples = 4;   // distances of samples that a steady interval is read from, which differ by
constexpr int64_t kSteadyPart = 100;    // one part in this at most

std::string kernelName(const Configuration &configuration, int32_t kernel) {
  return kernel >= 0 && kernel < int32_t(configuration.kernels.size()) ? configuration.kernels[size_t(kernel)].name
                                                                       : std::string("no kernel");
}

std::string quote(const std::string &text) {
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\')
      quoted += '\\';
    if (static_cast<unsigned char>(c) < 0x20)
      absl::StrAppendFormat(&quoted, "\\u%04x", static_cast<unsigned char>(c));
    else
      quoted += c;
  }
  return quoted + '"';
}

// What holds the samples' interval: slots, a link, or waiting.
std::string bottleneckOf(const CycleResult &run, const Configuration &configuration, int samples, double interval,
                         int32_t kernel) {
  if (kernel < 0)
    return run.maxLinkWords > 0 ? absl::StrCat("link ", run.maxLinkName) : "none";
  const CoreCycles &core = run.kernels[size_t(kernel)].busiest;
  const std::string name =
      absl::StrCat("kernel ", kernelName(configuration, kernel), ", core (", core.row, ", ", core.col, ")");
  const int64_t slots = core.stalls.busy + core.stalls.bank;
  if (double(slots) / samples >= 0.95 * interval)
    return absl::StrCat("issue slots of ", name, ": ", slots / samples, " cycles");
  if (double(run.maxLinkWords) / samples >= 0.95 * interval)
    return absl::StrCat("link ", run.maxLinkName, ": ", run.maxLinkWords / samples, " words");
  return absl::StrFormat(
      "waiting: the busiest, %s, issues in %.1f %% of its cycles and waits for words in %.1f %%, for "
      "space in %.1f %%",
      name, 100.0 * double(slots) / double(core.stalls.total()),
      100.0 * double(core.stalls.words) / double(core.stalls.total()),
      100.0 * double(core.stalls.room) / double(core.stalls.total()));
}

// The interval and whether it is steady. No interval can be below what the busiest core issues for a sample, or what a
// link carries; a mean over few samples may seem so, as the first ones fill an empty network.
void setInterval(const CycleResult &run, int samples, TimingResult &timing) {
  timing.intervalCycles = run.intervalCycles;
  if (samples < 2)
    return;
  int64_t least = run.maxLinkWords / samples;
  for (const KernelCycles &kernel : run.kernels)
    least = std::max(least, (kernel.busiest.stalls.busy + kernel.busiest.stalls.bank) / samples);
  const size_t first = size_t(samples) / 4, last = std::max(first + 1, size_t(samples) * 3 / 4);
  int64_t shortest = INT64_MAX, longest = 0;
  for (size_t k = first; k < last; ++k) {
    const int64_t distance = run.sampleDone[k + 1] - run.sampleDone[k];
    shortest = std::min(shortest, distance);
    longest = std::max(longest, distance);
  }
  timing.intervalSettled = int64_t(last - first) >= kSteadySamples && run.intervalCycles >= least &&
                           (longest - shortest) * kSteadyPart <= shortest;
  timing.intervalCycles = std::max(run.intervalCycles, least);
  timing.intervalLow = std::max(least, std::min(shortest, timing.intervalCycles));
  timing.intervalHigh = std::max(longest, timing.intervalCycles);
}

// The thread's instruction that a span ends, or null: spans of computing know none, merged phases have no programs.
const Instruction *instructionOf(const TraceSpan &span, const Configuration &configuration) {
  if (span.role < 0 || span.instruction < 0 || size_t(span.role) >= configuration.roles.size())
    return nullptr;
  const Role &role = configuration.roles[size_t(span.role)];
  if (size_t(span.thread) >= role.threads.size() ||
      size_t(span.instruction) >= role.threads[size_t(span.thread)].size())
    return nullptr;
  return &role.threads[size_t(span.thread)][size_t(span.instruction)];
}

// The last cycle of a thread that the trace shows.
int64_t lastEnd(const CycleResult &run) {
  int64_t end = 0;
  for (const TraceSpan &span : run.trace)
    if (span.thread >= 0)
      end = std::max(end, span.end);
  return end;
}

// What the thread waited for before it could begin: words or space of its operands, or an issue slot.
std::string waitReason(const TraceSpan &span, const Configuration &configuration) {
  std::string reason;
  const auto add = [&](const char *what, const Operand &operand) {
    const Role &role = configuration.roles[size_t(span.role)];
    if (operand.kind == OperandKind::Queue && size_t(operand.queue) < role.queues.size())
      absl::StrAppend(&reason, reason.empty() ? "" : " or ", what, " colour ",
                      int(role.queues[size_t(operand.queue)].colour));
    else if (operand.kind == OperandKind::Fifo && size_t(operand.buffer) < role.buffers.size())
      absl::StrAppend(&reason, reason.empty() ? "" : " or ", what, " FIFO ", role.buffers[size_t(operand.buffer)].name);
  };
  if (const Instruction *instruction = instructionOf(span, configuration)) {
    add("words of", instruction->a);
    add("words of", instruction->b);
    add("space in", instruction->dst);
  }
  return reason.empty() ? "issue slots" : reason + ", or issue slots";
}

} // namespace

TimingResult timingOf(const CycleResult &run, const Configuration &configuration, int samples,
                      const TimingResult *analytic) {
  TimingResult timing;
  timing.latencyCycles = run.latencyCycles;
  setInterval(run, samples, timing);
  timing.sampleDone = run.sampleDone;
  timing.maxLinkWords = run.maxLinkWords / samples;
  timing.maxLinkName = run.maxLinkName;
  timing.linkWordHops = run.wordHops / samples;
  const double interval = double(timing.intervalCycles > 0 ? timing.intervalCycles : run.latencyCycles);
  int32_t busiest = -1;
  int64_t most = -1;
  for (size_t k = 0; k < configuration.kernels.size(); ++k) {
    const CoreStalls &stalls = run.kernels[k].busiest.stalls;
    KernelTiming kernel;
    if (analytic && k < analytic->kernels.size())
      kernel = analytic->kernels[k];
    kernel.busyCycles = (stalls.busy + stalls.bank) / samples;
    kernel.waitWordsCycles = stalls.words / samples;
    kernel.waitRoomCycles = stalls.room / samples;
    if (!analytic)
      kernel.intervalCycles = kernel.busyCycles;
    if (run.kernels[k].cores > 0 && stalls.busy + stalls.bank > most) {
      most = stalls.busy + stalls.bank;
      busiest = int32_t(k);
    }
    timing.kernels.push_back(kernel);
  }
  timing.bottleneckKernel = busiest;
  timing.bottleneck = bottleneckOf(run, configuration, samples, interval, busiest);
  if (analytic && interval > 0)
    timing.computeUtilisation = analytic->computeUtilisation * double(analytic->intervalCycles) / interval;
  return timing;
}

std::string traceJson(const CycleResult &run, const Configuration &configuration, int64_t mostSpans) {
  std::string text = absl::StrCat(
      "{\"displayTimeUnit\": \"ns\",\n\"otherData\": {\"one microsecond is\": \"one cycle\", \"most thread spans\": ",
      mostSpans, ", \"cut\": ", run.traceCut ? "true" : "false",
      ", \"cut at cycle\": ", run.traceCut ? absl::StrCat(lastEnd(run)) : std::string("null"),
      "},\n\"traceEvents\": [");
  bool first = true;
  const auto event = [&](const std::string &body) {
    absl::StrAppend(&text, first ? "\n{" : ",\n{", body, "}");
    first = false;
  };
  // Tracks: 0 is the kernel's own, the others by the place of the core.
  int32_t cols = 1;
  for (const TraceSpan &span : run.trace)
    cols = std::max(cols, span.col + 1);
  const auto track = [&](const TraceSpan &span) {
    return span.thread < 0 ? int64_t(0) : 1 + (int64_t(span.row) * cols + span.col) * kThreadsPerCore + span.thread;
  };
  std::map<std::pair<int32_t, int64_t>, const TraceSpan *> tracks;
  for (const TraceSpan &span : run.trace)
    tracks.emplace(std::pair(span.kernel, track(span)), &span);
  int32_t last = -2;
  for (const auto &[key, span] : tracks) {
    if (key.first != last)
      event(absl::StrCat(
          "\"ph\": \"M\", \"pid\": ", key.first + 1,
          ", \"name\": \"process_name\", \"args\": {\"name\": ", quote(kernelName(configuration, key.first)), "}"));
    last = key.first;
    event(absl::StrCat("\"ph\": \"M\", \"pid\": ", key.first + 1, ", \"tid\": ", key.second,
                       ", \"name\": \"thread_name\", \"args\": {\"name\": ",
                       quote(span->thread < 0 ? std::string("samples")
                                              : absl::StrCat(configuration.roles[size_t(span->role)].name, ", core (",
                                                             span->row, ", ", span->col, ") thread ", span->thread)),
                       "}"));
  }
  std::map<std::pair<int32_t, int64_t>, int64_t> endOf; // of each track so far
  for (const TraceSpan &span : run.trace) {
    if (span.thread >= 0) {
      const auto [known, isFirst] = endOf.try_emplace({span.kernel, track(span)}, span.end);
      if (!isFirst && span.begin > known->second)
        event(absl::StrCat("\"ph\": \"X\", \"pid\": ", span.kernel + 1, ", \"tid\": ", track(span),
                           ", \"ts\": ", known->second, ", \"dur\": ", span.begin - known->second,
                           ", \"name\": \"wait\", \"args\": {\"for\": ", quote(waitReason(span, configuration)), "}"));
      known->second = std::max(known->second, span.end);
    }
    const std::string name = span.thread < 0    ? absl::StrCat("sample ", span.sample)
                             : span.opcode >= 0 ? std::string(opcodeInfo(Opcode(span.opcode)).name)
                                                : std::string("compute");
    std::string arguments = absl::StrCat("\"sample\": ", span.sample);
    if (span.thread >= 0)
      absl::StrAppend(&arguments, ", \"role\": ", quote(configuration.roles[size_t(span.role)].name));
    if (span.instruction >= 0)
      absl::StrAppend(&arguments, ", \"instruction\": ", span.instruction);
    event(absl::StrCat("\"ph\": \"X\", \"pid\": ", span.kernel + 1, ", \"tid\": ", track(span),
                       ", \"ts\": ", span.begin, ", \"dur\": ", span.end - span.begin, ", \"name\": ", quote(name),
                       ", \"args\": {", arguments, "}"));
  }
  return text + "\n]}\n";
}

} // namespace wsc::emulator
