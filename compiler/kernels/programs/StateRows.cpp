// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program of one core of a state variable.
//
// All state kernels of the variable run on it one after another, in the order of the network, each: place the streams'
// words, compute, send, store. One thread does all that touches the variable, so a sample finds what the sample before
// left, and a kernel that sends the old value does so before a later one waits for the new.
#include "compiler/kernels/programs/StateRows.h"

#include "compiler/kernels/programs/Ingest.h"
#include "compiler/kernels/programs/Send.h"
#include "compiler/kernels/programs/TileProgram.h"

#include "absl/strings/str_cat.h"

namespace wsc::kernels {

using format::Opcode;
using B = RoleBuilder;

namespace {

// One state kernel's part of the core's program. `nextThread` is the first thread not yet used.
absl::Status emitPart(B &core, const target::Target &target, int &nextThread, const NetworkPlan &network,
                      const KernelPlan &plan, const KernelRow &row, const TileValue &state, SectionTable &sections) {
  const KernelSpec &spec = plan.spec;
  const StateUse &use = *spec.state;
  int64_t channels = row.out.channels(), rows = row.out.rows(), width = spec.out.width, pixels = rows * width;
  const std::array<int64_t, 3> packed{pixels, width, 1};

  std::vector<int16_t> fifos = emitIngest(core, target, nextThread, network, row);
  nextThread += int(fifos.size());
  std::vector<Tile> tiles(spec.inputs.size());
  std::vector<TileValue> values;
  bool stored = false; // an input placed in the variable itself
  for (size_t i = 0; i < spec.inputs.size(); ++i) {
    const Region &needed = row.needed[i];
    Tile &tile = tiles[i];
    tile.channels = needed.channels();
    tile.rowBegin = needed.rowBegin;
    tile.rows = needed.rows();
    tile.width = inputPlane(network, spec, i).width;
    bool full = tile.channels == channels && tile.rows == rows && tile.width == width;
    stored |= use.writeValue == int32_t(i) && use.readValue < 0 && full;
    tile.buffer = use.writeValue == int32_t(i) && stored ? state.operand.buffer
                                                         : core.scratch("x" + std::to_string(i), tile.elements());
    std::array<int64_t, 3> strides{tile.channels == 1 ? 0 : tile.rows * tile.width, tile.rows == 1 ? 0 : tile.width,
                                   tile.width == 1 ? 0 : 1};
    values.push_back(
        {B::memory(tile.buffer, 0, {}), full ? packed : strides, full && tile.buffer != state.operand.buffer});
  }
  for (size_t i = 0; i < fifos.size(); ++i) {
    const ComponentParts &component = row.components[i];
    emitPlace(core, 0, component, row.needed[component.input], tiles[component.input], B::fifoOperand(fifos[i]));
  }
  if (use.readValue >= 0)
    values.push_back(state);

  // The last operation may write the variable itself, unless the old value is still to be sent.
  bool last = !spec.tileOps.empty() && use.writeValue == int32_t(values.size() + spec.tileOps.size()) - 1 &&
              (use.readValue < 0 || use.outValue != use.readValue);
  TileShape shape{channels, rows, width, row.out.channelBegin, 0, row.out.rowBegin, spec.out.channels, spec.out.rows};
  std::vector<int32_t> kept{use.outValue, use.writeValue};
  const TileSink variableSink{state.operand};
  if (auto status =
          emitTileOps(core, 0, spec.name, spec.tileOps, values, shape, kept, last ? &variableSink : nullptr, sections);
      !status.ok())
    return status;

  Dims extents{channels, rows, width};
  auto at = [&](int32_t value) { return walkTile(values[value].operand, values[value].strides); };
  auto variable = walkTile(state.operand, packed);
  if (use.outValue >= 0) {
    int16_t out = core.fifo("out", 2 * channels * pixels);
    core.emit(0, Opcode::Move, extents, B::fifoOperand(out), at(use.outValue));
    emitColumnSend(core, nextThread++, network, plan, row, {{out, channels * pixels}});
  }
  if (use.writeConstant && use.writeConstant->kind == TileOperand::Kind::Scalar) {
    core.emit(0, Opcode::Move, extents, variable, B::immediate(use.writeConstant->scalar));
  } else if (use.writeConstant) {
    // The whole constant in the order of the plane; a core views it from its first element to its last.
    const VariablePlan &plan = network.variables[use.variable];
    emit::SectionRecipe recipe = use.writeConstant->constant.recipe(absl::StrCat(spec.name, ".value"));
    recipe.extents = {plan.plane.channels, plan.plane.rows, plan.plane.width};
    recipe.strides = {plan.strides[0], plan.strides[1], plan.strides[2]};
    int64_t plane = plan.plane.rows * width;
    int16_t constant = core.constant("value", (channels - 1) * plane + pixels, sections.add(std::move(recipe)),
                                     row.out.channelBegin * plane + row.out.rowBegin * width);
    core.emit(0, Opcode::Move, extents, variable, B::memory(constant, 0, {plane, width, 1}));
  } else if (use.writeValue >= 0 && !last && !stored && use.writeValue != use.readValue) {
    core.emit(0, Opcode::Move, extents, variable, at(use.writeValue));
  }
  return absl::OkStatus();
}

} // namespace

bool isFirstOnVariable(const NetworkPlan &network, int32_t index) {
  for (int32_t k = 0; k < index; ++k)
    if (network.kernels[k].spec.state &&
        network.kernels[k].spec.state->variable == network.kernels[index].spec.state->variable)
      return false;
  return true;
}

absl::StatusOr<format::Role> KernelRows::stateRole(const KernelRow &row, SectionTable &sections) const {
  int32_t variableIndex = plan.spec.state->variable;
  const VariablePlan &variable = network.variables[variableIndex];
  int32_t first = 0;
  while (!network.kernels[first].spec.state || network.kernels[first].spec.state->variable != variableIndex)
    ++first;
  int64_t elements = row.out.channels() * row.out.rows() * variable.plane.width;
  B core(network.kernels[first].spec.name, first, row.row, variable.col);
  int16_t buffer = core.state(variable.tensor.name, elements, variableIndex, variable.address,
                              row.out.channelBegin * variable.strides[0] + row.out.rowBegin * variable.strides[1]);
  TileValue state{B::memory(buffer, 0, {}), {row.out.rows() * variable.plane.width, variable.plane.width, 1}, false};
  int nextThread = 1;
  for (int32_t k = first; k < int32_t(network.kernels.size()); ++k) {
    const KernelPlan &part = network.kernels[k];
    if (!part.spec.state || part.spec.state->variable != variableIndex)
      continue;
    KernelRows rows(target, network, k);
    if (auto status = emitPart(core, target, nextThread, network, part,
                               k == kernelIndex ? row : rows.row(row.group, row.slice), state, sections);
        !status.ok())
      return status;
  }
  return core.finish(target);
}

void bindState(const VariablePlan &variable, const Region &held, int32_t roleIndex,
               format::Configuration &configuration) {
  std::vector<format::Buffer> &buffers = configuration.roles[roleIndex].buffers;
  for (size_t b = 0; b < buffers.size(); ++b) {
    if (buffers[b].kind != format::BufferKind::State)
      continue;
    format::StateBinding binding;
    binding.state = buffers[b].state;
    binding.role = roleIndex;
    binding.buffer = int32_t(b);
    binding.hostOffset = buffers[b].sectionOffset;
    binding.extent = {1, held.channels(), held.rows(), variable.plane.width};
    binding.stride = {0, variable.strides[0], variable.strides[1], variable.strides[2]};
    configuration.stateBindings.push_back(binding);
    buffers[b].sectionOffset = format::Affine();
  }
}

std::vector<format::StateVariable> stateVariables(const std::vector<VariablePlan> &variables, SectionTable &sections) {
  std::vector<format::StateVariable> states;
  for (const VariablePlan &variable : variables) {
    format::StateVariable state;
    state.tensor = variable.tensor;
    if (variable.initial)
      state.initialSection =
          vectorSection(sections, variable.tensor.name + ".initial", *variable.initial, variable.tensor.elements(), 1);
    states.push_back(std::move(state));
  }
  return states;
}

} // namespace wsc::kernels
