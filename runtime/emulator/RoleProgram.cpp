// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Decodes a role's threads: which instructions run as array rows, which loops as nests, what is shared by neighbouring
// cores, and in what order threads run. An operation is shared when all it reads is the same along the lattice's last
// dimension (multicast words, cores' common constants) and all who write its destination are; destinations must be
// complete before the first unshared reader.
#include "runtime/emulator/RoleProgram.h"

#include "runtime/emulator/JoinStages.h"
#include "runtime/emulator/LatticeWalk.h"
#include "runtime/emulator/QueueTraffic.h"
#include "runtime/emulator/RowShape.h"
#include "runtime/numerics/Elements.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <numeric>

namespace wsc::emulator {

using namespace format;

namespace {

constexpr int kLast = kMaxDims - 1;
constexpr size_t kMaxVariants = 64; // of an op's extents over the role's cores

OperandPlace placeOf(const Operand &operand, int depth, ElementType type = ElementType::F32) {
  OperandPlace place;
  place.kind = operand.kind;
  place.operand = &operand;
  place.slot = operand.kind == OperandKind::Queue ? operand.queue : operand.buffer;
  place.base = operand.base.constant;
  place.affine = !operand.base.isConstant();
  for (int k = 0; k < depth; ++k)
    place.looped |= operand.loopStep[k] != 0;
  if (operand.kind == OperandKind::Immediate)
    place.immediate = numerics::encodeImmediate(operand.immediate, type);
  return place;
}

bool fixedExtents(const Instruction &instruction) {
  for (const Affine &extent : instruction.extent)
    if (!extent.isConstant())
      return false;
  return true;
}

// Whether sources may change places, and only the first is a single element: kernels take that as b.
bool hasScalarFirst(const Instruction &instruction) {
  const auto single = [](const Operand &operand) {
    return operand.kind == OperandKind::Immediate ||
           (operand.kind == OperandKind::Memory && operand.stride == std::array<int32_t, kMaxDims>{});
  };
  switch (instruction.opcode) {
  case Opcode::Add:
  case Opcode::Mul:
  case Opcode::Min:
  case Opcode::Max:
  case Opcode::Fma:
  case Opcode::CompareEq:
  case Opcode::And:
  case Opcode::Or:
  case Opcode::Xor:
    return single(instruction.a) && !single(instruction.b);
  default:
    return false;
  }
}

// Whether the operand's place in its buffer is a multiple of 4 bytes on all cores and in all iterations.
bool isWordAligned(const Operand &operand) {
  const auto whole = [](int64_t bytes) { return bytes % 4 == 0; };
  return whole(operand.base.constant) && std::ranges::all_of(operand.base.perDim, whole) &&
         std::ranges::all_of(operand.loopStep, whole);
}

// The instruction as it is once its half sources are widened to f32 where they lie: all their strides and steps count
// for twice the bytes. Nothing when they are too large for that.
std::optional<Instruction> withWideSources(Instruction instruction) {
  constexpr int32_t kMost = 1 << 29;
  for (Operand *operand : {&instruction.a, &instruction.b})
    for (auto *steps : {&operand->stride, &operand->loopStep})
      for (int32_t &step : *steps) {
        if (step > kMost || step < -kMost)
          return std::nullopt;
        step *= 2;
      }
  instruction.mixed = false;
  return instruction;
}

// Bytes [low, high) of its buffer that a nest touches of an operand, on a core whose affine part of the base is 0.
struct TouchedBytes {
  int64_t low, high;
};
TouchedBytes touchedBytes(const Operand &operand, int64_t width, const std::array<int64_t, kMaxDims> &extent,
                          std::span<const NestLoop> loops) {
  TouchedBytes touched{operand.base.constant, operand.base.constant + width};
  const auto walk = [&](int64_t count, int64_t step) { (step < 0 ? touched.low : touched.high) += (count - 1) * step; };
  for (int d = 0; d < kMaxDims; ++d)
    walk(extent[d], operand.stride[d]);
  for (const NestLoop &loop : loops)
    walk(loop.trips, operand.loopStep[loop.level]);
  return touched;
}

// The same of an operand of 4-byte elements, in elements from its first one on.
TouchedElements touchedElements(const Operand &operand, const std::array<int64_t, kMaxDims> &extent,
                                std::span<const NestLoop> loops) {
  const TouchedBytes touched = touchedBytes(operand, 4, extent, loops);
  return {(touched.low - operand.base.constant) / 4, (touched.high - touched.low) / 4};
}

// The loop at ops' instruction `pc` holds nothing but inner loops and one instruction: returns that one's position,
// else 0.
size_t nestBody(const Thread &thread, size_t pc, std::vector<const Instruction *> &loops) {
  loops.clear();
  while (pc < thread.size() && thread[pc].opcode == Opcode::Loop)
    loops.push_back(&thread[pc++]);
  const size_t body = pc;
  for (size_t i = 0; i < loops.size(); ++i)
    if (++pc >= thread.size() || thread[pc].opcode != Opcode::EndLoop)
      return 0;
  return body < thread.size() && thread[body].opcode != Opcode::EndLoop ? body : 0;
}

// dst and a source are different windows of one resident that may hold the same bytes: only element by element is safe.
bool windowsMeet(const Role &role, const Instruction &instruction) {
  if (instruction.dst.kind != OperandKind::Memory)
    return false;
  const Buffer &to = role.buffers[size_t(instruction.dst.buffer)];
  for (const Operand *source : {&instruction.a, &instruction.b}) {
    if (to.kind != BufferKind::Resident || source->kind != OperandKind::Memory ||
        source->buffer == instruction.dst.buffer)
      continue;
    const Buffer &from = role.buffers[size_t(source->buffer)];
    if (from.kind != BufferKind::Resident || from.resident != to.resident)
      continue;
    if (from.runStep != to.runStep ||
        (from.residentOffset < to.residentOffset + to.bytes && to.residentOffset < from.residentOffset + from.bytes))
      return true;
  }
  return false;
}

class Decoder {
public:
  Decoder(const Role &role, const std::vector<bool> &sharedQueue, const Kernels &kernels)
      : role(role), sharedQueue(sharedQueue), kernels(kernels) {
    program.role = &role;
  }

