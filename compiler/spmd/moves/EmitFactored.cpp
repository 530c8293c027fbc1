// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/moves/EmitFactored.h"

#include "compiler/spmd/collectives/LineBus.h"
#include "compiler/spmd/collectives/SegmentGather.h"
#include "compiler/spmd/collectives/SegmentShift.h"
#include "compiler/spmd/collectives/Words.h"
#include "compiler/spmd/moves/EmitPick.h"
#include "compiler/spmd/moves/WindowReads.h"

#include <algorithm>
#include <cstring>

namespace wsc::spmd {

using namespace format;

namespace {

class FactoredWriter {
public:
  FactoredWriter(Code &code, const MoveProblem &problem, const ConstantMaker &makeConstant)
      : code(code), problem(problem), makeConstant(makeConstant), bytes(elementBytes(problem.type)) {}

  /// `fills`: the result is filled before anything comes to it. That, and what else cores do by themselves before their
  /// line brings anything, comes behind what they give to others, who wait for it.
  Place write(const FactoredStage &stage, bool isLast, bool fills, Place source, Place result) {
    const Place to = isLast ? result : Place{wordScratch(code, "between", problem.type, stage.resultElements), 0};
    const Place blocks = brought(stage, source, [&] {
      if (!isLast && (stage.fillsResult || problem.pieces.size() > 1))
        fill(to, stage.resultElements, guardOf(stage.takers, problem.rectangle));
      if (fills)
        fill(result, problem.target->localElements(), guardOf(problem.target->rectangle, problem.rectangle));
    });
    copy(stage, stage.copy, blocks, to);
    for (const BlockCopy &other : stage.otherCopies)
      copy(stage, other, blocks, to);
    if (!isLast)
      padToWord(to, stage.resultElements);
    return to;
  }

  void fill(Place at, int64_t elements, const Guard &guard) {
    code.append(instruction(Opcode::Move, problem.type, {elements}, memory(at.buffer, at.baseBytes, {bytes}),
                            immediate(problem.fill)),
                guard);
  }
  /// The bytes between the last element and the end of its word are sent too, so they are written.
  void padToWord(Place at, int64_t elements) {
    const int64_t end = elements * bytes, padded = wordBytes(problem.type, elements);
    if (padded > end)
      code.append(instruction(Opcode::Move, ElementType::U8, {padded - end}, memory(at.buffer, at.baseBytes + end, {1}),
                              immediate(0)),
                  {});
  }

private:
  Place brought(const FactoredStage &stage, Place source, const std::function<void()> &meanwhile) {
    switch (stage.line.kind) {
    case LinePlan::Kind::Local:
      meanwhile();
      return stage.slack > 0 ? widened(stage, source) : source;
    case LinePlan::Kind::Pick:
      meanwhile();
      return emitPick(code, problem, stage, source, makeConstant);
    default:
      return gather(stage, source, meanwhile);
    }
  }

  Guard linesGuard(Axis axis, int32_t lineBegin, int32_t lineEnd, int64_t begin, int64_t end) const {
    return narrowed(narrowed({}, other(axis), lineBegin, lineEnd), axis, begin, end);
  }

  /// A copy of what a core holds, with room behind it.
  Place widened(const FactoredStage &stage, Place source) {
    const Guard guard = guardOf(stage.takers, problem.rectangle);
    const Place wide{wordScratch(code, "wide", problem.type, stage.blockElements + stage.slack), 0};
    code.append(instruction(Opcode::Move, problem.type, {stage.blockElements}, memory(wide.buffer, 0, {bytes}),
                            memory(source.buffer, source.baseBytes, {bytes})),
                guard);
    fill({wide.buffer, stage.blockElements * bytes}, stage.slack, guard);
    return wide;
  }

