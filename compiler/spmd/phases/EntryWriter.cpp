// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/phases/EntryWriter.h"

#include "compiler/spmd/collectives/GroupReduce.h"
#include "compiler/spmd/local/LocalNest.h"
#include "compiler/spmd/plan/Neutral.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace wsc::spmd {

using namespace format;

namespace {

constexpr int64_t kTemporaryBytes = 4096; // for each value of a body

/// The part of a guard that says which lines of an axis take part.
Guard linesOf(Guard guard, Axis axis) {
  if (axis == Axis::Row) {
    guard.colBegin = 0;
    guard.colEnd = std::numeric_limits<int32_t>::max();
  } else {
    guard.rowBegin = 0;
    guard.rowEnd = std::numeric_limits<int32_t>::max();
  }
  return guard;
}

Opcode combining(Opcode reduction) {
  switch (reduction) {
  case Opcode::ReduceMul:
    return Opcode::Mul;
  case Opcode::ReduceMin:
    return Opcode::Min;
  case Opcode::ReduceMax:
    return Opcode::Max;
  default:
    return Opcode::Add;
  }
}

} // namespace

void EntryWriter::begin() {
  phases.emplace_back();
  for (const State &state : network.states)
    if (state.read >= 0)
      stateReads[state.read] = states.find(state.name);
}

absl::Status EntryWriter::write() {
  begin();
  readInputs();
  if (absl::Status status = writeNodes(); !status.ok())
    return status;
  // Outputs may be old values of variables, so they leave before these are written.
  if (absl::Status status = writeOutputs(); !status.ok())
    return status;
  return writeStates();
}

absl::Status EntryWriter::writeNodes() {
  for (size_t n = 0; n < network.nodes.size(); ++n) {
    for (const Loop &each : plan.loops)
      if (n == each.begin) {
        loop = &each;
        if (absl::Status status = openLoop(); !status.ok())
          return status;
      }
    const Nest *nest = std::get_if<Nest>(&network.nodes[n]);
    if (nest && network.tensors[size_t(nest->result)].elements() > 0) {
      cutIfLarge();
      movedCycles = 0;
      if (absl::Status status = writeNest(*nest, plan.distributions[n], absl::StrCat("layer ", nest->name));
          !status.ok())
        return status;
      // Of its moves each phase has its own already.
      phase().estimatedCycles += std::max<int64_t>(0, plan.nodeCycles[n] - movedCycles);
      if (loop)
        collect(nest->result);
    }
    if (loop && n + 1 == loop->end) {
      if (absl::Status status = closeLoop(); !status.ok())
        return status;
      const Loop &done = *std::exchange(loop, nullptr);
      beginPhase();
      unpackCollected(done);
    }
  }
  return absl::OkStatus();
}

absl::Status EntryWriter::bringTo(TensorId tensor, TensorId place) {
  auto brought = move(tensor, *plan.held[size_t(place)], 0, false);
  if (!brought.ok())
    return brought.status();
  copyStack(place, 1, {bufferOf(place), 0}, 0, *brought, 0);
  return absl::OkStatus();
}

int16_t EntryWriter::bufferOf(TensorId tensor) {
  if (auto state = stateReads.find(tensor); state != stateReads.end())
    return constantBuffer(states.places[size_t(state->second)].resident);
  if (loop && phase().loop >= 0)
    for (const Loop::Slice &slice : loop->slices)
      if (tensor == slice.slice)
        return windowOf(tensor, tensor);
  auto found = phase().buffers.find(tensor);
  if (found != phase().buffers.end())
    return found->second;
  const Tensor &held = network.tensors[size_t(tensor)];
  const int16_t buffer = wordScratch(code(), held.name, held.type, plan.held[size_t(tensor)]->localElements());
  phase().buffers.emplace(tensor, buffer);
  return buffer;
}

