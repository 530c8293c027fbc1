// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/NarrowReads.h"

#include "runtime/emulator/QueueTraffic.h"
#include "runtime/format/Bounds.h"

#include <algorithm>
#include <cstdlib>

namespace wsc::emulator {

using namespace format;

namespace {

constexpr int64_t kFewBytes = 64; // which are not worth a copy of their own

const Affine kSamePlace(0); // of what begins at the same place on all cores

class Finder {
public:
  Finder(const RoleProgram &program, std::span<const DecodedOp> thread, std::span<const int64_t> offsets,
         std::span<const std::vector<ScratchRange>> live, std::span<const std::vector<ScratchRange>> touched)
      : role(*program.role), thread(thread), offsets(offsets), live(live), touched(touched) {}

  std::optional<NarrowScratch> at(size_t pc, bool mayStay) const {
    const DecodedOp &op = thread[pc];
    if (op.kind != DecodedOp::Kind::Row || op.row.kind != RowOp::Kind::Copy || op.a.kind != OperandKind::Queue ||
        op.row.bytes[0] != 4 || op.row.bytes[1] != 4 || op.depth > 0 || !isScratch(op.instruction->dst))
      return std::nullopt;
    NarrowScratch narrow;
    narrow.copy = pc;
    narrow.range = rangeOf(partOf(op, op.instruction->dst, op.instruction->type, kMaxDims));
    if (narrow.range.bytes < kFewBytes)
      return std::nullopt;
    narrow.mayStay = mayStay;
    bool isKnown = true; // who reads what
    size_t next = pc + 1;
    for (; next < thread.size() && meetAny(live[next], narrow.range); ++next)
      isKnown = isKnown && addReads(next, narrow);
    narrow.last = next - 1;
    if (!isKnown && !mayStay)
      return std::nullopt;
    const size_t reads = narrow.parts.size();
    for (narrow.first = pc; narrow.first > 0; --narrow.first)
      if (!addReads(narrow.first - 1, narrow) || narrow.parts.size() > reads)
        break;
    narrow.parts.resize(reads);
    int64_t read = 0;
    for (const NarrowScratch::Part &part : narrow.parts)
      read += part.bytes;
    if (isKnown && 2 * read < narrow.range.bytes)
      return narrow;
    if (!mayStay)
      return std::nullopt;
    narrow.parts = {{narrow.range.begin, narrow.range.bytes, &kSamePlace}};
    return narrow;
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
    const OperandHull hull = hullOf(operand, elementBytes(type), *op.instruction, tripsOf(op), dims, role);
    return {offsets[size_t(operand.buffer)] + hull.low, hull.high - hull.low, &operand.base};
  }
  std::vector<int64_t> tripsOf(const DecodedOp &op) const {
    std::vector<int64_t> trips;
    for (const Instruction *loop : op.nestLoops)
      trips.push_back(mostTrips(*loop, role));
    return trips;
  }
  // What a gather chooses, if that is known.
  std::optional<NarrowScratch::Part> partChosen(const DecodedOp &op) const {
    const auto hull = hullChosen(op, tripsOf(op), role);
    if (!hull)
      return std::nullopt;
    const Operand &operand = op.instruction->a;
    return NarrowScratch::Part{offsets[size_t(operand.buffer)] + hull->low, hull->high - hull->low, &operand.base};
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

std::optional<OperandHull> hullChosen(const DecodedOp &op, std::span<const int64_t> trips, const Role &role) {
  if (!op.numbers || op.numbers->first < 0)
    return std::nullopt;
  const Operand &operand = op.instruction->a;
  const int64_t width = elementBytes(operandType(*op.instruction, OperandSlot::A));
  OperandHull hull = hullOf(operand, width, *op.instruction, trips, kMaxDims - 1, role);
  const int64_t step = operand.stride[kMaxDims - 1], first = op.numbers->first * step, last = op.numbers->second * step;
  hull.low += std::min(first, last);
  hull.high += std::max(first, last);
  const Interval base = rangeOver(operand.base, role.cores);
  const bool isInside = int64_t(base.least) + hull.low >= 0 &&
                        int64_t(base.most) + hull.high <= role.buffers[size_t(operand.buffer)].bytes;
  return isInside ? std::optional(hull) : std::nullopt;
}

std::vector<NarrowScratch> findNarrowReads(const RoleProgram &program, std::span<const DecodedOp> thread,
                                           std::span<const int64_t> offsets,
                                           std::span<const std::vector<ScratchRange>> live,
                                           std::span<const std::vector<ScratchRange>> touched,
                                           std::span<const size_t> mayStay) {
  const Finder finder(program, thread, offsets, live, touched);
  std::vector<NarrowScratch> all;
  for (size_t pc = 0; pc < thread.size(); ++pc)
    if (auto narrow = finder.at(pc, std::ranges::binary_search(mayStay, pc)))
      all.push_back(*std::move(narrow));
  return all;
}

} // namespace wsc::emulator
