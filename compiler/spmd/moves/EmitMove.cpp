// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/moves/EmitMove.h"

#include <cstring>

namespace wsc::spmd {

using namespace format;

int64_t wordBytes(ElementType type, int64_t elements) { return (elements * elementBytes(type) + 3) / 4 * 4; }

int16_t wordScratch(Code &code, const std::string &name, ElementType type, int64_t elements) {
  const int64_t bytes = elementBytes(type);
  return code.scratch(name, type, (wordBytes(type, elements) + bytes - 1) / bytes);
}

uint64_t onePattern(ElementType type) {
  switch (type) {
  case ElementType::F32:
    return 0x3f800000;
  case ElementType::F16:
    return 0x3c00;
  case ElementType::BF16:
    return 0x3f80;
  case ElementType::F64:
    return 0x3ff0000000000000;
  default:
    return 1;
  }
}

namespace {

class MoveWriter {
public:
  MoveWriter(Code &code, const MoveProblem &problem, const ConstantMaker &makeConstant)
      : code(code), problem(problem), makeConstant(makeConstant), bytes(elementBytes(problem.type)) {}

  Place stage(const MoveStage &stage, const std::vector<Place> &inputs, const std::vector<int64_t> &locals,
              bool clear) {
    const Selection &selection = stage.selection;
    Place from;
    if (!stage.axis && inputs.size() == 1 && !selection.fillElement && !stage.clears) {
      from = inputs[0];
    } else {
      from.buffer = wordScratch(code, "line", problem.type, stage.positions + selection.fillElement);
      if (stage.clears)
        code.main.push_back(
            instruction(Opcode::Move, problem.type, {stage.positions}, memory(from.buffer, 0, {bytes}), immediate(0)));
      for (size_t k = 0; k < inputs.size(); ++k) {
        const Place at{from.buffer, stage.firstPosition[k] * bytes};
        if (stage.axis)
          emitLineGather(code, *stage.axis, *stage.axis == Axis::Row ? problem.rectangle.cols : problem.rectangle.rows,
                         stage.gathers[k], inputs[k], at);
        else
          copy({locals[k]}, at, {bytes}, inputs[k], {bytes}, guardOf(stage.holders[k], problem.rectangle));
      }
      if (selection.fillElement)
        fill({from.buffer, stage.positions * bytes}, 1);
    }
    const Place result{wordScratch(code, "moved", problem.type, selection.width), 0};
    if (clear)
      fill(result, selection.width);
    const size_t begin = code.main.size();
    if (selection.strided)
      strided(selection, from, result);
    else
      indexed(selection, from, result);
    guardFrom(code, begin, guardOf(stage.active, problem.rectangle));
    padToWord(result, selection.width);
    return result;
  }

private:
  void copy(const std::vector<int64_t> &extents, Place to, const std::vector<int64_t> &toStrides, Place from,
            const std::vector<int64_t> &fromStrides, const Guard &guard) {
    code.append(instruction(Opcode::Move, problem.type, extents, memory(to.buffer, to.baseBytes, toStrides),
                            memory(from.buffer, from.baseBytes, fromStrides)),
                guard);
  }
  void fill(Place at, int64_t elements) {
    code.main.push_back(instruction(Opcode::Move, problem.type, {elements}, memory(at.buffer, at.baseBytes, {bytes}),
                                    immediate(problem.fill)));
  }
  /// The bytes between the last element and the end of its word are sent too, so they are written.
  void padToWord(Place at, int64_t elements) {
    const int64_t end = elements * bytes, padded = wordBytes(problem.type, elements);
    if (padded > end)
      code.main.push_back(instruction(Opcode::Move, ElementType::U8, {padded - end},
                                      memory(at.buffer, at.baseBytes + end, {1}), immediate(0)));
  }

