// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/NarrowReads.h"

#include "runtime/emulator/QueueTraffic.h"
#include "runtime/format/Bounds.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace wsc::emulator {

using namespace format;

namespace {

constexpr int64_t kFewBytes = 64; // which are not worth a copy of their own

bool meet(const ScratchRange &x, const ScratchRange &y) {
  return x.begin < y.begin + y.bytes && y.begin < x.begin + x.bytes;
}
bool meetAny(const std::vector<ScratchRange> &ranges, const ScratchRange &range) {
  return std::ranges::any_of(ranges, [&](const ScratchRange &other) { return meet(other, range); });
}

class Finder {
public:
  Finder(const RoleProgram &program, std::span<const DecodedOp> thread, std::span<const int64_t> offsets,
         std::span<const std::vector<ScratchRange>> live, std::span<const std::vector<ScratchRange>> touched)
      : role(*program.role), thread(thread), offsets(offsets), live(live), touched(touched) {}

  std::optional<NarrowScratch> at(size_t pc) const {
    const DecodedOp &op = thread[pc];
    if (op.kind != DecodedOp::Kind::Row || op.row.kind != RowOp::Kind::Copy || op.a.kind != OperandKind::Queue ||
        op.row.bytes[0] != 4 || op.row.bytes[1] != 4 || op.depth > 0 || !isScratch(op.instruction->dst))
      return std::nullopt;
    NarrowScratch narrow;
    narrow.copy = pc;
    narrow.range = rangeOf(partOf(op, op.instruction->dst, op.instruction->type, kMaxDims));
    if (narrow.range.bytes < kFewBytes)
      return std::nullopt;
    size_t next = pc + 1;
    for (; next < thread.size() && meetAny(live[next], narrow.range); ++next)
      if (!addReads(next, narrow))
        return std::nullopt;
    narrow.last = next - 1;
    const size_t reads = narrow.parts.size();
    for (narrow.first = pc; narrow.first > 0; --narrow.first)
      if (!addReads(narrow.first - 1, narrow) || narrow.parts.size() > reads)
        break;
    narrow.parts.resize(reads);
    int64_t read = 0;
    for (const NarrowScratch::Part &part : narrow.parts)
      read += part.bytes;
    return 2 * read < narrow.range.bytes ? std::optional(std::move(narrow)) : std::nullopt;
  }

private:
  bool isScratch(const Operand &operand) const {
    return operand.kind == OperandKind::Memory && offsets[size_t(operand.buffer)] >= 0;
  }

  void addPart(const NarrowScratch::Part &part, NarrowScratch &narrow) const {
    if (meet(rangeOf(part), narrow.range))
      narrow.parts.push_back(part);
  }
  // Where an operation touches an operand in scratch, along the first `dims` dimensions.
  NarrowScratch::Part partOf(const DecodedOp &op, const Operand &operand, ElementType type, int dims) const {
    std::vector<int64_t> trips;
    for (const Instruction *loop : op.nestLoops)
      trips.push_back(mostTrips(*loop, role));
    const OperandHull hull = hullOf(operand, elementBytes(type), *op.instruction, trips, dims, role);
    return {offsets[size_t(operand.buffer)] + hull.low, hull.high - hull.low, &operand.base};
  }
  // What a gather of known numbers chooses, if none goes beyond an end of the buffer, where another one counts.
  std::optional<NarrowScratch::Part> partChosen(const DecodedOp &op) const {
    if (!op.numbers || op.numbers->first < 0)
      return std::nullopt;
    const Operand &operand = op.instruction->a;
    NarrowScratch::Part part = partOf(op, operand, operandType(*op.instruction, OperandSlot::A), kMaxDims - 1);
    const int64_t step = operand.stride[kMaxDims - 1], first = op.numbers->first * step,
                  last = op.numbers->second * step;
    part.begin += std::min(first, last);
    part.bytes += std::abs(last - first);
    const ScratchRange range = rangeOf(part);
    const int64_t begin = offsets[size_t(operand.buffer)], end = begin + role.buffers[size_t(operand.buffer)].bytes;
    return range.begin >= begin && range.begin + range.bytes <= end ? std::optional(part) : std::nullopt;
  }
  // On all cores.
  ScratchRange rangeOf(const NarrowScratch::Part &part) const {
    const Interval base = rangeOver(*part.base, role.cores);
    return {int32_t(part.begin + int64_t(base.least)), int32_t(part.bytes + int64_t(base.most - base.least))};
  }

  // What operation `pc` reads of the range; false where its place is not known.
  bool addReads(size_t pc, NarrowScratch &narrow) const {
    const DecodedOp &op = thread[pc];
    if (op.kind == DecodedOp::Kind::LoopBegin || op.kind == DecodedOp::Kind::LoopEnd)
      return false;
    if (!meetAny(touched[pc], narrow.range))
      return true;
    const Instruction &instruction = *op.instruction;
    const OpcodeInfo &info = opcodeInfo(instruction.opcode);
    const auto add = [&](const Operand &operand, ElementType type) {
      if (isScratch(operand))
        addPart(partOf(op, operand, type, kMaxDims), narrow);
    };
    if (instruction.opcode == Opcode::Gather && isScratch(instruction.a)) {
      const Buffer &buffer = role.buffers[size_t(instruction.a.buffer)];
      const auto begin = int32_t(offsets[size_t(instruction.a.buffer)]);
      if (const auto chosen = partChosen(op))
        addPart(*chosen, narrow);
      else if (meet({begin, int32_t(buffer.bytes)}, narrow.range))
        return false; // anywhere in the buffer
    } else if (info.sources >= 1) {
      add(instruction.a, operandType(instruction, OperandSlot::A));
    }
    if (info.sources >= 2)
      add(instruction.b, operandType(instruction, OperandSlot::B));
    if (info.readsDst)
      add(instruction.dst, instruction.type);
    return true;
  }

  const Role &role;
  std::span<const DecodedOp> thread;
  std::span<const int64_t> offsets;
  std::span<const std::vector<ScratchRange>> live, touched;
};

} // namespace

std::pair<int64_t, int64_t> NarrowScratch::readOf(int64_t begin, int64_t end, const LatticeIndex &index) const {
  int64_t low = end, high = begin;
  for (const Part &part : parts) {
    const int64_t from = part.begin + part.base->at(index);
    if (from < end && from + part.bytes > begin) {
      low = std::min(low, std::max(begin, from));
      high = std::max(high, std::min(end, from + part.bytes));
    }
  }
  if (low >= high)
    return {begin, begin};
  return {low - (low - begin) % 4, std::min(end, begin + (high - begin + 3) / 4 * 4)};
}

std::vector<NarrowScratch> findNarrowReads(const RoleProgram &program, std::span<const DecodedOp> thread,
                                           std::span<const int64_t> offsets,
                                           std::span<const std::vector<ScratchRange>> live,
                                           std::span<const std::vector<ScratchRange>> touched) {
  const Finder finder(program, thread, offsets, live, touched);
  std::vector<NarrowScratch> all;
  for (size_t pc = 0; pc < thread.size(); ++pc)
    if (auto narrow = finder.at(pc))
      all.push_back(*std::move(narrow));
  return all;
}

} // namespace wsc::emulator