  /// The blocks of the stage's line, in a buffer of their own.
  Place gather(const FactoredStage &stage, Place source, const std::function<void()> &meanwhile) {
    const LinePlan &line = stage.line;
    const Axis axis = stage.axis;
    const int64_t elements = line.blocks * stage.pitch;
    const Place blocks{wordScratch(code, "blocks", problem.type, elements + stage.slack), 0};
    const auto fillsSlack = [&] {
      meanwhile();
      if (stage.slack > 0)
        fill({blocks.buffer, elements * bytes}, stage.slack, guardOf(stage.takers, problem.rectangle));
    };
    const int64_t pitchBytes = stage.pitch * bytes, words = pitchBytes / 4;
    const int32_t length = problem.rectangle.count(axis);
    const int32_t lineBegin = std::max(stage.givers.first(other(axis)), stage.takers.first(other(axis)));
    const int32_t lineEnd = std::min(stage.givers.first(other(axis)) + stage.givers.count(other(axis)),
                                     stage.takers.first(other(axis)) + stage.takers.count(other(axis)));
    if (line.kind == LinePlan::Kind::Bus) {
      LineBus bus;
      bus.begin = line.begin;
      bus.unit = line.unit;
      bus.units = line.units;
      bus.segment = line.segment;
      bus.takerBegin = stage.takers.first(axis);
      bus.takerEnd = bus.takerBegin + stage.takers.count(axis);
      bus.lineBegin = lineBegin;
      bus.lineEnd = lineEnd;
      bus.words = words;
      bus.pitchBytes = pitchBytes;
      bus.blocks = line.blocks;
      bus.firstBase = stage.firstBlockBase;
      bus.first = stage.firstBlock;
      fillsSlack();
      emitLineBus(code, axis, length, bus, source, blocks);
      return blocks;
    }
    if (line.kind == LinePlan::Kind::Gather) {
      SegmentGather all;
      all.unit = line.unit;
      all.segment = line.segment;
      all.units = line.units;
      all.lineBegin = lineBegin;
      all.lineEnd = lineEnd;
      SegmentGather::Direction &forward = all.forward;
      forward.words = words;
      forward.source = memory(source.buffer, source.baseBytes, {4});
      forward.extent[kMaxDims - 1] = Affine(words);
      forward.pitchBytes = pitchBytes;
      all.backward = forward;
      forward.own = {.countPerPosition = 1};
      all.backward.own = {
          .count = line.segment - 1, .countPerPosition = -1, .place = pitchBytes, .placePerPosition = pitchBytes};
      emitSegmentGathers(code, axis, length, {&all, 1}, blocks, [&] {
        fillsSlack();
        emitOwnBlocks(code, axis, length, all, blocks);
      });
      return blocks;
    }
    const int32_t cores = line.units * line.unit, before = line.reachBefore, behind = line.reachBehind;
    const int32_t own = line.ownBlock();
    const auto prepares = [&] {
      fillsSlack();
      // Blocks from beyond the line's ends hold the fill.
      const int64_t low = own * stage.pitch, high = (line.blocks - own - 1) * stage.pitch;
      if (before > 0)
        fill(blocks, low, linesGuard(axis, lineBegin, lineEnd, 0, before * line.unit));
      if (behind > 0)
        fill({blocks.buffer, (own + 1) * pitchBytes}, high,
             linesGuard(axis, lineBegin, lineEnd, std::max(0, cores - behind * line.unit), cores));
      if (const int64_t end = stage.takers.first(axis) + stage.takers.count(axis); cores < end)
        fill(blocks, elements, linesGuard(axis, lineBegin, lineEnd, cores, end));
      code.append(moveWords(memory(blocks.buffer, own * pitchBytes, {4}), memory(source.buffer, source.baseBytes, {4}),
                            Affine(words)),
                  linesGuard(axis, lineBegin, lineEnd, 0, cores));
    };
    if (line.isShift) {
      SegmentShift shift;
      shift.segment = std::max(before, behind);
      shift.units = line.units;
      shift.lineBegin = lineBegin;
      shift.lineEnd = lineEnd;
      if (before > 0)
        shift.forward = shifted(stage, source, 0);
      if (behind > 0)
        shift.backward = shifted(stage, source, own + 1);
      emitSegmentShift(code, axis, shift, blocks, prepares);
      return blocks;
    }
    SegmentGather window;
    window.unit = line.unit;
    window.units = line.units;
    window.overlap = true;
    window.lineBegin = lineBegin;
    window.lineEnd = lineEnd;
    std::vector<SegmentGather> sides;
    if (before > 0) {
      SegmentGather &forward = sides.emplace_back(window);
      forward.segment = before;
      forward.forward = direction(stage, source, 0, before);
      const int64_t base = wordsRead(stage, bytes, 0, before).base * 4;
      forward.forward.own = {0, 0, 0, 1, before * pitchBytes + base, -pitchBytes};
      forward.forward.other = {0, 1, before, -1, base, 0};
    }
    if (behind > 0) {
      SegmentGather &backward = sides.emplace_back(window);
      backward.segment = behind;
      backward.backward = direction(stage, source, before + 1, before + 1 + behind);
      const int64_t base = wordsRead(stage, bytes, before + 1, before + 1 + behind).base * 4;
      backward.backward.own = {0, 0, behind - 1, -1, (before + 1) * pitchBytes + base, 0};
      backward.backward.other = {0, 0, 1, 1, (before + behind) * pitchBytes + base, -pitchBytes};
    }
    emitSegmentGathers(code, axis, length, sides, blocks, prepares);
    return blocks;
  }

