// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One row of a one-column kernel: window, elementwise or softmax (see KernelRows.h).
#include "compiler/kernels/Ingest.h"
#include "compiler/kernels/Send.h"
#include "compiler/kernels/TileProgram.h"

#include "absl/strings/str_cat.h"

#include <limits>

namespace wsc::kernels {

using format::Opcode;
using format::Role;
using B = RoleBuilder;

namespace {

// Slides the window over the tile: acc[c, h, w] over all taps, in the order kh, kw. Returns acc.
int16_t emitWindow(B &core, const KernelPlan &plan, const KernelRow &row, const Tile &tile, SectionTable &sections) {
  const Window &w = plan.spec.window;
  int64_t channels = row.out.channels(), rows = row.out.rows(), width = plan.spec.out.width, pixels = rows * width;
  int16_t acc = core.scratch("acc", channels * pixels);
  bool depthwise = w.kind == Window::Kind::Depthwise;
  auto accAll = B::memory(acc, 0, {pixels, 1});
  if (depthwise && w.bias) {
    int32_t section = vectorSection(sections, plan.spec.name + ".bias", *w.bias, plan.spec.out.channels, 1);
    int16_t bias = core.constant("bias", channels, section, row.out.channelBegin);
    core.emit(0, Opcode::Move, {channels, pixels}, accAll, B::memory(bias, 0, {1, 0}));
  } else {
    bool max = w.kind == Window::Kind::Max;
    core.emit(0, Opcode::Move, {channels, pixels}, accAll,
              B::immediate(max ? -std::numeric_limits<double>::infinity() : 0));
  }
  int16_t weights = -1;
  int64_t taps = w.kernelH * w.kernelW;
  if (depthwise) {
    emit::SectionRecipe recipe = w.weights.recipe(plan.spec.name + ".weights");
    recipe.extents = {plan.spec.out.channels, w.kernelH, w.kernelW};
    recipe.strides = {w.weightStrideChannel, w.weightStrideH, w.weightStrideW};
    int32_t section = sections.add(std::move(recipe));
    weights = core.constant("weights", channels * taps, section, row.out.channelBegin * taps);
  }
  Dims weightSteps, tileSteps;
  int loops = 0;
  auto tapLoop = [&](int64_t trips, int64_t weightStep, int64_t tileStep) {
    if (trips == 1)
      return;
    core.loop(0, trips);
    ++loops;
    weightSteps.push_back(weightStep);
    tileSteps.push_back(tileStep);
  };
  tapLoop(w.kernelH, w.kernelW, w.dilationH * tile.width);
  tapLoop(w.kernelW, 1, w.dilationW);
  auto dst = B::memory(acc, 0, {pixels, width, 1});
  auto x = B::memory(tile.buffer, 0, {tile.rows * tile.width, w.strideH * tile.width, w.strideW}, tileSteps);
  Dims extents{channels, rows, width};
  if (depthwise)
    core.emit(0, Opcode::Fma, extents, dst, B::memory(weights, 0, {taps, 0, 0}, weightSteps), x);
  else
    core.emit(0, w.kind == Window::Kind::Max ? Opcode::ReduceMax : Opcode::ReduceAdd, extents, dst, x);
  for (; loops > 0; --loops)
    core.endLoop(0);
  return acc;
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

absl::Status KernelRows::columnRoles(const KernelRow &row, SectionTable &sections, std::vector<Role> &out) const {
  const KernelSpec &spec = plan.spec;
  int64_t channels = row.out.channels(), rows = row.out.rows(), width = spec.out.width, pixels = rows * width;

  B core(spec.name, kernelIndex, row.row, plan.placement.col);
  // Thread 0 computes, thread 1 sends, ingest threads follow.
  std::vector<int16_t> fifos = emitIngest(core, 2, network, plan, row);
  std::vector<Tile> tiles(spec.inputs.size());
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    const Region &needed = row.needed[i];
    Plane plane = inputPlane(network, spec, i);
    Tile &tile = tiles[i];
    tile.channels = needed.channels();
    tile.rowBegin = needed.rowBegin;
    tile.rows = needed.rows();
    tile.width = plane.width;
    if (spec.kind == KernelKind::Window) {
      const Window &w = spec.window;
      tile.rowBegin = row.out.rowBegin * w.strideH - w.padTop;
      tile.rows = (rows - 1) * w.strideH + (w.kernelH - 1) * w.dilationH + 1;
      tile.padLeft = w.padLeft;
      tile.width = std::max((width - 1) * w.strideW + (w.kernelW - 1) * w.dilationW + 1, w.padLeft + plane.width);
    }
    tile.buffer = core.scratch("x" + std::to_string(i), tile.elements());
    if (spec.kind == KernelKind::Window)
      emitPadding(core, 0, needed, plane.width, tile,
                  spec.window.kind == Window::Kind::Max ? -std::numeric_limits<double>::infinity() : 0);
  }
  for (size_t i = 0; i < fifos.size(); ++i) {
    const ComponentParts &component = row.components[i];
    emitPlace(core, 0, network, component, row.needed[component.input], tiles[component.input],
              B::fifoOperand(fifos[i]));
  }

  int16_t result = core.fifo("out", 2 * channels * pixels);
  if (spec.kind == KernelKind::Softmax && spec.tileOps.empty()) {
    emitSoftmax(core, plan, tiles[0], pixels, result);
  } else {
    std::vector<TileValue> values;
    if (spec.kind == KernelKind::Window) {
      int16_t acc = emitWindow(core, plan, row, tiles[0], sections);
      values.push_back({B::memory(acc, 0, {}), {pixels, width, 1}, true});
    } else {
      for (const Tile &tile : tiles) {
        std::array<int64_t, 3> strides{tile.channels == 1 ? 0 : tile.rows * tile.width, tile.rows == 1 ? 0 : tile.width,
                                       tile.width == 1 ? 0 : 1};
        bool full = tile.channels == channels && tile.rows == rows && tile.width == width;
        values.push_back({B::memory(tile.buffer, 0, {}), full ? std::array<int64_t, 3>{pixels, width, 1} : strides, full});
      }
    }
    TileShape shape{channels, rows, width, row.out.channelBegin, 0, row.out.rowBegin, spec.out.channels, spec.out.rows};
    if (auto status = emitTileProgram(core, 0, spec.name, spec.tileOps, std::move(values), shape, result, sections);
        !status.ok())
      return status;
  }

  emitColumnSend(core, 1, network, plan, row, result);
  auto role = core.finish(target);
  if (!role.ok())
    return role.status();
  out.push_back(*std::move(role));
  return absl::OkStatus();
}

} // namespace wsc::kernels
