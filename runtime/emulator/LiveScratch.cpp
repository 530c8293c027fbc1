// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Liveness as compilers know it, backwards over the operations with a bit for each byte, until loops change nothing; of
// what is live, bytes that no operation before has written do not matter, which a walk forwards finds out. Reads count
// from their first to their last byte on any core in any iteration; writes only where every core writes the same bytes
// in every iteration.
#include "runtime/emulator/LiveScratch.h"

#include "runtime/format/Bounds.h"

#include <algorithm>
#include <bit>

namespace wsc::emulator {

using namespace format;

namespace {

constexpr int32_t kCloseBytes = 32; // one copy of a gap costs less than a copy more

class ByteSet {
public:
  explicit ByteSet(int64_t bytes) : words(size_t((bytes + 63) / 64)) {}

  void add(int64_t begin, int64_t end) {
    forWords(begin, end, [](uint64_t &word, uint64_t mask) { word |= mask; });
  }
  void remove(const ByteSet &other) {
    for (size_t i = 0; i < words.size(); ++i)
      words[i] &= ~other.words[i];
  }
  void keep(const ByteSet &other) {
    for (size_t i = 0; i < words.size(); ++i)
      words[i] &= other.words[i];
  }
  // True if anything is new.
  bool merge(const ByteSet &other) {
    uint64_t fresh = 0;
    for (size_t i = 0; i < words.size(); ++i) {
      fresh |= other.words[i] & ~words[i];
      words[i] |= other.words[i];
    }
    return fresh != 0;
  }
  std::vector<ScratchRange> ranges() const {
    std::vector<ScratchRange> all;
    for (int64_t at = next(0, true); at < size();) {
      const int64_t end = next(at, false);
      if (!all.empty() && at - (all.back().begin + all.back().bytes) <= kCloseBytes)
        all.back().bytes = int32_t(end - all.back().begin);
      else
        all.push_back({int32_t(at), int32_t(end - at)});
      at = next(end, true);
    }
    return all;
  }

private:
  int64_t size() const { return int64_t(words.size()) * 64; }
  template <typename Change> void forWords(int64_t begin, int64_t end, Change change) {
    while (begin < end) {
      const int64_t bit = begin & 63, count = std::min<int64_t>(64 - bit, end - begin);
      change(words[size_t(begin >> 6)], (count == 64 ? ~uint64_t(0) : (uint64_t(1) << count) - 1) << bit);
      begin += count;
    }
  }
  // The first byte from `at` on that is, or is not, in the set; else size().
  int64_t next(int64_t at, bool in) const {
    while (at < size()) {
      const uint64_t word = (in ? words[size_t(at >> 6)] : ~words[size_t(at >> 6)]) >> (at & 63);
      if (word)
        return at + std::countr_zero(word);
      at = (at | 63) + 1;
    }
    return size();
  }

  std::vector<uint64_t> words;
};

struct Access {
  ByteSet reads, writes, changes; // writes: surely written; changes: written on some core
};

class Accesses {
public:
  Accesses(const RoleProgram &program, std::span<const int64_t> offsets) : role(*program.role), offsets(offsets) {}

  // What the operation does within loops of so many trips (outermost first).
  void find(const DecodedOp &op, std::vector<int64_t> trips, Access &access) const {
    const Instruction &instruction = *op.instruction;
    const OpcodeInfo &info = opcodeInfo(instruction.opcode);
    bool runs = true; // on every core
    for (const Instruction *loop : op.nestLoops) {
      trips.push_back(mostTrips(*loop, role));
      runs &= rangeOver(loop->extent[0], role.cores).least > 0;
    }
    const bool gathers = instruction.opcode == Opcode::Gather, scatters = instruction.opcode == Opcode::Scatter;
    if (gathers && op.numbers)
      readChosen(instruction, *op.numbers, trips, access.reads);
    else if (info.sources >= 1)
      read(instruction.a, elementBytes(typeOfA(instruction)), instruction, trips, gathers, access.reads);
    if (info.sources >= 2)
      read(instruction.b, elementBytes(typeOfB(instruction)), instruction, trips, false, access.reads);
    if (info.readsDst)
      read(instruction.dst, elementBytes(instruction.type), instruction, trips, false, access.reads);
    else if (runs && !scatters)
      write(instruction.dst, elementBytes(instruction.type), instruction, trips, access.writes);
    read(instruction.dst, elementBytes(instruction.type), instruction, trips, scatters, access.changes);
  }

private:
  bool isScratch(const Operand &operand) const {
    return operand.kind == OperandKind::Memory && offsets[size_t(operand.buffer)] >= 0;
  }

