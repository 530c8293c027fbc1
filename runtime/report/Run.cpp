// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What was emulated, added to what the executable says.
#include "runtime/report/Report.h"

#include <algorithm>

namespace wsc::report {

namespace {

constexpr size_t kMostSpans = 4000;

// Kernels as the timing numbers them: those of the entry's runs one after the other.
std::vector<int32_t> kernelsInOrder(const Report &report) {
  std::vector<int32_t> order;
  const auto append = [&](int32_t configuration) {
    const ConfigurationFacts &facts = report.configurations[size_t(configuration)];
    for (int32_t k = 0; k < facts.numKernels; ++k)
      order.push_back(facts.firstKernel + k);
  };
  if (report.phased()) {
    for (const PartFacts &part : report.parts)
      if (part.run)
        append(part.configuration);
  } else {
    for (const format::Step &step : report.entries[size_t(report.entry)].steps)
      if (step.kind == format::StepKind::Run)
        append(step.configuration);
  }
  return order;
}

void addKernels(Report &report, const emulator::TimingResult &timing) {
  const std::vector<int32_t> order = kernelsInOrder(report);
  for (size_t i = 0; i < std::min(order.size(), timing.kernels.size()); ++i) {
    const emulator::KernelTiming &from = timing.kernels[i];
    std::optional<EmulatedKernel> &to = report.kernels[size_t(order[i])].emulated;
    if (!to)
      to.emplace();
    to->busyCycles += from.busyCycles;
    to->intervalCycles += from.intervalCycles;
    to->fmaCycles += from.fmaCycles;
    to->waitWordsCycles += from.waitWordsCycles;
    to->waitRoomCycles += from.waitRoomCycles;
    if (!report.phased())
      to->done = from.done;
  }
}

void addCycles(Report &report, const emulator::CycleResult &cycles) {
  Emulation &emulation = *report.emulation;
  const int32_t rows = report.target.rows, cols = report.target.cols;
  if (!cycles.cores.empty())
    for (auto [raster, field] : {std::pair(&emulation.busy, &emulator::CoreStalls::busy),
                                 std::pair(&emulation.waitWords, &emulator::CoreStalls::words),
                                 std::pair(&emulation.waitRoom, &emulator::CoreStalls::room)}) {
      std::vector<int64_t> values(size_t(rows) * size_t(cols));
      for (const emulator::CoreCycles &core : cycles.cores)
        values[size_t(core.row) * size_t(cols) + size_t(core.col)] = core.stalls.*field;
      *raster = makeRaster(values, rows, cols);
    }
  if (report.phased())
    return; // parts tell when
  const std::vector<int32_t> order = kernelsInOrder(report);
  for (const emulator::TraceSpan &span : cycles.trace)
    if (span.row < 0 && span.kernel >= 0 && size_t(span.kernel) < order.size() && emulation.spans.size() < kMostSpans)
      emulation.spans.push_back({order[size_t(span.kernel)], span.sample, span.begin, span.end});
}

} // namespace

void addRun(Report &report, RunFacts run) {
  report.emulation = std::move(run.emulation);
  Emulation &emulation = *report.emulation;
  if (!run.timing)
    return;
  const emulator::TimingResult &timing = *run.timing;
  emulation.latencyCycles = timing.latencyCycles;
  // One sample of strips says nothing of the distance to the next.
  const bool intervalKnown = !run.cycles || emulation.samples > 1 || report.phased();
  emulation.intervalCycles = intervalKnown ? timing.intervalCycles : 0;
  if (intervalKnown) {
    emulation.intervalSettled = timing.intervalSettled;
    emulation.intervalLow = timing.intervalLow;
    emulation.intervalHigh = timing.intervalHigh;
  }
  emulation.sampleDone = timing.sampleDone;
  emulation.utilisation = timing.computeUtilisation;
  emulation.bottleneck = timing.bottleneck;
  emulation.maxLinkWords = timing.maxLinkWords;
  emulation.maxLink = timing.maxLinkName;
  emulation.wordHops = timing.linkWordHops;
  for (size_t p = 0; p < std::min(report.parts.size(), timing.parts.size()); ++p)
    report.parts[p].emulatedCycles = timing.parts[p].cycles();
  addKernels(report, timing);
  if (run.cycles)
    addCycles(report, *run.cycles);
  report.bottleneck = timing.bottleneck;
  if (emulation.intervalCycles > 0) {
    report.samplesPerSecond = report.target.clockGHz * 1e9 / double(emulation.intervalCycles);
    report.utilisation = timing.computeUtilisation;
  }
}

} // namespace wsc::report
