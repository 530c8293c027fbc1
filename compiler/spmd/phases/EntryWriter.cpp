// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/phases/EntryWriter.h"

#include "compiler/spmd/collectives/GroupReduce.h"
#include "compiler/spmd/local/LocalNest.h"
#include "compiler/spmd/moves/EmitFactored.h"
#include "compiler/spmd/plan/Neutral.h"
#include "compiler/spmd/roles/Roles.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <set>

namespace wsc::spmd {

using namespace format;

namespace {

// A phase ends when its code takes such a share of the SRAM that the target leaves to programs.
constexpr double kPhaseCodeShare = 0.15, kMostCodeShare = 0.2; // between nests; within them
constexpr int64_t kMostGroup = 1 << 16;                        // larger moduli stand for the whole axis
constexpr int64_t kTemporaryBytes = 4096;                      // for each value of a body

int64_t granuleOf(ElementType type) { return std::max<int64_t>(1, 4 / elementBytes(type)); }

int64_t codeBytes(const target::Target &target, const Code &code) {
  int64_t descriptors = 0;
  for (const Instruction &instruction : code.main)
    for (const format::Operand *operand : {&instruction.dst, &instruction.a, &instruction.b})
      descriptors += operand->kind == OperandKind::Memory;
  return int64_t(code.main.size()) * target.instructionBytes + descriptors * target.descriptorBytes;
}

/// Whether groups of cores of different sizes fit into each other along both axes: else roles multiply.
bool haveCommonGroups(const Code &code) {
  std::set<int64_t> sizes[2];
  for (const Guard &guard : code.guards)
    for (Axis axis : {Axis::Row, Axis::Col}) {
      const AxisGuard part = along(guard, axis);
      if (part.modulus > 1 && part.modulus < kMostGroup)
        sizes[size_t(axis)].insert(part.modulus);
      if (part.modulus > 1 && part.unit > 1)
        sizes[size_t(axis)].insert(part.unit);
    }
  for (const std::set<int64_t> &axis : sizes) {
    int64_t before = 1;
    for (int64_t size : axis) {
      if (size % before != 0)
        return false;
      before = size;
    }
  }
  return true;
}

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
  made.reserve(plan.loop->carried.size());
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
    if (held != flatSharding(at, network.tensors[size_t(tensor)].elements(), granuleOf(type))) {
      emitBoxInput(code(), at.row + at.rows, wordBytes(type, held.localElements()) / 4, {bufferOf(tensor), 0});
      phase().ports.push_back({false, int32_t(i), at.row, at.row + at.rows, held.localElements(), held});
      continue;
    }
    emitInput(code(), at.row, at.row + at.rows, plan.rectangle.cols, wordBytes(type, held.localElements()) / 4,
              {bufferOf(tensor), 0});
    phase().ports.push_back({false, int32_t(i), at.row, at.row + at.rows, held.localElements()});
  }
}

