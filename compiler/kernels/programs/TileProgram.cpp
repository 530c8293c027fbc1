// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/kernels/programs/TileProgram.h"

#include "absl/strings/str_cat.h"

namespace wsc::kernels {

using format::Opcode;
using format::Operand;
using B = RoleBuilder;

int32_t vectorSection(SectionTable &sections, const std::string &name, const ConstantView &view, int64_t count,
                      int64_t stride) {
  emit::SectionRecipe recipe = view.recipe(name);
  recipe.extents = {count};
  recipe.strides = {stride};
  return sections.add(std::move(recipe));
}

Operand walkTile(Operand operand, const std::array<int64_t, 3> &strides) {
  if (operand.kind == format::OperandKind::Memory)
    for (int d = 0; d < 3; ++d)
      operand.stride[d + 1] = int32_t(strides[d] * 4);
  return operand;
}

absl::Status emitTileProgram(B &builder, int thread, const std::string &kernel, const std::vector<TileOp> &ops,
                             std::vector<TileValue> values, const TileShape &shape, int16_t out,
                             SectionTable &sections) {
  const TileSink fifo{B::fifoOperand(out)};
  if (ops.empty())
    builder.emit(thread, Opcode::Move, {shape.channelLoop ? 1 : shape.channels, shape.rows, shape.width}, fifo.operand,
                 walkTile(values.back().operand, values.back().strides));
  return emitTileOps(builder, thread, kernel, ops, values, shape, {}, &fifo, sections);
}

absl::Status emitTileOps(B &builder, int thread, const std::string &kernel, const std::vector<TileOp> &ops,
                         std::vector<TileValue> &values, const TileShape &shape, const std::vector<int32_t> &kept,
                         const TileSink *sink, SectionTable &sections) {
  Dims extents{shape.channelLoop ? 1 : shape.channels, shape.rows, shape.width};
  std::array<int64_t, 3> packed{shape.rows * shape.width, shape.width, 1};
  size_t numInputs = values.size();
  std::vector<size_t> lastUse(numInputs + ops.size(), 0);
  for (size_t i = 0; i < ops.size(); ++i)
    for (const TileOperand &operand : ops[i].operands)
      if (operand.kind == TileOperand::Kind::Value)
        lastUse[operand.value] = i;
  for (int32_t value : kept)
    if (value >= 0)
      lastUse[value] = ops.size();

  for (size_t i = 0; i < ops.size(); ++i) {
    const TileOp &op = ops[i];
    std::vector<Operand> sources;
    for (size_t k = 0; k < op.operands.size(); ++k) {
      const TileOperand &operand = op.operands[k];
      std::string name = absl::StrCat(kernel, ".op", i, ".", k);
      switch (operand.kind) {
      case TileOperand::Kind::Value:
        sources.push_back(walkTile(values[operand.value].operand, values[operand.value].strides));
        break;
      case TileOperand::Kind::Scalar:
        sources.push_back(B::immediate(operand.scalar));
        break;
      case TileOperand::Kind::PerChannel: {
        int32_t section = vectorSection(sections, name, operand.constant, shape.planeChannels, 1);
        int16_t buffer = builder.constant(absl::StrCat("c", i, ".", k), shape.channels, section, shape.firstChannel,
                                          shape.channelsPerColumn);
        sources.push_back(walkTile(B::memory(buffer, 0, {}, shape.channelLoop ? Dims{1} : Dims{}), {1, 0, 0}));
        break;
      }
      case TileOperand::Kind::PerPixel: {
        int32_t section = vectorSection(sections, name, operand.constant, shape.planeRows * shape.width, 1);
        int16_t buffer = builder.constant(absl::StrCat("p", i, ".", k), shape.rows * shape.width, section,
                                          shape.firstRow * shape.width);
        sources.push_back(walkTile(B::memory(buffer, 0, {}), {0, shape.width, 1}));
        break;
      }
      }
    }
    if (sources.size() == 1)
      sources.emplace_back();

    if (sink && i + 1 == ops.size()) {
      const uint8_t before = builder.currentPriority();
      builder.setPriority(sink->priority);
      builder.emit(thread, op.opcode, extents, walkTile(sink->operand, sink->strides.value_or(packed)), sources[0],
                   sources[1]);
      builder.setPriority(before);
      values.push_back({sink->operand, sink->strides.value_or(packed), false});
      return absl::OkStatus();
    }
    // In place where an operand ends here, else in a new buffer.
    TileValue result;
    bool found = false;
    for (const TileOperand &operand : op.operands)
      if (!found && operand.kind == TileOperand::Kind::Value && values[operand.value].full &&
          lastUse[operand.value] == i) {
        result = values[operand.value];
        found = true;
      }
    if (!found)
      result = {B::memory(builder.scratch(absl::StrCat("t", i), extents[0] * shape.rows * shape.width), 0, {}), packed,
                true};
    builder.emit(thread, op.opcode, extents, walkTile(result.operand, result.strides), sources[0], sources[1]);
    values.push_back(result);
  }
  return absl::OkStatus();
}

} // namespace wsc::kernels