  absl::StatusOr<RoleProgram> decode() {
    auto joined = std::make_shared<std::vector<Thread>>();
    joined->reserve(role.threads.size());
    program.joined = joined;
    for (const Thread &thread : role.threads) {
      std::optional<Thread> rewritten = joinStages(role, thread);
      if (std::ranges::any_of(thread, hasScalarFirst)) {
        if (!rewritten)
          rewritten = thread;
        for (Instruction &instruction : *rewritten)
          if (hasScalarFirst(instruction))
            std::swap(instruction.a, instruction.b);
      }
      if (rewritten)
        joined->push_back(*std::move(rewritten));
      if (absl::Status status = decodeThread(rewritten ? joined->back() : thread); !status.ok())
        return status;
    }
    orderThreads();
    markShared();
    layOut();
    return std::move(program);
  }

private:
  absl::Status decodeThread(const Thread &thread) {
    std::vector<DecodedOp> ops;
    std::vector<int32_t> open;
    std::vector<const Instruction *> loops;
    for (size_t pc = 0; pc < thread.size(); ++pc) {
      const Instruction &instruction = thread[pc];
      const int depth = int(open.size());
      if (instruction.opcode == Opcode::SendControl)
        continue;
      if (instruction.opcode == Opcode::EndLoop) {
        if (open.empty())
          return absl::InvalidArgumentError(absl::StrCat("role ", role.name, ": EndLoop without Loop"));
        DecodedOp end;
        end.kind = DecodedOp::Kind::LoopEnd;
        end.jump = open.back() + 1;
        end.depth = depth;
        end.instruction = ops[open.back()].instruction;
        ops[open.back()].jump = int32_t(ops.size()) + 1;
        open.pop_back();
        ops.push_back(end);
        continue;
      }
      DecodedOp op;
      op.instruction = &instruction;
      op.depth = depth;
      const size_t body = nestBody(thread, pc, loops);
      if (body != 0 || instruction.opcode != Opcode::Loop) {
        const Instruction &inner = thread[body ? body : pc];
        if (depth + int(loops.size()) <= kMaxDims && makeNest(op, inner, loops)) {
          ops.push_back(std::move(op));
          pc = body ? body + loops.size() : pc;
          continue;
        }
      }
      if (instruction.opcode == Opcode::Loop) {
        if (depth == kMaxDims)
          return absl::InvalidArgumentError(absl::StrCat("role ", role.name, ": loops nest deeper than ", kMaxDims));
        op.kind = DecodedOp::Kind::LoopBegin;
        open.push_back(int32_t(ops.size()));
      } else {
        makeRow(op, depth);
      }
      ops.push_back(std::move(op));
    }
    if (!open.empty())
      return absl::InvalidArgumentError(absl::StrCat("role ", role.name, ": Loop without EndLoop"));
    program.threads.push_back(std::move(ops));
    return absl::OkStatus();
  }