  void read(const Operand &operand, int64_t width, const Instruction &instruction, const std::vector<int64_t> &trips,
            bool anywhere, ByteSet &reads) const {
    if (!isScratch(operand))
      return;
    const int64_t offset = offsets[size_t(operand.buffer)], bytes = role.buffers[size_t(operand.buffer)].bytes;
    if (anywhere)
      return reads.add(offset, offset + bytes);
    const OperandHull hull = onAllCores(operand, width, instruction, trips, kMaxDims);
    reads.add(offset + std::max<int64_t>(hull.low, 0), offset + std::min(hull.high, bytes));
  }
  // What a gather chooses by numbers from the least to the largest, which count along the last dimension of `a`. Those
  // beyond an end of the buffer choose what is there.
  void readChosen(const Instruction &instruction, std::pair<int32_t, int32_t> numbers,
                  const std::vector<int64_t> &trips, ByteSet &reads) const {
    const Operand &operand = instruction.a;
    if (!isScratch(operand))
      return;
    const int64_t width = elementBytes(typeOfA(instruction)), step = operand.stride[kMaxDims - 1];
    OperandHull hull = onAllCores(operand, width, instruction, trips, kMaxDims - 1);
    const int64_t least = std::max(numbers.first, 0) * step, most = std::max(numbers.second, 0) * step;
    hull.low += std::min(least, most);
    hull.high += std::max(least, most);
    // A number too large chooses the last element that is there, less than a step from the buffer's end.
    const int64_t offset = offsets[size_t(operand.buffer)], bytes = role.buffers[size_t(operand.buffer)].bytes;
    hull.low = std::clamp<int64_t>(hull.low, 0, std::max<int64_t>(bytes - std::abs(step) - width, 0));
    hull.high = std::max(hull.high, std::abs(step) + width);
    reads.add(offset + hull.low, offset + std::clamp<int64_t>(hull.high, hull.low, bytes));
  }

  // Of the operand's buffer, on any core in any iteration.
  OperandHull onAllCores(const Operand &operand, int64_t width, const Instruction &instruction,
                         const std::vector<int64_t> &trips, int dims) const {
    const Interval base = rangeOver(operand.base, role.cores);
    const OperandHull hull = hullOf(operand, width, instruction, trips, dims, role);
    return {int64_t(base.least) + hull.low, int64_t(base.most) + hull.high};
  }

  void write(const Operand &operand, int64_t width, const Instruction &instruction, const std::vector<int64_t> &trips,
             ByteSet &writes) const {
    if (!isScratch(operand) || !operand.base.isConstant() ||
        !std::ranges::all_of(instruction.extent, [](const Affine &extent) { return extent.isConstant(); }))
      return;
    for (size_t k = 0; k < trips.size(); ++k)
      if (operand.loopStep[k] != 0)
        return;
    const int64_t first = offsets[size_t(operand.buffer)] + operand.base.constant;
    const auto count = [&](int d) { return instruction.extent[size_t(d)].constant; };
    const auto step = [&](int d) { return int64_t(operand.stride[size_t(d)]); };
    const bool packed = step(3) == width;
    for (int64_t i = 0; i < count(0); ++i)
      for (int64_t j = 0; j < count(1); ++j)
        for (int64_t k = 0; k < count(2); ++k) {
          const int64_t at = first + i * step(0) + j * step(1) + k * step(2);
          if (packed)
            writes.add(at, at + count(3) * width);
          else
            for (int64_t l = 0; l < count(3); ++l)
              writes.add(at + l * step(3), at + l * step(3) + width);
        }
  }

