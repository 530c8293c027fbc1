// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One row of a contraction: its feeder and its compute cores (see KernelRows.h).
#include "compiler/kernels/programs/Feed.h"
#include "compiler/kernels/programs/Priorities.h"
#include "compiler/kernels/programs/TapNest.h"
#include "runtime/timing/Cost.h"

#include "absl/strings/str_cat.h"

#include <array>
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

// The program of a compute core: it receives its row's input, multiplies it with its weights, reduces the sums along
// the chain and, where the chain ends, sends results onto the lane.
class ComputeCore {
public:
  // What KernelRows knows of the kernel, and a row's part: the core, or a run of cores alike.
  struct Site {
    const KernelRows &kernel;
    const target::Target &target;
    const NetworkPlan &network;
    const KernelPlan &plan;
    int32_t kernelIndex;
    bool sumsFirst;
    const KernelRow &row;
    const RowPart &part;
  };

  ComputeCore(const Site &site, SectionTable &sections)
      : site(site), plan(site.plan), row(site.row), part(site.part), sections(sections),
        priorities(prioritiesOf(site.target)), last(part.kind == RowPart::Kind::End), needed(row.needed[0]),
        taken(site.kernel.takenColumns()), rows(row.out.rows()), width(plan.spec.out.width), pixels(rows * width),
        channels(part.channels),
        core(absl::StrCat(plan.spec.name, part.feeds ? ".feed" : "", last ? ".reduce" : ".mac"), site.kernelIndex,
             row.row, int32_t(plan.placement.col + plan.computeOffset() + part.begin), int32_t(part.end - part.begin)) {
  }

  absl::StatusOr<Role> generate() {
    layOut();
    receiveFirst();
    startFromBias();
    if (plan.mapping.streamed)
      multiplyStreamed();
    else
      multiplyStages();
    if (last) {
      reduce();
      send();
    } else {
      passSumsOn();
    }
    if (feed)
      feed->sendForCoLocated();
    if (!status.ok())
      return status;
    return core.finish(site.target);
  }

private:
  // The padded tile, the sums, the weights, and where the input comes from: the row or, in a core that feeds it, lanes.
  void layOut() {
    const Contraction &c = plan.spec.contraction;
    const Mapping &m = plan.mapping;
    tile.channels = m.streamed ? 1 : needed.channels();
    tile.rowBegin = site.kernel.tileAnchor(0, row.group);
    tile.rows = site.kernel.tileHeight(0, row.group);
    tile.padLeft = std::max(c.padLeft, -taken.begin);
    firstColumn = tile.padLeft - c.padLeft;
    tile.width =
        std::max(firstColumn + (width - 1) * c.strideW + (c.kernelW - 1) * c.dilationW + 1, tile.padLeft + taken.end);
    tile.buffer = core.scratch("x", tile.elements());
    sums = core.scratch("acc", channels * pixels);
    tileStrides = {tile.rows * tile.width, tile.width, 1};
    // A core that feeds keeps what it sends.
    if (!part.feeds)
      rowIn = core.input(plan.colours.row);
    else
      feed.emplace(core, site.target, site.network, plan, row, site.kernel.inputPlane(0),
                   site.kernel.firstIngestThread(last), site.kernel.coLocatedPlan(), sections);
    if (part.feeds && m.columnsOfBand(part.share, plan.spec.out.channels) > 1)
      rowOut = core.output(plan.colours.row);
    int64_t offset = 0, cell = 0;
    const int32_t section = weightSection(plan, row, site.kernel.inputPlane(0).channels, part, sections, offset, cell);
    weights = core.constant("weights", cell, section, offset, cell);
  }

  // Fills the padding and takes the first stage.
  void receiveFirst() {
    core.setPriority(adding());
    emitPadding(core, 0, needed, taken, tile, 0);
    if (!plan.mapping.streamed)
      stages = site.kernel.inputStages(row);
    if (!stages.empty())
      receive(0);
  }

  // Cores that feed place the next stage before they compute with this one: the row need not wait for that.
  void receive(size_t stage) {
    core.setPriority(feed ? feeding() : priorities.take);
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
  }

  void bring(const InputStage &stage) {
    for (const StagedPart &staged : stage.parts)
      status.Update(feed->bring(staged, placeOf(staged)));
  }