  /// What a core gives to those that have it as one of the blocks [begin, end) of their windows.
  SegmentGather::Direction direction(const FactoredStage &stage, Place source, int64_t begin, int64_t end) const {
    const BlockPart part = wordsRead(stage, bytes, begin, end);
    SegmentGather::Direction made;
    made.words = part.words();
    made.pitchBytes = stage.pitch * bytes;
    std::vector<int64_t> strides;
    for (size_t d = 0; d < part.digits.size(); ++d) {
      made.extent[size_t(kMaxDims) - part.digits.size() + d] = Affine(part.digits[d].count);
      strides.push_back(part.digits[d].stride * 4);
      if (part.digits.size() > 1 || part.digits[d].stride > 1)
        made.scatter.emplace_back(part.digits[d].count, part.digits[d].stride * 4);
    }
    made.source = memory(source.buffer, source.baseBytes + part.base * 4, strides);
    return made;
  }

  /// What a core gives to the one that has it as this block of its window.
  SegmentShift::Direction shifted(const FactoredStage &stage, Place source, int64_t block) const {
    const SegmentGather::Direction part = direction(stage, source, block, block + 1);
    return {part.words,
            part.source,
            part.extent,
            part.type,
            block * part.pitchBytes + wordsRead(stage, bytes, block, block + 1).base * 4,
            part.scatter};
  }

  void copy(const FactoredStage &stage, const BlockCopy &form, Place blocks, Place to) {
    if (std::any_of(form.loops.begin(), form.loops.end(), [](const BlockCopy::Loop &loop) { return loop.count == 0; }))
      return;
    Guard guard = guardOf(stage.takers, problem.rectangle);
    Affine base(blocks.baseBytes + form.from.constant * bytes);
    AxisGuard cols = along(guard, Axis::Row), rows = along(guard, Axis::Col);
    addNumber(Axis::Row, form.from.col, bytes, base, cols);
    addNumber(Axis::Col, form.from.row, bytes, base, rows);
    keepTo(form.cols, cols);
    keepTo(form.rows, rows);
    guard = withAlong(withAlong(guard, Axis::Row, cols), Axis::Col, rows);
    Tables tables;
    if (form.table)
      tables = makeTables(*form.table, form.masksPadding, blocks);
    emitLoops(form.loops, 0, blocks.buffer, base, to.buffer, to.baseBytes + form.to * bytes,
              form.table ? &tables : nullptr, guard);
    for (const BlockCopy::Patch &patch : form.patches)
      fillLoops(patch.loops, 0, {to.buffer, to.baseBytes + patch.to * bytes},
                narrowed(guardOf(stage.takers, problem.rectangle), patch.axis, patch.begin, patch.end));
  }

  /// Loops beyond those that a descriptor can walk are written out.
  void fillLoops(const std::vector<BlockCopy::Loop> &loops, size_t begin, Place at, const Guard &guard) {
    if (loops.size() - begin > size_t(kMaxDims)) {
      for (int64_t i = 0; i < loops[begin].count; ++i)
        fillLoops(loops, begin + 1, {at.buffer, at.baseBytes + i * loops[begin].toStride * bytes}, guard);
      return;
    }
    std::vector<int64_t> extents, strides;
    for (size_t l = begin; l < loops.size(); ++l) {
      extents.push_back(loops[l].count);
      strides.push_back(loops[l].toStride * bytes);
    }
    if (extents.empty()) {
      extents = {1};
      strides = {bytes};
    }
    code.append(instruction(Opcode::Move, problem.type, extents, memory(at.buffer, at.baseBytes, strides),
                            immediate(problem.fill)),
                guard);
  }

  static void keepTo(const BlockCopy::Remainders &remainders, AxisGuard &part) {
    if (remainders.areAll())
      return;
    part.modulus = kWholeAxis;
    part.unit = remainders.modulus;
    part.placeBegin = remainders.begin;
    part.placeEnd = remainders.end;
  }

  struct Tables {
    int16_t places = -1, inside = -1;
  };

  Tables makeTables(const CopyTable &table, bool masksPadding, Place blocks) {
    Tables tables;
    const std::vector<int32_t> positions = table.numbers();
    std::vector<std::byte> numbers(positions.size() * sizeof(int32_t));
    std::memcpy(numbers.data(), positions.data(), numbers.size());
    tables.places =
        makeConstant("places", ElementType::I32, table.rows(), table.cols(), table.length(), std::move(numbers));
    code.bounded.insert(blocks.buffer);
    if (!masksPadding)
      return tables;
    const std::vector<uint8_t> inside = table.inside();
    std::vector<std::byte> ones(inside.size() * size_t(bytes));
    const uint64_t one = onePattern(problem.type);
    for (size_t i = 0; i < inside.size(); ++i)
      if (inside[i])
        std::memcpy(&ones[i * size_t(bytes)], &one, size_t(bytes));
    tables.inside = makeConstant("inside", problem.type, table.rows(), table.cols(), table.length(), std::move(ones));
    return tables;
  }

