// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The summary of a compilation, and its report: what the written executable says and what compiling it took.
#include "compiler/driver/Compiler.h"

#include "runtime/format/Reader.h"

#include "absl/strings/str_format.h"

#include <algorithm>

namespace wsc::driver {

static double percent(int64_t part, int64_t whole) { return whole > 0 ? 100.0 * double(part) / double(whole) : 0; }

std::string printSummary(const CompileReport &report) {
  std::string text;
  int64_t hottest = 0;
  for (const KernelReport &kernel : report.kernels)
    hottest = std::max(hottest, kernel.predictedIntervalCycles);
  absl::StrAppendFormat(&text, "target          %s, %s\n", report.target, report.execution);
  absl::StrAppendFormat(&text, "kernels         %d, %d multiply-adds per sample\n", report.kernels.size(), report.macs);
  absl::StrAppendFormat(&text, "cores used      %d of %d (%.1f %%), %d with multiply-adds (%.1f %%)\n",
                        report.coresUsed, report.coresTotal, percent(report.coresUsed, report.coresTotal),
                        report.coresFma, percent(report.coresFma, report.coresTotal));
  absl::StrAppendFormat(&text, "SRAM per core   %d bytes at worst, limit %d\n", report.sramWorstBytes,
                        report.sramLimitBytes);
  absl::StrAppendFormat(
      &text, "predicted       %d cycles between samples by the cost model, %.0f samples/s, %.1f %% of peak\n",
      report.predictedIntervalCycles, report.samplesPerSecond, 100 * report.utilisation);
  if (report.timedIntervalCycles > 0)
    absl::StrAppendFormat(&text, "timed           %d cycles between samples, analytic, over the first samples\n",
                          report.timedIntervalCycles);
  if (report.mappingsTried > 0)
    absl::StrAppendFormat(&text, "search          %d other mappings, %s\n", report.mappingsTried,
                          report.foundBetterMapping ? "a better one is taken" : "none better than the first");
  absl::StrAppendFormat(&text, "bottleneck      %s\n", report.bottleneck);
  if (report.optimumCycles > 0) {
    absl::StrAppendFormat(&text,
                          "optimum         %d cycles of the shapes that sizing chose from; %d of the slowest kernel\n",
                          report.optimumCycles, report.slowestKernelCycles);
    absl::StrAppendFormat(&text, "bound           %d cycles: multiply-adds over all cores %d, I/O %d\n",
                          std::max(report.boundMultiplyAddCycles, report.boundIoCycles), report.boundMultiplyAddCycles,
                          report.boundIoCycles);
  }
  if (report.wordHops > 0)
    absl::StrAppendFormat(&text, "wires           %d words over the busiest link, %d word-hops per sample\n",
                          report.linkWords, report.wordHops);
  if (report.precision)
    absl::StrAppend(&text, "precision       ", report::precisionText(*report.precision), "\n");
  absl::StrAppendFormat(&text, "host parts      %s\n",
                        report.hostSteps == 0 ? "none" : absl::StrFormat("%d steps", report.hostSteps));
  absl::StrAppendFormat(&text, "file            %d bytes\n", report.outputBytes);
  return text;
}

absl::StatusOr<report::Report> fullReport(const CompileReport &compiled) {
  if (compiled.output.empty())
    return absl::FailedPreconditionError(
        "a report needs the executable, and this compilation stopped at an earlier phase");
  auto executable = format::loadExecutable(compiled.output);
  if (!executable.ok())
    return executable.status();
  report::Report report = report::describe(*executable, compiled.model);
  report::Compilation &compilation = report.compilation.emplace();
  for (const PhaseTime &phase : compiled.phases)
    compilation.phases.push_back({phaseName(phase.phase), phase.seconds, phase.peakRssBytes});
  compilation.precision = compiled.precision;
  compilation.outputBytes = compiled.outputBytes;
  compilation.optimumCycles = compiled.optimumCycles;
  compilation.boundMultiplyAddCycles = compiled.boundMultiplyAddCycles;
  compilation.boundIoCycles = compiled.boundIoCycles;
  compilation.slowestKernelCycles = compiled.slowestKernelCycles;
  compilation.linkWords = compiled.linkWords;
  compilation.wordHops = compiled.wordHops;
  compilation.bottleneck = compiled.bottleneck;
  report::conclude(report);
  return report;
}

absl::Status writeReport(const CompileReport &compiled, const std::string &path) {
  auto report = fullReport(compiled);
  if (!report.ok())
    return report.status();
  return report::write(*report, path);
}

} // namespace wsc::driver
