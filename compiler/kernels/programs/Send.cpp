// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/programs/Send.h"

#include <algorithm>

namespace wsc::kernels {

using format::Opcode;
using B = RoleBuilder;

// What Instruction::controlCount holds.
static constexpr int64_t kMostControlCount = 255;

ColumnSender columnSender(const KernelPlan &plan, const StreamLayout &layout, int64_t channelBegin) {
  int64_t block = 0;
  while (layout.blockBegin[block + 1] <= channelBegin)
    ++block;
  const Mapping &m = plan.mapping;
  int64_t columnBegin = m.columns > 1 ? channelBegin / m.channelsPerColumn * m.channelsPerColumn : 0;
  ColumnSender sender{block, (layout.blockBegin[block] - columnBegin) / m.channelsPerSlice,
                      ceilDiv(layout.blockBegin[block + 1] - columnBegin, m.channelsPerSlice) - 1};
  // Blocks of one column end below each other anyway.
  const bool arrives = int64_t(layout.exitSlices.size()) == layout.numBlocks();
  const int64_t wanted = m.columns == 1 ? sender.lastSlice
                         : arrives      ? layout.exitSlices[size_t(block)]
                                        : endSlice(block, layout.numBlocks(), m.slices);
  sender.exitSlice =
      std::clamp(wanted, std::max(sender.firstSlice, sender.lastSlice - kMostControlCount), sender.lastSlice);
  return sender;
}

void emitColumnSend(B &builder, int thread, const NetworkPlan &network, const KernelPlan &plan, const KernelRow &row,
                    const std::vector<std::pair<int16_t, int64_t>> &fifos) {
  const StreamPlan &stream = network.streams[plan.spec.outStream];
  ColumnSender sender = columnSender(plan, stream.layout, row.out.channelBegin);
  size_t lane = row.group * stream.layout.numBlocks() + sender.block;
  int16_t queue = builder.output(stream.laneColours.empty() ? 0 : stream.laneColours[lane]);
  for (const auto &[fifo, elements] : fifos)
    builder.emit(thread, Opcode::Move, {elements}, B::queue(queue), B::fifoOperand(fifo));
  if (sender.firstSlice == sender.lastSlice)
    return;
  int64_t switches = 1; // that the control word advances
  if (row.slice > sender.firstSlice && row.slice < sender.exitSlice)
    switches = 2; // its own and the next one's
  else if (row.slice == sender.lastSlice && row.slice > sender.exitSlice)
    switches = row.slice - sender.exitSlice; // those of all rows that it passes, and where the lane leaves
  builder.sendControl(thread, queue, int(switches));
}

} // namespace wsc::kernels
