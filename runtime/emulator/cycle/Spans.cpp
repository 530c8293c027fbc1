// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the trace keeps. A strip goes on for one cycle after it has enough spans, so that of all that end in one cycle
// none is missing when the strips' spans are put in order and cut.
#include "runtime/emulator/cycle/Strip.h"

#include <algorithm>

namespace wsc::emulator::cycle {

void Strip::show(const Core &core, TraceSpan span) {
  if (now > spansFull) {
    spansCut = true;
    return;
  }
  const Tile &tile = fabric.tiles[core.tile];
  span.row = fabric.row(tile);
  span.col = fabric.col(tile);
  span.role = int32_t(core.role);
  span.kernel = fabric.configuration->roles[core.role].kernel;
  spans.push_back(span);
}

void Strip::showSlots(const Core &core, int thread, int64_t end) {
  ThreadState &state = fabric.threads[core.firstThread + uint32_t(thread)];
  if (state.elements > 0 || state.spanBegin < 0)
    return;
  TraceSpan span;
  span.begin = state.spanBegin;
  span.end = end;
  span.thread = thread;
  span.sample = state.sample;
  state.spanBegin = -1;
  show(core, span);
}

void Strip::showItem(const Core &core, int thread, int64_t begin, const Item &item) {
  TraceSpan span;
  span.begin = begin;
  span.end = now + 1;
  span.thread = thread;
  span.sample = fabric.threads[core.firstThread + uint32_t(thread)].sample;
  span.instruction = item.instruction;
  span.opcode =
      int32_t(fabric.configuration->roles[core.role].threads[size_t(thread)][size_t(item.instruction)].opcode);
  show(core, span);
}

void Strip::showSample(const Core &core, int thread, int64_t end) {
  ThreadState &state = fabric.threads[core.firstThread + uint32_t(thread)];
  const int32_t kernels = int32_t(fabric.configuration->kernels.size());
  const int32_t named = fabric.configuration->roles[core.role].kernel, kernel = named < kernels ? named : -1;
  const size_t perKernel = kernelSpans.size() / size_t(kernels + 1);
  if (size_t(state.sample) < perKernel) {
    TraceSpan &span = kernelSpans[size_t(kernel < 0 ? kernels : kernel) * perKernel + size_t(state.sample)];
    span.begin = span.end == 0 ? state.sampleBegin : std::min(span.begin, state.sampleBegin);
    span.end = std::max(span.end, end);
    span.kernel = kernel;
    span.sample = state.sample;
  }
  state.sampleBegin = -1;
}

} // namespace wsc::emulator::cycle
