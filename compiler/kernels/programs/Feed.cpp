// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/programs/Feed.h"

#include "compiler/kernels/programs/Priorities.h"
#include "compiler/kernels/programs/Send.h"

#include <algorithm>

namespace wsc::kernels {

using format::Opcode;
using B = RoleBuilder;

Feed::Feed(RoleBuilder &builder, const target::Target &target, const NetworkPlan &network, const KernelPlan &plan,
           const KernelRow &row, const Plane &plane, int firstThread, const KernelPlan *coLocated,
           SectionTable &sections)
    : builder(builder), target(target), network(network), plan(plan), coLocated(coLocated), row(row), plane(plane),
      columns(takenColumns(plan.spec, plane)), offLanes(columnsOffLanes(plan.spec, plane)),
      coLocatedThread(firstThread - 1), sections(sections) {
  // Beside a core's own multiply-adds lanes would pass at half their pace, and hold up the rows that they go on to.
  const uint8_t before = builder.currentPriority();
  if (plan.mapping.feederComputes())
    builder.setPriority(prioritiesOf(target).take);
  if (plan.mapping.streamed)
    tiles = emitStreamedIngest(builder, target, firstThread, network, row);
  else
    fifos = emitIngestByLane(builder, target, firstThread, network, row);
  builder.setPriority(before);
  if (columns == offLanes && !coLocated)
    return;
  int64_t most = 0; // lines of a part
  for (const ComponentParts &component : row.components)
    for (const LanePart &part : component.parts)
      most = std::max(most, (plan.mapping.streamed ? 1 : part.region.channels()) * part.region.rows());
  lines = builder.scratch("lines", most * offLanes.count());
  if (coLocated)
    joined = builder.fifo("joined", 2 * wordsOfSample());
}

int64_t Feed::wordsOfSample() const {
  int64_t words = 0;
  for (const ComponentParts &component : row.components)
    words += component.words();
  return words;
}

void Feed::sendForCoLocated() {
  if (!coLocated)
    return;
  const uint8_t before = builder.currentPriority();
  builder.setPriority(prioritiesOf(target).send);
  KernelRow sent = row;
  sent.out.channelBegin = row.needed[0].channelBegin;
  emitColumnSend(builder, coLocatedThread, network, *coLocated, sent, {{joined, wordsOfSample()}});
  builder.setPriority(before);
}

absl::Status Feed::bring(const StagedPart &part, const TileSink &sink) {
  const Region &region = part.region;
  return bring(fifos[part.component][part.part], part.channelOffset + region.channelBegin, region.channels(),
               region.rowBegin, region.rows(), /*channelLoop=*/false, sink);
}

absl::Status Feed::bringChannel(size_t component, size_t tile, const TileSink &sink) {
  const TileFifo &part = tiles[component].tiles[tile];
  return bring(part.fifo, row.components[component].firstChannel(), tiles[component].channels, part.rowBegin, part.rows,
               /*channelLoop=*/true, sink);
}

// The columns that go on, of lines in a FIFO. Where it holds more, or the co-located kernel's receivers want them too,
// they are laid out first.
TileValue Feed::valueFrom(int16_t fifo, int64_t channels, int64_t rows) {
  if (lines < 0)
    return {B::fifoOperand(fifo), {}, false};
  const int64_t width = offLanes.count();
  builder.emit(0, Opcode::Move, {channels, rows, width}, B::memory(lines, 0, {rows * width, width, 1}),
               B::fifoOperand(fifo));
  if (coLocated)
    builder.emit(0, Opcode::Move, {channels * rows * width}, B::fifoOperand(joined), B::memory(lines, 0, {1}));
  return {B::memory(lines, columns.begin - offLanes.begin, {}), {rows * width, width, 1}, columns == offLanes};
}

absl::Status Feed::bring(int16_t fifo, int64_t firstChannel, int64_t channels, int64_t rowBegin, int64_t rows,
                         bool channelLoop, const TileSink &sink) {
  const Priorities priorities = prioritiesOf(target);
  const std::vector<TileOp> &ops = plan.spec.inputOps;
  const TileShape shape{channels, rows,           columns.count(), firstChannel, 0,
                        rowBegin, plane.channels, plane.rows,      channelLoop};
  const uint8_t before = builder.currentPriority();
  builder.setPriority(ops.empty() ? sink.priority : priorities.compute);
  std::vector<TileValue> values{valueFrom(fifo, channelLoop ? 1 : channels, rows)};
  absl::Status status;
  if (ops.empty())
    builder.emit(0, Opcode::Move, {channelLoop ? 1 : channels, rows, columns.count()},
                 walkTile(sink.operand, sink.strides.value_or(std::array<int64_t, 3>{})),
                 walkTile(values.back().operand, values.back().strides));
  else
    status = emitTileOps(builder, 0, plan.spec.name + ".in", ops, values, shape, {}, &sink, sections);
  builder.setPriority(before);
  return status;
}

} // namespace wsc::kernels
