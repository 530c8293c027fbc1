// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Only stretches without loops are looked at, and operations that all cores do alike (WaveOp::plain). Which bytes of
// scratch an operation touches and which matter behind it are LiveScratch.h's.
#include "runtime/emulator/WaveFusion.h"

#include "runtime/emulator/QueueTraffic.h"
#include "runtime/format/Bounds.h"

#include <algorithm>
#include <array>

namespace wsc::emulator {

using namespace format;

namespace {

bool meet(const std::vector<ScratchRange> &ranges, const ScratchRange &range) {
  return std::ranges::any_of(ranges, [&](const ScratchRange &other) {
    return other.begin < range.begin + range.bytes && range.begin < other.begin + other.bytes;
  });
}

class Fuser {
public:
  explicit Fuser(WaveRole &role)
      : role(role), ops(role.threads[0]), thread(role.program->threads[0]),
        touched(touchedScratch(*role.program, thread, role.bufferOffset, role.scratchBytes)),
        live(liveScratch(*role.program, thread, role.bufferOffset, role.scratchBytes)) {}

  void run() {
    for (size_t pc = 0; pc < ops.size(); ++pc)
      if (ops[pc].plain && thread[pc].kind == DecodedOp::Kind::Nest)
        fuseNest(pc);
      else if (ops[pc].plain && thread[pc].kind == DecodedOp::Kind::Row)
        fuseRow(pc);
  }

private:
  static bool isLoop(const WaveOp &op) {
    return op.kind == WaveOp::Kind::LoopBegin || op.kind == WaveOp::Kind::LoopEnd;
  }
  bool isDead(size_t pc, const ScratchRange &range) const { return pc >= live.size() || !meet(live[pc], range); }

  // An operand of `bytes` bytes one behind the other at the same place of scratch on all cores; none: bytes is 0.
  ScratchRange rangeOf(const OperandPlace &place, int64_t bytes) const {
    if (place.kind != OperandKind::Memory || place.affine || place.looped || bufferBegin(place) < 0)
      return {};
    return {int32_t(bufferBegin(place) + place.base), int32_t(bytes)};
  }
  // Where the operand's buffer lies in scratch; -1: it is not there.
  int64_t bufferBegin(const OperandPlace &place) const {
    return role.role->buffers[size_t(place.slot)].kind == BufferKind::Scratch ? role.bufferOffset[size_t(place.slot)]
                                                                              : -1;
  }

  // A row of packed elements that one kernel does.
  const ShapeVariant *packedRow(size_t pc) const {
    const DecodedOp &op = thread[pc];
    if (!ops[pc].plain || op.kind != DecodedOp::Kind::Row)
      return nullptr;
    const ShapeVariant &variant = role.program->shapes[size_t(op.shape)];
    return variant.single && !op.row.toBool ? &variant : nullptr;
  }

  // All bytes that an operand is read or written at, on any core.
  ScratchRange hullOf(const DecodedOp &nest, const OperandPlace &place, const Operand &operand) const {
    if (place.kind != OperandKind::Memory || place.looped || bufferBegin(place) < 0)
      return {};
    const Interval first = place.affine ? rangeOver(operand.base, role.role->cores) : Interval{place.base, place.base};
    int64_t low = bufferBegin(place) + int64_t(first.least),
            high = bufferBegin(place) + int64_t(first.most) + elementBytes(operandTypeOf(nest, operand));
    const auto walk = [&](int64_t count, int64_t step) { (step < 0 ? low : high) += (count - 1) * step; };
    for (int d = 0; d < kMaxDims; ++d)
      walk(nest.instruction->extent[size_t(d)].constant, operand.stride[size_t(d)]);
    for (size_t k = 0; k < nest.nestLoops.size(); ++k)
      walk(nest.nestLoops[k]->extent[0].constant, operand.loopStep[size_t(nest.depth) + k]);
    return {int32_t(low), int32_t(high - low)};
  }
  static ElementType operandTypeOf(const DecodedOp &op, const Operand &operand) {
    const Instruction &instruction = *op.instruction;
    return &operand == &instruction.a   ? operandType(instruction, OperandSlot::A)
           : &operand == &instruction.b ? operandType(instruction, OperandSlot::B)
                                        : instruction.type;
  }

  bool touchBetween(size_t begin, size_t end, const ScratchRange &range) const {
    for (size_t pc = begin; pc < end; ++pc)
      if (meet(touched[pc], range))
        return true;
    return false;
  }

  // A group holds words for one source 0 and one source 1 at a time.
  bool holdsBetween(size_t begin, size_t end, int k) const {
    return std::any_of(ops.begin() + int64_t(begin), ops.begin() + int64_t(end),
                       [k](const WaveOp &op) { return op.wordsFor == k || op.wordsOf[k] >= 0; });
  }