int16_t EntryWriter::constantBuffer(int32_t resident) {
  auto [found, added] = phase().constants.emplace(resident, int16_t(code().buffers.size()));
  if (added) {
    const Resident &constant = constants.residents[size_t(resident)];
    Buffer buffer;
    buffer.name = constant.name;
    buffer.kind = BufferKind::Resident;
    buffer.type = constant.type;
    buffer.bytes = constant.bytes;
    buffer.resident = resident;
    if (auto window = windows.find(resident); window != windows.end())
      buffer.bytes = buffer.runStep = window->second;
    code().buffers.push_back(std::move(buffer));
  }
  return found->second;
}

ConstantMaker EntryWriter::constantMaker() {
  return [this](const std::string &name, ElementType type, int32_t rows, int32_t cols, int64_t elements,
                std::vector<std::byte> data) {
    return constantBuffer(constants.add(name, type, plan.rectangle, rows, cols, elements, std::move(data)));
  };
}

absl::StatusOr<EntryWriter::Operand> EntryWriter::bring(const Nest &nest, size_t number,
                                                        const Distribution &distribution) {
  const Access &access = nest.operands[number];
  const Tensor &tensor = network.tensors[size_t(access.tensor)];
  Operand operand;
  operand.sharding = operandSharding(nest, access, tensor.shape, distribution);
  const bool matters = paddingMatters(network, nest, access, distribution);
  double padding = access.padding;
  if (auto neutral = neutralPadding(network, nest, number))
    padding = *neutral;
  auto place = move(access.tensor, operand.sharding, padding, matters);
  if (!place.ok())
    return place.status();
  operand.place = *place;
  return operand;
}

namespace {

/// A box of the parallel iterators, packed.
LocalOperand packed(const LocalNest &local, int16_t buffer, ElementType type) {
  LocalOperand at;
  at.buffer = buffer;
  at.strideBytes.assign(size_t(local.nest->numParallel), 0);
  int64_t pitch = elementBytes(type);
  for (int32_t k = local.nest->numParallel; k-- > 0;) {
    at.strideBytes[size_t(k)] = pitch;
    pitch *= local.extents[size_t(k)];
  }
  return at;
}

} // namespace

absl::Status EntryWriter::writeNest(const Nest &nest, const Distribution &distribution, const std::string &where) {
  auto located = [&](const absl::Status &status) {
    return absl::Status(status.code(), absl::StrCat(where, ": ", std::string(status.message())));
  };
  const Tensor &resultTensor = network.tensors[size_t(nest.result)];
  LocalNest local;
  local.nest = &nest;
  for (size_t k = 0; k < nest.extents.size(); ++k)
    local.extents.push_back(blockOf(nest, distribution, int32_t(k)));
  const Pins pins(*this);
  std::vector<Operand> operands;
  operands.reserve(nest.operands.size());
  for (size_t k = 0; k < nest.operands.size(); ++k) {
    auto operand = bring(nest, k, distribution);
    if (!operand.ok())
      return located(operand.status());
    operands.push_back(*std::move(operand));
    pinned.push_back(&operands.back().place);
  }
  auto locate = [&] {
    local.operands.clear();
    local.operandTypes.clear();
    for (size_t k = 0; k < nest.operands.size(); ++k) {
      const Operand *operand = &operands[k];
      const ElementType type = network.tensors[size_t(nest.operands[k].tensor)].type;
      const int64_t bytes = elementBytes(type);
      const LocalStrides strides = localStrides(nest, nest.operands[k], operand->sharding, distribution);
      LocalOperand at;
      at.buffer = operand->place.buffer;
      at.baseBytes = operand->place.baseBytes + strides.base * bytes;
      for (int64_t stride : strides.perIterator)
        at.strideBytes.push_back(stride * bytes);
      at.gatherStrideBytes = strides.gatherStride * bytes;
      at.gatherCount = strides.gatherCount;
      if (nest.operands[k].gatherDim >= 0)
        code().clamped.insert(at.buffer); // numbers beyond the table's end mean its last element
      local.operands.push_back(std::move(at));
      local.operandTypes.push_back(type);
    }
  };
  locate();
  int64_t elements = 1;
  for (int32_t k = 0; k < nest.numParallel; ++k)
    elements *= local.extents[size_t(k)];
  local.resultType = resultTensor.type;
  local.partial = isReduced(nest, distribution, Axis::Row) || isReduced(nest, distribution, Axis::Col);
  if (!local.partial) {
    const size_t begin = code().main.size();
    local.result = packed(local, bufferOf(nest.result), resultTensor.type);
    if (absl::Status status = emitNest(code(), local, kTemporaryBytes); !status.ok())
      return located(status);
    guardFrom(code(), begin, guardOf(distribution.rectangle, plan.rectangle));
  } else {
    if (absl::Status status = reduceParts(nest, distribution, local, elements, locate); !status.ok())
      return located(status);
  }
  // What may travel later is written to the end of its last word.
  const int64_t bytes = elements * elementBytes(resultTensor.type), padded = wordBytes(resultTensor.type, elements);
  if (padded > bytes)
    code().append(instruction(Opcode::Move, ElementType::U8, {padded - bytes},
                              memory(bufferOf(nest.result), bytes, {1}), immediate(0)),
                  guardOf(distribution.rectangle, plan.rectangle));
  phase().layers.push_back(nest.name);
  phase().macs += nest.macs;
  return absl::OkStatus();
}

