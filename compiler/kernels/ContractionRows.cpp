// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One row of a contraction: its feeder and its compute cores (see KernelRows.h).
#include "compiler/kernels/Ingest.h"
#include "compiler/kernels/Priorities.h"
#include "compiler/kernels/TapNest.h"
#include "compiler/kernels/TileProgram.h"
#include "runtime/timing/Cost.h"

#include "absl/strings/str_cat.h"

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
// size and the shorter last ones are sections apart. Returns the section; `offset` and `perColumn` of the run's first
// core.
int32_t weightSection(const KernelPlan &plan, const KernelRow &row, int64_t inputChannels, const RowPart &run,
                      SectionTable &sections, int64_t &offset, int64_t &cell) {
  const Contraction &c = plan.spec.contraction;
  const Mapping &m = plan.mapping;
  int64_t ci = row.needed[0].channels(), co = run.channels;
  bool raggedSlice = ci < m.channelsPerSlice, raggedColumn = co < m.channelsPerColumn;
  int64_t fullColumns = plan.spec.out.channels / m.channelsPerColumn, fullSlices = inputChannels / m.channelsPerSlice;
  int64_t slices = raggedSlice ? 1 : fullSlices, columns = raggedColumn ? 1 : fullColumns;

  emit::SectionRecipe recipe = c.weights.recipe(
      absl::StrCat(plan.spec.name, ".weights", raggedSlice ? ".lastslice" : "", raggedColumn ? ".lastcolumn" : ""));
  recipe.extents = {slices, columns, ci, c.kernelH, c.kernelW, co};
  recipe.strides = {m.channelsPerSlice * c.weightStrideIn,
                    m.channelsPerColumn * c.weightStrideOut,
                    c.weightStrideIn,
                    c.weightStrideH,
                    c.weightStrideW,
                    c.weightStrideOut};
  recipe.elementOffset += (raggedSlice ? row.slice * m.channelsPerSlice * c.weightStrideIn : 0) +
                          (raggedColumn ? run.channelBegin * c.weightStrideOut : 0);
  cell = ci * c.kernelH * c.kernelW * co;
  offset =
      ((raggedSlice ? 0 : row.slice) * columns + (raggedColumn ? 0 : run.channelBegin / m.channelsPerColumn)) * cell;
  return sections.add(std::move(recipe));
}

} // namespace

// The feeder: lanes → FIFOs → operations on the input, if there are any → row.
absl::StatusOr<Role> KernelRows::feederRole(const KernelRow &row, SectionTable &sections) const {
  const Plane plane = inputPlane(0);
  B feeder(absl::StrCat(plan.spec.name, ".feed"), kernelIndex, row.row, plan.placement.col);
  int16_t rowOut = -1;
  const Priorities priorities = prioritiesOf(target);
  const uint8_t feeding = plan.spec.inputOps.empty() ? priorities.take : priorities.compute;
  // Sends what a FIFO holds of the input: channels from `firstChannel` on; with `channelLoop` one in each trip.
  auto forward = [&](int16_t fifo, int64_t firstChannel, int64_t channels, int64_t rowBegin, int64_t rows,
                     bool channelLoop) -> absl::Status {
    const TileSink sink{B::queue(rowOut), priorities.take};
    const std::vector<TileOp> &ops = plan.spec.inputOps;
    if (ops.empty()) {
      feeder.emit(0, Opcode::Move, {(channelLoop ? 1 : channels) * rows * plane.width}, sink.operand,
                  B::fifoOperand(fifo));
      return absl::OkStatus();
    }
    const TileShape shape{channels, rows,           plane.width, firstChannel, 0,
                          rowBegin, plane.channels, plane.rows,  channelLoop};
    std::vector<TileValue> values{{B::fifoOperand(fifo), {}, false}};
    return emitTileOps(feeder, 0, plan.spec.name + ".in", ops, values, shape, {}, &sink, sections);
  };
  if (plan.mapping.streamed) {
    std::vector<ComponentFifos> fifos = emitStreamedIngest(feeder, target, kFeedersFirstIngest, network, row);
    rowOut = feeder.output(plan.colours.row);
    feeder.setPriority(feeding);
    for (size_t c = 0; c < fifos.size(); ++c) {
      feeder.loop(0, fifos[c].channels);
      for (const TileFifo &part : fifos[c].tiles)
        if (auto status =
                forward(part.fifo, row.components[c].firstChannel(), fifos[c].channels, part.rowBegin, part.rows, true);
            !status.ok())
          return status;
      feeder.endLoop(0);
    }
  } else {
    std::vector<std::vector<int16_t>> fifos = emitIngestByLane(feeder, target, kFeedersFirstIngest, network, plan, row);
    rowOut = feeder.output(plan.colours.row);
    feeder.setPriority(feeding);
    for (const InputStage &stage : inputStages(row))
      for (const auto &[component, part, region, channelOffset] : stage.parts)
        if (auto status = forward(fifos[component][part], channelOffset + region.channelBegin, region.channels(),
                                  region.rowBegin, region.rows(), false);
            !status.ok())
          return status;
  }
  return feeder.finish(target);
}