void EntryWriter::addFill(double value, ElementType type, int64_t id, MoveProblem &problem,
                          std::vector<SourceName> &sources) {
  Sharding everywhere = flatSharding({0, 0, 1, 1}, 1, 1);
  everywhere.rectangle = plan.rectangle;
  problem.sources.push_back({everywhere, id});
  const std::vector<std::byte> element = elementOf(value, type);
  std::vector<std::byte> data;
  for (int64_t i = 0; i < granuleOf(type); ++i)
    data.insert(data.end(), element.begin(), element.end());
  sources.push_back({.resident = constants.add("fill", type, plan.rectangle, 1, 1, granuleOf(type), std::move(data))});
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
  AxisPattern rows, cols;
  for (size_t i = 0; i < all.size(); ++i) {
    auto boxes = constantBoxes(network, reader, views, all[i], to, plan.rectangle, padding);
    if (!boxes.ok())
      return boxes.status();
    rows = boxes->rows;
    cols = boxes->cols;
    const size_t cores = size_t(rows.distinct()) * size_t(cols.distinct()), stride = size_t(window) * all.size();
    data.resize(cores * stride);
    for (size_t core = 0; core < cores; ++core)
      std::copy_n(boxes->data.begin() + ptrdiff_t(core * size_t(local)), local,
                  data.begin() + ptrdiff_t(core * stride + i * size_t(window)));
  }
  const int32_t resident = constants.add(wanted.name, wanted.type, rows, cols,
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
  std::vector<SourceName> sources;
  for (const View::Root &root : view.roots) {
    if (root.tensor < 0) {
      addFill(views.fillOf(root.tensor), wanted.type, root.firstId, problem, sources);
      continue;
    }
    const Tensor &source = network.tensors[size_t(root.tensor)];
    if (source.kind == Tensor::Kind::Constant) {
      auto flat = flatConstant(root.tensor);
      if (!flat.ok())
        return flat.status();
      problem.sources.push_back({(*flat)->second, root.firstId});
      sources.push_back({.resident = (*flat)->first});
      continue;
    }
    problem.sources.push_back({*plan.held[size_t(root.tensor)], root.firstId});
    sources.push_back({.tensor = root.tensor});
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
  auto place = [&](const SourceName &source) {
    return Place{source.resident >= 0 ? constantBuffer(source.resident) : bufferOf(source.tensor), 0};
  };
  auto named = [&](const absl::Status &status) {
    return absl::Status(status.code(), absl::StrCat("tensor ", wanted.name, ": ", std::string(status.message())));
  };
  if (planned->factored.empty() || planned->isIdentity) {
    auto append = [&](Code &to_, const ConstantMaker &makeConstant) {
      std::vector<Place> places;
      for (const SourceName &source : sources)
        places.push_back(place(source));
      return emitBestMove(to_, problem, *planned, places, to.rectangle, makeConstant);
    };
    if (const absl::Status status = makeRoom(append); !status.ok())
      return named(status);
    return append(code(), constantMaker());
  }
  // Stage by stage: a phase may end between them.
  const Pins pins(*this);
  Place result = beginFactored(code(), problem, planned->factored), at;
  pinned.push_back(&result);
  for (size_t i = 0; i < planned->factored.size(); ++i) {
    const FactoredMove &move = planned->factored[i];
    const Pins inner(*this);
    for (size_t s = 0; s < move.stages.size(); ++s) {
      auto append = [&](Code &to_, const ConstantMaker &makeConstant) {
        if (s == 0)
          at = place(sources[size_t(problem.pieces[i].source)]);
        return emitStage(to_, problem, move.stages[s], s + 1 == move.stages.size(), at, result, makeConstant);
      };
      if (const absl::Status status = makeRoom(append); !status.ok())
        return named(status);
      at = append(code(), constantMaker());
      if (s == 0)
        pinned.push_back(&at);
    }
  }
  endFactored(code(), problem, result);
  return result;
}

absl::StatusOr<const std::pair<int32_t, Sharding> *> EntryWriter::flatConstant(TensorId tensor) {
  const Tensor &source = network.tensors[size_t(tensor)];
  if (looping && counterpart(tensor, plan.loop->count - 1) != tensor)
    return absl::UnimplementedError(absl::StrCat(
        "constant ", source.name, " differs from repetition to repetition and is moved with other tensors"));
  auto found = flatConstants.find(tensor);
  if (found == flatConstants.end()) {
    const Sharding flat = flatSharding(plan.rectangle, source.elements(), granuleOf(source.type));
    auto boxes = constantBoxes(network, reader, views, tensor, flat, plan.rectangle, 0);
    if (!boxes.ok())
      return boxes.status();
    const int32_t resident =
        constants.add(source.name, source.type, boxes->rows, boxes->cols, flat.localElements(), std::move(boxes->data));
    found = flatConstants.emplace(tensor, std::pair(resident, flat)).first;
  }
  return &found->second;
}

absl::Status EntryWriter::makeRoom(const std::function<void(Code &, const ConstantMaker &)> &append) {
  Code trial = code();
  append(trial, [&](const std::string &name, ElementType type, int32_t, int32_t, int64_t elements,
                    std::vector<std::byte>) { return trial.scratch(name, type, elements); });
  const RouteNeeds needs = routeNeeds(trial, plan.rectangle);
  const bool isLarge = double(codeBytes(target, trial)) > kMostCodeShare * double(target.usableSramBytes());
  if (needs.fit(target) && !isLarge && (looping || haveCommonGroups(trial)))
    return absl::OkStatus();
  if (looping)
    return absl::ResourceExhaustedError(absl::StrCat("a loop's body needs ", needs.colours, " colours, ", needs.inputs,
                                                     " input and ", needs.outputs, " output queues and ",
                                                     codeBytes(target, trial), " bytes of code in one configuration"));
  if (!code().main.empty())
    cut();
  return absl::OkStatus();
}

void EntryWriter::cut() {
  const size_t before = phases.size() - 1;
  phases.emplace_back();
  for (Place *place : pinned)
    place->buffer = carried(phases[before], place->buffer);
}

int16_t EntryWriter::carried(Phase &from, int16_t buffer) {
  const Buffer held = from.code.buffers[size_t(buffer)];
  if (held.kind == BufferKind::Resident)
    return constantBuffer(held.resident);
  for (const auto &[tensor, at] : from.buffers)
    if (at == buffer)
      return carry(tensor, held);
  const TensorId kept = TensorId(network.tensors.size()) + numCarried++;
  from.buffers.emplace(kept, buffer);
  return carry(kept, held);
}

int16_t EntryWriter::carry(TensorId tensor, const Buffer &held) {
  auto [found, added] = phase().buffers.emplace(tensor, int16_t(0));
  if (added)
    found->second = code().scratch(held.name, held.type, held.bytes / elementBytes(held.type));
  return found->second;
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

absl::Status EntryWriter::writeNest(const Nest &nest, const Distribution &distribution, const std::string &where) {
  auto located = [&](const absl::Status &status) {
    return absl::Status(status.code(), absl::StrCat(where, ": ", std::string(status.message())));
  };
  const Tensor &resultTensor = network.tensors[size_t(nest.result)];
  LocalNest local;
  local.nest = &nest;
  for (size_t k = 0; k < nest.extents.size(); ++k)
    local.extents.push_back(blockOf(nest, distribution, int32_t(k)));
  const bool partial = isReduced(nest, distribution, Axis::Row) || isReduced(nest, distribution, Axis::Col);
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
  local.resultType = resultTensor.type;
  local.partial = partial;
  size_t begin = code().main.size();
  if (!partial) {
    local.result = packed(bufferOf(nest.result), resultTensor.type);
    if (absl::Status status = emitNest(code(), local, kTemporaryBytes); !status.ok())
      return located(status);
    guardFrom(code(), begin, guardOf(distribution.rectangle, plan.rectangle));
  } else {
    const ElementType type = nest.reduction->type;
    Place sum{code().scratch("sums", type, elements), 0};
    pinned.push_back(&sum);
    local.result = packed(sum.buffer, type);
    if (absl::Status status = emitNest(code(), local, kTemporaryBytes); !status.ok())
      return located(status);
    guardFrom(code(), begin, guardOf(distribution.rectangle, plan.rectangle));
    const Guard cores = guardOf(distribution.rectangle, plan.rectangle);
    for (Axis axis : {Axis::Row, Axis::Col})
      if (isReduced(nest, distribution, axis)) {
        // An iterator spread over rows is summed down columns, along lines of the other axis.
        const Axis line = axis == Axis::Row ? Axis::Col : Axis::Row;
        const AxisUse &use = distribution.use(axis);
        auto reduce = [&](Code &to, Place reduced) {
          emitGroupAllReduce(to, line, line == Axis::Row ? plan.rectangle.cols : plan.rectangle.rows,
                             int32_t(use.innerParts), int32_t(use.parts), combining(nest.reduction->opcode), type,
                             elements, sum, reduced, linesOf(cores, line));
        };
        const absl::Status status = makeRoom(
            [&](Code &trial, const ConstantMaker &) { reduce(trial, {trial.scratch("reduced", type, elements), 0}); });
        if (!status.ok())
          return located(status);
        const Place reduced{code().scratch("reduced", type, elements), 0};
        reduce(code(), reduced);
        sum = reduced;
      }
    locate(); // a reduction may begin a phase
    local.result = packed(bufferOf(nest.result), resultTensor.type);
    begin = code().main.size();
    if (absl::Status status = finishNest(code(), local, packed(sum.buffer, type), kTemporaryBytes); !status.ok())
      return located(status);
    guardFrom(code(), begin, cores);
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
    const Sharding flat = flatSharding({row, 0, each, plan.rectangle.cols}, output.elements(), granuleOf(output.type));
    // The move speaks of the tensor's own elements in row-major order.
    auto place = move(tensor, flat, 0, false);
    if (!place.ok())
      return absl::Status(place.status().code(), absl::StrCat("output ", network.outputs[i].name, ": ",
                                                              std::string(place.status().message())));
    const Pins pins(*this);
    pinned.push_back(&*place);
    auto append = [&](Code &to, const ConstantMaker &) {
      emitOutput(to, row, row + each, plan.rectangle.cols, wordBytes(output.type, flat.localElements()) / 4, *place);
    };
    if (absl::Status status = makeRoom(append); !status.ok())
      return status;
    append(code(), {});
    phase().ports.push_back({true, int32_t(i), row, row + each, flat.localElements()});
  }
  return absl::OkStatus();
}

} // namespace wsc::spmd
