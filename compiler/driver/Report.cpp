// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The summary and the report files of a compilation.
#include "compiler/driver/Compiler.h"

#include "runtime/files/OutputFile.h"

#include "absl/strings/str_format.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace wsc::driver {

static double percent(int64_t part, int64_t whole) { return whole > 0 ? 100.0 * double(part) / double(whole) : 0; }

std::string printSummary(const CompileReport &report) {
  std::string text;
  int64_t hottest = 0;
  for (const KernelReport &kernel : report.kernels)
    hottest = std::max(hottest, kernel.predictedIntervalCycles);
  absl::StrAppendFormat(&text, "target          %s, %s\n", report.target, report.execution);
  absl::StrAppendFormat(&text, "kernels         %d, %d multiply-adds per sample\n", report.kernels.size(), report.macs);
  absl::StrAppendFormat(&text, "cores used      %d of %d (%.1f %%), %d with multiply-adds (%.1f %%)\n", report.coresUsed,
                        report.coresTotal, percent(report.coresUsed, report.coresTotal), report.coresFma,
                        percent(report.coresFma, report.coresTotal));
  absl::StrAppendFormat(&text, "SRAM per core   %d bytes at worst, limit %d\n", report.sramWorstBytes, report.sramLimitBytes);
  absl::StrAppendFormat(&text, "predicted       %d cycles between samples by the cost model, %.0f samples/s, %.1f %% of peak\n",
                        report.predictedIntervalCycles, report.samplesPerSecond, 100 * report.utilisation);
  absl::StrAppendFormat(&text, "bottleneck      %s\n", report.bottleneck);
  if (report.boundCycles > 0)
    absl::StrAppendFormat(&text, "bound           %d cycles: every kernel at its fewest columns; multiply-adds alone %d, I/O %d, largest kernel %d\n",
                          report.boundCycles, report.boundMultiplyAddCycles, report.boundIoCycles, report.boundKernelCycles);
  if (report.wordHops > 0)
    absl::StrAppendFormat(&text, "wires           %d words over the busiest link, %d word-hops per sample\n", report.linkWords, report.wordHops);
  absl::StrAppendFormat(&text, "host parts      none\n");
  absl::StrAppendFormat(&text, "file            %d bytes\n", report.outputBytes);
  return text;
}

static std::string kernelTable(const CompileReport &report) {
  int width = 20;
  for (const KernelReport &kernel : report.kernels)
    width = std::max(width, int(kernel.name.size()));
  std::string text = absl::StrFormat("%-*s %6s %6s %6s %9s %14s %10s %8s  %s\n", width, "kernel", "col", "cols", "rows", "cores",
                                     "multiply-adds", "interval", "SRAM", "layers");
  for (const KernelReport &kernel : report.kernels) {
    std::string layers;
    for (const std::string &layer : kernel.layers)
      absl::StrAppend(&layers, layers.empty() ? "" : ", ", layer);
    absl::StrAppendFormat(&text, "%-*s %6d %6d %6d %9d %14d %10d %8d  %s\n", width, kernel.name, kernel.col, kernel.cols,
                          kernel.rows, kernel.cores, kernel.macs, kernel.predictedIntervalCycles, kernel.sramBytes, layers);
  }
  return text;
}

static std::string phaseTable(const CompileReport &report) {
  std::string text;
  for (const PhaseTime &phase : report.phases)
    absl::StrAppendFormat(&text, "%-8s %8.3f s  %6d MiB\n", phaseName(phase.phase), phase.seconds, phase.peakRssBytes >> 20);
  return text;
}

