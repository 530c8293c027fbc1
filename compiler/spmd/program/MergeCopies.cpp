// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Per buffer: the instructions that name it, in order, with those that write it marked. Instructions inside a loop
// count at its begin and at its end. A merge joins the two lists and shifts operands, so later copies see the buffer as
// it lies then. Cost: the operands of the program for each copy that goes.
#include "compiler/spmd/program/MergeCopies.h"

#include "compiler/spmd/program/Banks.h"
#include "compiler/spmd/program/OutermostLoops.h"

#include <algorithm>

namespace wsc::spmd {

using namespace format;

namespace {

// A buffer whose life grows may be larger than the one that it takes the place of by a quarter and this.
constexpr int64_t kSlackBytes = 64;

class Merger {
public:
  Merger(Code &code, const Rectangle &rectangle, const target::Target &target)
      : code(code), target(target), fixed(code.buffers.size(), false), loops(code.main) {
    code.guards.resize(code.main.size());
    std::set<AxisGuard> parts[2];
    for (const Guard &guard : code.guards)
      for (Axis axis : {Axis::Row, Axis::Col})
        parts[size_t(axis)].insert(along(guard, axis));
    cols = oneOfEachSort(parts[size_t(Axis::Row)], rectangle.cols);
    rows = oneOfEachSort(parts[size_t(Axis::Col)], rectangle.rows);
    gone.assign(code.main.size(), false);
    for (int16_t buffer : code.clamped)
      fixed[size_t(buffer)] = true;
    for (const Instruction &instruction : code.main) {
      if (instruction.opcode == Opcode::Gather)
        fixed[size_t(instruction.a.buffer)] = true;
      if (instruction.opcode == Opcode::Scatter)
        fixed[size_t(instruction.dst.buffer)] = true;
      for (const Operand *operand : {&instruction.dst, &instruction.a, &instruction.b})
        if (operand->kind == OperandKind::Fifo)
          fixed[size_t(operand->buffer)] = true;
    }
  }

  MergedCopies run() {
    MergedCopies merged;
    for (size_t at = 0; at < code.main.size(); ++at) {
      const int64_t elements = elementsCopied(at);
      if (elements == 0 || !(joinToSource(at) || joinToResident(at)))
        continue;
      gone[at] = true;
      ++merged.copies;
      merged.savedCycles += elements + target.vectorSetupCycles;
    }
    size_t kept = 0;
    for (size_t i = 0; i < code.main.size(); ++i)
      if (!gone[i]) {
        if (kept != i) {
          code.main[kept] = std::move(code.main[i]);
          code.guards[kept] = code.guards[i];
        }
        ++kept;
      }
    code.main.resize(kept);
    code.guards.resize(kept);
    return merged;
  }

private:
  /// When a buffer is named: instructions, those in loops at both ends of the outermost one.
  struct Uses {
    size_t first = SIZE_MAX, last = 0; // of all but the copy
    bool before = false, behind = false, writtenBehind = false;
  };

  Code &code;
  const target::Target &target;
  std::vector<bool> fixed;         // per buffer: it keeps its bytes
  std::vector<bool> gone;          // per instruction
  std::vector<int32_t> rows, cols; // of one core of each kind
  const OutermostLoops loops;

  /// Elements that the instruction copies from one buffer to another with the same strides on both sides; else 0.
  int64_t elementsCopied(size_t at) const {
    const Instruction &copy = code.main[at];
    if (copy.opcode != Opcode::Move || copy.dst.kind != OperandKind::Memory || copy.a.kind != OperandKind::Memory ||
        copy.dst.buffer == copy.a.buffer || loops.isInLoop(at) || fixed[size_t(copy.dst.buffer)] ||
        fixed[size_t(copy.a.buffer)] || copy.dst.base.perDim != copy.a.base.perDim)
      return 0;
    int64_t elements = 1;
    for (size_t d = 0; d < kMaxDims; ++d) {
      if (!copy.extent[d].isConstant() || (copy.extent[d].constant > 1 && copy.dst.stride[d] != copy.a.stride[d]))
        return 0;
      elements *= copy.extent[d].constant;
    }
    return elements;
  }

  Uses usesOf(int16_t buffer, size_t at) {
    Uses uses;
    for (size_t i = 0; i < code.main.size(); ++i) {
      if (gone[i] || i == at)
        continue;
      for (Operand *operand : operandsOf(code.main[i]))
        if (operand->kind == OperandKind::Memory && operand->buffer == buffer) {
          uses.first = std::min(uses.first, loops.begin[i]);
          uses.last = std::max(uses.last, loops.end[i]);
          uses.before |= i < at;
          uses.behind |= i > at;
          uses.writtenBehind |= i > at && operand == &code.main[i].dst;
        }
    }
    return uses;
  }

