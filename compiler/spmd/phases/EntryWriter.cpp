// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/phases/EntryWriter.h"

#include "compiler/spmd/local/LocalNest.h"
#include "compiler/spmd/plan/Neutral.h"
#include "compiler/spmd/roles/Roles.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <bit>
#include <set>

namespace wsc::spmd {

using namespace format;

namespace {

// A phase ends when its code takes this share of the SRAM that the target leaves to programs.
constexpr double kPhaseCodeShare = 0.2;
constexpr int64_t kTemporaryBytes = 4096; // for each value of a body

int64_t granuleOf(ElementType type) { return std::max<int64_t>(1, 4 / elementBytes(type)); }

int64_t codeBytes(const target::Target &target, const Code &code) {
  int64_t descriptors = 0;
  for (const Instruction &instruction : code.main)
    for (const format::Operand *operand : {&instruction.dst, &instruction.a, &instruction.b})
      descriptors += operand->kind == OperandKind::Memory;
  return int64_t(code.main.size()) * target.instructionBytes + descriptors * target.descriptorBytes;
}

void collect(const std::vector<BodyOp> &ops, const std::vector<BodyValue> &values, std::set<int32_t> &operands) {
  auto add = [&](const BodyValue &value) {
    if (value.kind == BodyValue::Kind::Operand)
      operands.insert(value.index);
  };
  for (const BodyOp &op : ops)
    for (const BodyValue *value : {&op.a, &op.b, &op.c})
      add(*value);
  for (const BodyValue &value : values)
    add(value);
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

absl::Status EntryWriter::write() {
  phases.emplace_back();
  for (const State &state : network.states)
    if (state.read >= 0)
      stateReads[state.read] = states.find(state.name);
  readInputs();
  for (size_t n = 0; n < network.nodes.size(); ++n) {
    if (plan.loop && plan.loop->repeats(n))
      continue;
    if (plan.loop && n == plan.loop->begin) {
      phases.emplace_back().count = plan.loop->count;
      looping = true;
    }
    const Nest *nest = std::get_if<Nest>(&network.nodes[n]);
    if (nest && network.tensors[size_t(nest->result)].elements() > 0) {
      cutIfLarge();
      if (absl::Status status = writeNest(*nest, plan.distributions[n], absl::StrCat("layer ", nest->name));
          !status.ok())
        return status;
      phase().estimatedCycles += plan.nodeCycles[n];
    }
    if (looping && n + 1 == plan.loop->begin + plan.loop->period) {
      if (absl::Status status = closeLoop(); !status.ok())
        return status;
      phases.emplace_back();
      looping = false;
    }
  }
  // Outputs may be old values of variables, so they leave before these are written.
  if (absl::Status status = writeOutputs(); !status.ok())
    return status;
  return writeStates();
}

TensorId EntryWriter::counterpart(TensorId tensor, int32_t i) const {
  if (auto found = plan.loop->constants.find(tensor); found != plan.loop->constants.end())
    return found->second[size_t(i)];
  for (size_t n = plan.loop->begin; n < plan.loop->begin + plan.loop->period; ++n)
    if (std::visit([](const auto &node) { return node.result; }, network.nodes[n]) == tensor)
      return std::visit([](const auto &node) { return node.result; }, network.nodes[n + size_t(i) * plan.loop->period]);
  return tensor;
}

absl::Status EntryWriter::closeLoop() {
  // All values before the first is written over: one may be another's.
  std::vector<Place> made;
  for (const Loop::Carried &carried : plan.loop->carried) {
    auto place = move(carried.made, *plan.held[size_t(carried.initial)], 0, false);
    if (!place.ok())
      return place.status();
    made.push_back(*place);
  }
  for (size_t k = 0; k < made.size(); ++k) {
    const Loop::Carried &carried = plan.loop->carried[k];
    const Sharding &held = *plan.held[size_t(carried.initial)];
    const ElementType type = network.tensors[size_t(carried.initial)].type;
    const int64_t bytes = elementBytes(type), elements = wordBytes(type, held.localElements()) / bytes;
    const size_t begin = code().main.size();
    code().main.push_back(instruction(Opcode::Move, type, {elements}, memory(bufferOf(carried.initial), 0, {bytes}),
                                      memory(made[k].buffer, made[k].baseBytes, {bytes})));
    guardFrom(code(), begin, guardOf(held.rectangle, plan.rectangle));
  }
  return absl::OkStatus();
}

void EntryWriter::cutIfLarge() {
  if (!looping && double(codeBytes(target, code())) > kPhaseCodeShare * double(target.usableSramBytes()))
    phases.emplace_back();
}

bool EntryWriter::isConstant(TensorId tensor) {
  for (const View::Root &root : views.of(tensor).roots)
    if (root.tensor >= 0 && network.tensors[size_t(root.tensor)].kind != Tensor::Kind::Constant)
      return false;
  return true;
}

int16_t EntryWriter::bufferOf(TensorId tensor) {
  if (auto state = stateReads.find(tensor); state != stateReads.end())
    return constantBuffer(states.places[size_t(state->second)].resident);
  if (plan.loop)
    for (const Loop::Carried &carried : plan.loop->carried)
      if (tensor == carried.last)
        tensor = carried.initial;
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

void EntryWriter::readInputs() {
  for (size_t i = 0; i < network.inputs.size(); ++i) {
    const TensorId tensor = network.inputs[i].tensor;
    if (network.tensors[size_t(tensor)].elements() == 0)
      continue;
    const Sharding &held = *plan.held[size_t(tensor)];
    const ElementType type = network.tensors[size_t(tensor)].type;
    const Rectangle &at = held.rectangle;
    emitInput(code(), at.row, at.row + at.rows, plan.rectangle.cols, wordBytes(type, held.localElements()) / 4,
              {bufferOf(tensor), 0});
    phase().ports.push_back({false, int32_t(i), at.row, at.row + at.rows, held.localElements()});
  }
}

void EntryWriter::addFill(double value, ElementType type, int64_t id, MoveProblem &problem,
                          std::vector<Place> &sources) {
  Sharding everywhere = flatSharding({0, 0, 1, 1}, 1, 1);
  everywhere.rectangle = plan.rectangle;
  problem.sources.push_back({everywhere, id});
  const std::vector<std::byte> element = elementOf(value, type);
  std::vector<std::byte> data;
  for (int64_t i = 0; i < granuleOf(type); ++i)
    data.insert(data.end(), element.begin(), element.end());
  sources.push_back(
      {constantBuffer(constants.add("fill", type, plan.rectangle, 1, 1, granuleOf(type), std::move(data))), 0});
}

absl::StatusOr<int32_t> EntryWriter::placeConstant(TensorId tensor, const Sharding &to, double padding) {
  // One for each repetition of the loop, where they differ.
  std::vector<TensorId> all{tensor};
  for (int32_t i = 1; looping && i < plan.loop->count; ++i)
    all.push_back(counterpart(tensor, i));
  if (std::all_of(all.begin(), all.end(), [&](TensorId other) { return other == tensor; }))
    all.resize(1);
  const std::string key = absl::StrCat(all.size() > 1 ? "loop " : "", tensor, " ", print(to), " ",
                                       absl::Hex(std::bit_cast<uint64_t>(padding)));
  if (auto found = placed.find(key); found != placed.end())
    return found->second;
  const Tensor &wanted = network.tensors[size_t(tensor)];
  // Whole words, as of everything that may travel; windows of a run step begin at multiples of the banks' period.
  const int64_t period = int64_t(target.sramBanks) * target.sramAccessBytes;
  const int64_t local = to.localElements() * elementBytes(wanted.type);
  int64_t window = std::max<int64_t>(elementBytes(wanted.type), wordBytes(wanted.type, to.localElements()));
  if (all.size() > 1)
    window = (window + period - 1) / period * period;
  std::vector<std::byte> data;
  int32_t rows = 1, cols = 1;
  for (size_t i = 0; i < all.size(); ++i) {
    auto boxes = constantBoxes(network, reader, views, all[i], to, plan.rectangle, padding);
    if (!boxes.ok())
      return boxes.status();
    rows = boxes->rows;
    cols = boxes->cols;
    const size_t cores = size_t(rows) * size_t(cols), stride = size_t(window) * all.size();
    data.resize(cores * stride);
    for (size_t core = 0; core < cores; ++core)
      std::copy_n(boxes->data.begin() + ptrdiff_t(core * size_t(local)), local,
                  data.begin() + ptrdiff_t(core * stride + i * size_t(window)));
  }
  const int32_t resident = constants.add(wanted.name, wanted.type, plan.rectangle, rows, cols,
                                         window * int64_t(all.size()) / elementBytes(wanted.type), std::move(data));
  if (all.size() > 1)
    windows.emplace(resident, window);
  placed.emplace(key, resident);
  return resident;
}

absl::StatusOr<Place> EntryWriter::move(TensorId tensor, const Sharding &to, double padding, bool fillMatters) {
  const Tensor &wanted = network.tensors[size_t(tensor)];
  if (isConstant(tensor)) {
    auto resident = placeConstant(tensor, to, padding);
    if (!resident.ok())
      return resident.status();
    return Place{constantBuffer(*resident), 0};
  }
  const View &view = views.of(tensor);
  MoveProblem problem;
  problem.rectangle = plan.rectangle;
  problem.type = wanted.type;
  problem.ids = view.numIds;
  problem.width = to.localElements();
  problem.roomBytes = tensorBytes(target) / 3;
  std::vector<Place> sources;
  for (const View::Root &root : view.roots) {
    if (root.tensor < 0) {
      addFill(views.fillOf(root.tensor), wanted.type, root.firstId, problem, sources);
      continue;
    }
    const Tensor &source = network.tensors[size_t(root.tensor)];
    if (source.kind == Tensor::Kind::Constant) {
      if (looping && counterpart(root.tensor, plan.loop->count - 1) != root.tensor)
        return absl::UnimplementedError(absl::StrCat(
            "constant ", source.name, " differs from repetition to repetition and is moved with other tensors"));
      auto found = flatConstants.find(root.tensor);
      if (found == flatConstants.end()) {
        const Sharding flat = flatSharding(plan.rectangle, source.elements(), granuleOf(source.type));
        auto boxes = constantBoxes(network, reader, views, root.tensor, flat, plan.rectangle, 0);
        if (!boxes.ok())
          return boxes.status();
        const int32_t resident = constants.add(source.name, source.type, plan.rectangle, boxes->rows, boxes->cols,
                                               flat.localElements(), std::move(boxes->data));
        found = flatConstants.emplace(root.tensor, std::pair(resident, flat)).first;
      }
      problem.sources.push_back({found->second.second, root.firstId});
      sources.push_back({constantBuffer(found->second.first), 0});
      continue;
    }
    problem.sources.push_back({*plan.held[size_t(root.tensor)], root.firstId});
    sources.push_back({bufferOf(root.tensor), 0});
  }
  problem.fill = view.fills ? view.fill : padding;
  problem.fillMatters = fillMatters || view.fills;
  // Elements beyond the tensor's ends that are not the view's fill are elements of a constant of their own.
  int64_t outside = -1;
  if (fillMatters && view.fills && view.fill != padding) {
    outside = problem.ids++;
    addFill(padding, wanted.type, outside, problem, sources);
  }
  problem.wanted = [&](int32_t row, int32_t col, std::vector<int64_t> &ids) {
    to.elementsAt(row, col, ids);
    for (int64_t &id : ids)
      id = id >= 0 ? view.idOf(id) : outside;
  };
  if (outside < 0)
    addPieces(tensor, to, problem);
  auto planned = planBestMove(problem);
  if (!planned.ok())
    return absl::Status(planned.status().code(),
                        absl::StrCat("tensor ", wanted.name, ": ", std::string(planned.status().message())));
  return emitBestMove(code(), problem, *planned, sources, to.rectangle, constantMaker());
}

void EntryWriter::addPieces(TensorId tensor, const Sharding &to, MoveProblem &problem) {
  const View &view = views.of(tensor);
  const std::optional<std::vector<Piece>> pieces = views.piecesOf(tensor);
  if (!pieces)
    return;
  for (const Piece &piece : *pieces) {
    const auto root = std::find_if(view.roots.begin(), view.roots.end(),
                                   [&](const View::Root &r) { return r.tensor == piece.source; });
    problem.pieces.push_back(
        {int32_t(root - view.roots.begin()), piece.sourceOffset, piece.resultOffset, piece.digits});
  }
  problem.target = to;
}

absl::StatusOr<EntryWriter::Operand> EntryWriter::bring(const Nest &nest, size_t number,
                                                        const Distribution &distribution, bool finishOnly) {
  const Access &access = nest.operands[number];
  const Tensor &tensor = network.tensors[size_t(access.tensor)];
  Operand operand;
  operand.sharding = operandSharding(nest, access, tensor.shape, distribution);
  if (finishOnly)
    operand.sharding.rectangle =
        resultSharding(nest, network.tensors[size_t(nest.result)].shape, distribution).rectangle;
  // Elements outside of the tensor matter where a window reads padding, and where a reduction runs beyond its end.
  bool matters = false;
  double padding = access.padding;
  for (const Index &index : access.map) {
    int64_t walkers = 0;
    bool reduces = false;
    for (size_t k = 0; k < index.perIterator.size(); ++k) {
      walkers += index.perIterator[k] != 0;
      reduces |= index.perIterator[k] != 0 && int32_t(k) >= nest.numParallel;
    }
    matters |= reduces || walkers > 1 || index.constant != 0;
  }
  if (auto neutral = neutralPadding(network, nest, number))
    padding = *neutral;
  auto place = move(access.tensor, operand.sharding, padding, matters);
  if (!place.ok())
    return place.status();
  operand.place = *place;
  return operand;
}

absl::Status EntryWriter::writeNest(const Nest &nest, const Distribution &distribution, const std::string &where) {
  auto located = [&](const absl::Status &status) {
    return absl::Status(status.code(), absl::StrCat(where, ": ", std::string(status.message())));
  };
  std::set<int32_t> inBody, inFinish;
  collect(nest.body, nest.values, inBody);
  for (const Access &access : nest.operands)
    if (access.gatherIndices >= 0)
      inBody.insert(access.gatherIndices);
  collect(nest.finish, {nest.resultValue}, inFinish);
  const Tensor &resultTensor = network.tensors[size_t(nest.result)];
  LocalNest local;
  local.nest = &nest;
  for (size_t k = 0; k < nest.extents.size(); ++k)
    local.extents.push_back(blockOf(nest, distribution, int32_t(k)));
  const bool partial = isReduced(nest, distribution, Axis::Row) || isReduced(nest, distribution, Axis::Col);
  for (size_t k = 0; k < nest.operands.size(); ++k) {
    auto operand = bring(nest, k, distribution, partial && !inBody.contains(int32_t(k)));
    if (!operand.ok())
      return located(operand.status());
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
  // The result's box, packed, of the parallel iterators.
  auto packed = [&](int16_t buffer, ElementType type) {
    LocalOperand at;
    at.buffer = buffer;
    at.strideBytes.assign(size_t(nest.numParallel), 0);
    int64_t pitch = elementBytes(type);
    for (int32_t k = nest.numParallel; k-- > 0;) {
      at.strideBytes[size_t(k)] = pitch;
      pitch *= local.extents[size_t(k)];
    }
    return at;
  };
  int64_t elements = 1;
  for (int32_t k = 0; k < nest.numParallel; ++k)
    elements *= local.extents[size_t(k)];
  const int16_t result = bufferOf(nest.result);
  local.resultType = resultTensor.type;
  local.partial = partial;
  size_t begin = code().main.size();
  if (!partial) {
    local.result = packed(result, resultTensor.type);
    if (absl::Status status = emitNest(code(), local, kTemporaryBytes); !status.ok())
      return located(status);
    guardFrom(code(), begin, guardOf(distribution.rectangle, plan.rectangle));
  } else {
    const ElementType type = nest.reduction->type;
    Place sum{code().scratch("sums", type, elements), 0};
    local.result = packed(sum.buffer, type);
    if (absl::Status status = emitNest(code(), local, kTemporaryBytes); !status.ok())
      return located(status);
    Guard cores;
    for (Axis axis : {Axis::Row, Axis::Col})
      if (isReduced(nest, distribution, axis)) {
        const Place reduced{code().scratch("reduced", type, elements), 0};
        // An iterator spread over rows is summed down columns, along lines of the other axis.
        const Axis line = axis == Axis::Row ? Axis::Col : Axis::Row;
        emitChain(code(), line, line == Axis::Row ? plan.rectangle.cols : plan.rectangle.rows,
                  combining(nest.reduction->opcode), type, elements, sum, reduced, cores);
        sum = reduced;
        cores.rowBegin = plan.rectangle.rows - 1; // has the sums that a chain along the rows goes on with
      }
    local.result = packed(result, resultTensor.type);
    begin = code().main.size();
    if (absl::Status status = finishNest(code(), local, packed(sum.buffer, type), kTemporaryBytes); !status.ok())
      return located(status);
    guardFrom(code(), begin, guardOf(resultSharding(nest, resultTensor.shape, distribution).rectangle, plan.rectangle));
  }
  // What may travel later is written to the end of its last word.
  const int64_t bytes = elements * elementBytes(resultTensor.type), padded = wordBytes(resultTensor.type, elements);
  if (padded > bytes)
    code().main.push_back(
        instruction(Opcode::Move, ElementType::U8, {padded - bytes}, memory(result, bytes, {1}), immediate(0)));
  phase().layers.push_back(nest.name);
  phase().macs += nest.macs;
  return absl::OkStatus();
}

absl::Status EntryWriter::writeStates() {
  // All values first: a variable's new value may be another's old one.
  std::vector<std::pair<int32_t, Place>> written;
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
  if (RouteNeeds needs = routeNeeds(code(), plan.rectangle);
      needs.outputs >= int(target.outputQueueWords.size()) || needs.colours >= target.usableColours())
    phases.emplace_back();
  int32_t row = 0;
  const int32_t rows = plan.rectangle.rows, each = std::max(1, rows / int32_t(network.outputs.size()));
  for (size_t i = 0; i < network.outputs.size(); ++i, row += each) {
    const TensorId tensor = network.outputs[i].tensor;
    const Tensor &output = network.tensors[size_t(tensor)];
    if (output.elements() == 0)
      continue;
    const Sharding flat = flatSharding({row, 0, each, plan.rectangle.cols}, output.elements(), granuleOf(output.type));
    // The move speaks of the tensor's own elements in row-major order.
    auto place = move(tensor, flat, 0, false);
    if (!place.ok())
      return absl::Status(place.status().code(), absl::StrCat("output ", network.outputs[i].name, ": ",
                                                              std::string(place.status().message())));
    emitOutput(code(), row, row + each, plan.rectangle.cols, wordBytes(output.type, flat.localElements()) / 4, *place);
    phase().ports.push_back({true, int32_t(i), row, row + each, flat.localElements()});
  }
  return absl::OkStatus();
}

} // namespace wsc::spmd
