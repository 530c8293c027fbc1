// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a core's decoded threads for one sample, whole instructions at a time.
#include "runtime/emulator/RoleProgram.h"

#include "runtime/emulator/RowShape.h"
#include "runtime/emulator/ScalarExecutor.h"

#include <algorithm>
#include <cstring>

namespace wsc::emulator {

using namespace format;

namespace {

const float kZero = 0;

class CoreRunner {
public:
  CoreRunner(const RoleProgram &program, const Kernels &kernels, CoreFrame &frame, std::byte *scratch, bool first)
      : program(program), kernels(kernels), frame(frame), scratch(scratch), first(first) {}

  void runThread(const std::vector<DecodedOp> &ops) {
    cursor.depth = 0;
    for (size_t i = 0; i < ops.size();) {
      const DecodedOp &op = ops[i];
      if (op.kind == DecodedOp::Kind::LoopBegin) {
        if ((op.shared && !first) || op.instruction->extent[0].at(frame.index) <= 0) {
          i = size_t(op.jump);
          continue;
        }
        cursor.counter[cursor.depth++] = 0;
        ++i;
        continue;
      }
      if (op.kind == DecodedOp::Kind::LoopEnd) {
        if (++cursor.counter[cursor.depth - 1] < op.instruction->extent[0].at(frame.index)) {
          i = size_t(op.jump);
        } else {
          --cursor.depth;
          ++i;
        }
        continue;
      }
      if (!op.shared || first)
        run(op);
      ++i;
    }
  }

  void runWithin(const DecodedOp &op, const ThreadCursor &loops) {
    cursor = loops;
    run(op);
  }

  std::optional<LocatedOp> locateWithin(const DecodedOp &op, const ThreadCursor &loops, ShapeVariant &own) {
    cursor = loops;
    if (op.kind == DecodedOp::Kind::Nest)
      return locateNest(op);
    if (op.kind != DecodedOp::Kind::Row)
      return std::nullopt;
    const ShapeVariant *shape = shapeOf(op);
    if (!shape) {
      own = {{}, ownShape(op), nullptr};
      shape = &own;
    }
    LocatedOp located = locateRow(op, shape->shape.elements);
    located.row = shape;
    return located;
  }

private:
  void run(const DecodedOp &op) {
    switch (op.kind) {
    case DecodedOp::Kind::Nest:
      return runNestOp(op);
    case DecodedOp::Kind::Row:
      return runRow(op);
    default:
      cursor.element = 0;
      executeScalar(*op.instruction, frame, cursor);
    }
  }

  int64_t addressIn(const OperandPlace &place) const {
    int64_t address = place.base;
    if (place.affine)
      address = place.operand->base.at(frame.index);
    if (place.looped)
      for (int k = 0; k < cursor.depth; ++k)
        address += int64_t(place.operand->loopStep[k]) * cursor.counter[k];
    return address;
  }

  std::byte *memory(const OperandPlace &place) const { return frame.buffers[place.slot] + addressIn(place); }

  // Where the operand's elements of this instruction begin; queues and FIFOs move on.
  std::byte *elementsOf(const OperandPlace &place, int64_t elements, int64_t width, bool isDst) {
    switch (place.kind) {
    case OperandKind::Memory:
      return memory(place);
    case OperandKind::Queue: {
      QueuePort &port = frame.queues[place.slot];
      std::byte *words = port.data + port.position * 4;
      port.position += (elements * width + 3) / 4;
      return words;
    }
    case OperandKind::Fifo: {
      FifoPort &fifo = frame.fifos[place.slot];
      int64_t &position = isDst ? fifo.pushed : fifo.popped;
      std::byte *first = frame.buffers[place.slot] + position;
      position += elements * width;
      return first;
    }
    default:
      return nullptr;
    }
  }
  const std::byte *source(const OperandPlace &place, int64_t elements, int64_t width) {
    return place.kind == OperandKind::Immediate ? reinterpret_cast<const std::byte *>(&place.immediate)
                                                : elementsOf(place, elements, width, false);
  }

  void runRow(const DecodedOp &op) {
    if (const ShapeVariant *variant = shapeOf(op))
      return runRow(op, variant->shape, variant->single);
    runRow(op, ownShape(op), nullptr);
  }
  const ShapeVariant *shapeOf(const DecodedOp &op) const {
    for (int32_t s = op.shape; s < op.shape + op.shapes; ++s)
      if (const ShapeVariant &variant = program.shapes[size_t(s)];
          op.fixed || hasExtents(*op.instruction, variant.extent))
        return &variant;
    return nullptr;
  }
  RowShape ownShape(const DecodedOp &op) const {
    return rowShape(*op.instruction, op.row.bytes, !op.row.mayAlias[1], frame.index);
  }
  bool hasExtents(const Instruction &instruction, const std::array<int64_t, kMaxDims> &extent) const {
    for (int d = 0; d < kMaxDims; ++d)
      if (instruction.extent[d].at(frame.index) != extent[d])
        return false;
    return true;
  }

