// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/Ingest.h"

#include <algorithm>

namespace wsc::kernels {

using format::Opcode;
using B = RoleBuilder;

namespace {

// A part of a lane in words: `channels` of the lane's block, of each the words [rowBegin, rowBegin + rowWords) of
// channelWords.
struct LaneWindow {
  int64_t channelsBefore, channels, channelsAfter;
  int64_t rowBegin, rowWords, channelWords;
  bool allRows() const { return rowWords == channelWords; }
  int64_t laneWords() const { return (channelsBefore + channels + channelsAfter) * channelWords; }
};

LaneWindow windowOf(const StreamLayout &layout, const LanePart &part) {
  const Region &region = part.region;
  const int64_t width = layout.plane.width, tileBegin = layout.tileBegin(part.tile);
  return {region.channelBegin - layout.blockBegin[part.block],
          region.channels(),
          layout.blockBegin[part.block + 1] - region.channelEnd,
          (region.rowBegin - tileBegin) * width,
          region.rows() * width,
          (layout.tileEnd(part.tile) - tileBegin) * width};
}

// A filter passes one window of a period: the rows of every channel, or the channels with all their rows, whatever
// leaves fewer words to discard. `window` becomes what is left to do.
format::Filter takeFilter(LaneWindow &window) {
  format::Filter filter;
  if ((window.channelsBefore + window.channels + window.channelsAfter) * window.rowWords <
      window.channels * window.channelWords) {
    filter.period = window.channelWords;
    filter.begin = format::Affine(window.rowBegin);
    filter.words = format::Affine(window.rowWords);
    window.channelWords = window.rowWords;
    window.rowBegin = 0;
  } else if (window.channelsBefore + window.channelsAfter > 0) {
    filter.period = window.laneWords();
    filter.begin = format::Affine(window.channelsBefore * window.channelWords);
    filter.words = format::Affine(window.channels * window.channelWords);
    window.channelsBefore = window.channelsAfter = 0;
  }
  return filter;
}

// What is left to do behind the filter, if the target has filters.
LaneWindow filtered(const target::Target &target, LaneWindow window, format::Filter &filter) {
  // A receiver takes no more lanes than the core has input queues.
  if (target.inputFilters >= int32_t(target.inputQueueWords.size()))
    filter = takeFilter(window);
  return window;
}

// Takes `part` of a lane of `layout` on `colour` into `fifo`; the rest of the lane's words is filtered out, or dropped
// where the target has no filters.
void emitTake(B &builder, const target::Target &target, int thread, const StreamLayout &layout, const LanePart &part,
              uint8_t colour, int16_t fifo) {
  format::Filter filter;
  const LaneWindow window = filtered(target, windowOf(layout, part), filter);
  const int16_t queue = builder.input(colour, filter);
  auto drop = [&](int64_t words) { builder.emit(thread, Opcode::Move, {words}, B::null(), B::queue(queue)); };
  auto take = [&](int64_t words) {
    builder.emit(thread, Opcode::Move, {words}, B::fifoOperand(fifo), B::queue(queue));
  };
  drop(window.channelsBefore * window.channelWords);
  if (window.allRows()) {
    take(window.channels * window.channelWords);
  } else {
    builder.loop(thread, window.channels);
    drop(window.rowBegin);
    take(window.rowWords);
    drop(window.channelWords - window.rowBegin - window.rowWords);
    builder.endLoop(thread);
  }
  drop(window.channelsAfter * window.channelWords);
}

} // namespace

namespace {

void emitTakeOf(B &builder, const target::Target &target, int thread, const StreamPlan &stream, const LanePart &part,
                int16_t fifo) {
  size_t lane = part.tile * stream.layout.numBlocks() + part.block;
  uint8_t colour = stream.laneColours.empty() ? 0 : stream.laneColours[lane];
  emitTake(builder, target, thread, stream.layout, part, colour, fifo);
}

} // namespace

std::vector<int64_t> takenNumbers(const target::Target &target, const NetworkPlan &network, const KernelRow &row) {
  std::vector<int64_t> numbers;
  for (const ComponentParts &component : row.components) {
    numbers.insert(numbers.end(), {component.ordinal, int64_t(component.parts.size())});
    for (const LanePart &part : component.parts) {
      format::Filter filter;
      const LaneWindow w = filtered(target, windowOf(network.streams[component.stream].layout, part), filter);
      numbers.insert(numbers.end(), {part.region.channels(), part.region.rows(), w.channelsBefore, w.channelsAfter,
                                     w.rowBegin, w.channelWords, part.tile});
    }
  }
  return numbers;
}

namespace {

// Samples that the FIFOs of a component hold.
int64_t samplesHeld(const KernelPlan &plan, const ComponentParts &component) {
  return plan.mapping.fifoSamples.empty() ? 2 : plan.mapping.fifoSamples[component.ordinal];
}

} // namespace

std::vector<int16_t> emitIngest(B &builder, const target::Target &target, int firstThread, const NetworkPlan &network,
                                const KernelPlan &plan, const KernelRow &row) {
  std::vector<int16_t> fifos;
  for (const ComponentParts &component : row.components) {
    const StreamPlan &stream = network.streams[component.stream];
    int64_t elements = component.lines() * stream.layout.plane.width;
    int16_t fifo = builder.fifo("in" + std::to_string(component.ordinal), elements * samplesHeld(plan, component));
    int thread = firstThread + int(fifos.size());
    for (const LanePart &part : component.parts)
      emitTakeOf(builder, target, thread, stream, part, fifo);
    fifos.push_back(fifo);
  }
  return fifos;
}

bool hasThreadsForLanes(const target::Target &target, int firstThread, const KernelRow &row) {
  size_t lanes = 0;
  for (const ComponentParts &component : row.components)
    lanes += component.parts.size();
  return size_t(firstThread) + lanes <= size_t(1 + target.backgroundOperations);
}

std::vector<std::vector<int16_t>> emitIngestByLane(B &builder, const target::Target &target, int firstThread,
                                                   const NetworkPlan &network, const KernelPlan &plan,
                                                   const KernelRow &row) {
  std::vector<std::vector<int16_t>> fifos;
  if (!hasThreadsForLanes(target, firstThread, row)) {
    const std::vector<int16_t> together = emitIngest(builder, target, firstThread, network, plan, row);
    for (size_t c = 0; c < together.size(); ++c)
      fifos.emplace_back(row.components[c].parts.size(), together[c]);
    return fifos;
  }
  int thread = firstThread;
  for (const ComponentParts &component : row.components) {
    const StreamPlan &stream = network.streams[component.stream];
    std::vector<int16_t> &ofParts = fifos.emplace_back();
    for (const LanePart &part : component.parts) {
      const int64_t elements = part.region.channels() * part.region.rows() * stream.layout.plane.width;
      ofParts.push_back(builder.fifo("in" + std::to_string(component.ordinal) +
                                         (ofParts.empty() ? "" : "." + std::to_string(ofParts.size())),
                                     elements * samplesHeld(plan, component)));
      emitTakeOf(builder, target, thread++, stream, part, ofParts.back());
    }
  }
  return fifos;
}

std::vector<ComponentFifos> streamedTiles(const KernelRow &row) {
  std::vector<ComponentFifos> components;
  for (const ComponentParts &component : row.components) {
    ComponentFifos fifos;
    int64_t lastTile = -1;
    std::vector<LanePart> parts = component.parts;
    std::sort(parts.begin(), parts.end(), [](const LanePart &a, const LanePart &b) {
      return std::pair(a.tile, a.block) < std::pair(b.tile, b.block);
    });
    for (const LanePart &part : parts) {
      if (part.tile != lastTile)
        fifos.tiles.push_back({-1, part.region.rowBegin, part.region.rows()});
      if (fifos.tiles.size() == 1)
        fifos.channels += part.region.channels();
      lastTile = part.tile;
    }
    components.push_back(std::move(fifos));
  }
  return components;
}

std::vector<ComponentFifos> emitStreamedIngest(B &builder, const target::Target &target, int firstThread,
                                               const NetworkPlan &network, const KernelRow &row) {
  constexpr int64_t kChannelsAhead = 2;
  std::vector<ComponentFifos> components = streamedTiles(row);
  int thread = firstThread;
  for (size_t c = 0; c < components.size(); ++c) {
    const ComponentParts &component = row.components[c];
    const StreamPlan &stream = network.streams[component.stream];
    for (TileFifo &tile : components[c].tiles) {
      tile.fifo = builder.fifo("in" + std::to_string(thread - firstThread),
                               kChannelsAhead * tile.rows * stream.layout.plane.width);
      for (const LanePart &part : component.parts) {
        if (part.region.rowBegin != tile.rowBegin)
          continue;
        size_t lane = part.tile * stream.layout.numBlocks() + part.block;
        uint8_t colour = stream.laneColours.empty() ? 0 : stream.laneColours[lane];
        emitTake(builder, target, thread, stream.layout, part, colour, tile.fifo);
      }
      ++thread;
    }
  }
  return components;
}

void emitPlace(B &builder, int thread, int64_t planeWidth, int64_t channelOffset, const Region &part,
               const Region &region, const Tile &tile, const format::Operand &source) {
  const int64_t channel = channelOffset + part.channelBegin - region.channelBegin;
  builder.emit(thread, Opcode::Move, {part.channels(), part.rows(), planeWidth},
               B::memory(tile.buffer, tile.at(channel, part.rowBegin, 0), {tile.rows * tile.width, tile.width, 1}),
               source);
}

void emitPlace(B &builder, int thread, const NetworkPlan &network, const ComponentParts &component,
               const Region &region, const Tile &tile, const format::Operand &source) {
  for (const LanePart &part : component.parts)
    emitPlace(builder, thread, network.streams[component.stream].layout.plane.width, component.channelOffset,
              part.region, region, tile, source);
}

void emitPadding(B &builder, int thread, const Region &region, int64_t planeWidth, const Tile &tile, double value) {
  int64_t rowStride = tile.width, channelStride = tile.rows * tile.width;
  auto fill = [&](int64_t rowBegin, int64_t rows, int64_t colBegin, int64_t cols) {
    builder.emit(
        thread, Opcode::Move, {tile.channels, rows, cols},
        B::memory(tile.buffer, (rowBegin - tile.rowBegin) * rowStride + colBegin, {channelStride, rowStride, 1}),
        B::immediate(value));
  };
  if (region.rows() == 0) {
    fill(tile.rowBegin, tile.rows, 0, tile.width);
    return;
  }
  int64_t right = tile.width - tile.padLeft - planeWidth;
  fill(tile.rowBegin, region.rowBegin - tile.rowBegin, 0, tile.width);
  fill(region.rowEnd, tile.rowBegin + tile.rows - region.rowEnd, 0, tile.width);
  fill(region.rowBegin, region.rows(), 0, tile.padLeft);
  fill(region.rowBegin, region.rows(), tile.padLeft + planeWidth, right);
}

} // namespace wsc::kernels