  bool makeNest(DecodedOp &op, const Instruction &inner, const std::vector<const Instruction *> &loops) {
    const ElementType source = typeOfA(inner);
    const bool widens = inner.mixed && (source == ElementType::F16 || source == ElementType::BF16);
    for (const Operand *operand : {&inner.dst, &inner.a, &inner.b})
      if (!isWordAligned(*operand) && (!widens || operand == &inner.dst))
        return false;
    const std::optional<Instruction> body = widens ? withWideSources(inner) : inner;
    if (!body)
      return false;
    for (const Operand *source : {&inner.a, &inner.b})
      if (inner.dst.kind == OperandKind::Memory && source->kind == OperandKind::Memory &&
          mayShareMemory(role, inner.dst.buffer, source->buffer) &&
          (inner.dst.buffer != source->buffer || inner.dst.base.perDim != source->base.perDim))
        return false;
    op.dst = placeOf(inner.dst, op.depth);
    op.a = placeOf(inner.a, op.depth);
    op.b = placeOf(inner.b, op.depth);
    op.fixed = fixedExtents(inner);
    for (const Instruction *loop : loops)
      op.fixed &= loop->extent[0].isConstant();
    // One plan per combination of extents that occurs on the role's cores.
    bool ok = true;
    const size_t before = program.plans.size();
    auto tryCore = [&](const LatticeIndex &index) {
      std::vector<int64_t> key = nestKey(inner, loops, index);
      for (size_t p = before; p < program.plans.size(); ++p)
        if (program.plans[p].key == key)
          return true;
      std::array<int64_t, kMaxDims> extent;
      std::copy_n(key.begin(), kMaxDims, extent.begin());
      const int64_t steps = std::accumulate(key.begin(), key.end(), int64_t(1), std::multiplies<>());
      std::vector<NestLoop> nestLoops;
      for (size_t l = 0; l < loops.size(); ++l)
        nestLoops.push_back({key[kMaxDims + l], op.depth + int(l)});
      std::optional<NestPlan> plan;
      if (*std::min_element(key.begin(), key.end()) > 0 && liesApart(inner, inner.a, extent, nestLoops, op.depth) &&
          liesApart(inner, inner.b, extent, nestLoops, op.depth))
        plan = planNest(*body, extent, nestLoops, widens ? 0 : copyableElements(inner.a, extent, nestLoops),
                        widens ? 0 : copyableElements(inner.b, extent, nestLoops), kernels.wideVectors);
      ok = plan.has_value() && program.plans.size() - before < kMaxVariants;
      if (!ok)
        return false;
      PlanVariant &variant = program.plans.emplace_back(PlanVariant{std::move(key), std::move(*plan), {}});
      for (int k = 0; k < 2 && widens; ++k)
        if (const Operand &operand = k == 0 ? body->a : body->b; operand.kind == OperandKind::Memory) {
          variant.widened[k] = {kernels.convert(source, ElementType::F32), touchedElements(operand, extent, nestLoops)};
          ok &= variant.widened[k].touched.elements <= steps; // else most of what is widened is not used
        }
      return ok;
    };
    if (op.fixed)
      tryCore(LatticeIndex{});
    else
      forEachPoint(role.cores, [&](const LatticeIndex &index, int32_t, int32_t) { return tryCore(index); });
    if (!ok || program.plans.size() == before) {
      program.plans.resize(before);
      return false;
    }
    op.kind = DecodedOp::Kind::Nest;
    op.instruction = &inner;
    op.nestLoops = loops;
    op.plan = int32_t(before);
    return true;
  }

  // Whether no byte of dst that the nest touches is one of the source's, in any iteration of the loops around it.
  static bool liesApart(const Instruction &inner, const Operand &source, const std::array<int64_t, kMaxDims> &extent,
                        std::span<const NestLoop> loops, int depth) {
    if (inner.dst.kind != OperandKind::Memory || source.kind != OperandKind::Memory ||
        source.buffer != inner.dst.buffer)
      return true;
    for (int k = 0; k < depth; ++k)
      if (inner.dst.loopStep[k] != source.loopStep[k])
        return false;
    const int64_t width = elementBytes(inner.type), sourceWidth = elementBytes(typeOfA(inner));
    const TouchedBytes to = touchedBytes(inner.dst, width, extent, loops),
                       from = touchedBytes(source, sourceWidth, extent, loops);
    return to.high <= from.low || from.high <= to.low;
  }

