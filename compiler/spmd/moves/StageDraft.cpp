// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/moves/StageDraft.h"

#include "compiler/spmd/moves/Select.h"

namespace wsc::spmd {

std::optional<Draft> StageDrafter::stage(std::optional<Axis> axis, const std::vector<Input> &inputs,
                                         const CoreIds &lists, int64_t width, bool fill) {
  if (axis && length(*axis) == 1)
    return std::nullopt;
  const int32_t numLines = axis ? lines(*axis) : int32_t(cores);
  std::vector<LineGather> gathers(inputs.size(), {INT32_MAX, 0, INT32_MAX, 0, 0, 0});
  bool found = true;
  for (int32_t l = 0; l < numLines && found; ++l) {
    const std::vector<size_t> line = lineOf(axis, l);
    mapLine(inputs, line, [&] {
      for (size_t at : line)
        for (int64_t id : lists[at]) {
          if (id < 0)
            continue;
          const Place &place = places[size_t(id)];
          found &= place.input >= 0;
          if (place.input < 0)
            return;
          gathers[place.input].begin = std::min(gathers[place.input].begin, place.at);
          gathers[place.input].end = std::max(gathers[place.input].end, place.at + 1);
          gathers[place.input].lineBegin = std::min(gathers[place.input].lineBegin, l);
          gathers[place.input].lineEnd = std::max(gathers[place.input].lineEnd, l + 1);
        }
    });
  }
  if (!found)
    return std::nullopt;
  MoveStage result;
  result.axis = axis;
  const int64_t bytes = format::elementBytes(problem.type);
  for (size_t k = 0; k < inputs.size(); ++k) {
    LineGather &gather = gathers[k];
    if (gather.begin > gather.end)
      gather.begin = gather.end = gather.lineBegin = gather.lineEnd = 0;
    gather.words = (inputs[k].local * bytes + 3) / 4;
    gather.pitch = axis ? std::max<int64_t>(1, gather.words * 4 / bytes) : inputs[k].local;
    result.firstPosition.push_back(result.positions);
    result.positions += axis ? gather.pitch * (gather.end - gather.begin) : gather.pitch;
  }
  CoreIds positions(cores);
  for (int32_t l = 0; l < numLines; ++l) {
    const std::vector<size_t> line = lineOf(axis, l);
    mapLine(inputs, line, [&] {
      for (size_t at : line)
        for (int64_t id : lists[at]) {
          int64_t position = id;
          if (id >= 0) {
            const Place &place = places[size_t(id)];
            position = result.firstPosition[place.input] + place.slot;
            if (axis)
              position += (place.at - gathers[place.input].begin) * gathers[place.input].pitch;
          } else if (!fill) {
            position = kAnything;
          }
          positions[at].push_back(position);
        }
    });
  }
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
