// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/Send.h"

namespace wsc::kernels {

using format::Opcode;
using B = RoleBuilder;

void emitColumnSend(B &builder, int thread, const NetworkPlan &network, const KernelPlan &plan, const KernelRow &row,
                    const std::vector<std::pair<int16_t, int64_t>> &fifos) {
  const StreamPlan &stream = network.streams[plan.spec.outStream];
  const StreamLayout &layout = stream.layout;
  int64_t block = 0;
  while (layout.blockBegin[block + 1] <= row.out.channelBegin)
    ++block;
  int64_t firstSlice = layout.blockBegin[block] / plan.mapping.channelsPerSlice;
  int64_t lastSlice = ceilDiv(layout.blockBegin[block + 1], plan.mapping.channelsPerSlice) - 1;
  size_t lane = row.group * layout.numBlocks() + block;
  int16_t queue = builder.output(stream.laneColours.empty() ? 0 : stream.laneColours[lane]);
  for (const auto &[fifo, elements] : fifos)
    builder.emit(thread, Opcode::Move, {elements}, B::queue(queue), B::fifoOperand(fifo));
  if (firstSlice != lastSlice)
    builder.sendControl(thread, queue, row.slice == firstSlice || row.slice == lastSlice ? 1 : 2);
}

} // namespace wsc::kernels
