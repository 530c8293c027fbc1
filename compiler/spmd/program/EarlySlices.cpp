// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/spmd/program/EarlySlices.h"

#include "compiler/spmd/program/Banks.h"
#include "compiler/spmd/program/OutermostLoops.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

namespace wsc::spmd {

using namespace format;

namespace {

// Smaller buffers are not worth another order.
constexpr int64_t kLeastBytes = 256;

class SliceMover {
public:
  explicit SliceMover(Code &code) : code(code), loops(code.main), uses(code.buffers.size()) {
    code.guards.resize(code.main.size());
    for (size_t i = 0; i < code.main.size(); ++i)
      for (const Operand *operand : operandsOf(code.main[i]))
        if (operand->kind == OperandKind::Memory || operand->kind == OperandKind::Fifo)
          if (std::vector<size_t> &of = uses[size_t(operand->buffer)]; of.empty() || of.back() != i)
            of.push_back(i);
  }

  int run() {
    for (size_t buffer = 0; buffer < uses.size(); ++buffer)
      moveSlicesOf(buffer);
    if (moved == 0)
      return 0;
    std::vector<size_t> order(code.main.size());
    std::iota(order.begin(), order.end(), size_t(0));
    // A copy comes behind the instruction that it follows.
    std::sort(order.begin(), order.end(), [&](size_t x, size_t y) { return placeOf(x) < placeOf(y); });
    std::vector<Instruction> main;
    std::vector<Guard> guards;
    for (size_t i : order) {
      main.push_back(std::move(code.main[i]));
      guards.push_back(code.guards[i]);
    }
    code.main = std::move(main);
    code.guards = std::move(guards);
    return moved;
  }

private:
  /// Copies part of scratch buffer `from` to a scratch buffer that nothing names before.
  bool isSlice(size_t i, size_t from) const {
    const Instruction &copy = code.main[i];
    return copy.opcode == Opcode::Move && !loops.isInLoop(i) && copy.a.kind == OperandKind::Memory &&
           copy.dst.kind == OperandKind::Memory && size_t(copy.a.buffer) == from && copy.dst.buffer != copy.a.buffer &&
           code.buffers[size_t(copy.dst.buffer)].kind == BufferKind::Scratch &&
           uses[size_t(copy.dst.buffer)].front() == i;
  }

  void moveSlicesOf(size_t buffer) {
    const std::vector<size_t> &of = uses[buffer];
    if (code.buffers[buffer].kind != BufferKind::Scratch || code.buffers[buffer].bytes < kLeastBytes)
      return;
    // As many of the last ones as take half of the buffer's room at most.
    size_t slices = 0;
    int64_t bytes = 0;
    for (; slices < of.size() && isSlice(of[of.size() - 1 - slices], buffer); ++slices) {
      bytes += code.buffers[size_t(code.main[of[of.size() - 1 - slices]].dst.buffer)].bytes;
      if (2 * bytes > code.buffers[buffer].bytes)
        break;
    }
    if (slices == 0 || slices == of.size())
      return;
    const size_t last = loops.end[of[of.size() - 1 - slices]];
    if (of.back() == last + slices) // they are there
      return;
    for (size_t k = of.size() - slices; k < of.size(); ++k)
      follows[of[k]] = last;
    moved += int(slices);
  }

  std::pair<size_t, size_t> placeOf(size_t i) const {
    const auto found = follows.find(i);
    return found == follows.end() ? std::pair(i, size_t(0)) : std::pair(found->second, i);
  }

  Code &code;
  const OutermostLoops loops;
  std::vector<std::vector<size_t>> uses; // per buffer: the instructions that name it
  std::map<size_t, size_t> follows;      // copies that move: behind which instruction
  int moved = 0;
};

} // namespace

int takeSlicesEarly(Code &code) { return SliceMover(code).run(); }

} // namespace wsc::spmd