  void runRow(const DecodedOp &op, const RowShape &shape, ArrayOp single) {
    if (shape.elements == 0)
      return;
    const LocatedOp located = locateRow(op, shape.elements);
    runRowAt(op, shape, single, located.dst, located.a, located.b, located.indexed);
  }
  LocatedOp locateRow(const DecodedOp &op, int64_t n) {
    LocatedOp located;
    located.a = source(op.a, n, op.row.bytes[1]);
    located.b = op.row.usesB ? source(op.b, n, op.row.bytes[2]) : nullptr;
    located.dst = elementsOf(op.dst, n, op.row.bytes[0], true);
    located.indexed = indexedPlace(op);
    return located;
  }
  IndexedPlace indexedPlace(const DecodedOp &op) const {
    if (op.row.kind != RowOp::Kind::Gather && op.row.kind != RowOp::Kind::Scatter)
      return {};
    const OperandPlace &place = op.row.kind == RowOp::Kind::Gather ? op.a : op.dst;
    return {addressIn(place), program.role->buffers[size_t(place.slot)].bytes, place.operand->stride[kMaxDims - 1]};
  }

  void runNestOp(const DecodedOp &op) {
    const LocatedOp located = locateNest(op);
    runNestAt(op, *located.nest, kernels, scratch, first, located.dst, located.a, located.b);
  }
  LocatedOp locateNest(const DecodedOp &op) const {
    LocatedOp located;
    located.nest = &program.plans[size_t(op.plan)];
    if (!op.fixed) {
      const std::vector<int64_t> key = nestKey(*op.instruction, op.nestLoops, frame.index);
      while (located.nest->key != key)
        ++located.nest;
    }
    located.dst = memory(op.dst);
    located.a = memory(op.a);
    located.b = op.b.kind == OperandKind::Memory ? memory(op.b) : nullptr;
    return located;
  }

  const RoleProgram &program;
  const Kernels &kernels;
  CoreFrame &frame;
  std::byte *scratch;
  const bool first;
  ThreadCursor cursor;
};

bool fifosAreEmpty(const RoleProgram &program, const CoreFrame &frame) {
  for (size_t b = 0; b < program.role->buffers.size(); ++b)
    if (frame.fifos[b].pushed != frame.fifos[b].popped)
      return false;
  return true;
}

} // namespace

void runRowAt(const DecodedOp &op, const RowShape &shape, ArrayOp single, std::byte *dst, const std::byte *a,
              const std::byte *b, const IndexedPlace &indexed) {
  const RowOp &row = op.row;
  const int64_t n = shape.elements;
  const auto apart = [&](const std::byte *from, int k) { // or dst itself, element by element
    return !row.mayAlias[k] ||
           (from == dst && row.bytes[k] == row.bytes[0] && shape.stride[k][3] == shape.stride[0][3]) ||
           from + n * row.bytes[k] <= dst || dst + n * row.bytes[0] <= from;
  };
  if (single && dst && apart(a, 1) && apart(b, 2))
    single(dst, a, b, n);
  else
    runRows(row, shape, dst, a, b, indexed);
  if (op.dst.kind == OperandKind::Queue) // the last word is padded with zeros
    std::memset(dst + n * row.bytes[0], 0, size_t(-(n * row.bytes[0]) & 3));
}

void runNestAt(const DecodedOp &op, const PlanVariant &variant, const Kernels &kernels, std::byte *scratch, bool first,
               std::byte *dst, const std::byte *a, const std::byte *b, const NestEnds &ends) {
  const NestPlan &plan = variant.plan;
  // Element 0 of a source as f32.
  const auto source = [&](const std::byte *at, int k) {
    const WidenedSource &widened = variant.widened[k];
    if (!widened.widen)
      return reinterpret_cast<const float *>(at);
    std::byte *copy = scratch + op.widenOffset[k];
    widened.widen(copy, at + widened.touched.low * 2, nullptr, widened.touched.elements);
    return reinterpret_cast<const float *>(copy) - widened.touched.low;
  };
  const float *x = source(a, 0), *y = b ? source(b, 1) : &kZero;
  const float *vec = plan.swapped ? y : x;
  const float *scl = plan.swapped ? x : y;
  if (plan.phases > 1) {
    float *copy = reinterpret_cast<float *>(scratch + op.packOffset);
    if (first || !op.packShared)
      deinterleave(vec, plan.copied, plan.phases, plan.phaseLength, copy);
    vec = copy;
  }
  runNest(kernels, plan, reinterpret_cast<float *>(dst), vec, scl, ends);
}

std::optional<LocatedOp> locateOperation(const RoleProgram &program, const DecodedOp &op, const Kernels &kernels,
                                         CoreFrame &frame, const ThreadCursor &cursor, ShapeVariant &own) {
  return CoreRunner(program, kernels, frame, nullptr, true).locateWithin(op, cursor, own);
}

void runOperation(const RoleProgram &program, const DecodedOp &op, const Kernels &kernels, CoreFrame &frame,
                  std::byte *scratch, const ThreadCursor &cursor) {
  CoreRunner(program, kernels, frame, scratch, true).runWithin(op, cursor);
}

bool runCore(const RoleProgram &program, const Kernels &kernels, CoreFrame &frame, std::byte *scratch, bool first) {
  CoreRunner runner(program, kernels, frame, scratch, first);
  for (int t : program.threadOrder)
    runner.runThread(program.threads[t]);
  return fifosAreEmpty(program, frame);
}

} // namespace wsc::emulator