  /// Loops beyond those that a descriptor can walk are written out.
  void emitLoops(const std::vector<BlockCopy::Loop> &loops, size_t begin, int16_t fromBuffer, Affine from,
                 int16_t toBuffer, int64_t to, const Tables *tables, const Guard &guard) {
    if (loops.size() - begin > size_t(kMaxDims)) {
      const BlockCopy::Loop &outer = loops[begin];
      for (int64_t i = 0; i < outer.count; ++i) {
        emitLoops(loops, begin + 1, fromBuffer, from, toBuffer, to, tables, guard);
        from.constant += outer.fromStride * bytes;
        to += outer.toStride * bytes;
      }
      return;
    }
    std::vector<int64_t> extents, fromStrides, toStrides, tableStrides, maskStrides;
    for (size_t l = begin; l < loops.size(); ++l) {
      extents.push_back(loops[l].count);
      fromStrides.push_back(loops[l].fromStride * bytes);
      toStrides.push_back(loops[l].toStride * bytes);
      tableStrides.push_back(loops[l].tableStride * 4);
      maskStrides.push_back(loops[l].tableStride * bytes);
    }
    if (extents.empty()) {
      extents = {1};
      fromStrides = toStrides = {bytes};
      tableStrides = {4};
    }
    if (tables)
      fromStrides.back() = bytes; // between consecutive numbers
    Operand source = memory(fromBuffer, 0, fromStrides);
    source.base = from;
    const Operand result = memory(toBuffer, to, toStrides);
    if (!tables) {
      code.append(instruction(Opcode::Move, problem.type, extents, result, source), guard);
      return;
    }
    const Operand places = memory(tables->places, 0, tableStrides);
    if (tables->inside < 0) {
      code.append(instruction(Opcode::Gather, problem.type, extents, result, source, places), guard);
      return;
    }
    // Select keeps the destination where the mask is 0: the fill, or what other pieces bring.
    int64_t elements = 1;
    for (int64_t extent : extents)
      elements *= extent;
    const Place gathered{code.scratch("gathered", problem.type, elements), 0};
    std::vector<int64_t> packed(extents.size(), bytes);
    for (size_t d = extents.size(); d-- > 1;)
      packed[d - 1] = packed[d] * extents[d];
    code.append(instruction(Opcode::Gather, problem.type, extents, memory(gathered.buffer, 0, packed), source, places),
                guard);
    if (problem.pieces.size() == 1)
      code.append(instruction(Opcode::Move, problem.type, extents, result, immediate(problem.fill)), guard);
    code.append(instruction(Opcode::Select, problem.type, extents, result, memory(gathered.buffer, 0, packed),
                            memory(tables->inside, 0, maskStrides)),
                guard);
  }

  Code &code;
  const MoveProblem &problem;
  const ConstantMaker makeConstant;
  const int64_t bytes;
};

} // namespace

Place beginFactored(Code &code, const MoveProblem &problem) {
  return {wordScratch(code, "moved", problem.type, problem.target->localElements()), 0};
}

bool fillsResult(const MoveProblem &problem, const std::vector<FactoredMove> &moves) {
  if (moves.size() == 1)
    return moves[0].stages.back().fillsResult;
  // Pieces that are the whole tensor leave nothing out, unless they select what they leave alone.
  int64_t elements = 0;
  for (const StridedPiece &piece : problem.pieces) {
    int64_t ofPiece = 1;
    for (const Piece::Digit &digit : piece.digits)
      ofPiece *= digit.extent;
    elements += ofPiece;
  }
  return elements < problem.target->elements() || hasPadding(*problem.target) ||
         std::any_of(
             moves.begin(), moves.end(), [](const FactoredMove &move) { return move.stages.back().copy.masksPadding; });
}

Place emitStage(Code &code, const MoveProblem &problem, const FactoredStage &stage, bool isLast, bool fills,
                Place source, Place result, const ConstantMaker &makeConstant) {
  return FactoredWriter(code, problem, makeConstant).write(stage, isLast, fills, source, result);
}

void endFactored(Code &code, const MoveProblem &problem, Place result) {
  FactoredWriter(code, problem, {}).padToWord(result, problem.target->localElements());
}

Place emitFactored(Code &code, const MoveProblem &problem, const std::vector<FactoredMove> &moves,
                   const std::vector<Place> &sources, const ConstantMaker &makeConstant) {
  const Place result = beginFactored(code, problem);
  for (size_t i = 0; i < moves.size(); ++i) {
    Place at = sources[size_t(problem.pieces[i].source)];
    for (const FactoredStage &stage : moves[i].stages) {
      const bool isLast = &stage == &moves[i].stages.back();
      at = emitStage(code, problem, stage, isLast, i == 0 && isLast && fillsResult(problem, moves), at, result,
                     makeConstant);
    }
  }
  endFactored(code, problem, result);
  return result;
}

} // namespace wsc::spmd
