// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One core of a column kernel: window, elementwise or softmax (see KernelRows.h).
#include "compiler/kernels/programs/Ingest.h"
#include "compiler/kernels/programs/Priorities.h"
#include "compiler/kernels/programs/Send.h"
#include "compiler/kernels/programs/TapNest.h"
#include "compiler/kernels/programs/TileProgram.h"

#include "absl/strings/str_cat.h"

#include <limits>

namespace wsc::kernels {

using format::Opcode;
using format::Role;
using B = RoleBuilder;

namespace {

// How a core works on a window's channels, one after the other where a tile of all of them would not fit.
enum class Streaming {
  None,
  Channels, // of the output: each is a channel of the input, and done with it
  Group,    // input channels of the one group that the core holds, or holds a part of
};
Streaming streamingOf(const KernelPlan &plan) {
  if (!plan.mapping.streamed || plan.spec.kind != KernelKind::Window)
    return Streaming::None;
  return plan.spec.window.ofSingleChannels() ? Streaming::Channels : Streaming::Group;
}

// The first column of a tile that a window sees. Where padding is negative the tile begins with the input's first
// column all the same.
int64_t firstColumn(const Window &w) { return std::max<int64_t>(0, -w.padLeft); }

// Sets acc[c, h, w] to what a window begins with. Returns acc.
int16_t beginWindow(B &core, const KernelPlan &plan, const KernelRow &row, SectionTable &sections) {
  const Window &w = plan.spec.window;
  const bool streamed = streamingOf(plan) == Streaming::Channels;
  int64_t channels = streamed ? 1 : row.out.channels(), pixels = row.out.rows() * plan.spec.out.width;
  int16_t acc = core.scratch("acc", channels * pixels);
  auto accAll = B::memory(acc, 0, {pixels, 1});
  if (w.kind == Window::Kind::Convolution && w.bias) {
    int32_t section = vectorSection(sections, plan.spec.name + ".bias", *w.bias, plan.spec.out.channels, 1);
    int16_t bias = core.constant("bias", row.out.channels(), section, row.out.channelBegin);
    core.emit(0, Opcode::Move, {channels, pixels}, accAll, B::memory(bias, 0, {1, 0}, streamed ? Dims{1} : Dims{}));
  } else {
    bool max = w.kind == Window::Kind::Max;
    core.emit(0, Opcode::Move, {channels, pixels}, accAll,
              B::immediate(max ? -std::numeric_limits<double>::infinity() : 0));
  }
  return acc;
}

// Slides the window over the tile: acc[c, h, w] over all taps, in the order of the group's input channels, kh, kw. When
// streaming it stands inside the loop over channels.
void slideWindow(B &core, const KernelPlan &plan, const KernelRow &row, const Tile &tile, int16_t acc,
                 SectionTable &sections) {
  const Window &w = plan.spec.window;
  const Streaming streaming = streamingOf(plan);
  int64_t channels = streaming == Streaming::Channels ? 1 : row.out.channels(), rows = row.out.rows(),
          width = plan.spec.out.width, pixels = rows * width;
  auto dst = B::memory(acc, 0, {}), x = B::memory(tile.buffer, firstColumn(w), {});
  const int openLoops = streaming != Streaming::None;
  const int64_t plane = tile.rows * tile.width, taps = w.kernelH * w.kernelW;
  if (w.kind != Window::Kind::Convolution) {
    TapNest nest{{{w.kernelH, 0, w.dilationH * tile.width, 0}, {w.kernelW, 0, w.dilationW, 0}},
                 {{channels, pixels, plane, 0}, {rows, width, w.strideH * tile.width, 0}, {width, 1, w.strideW, 0}}};
    emitTaps(core, 0, w.kind == Window::Kind::Max ? Opcode::ReduceMax : Opcode::ReduceAdd, nest, dst, x, {}, openLoops);
    return;
  }
  emit::SectionRecipe recipe = w.weights.recipe(plan.spec.name + ".weights");
  recipe.extents = {plan.spec.out.channels, w.groupIn, w.kernelH, w.kernelW};
  recipe.strides = {w.weightStrideOut, w.weightStrideIn, w.weightStrideH, w.weightStrideW};
  const int64_t perChannel = w.groupIn * taps; // weights
  int32_t section = sections.add(std::move(recipe));
  int16_t weights =
      core.constant("weights", row.out.channels() * perChannel, section, row.out.channelBegin * perChannel);
  // The core's channels: of several groups, or a part of one. An open loop steps over weights of an output channel, or
  // of an input channel.
  const int64_t ofGroup = std::min(channels, w.groupOut), groups = channels / ofGroup;
  TapNest nest{{{streaming == Streaming::Group ? 1 : w.groupIn, 0, taps, plane},
                {w.kernelH, 0, w.kernelW, w.dilationH * tile.width},
                {w.kernelW, 0, 1, w.dilationW}},
               {{groups, ofGroup * pixels, ofGroup * perChannel, w.groupIn * plane},
                {ofGroup, pixels, perChannel, 0},
                {rows, width, 0, w.strideH * tile.width},
                {width, 1, 0, w.strideW}}};
  const Dims step = streaming == Streaming::None ? Dims{} : Dims{streaming == Streaming::Group ? taps : perChannel};
  emitTaps(core, 0, Opcode::Fma, nest, dst, B::memory(weights, 0, {}, step), x, openLoops);
}

// What the window makes of the tile.
TileValue emitWindow(B &core, const KernelPlan &plan, const KernelRow &row, const Tile &tile, SectionTable &sections) {
  const Window &w = plan.spec.window;
  const int64_t width = plan.spec.out.width, pixels = row.out.rows() * width;
  if (w.kind == Window::Kind::Copy)
    return {
        B::memory(tile.buffer, firstColumn(w), {}), {tile.rows * tile.width, w.strideH * tile.width, w.strideW}, false};
  int16_t acc = beginWindow(core, plan, row, sections);
  slideWindow(core, plan, row, tile, acc, sections);
  return {B::memory(acc, 0, {}), {pixels, width, 1}, true};
}

// Whether the words of every component come in the order of the tile: from one tile of its stream, channels ascending.
bool inOrder(const ComponentParts &component) {
  for (const LanePart &part : component.parts)
    if (part.tile != component.parts.front().tile)
      return false;
  return true;
}
bool inOrder(const KernelRow &row) {
  for (const ComponentParts &component : row.components)
    if (!inOrder(component))
      return false;
  return true;
}

// Whether an elementwise kernel can take input `input` straight from its FIFO: it comes in order from one stream, is
// not broadcast, and is used once.
bool straightFromFifo(const KernelRow &row, const KernelSpec &spec, size_t input, int64_t inputWidth) {
  if (spec.kind != KernelKind::Elementwise || inputWidth != spec.out.width)
    return false;
  int64_t uses = 0;
  for (const TileOp &op : spec.tileOps)
    for (const TileOperand &operand : op.operands)
      uses += operand.kind == TileOperand::Kind::Value && operand.value == int32_t(input);
  int64_t components = 0;
  bool ordered = true, whole = true;
  for (const ComponentParts &component : row.components)
    if (component.input == int32_t(input)) {
      ++components;
      ordered &= inOrder(component);
    }
  whole = row.needed[input].channels() == row.out.channels() && row.needed[input].rows() == row.out.rows();
  return uses == 1 && components == 1 && ordered && whole;
}

// Lines of streams that are joined along the width, from their FIFOs: one of each stream after the other. They go to a
// FIFO, for slices send one after another, and short moves take mostly their set-ups.
void emitJoin(B &core, const KernelRow &row, const std::vector<int16_t> &fifos, int16_t out) {
  core.loop(0, row.components.front().lines());
  for (size_t i = 0; i < fifos.size(); ++i)
    core.emit(0, Opcode::Move, {row.components[i].columns.count()}, B::fifoOperand(out), B::fifoOperand(fifos[i]));
  core.endLoop(0);
}

int16_t fifoOfInput(const KernelRow &row, const std::vector<int16_t> &fifos, size_t input) {
  for (size_t i = 0; i < row.components.size(); ++i)
    if (row.components[i].input == int32_t(input))
      return fifos[i];
  return -1;
}

// Softmax over channels: y = x − max, exp(y)/Σexp(y), or y − log Σexp(y). Result into the FIFO.
void emitSoftmax(B &core, const KernelPlan &plan, const Tile &tile, int64_t pixels, int16_t out) {
  int64_t channels = tile.channels;
  Dims extents{channels, pixels};
  int16_t x = tile.buffer;
  int16_t peak = core.scratch("max", pixels), sum = core.scratch("sum", pixels);
  auto all = [&](int16_t buffer) { return B::memory(buffer, 0, {pixels, 1}); };
  auto perPixel = [&](int16_t buffer) { return B::memory(buffer, 0, {0, 1}); };
  core.emit(0, Opcode::Move, {pixels}, B::memory(peak, 0, {1}), B::memory(x, 0, {1}));
  core.emit(0, Opcode::ReduceMax, extents, perPixel(peak), all(x));
  core.emit(0, Opcode::Sub, extents, all(x), all(x), perPixel(peak));
  core.emit(0, Opcode::Move, {pixels}, B::memory(sum, 0, {1}), B::immediate(0));
  int16_t exponentials = plan.spec.softmax.logarithm ? core.scratch("exp", channels * pixels) : x;
  core.emit(0, Opcode::Exp, extents, all(exponentials), all(x));
  core.emit(0, Opcode::ReduceAdd, extents, perPixel(sum), all(exponentials));
  if (plan.spec.softmax.logarithm) {
    core.emit(0, Opcode::Log, {pixels}, B::memory(sum, 0, {1}), B::memory(sum, 0, {1}));
    core.emit(0, Opcode::Sub, extents, B::fifoOperand(out), all(x), perPixel(sum));
  } else {
    core.emit(0, Opcode::Div, extents, B::fifoOperand(out), all(x), perPixel(sum));
  }
}

} // namespace

absl::StatusOr<Role> KernelRows::columnRole(const KernelRow &row, SectionTable &sections) const {
  const KernelSpec &spec = plan.spec;
  int64_t channels = row.out.channels(), rows = row.out.rows(), width = spec.out.width, pixels = rows * width;

  B core(spec.name, kernelIndex, row.row, int32_t(plan.placement.col + row.share));
  const Streaming streaming = streamingOf(plan);
  const bool streamed = streaming != Streaming::None;
  if (streaming == Streaming::Group && channels > spec.window.groupOut)
    return absl::ResourceExhaustedError(absl::StrCat(spec.name, " cannot work channel by channel: its ",
                                                     plan.mapping.slices, " slices hold ", channels,
                                                     " output channels each, its groups ", spec.window.groupOut));
  const bool movesOnly = spec.kind == KernelKind::Elementwise && spec.tileOps.empty() && inOrder(row);
  const bool joins = movesOnly && spec.inputs.front().alongWidth, passes = movesOnly && !joins;
  // Thread 0 computes, thread 1 sends, ingest threads follow. A kernel that only passes words on sends straight from
  // its FIFOs.
  int sendThread = passes ? 0 : 1, ingestThread = sendThread + 1;
  std::vector<int16_t> fifos;
  std::vector<ComponentFifos> tileFifos;
  const Priorities priorities = prioritiesOf(target);
  // Lanes come to many cores at once, and who takes turns with sending holds up all of them.
  core.setPriority(priorities.take);
  if (streamed)
    tileFifos = emitStreamedIngest(core, target, ingestThread, network, row);
  else
    fifos = emitIngest(core, target, ingestThread, network, row);
  core.setPriority(priorities.compute);
  std::vector<Tile> tiles(spec.inputs.size());
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    const Region &needed = row.needed[i];
    Plane plane = inputPlane(i);
    Tile &tile = tiles[i];
    if (movesOnly || straightFromFifo(row, spec, i, plane.width))
      continue;
    tile.channels = streamed ? 1 : needed.channels();
    tile.rowBegin = tileAnchor(i, row.group);
    tile.rows = tileHeight(i, row.group);
    tile.width = plane.width;
    if (spec.kind == KernelKind::Window) {
      const Window &w = spec.window;
      tile.padLeft = std::max<int64_t>(0, w.padLeft);
      tile.width = std::max(firstColumn(w) + (width - 1) * w.strideW + (w.kernelW - 1) * w.dilationW + 1,
                            tile.padLeft + plane.width);
    }
    tile.buffer = core.scratch("x" + std::to_string(i), tile.elements());
    if (spec.kind == KernelKind::Window)
      emitPadding(core, 0, needed, {0, plane.width}, tile, spec.window.padValue);
  }
  for (size_t i = 0; i < fifos.size(); ++i) {
    const ComponentParts &component = row.components[i];
    if (tiles[component.input].buffer < 0)
      continue;
    emitPlace(core, 0, component, row.needed[component.input], tiles[component.input], B::fifoOperand(fifos[i]));
  }

