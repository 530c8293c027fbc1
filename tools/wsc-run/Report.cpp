// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The closing summary and the JSON of --stats. Field names are those of CLI.md in the project's conventions; unknown
// numbers are null.
#include "tools/wsc-run/Run.h"

#include "runtime/base/PeakMemory.h"
#include "runtime/format/Disassembly.h"
#include "runtime/numerics/Elements.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace wsc::run {

using namespace format;

namespace {

std::string quote(const std::string &text) {
  std::string quoted = "\"";
  for (char c : printable(text)) {
    if (c == '"' || c == '\\')
      quoted += '\\';
    quoted += c;
  }
  return quoted + '"';
}

std::string cycles(const Report &report, int64_t emulator::TimingResult::*field) {
  return report.timing ? absl::StrCat(report.timing->*field) : std::string("null");
}

// Multiply-adds of the network's layers; `executed_macs` are those of the programs, padding included.
std::string plannedMacs(const Report &report) {
  if (!report.configuration)
    return "null";
  int64_t macs = 0;
  for (const Kernel &kernel : report.configuration->kernels)
    macs += kernel.macs;
  return absl::StrCat(macs);
}

std::string intervalJson(const Report &report) {
  const bool known = report.timing && report.timing->intervalHigh > 0;
  return absl::StrCat(",\n  \"interval_settled\": ", known && report.timing->intervalSettled ? "true" : "false",
                      ",\n  \"interval_low\": ", known ? absl::StrCat(report.timing->intervalLow) : "null",
                      ",\n  \"interval_high\": ", known ? absl::StrCat(report.timing->intervalHigh) : "null");
}

std::string kernelJson(const Report &report, size_t k) {
  const Kernel &kernel = report.configuration->kernels[k];
  std::string layers;
  for (const std::string &layer : kernel.layers)
    absl::StrAppend(&layers, layers.empty() ? "" : ", ", quote(layer));
  std::string text =
      absl::StrCat("{\"name\": ", quote(kernel.name), ", \"layers\": [", layers, "], \"macs\": ", kernel.macs,
                   ", \"predicted_interval_cycles\": ", kernel.predictedIntervalCycles);
  if (report.timing && k < report.timing->kernels.size()) {
    const emulator::KernelTiming &timing = report.timing->kernels[k];
    absl::StrAppend(&text, ", \"busy_cycles\": ", timing.busyCycles, ", \"interval_cycles\": ", timing.intervalCycles,
                    ", \"fma_cycles\": ", timing.fmaCycles);
  }
  if (k < report.counters.kernelMacs.size())
    absl::StrAppend(&text, ", \"executed_macs\": ", report.counters.kernelMacs[k]);
  return text + "}";
}

std::string stallFields(const emulator::CoreStalls &stalls) {
  return absl::StrCat("\"busy_cycles\": ", stalls.busy, ", \"bank_cycles\": ", stalls.bank,
                      ", \"wait_words_cycles\": ", stalls.words, ", \"wait_room_cycles\": ", stalls.room);
}

// Of all cores of each kernel over all samples, and of the busiest.
std::string cycleStallsJson(const Report &report) {
  std::string text;
  const auto &names = report.configuration->kernels;
  for (size_t k = 0; k < report.cycles->kernels.size(); ++k) {
    const emulator::KernelCycles &kernel = report.cycles->kernels[k];
    absl::StrAppend(&text, text.empty() ? "" : ",",
                    "\n    {\"kernel\": ", k < names.size() ? quote(names[k].name) : std::string("null"),
                    ", \"cores\": ", kernel.cores, ", ", stallFields(kernel.sum),
                    ", \"busiest_core\": {\"row\": ", kernel.busiest.row, ", \"col\": ", kernel.busiest.col, ", ",
                    stallFields(kernel.busiest.stalls), "}}");
  }
  return absl::StrCat("[", text, "]");
}

// What the cycle engine adds: word-hops by colour, and its own work.
std::string coloursJson(const Report &report) {
  std::string text;
  for (size_t c = 0; report.cycles && c < report.cycles->colourWords.size(); ++c)
    if (report.cycles->colourWords[c] > 0)
      absl::StrAppend(&text, text.empty() ? "" : ", ", "{\"colour\": ", c,
                      ", \"word_hops\": ", report.cycles->colourWords[c], "}");
  return report.cycles ? absl::StrCat(", \"colours\": [", text, "]") : std::string();
}

// A row of numbers per core.
std::string coresJson(const Report &report) {
  if (!report.cycles)
    return "";
  std::string text;
  for (const emulator::CoreCycles &core : report.cycles->cores)
    absl::StrAppend(&text, text.empty() ? "" : ",", "\n    [", core.row, ", ", core.col, ", ", core.stalls.busy, ", ",
                    core.stalls.bank, ", ", core.stalls.words, ", ", core.stalls.room, "]");
  return absl::StrCat(",\n  \"core_stalls\": ",
                      report.cycles->cores.size() > kMostStatCores
                          ? std::string("null")
                          : absl::StrCat("{\"columns\": [\"row\", \"col\", \"busy_cycles\", \"bank_cycles\", "
                                         "\"wait_words_cycles\", \"wait_room_cycles\"], \"cores\": [",
                                         text, "]}"));
}

std::string engineJson(const Report &report) {
  if (!report.cycles)
    return "";
  const emulator::CycleResult &run = *report.cycles;
  return absl::StrCat(
      ",\n  \"cycle_engine\": {\"end_cycle\": ", run.endCycle, ", \"active_tile_cycles\": ", run.activeTileCycles,
      ", \"skipped_tile_cycles\": ", run.skippedTileCycles, ", \"simulated_cycles\": ", run.simulatedCycles,
      ", \"skipped_cycles\": ", run.skippedCycles, ", \"tiles\": ", run.tiles, ", \"state_bytes\": ", run.bytes,
      absl::StrFormat(", \"wall_seconds\": %.6f}", report.cycleSeconds));
}

std::string stallsJson(const Report &report) {
  if (report.cycles)
    return cycleStallsJson(report);
  std::string text;
  for (size_t k = 0; report.timing && report.configuration && k < report.timing->kernels.size(); ++k)
    absl::StrAppend(&text, text.empty() ? "" : ",", "\n    {\"kernel\": ", quote(report.configuration->kernels[k].name),
                    ", \"wait_words_cycles\": ", report.timing->kernels[k].waitWordsCycles,
                    ", \"wait_room_cycles\": ", report.timing->kernels[k].waitRoomCycles, "}");
  return absl::StrCat("[", text, "]");
}

std::string partJson(const emulator::TimingPart &part) {
  const bool run = part.kind == emulator::TimingPart::Kind::Run;
  return absl::StrCat("{\"name\": ", quote(part.name), ", \"kind\": \"", run ? "run" : "configure",
                      "\", \"configuration\": ", part.configuration, ", \"count\": ", part.count,
                      ", \"cycles_each\": ", part.cyclesEach, ", \"cycles\": ", part.cycles(), ", \"engine\": ",
                      !run              ? "null"
                      : part.wordByWord ? "\"cycle\""
                                        : "\"core\"",
                      "}");
}

// The parts of a phased entry in order; of many the longest, unless all are wanted.
std::string partsTable(const std::vector<emulator::TimingPart> &parts, int64_t latency, bool all) {
  std::vector<size_t> shown(parts.size());
  std::iota(shown.begin(), shown.end(), 0);
  if (!all && shown.size() > kMostParts) {
    std::stable_sort(shown.begin(), shown.end(),
                     [&](size_t x, size_t y) { return parts[x].cycles() > parts[y].cycles(); });
    shown.resize(kMostParts);
    std::sort(shown.begin(), shown.end());
  }
  std::string text;
  int64_t cycles = 0;
  for (size_t p : shown) {
    const emulator::TimingPart &part = parts[p];
    const bool run = part.kind == emulator::TimingPart::Kind::Run;
    cycles += part.cycles();
    absl::StrAppendFormat(&text, "%-12s %-32s %12d cycles  %5.1f %%%s\n", run ? "phase" : "configure",
                          printable(part.name), part.cycles(),
                          latency > 0 ? 100.0 * double(part.cycles()) / double(latency) : 0.0,
                          part.count > 1 ? absl::StrCat("  (", part.count, " of ", part.cyclesEach, ")") : "");
  }
  if (shown.size() < parts.size())
    absl::StrAppendFormat(&text, "%-12s %-32s %12d cycles; -v lists all\n", "other",
                          absl::StrCat(parts.size() - shown.size(), " parts"), latency - cycles);
  return text;
}

// How the interval is known, and how well.
std::string certainty(const Report &report) {
  const emulator::TimingResult &timing = *report.timing;
  const std::string engine = report.cycles ? "cycle engine" : "analytic";
  if (timing.intervalSettled)
    return engine + ", settled";
  return absl::StrCat(engine, ", not settled: ", timing.intervalLow, " to ", timing.intervalHigh,
                      report.cycles ? absl::StrCat(" over ", report.samples, " samples; stream more with --samples")
                                    : std::string());
}

// Which engine the sum of a phased entry's parts is by. Changes of configuration are a formula of both.
std::string engineOf(const std::vector<emulator::TimingPart> &parts) {
  bool cycle = false, analytic = false;
  for (const emulator::TimingPart &part : parts)
    if (part.kind == emulator::TimingPart::Kind::Run)
      (part.wordByWord ? cycle : analytic) = true;
  return cycle && analytic ? "phases by the cycle engine or analytic" : cycle ? "cycle engine" : "analytic";
}

double elementValue(const Tensor &tensor, int64_t i) {
  const uint64_t payload =
      numerics::loadElement(tensor.bytes.data() + i * elementBytes(tensor.type.type), tensor.type.type);
  const uint64_t bits = numerics::convertElement(payload, tensor.type.type, ElementType::F64);
  double value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

constexpr int64_t kMostShown = 8; // elements of a result

} // namespace

std::string resultLine(const Tensor &tensor) {
  std::string text = absl::StrCat("result       ", printable(tensor.type.name), " ", wsc::describe(tensor.type), " ");
  const int64_t count = tensor.type.elements();
  for (int64_t i = 0; i < std::min(count, kMostShown); ++i)
    absl::StrAppendFormat(&text, " %.6g", elementValue(tensor, i));
  return absl::StrCat(text, count > kMostShown ? " ..." : "", "\n");
}

std::string summary(const Report &report, bool verbose) {
  std::string text;
  if (report.timing) {
    const emulator::TimingResult &timing = *report.timing;
    const double hertz = report.executable->target.clockGHz * 1e9;
    absl::StrAppendFormat(&text, "latency      %d cycles (%.4g ms)%s\n", timing.latencyCycles,
                          double(timing.latencyCycles) / hertz * 1e3,
                          report.cycles ? "" : ", " + engineOf(timing.parts));
    if (!timing.parts.empty())
      absl::StrAppend(&text, "interval     the latency: samples of a phased entry do not overlap\n");
    else if (report.cycles && report.samples == 1)
      absl::StrAppend(&text, "interval     unknown from one sample; stream more with --samples\n");
    else
      absl::StrAppendFormat(&text, "interval     %d cycles (%.6g samples/s at %g GHz), %s\n", timing.intervalCycles,
                            timing.intervalCycles > 0 ? hertz / double(timing.intervalCycles) : 0.0,
                            report.executable->target.clockGHz, certainty(report));
    absl::StrAppendFormat(&text, "utilisation  %.2f %% of %s's multiply-adds\n", 100 * timing.computeUtilisation,
                          report.executable->target.name);
    absl::StrAppend(&text, "bottleneck   ", printable(timing.bottleneck), "\n");
  } else if (!report.timingUnknown.empty()) {
    absl::StrAppend(&text, "cycles       unknown: ", printable(report.timingUnknown), "\n");
  }
  if (report.timing)
    absl::StrAppend(&text, partsTable(report.timing->parts, report.timing->latencyCycles, verbose));
  if (report.cycles)
    absl::StrAppendFormat(&text, "cycles       %d simulated, %d skipped; %.4g s\n", report.cycles->simulatedCycles,
                          report.cycles->skippedCycles, report.cycleSeconds);
  if (report.ranValues)
    absl::StrAppendFormat(&text, "emulation    %d samples, %.4g s per sample, loaded in %.4g s\n", report.samples,
                          report.secondsPerSample, report.loadSeconds);
  if (report.timingSeconds > 1)
    absl::StrAppendFormat(&text, "timing       %.4g s; --no-timing leaves it out\n", report.timingSeconds);
  if (verbose && report.timing && report.configuration) {
    absl::StrAppendFormat(&text, "%-32s %12s %12s %12s %12s %12s\n", "kernel", "busy", "interval", "predicted",
                          "waits words", "waits space");
    for (size_t k = 0; k < report.timing->kernels.size(); ++k) {
      const emulator::KernelTiming &timing = report.timing->kernels[k];
      absl::StrAppendFormat(&text, "%-32s %12d %12d %12d %12d %12d\n", printable(report.configuration->kernels[k].name),
                            timing.busyCycles, timing.intervalCycles,
                            report.configuration->kernels[k].predictedIntervalCycles, timing.waitWordsCycles,
                            timing.waitRoomCycles);
    }
  }
  return text;
}

std::string statsJson(const Report &report) {
  std::string kernels;
  for (size_t k = 0; report.configuration && k < report.configuration->kernels.size(); ++k)
    absl::StrAppend(&kernels, k ? "," : "", "\n    ", kernelJson(report, k));
  std::string phases;
  for (size_t p = 0; report.timing && p < report.timing->parts.size(); ++p)
    absl::StrAppend(&phases, p ? "," : "", "\n    ", partJson(report.timing->parts[p]));
  std::string done;
  for (size_t k = 0; report.timing && k < report.timing->sampleDone.size(); ++k)
    absl::StrAppend(&done, k ? ", " : "", report.timing->sampleDone[k]);
  return absl::StrCat(
      "{\n  \"engine\": ", quote(report.engine), ",\n  \"threads\": ", report.threads,
      ",\n  \"samples\": ", report.samples,
      ",\n  \"latency_cycles\": ", cycles(report, &emulator::TimingResult::latencyCycles), ",\n  \"interval_cycles\": ",
      report.cycles && report.samples == 1 && report.timing->parts.empty()
          ? std::string("null")
          : cycles(report, &emulator::TimingResult::intervalCycles),
      intervalJson(report), ",\n  \"sample_done_cycles\": [", done, "],\n  \"macs\": ", plannedMacs(report),
      ",\n  \"executed_macs\": ", report.counters.macs, ",\n  \"cores_fma\": ", report.counters.coresFma,
      absl::StrFormat(",\n  \"load_seconds\": %.6f", report.loadSeconds),
      report.ranValues ? absl::StrFormat(",\n  \"wall_seconds_per_sample\": %.6f", report.secondsPerSample)
                       : std::string(",\n  \"wall_seconds_per_sample\": null"),
      ",\n  \"peak_rss_bytes\": ", peakRssBytes(),
      report.timing ? absl::StrFormat(",\n  \"utilisation\": %.6f", report.timing->computeUtilisation)
                    : std::string(",\n  \"utilisation\": null"),
      ",\n  \"bottleneck\": ", report.timing ? quote(report.timing->bottleneck) : std::string("null"),
      ",\n  \"kernels\": [", kernels, "],\n  \"phases\": [", phases,
      "],\n  \"links\": {\"max_words\": ", cycles(report, &emulator::TimingResult::maxLinkWords),
      ", \"max_name\": ", report.timing ? quote(report.timing->maxLinkName) : std::string("null"),
      ", \"word_hops\": ", cycles(report, &emulator::TimingResult::linkWordHops), coloursJson(report), "}",
      engineJson(report), ",\n  \"stalls\": ", stallsJson(report), coresJson(report), "\n}\n");
}

wsc::report::Report fullReport(const Report &report, const std::string &model, int entry) {
  wsc::report::Report full = wsc::report::describe(*report.executable, model, entry);
  wsc::report::RunFacts run;
  run.timing = report.timing;
  run.cycles = report.cycles;
  run.emulation.engine = report.engine;
  run.emulation.unknown =
      report.timing || !report.timingUnknown.empty() ? report.timingUnknown : "--no-timing leaves time out";
  run.emulation.threads = report.threads;
  run.emulation.samples = report.samples;
  run.emulation.macs = report.counters.macs;
  run.emulation.coresFma = report.counters.coresFma;
  run.emulation.loadSeconds = report.loadSeconds;
  run.emulation.secondsPerSample = report.ranValues ? report.secondsPerSample : -1;
  run.emulation.peakRssBytes = peakRssBytes();
  wsc::report::addRun(full, std::move(run));
  wsc::report::conclude(full);
  return full;
}

} // namespace wsc::run