  void fuseRow(size_t pc) {
    const DecodedOp &op = thread[pc];
    if (op.row.kind != RowOp::Kind::Compute && op.row.kind != RowOp::Kind::Copy)
      return;
    const Instruction &instruction = *op.instruction;
    sources = {hullOf(op, op.a, instruction.a), op.row.usesB ? hullOf(op, op.b, instruction.b) : ScratchRange()};
    accumulators = hullOf(op, op.dst, instruction.dst);
    findWords(pc, 0);
    findWords(pc, 1);
  }
  void fuseNest(size_t nest) {
    const DecodedOp &op = thread[nest];
    const Instruction &instruction = *op.instruction;
    sources = {hullOf(op, op.a, instruction.a), ScratchRange()};
    if (op.b.kind == OperandKind::Memory)
      sources[1] = hullOf(op, op.b, instruction.b);
    accumulators = hullOf(op, op.dst, instruction.dst);
    if (accumulators.bytes > 0 && rangeOf(op.dst, 4).begin == accumulators.begin) {
      findZeros(nest);
      findSum(nest);
    }
    findWords(nest, 0);
    findWords(nest, 1);
  }
  // Whether a row of `bytes` bytes is the nest's accumulators, all of them and nothing else.
  bool isAccumulators(size_t nest, const ScratchRange &row) const {
    return row.bytes > 0 && row == accumulators &&
           fillsRow(role.program->plans[size_t(thread[nest].plan)].plan, row.bytes / 4);
  }

  void findZeros(size_t nest) {
    for (size_t pc = nest; pc-- > 0 && !isLoop(ops[pc]);) {
      if (!meet(touched[pc], accumulators))
        continue;
      const ShapeVariant *row = packedRow(pc);
      if (row && thread[pc].row.kind == RowOp::Kind::Copy && thread[pc].a.kind == OperandKind::Immediate &&
          thread[pc].a.immediate == 0 && thread[pc].row.bytes[0] == 4 &&
          isAccumulators(nest, rangeOf(thread[pc].dst, row->shape.elements * 4))) {
        ops[pc].leftOut = true;
        ops[nest].zeros = int32_t(pc);
      }
      return;
    }
  }

  // The next operation sends the accumulators, or sends or keeps words plus them; nobody reads them after it.
  void findSum(size_t nest) {
    const size_t pc = nest + 1;
    const ShapeVariant *row = pc < ops.size() ? packedRow(pc) : nullptr;
    if (row && thread[pc].row.kind == RowOp::Kind::Copy && thread[pc].row.bytes[0] == 4 && ops[pc].inputs == 0 &&
        thread[pc].dst.kind == OperandKind::Queue && row->shape.stride[1][3] == 4 &&
        isAccumulators(nest, rangeOf(thread[pc].a, row->shape.elements * 4))) {
      ops[nest].addsNext = isDead(pc + 1, accumulators);
      return;
    }
    if (!row || thread[pc].instruction->opcode != Opcode::Add || thread[pc].instruction->type != ElementType::F32 ||
        ops[pc].inputs != 1 || row->shape.stride[1][3] != 4 || row->shape.stride[2][3] != 4)
      return;
    const int64_t bytes = row->shape.elements * 4;
    const bool wordsFirst = thread[pc].a.kind == OperandKind::Queue;
    if (!isAccumulators(nest, rangeOf(wordsFirst ? thread[pc].b : thread[pc].a, bytes)))
      return;
    if (thread[pc].dst.kind == OperandKind::Queue) {
      ops[nest].addsNext = isDead(pc + 1, accumulators);
      return;
    }
    const ScratchRange result = rangeOf(thread[pc].dst, bytes);
    const std::vector<ScratchRange> others{accumulators, sources[0], sources[1]};
    ops[nest].addsNext =
        result.bytes > 0 && (result == accumulators || (!meet(others, result) && isDead(pc + 1, accumulators)));
  }

  // Words that only source `k` of the operation reads, copied to scratch before it.
  void findWords(size_t nest, int k) {
    const ScratchRange &read = sources[size_t(k)];
    if (read.bytes == 0)
      return;
    for (size_t pc = nest; pc-- > 0 && !isLoop(ops[pc]);) {
      if (!meet(touched[pc], read))
        continue;
      const ShapeVariant *row = packedRow(pc);
      const int64_t bytes = row ? row->shape.elements * thread[pc].row.bytes[0] : 0;
      if (!row || thread[pc].row.kind != RowOp::Kind::Copy || thread[pc].a.kind != OperandKind::Queue ||
          bytes % 4 != 0 || ops[pc].wordsFor >= 0)
        return;
      const ScratchRange copied = rangeOf(thread[pc].dst, bytes);
      if (copied.bytes == 0 || copied.begin > read.begin || copied.begin + copied.bytes < read.begin + read.bytes ||
          touchBetween(pc + 1, nest, copied) || holdsBetween(pc + 1, nest, k) ||
          meet({accumulators, sources[size_t(1 - k)]}, copied) || !isDead(nest + 1, copied))
        return;
      ops[pc].wordsFor = int8_t(k);
      ops[nest].wordsOf[k] = int32_t(pc);
      const OperandPlace &place = k == 0 ? thread[nest].a : thread[nest].b;
      ops[nest].wordsOffset[k] = int32_t(bufferBegin(place) + (place.affine ? 0 : place.base) - copied.begin);
      return;
    }
  }

  WaveRole &role;
  std::vector<WaveOp> &ops;
  const std::vector<DecodedOp> &thread;
  const std::vector<std::vector<ScratchRange>> touched, live;
  std::array<ScratchRange, 2> sources; // of the nest or row at hand; 0 bytes: not in scratch
  ScratchRange accumulators;           // or results
};

} // namespace

void fuseNests(WaveRole &role) { Fuser(role).run(); }

} // namespace wsc::emulator
