// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/moves/EmitPick.h"

#include "compiler/spmd/collectives/GroupReduce.h"

#include <algorithm>
#include <cstring>

namespace wsc::spmd {

using namespace format;

namespace {

constexpr int32_t kNowhere = -(1 << 30); // a number that is clamped to the zeros in front of every block

class PickWriter {
public:
  PickWriter(Code &code, const MoveProblem &problem, const FactoredStage &stage, const ConstantMaker &makeConstant)
      : code(code), problem(problem), stage(stage), line(stage.line), makeConstant(makeConstant), axis(stage.axis),
        bytes(elementBytes(problem.type)), length(problem.rectangle.count(axis)),
        picked(line.blocks * line.entryElements) {
    // Of an entry's elements, which lie a little apart, each is read from an origin of its own: there must be zeros.
    for (const BlockCopy::Loop &loop : stage.entry)
      zeros += (loop.count - 1) * loop.fromStride;
    const Axis across = other(axis);
    const int32_t begin = std::max(stage.givers.first(across), stage.takers.first(across));
    const int32_t end = std::min(stage.givers.first(across) + stage.givers.count(across),
                                 stage.takers.first(across) + stage.takers.count(across));
    lines = narrowed({}, across, begin, end);
  }

  Place write(Place source) {
    const Place to{wordScratch(code, "picked", problem.type, picked + stage.slack), 0};
    const int32_t giverBegin = stage.givers.first(axis), giverEnd = giverBegin + stage.givers.count(axis);
    gather(source, to, giverBegin, giverEnd);
    const int64_t elements = wordBytes(problem.type, picked) / bytes;
    for (const auto &[begin, end] : {std::pair(0, giverBegin), std::pair(giverEnd, line.units)})
      if (begin < end)
        fill(to, elements, 0, narrowed(lines, axis, begin, end));
    if (elements > picked)
      fill({to.buffer, picked * bytes}, elements - picked, 0, narrowed(lines, axis, giverBegin, giverEnd));
    emitGroupAllReduce(code, {axis, length, line.segment, line.units / line.segment, lines}, Opcode::Or,
                       ElementType::I32, elements * bytes / 4, to, to);
    if (stage.slack > 0)
      fill({to.buffer, picked * bytes}, stage.slack, problem.fill, lines);
    return to;
  }

private:
  void fill(Place at, int64_t elements, double value, const Guard &guard) {
    if (elements > 0)
      code.append(instruction(Opcode::Move, problem.type, {elements}, memory(at.buffer, at.baseBytes, {bytes}),
                              immediate(value)),
                  guard);
  }

  /// Per line the numbers of its entries in the blocks of a segment, and per core where its own block begins.
  int16_t numbersOfLines() {
    const bool byRow = axis == Axis::Row;
    const size_t count = size_t(line.blocks), numLines = stage.pickClass.size();
    std::vector<int32_t> numbers(numLines * count, kNowhere);
    for (size_t l = 0; l < numLines; ++l)
      if (const int32_t c = stage.pickClass[l]; c >= 0)
        std::copy(line.picks[size_t(c)].begin(), line.picks[size_t(c)].end(), numbers.begin() + int64_t(l * count));
    return constant("picks", byRow ? int32_t(numLines) : 1, byRow ? 1 : int32_t(numLines), line.blocks, numbers);
  }
  int16_t beginsOfBlocks() {
    const bool byRow = axis == Axis::Row;
    std::vector<int32_t> begins;
    for (int32_t k = 0; k < length; ++k)
      begins.push_back(int32_t(k % line.segment * stage.blockElements - zeros));
    return constant("begins", byRow ? 1 : length, byRow ? length : 1, 1, begins);
  }
  int16_t constant(const char *name, int32_t rows, int32_t cols, int64_t count, const std::vector<int32_t> &numbers) {
    std::vector<std::byte> data(numbers.size() * sizeof(int32_t));
    std::memcpy(data.data(), numbers.data(), data.size());
    return makeConstant(name, ElementType::I32, rows, cols, count, std::move(data));
  }

  void gather(Place source, Place to, int32_t giverBegin, int32_t giverEnd) {
    const Guard givers = narrowed(lines, axis, giverBegin, giverEnd);
    const Place own{wordScratch(code, "own block", problem.type, zeros + stage.blockElements + 1), 0};
    // Numbers beyond the end mean the last element of the buffer: all that is behind the block is zeros.
    const int64_t behind = (zeros + stage.blockElements) * bytes;
    code.clamped.insert(own.buffer);
    fill(own, zeros, 0, givers);
    code.append(instruction(Opcode::Move, problem.type, {stage.blockElements},
                            memory(own.buffer, zeros * bytes, {bytes}),
                            memory(source.buffer, source.baseBytes, {bytes})),
                givers);
    fill({own.buffer, behind}, wordBytes(problem.type, zeros + stage.blockElements + 1) / bytes - behind / bytes, 0,
         givers);
    const int16_t numbers = code.scratch("numbers", ElementType::I32, line.blocks);
    code.append(instruction(Opcode::Sub, ElementType::I32, {line.blocks}, memory(numbers, 0, {4}),
                            memory(numbersOfLines(), 0, {4}), memory(beginsOfBlocks(), 0, {0})),
                givers);
    gatherEntries(0, own.buffer, 0, to.buffer, 0, numbers, givers);
  }

  /// Loops beyond those that a descriptor can walk are written out.
  void gatherEntries(size_t begin, int16_t from, int64_t fromAt, int16_t to, int64_t toAt, int16_t numbers,
                     const Guard &guard) {
    if (stage.entry.size() - begin >= size_t(kMaxDims)) {
      const BlockCopy::Loop &outer = stage.entry[begin];
      for (int64_t i = 0; i < outer.count; ++i)
        gatherEntries(begin + 1, from, fromAt + i * outer.fromStride * bytes, to, toAt + i * outer.toStride * bytes,
                      numbers, guard);
      return;
    }
    std::vector<int64_t> extents, fromStrides, toStrides, numberStrides;
    for (size_t l = begin; l < stage.entry.size(); ++l) {
      extents.push_back(stage.entry[l].count);
      fromStrides.push_back(stage.entry[l].fromStride * bytes);
      toStrides.push_back(stage.entry[l].toStride * bytes);
      numberStrides.push_back(0);
    }
    extents.push_back(line.blocks);
    fromStrides.push_back(bytes);
    toStrides.push_back(line.entryElements * bytes);
    numberStrides.push_back(4);
    code.append(instruction(Opcode::Gather, problem.type, extents, memory(to, toAt, toStrides),
                            memory(from, fromAt, fromStrides), memory(numbers, 0, numberStrides)),
                guard);
  }

  Code &code;
  const MoveProblem &problem;
  const FactoredStage &stage;
  const LinePlan &line;
  const ConstantMaker &makeConstant;
  const Axis axis;
  const int64_t bytes;
  const int32_t length;
  const int64_t picked; // elements
  int64_t zeros = 1;    // elements in front of a block
  Guard lines;
};

} // namespace

Place emitPick(Code &code, const MoveProblem &problem, const FactoredStage &stage, Place source,
               const ConstantMaker &makeConstant) {
  return PickWriter(code, problem, stage, makeConstant).write(source);
}

} // namespace wsc::spmd