  // Elements that the nest touches of an f32 operand, from its element 0 on, when it may work on a rearranged copy of
  // them; else 0.
  static int64_t copyableElements(const Operand &operand, const std::array<int64_t, kMaxDims> &extent,
                                  std::span<const NestLoop> loops) {
    if (operand.kind != OperandKind::Memory)
      return 0;
    const TouchedElements touched = touchedElements(operand, extent, loops);
    return touched.low == 0 ? touched.elements : 0;
  }

  void makeRow(DecodedOp &op, int depth) {
    const Instruction &instruction = *op.instruction;
    op.kind = DecodedOp::Kind::Scalar;
    op.fixed = fixedExtents(instruction);
    if (windowsMeet(role, instruction))
      return;
    const std::optional<RowOp> row = rowOp(role, instruction, kernels);
    if (!row)
      return;
    op.kind = DecodedOp::Kind::Row;
    op.row = *row;
    op.dst = placeOf(instruction.dst, depth);
    op.a = placeOf(instruction.a, depth, operandType(instruction, OperandSlot::A));
    op.b = row->usesB ? placeOf(instruction.b, depth, operandType(instruction, OperandSlot::B)) : OperandPlace{};
    // One shape per combination of extents that occurs on the role's cores, unless there are many.
    const size_t before = program.shapes.size();
    forEachExtent(instruction, [&](const LatticeIndex &index) {
      std::array<int64_t, kMaxDims> extent;
      for (int d = 0; d < kMaxDims; ++d)
        extent[d] = instruction.extent[d].at(index);
      for (size_t s = before; s < program.shapes.size(); ++s)
        if (program.shapes[s].extent == extent)
          return true;
      const RowShape shape = rowShape(instruction, row->bytes, !row->mayAlias[1], index);
      program.shapes.push_back({extent, shape, singleKernel(*row, shape)});
      return program.shapes.size() - before <= kMaxVariants;
    });
    if (program.shapes.size() - before > kMaxVariants)
      program.shapes.resize(before);
    op.shape = int32_t(before);
    op.shapes = int32_t(program.shapes.size() - before);
  }

  // Visits the lattice along the dimensions that the instruction's extents depend on, while visit(index) is true.
  template <typename Visit> void forEachExtent(const Instruction &instruction, Visit visit) {
    Lattice lattice = role.cores;
    for (int d = 0; d < kMaxDims; ++d)
      if (std::all_of(instruction.extent.begin(), instruction.extent.end(),
                      [&](const Affine &e) { return e.perDim[d] == 0; }))
        lattice.dims[d].count = 1;
    forEachPoint(lattice, [&](const LatticeIndex &index, int32_t, int32_t) { return visit(index); });
  }

  void orderThreads() {
    const int n = int(role.threads.size());
    std::vector<std::vector<int>> before(n); // threads that fill FIFOs which thread t empties
    auto uses = [&](int t, int buffer, bool push) {
      for (const Instruction &instruction : role.threads[t]) {
        if (push && instruction.dst.kind == OperandKind::Fifo && instruction.dst.buffer == buffer)
          return true;
        if (!push && ((instruction.a.kind == OperandKind::Fifo && instruction.a.buffer == buffer) ||
                      (instruction.b.kind == OperandKind::Fifo && instruction.b.buffer == buffer)))
          return true;
      }
      return false;
    };
    for (int buffer = 0; buffer < int(role.buffers.size()); ++buffer)
      if (role.buffers[buffer].kind == BufferKind::Fifo)
        for (int from = 0; from < n; ++from)
          for (int to = 0; to < n; ++to)
            if (from != to && uses(from, buffer, true) && uses(to, buffer, false))
              before[to].push_back(from);
    std::vector<bool> placed(n, false);
    while (int(program.threadOrder.size()) < n) {
      bool progress = false;
      for (int t = 0; t < n; ++t)
        if (!placed[t] && std::all_of(before[t].begin(), before[t].end(), [&](int p) { return placed[p]; })) {
          placed[t] = progress = true;
          program.threadOrder.push_back(t);
        }
      if (!progress) {
        program.interleaved = true;
        return;
      }
    }
  }