  TileSink inTile(int64_t at) const { return {B::memory(tile.buffer, at, {}), feeding(), tileStrides}; }

  TileSink placeOf(const StagedPart &staged) const {
    const int64_t channel = staged.channelOffset + staged.region.channelBegin - needed.channelBegin;
    return inTile(tile.at(channel, staged.region.rowBegin, taken.begin));
  }

  // From the tile of a core that feeds to the others of its row.
  void sendOn(const TileSink &from, int64_t numChannels, int64_t numRows) {
    if (rowOut >= 0)
      core.emit(0, Opcode::Move, {numChannels, numRows, taken.count()}, B::queue(rowOut),
                walkTile(from.operand, tileStrides));
  }

  // The bias enters once per reduction, where it ends.
  void startFromBias() {
    const Contraction &c = plan.spec.contraction;
    const auto all = B::memory(sums, 0, {pixels, 1});
    if (last && c.bias) {
      const int32_t section = vectorSection(sections, plan.spec.name + ".bias", *c.bias, plan.spec.out.channels, 1);
      const int16_t bias = core.constant("bias", channels, section, part.channelBegin, plan.mapping.channelsPerColumn);
      core.emit(0, Opcode::Move, {channels, pixels}, all, B::memory(bias, 0, {1, 0}));
    } else {
      core.emit(0, Opcode::Move, {channels, pixels}, all, B::immediate(0));
    }
  }

  // Of one channel.
  TapNest taps() const {
    const Contraction &c = plan.spec.contraction;
    return {{{c.kernelH, 0, c.kernelW * channels, c.dilationH * tile.width}, {c.kernelW, 0, channels, c.dilationW}},
            {{channels, pixels, 1, 0}, {rows, width, 0, c.strideH * tile.width}, {width, 1, 0, c.strideW}}};
  }
  int64_t weightsOfChannel() const { return plan.spec.contraction.kernelH * plan.spec.contraction.kernelW * channels; }

  // Channel by channel, each received into the same tile.
  void multiplyStreamed() {
    const TapNest nest = taps();
    int64_t channel = 0;
    const std::vector<ComponentFifos> components = streamedTiles(row);
    for (size_t c = 0; c < components.size(); ++c) {
      const ComponentFifos &component = components[c];
      core.loop(0, component.channels);
      core.setPriority(feed ? feeding() : priorities.take);
      for (size_t t = 0; t < component.tiles.size(); ++t) {
        const TileFifo &rowsOfTile = component.tiles[t];
        const int64_t at = tile.at(0, rowsOfTile.rowBegin, taken.begin);
        if (feed) {
          status.Update(feed->bringChannel(c, t, inTile(at)));
          sendOn(inTile(at), 1, rowsOfTile.rows);
        } else {
          core.emit(0, Opcode::Move, {rowsOfTile.rows, taken.count()}, B::memory(tile.buffer, at, {tile.width, 1}),
                    B::queue(rowIn));
        }
      }
      core.setPriority(priorities.compute);
      emitTaps(core, 0, Opcode::Fma, nest, B::memory(sums, 0, {}),
               B::memory(weights, channel * weightsOfChannel(), {}, {weightsOfChannel()}),
               B::memory(tile.buffer, firstColumn, {}), 1);
      core.endLoop(0);
      channel += component.channels;
    }
  }

  // With each stage of the input as it comes.
  void multiplyStages() {
    TapNest nest = taps();
    nest.taps.insert(nest.taps.begin(), {0, 0, weightsOfChannel(), tile.rows * tile.width});
    for (size_t i = 0; i < stages.size(); ++i) {
      if (i > 0)
        receive(i);
      const int64_t first = stages[i].channelBegin - needed.channelBegin;
      nest.taps.front().count = stages[i].channelEnd - stages[i].channelBegin;
      emitTaps(core, 0, Opcode::Fma, nest, B::memory(sums, 0, {}), B::memory(weights, first * weightsOfChannel(), {}),
               B::memory(tile.buffer, first * tile.rows * tile.width + firstColumn, {}));
    }
  }

  format::Operand wholeSums() const { return B::memory(sums, 0, {1}); }

