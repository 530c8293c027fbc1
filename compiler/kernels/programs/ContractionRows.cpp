// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One row of a contraction: its feeder and its compute cores (see KernelRows.h).
#include "compiler/kernels/programs/Feed.h"
#include "compiler/kernels/programs/Priorities.h"
#include "compiler/kernels/programs/TapNest.h"
#include "runtime/timing/Cost.h"

#include "absl/strings/str_cat.h"

#include <optional>
#include <utility>

namespace wsc::kernels {

using format::Opcode;
using format::Role;
using B = RoleBuilder;

namespace {

// Whether an operation can be applied to words as they leave: it takes one value and no longer than a move.
bool sendsAtOnce(const target::Target &target, const TileOp &op) {
  int values = 0;
  for (const TileOperand &operand : op.operands) {
    values += operand.kind == TileOperand::Kind::Value;
    if (operand.kind != TileOperand::Kind::Value && operand.kind != TileOperand::Kind::Scalar)
      return false;
  }
  return values == 1 && timing::elementsPerCycle(target, op.opcode, format::ElementType::F32) >= 1;
}

// Weights of the cores of one (slice class, column class), [slice][column][ci][kh][kw][co]; slices and columns of full
// size and the shorter last ones are sections apart, so are feeders that compute and then the columns of each band.
// Returns the section; `offset` of the run's first core, `cell` the elements of one.
int32_t weightSection(const KernelPlan &plan, const KernelRow &row, int64_t inputChannels, const RowPart &run,
                      SectionTable &sections, int64_t &offset, int64_t &cell) {
  const Contraction &c = plan.spec.contraction;
  const Mapping &m = plan.mapping;
  int64_t ci = row.needed[0].channels(), co = run.channels;
  const bool raggedSlice = ci < m.channelsPerSlice, raggedColumn = co < m.channelsPerColumn;
  // The section's columns, from the first one's channels on.
  int64_t firstChannel = run.channelBegin, columns = 1;
  if (!run.feeds && !raggedColumn) {
    const int64_t band = m.feederComputes() ? run.share : 0;
    firstChannel = band * m.bandChannels() + m.feederChannels;
    const int64_t end =
        m.feederComputes() ? firstChannel - m.feederChannels + m.bandChannels() : plan.spec.out.channels;
    columns = (std::min(end, plan.spec.out.channels) - firstChannel) / m.channelsPerColumn;
  }
  const int64_t slices = raggedSlice ? 1 : inputChannels / m.channelsPerSlice;

  const bool ofBand = m.feederComputes() && m.bands > 1;
  emit::SectionRecipe recipe =
      c.weights.recipe(absl::StrCat(plan.spec.name, ".weights", raggedSlice ? ".lastslice" : "",
                                    run.feeds      ? ".feeder"
                                    : raggedColumn ? ".lastcolumn"
                                                   : "",
                                    ofBand ? absl::StrCat(".band", run.share) : ""));
  recipe.extents = {slices, columns, ci, c.kernelH, c.kernelW, co};
  recipe.strides = {m.channelsPerSlice * c.weightStrideIn,
                    m.channelsPerColumn * c.weightStrideOut,
                    c.weightStrideIn,
                    c.weightStrideH,
                    c.weightStrideW,
                    c.weightStrideOut};
  recipe.elementOffset +=
      (raggedSlice ? row.slice * m.channelsPerSlice * c.weightStrideIn : 0) + firstChannel * c.weightStrideOut;
  cell = ci * c.kernelH * c.kernelW * co;
  offset = ((raggedSlice ? 0 : row.slice) * columns + (run.channelBegin - firstChannel) / m.channelsPerColumn) * cell;
  return sections.add(std::move(recipe));
}

} // namespace

// The feeder: lanes → FIFOs → operations on the input, if there are any → row.
absl::StatusOr<Role> KernelRows::feederRole(const KernelRow &row, SectionTable &sections) const {
  B core(absl::StrCat(plan.spec.name, ".feed"), kernelIndex, row.row, plan.placement.col);
  Feed feed(core, target, network, plan, row, inputPlane(0), firstIngestThread(), coLocatedPlan(), sections);
  const TileSink sink{B::queue(core.output(plan.colours.row)), prioritiesOf(target).take};
  absl::Status status;
  if (plan.mapping.streamed) {
    for (size_t c = 0; c < feed.streamed().size(); ++c) {
      core.loop(0, feed.streamed()[c].channels);
      for (size_t t = 0; t < feed.streamed()[c].tiles.size(); ++t)
        status.Update(feed.bringChannel(c, t, sink));
      core.endLoop(0);
    }
  } else {
    for (const InputStage &stage : inputStages(row))
      for (const StagedPart &part : stage.parts)
        status.Update(feed.bring(part, sink));
  }
  if (!status.ok())
    return status;
  feed.sendForCoLocated();
  return core.finish(target);
}

absl::StatusOr<Role> KernelRows::computeRole(const KernelRow &row, const RowPart &part, SectionTable &sections) const {
  const Contraction &c = plan.spec.contraction;
  const Mapping &m = plan.mapping;
  const StreamPlan &outStream = network.streams[plan.spec.outStream];
  const Region &needed = row.needed[0];
  const Columns taken = takenColumns();
  const Priorities priorities = prioritiesOf(target);
  bool last = part.kind == RowPart::Kind::End;
  int64_t rows = row.out.rows(), width = plan.spec.out.width, pixels = rows * width;
  int64_t co = part.channels, columns = part.end - part.begin;
  B core(absl::StrCat(plan.spec.name, part.feeds ? ".feed" : "", last ? ".reduce" : ".mac"), kernelIndex, row.row,
         int32_t(plan.placement.col + plan.computeOffset() + part.begin), int32_t(columns));
  Tile tile;
  tile.channels = m.streamed ? 1 : needed.channels();
  tile.rowBegin = tileAnchor(0, row.group);
  tile.rows = tileHeight(0, row.group);
  tile.padLeft = std::max(c.padLeft, -taken.begin);
  const int64_t firstColumn = tile.padLeft - c.padLeft; // of the tile, that a window sees
  tile.width =
      std::max(firstColumn + (width - 1) * c.strideW + (c.kernelW - 1) * c.dilationW + 1, tile.padLeft + taken.end);
  tile.buffer = core.scratch("x", tile.elements());
  int16_t acc = core.scratch("acc", co * pixels);
  // Where the input comes from: the row, or, in a core that feeds it, lanes. It keeps what it sends.
  std::optional<Feed> feed;
  int16_t rowIn = -1, rowOut = -1;
  if (!part.feeds)
    rowIn = core.input(plan.colours.row);
  else
    feed.emplace(core, target, network, plan, row, inputPlane(0), firstIngestThread(last), coLocatedPlan(), sections);
  if (part.feeds && m.columnsOfBand(part.share, plan.spec.out.channels) > 1)
    rowOut = core.output(plan.colours.row);
  int64_t offset = 0, cell = 0;
  int32_t section = weightSection(plan, row, inputPlane(0).channels, part, sections, offset, cell);
  int16_t weights = core.constant("weights", cell, section, offset, cell);

  // Receive what comes first.
  const uint8_t adding = sumsFirst ? priorities.take : priorities.compute;
  core.setPriority(adding);
  emitPadding(core, 0, needed, taken, tile, 0);
  const std::vector<InputStage> stages = m.streamed ? std::vector<InputStage>() : inputStages(row);
  const std::array<int64_t, 3> tileStrides{tile.rows * tile.width, tile.width, 1};
  const uint8_t feeding = priorities.send; // after taking lanes in, before computing
  absl::Status status;
  auto inTile = [&](int64_t at) { return TileSink{B::memory(tile.buffer, at, {}), feeding, tileStrides}; };
  auto sendOn = [&](const TileSink &sink, int64_t channels, int64_t rows) {
    if (rowOut >= 0)
      core.emit(0, Opcode::Move, {channels, rows, taken.count()}, B::queue(rowOut),
                walkTile(sink.operand, tileStrides));
  };
  auto placeOf = [&](const StagedPart &staged) {
    const int64_t channel = staged.channelOffset + staged.region.channelBegin - needed.channelBegin;
    return inTile(tile.at(channel, staged.region.rowBegin, taken.begin));
  };
  auto bring = [&](const InputStage &stage) {
    for (const StagedPart &staged : stage.parts)
      status.Update(feed->bring(staged, placeOf(staged)));
  };
  // Cores that feed place the next stage before they compute with this one: the row need not wait for that.
  auto take = [&](size_t stage) {
    core.setPriority(feed ? feeding : priorities.take);
    if (feed && stage == 0)
      bring(stages.front());
    for (const StagedPart &staged : stages[stage].parts)
      if (feed)
        sendOn(placeOf(staged), staged.region.channels(), staged.region.rows());
      else
        emitPlace(core, 0, taken, staged.channelOffset, staged.region, needed, tile, B::queue(rowIn));
    if (feed && stage + 1 < stages.size())
      bring(stages[stage + 1]);
    core.setPriority(priorities.compute);
  };
  if (!stages.empty())
    take(0);

  // Start from the bias, once per reduction.
  auto accAll = [&] { return B::memory(acc, 0, {pixels, 1}); };
  if (last && c.bias) {
    int32_t biasSection = vectorSection(sections, plan.spec.name + ".bias", *c.bias, plan.spec.out.channels, 1);
    int16_t bias = core.constant("bias", co, biasSection, part.channelBegin, m.channelsPerColumn);
    core.emit(0, Opcode::Move, {co, pixels}, accAll(), B::memory(bias, 0, {1, 0}));
  } else {
    core.emit(0, Opcode::Move, {co, pixels}, accAll(), B::immediate(0));
  }

  // Multiply-adds, with each stage of the input as it comes.
  TapNest nest{{{c.kernelH, 0, c.kernelW * co, c.dilationH * tile.width}, {c.kernelW, 0, co, c.dilationW}},
               {{co, pixels, 1, 0}, {rows, width, 0, c.strideH * tile.width}, {width, 1, 0, c.strideW}}};
  int64_t channelWeights = c.kernelH * c.kernelW * co;
  if (m.streamed) {
    int64_t channel = 0;
    const std::vector<ComponentFifos> components = streamedTiles(row);
    for (size_t c = 0; c < components.size(); ++c) {
      const ComponentFifos &component = components[c];
      core.loop(0, component.channels);
      core.setPriority(feed ? feeding : priorities.take);
      for (size_t t = 0; t < component.tiles.size(); ++t) {
        const TileFifo &rowsOfTile = component.tiles[t];
        const int64_t at = tile.at(0, rowsOfTile.rowBegin, taken.begin);
        if (feed) {
          status.Update(feed->bringChannel(c, t, inTile(at)));
          sendOn(inTile(at), 1, rowsOfTile.rows);
        } else
          core.emit(0, Opcode::Move, {rowsOfTile.rows, taken.count()}, B::memory(tile.buffer, at, {tile.width, 1}),
                    B::queue(rowIn));
      }
      core.setPriority(priorities.compute);
      emitTaps(core, 0, Opcode::Fma, nest, B::memory(acc, 0, {}),
               B::memory(weights, channel * channelWeights, {}, {channelWeights}),
               B::memory(tile.buffer, firstColumn, {}), 1);
      core.endLoop(0);
      channel += component.channels;
    }
  } else {
    nest.taps.insert(nest.taps.begin(), {0, 0, channelWeights, tile.rows * tile.width});
    for (size_t i = 0; i < stages.size(); ++i) {
      const InputStage &stage = stages[i];
      if (i > 0)
        take(i);
      const int64_t first = stage.channelBegin - needed.channelBegin;
      nest.taps.front().count = stage.channelEnd - stage.channelBegin;
      emitTaps(core, 0, Opcode::Fma, nest, B::memory(acc, 0, {}), B::memory(weights, first * channelWeights, {}),
               B::memory(tile.buffer, first * tile.rows * tile.width + firstColumn, {}));
    }
  }

  if (!status.ok())
    return status;

  // Chain reduce: receive, add, forward. `result` holds several samples if it can: the cores of a row receive together,
  // so one whose lane is not yet free would hold up all.
  int16_t result = -1;
  auto whole = [&] { return B::memory(acc, 0, {1}); };
  if (!last) {
    int16_t chainIn = part.first ? -1 : core.input(plan.colours.chain[1 - part.sendsOn]);
    int16_t chainOut = core.output(plan.colours.chain[part.sendsOn]);
    if (part.first)
      core.emit(0, Opcode::Move, {co * pixels}, B::queue(chainOut), whole());
    else
      core.emit(0, Opcode::Add, {co * pixels}, B::queue(chainOut), B::queue(chainIn), whole());
  } else {
    result = core.fifo("out", co * pixels);
    std::vector<int16_t> chains;
    if (row.slice > 0)
      chains.push_back(core.input(plan.colours.chain[(row.slice + 1) % 2])); // from above
    if (row.slice + 1 < m.slices)
      chains.push_back(core.input(plan.colours.chain[row.slice % 2])); // from below
    // A single operation is done by the thread that sends, if it takes no longer than a move.
    std::vector<TileOp> ops = plan.spec.tileOps, atSend;
    if (ops.size() == 1 && sendsAtOnce(target, ops.front()))
      atSend = std::exchange(ops, {});
    TileShape shape{co,
                    rows,
                    width,
                    part.channelBegin,
                    m.channelsPerColumn,
                    row.out.rowBegin,
                    plan.spec.out.channels,
                    plan.spec.out.rows};
    bool straightOut = ops.empty() && !chains.empty();
    core.setPriority(adding);
    for (size_t i = 0; i < chains.size(); ++i)
      core.emit(0, Opcode::Add, {co * pixels}, straightOut && i + 1 == chains.size() ? B::fifoOperand(result) : whole(),
                B::queue(chains[i]), whole());
    if (!straightOut) {
      if (auto status = emitTileProgram(core, 0, plan.spec.name, ops,
                                        {{B::memory(acc, 0, {}), {pixels, width, 1}, true}}, shape, result, sections);
          !status.ok())
        return status;
    }
    // Gather along the row.
    int64_t laneIndex = row.group * outLayout().numBlocks() + part.block;
    int16_t laneOut = core.output(outStream.laneColours.empty() ? 0 : outStream.laneColours[laneIndex]);
    const TileSink lane{B::queue(laneOut), priorities.send};
    core.setPriority(priorities.send);
    std::vector<TileValue> sums{{B::fifoOperand(result), {}, false}};
    if (atSend.empty())
      core.emit(1, Opcode::Move, {co * pixels}, lane.operand, B::fifoOperand(result));
    else if (auto status = emitTileOps(core, 1, plan.spec.name, atSend, sums, shape, {}, &lane, sections); !status.ok())
      return status;
    if (!part.aloneInBlock)
      core.sendControl(1, laneOut, part.atBlockEdge ? 1 : 2);
    // Who takes the end of one lane and the beginning of the next takes them in turn: lanes of a tile send one after
    // another, up to samples later. Cores must not wait for that.
    core.deepen(target, result, 4);
  }
  if (feed)
    feed->sendForCoLocated();
  return core.finish(target);
}

} // namespace wsc::kernels
