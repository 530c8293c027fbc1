// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/JoinStages.h"

#include <algorithm>
#include <vector>

namespace wsc::emulator {

using namespace format;

namespace {

// Bytes [begin, end) of a buffer.
struct Bytes {
  int64_t begin = 0, end = 0;
  bool meets(const Bytes &other) const { return begin < other.end && other.begin < end; }
};

// Loops around a single instruction, outermost first; `end`: behind them.
struct Nest {
  const Instruction *body = nullptr;
  std::vector<int64_t> trips;
  size_t begin = 0, end = 0;
};

std::optional<Nest> nestAt(const Thread &thread, size_t pc) {
  Nest nest;
  nest.begin = pc;
  for (; pc < thread.size() && thread[pc].opcode == Opcode::Loop; ++pc) {
    if (!thread[pc].extent[0].isConstant())
      return std::nullopt;
    nest.trips.push_back(thread[pc].extent[0].constant);
  }
  if (pc == thread.size() || thread[pc].opcode == Opcode::EndLoop)
    return std::nullopt;
  nest.body = &thread[pc++];
  for (size_t i = 0; i < nest.trips.size(); ++i)
    if (pc == thread.size() || thread[pc++].opcode != Opcode::EndLoop)
      return std::nullopt;
  nest.end = pc;
  return nest;
}

// What the nest touches of the operand's buffer, on any core of the role.
Bytes touched(const Role &role, const Nest &nest, const Operand &operand) {
  int64_t least = operand.base.constant, most = least;
  const auto walk = [&](int64_t count, int64_t step) {
    (step < 0 ? least : most) += std::max<int64_t>(0, count - 1) * step;
  };
  for (int k = 0; k < kMaxDims; ++k)
    walk(role.cores.dims[k].count, operand.base.perDim[k]);
  for (int d = 0; d < kMaxDims; ++d) {
    const Affine &extent = nest.body->extent[d];
    int64_t count = extent.constant; // at most
    for (int k = 0; k < kMaxDims; ++k)
      count += std::max<int64_t>(0, (role.cores.dims[k].count - 1) * extent.perDim[k]);
    walk(count, operand.stride[d]);
  }
  for (size_t l = 0; l < nest.trips.size(); ++l)
    walk(nest.trips[l], operand.loopStep[l]);
  return {least, most + elementBytes(nest.body->type)};
}

// The nest with a loop of one trip around it, if it has one loop less than `like`, with the steps that its loop has
// there.
std::optional<Nest> withLoops(Nest nest, const Nest &like, Instruction &body) {
  if (nest.trips.size() + 1 == like.trips.size()) {
    nest.trips.insert(nest.trips.begin(), 1);
    for (Operand Instruction::*member : {&Instruction::dst, &Instruction::a, &Instruction::b}) {
      Operand &operand = body.*member;
      std::copy_backward(operand.loopStep.begin(), operand.loopStep.end() - 1, operand.loopStep.end());
      operand.loopStep[0] = (like.body->*member).loopStep[0];
    }
  }
  return nest.trips.size() == like.trips.size() ? std::optional(nest) : std::nullopt;
}

// `first` with the trips of `second` after its own, if that one continues it.
std::optional<Thread> joined(Nest first, Nest second) {
  Instruction head = *first.body, tail = *second.body;
  const Nest &deeper = first.trips.size() >= second.trips.size() ? first : second;
  auto one = withLoops(first, deeper, head), two = withLoops(second, deeper, tail);
  if (!one || !two || one->trips.empty() ||
      !std::equal(one->trips.begin() + 1, one->trips.end(), two->trips.begin() + 1))
    return std::nullopt;
  Instruction expected = head;
  for (Operand *operand : {&expected.a, &expected.b})
    operand->base.constant += one->trips[0] * operand->loopStep[0];
  expected.priority = tail.priority;
  if (head.dst.loopStep[0] != 0 || !(expected == tail))
    return std::nullopt;
  Thread nest;
  for (size_t l = 0; l < one->trips.size(); ++l) {
    Instruction loop;
    loop.opcode = Opcode::Loop;
    loop.extent[0] = Affine(one->trips[l] + (l == 0 ? two->trips[0] : 0));
    nest.push_back(loop);
  }
  nest.push_back(head);
  nest.resize(nest.size() + one->trips.size());
  for (size_t l = 0; l < one->trips.size(); ++l)
    nest[nest.size() - 1 - l].opcode = Opcode::EndLoop;
  return nest;
}

class Joiner {
public:
  Joiner(const Role &role, Thread thread) : role(role), thread(std::move(thread)) {}

  std::optional<Thread> run() {
    bool any = false;
    int open = 0; // loops around, whose steps come before the nests' own
    for (size_t pc = 0; pc < thread.size();) {
      const std::optional<Nest> nest = nestAt(thread, pc);
      if (nest && open == 0 && nest->body->opcode == Opcode::Fma && joinAt(*nest)) {
        any = true; // and look from there again: moves come first now
        continue;
      }
      if (!nest)
        open += thread[pc].opcode == Opcode::Loop ? 1 : thread[pc].opcode == Opcode::EndLoop ? -1 : 0;
      pc = nest ? nest->end : pc + 1;
    }
    return any ? std::optional(std::move(thread)) : std::nullopt;
  }

private:
  // Moves that `nest` can wait for.
  bool passes(const Nest &move, const Nest &nest) const {
    const Instruction &in = *move.body, &fma = *nest.body;
    if (in.opcode != Opcode::Move || !(in.a.kind == OperandKind::Queue || in.a.kind == OperandKind::Fifo) ||
        in.dst.kind != OperandKind::Memory || in.dst.buffer == fma.dst.buffer ||
        role.buffers[size_t(in.dst.buffer)].kind != BufferKind::Scratch)
      return false;
    for (const Operand *factor : {&fma.a, &fma.b})
      if (factor->kind != OperandKind::Memory ||
          (factor->buffer == in.dst.buffer && touched(role, nest, *factor).meets(touched(role, move, in.dst))))
        return false;
    return true;
  }

  // Joins the nest with the one that continues it, behind the moves between.
  bool joinAt(const Nest &nest) {
    if (nest.body->dst.kind != OperandKind::Memory)
      return false;
    size_t pc = nest.end;
    std::optional<Nest> next = nestAt(thread, pc);
    while (next && passes(*next, nest)) {
      pc = next->end;
      next = nestAt(thread, pc);
    }
    if (!next || next->body->opcode != Opcode::Fma)
      return false;
    const std::optional<Thread> both = joined(nest, *next);
    if (!both)
      return false;
    Thread result(thread.begin(), thread.begin() + long(nest.begin));
    result.insert(result.end(), thread.begin() + long(nest.end), thread.begin() + long(next->begin));
    result.insert(result.end(), both->begin(), both->end());
    result.insert(result.end(), thread.begin() + long(next->end), thread.end());
    thread = std::move(result);
    return true;
  }

  const Role &role;
  Thread thread;
};

} // namespace

std::optional<Thread> joinStages(const Role &role, const Thread &thread) { return Joiner(role, thread).run(); }

} // namespace wsc::emulator