  // Along the chain: what comes in, added to one's own.
  void passSumsOn() {
    const int16_t in = part.first ? -1 : core.input(plan.colours.chain[1 - part.sendsOn]);
    const int16_t out = core.output(plan.colours.chain[part.sendsOn]);
    if (part.first)
      core.emit(0, Opcode::Move, {channels * pixels}, B::queue(out), wholeSums());
    else
      core.emit(0, Opcode::Add, {channels * pixels}, B::queue(out), B::queue(in), wholeSums());
  }

  // Where chains end: adds them up and applies the layers behind. `result` holds several samples if it can: the cores
  // of a row receive together, so one whose lane is not yet free would hold up all.
  void reduce() {
    result = core.fifo("out", channels * pixels);
    std::vector<int16_t> chains;
    if (row.slice > 0)
      chains.push_back(core.input(plan.colours.chain[(row.slice + 1) % 2])); // from above
    if (row.slice + 1 < plan.mapping.slices)
      chains.push_back(core.input(plan.colours.chain[row.slice % 2])); // from below
    // A single operation is done by the thread that sends, if it takes no longer than a move.
    std::vector<TileOp> ops = plan.spec.tileOps;
    if (ops.size() == 1 && sendsAtOnce(site.target, ops.front()))
      opsAtSend = std::exchange(ops, {});
    const bool straightOut = ops.empty() && !chains.empty();
    core.setPriority(adding());
    for (size_t i = 0; i < chains.size(); ++i)
      core.emit(0, Opcode::Add, {channels * pixels},
                straightOut && i + 1 == chains.size() ? B::fifoOperand(result) : wholeSums(), B::queue(chains[i]),
                wholeSums());
    if (!straightOut)
      status.Update(emitTileProgram(core, 0, plan.spec.name, ops, {{B::memory(sums, 0, {}), {pixels, width, 1}, true}},
                                    shape(), result, sections));
  }

  TileShape shape() const {
    return {channels,
            rows,
            width,
            part.channelBegin,
            plan.mapping.channelsPerColumn,
            row.out.rowBegin,
            plan.spec.out.channels,
            plan.spec.out.rows};
  }

  // Gathers results along the row.
  void send() {
    const StreamPlan &out = site.network.streams[plan.spec.outStream];
    const int64_t laneIndex = row.group * site.kernel.outLayout().numBlocks() + part.block;
    const int16_t laneOut = core.output(out.laneColours.empty() ? 0 : out.laneColours[laneIndex]);
    const TileSink lane{B::queue(laneOut), priorities.send};
    core.setPriority(priorities.send);
    std::vector<TileValue> values{{B::fifoOperand(result), {}, false}};
    if (opsAtSend.empty())
      core.emit(1, Opcode::Move, {channels * pixels}, lane.operand, B::fifoOperand(result));
    else
      status.Update(emitTileOps(core, 1, plan.spec.name, opsAtSend, values, shape(), {}, &lane, sections));
    if (!part.aloneInBlock)
      core.sendControl(1, laneOut, part.atBlockEdge ? 1 : 2);
    // Who takes the end of one lane and the beginning of the next takes them in turn: lanes of a tile send one after
    // another, up to samples later. Cores must not wait for that.
    core.deepen(site.target, result, 4);
  }

  uint8_t adding() const { return site.sumsFirst ? priorities.take : priorities.compute; }
  uint8_t feeding() const { return priorities.send; } // after taking lanes in, before computing

  const Site site;
  const KernelPlan &plan;
  const KernelRow &row;
  const RowPart &part;
  SectionTable &sections;
  const Priorities priorities;
  const bool last; // of the chain
  const Region &needed;
  const Columns taken;
  const int64_t rows, width, pixels, channels; // of the output that this core makes
  B core;
  std::optional<Feed> feed;
  Tile tile;
  int64_t firstColumn = 0; // of the tile, that a window sees
  std::array<int64_t, 3> tileStrides{};
  int16_t sums = -1, weights = -1, rowIn = -1, rowOut = -1, result = -1;
  std::vector<InputStage> stages;
  std::vector<TileOp> opsAtSend;
  absl::Status status;
};

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
  return ComputeCore({*this, target, network, plan, kernelIndex, sumsFirst, row, part}, sections).generate();
}

} // namespace wsc::kernels
