// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/programs/Ingest.h"

#include <algorithm>

namespace wsc::kernels {

using format::Opcode;
using B = RoleBuilder;

namespace {

// So many of a lane's channels, of a channel's rows or of a row's columns are taken, after `before` others.
struct Stretch {
  int64_t before, taken, after;
  int64_t all() const { return before + taken + after; }
  bool whole() const { return taken == all(); }
};

// The part of a lane that a row takes.
struct LaneWindow {
  Stretch channels, rows, columns;
  int64_t channelWords() const { return rows.all() * columns.all(); }
  int64_t laneWords() const { return channels.all() * channelWords(); }
};

LaneWindow windowOf(const StreamLayout &layout, const LanePart &part, const Columns &columns) {
  const Region &region = part.region;
  return {{region.channelBegin - layout.blockBegin[part.block], region.channels(),
           layout.blockBegin[part.block + 1] - region.channelEnd},
          {region.rowBegin - layout.tileBegin(part.tile), region.rows(), layout.tileEnd(part.tile) - region.rowEnd},
          {columns.begin, columns.count(), layout.plane.width - columns.end}};
}

// A filter passes one window of a period: the columns of every row, the rows of every channel (of a single row also its
// columns alone), or the channels with all their rows, whatever leaves fewest words to discard. `window` becomes what
// is left to do.
format::Filter takeFilter(LaneWindow &window) {
  format::Filter filter;
  auto &[channels, rows, columns] = window;
  const auto pass = [&](int64_t period, int64_t begin, int64_t words) {
    filter.period = period;
    filter.begin = format::Affine(begin);
    filter.words = format::Affine(words);
  };
  const auto done = [](Stretch &stretch) { stretch.before = stretch.after = 0; };
  const bool ofOneRow = rows.taken == 1;
  const int64_t byRows = channels.all() * rows.taken * (ofOneRow ? columns.taken : columns.all()),
                byColumns = channels.all() * rows.all() * columns.taken,
                byChannels = channels.taken * window.channelWords();
  if (byRows < byChannels && byRows <= byColumns) {
    pass(window.channelWords(), rows.before * columns.all() + (ofOneRow ? columns.before : 0),
         rows.taken * (ofOneRow ? columns.taken : columns.all()));
    done(rows);
    if (ofOneRow)
      done(columns);
  } else if (byColumns < byChannels) {
    pass(columns.all(), columns.before, columns.taken);
    done(columns);
  } else if (!channels.whole()) {
    pass(window.laneWords(), channels.before * window.channelWords(), channels.taken * window.channelWords());
    done(channels);
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

// Takes columns of `part` of a lane of `layout` on `colour` into `fifo`; the rest of the lane's words is filtered out,
// or dropped where the target has no filters.
void emitTake(B &builder, const target::Target &target, int thread, const StreamLayout &layout, const LanePart &part,
              const Columns &columnsTaken, uint8_t colour, int16_t fifo) {
  format::Filter filter;
  const LaneWindow window = filtered(target, windowOf(layout, part, columnsTaken), filter);
  const auto &[channels, rows, columns] = window;
  const int16_t queue = builder.input(colour, filter);
  auto drop = [&](int64_t words) { builder.emit(thread, Opcode::Move, {words}, B::null(), B::queue(queue)); };
  auto take = [&](int64_t words) {
    builder.emit(thread, Opcode::Move, {words}, B::fifoOperand(fifo), B::queue(queue));
  };
  // One stretch of `words` after another, `count` times.
  auto takeEach = [&](int64_t count, int64_t before, int64_t words, int64_t after) {
    builder.loop(thread, count);
    drop(before);
    take(words);
    drop(after);
    builder.endLoop(thread);
  };
  const int64_t width = columns.all();
  drop(channels.before * window.channelWords());
  if (rows.whole() && columns.whole()) {
    take(channels.taken * window.channelWords());
  } else if (columns.whole()) {
    takeEach(channels.taken, rows.before * width, rows.taken * width, rows.after * width);
  } else if (rows.whole()) {
    takeEach(channels.taken * rows.taken, columns.before, columns.taken, columns.after);
  } else {
    builder.loop(thread, channels.taken);
    drop(rows.before * width);
    takeEach(rows.taken, columns.before, columns.taken, columns.after);
    drop(rows.after * width);
    builder.endLoop(thread);
  }
  drop(channels.after * window.channelWords());
}

} // namespace

namespace {

void emitTakeOf(B &builder, const target::Target &target, int thread, const StreamPlan &stream, const LanePart &part,
                const Columns &columns, int16_t fifo) {
  size_t lane = part.tile * stream.layout.numBlocks() + part.block;
  uint8_t colour = stream.laneColours.empty() ? 0 : stream.laneColours[lane];
  emitTake(builder, target, thread, stream.layout, part, columns, colour, fifo);
}

} // namespace

std::vector<int64_t> takenNumbers(const target::Target &target, const NetworkPlan &network, const KernelRow &row) {
  std::vector<int64_t> numbers;
  for (const ComponentParts &component : row.components) {
    numbers.insert(numbers.end(), {component.ordinal, int64_t(component.parts.size())});
    for (const LanePart &part : component.parts) {
      format::Filter filter;
      const LaneWindow w =
          filtered(target, windowOf(network.streams[component.stream].layout, part, component.columns), filter);
      numbers.insert(numbers.end(), {part.region.channels(), part.region.rows(), w.channels.before, w.channels.after,
                                     w.rows.before, w.rows.after, w.columns.before, w.columns.after, part.tile});
    }
  }
  return numbers;
}

namespace {

// Samples that the FIFOs of a component hold.
int64_t samplesHeld(const NetworkPlan &network, const ComponentParts &component) {
  const std::vector<int64_t> &samples = network.kernels[size_t(component.taker)].mapping.fifoSamples;
  return samples.empty() ? 2 : samples[size_t(component.ordinal)];
}

} // namespace

std::vector<int16_t> emitIngest(B &builder, const target::Target &target, int firstThread, const NetworkPlan &network,
                                const KernelRow &row) {
  std::vector<int16_t> fifos;
  for (const ComponentParts &component : row.components) {
    const StreamPlan &stream = network.streams[component.stream];
    int16_t fifo =
        builder.fifo("in" + std::to_string(component.ordinal), component.words() * samplesHeld(network, component));
    int thread = firstThread + int(fifos.size());
    for (const LanePart &part : component.parts)
      emitTakeOf(builder, target, thread, stream, part, component.columns, fifo);
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
                                                   const NetworkPlan &network, const KernelRow &row) {
  std::vector<std::vector<int16_t>> fifos;
  if (!hasThreadsForLanes(target, firstThread, row)) {
    const std::vector<int16_t> together = emitIngest(builder, target, firstThread, network, row);
    for (size_t c = 0; c < together.size(); ++c)
      fifos.emplace_back(row.components[c].parts.size(), together[c]);
    return fifos;
  }
  int thread = firstThread;
  for (const ComponentParts &component : row.components) {
    const StreamPlan &stream = network.streams[component.stream];
    std::vector<int16_t> &ofParts = fifos.emplace_back();
    for (const LanePart &part : component.parts) {
      const int64_t elements = part.region.channels() * part.region.rows() * component.columns.count();
      ofParts.push_back(builder.fifo("in" + std::to_string(component.ordinal) +
                                         (ofParts.empty() ? "" : "." + std::to_string(ofParts.size())),
                                     elements * samplesHeld(network, component)));
      emitTakeOf(builder, target, thread++, stream, part, component.columns, ofParts.back());
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
                               kChannelsAhead * tile.rows * component.columns.count());
      for (const LanePart &part : component.parts) {
        if (part.region.rowBegin != tile.rowBegin)
          continue;
        emitTakeOf(builder, target, thread, stream, part, component.columns, tile.fifo);
      }
      ++thread;
    }
  }
  return components;
}

void emitPlace(B &builder, int thread, const Columns &columns, int64_t channelOffset, const Region &part,
               const Region &region, const Tile &tile, const format::Operand &source) {
  const int64_t channel = channelOffset + part.channelBegin - region.channelBegin;
  builder.emit(
      thread, Opcode::Move, {part.channels(), part.rows(), columns.count()},
      B::memory(tile.buffer, tile.at(channel, part.rowBegin, columns.begin), {tile.rows * tile.width, tile.width, 1}),
      source);
}

void emitPlace(B &builder, int thread, const ComponentParts &component, const Region &region, const Tile &tile,
               const format::Operand &source) {
  for (const LanePart &part : component.parts)
    emitPlace(builder, thread, component.place(), component.channelOffset, part.region, region, tile, source);
}

void emitPadding(B &builder, int thread, const Region &region, const Columns &columns, const Tile &tile, double value) {
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
  const int64_t left = tile.padLeft + columns.begin, right = tile.padLeft + columns.end;
  fill(tile.rowBegin, region.rowBegin - tile.rowBegin, 0, tile.width);
  fill(region.rowEnd, tile.rowBegin + tile.rows - region.rowEnd, 0, tile.width);
  fill(region.rowBegin, region.rows(), 0, left);
  fill(region.rowBegin, region.rows(), right, tile.width - right);
}

} // namespace wsc::kernels