  // A stretch of ops that is shared or not as a whole: one op outside loops, or an outermost loop.
  struct Region {
    int thread, begin, end;
    bool shared = true;
  };

  void markShared() {
    if (program.interleaved || role.cores.dims[kLast].count == 1)
      return;
    std::vector<Region> regions;
    for (int t : program.threadOrder)
      for (int i = 0; i < int(program.threads[t].size());) {
        const DecodedOp &op = program.threads[t][i];
        const int end = op.kind == DecodedOp::Kind::LoopBegin ? op.jump : i + 1;
        regions.push_back({t, i, end});
        i = end;
      }
    std::vector<bool> buffers(role.buffers.size()), queues = sharedQueue;
    for (size_t b = 0; b < role.buffers.size(); ++b)
      buffers[b] = role.buffers[b].kind == BufferKind::Scratch ||
                   (role.buffers[b].kind == BufferKind::Constant && role.buffers[b].sectionOffset.perDim[kLast] == 0);
    for (bool changed = true; changed;) {
      changed = false;
      std::vector<int> lastWriter(role.buffers.size(), -1), firstReader(role.buffers.size(), int(regions.size()));
      for (int r = 0; r < int(regions.size()); ++r) {
        Region &region = regions[r];
        if (region.shared && !sharable(region, buffers, queues)) {
          region.shared = false;
          changed = true;
        }
        forOps(region, [&](const DecodedOp &op) {
          for (const Operand *source : {&op.instruction->a, &op.instruction->b})
            if (source->kind == OperandKind::Memory && !region.shared)
              firstReader[source->buffer] = std::min(firstReader[source->buffer], r);
          for (const Operand *operand : {&op.instruction->dst, &op.instruction->a, &op.instruction->b})
            if (operand->kind == OperandKind::Queue && !region.shared && queues[operand->queue]) {
              queues[operand->queue] = false;
              changed = true;
            }
          if (op.instruction->dst.kind == OperandKind::Memory) {
            const int buffer = op.instruction->dst.buffer;
            lastWriter[buffer] = r;
            if (!region.shared && buffers[buffer]) {
              buffers[buffer] = false;
              changed = true;
            }
          }
        });
      }
      for (size_t b = 0; b < buffers.size(); ++b)
        if (buffers[b] && role.buffers[b].kind == BufferKind::Scratch && lastWriter[b] >= firstReader[b]) {
          buffers[b] = false;
          changed = true;
        }
    }
    for (const Region &region : regions)
      for (int i = region.begin; i < region.end; ++i)
        program.threads[region.thread][i].shared = region.shared;
    for (auto &thread : program.threads)
      for (DecodedOp &op : thread)
        if (op.kind == DecodedOp::Kind::Nest) {
          const OperandPlace &vec = program.plans[op.plan].plan.swapped ? op.b : op.a;
          op.packShared = op.fixed && op.depth == 0 && vec.kind == OperandKind::Memory && buffers[vec.slot];
        }
  }

  template <typename Visit> void forOps(const Region &region, Visit visit) {
    for (int i = region.begin; i < region.end; ++i)
      if (const DecodedOp &op = program.threads[region.thread][i];
          op.kind != DecodedOp::Kind::LoopBegin && op.kind != DecodedOp::Kind::LoopEnd)
        visit(op);
  }

  bool sharable(const Region &region, const std::vector<bool> &buffers, const std::vector<bool> &queues) {
    auto same = [](const Affine &affine) { return affine.perDim[kLast] == 0; };
    for (int i = region.begin; i < region.end; ++i) {
      const DecodedOp &op = program.threads[region.thread][i];
      const Instruction &instruction = *op.instruction;
      for (const Affine &extent : instruction.extent)
        if (!same(extent))
          return false;
      for (const Instruction *loop : op.nestLoops)
        if (!same(loop->extent[0]))
          return false;
      if (op.kind == DecodedOp::Kind::LoopBegin || op.kind == DecodedOp::Kind::LoopEnd)
        continue;
      for (const Operand *operand : {&instruction.dst, &instruction.a, &instruction.b}) {
        const bool dst = operand == &instruction.dst;
        if (operand->kind == OperandKind::Fifo ||
            (operand->kind == OperandKind::Queue && (dst || !queues[operand->queue])))
          return false;
        if (operand->kind == OperandKind::Memory && (!buffers[operand->buffer] || !same(operand->base)))
          return false;
      }
    }
    return true;
  }