static llvm::json::Value toJson(const CompileReport &report) {
  llvm::json::Array kernels, phases;
  for (const KernelReport &kernel : report.kernels) {
    llvm::json::Array layers;
    for (const std::string &layer : kernel.layers)
      layers.push_back(layer);
    kernels.push_back(llvm::json::Object{{"name", kernel.name},
                                         {"layers", std::move(layers)},
                                         {"rectangle", llvm::json::Array{kernel.row, kernel.col, kernel.rows, kernel.cols}},
                                         {"cores", kernel.cores},
                                         {"macs", kernel.macs},
                                         {"predicted_interval_cycles", kernel.predictedIntervalCycles},
                                         {"sram_bytes", kernel.sramBytes}});
  }
  for (const PhaseTime &phase : report.phases)
    phases.push_back(llvm::json::Object{{"phase", phaseName(phase.phase)}, {"seconds", phase.seconds}, {"peak_rss_bytes", phase.peakRssBytes}});
  return llvm::json::Object{{"target", report.target},
                            {"execution", report.execution},
                            {"cores_total", report.coresTotal},
                            {"cores_used", report.coresUsed},
                            {"cores_fma", report.coresFma},
                            {"sram_worst_bytes", report.sramWorstBytes},
                            {"macs", report.macs},
                            {"predicted_interval_cycles", report.predictedIntervalCycles},
                            {"bound_cycles", report.boundCycles},
                            {"bound_multiply_add_cycles", report.boundMultiplyAddCycles},
                            {"bound_io_cycles", report.boundIoCycles},
                            {"bound_largest_kernel_cycles", report.boundKernelCycles},
                            {"link_words", report.linkWords},
                            {"word_hops", report.wordHops},
                            {"samples_per_second", report.samplesPerSecond},
                            {"utilisation", report.utilisation},
                            {"bottleneck", report.bottleneck},
                            {"host_steps", 0},
                            {"kernels", std::move(kernels)},
                            {"phases", std::move(phases)}};
}

static std::string escape(const std::string &text) {
  std::string out;
  for (char c : text)
    out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : c == '&' ? "&amp;" : std::string(1, c);
  return out;
}

// One page: the summary, the floorplan as strips coloured by how busy they are, the kernels.
static std::string toHtml(const CompileReport &report) {
  std::string strips;
  int64_t cols = 1, rows = 1;
  for (const KernelReport &kernel : report.kernels) {
    cols = std::max(cols, kernel.col + kernel.cols);
    rows = std::max(rows, kernel.row + kernel.rows);
  }
  for (const KernelReport &kernel : report.kernels) {
    double load = report.predictedIntervalCycles ? double(kernel.predictedIntervalCycles) / double(report.predictedIntervalCycles) : 0;
    absl::StrAppendFormat(&strips,
                          "<rect x='%d' y='%d' width='%d' height='%d' fill='hsl(%.0f,70%%,55%%)' stroke='white' "
                          "stroke-width='0.3'><title>%s: %d cycles</title></rect>\n",
                          kernel.col, kernel.row, kernel.cols, kernel.rows, 210 - 210 * load, escape(kernel.name),
                          kernel.predictedIntervalCycles);
  }
  return absl::StrFormat("<!doctype html><html><head><meta charset='utf-8'><title>wsc report</title><style>body{font:14px "
                         "sans-serif;margin:2em}pre{background:#f4f4f4;padding:1em;overflow:auto}</style></head><body>\n"
                         "<h1>Mapping</h1><pre>%s</pre>\n<h2>Floorplan</h2><p>One strip a kernel, west to east; red is busiest.</p>\n"
                         "<svg viewBox='0 0 %d %d' width='100%%' preserveAspectRatio='none' style='max-height:60vh'>%s</svg>\n"
                         "<h2>Kernels</h2><pre>%s</pre>\n<h2>Phases</h2><pre>%s</pre></body></html>\n",
                         escape(printSummary(report)), cols, rows, strips, escape(kernelTable(report)), phaseTable(report));
}

absl::Status checkReportPath(const std::string &path) {
  const llvm::StringRef name(path);
  if (path.empty() || name.ends_with(".json") || name.ends_with(".html") || name.ends_with(".txt"))
    return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("report ", path, " must end in .txt, .json or .html"));
}

absl::Status writeReport(const CompileReport &report, const std::string &path) {
  llvm::StringRef name(path);
  std::string text;
  if (name.ends_with(".json")) {
    llvm::raw_string_ostream stream(text);
    stream << llvm::formatv("{0:2}", toJson(report)) << '\n';
  } else if (name.ends_with(".html")) {
    text = toHtml(report);
  } else if (name.ends_with(".txt")) {
    text = printSummary(report) + "\n" + kernelTable(report) + "\n" + phaseTable(report);
  } else {
    return checkReportPath(path);
  }
  return files::writeWhole(text, path);
}

} // namespace wsc::driver