  void strided(const Selection &selection, Place from, Place to) {
    std::vector<int64_t> extents, toStrides, fromStrides;
    int64_t packed = bytes;
    for (const Selection::Digit &digit : selection.digits)
      packed *= digit.count;
    for (const Selection::Digit &digit : selection.digits) {
      packed /= digit.count;
      extents.push_back(digit.count);
      toStrides.push_back(packed);
      fromStrides.push_back(digit.stride * bytes);
    }
    if (extents.empty()) { // one element
      extents = {1};
      toStrides = fromStrides = {bytes};
    }
    Operand source = memory(from.buffer, from.baseBytes + selection.base * bytes, fromStrides);
    source.base.perDim[kRowDim] = selection.baseRow * bytes;
    source.base.perDim[kColDim] = selection.baseCol * bytes;
    code.main.push_back(
        instruction(Opcode::Move, problem.type, extents, memory(to.buffer, to.baseBytes, toStrides), source));
  }

  void indexed(const Selection &selection, Place from, Place to) {
    std::vector<std::byte> numbers(selection.indices.size() * sizeof(int32_t));
    std::memcpy(numbers.data(), selection.indices.data(), numbers.size());
    const int16_t indices = makeConstant("places", ElementType::I32, problem.rectangle.rows, problem.rectangle.cols,
                                         selection.inner, std::move(numbers));
    code.bounded.insert(from.buffer);
    const bool masked = !selection.masks.empty();
    const Place gathered = masked ? Place{code.scratch("gathered", problem.type, selection.width), 0} : to;
    code.main.push_back(instruction(Opcode::Gather, problem.type, {selection.outer, selection.inner},
                                    memory(gathered.buffer, gathered.baseBytes, {selection.inner * bytes, bytes}),
                                    memory(from.buffer, from.baseBytes, {selection.outerStride * bytes, bytes}),
                                    memory(indices, 0, {0, 4})));
    if (!masked)
      return;
    std::vector<std::byte> ones(selection.masks.size() * size_t(bytes));
    const uint64_t one = onePattern(problem.type);
    for (size_t i = 0; i < selection.masks.size(); ++i)
      if (selection.masks[i])
        std::memcpy(&ones[i * size_t(bytes)], &one, size_t(bytes));
    const int16_t mask = makeConstant("inside", problem.type, problem.rectangle.rows, problem.rectangle.cols,
                                       selection.inner, std::move(ones));
    fill(to, selection.width);
    code.main.push_back(instruction(Opcode::Select, problem.type, {selection.outer, selection.inner},
                                    memory(to.buffer, to.baseBytes, {selection.inner * bytes, bytes}),
                                    memory(gathered.buffer, gathered.baseBytes, {selection.inner * bytes, bytes}),
                                    memory(mask, 0, {0, bytes})));
  }

  Code &code;
  const MoveProblem &problem;
  const ConstantMaker &makeConstant;
  const int64_t bytes;
};

} // namespace

Place emitMove(Code &code, const MoveProblem &problem, const MovePlan &plan, const std::vector<Place> &sources,
               const ConstantMaker &makeConstant) {
  if (plan.stages.empty())
    return sources[0];
  MoveWriter writer(code, problem, makeConstant);
  std::vector<Place> inputs = sources;
  std::vector<int64_t> locals;
  for (const MoveSource &source : problem.sources)
    locals.push_back(source.sharding.localElements());
  for (const MoveStage &stage : plan.stages) {
    const Place result = writer.stage(stage, inputs, locals, plan.clears && &stage == &plan.stages.back());
    inputs = {result};
    locals = {stage.selection.width};
  }
  return inputs[0];
}

Place emitMove(Code &code, const MoveProblem &problem, const std::vector<MovePart> &parts,
               const std::vector<Place> &sources, const Rectangle &wanting, const ConstantMaker &makeConstant) {
  if (parts.size() == 1)
    return emitMove(code, problem, parts[0].plan, sources, makeConstant);
  const int64_t bytes = elementBytes(problem.type);
  const Place result{wordScratch(code, "moved", problem.type, problem.width), 0};
  for (const MovePart &part : parts) {
    const Place place = emitMove(code, partOf(problem, part.begin, part.width), part.plan, sources, makeConstant);
    code.append(instruction(Opcode::Move, problem.type, {part.width},
                            memory(result.buffer, part.begin * bytes, {bytes}),
                            memory(place.buffer, place.baseBytes, {bytes})),
                guardOf(wanting, problem.rectangle));
  }
  return result;
}

} // namespace wsc::spmd
