// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/Send.h"

namespace wsc::kernels {

using format::Opcode;
using B = RoleBuilder;

ColumnSender columnSender(const KernelPlan &plan, const StreamLayout &layout, int64_t channelBegin) {
  int64_t block = 0;
  while (layout.blockBegin[block + 1] <= channelBegin)
    ++block;
  return {block, layout.blockBegin[block] / plan.mapping.channelsPerSlice,
          ceilDiv(layout.blockBegin[block + 1], plan.mapping.channelsPerSlice) - 1};
}

void emitColumnSend(B &builder, int thread, const NetworkPlan &network, const KernelPlan &plan, const KernelRow &row,
                    const std::vector<std::pair<int16_t, int64_t>> &fifos) {
  const StreamPlan &stream = network.streams[plan.spec.outStream];
  ColumnSender sender = columnSender(plan, stream.layout, row.out.channelBegin);
  size_t lane = row.group * stream.layout.numBlocks() + sender.block;
  int16_t queue = builder.output(stream.laneColours.empty() ? 0 : stream.laneColours[lane]);
  for (const auto &[fifo, elements] : fifos)
    builder.emit(thread, Opcode::Move, {elements}, B::queue(queue), B::fifoOperand(fifo));
  if (sender.firstSlice != sender.lastSlice)
    builder.sendControl(thread, queue, row.slice == sender.firstSlice || row.slice == sender.lastSlice ? 1 : 2);
}

} // namespace wsc::kernels