  const Role &role;
  std::span<const int64_t> offsets;
};

std::vector<Access> accessesOf(const RoleProgram &program, std::span<const DecodedOp> thread,
                               std::span<const int64_t> offsets, int64_t areaBytes) {
  const Accesses accesses(program, offsets);
  std::vector<Access> access(thread.size(), {ByteSet(areaBytes), ByteSet(areaBytes), ByteSet(areaBytes)});
  std::vector<int64_t> trips;
  for (size_t pc = 0; pc < thread.size(); ++pc) {
    if (thread[pc].kind == DecodedOp::Kind::LoopBegin)
      trips.push_back(mostTrips(*thread[pc].instruction, *program.role));
    else if (thread[pc].kind == DecodedOp::Kind::LoopEnd)
      trips.pop_back();
    else
      accesses.find(thread[pc], trips, access[pc]);
  }
  return access;
}

} // namespace

OperandHull hullOf(const Operand &operand, int64_t width, const Instruction &instruction,
                   std::span<const int64_t> trips, int dims, const Role &role) {
  OperandHull hull{0, width};
  const auto walk = [&](int64_t count, int64_t step) {
    (step < 0 ? hull.low : hull.high) += std::max<int64_t>(count - 1, 0) * step;
  };
  for (int d = 0; d < dims; ++d)
    walk(int64_t(rangeOver(instruction.extent[size_t(d)], role.cores).most), operand.stride[size_t(d)]);
  for (size_t k = 0; k < trips.size(); ++k)
    walk(trips[k], operand.loopStep[k]);
  return hull;
}

int64_t mostTrips(const Instruction &loop, const Role &role) {
  return int64_t(rangeOver(loop.extent[0], role.cores).most);
}

std::vector<std::vector<ScratchRange>> touchedScratch(const RoleProgram &program, std::span<const DecodedOp> thread,
                                                      std::span<const int64_t> offsets, int64_t areaBytes) {
  std::vector<std::vector<ScratchRange>> ranges;
  for (Access &access : accessesOf(program, thread, offsets, areaBytes)) {
    access.reads.merge(access.changes);
    ranges.push_back(access.reads.ranges());
  }
  return ranges;
}

std::vector<std::vector<ScratchRange>> changedScratch(const RoleProgram &program, std::span<const DecodedOp> thread,
                                                      std::span<const int64_t> offsets, int64_t areaBytes) {
  std::vector<std::vector<ScratchRange>> ranges;
  for (const Access &access : accessesOf(program, thread, offsets, areaBytes))
    ranges.push_back(access.changes.ranges());
  return ranges;
}

std::vector<std::vector<ScratchRange>> liveScratch(const RoleProgram &program, std::span<const DecodedOp> thread,
                                                   std::span<const int64_t> offsets, int64_t areaBytes) {
  const auto isLoop = [&](size_t pc) {
    return thread[pc].kind == DecodedOp::Kind::LoopBegin || thread[pc].kind == DecodedOp::Kind::LoopEnd;
  };
  const std::vector<Access> access = accessesOf(program, thread, offsets, areaBytes);
  std::vector<ByteSet> live(thread.size() + 1, ByteSet(areaBytes)); // before each operation; the last: nothing
  for (bool changes = true; changes;) {
    changes = false;
    for (size_t pc = thread.size(); pc-- > 0;) {
      ByteSet before = live[pc + 1];
      if (isLoop(pc)) { // goes on behind it or to `jump`
        before.merge(live[size_t(thread[pc].jump)]);
      } else {
        before.remove(access[pc].writes);
        before.merge(access[pc].reads);
      }
      changes |= live[pc].merge(before);
    }
  }
  std::vector<ByteSet> written(thread.size() + 1, ByteSet(areaBytes)); // before each operation, on some core
  for (bool changes = true; changes;) {
    changes = false;
    for (size_t pc = 0; pc < thread.size(); ++pc) {
      ByteSet behind = written[pc];
      if (isLoop(pc))
        changes |= written[size_t(thread[pc].jump)].merge(behind);
      else
        behind.merge(access[pc].changes);
      changes |= written[pc + 1].merge(behind);
    }
  }
  std::vector<std::vector<ScratchRange>> ranges;
  for (size_t pc = 0; pc < thread.size(); ++pc) {
    live[pc].keep(written[pc]);
    ranges.push_back(live[pc].ranges());
  }
  return ranges;
}

} // namespace wsc::emulator
