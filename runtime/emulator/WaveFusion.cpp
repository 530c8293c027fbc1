// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Only stretches without loops are looked at, and operations that all cores do alike (WaveOp::plain). Which bytes of
// scratch an operation touches and which matter behind it are LiveScratch.h's.
#include "runtime/emulator/WaveFusion.h"

#include "runtime/emulator/QueueTraffic.h"

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
        fuse(pc);
  }

private:
  static bool isLoop(const WaveOp &op) {
    return op.kind == WaveOp::Kind::LoopBegin || op.kind == WaveOp::Kind::LoopEnd;
  }
  bool isDead(size_t pc, const ScratchRange &range) const { return pc >= live.size() || !meet(live[pc], range); }

  // An operand of `bytes` bytes one behind the other at the same place of scratch on all cores; none: bytes is 0.
  ScratchRange rangeOf(const OperandPlace &place, int64_t bytes) const {
    if (place.kind != OperandKind::Memory || place.affine || place.looped ||
        role.bufferOffset[size_t(place.slot)] < 0 || role.role->buffers[size_t(place.slot)].kind != BufferKind::Scratch)
      return {};
    return {int32_t(role.bufferOffset[size_t(place.slot)] + place.base), int32_t(bytes)};
  }

  // A row of packed elements that one kernel does.
  const ShapeVariant *packedRow(size_t pc) const {
    const DecodedOp &op = thread[pc];
    if (!ops[pc].plain || op.kind != DecodedOp::Kind::Row)
      return nullptr;
    const ShapeVariant &variant = role.program->shapes[size_t(op.shape)];
    return variant.single && !op.row.toBool ? &variant : nullptr;
  }

  // All bytes that an operand of a nest is read or written at.
  ScratchRange hullOf(const DecodedOp &nest, const OperandPlace &place, const Operand &operand) const {
    const ScratchRange first = rangeOf(place, elementBytes(operandTypeOf(nest, operand)));
    if (first.bytes == 0)
      return {};
    int64_t low = first.begin, high = first.begin + first.bytes;
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

  void fuse(size_t nest) {
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

  // The next operation sends or keeps words plus the accumulators, which nobody reads after it.
  void findSum(size_t nest) {
    const size_t pc = nest + 1;
    const ShapeVariant *row = pc < ops.size() ? packedRow(pc) : nullptr;
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

  // Words that only source `k` of the nest reads, copied to scratch before it.
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
      ops[nest].wordsOffset[k] = rangeOf(k == 0 ? thread[nest].a : thread[nest].b, 1).begin - copied.begin;
      return;
    }
  }

  WaveRole &role;
  std::vector<WaveOp> &ops;
  const std::vector<DecodedOp> &thread;
  const std::vector<std::vector<ScratchRange>> touched, live;
  std::array<ScratchRange, 2> sources; // of the nest at hand; 0 bytes: not in scratch
  ScratchRange accumulators;
};

} // namespace

void fuseNests(WaveRole &role) { Fuser(role).run(); }

} // namespace wsc::emulator
