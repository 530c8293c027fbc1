// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A report as plain text, for terminals and diffs.
#include "runtime/format/Disassembly.h"
#include "runtime/report/Report.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <algorithm>

namespace wsc::report {

namespace {

constexpr int kWidth = 96; // of paragraphs

double percent(int64_t part, int64_t whole) { return whole > 0 ? 100.0 * double(part) / double(whole) : 0; }

// Words of `text` on lines of at most kWidth columns, each behind `indent` spaces.
std::string wrapped(const std::string &text, int indent) {
  std::string out, line;
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find(' ', at), text.size());
    if (!line.empty() && line.size() + 1 + end - at > size_t(kWidth - indent)) {
      absl::StrAppend(&out, std::string(size_t(indent), ' '), line, "\n");
      line.clear();
    }
    absl::StrAppend(&line, line.empty() ? "" : " ", text.substr(at, end - at));
    at = end + 1;
  }
  return line.empty() ? out : absl::StrCat(out, std::string(size_t(indent), ' '), line, "\n");
}

std::string summary(const Report &r) {
  std::string text;
  absl::StrAppendFormat(&text, "model        %s\n", format::printable(r.model));
  absl::StrAppendFormat(&text, "target       %s, %d x %d cores, %s\n", r.target.name, r.target.rows, r.target.cols,
                        r.execution);
  absl::StrAppendFormat(&text, "cores        %d of %d used (%.1f %%), %d with multiply-adds (%.1f %%)\n", r.coresUsed,
                        r.coresTotal, percent(r.coresUsed, r.coresTotal), r.coresFma,
                        percent(r.coresFma, r.coresTotal));
  absl::StrAppendFormat(&text, "SRAM         %d of %d bytes on the fullest core\n", r.sramWorstBytes,
                        r.target.sramBytes);
  absl::StrAppendFormat(&text, "predicted    %d cycles\n", r.predictedIntervalCycles);
  if (r.emulation && r.emulation->unknown.empty()) {
    absl::StrAppendFormat(&text, "emulated     %d cycles latency", r.emulation->latencyCycles);
    if (r.emulation->intervalCycles > 0)
      absl::StrAppendFormat(&text, ", %d between samples", r.emulation->intervalCycles);
    absl::StrAppendFormat(
        &text, " (%s%s)\n", r.emulation->engine == "cycle" ? "cycle engine" : "analytic",
        r.phased() || r.emulation->intervalHigh == 0 ? ""
        : r.emulation->intervalSettled
            ? ", settled"
            : absl::StrFormat(", not settled: %d to %d", r.emulation->intervalLow, r.emulation->intervalHigh));
  }
  absl::StrAppendFormat(&text, "rate         %.4g samples/s, %.2f %% of the wafer's multiply-adds\n",
                        r.samplesPerSecond, 100 * r.utilisation);
  return text;
}

std::string splitTable(const Report &r) {
  const StepSplit &s = r.split;
  std::string text;
  const std::pair<const char *, int64_t> shares[] = {{"compute", s.compute}, {"memory", s.memory},
                                                     {"network", s.network}, {"set-up", s.setup},
                                                     {"input", s.input},     {"configuration", s.configuration},
                                                     {"waiting", s.waiting}};
  for (const auto &[name, cycles] : shares)
    if (cycles > 0)
      absl::StrAppendFormat(&text, "  %-14s %12d cycles  %5.1f %%\n", name, cycles, percent(cycles, s.total()));
  return text;
}

std::string kernelTable(const Report &r) {
  int width = 12;
  for (const KernelFacts &kernel : r.kernels)
    width = std::max(width, std::min(40, int(kernel.name.size())));
  std::string text =
      absl::StrFormat("%-*s %6s %6s %6s %6s %8s %14s %10s %10s %8s  %s\n", width, "kernel", "row", "col", "rows",
                      "cols", "cores", "multiply-adds", "predicted", "emulated", "SRAM", "layers");
  for (const KernelFacts &kernel : r.kernels) {
    std::string layers;
    for (const std::string &layer : kernel.layers)
      absl::StrAppend(&layers, layers.empty() ? "" : ", ", format::printable(layer));
    absl::StrAppendFormat(
        &text, "%-*s %6d %6d %6d %6d %8d %14d %10d %10s %8d  %s\n", width, format::printable(kernel.name), kernel.row,
        kernel.col, kernel.rows, kernel.cols, kernel.cores, kernel.macs, kernel.predictedIntervalCycles,
        kernel.emulated ? absl::StrCat(kernel.emulated->intervalCycles) : std::string("-"), kernel.sramBytes, layers);
  }
  return text;
}

std::string partTable(const Report &r) {
  std::string text =
      absl::StrFormat("%-10s %-32s %6s %12s %12s\n", "step", "configuration", "runs", "predicted", "emulated");
  for (const PartFacts &part : r.parts)
    absl::StrAppendFormat(&text, "%-10s %-32s %6d %12d %12s\n", part.run ? "run" : "configure",
                          format::printable(part.name), part.count, part.predictedCycles,
                          part.emulatedCycles >= 0 ? absl::StrCat(part.emulatedCycles) : std::string("-"));
  return text;
}

} // namespace

std::string precisionText(const PrecisionFacts &p) {
  std::string text = absl::StrCat(p.name == "mixed" ? "mixed: multiply-adds of " : "", p.operands, " operands, ",
                                  p.sums, " sums; error against fp32 ");
  if (p.outputs.empty())
    return absl::StrCat(text, "not measured: ", p.unknown);
  absl::StrAppendFormat(&text, "over %d seeded samples (seed %d):", p.samples, int64_t(p.seed));
  for (const OutputError &error : p.outputs) {
    absl::StrAppendFormat(&text, "%s %s %.3g at most (values up to %.3g), L2 %.3g", &error == &p.outputs[0] ? "" : ";",
                          format::printable(error.name), error.largest, error.largestValue, error.relativeL2);
    if (error.rows > 0)
      absl::StrAppendFormat(&text, ", top-1 the same in %d of %d, in %d of %d that lead by more than twice the error",
                            error.sameTop, error.rows, error.clearSameTop, error.clearRows);
  }
  return text;
}

std::string toText(const Report &report) {
  std::string text = summary(report);
  if (report.compilation && report.compilation->precision)
    absl::StrAppend(&text, "\nPrecision\n", wrapped(precisionText(*report.compilation->precision), 2));
  absl::StrAppend(&text, "\nWhat bounds it\n", wrapped(report.bound, 2));
  for (const Advice &advice : report.advice)
    absl::StrAppend(&text, "\n  ", advice.title, "\n", wrapped(advice.text, 4));
  if (!report.limits.empty())
    absl::StrAppend(&text, "\nCycles that a step keeps each resource busy\n");
  for (const Limit &limit : report.limits)
    absl::StrAppendFormat(&text, "  %-26s %12d  %s\n", limit.name, limit.cycles, format::printable(limit.detail));
  if (report.split.total() > 0)
    absl::StrAppend(&text, "\nTime of a step\n", splitTable(report));
  if (!report.parts.empty())
    absl::StrAppend(&text, "\n", partTable(report));
  absl::StrAppend(&text, "\n", kernelTable(report));
  if (report.compilation) {
    text += "\nCompilation\n";
    for (const CompilePhase &phase : report.compilation->phases)
      absl::StrAppendFormat(&text, "  %-8s %8.3f s  %6d MiB\n", phase.name, phase.seconds, phase.peakRssBytes >> 20);
  }
  return text;
}

} // namespace wsc::report