/// What each core has of a sum, added up along one axis and then the other. The cores at which the last chains end do
/// what is left to do, and send the results to all.
absl::Status EntryWriter::reduceParts(const Nest &nest, const Distribution &distribution, LocalNest &local,
                                      int64_t elements, const std::function<void()> &locate) {
  const ElementType type = nest.reduction->type, resultType = local.resultType;
  const Guard cores = guardOf(distribution.rectangle, plan.rectangle);
  const Pins pins(*this);
  Place sum{code().scratch("sums", type, elements), 0};
  pinned.push_back(&sum);
  local.result = packed(local, sum.buffer, type);
  const size_t begin = code().main.size();
  if (absl::Status status = emitNest(code(), local, kTemporaryBytes); !status.ok())
    return status;
  guardFrom(code(), begin, cores);
  std::vector<CoreGroups> stages;
  for (Axis axis : {Axis::Row, Axis::Col})
    if (const ReduceGroup group = reduceGroup(nest, distribution, axis); group.cores > 1) {
      // An iterator spread over rows is summed down columns, along lines of the other axis.
      const Axis line = other(axis);
      stages.push_back({line, line == Axis::Row ? plan.rectangle.cols : plan.rectangle.rows, int32_t(group.cores),
                        int32_t(group.groups), linesOf(cores, line)});
    }
  const Opcode opcode = combining(nest.reduction->opcode);
  const bool isResult = nest.resultValue.kind == BodyValue::Kind::Reduced && type == resultType;
  for (size_t s = 0; s < stages.size(); ++s) {
    const CoreGroups &groups = stages[s];
    const bool isLast = s + 1 == stages.size();
    absl::Status status = makeRoom([&](Code &trial, const ConstantMaker &) {
      const Place reduced{trial.scratch("reduced", type, elements), 0};
      emitGroupReduce(trial, groups, opcode, type, elements, sum, reduced);
      emitGroupSend(trial, groups, isLast ? resultType : type, elements, reduced);
    });
    if (!status.ok())
      return status;
    const Place reduced{isLast && isResult ? bufferOf(nest.result) : code().scratch("reduced", type, elements), 0};
    emitGroupReduce(code(), groups, opcode, type, elements, sum, reduced);
    sum = reduced;
    if (!isLast || isResult) {
      emitGroupSend(code(), groups, type, elements, sum);
      continue;
    }
    locate(); // the reduction may have begun a phase
    const int16_t result = bufferOf(nest.result);
    local.result = packed(local, result, resultType);
    const size_t end = code().main.size();
    status = finishNest(code(), local, packed(local, sum.buffer, type), kTemporaryBytes);
    if (!status.ok())
      return status;
    guardFrom(code(), end, firstCores(groups));
    emitGroupSendLast(code(), groups, resultType, elements, {result, 0});
  }
  return absl::OkStatus();
}

} // namespace wsc::spmd