absl::StatusOr<Role> KernelRows::computeRole(const KernelRow &row, const RowPart &part, SectionTable &sections) const {
  const Contraction &c = plan.spec.contraction;
  const Mapping &m = plan.mapping;
  const StreamPlan &outStream = network.streams[plan.spec.outStream];
  const Region &needed = row.needed[0];
  int64_t planeWidth = inputPlane(0).width;
  const Priorities priorities = prioritiesOf(target);
  bool last = part.kind == RowPart::Kind::End;
  int64_t rows = row.out.rows(), width = plan.spec.out.width, pixels = rows * width;
  int64_t co = part.channels, columns = part.end - part.begin;
  B core(absl::StrCat(plan.spec.name, last ? ".reduce" : ".mac"), kernelIndex, row.row,
         int32_t(plan.placement.col + 1 + part.begin), int32_t(columns));
  int16_t rowIn = core.input(plan.colours.row);
  Tile tile;
  tile.channels = m.streamed ? 1 : needed.channels();
  tile.rowBegin = tileAnchor(0, row.group);
  tile.rows = tileHeight(0, row.group);
  tile.padLeft = c.padLeft;
  tile.width = std::max((width - 1) * c.strideW + (c.kernelW - 1) * c.dilationW + 1, c.padLeft + planeWidth);
  tile.buffer = core.scratch("x", tile.elements());
  int16_t acc = core.scratch("acc", co * pixels);
  int64_t offset = 0, cell = 0;
  int32_t section = weightSection(plan, row, inputPlane(0).channels, part, sections, offset, cell);
  int16_t weights = core.constant("weights", cell, section, offset, cell);

  // Receive what comes first.
  const uint8_t adding = sumsFirst ? priorities.take : priorities.compute;
  core.setPriority(adding);
  emitPadding(core, 0, needed, planeWidth, tile, 0);
  const std::vector<InputStage> stages = m.streamed ? std::vector<InputStage>() : inputStages(row);
  auto take = [&](const InputStage &stage) {
    core.setPriority(priorities.take);
    for (const StagedPart &part : stage.parts)
      emitPlace(core, 0, planeWidth, part.channelOffset, part.region, needed, tile, B::queue(rowIn));
    core.setPriority(priorities.compute);
  };
  if (!stages.empty())
    take(stages.front());

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
    for (const ComponentFifos &component : streamedTiles(row)) {
      core.loop(0, component.channels);
      core.setPriority(priorities.take);
      for (const TileFifo &rowsOfTile : component.tiles)
        core.emit(0, Opcode::Move, {rowsOfTile.rows, planeWidth},
                  B::memory(tile.buffer, tile.at(0, rowsOfTile.rowBegin, 0), {tile.width, 1}), B::queue(rowIn));
      core.setPriority(priorities.compute);
      emitTaps(core, 0, Opcode::Fma, nest, B::memory(acc, 0, {}),
               B::memory(weights, channel * channelWeights, {}, {channelWeights}), B::memory(tile.buffer, 0, {}), 1);
      core.endLoop(0);
      channel += component.channels;
    }
  } else {
    nest.taps.insert(nest.taps.begin(), {0, 0, channelWeights, tile.rows * tile.width});
    for (const InputStage &stage : stages) {
      if (&stage != &stages.front())
        take(stage);
      const int64_t first = stage.channelBegin - needed.channelBegin;
      nest.taps.front().count = stage.channelEnd - stage.channelBegin;
      emitTaps(core, 0, Opcode::Fma, nest, B::memory(acc, 0, {}), B::memory(weights, first * channelWeights, {}),
               B::memory(tile.buffer, first * tile.rows * tile.width, {}));
    }
  }

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
  return core.finish(target);
}

} // namespace wsc::kernels