  void layOut() {
    auto take = [&](int64_t bytes) {
      const int64_t offset = program.scratchBytes;
      program.scratchBytes += (bytes + 127) / 64 * 64; // one vector of slack behind each buffer
      return offset;
    };
    program.fifoBytes.assign(role.buffers.size(), 0);
    for (const Thread &thread : role.threads) {
      auto count = [&](const LatticeIndex &index) {
        std::vector<int64_t> pushed(role.buffers.size(), 0);
        std::vector<int64_t> trips{1};
        for (const Instruction &instruction : thread) {
          if (instruction.opcode == Opcode::Loop)
            trips.push_back(trips.back() * std::max<int64_t>(0, instruction.extent[0].at(index)));
          else if (instruction.opcode == Opcode::EndLoop)
            trips.pop_back();
          else if (instruction.dst.kind == OperandKind::Fifo)
            pushed[instruction.dst.buffer] +=
                trips.back() * instructionElements(instruction, index) * elementBytes(instruction.type);
        }
        for (size_t b = 0; b < pushed.size(); ++b)
          program.fifoBytes[b] = std::max(program.fifoBytes[b], pushed[b]);
      };
      if (extentsAreConstant(role))
        count(LatticeIndex{});
      else
        forEachPoint(role.cores, [&](const LatticeIndex &index, int32_t, int32_t) {
          count(index);
          return true;
        });
    }
    for (size_t b = 0; b < role.buffers.size(); ++b) {
      const Buffer &buffer = role.buffers[b];
      const bool own = buffer.kind == BufferKind::Scratch || buffer.kind == BufferKind::Fifo;
      program.bufferOffset.push_back(own ? take(buffer.kind == BufferKind::Fifo ? program.fifoBytes[b] : buffer.bytes)
                                         : -1);
      program.affineConstants |= buffer.kind == BufferKind::Constant && !buffer.sectionOffset.isConstant();
      program.hasState |= buffer.kind == BufferKind::State || buffer.kind == BufferKind::Resident;
    }
    program.cost = 60;
    for (auto &thread : program.threads) {
      double trips = 1;
      std::vector<double> outer;
      for (DecodedOp &op : thread) {
        if (op.kind == DecodedOp::Kind::LoopBegin) {
          outer.push_back(trips);
          trips *= double(std::max<int64_t>(1, op.instruction->extent[0].constant));
        } else if (op.kind == DecodedOp::Kind::LoopEnd) {
          trips = outer.back();
          outer.pop_back();
        } else if (op.kind == DecodedOp::Kind::Nest) {
          int64_t most = 0;
          const size_t variants = op.fixed ? size_t(op.plan) + 1 : program.plans.size();
          int64_t mostWidened[2] = {};
          for (size_t p = size_t(op.plan); p < variants; ++p) {
            most = std::max(most, program.plans[p].plan.phases * program.plans[p].plan.phaseLength * 4);
            for (int k = 0; k < 2; ++k)
              mostWidened[k] = std::max(mostWidened[k], program.plans[p].widened[k].touched.elements * 4);
          }
          op.packOffset = take(most);
          for (int k = 0; k < 2; ++k)
            op.widenOffset[k] = mostWidened[k] > 0 ? take(mostWidened[k]) : 0;
          const NestPlan &plan = program.plans[op.plan].plan;
          program.cost +=
              trips * 0.25 * double(plan.taps.size() * std::max<size_t>(1, plan.outer.size())) *
              double((plan.wide.size() * 2 + plan.narrow.size()) * std::max<size_t>(1, plan.scalars.size()));
        } else {
          program.cost += trips * (20 + double(instructionElements(*op.instruction, LatticeIndex{})) *
                                            (op.kind == DecodedOp::Kind::Scalar ? 15 : 0.15));
        }
      }
    }
  }

  const Role &role;
  const std::vector<bool> &sharedQueue;
  const Kernels &kernels;
  RoleProgram program;
};

} // namespace

bool extentsAreConstant(const Role &role) { return trafficIsUniform(role); }

absl::StatusOr<RoleProgram> decodeRole(const Role &role, const std::vector<bool> &sharedQueue, const Kernels &kernels) {
  return Decoder(role, sharedQueue, kernels).decode();
}

} // namespace wsc::emulator
