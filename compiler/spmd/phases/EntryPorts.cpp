// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What enters and leaves: inputs, outputs, the values of variables.
#include "compiler/spmd/phases/EntryWriter.h"
#include "compiler/spmd/phases/OutputPart.h"
#include "compiler/spmd/plan/PortSharding.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>

namespace wsc::spmd {

using namespace format;

namespace {

/// Cycles of ports of which the busiest takes `busiest` cycles, and which pass so many words together.
int64_t portCycles(const target::Target &target, int64_t busiest, int64_t words) {
  return std::max(busiest, int64_t(std::ceil(double(words) / target.ioWordsPerCycle())));
}

} // namespace

void EntryWriter::readInputs() {
  for (size_t i = 0; i < network.inputs.size(); ++i) {
    const TensorId tensor = network.inputs[i].tensor;
    if (network.tensors[size_t(tensor)].elements() == 0)
      continue;
    const Sharding &held = *plan.held[size_t(tensor)];
    const ElementType type = network.tensors[size_t(tensor)].type;
    const Rectangle &at = held.rectangle;
    const int64_t words = wordBytes(type, held.localElements()) / 4;
    const bool isFlat = at.cols == plan.rectangle.cols &&
                        held == flatSharding(at, network.tensors[size_t(tensor)].elements(), granuleOf(type));
    // Else all cores of a row hold the same.
    const bool isSpread = isFlat || liesOn(held, Axis::Col);
    const int64_t ofRow = isSpread ? words * at.cols : words;
    phase().estimatedCycles += portCycles(target, ofRow, ofRow * at.rows) + plan.rectangle.cols;
    if (isSpread)
      emitInput(code(), at.row, at.row + at.rows, at.cols, words, {bufferOf(tensor), 0}, plan.rectangle.cols);
    else
      emitBoxInput(code(), at.row + at.rows, words, {bufferOf(tensor), 0});
    phase().ports.push_back({false, int32_t(i), at.row, at.row + at.rows, held.localElements(),
                             isFlat ? std::nullopt : std::optional(held)});
  }
}

absl::Status EntryWriter::writeStates() {
  // All values first: a variable's new value may be another's old one.
  std::vector<std::pair<int32_t, Place>> written;
  written.reserve(network.states.size());
  const Pins pins(*this);
  for (const State &state : network.states) {
    if (state.written < 0 || network.tensors[size_t(state.written)].elements() == 0)
      continue;
    const int32_t variable = states.find(state.name);
    const StateTable::Place &at = states.places[size_t(variable)];
    auto place = move(state.written, at.sharding, 0, false);
    if (!place.ok())
      return absl::Status(place.status().code(),
                          absl::StrCat("variable ", state.name, ": ", std::string(place.status().message())));
    written.emplace_back(variable, *place);
    pinned.push_back(&written.back().second);
  }
  for (auto &[variable, place] : written) {
    const Buffer &from = code().buffers[size_t(place.buffer)];
    if (from.kind != BufferKind::Resident || written.size() == 1)
      continue;
    // The value may lie where another variable is written before it is read.
    const StateTable::Place &at = states.places[size_t(variable)];
    const ElementType type = states.variables[size_t(variable)].tensor.type;
    const int64_t bytes = elementBytes(type);
    const Place copy{wordScratch(code(), "value", type, at.sharding.localElements()), 0};
    code().main.push_back(instruction(Opcode::Move, type, {at.sharding.localElements()},
                                      memory(copy.buffer, 0, {bytes}), memory(place.buffer, place.baseBytes, {bytes})));
    place = copy;
  }
  for (const auto &[variable, place] : written) {
    const StateTable::Place &at = states.places[size_t(variable)];
    const int16_t to = constantBuffer(at.resident);
    if (to == place.buffer)
      continue;
    const ElementType type = states.variables[size_t(variable)].tensor.type;
    const int64_t bytes = elementBytes(type);
    code().main.push_back(instruction(Opcode::Move, type, {at.sharding.localElements()}, memory(to, 0, {bytes}),
                                      memory(place.buffer, place.baseBytes, {bytes})));
  }
  return absl::OkStatus();
}

absl::Status EntryWriter::writeOutputs() {
  if (network.outputs.empty())
    return absl::OkStatus();
  int32_t row = 0;
  const int32_t rows = plan.rectangle.rows, each = std::max(1, rows / int32_t(network.outputs.size()));
  for (size_t i = 0; i < network.outputs.size(); ++i, row += each) {
    const TensorId tensor = network.outputs[i].tensor;
    const Tensor &output = network.tensors[size_t(tensor)];
    if (output.elements() == 0)
      continue;
    const Sharding box =
        outputSharding(network, views, tensor, row, each, plan.rectangle, tensorBytes(target) / 3, plan.held);
    auto place = move(tensor, box, 0, false);
    if (!place.ok())
      return absl::Status(place.status().code(), absl::StrCat("output ", network.outputs[i].name, ": ",
                                                              std::string(place.status().message())));
    const Pins pins(*this);
    pinned.push_back(&*place);
    if (box == flatSharding({row, 0, each, plan.rectangle.cols}, output.elements(), granuleOf(output.type))) {
      auto append = [&](Code &to, const ConstantMaker &) {
        emitOutput(to, row, row + each, box.rectangle.cols, wordBytes(output.type, box.localElements()) / 4, *place,
                   plan.rectangle.cols);
      };
      if (absl::Status status = makeRoom(append); !status.ok())
        return status;
      append(code(), {});
      phase().estimatedCycles += portCycles(target, leavingCycles(box, elementBytes(output.type), plan.rectangle),
                                            wordBytes(output.type, output.elements()) / 4);
      phase().ports.push_back({true, int32_t(i), row, row + each, box.localElements(), std::nullopt});
      continue;
    }
    if (absl::Status status = writeOutputBox(int32_t(i), box, output.type, *place); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

absl::Status EntryWriter::writeOutputBox(int32_t output, const Sharding &box, ElementType type, const Place &place) {
  const int64_t bytes = elementBytes(type);
  const std::vector<std::vector<Sharding>> configurations = leavingParts(box);
  for (size_t c = 0; c < configurations.size(); ++c) {
    if (c > 0)
      cut(); // a port takes one shape a configuration
    auto append = [&](Code &to, const ConstantMaker &) {
      for (const Sharding &part : configurations[c])
        emitOutputPart(to, part, box, type, place, plan.rectangle.cols);
    };
    const Sharding &largest = configurations[c].front();
    if (absl::Status status = makeRoom(append); !status.ok())
      return status;
    append(code(), {});
    int64_t words = 0;
    for (const Sharding &part : configurations[c])
      words += wordBytes(type, part.localElements()) / 4 * part.rectangle.rows * part.rectangle.cols;
    phase().estimatedCycles += portCycles(target, leavingCycles(largest, bytes, plan.rectangle), words);
    for (const Sharding &part : configurations[c])
      phase().ports.push_back(
          {true, output, part.rectangle.row, part.rectangle.row + part.rectangle.rows, part.localElements(), part});
  }
  return absl::OkStatus();
}

} // namespace wsc::spmd