  int16_t result = passes ? -1 : core.fifo("out", channels * pixels);
  if (passes) {
    // Nothing to compute.
  } else if (joins) {
    emitJoin(core, row, fifos, result);
  } else if (spec.kind == KernelKind::Softmax && spec.tileOps.empty()) {
    emitSoftmax(core, plan, tiles[0], pixels, result);
  } else {
    std::vector<TileValue> values;
    TileShape shape{channels,
                    rows,
                    width,
                    row.out.channelBegin,
                    0,
                    row.out.rowBegin,
                    spec.out.channels,
                    spec.out.rows,
                    streaming == Streaming::Channels};
    if (streamed && tileFifos.size() != 1)
      return absl::ResourceExhaustedError(
          absl::StrCat(spec.name, " cannot work channel by channel on ", tileFifos.size(), " joined streams"));
    auto placeChannel = [&] {
      for (const TileFifo &part : tileFifos[0].tiles)
        core.emit(0, Opcode::Move, {part.rows, inputPlane(0).width},
                  B::memory(tiles[0].buffer, tiles[0].at(0, part.rowBegin, 0), {tiles[0].width, 1}),
                  B::fifoOperand(part.fifo));
    };
    if (streaming == Streaming::Channels) {
      core.loop(0, channels);
      placeChannel();
      if (auto status = emitTileProgram(core, 0, spec.name, spec.tileOps,
                                        {emitWindow(core, plan, row, tiles[0], sections)}, shape, result, sections);
          !status.ok())
        return status;
      core.endLoop(0);
    } else if (streaming == Streaming::Group) {
      int16_t acc = beginWindow(core, plan, row, sections);
      core.loop(0, spec.window.groupIn);
      placeChannel();
      slideWindow(core, plan, row, tiles[0], acc, sections);
      core.endLoop(0);
      values.push_back({B::memory(acc, 0, {}), {pixels, width, 1}, true});
    } else if (spec.kind == KernelKind::Window) {
      values.push_back(emitWindow(core, plan, row, tiles[0], sections));
    } else {
      for (size_t i = 0; i < tiles.size(); ++i) {
        const Tile &tile = tiles[i];
        if (tile.buffer < 0) {
          values.push_back({B::fifoOperand(fifoOfInput(row, fifos, i)), {}, false});
          continue;
        }
        std::array<int64_t, 3> strides{tile.channels == 1 ? 0 : tile.rows * tile.width, tile.rows == 1 ? 0 : tile.width,
                                       tile.width == 1 ? 0 : 1};
        bool full = tile.channels == channels && tile.rows == rows && tile.width == width;
        values.push_back(
            {B::memory(tile.buffer, 0, {}), full ? std::array<int64_t, 3>{pixels, width, 1} : strides, full});
      }
    }
    if (streaming != Streaming::Channels)
      if (auto status = emitTileProgram(core, 0, spec.name, spec.tileOps, std::move(values), shape, result, sections);
          !status.ok())
        return status;
  }

  std::vector<std::pair<int16_t, int64_t>> sources;
  if (passes)
    for (size_t i = 0; i < fifos.size(); ++i)
      sources.emplace_back(fifos[i], row.components[i].words());
  else
    sources.emplace_back(result, channels * pixels);
  core.setPriority(priorities.send);
  emitColumnSend(core, sendThread, network, plan, row, sources);
  if (!passes)
    core.deepen(target, result, 2);
  return core.finish(target);
}

} // namespace wsc::kernels
