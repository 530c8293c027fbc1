// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An operation's result takes the room of a source that dies with it where both are laid out alike; the instruction
// then walks both alike, which the machine allows. Select and Fma change their dst: its old value is one of their
// sources, moved there first unless it lies there already. A conversion to a wider type takes no instruction where
// those that take its result may have narrower sources (format::mayMix): a sum of f16 products in f32 reads f16.
#include "compiler/spmd/local/BodyCode.h"

#include "compiler/spmd/local/VectorWalk.h"

#include <algorithm>

namespace wsc::spmd {

using namespace format;

namespace {

// Iterators along which a value changes.
uint64_t supportOf(const Place &place) {
  uint64_t support = 0;
  for (size_t k = 0; k < place.stride.size(); ++k)
    if (place.stride[k] != 0)
      support |= uint64_t(1) << k;
  return support;
}
uint64_t supportOf(const Value &value) { return value.immediate ? 0 : supportOf(value.place); }

uint64_t parallelIterators(const Frame &frame) { return (uint64_t(1) << frame.space.numParallel) - 1; }

bool updatesDst(Opcode opcode) { return opcode == Opcode::Select || opcode == Opcode::Fma; }

// Number of the source that is dst's old value.
size_t oldValueOf(Opcode opcode) { return opcode == Opcode::Select ? 1 : 2; }

// Whether the operation can write to `destination` directly: sources in the same buffer walk alike, and dst's old value
// can be moved there without destroying another source.
bool canWrite(const Frame &frame, const BodyOp &op, const std::vector<Value> &sources, const Destination &destination) {
  if (op.type != destination.type)
    return false;
  auto inPlace = [&](const Value &value) {
    return !value.immediate && value.place == destination.place && elementBytes(value.type) == elementBytes(op.type);
  };
  bool shared = false;
  for (const Value &source : sources)
    if (!source.immediate && source.place.buffer == destination.place.buffer) {
      shared = true;
      if (!inPlace(source))
        return false;
    }
  if (updatesDst(op.opcode) && shared && !inPlace(sources[oldValueOf(op.opcode)]))
    return false;
  if (op.opcode != Opcode::Fma)
    return true;
  std::vector<std::pair<int64_t, int64_t>> walk;
  for (size_t k = 0; k < frame.space.numParallel; ++k)
    walk.emplace_back(destination.place.stride[k], frame.block[k]);
  return isInjective(std::move(walk), elementBytes(op.type));
}

} // namespace

std::vector<const BodyValue *> sourcesOf(const BodyOp &op) {
  std::vector<const BodyValue *> sources{&op.a};
  if (opcodeInfo(op.opcode).sources == 2)
    sources.push_back(&op.b);
  if (updatesDst(op.opcode))
    sources.push_back(&op.c);
  return sources;
}

const BodyOp &operationOf(const Nest &nest, size_t number) {
  return number < nest.body.size() ? nest.body[number] : nest.finish[number - nest.body.size()];
}

bool isGathered(const LocalNest &local, size_t operand) {
  return local.nest->operands[operand].gatherDim >= 0 && local.operands[operand].gatherCount > 1;
}

absl::Status emitVector(Frame &frame, Opcode opcode, ElementType type, ElementType sourceType,
                        const VectorOperands &operands) {
  if (frame.noted)
    return absl::OkStatus();
  Instruction head;
  head.opcode = opcode;
  head.type = type;
  head.sourceType = sourceType;
  head.mixed = opcode != Opcode::Convert && sourceType != type;
  const std::vector<int64_t> *stride[3] = {};
  head.dst = frame.operand(*operands.dst);
  stride[0] = &operands.dst->stride;
  auto source = [&](const Value *value, Operand &operand, size_t slot) {
    if (!value)
      return;
    operand = value->immediate ? immediate(*value->immediate) : frame.operand(value->place);
    stride[slot] = value->immediate ? nullptr : &value->place.stride;
  };
  source(operands.a, head.a, 1);
  source(operands.b, head.b, 2);
  std::vector<WalkDim> dims;
  for (size_t k = 0; k < frame.block.size(); ++k) {
    if (!(operands.points >> k & 1))
      continue;
    WalkDim dim{frame.block[k], {}, (operands.ordered >> k & 1) != 0};
    for (size_t o = 0; o < dim.stride.size(); ++o)
      dim.stride[o] = stride[o] ? (*stride[o])[k] : 0;
    dims.push_back(dim);
  }
  return emitWalk(frame.thread, frame.openLoops(), std::move(head), dims, operands.numberStride);
}

absl::Status store(Frame &frame, const Value &value, const Destination &destination) {
  Opcode opcode = value.type == destination.type ? Opcode::Move : Opcode::Convert;
  return emitVector(frame, opcode, destination.type, value.type,
                    {&destination.place, &value, nullptr, parallelIterators(frame)});
}

int *BodyCode::usesOf(const BodyValue &value) {
  switch (value.kind) {
  case BodyValue::Kind::Operand:
    return &operandUses[size_t(value.index)];
  case BodyValue::Kind::Operation:
    return &operationUses[size_t(value.index)];
  case BodyValue::Kind::Reduced:
    return &reducedUses;
  case BodyValue::Kind::Immediate:
    break;
  }
  return nullptr;
}

void BodyCode::countUses(const std::vector<BodyValue> &wanted) {
  auto use = [&](const BodyValue &value) {
    if (int *uses = usesOf(value))
      ++*uses;
  };
  for (const BodyValue &value : wanted)
    use(value);
  for (size_t number = end; number-- > first;)
    if (operationUses[number] > 0)
      for (const BodyValue *source : sourcesOf(operationOf(*local.nest, number)))
        use(*source);
}

// Whether an instruction of `opcode` and `type` over these sources can widen all of them itself.
bool BodyCode::mayWiden(Opcode opcode, ElementType type, const std::vector<const BodyValue *> &sources) const {
  return std::all_of(sources.begin(), sources.end(), [&](const BodyValue *source) {
    if (!isWidened(*source))
      return false;
    const ElementType from = operationOf(*local.nest, size_t(source->index)).sourceType;
    return from == operationOf(*local.nest, size_t(sources[0]->index)).sourceType && mayMix(opcode, from, type);
  });
}

// Conversions of elements in memory, less those that some instruction needs as values of their own.
void BodyCode::findWidened(const std::vector<BodyValue> &wanted, const Reduction *reduction) {
  for (size_t number = first; number < end; ++number) {
    const BodyOp &op = operationOf(*local.nest, number);
    widened[number] = operationUses[number] > 0 && op.opcode == Opcode::Convert && op.sourceType != op.type &&
                      op.a.kind == BodyValue::Kind::Operand && !isGathered(local, size_t(op.a.index));
  }
  for (bool changes = true; changes;) {
    changes = false;
    const auto need = [&](const std::vector<const BodyValue *> &sources) {
      for (const BodyValue *source : sources)
        if (isWidened(*source)) {
          widened[size_t(source->index)] = false;
          changes = true;
        }
    };
    for (size_t number = first; number < end; ++number) {
      const BodyOp &op = operationOf(*local.nest, number);
      const std::vector<const BodyValue *> sources = sourcesOf(op);
      if (operationUses[number] > 0 && (updatesDst(op.opcode) || !mayWiden(op.opcode, op.type, sources)))
        need(sources);
    }
    std::vector<const BodyValue *> last;
    for (const BodyValue &value : wanted)
      last.push_back(&value);
    if (!reduction || !mayWiden(reduction->opcode, reduction->type, last))
      need(last);
  }
}

absl::StatusOr<std::vector<Value>> BodyCode::evaluate(const std::vector<BodyValue> &wanted,
                                                      const Reduction &reduction) {
  countUses(wanted);
  findWidened(wanted, &reduction);
  for (size_t number = first; number < end; ++number)
    if (operationUses[number] > 0)
      if (absl::Status status = apply(number, nullptr); !status.ok())
        return status;
  std::vector<Value> values;
  for (const BodyValue &value : wanted) {
    absl::StatusOr<Value> result = valueOf(value, reduction.type);
    if (!result.ok())
      return result.status();
    values.push_back(*std::move(result));
  }
  return values;
}

// Of a Select or Fma wanted in the end, only dst's old value may lie there before: any other source would be in the
// way.
void BodyCode::openRoom(const BodyValue &wanted, const Destination &destination) {
  if (wanted.kind != BodyValue::Kind::Operation)
    return;
  const BodyOp &last = operationOf(*local.nest, size_t(wanted.index));
  if (updatesDst(last.opcode)) {
    const BodyValue &old = *sourcesOf(last)[oldValueOf(last.opcode)];
    if (old.kind != BodyValue::Kind::Operation)
      return;
    roomOperation = old.index;
  }
  room = destination;
  roomTaken = reduced && reduced->place.buffer == destination.place.buffer;
}

void BodyCode::release(const Value &value) {
  if (room && value.place.buffer == room->place.buffer)
    roomTaken = false;
  else
    frame.release(value.place);
}

absl::Status BodyCode::evaluateInto(const BodyValue &wanted, const Destination &destination, bool isRoom) {
  countUses({wanted});
  findWidened({wanted}, nullptr);
  if (isRoom)
    openRoom(wanted, destination);
  const bool isOperation = wanted.kind == BodyValue::Kind::Operation;
  for (size_t number = first; number < end; ++number)
    if (operationUses[number] > 0)
      if (absl::Status status = apply(number, isOperation && size_t(wanted.index) == number ? &destination : nullptr);
          !status.ok())
        return status;
  absl::StatusOr<Value> value;
  if (wanted.kind == BodyValue::Kind::Operand && isGathered(local, size_t(wanted.index)))
    value = gather(size_t(wanted.index), &destination);
  else
    value = valueOf(wanted, destination.type);
  if (!value.ok())
    return value.status();
  absl::Status status;
  if (value->immediate || value->place != destination.place || value->type != destination.type)
    status = store(frame, *value, destination);
  if (value->temporary)
    release(*value);
  return status;
}

absl::StatusOr<Value> BodyCode::valueOf(const BodyValue &value, ElementType immediateType) {
  switch (value.kind) {
  case BodyValue::Kind::Immediate:
    return Value{value.immediate, {}, immediateType, false};
  case BodyValue::Kind::Operation:
    return *operations[size_t(value.index)];
  case BodyValue::Kind::Reduced:
    return *reduced;
  case BodyValue::Kind::Operand:
    break;
  }
  const auto number = size_t(value.index);
  if (isGathered(local, number))
    return gather(number, nullptr);
  return Value{std::nullopt, frame.space.operands[number], local.operandTypes[number], false};
}

absl::StatusOr<Place> BodyCode::placeFor(size_t number, uint64_t support, const std::vector<const Value *> &reusable) {
  const ElementType type = operationOf(*local.nest, number).type;
  const bool whole = support == parallelIterators(frame);
  for (const Value *value : reusable)
    if (elementBytes(value->type) == elementBytes(type) &&
        ((value->place.slices == frame.openSlices() && value->place.stride == frame.packed(support, type)) ||
         (room && whole && value->place == room->place)))
      return value->place;
  if (room && !roomTaken && whole && (roomOperation < 0 || size_t(roomOperation) == number) &&
      elementBytes(room->type) == elementBytes(type)) {
    roomTaken = true;
    return room->place;
  }
  return frame.acquire(support, type);
}

absl::Status BodyCode::apply(size_t number, const Destination *destination) {
  const BodyOp &op = operationOf(*local.nest, number);
  if (widened[number]) {
    const auto operand = size_t(op.a.index);
    --operandUses[operand];
    operations[number] = Value{std::nullopt, frame.space.operands[operand], local.operandTypes[operand], false};
    return absl::OkStatus();
  }
  std::vector<Value> sources;
  uint64_t support = 0;
  for (const BodyValue *source : sourcesOf(op)) {
    absl::StatusOr<Value> value = valueOf(*source, op.taken());
    if (!value.ok())
      return value.status();
    support |= supportOf(*value);
    sources.push_back(*std::move(value));
    if (int *uses = usesOf(*source))
      --*uses;
  }
  std::vector<const Value *> dying;
  for (size_t i = 0; i < sources.size(); ++i)
    if (sources[i].temporary && *usesOf(*sourcesOf(op)[i]) == 0)
      dying.push_back(&sources[i]);

  Value result;
  result.type = op.type;
  const bool updates = updatesDst(op.opcode);
  if (destination && canWrite(frame, op, sources, *destination)) {
    result.place = destination->place;
    support = parallelIterators(frame);
  } else {
    std::vector<const Value *> reusable = dying;
    if (updates) // moving the old value must not destroy another source
      std::erase_if(reusable, [&](const Value *value) { return value->place != sources[oldValueOf(op.opcode)].place; });
    absl::StatusOr<Place> place = placeFor(number, support, reusable);
    if (!place.ok())
      return place.status();
    result.place = *std::move(place);
    result.temporary = true;
  }
  VectorOperands operands{&result.place, &sources[0], sources.size() > 1 ? &sources[1] : nullptr, support};
  if (updates) {
    const Value &old = sources[oldValueOf(op.opcode)];
    if (old.immediate || old.place != result.place)
      if (absl::Status status =
              emitVector(frame, Opcode::Move, op.type, op.type, {&result.place, &old, nullptr, support});
          !status.ok())
        return status;
    operands.b = &sources[op.opcode == Opcode::Select ? 2 : 1];
  }
  const ElementType sourceType = op.opcode == Opcode::Convert ? op.sourceType
                                 : isWidened(op.a)            ? sources[0].type
                                                              : op.type; // a move takes bits as they are
  if (absl::Status status = emitVector(frame, op.opcode, op.type, sourceType, operands); !status.ok())
    return status;
  for (const Value *value : dying)
    if (value->place.buffer != result.place.buffer)
      release(*value);
  operations[number] = std::move(result);
  return absl::OkStatus();
}

absl::StatusOr<Value> BodyCode::gather(size_t operand, const Destination *destination) {
  if (gathered[operand])
    return *gathered[operand];
  const Access &access = local.nest->operands[operand];
  const LocalOperand &from = local.operands[operand];
  const auto indices = size_t(access.gatherIndices);
  const ElementType type = local.operandTypes[operand];
  const Place &table = frame.space.operands[operand];
  Value source{std::nullopt, table, type, false};
  Value numbers{std::nullopt, frame.space.operands[indices], ElementType::I32, false};

  // The machine takes numbers beyond the last element of the buffer as that one: no more are in reach of the lowest
  // origin than the operand has, or numbers are cut before.
  int64_t origin = table.baseBytes;
  for (size_t k = 0; k < table.stride.size(); ++k)
    origin += std::min<int64_t>(0, table.stride[k] * (frame.space.extents[k] - 1));
  const int64_t inReach = (frame.bytesOf(table.buffer) - elementBytes(type) - origin) / from.gatherStrideBytes + 1;
  if (inReach > from.gatherCount) {
    const Value last{double(from.gatherCount - 1), {}, ElementType::I32, false};
    const uint64_t support = supportOf(numbers);
    absl::StatusOr<Place> place = frame.acquire(support, ElementType::I32);
    if (!place.ok())
      return place.status();
    if (absl::Status status =
            emitVector(frame, Opcode::Min, ElementType::I32, ElementType::I32, {&*place, &numbers, &last, support});
        !status.ok())
      return status;
    numbers.place = *std::move(place);
    numbers.temporary = true;
  }
  uint64_t support = supportOf(numbers) | supportOf(table);
  Value result{std::nullopt, {}, type, true};
  if (destination && destination->type == type && destination->place.buffer != table.buffer &&
      destination->place.buffer != numbers.place.buffer) {
    result.place = destination->place;
    result.temporary = false;
    support = parallelIterators(frame);
  } else {
    absl::StatusOr<Place> place = frame.acquire(support, type);
    if (!place.ok())
      return place.status();
    result.place = *std::move(place);
  }
  absl::Status status = emitVector(frame, Opcode::Gather, type, type,
                                   {&result.place, &source, &numbers, support, 0, from.gatherStrideBytes});
  if (!status.ok())
    return status;
  if (numbers.temporary)
    frame.release(numbers.place);
  gathered[operand] = result;
  return result;
}

} // namespace wsc::spmd
