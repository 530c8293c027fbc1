// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Figures of a run, gathered when it is over: every queue counts its own words, so links and colours are sums over
// queues.
#include "runtime/emulator/cycle/Report.h"

#include "runtime/format/Ports.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <tuple>

namespace wsc::emulator::cycle {

using namespace format;

namespace {

void addCores(const Fabric &fabric, const CycleOptions &options, CycleResult &result) {
  result.kernels.resize(fabric.configuration->kernels.size());
  KernelCycles others;
  for (const Core &core : fabric.cores) {
    if (core.firstSlot < 0)
      continue;
    const Tile &tile = fabric.tiles[core.tile];
    CoreCycles figures{
        fabric.row(tile), fabric.col(tile), int32_t(core.role), {core.busy, core.bank, core.words, core.room}};
    const int32_t number = fabric.configuration->roles[core.role].kernel;
    const bool known = number >= 0 && number < int32_t(fabric.configuration->kernels.size());
    KernelCycles &kernel = known ? result.kernels[size_t(number)] : others;
    kernel.sum.busy += core.busy;
    kernel.sum.bank += core.bank;
    kernel.sum.words += core.words;
    kernel.sum.room += core.room;
    if (kernel.cores++ == 0 || core.busy + core.bank > kernel.busiest.stalls.busy + kernel.busiest.stalls.bank)
      kernel.busiest = figures;
    if (options.perCore)
      result.cores.push_back(figures);
  }
  if (others.cores > 0)
    result.kernels.push_back(others);
}

void addLinks(const Fabric &fabric, CycleResult &result) {
  const Configuration &configuration = *fabric.configuration;
  result.colourWords.assign(size_t(fabric.executable->target.colours), 0);
  // The words of each of a tile's four links, from the queues that they feed.
  std::pair<uint32_t, int> busiest{kNone, 0};
  const auto words = [&](const Tile &tile, int port, int colour) -> int64_t {
    const int32_t next = fabric.neighbour(tile, port);
    if (next < 0 || !(fabric.tiles[size_t(next)].colours >> colour & 1))
      return 0;
    const uint32_t id = fabric.queueAt(fabric.nodeOf(fabric.tiles[size_t(next)], colour), opposite(port));
    return id == kNone ? 0 : int64_t(fabric.queue(id).words);
  };
  std::vector<std::array<int64_t, 4>> out; // words out of the wafer, by edge tile
  std::vector<uint32_t> outTile;
  for (const PortState &port : fabric.ports) {
    if (!port.output)
      continue;
    const IoBinding &binding = configuration.io[size_t(port.binding)];
    result.wordHops += port.words;
    result.colourWords[binding.colour] += port.words;
    auto at = std::find(outTile.begin(), outTile.end(), port.tile) - outTile.begin();
    if (size_t(at) == outTile.size()) {
      outTile.push_back(port.tile);
      out.push_back({});
    }
    out[size_t(at)][size_t(binding.side)] += port.words;
  }
  for (uint32_t t = 0; t < fabric.tiles.size(); ++t) {
    const Tile &tile = fabric.tiles[t];
    std::array<int64_t, 4> link{};
    if (tile.outputs)
      link = out[size_t(std::find(outTile.begin(), outTile.end(), t) - outTile.begin())];
    for (uint64_t colours = tile.colours; colours; colours &= colours - 1) {
      const int colour = std::countr_zero(colours);
      for (int port = 0; port < 4; ++port) {
        const int64_t count = words(tile, port, colour);
        link[size_t(port)] += count;
        result.wordHops += count;
        result.colourWords[size_t(colour)] += count;
      }
    }
    for (int port = 0; port < 4; ++port)
      if (link[size_t(port)] > result.maxLinkWords) {
        result.maxLinkWords = link[size_t(port)];
        busiest = {t, port};
      }
  }
  if (busiest.first == kNone)
    return;
  const Tile &tile = fabric.tiles[busiest.first];
  std::vector<int32_t> nets;
  for (uint32_t bit = 0; bit < tile.nodes; ++bit) {
    const int32_t router = fabric.nodeRouter[tile.firstNode + bit];
    if (router < 0)
      continue;
    for (const SwitchPosition &position : configuration.routers[size_t(router)].positions)
      if (position.outputs >> busiest.second & 1)
        nets.push_back(configuration.routers[size_t(router)].net);
  }
  std::sort(nets.begin(), nets.end());
  nets.erase(std::unique(nets.begin(), nets.end()), nets.end());
  std::string names;
  for (int32_t net : nets)
    if (net >= 0 && net < int32_t(configuration.nets.size()))
      absl::StrAppend(&names, names.empty() ? ": nets " : ", ", configuration.nets[size_t(net)].name);
  result.maxLinkName =
      absl::StrCat("row ", fabric.row(tile), ", col ", fabric.col(tile), ", ", kPortNames[busiest.second], names);
}

void addTrace(const CycleOptions &options, std::vector<Strip> &strips, CycleResult &result) {
  const auto place = [](const TraceSpan &s) { return std::tuple(s.row, s.col, s.thread); };
  std::vector<TraceSpan> &spans = result.trace;
  for (Strip &strip : strips) {
    spans.insert(spans.end(), strip.spans.begin(), strip.spans.end());
    result.traceCut |= strip.spansCut;
  }
  std::sort(spans.begin(), spans.end(), [&](const TraceSpan &a, const TraceSpan &b) {
    return std::tuple(a.end, place(a), a.begin) < std::tuple(b.end, place(b), b.begin);
  });
  if (int64_t(spans.size()) > options.mostTraceSpans) {
    spans.resize(size_t(options.mostTraceSpans));
    result.traceCut = true;
  }
  std::vector<TraceSpan> kernels = strips[0].kernelSpans;
  for (const Strip &strip : strips)
    for (size_t i = 0; i < kernels.size(); ++i)
      if (const TraceSpan &span = strip.kernelSpans[i]; span.end > 0) {
        kernels[i].begin = kernels[i].end == 0 ? span.begin : std::min(kernels[i].begin, span.begin);
        kernels[i].end = std::max(kernels[i].end, span.end);
        kernels[i].kernel = span.kernel;
        kernels[i].sample = span.sample;
      }
  for (const TraceSpan &span : kernels)
    if (span.end > 0)
      spans.push_back(span);
  std::sort(spans.begin(), spans.end(), [&](const TraceSpan &a, const TraceSpan &b) {
    return std::tuple(a.begin, place(a), a.end, a.kernel) < std::tuple(b.begin, place(b), b.end, b.kernel);
  });
}

} // namespace

void collect(Fabric &fabric, const CycleOptions &options, std::vector<Strip> &strips, CycleResult &result) {
  result.sampleDone.assign(size_t(options.samples), 0);
  for (const Strip &strip : strips) {
    for (size_t k = 0; k < strip.sampleDone.size(); ++k)
      result.sampleDone[k] = std::max(result.sampleDone[k], strip.sampleDone[k]);
    result.endCycle = std::max(result.endCycle, strip.endCycle);
    result.activeTileCycles += strip.activeTileCycles;
    result.skippedTileCycles += strip.skippedTileCycles;
    result.bytes += strip.bytes();
  }
  result.latencyCycles = result.sampleDone[0];
  if (options.samples > 1) {
    const auto first = size_t(options.samples / 4), last = std::max(first + 1, size_t(options.samples) * 3 / 4);
    const int64_t cycles = result.sampleDone[last] - result.sampleDone[first], count = int64_t(last - first);
    result.intervalCycles = (cycles + count / 2) / count;
  }
  result.skippedCycles = result.endCycle - result.simulatedCycles;
  result.tiles = int64_t(fabric.tiles.size());
  result.bytes += fabric.bytes();
  addCores(fabric, options, result);
  addLinks(fabric, result);
  if (options.mostTraceSpans > 0)
    addTrace(options, strips, result);
}

} // namespace wsc::emulator::cycle