  /// Cores that wait for nothing copy what they never get; nobody reads it, but it counts as written.
  bool isWrittenBefore(int16_t buffer, size_t at) const {
    std::vector<const Guard *> writers;
    for (size_t i = 0; i < at; ++i)
      if (!gone[i] && code.main[i].dst.kind == OperandKind::Memory && code.main[i].dst.buffer == buffer) {
        if (code.guards[i] == code.guards[at])
          return true;
        writers.push_back(&code.guards[i]);
      }
    for (int32_t row : rows)
      for (int32_t col : cols)
        if (runs(code.guards[at], row, col) &&
            std::none_of(writers.begin(), writers.end(), [&](const Guard *guard) { return runs(*guard, row, col); }))
          return false;
    return true;
  }

  /// Both may be one buffer behind the copy.
  static bool agree(const Uses &one, const Uses &other) {
    return !one.behind || !other.behind || (!one.writtenBehind && !other.writtenBehind);
  }

  static bool isAboutAsLarge(int64_t bytes, int64_t as) { return bytes <= as + as / 4 + kSlackBytes; }

  /// Of elements, and of the words that they travel in.
  static bool keepsAlignment(int64_t shift, const Buffer &one, const Buffer &other) {
    return shift % std::max({int64_t(4), elementBytes(one.type), elementBytes(other.type)}) == 0;
  }

  void rename(int16_t from, int16_t to, int64_t shift) {
    for (Instruction &instruction : code.main)
      for (Operand *operand : operandsOf(instruction))
        if (operand->kind == OperandKind::Memory && operand->buffer == from) {
          operand->buffer = to;
          operand->base.constant += shift;
        }
  }

  bool joinToSource(size_t at) {
    const int16_t dst = code.main[at].dst.buffer, src = code.main[at].a.buffer;
    const int64_t shift = code.main[at].a.base.constant - code.main[at].dst.base.constant;
    Buffer &to = code.buffers[size_t(src)];
    const Buffer &from = code.buffers[size_t(dst)];
    if (from.kind != BufferKind::Scratch || shift < 0 || !keepsAlignment(shift, from, to))
      return false;
    const Uses target = usesOf(dst, at), source = usesOf(src, at);
    if (target.before || !agree(target, source))
      return false;
    if (to.kind != BufferKind::Scratch)
      // What others are told of it stays as it is.
      if (target.writtenBehind || source.writtenBehind || shift + from.bytes > to.bytes)
        return false;
    if (to.kind == BufferKind::Scratch) {
      if (!isWrittenBefore(src, at))
        return false;
      const int64_t bytes = std::max(to.bytes, shift + from.bytes);
      if (source.last < target.last && !isAboutAsLarge(bytes, from.bytes))
        return false;
      if (source.before && bytes > to.bytes && !isAboutAsLarge(bytes, to.bytes))
        return false;
      to.bytes = bytes;
    }
    rename(dst, src, shift);
    return true;
  }

  bool joinToResident(size_t at) {
    const Instruction &copy = code.main[at];
    const int16_t dst = copy.dst.buffer, src = copy.a.buffer;
    const int64_t shift = copy.dst.base.constant - copy.a.base.constant;
    const Buffer &to = code.buffers[size_t(dst)], &from = code.buffers[size_t(src)];
    if ((to.kind != BufferKind::Resident && to.kind != BufferKind::State) || from.kind != BufferKind::Scratch ||
        shift < 0 || shift + from.bytes > to.bytes || !keepsAlignment(shift, from, to) || !isWhole(copy, from.bytes))
      return false;
    const Uses source = usesOf(src, at);
    if (!source.before || !agree(usesOf(dst, at), source))
      return false;
    for (size_t i = 0; i < code.main.size(); ++i) {
      if (gone[i] || i == at)
        continue;
      for (Operand *operand : operandsOf(code.main[i])) {
        if (operand->kind != OperandKind::Memory)
          continue;
        if (operand->buffer == dst && loops.end[i] >= source.first && i < at)
          return false;
        if (operand->buffer == src && operand == &code.main[i].dst && !(code.guards[i] == code.guards[at]))
          return false;
      }
    }
    rename(src, dst, shift);
    return true;
  }

  /// The copy takes all of a buffer of `bytes` bytes, up to the end of its last word.
  static bool isWhole(const Instruction &copy, int64_t bytes) {
    int64_t pitch = elementBytes(copy.type), base = copy.a.base.constant;
    for (size_t d = kMaxDims; d-- > 0;)
      if (copy.extent[d].constant > 1) {
        if (copy.a.stride[d] != pitch)
          return false;
        pitch *= copy.extent[d].constant;
      }
    return base == 0 && copy.a.base.isConstant() && pitch <= bytes && bytes - pitch < 4;
  }
};

} // namespace

MergedCopies mergeCopies(Code &code, const Rectangle &rectangle, const target::Target &target) {
  return Merger(code, rectangle, target).run();
}

} // namespace wsc::spmd
