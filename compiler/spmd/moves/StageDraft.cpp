// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/moves/StageDraft.h"

#include "compiler/spmd/moves/Select.h"

#include <bit>

namespace wsc::spmd {

std::optional<Draft> StageDrafter::stage(std::optional<Axis> axis, const std::vector<Input> &inputs,
                                         const CoreIds &lists, int64_t width, bool fill) {
  if (axis && length(*axis) == 1)
    return std::nullopt;
  const int32_t numLines = axis ? lines(*axis) : int32_t(cores);
  const int64_t bytes = format::elementBytes(problem.type);
  std::vector<LineGather> gathers(inputs.size(), {INT32_MAX, 0, INT32_MAX, 0, 0, 0});
  for (size_t k = 0; k < inputs.size(); ++k) {
    gathers[k].words = (inputs[k].local * bytes + 3) / 4;
    gathers[k].pitch = axis ? std::max<int64_t>(1, gathers[k].words * 4 / bytes) : inputs[k].local;
  }
  // Positions among the blocks of one input on the whole line, and the input's number in the lowest bits.
  CoreIds positions(cores);
  const int inputBits = std::bit_width(inputs.size());
  bool found = true;
  for (int32_t l = 0; l < numLines && found; ++l) {
    const std::vector<size_t> line = lineOf(axis, l);
    mapLine(inputs, line, [&] {
      for (size_t at : line) {
        positions[at].reserve(lists[at].size());
        for (int64_t id : lists[at]) {
          if (id < 0) {
            positions[at].push_back(fill ? id : kAnything);
            continue;
          }
          const Place &place = places[size_t(id)];
          found &= place.input >= 0;
          if (place.input < 0)
            return;
          LineGather &gather = gathers[size_t(place.input)];
          gather.begin = std::min(gather.begin, place.at);
          gather.end = std::max(gather.end, place.at + 1);
          gather.lineBegin = std::min(gather.lineBegin, l);
          gather.lineEnd = std::max(gather.lineEnd, l + 1);
          const int64_t position = place.slot + (axis ? place.at * gather.pitch : 0);
          positions[at].push_back(position << inputBits | place.input);
        }
      }
    });
  }
  if (!found)
    return std::nullopt;
  MoveStage result;
  result.axis = axis;
  std::vector<int64_t> firstBlock; // per input: where the first block that is given lies, less that of block 0
  for (LineGather &gather : gathers) {
    if (gather.begin > gather.end)
      gather.begin = gather.end = gather.lineBegin = gather.lineEnd = 0;
    result.firstPosition.push_back(result.positions);
    firstBlock.push_back(result.positions - (axis ? gather.begin * gather.pitch : 0));
    result.positions += axis ? gather.pitch * (gather.end - gather.begin) : gather.pitch;
  }
  for (Ids &own : positions)
    for (int64_t &position : own)
      if (position >= 0)
        position = (position >> inputBits) + firstBlock[size_t(position & ((int64_t(1) << inputBits) - 1))];
  result.active = hullOf([&](size_t at) {
    return std::any_of(positions[at].begin(), positions[at].end(),
                       [](int64_t position) { return position != kAnything; });
  });
  for (const Input &input : inputs)
    result.holders.push_back(input.rectangle);
  for (size_t k = 0; k < inputs.size(); ++k) {
    const bool acrossRows = axis == Axis::Row;
    const int32_t begin = acrossRows ? result.active.row : result.active.col;
    const int32_t end = begin + (acrossRows ? result.active.rows : result.active.cols);
    if (!axis)
      result.clears |= !contains(inputs[k].rectangle, result.active);
    else
      result.clears |= gathers[k].lineBegin > begin || gathers[k].lineEnd < end;
  }
  if (axis)
    result.gathers = gathers;
  result.selection.width = width;
  return Draft{std::move(result), std::move(positions)};
}

} // namespace wsc::spmd
