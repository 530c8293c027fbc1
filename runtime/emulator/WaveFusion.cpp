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

int32_t endOf(const ScratchRange &range) { return range.begin + range.bytes; }

class Fuser {
public:
  explicit Fuser(WaveRole &role)
      : role(role), ops(role.threads[0]), thread(role.program->threads[0]),
        touched(touchedScratch(*role.program, thread, role.bufferOffset, role.scratchBytes)),
        live(liveScratch(*role.program, thread, role.bufferOffset, role.scratchBytes)) {}

  void run() {
    for (size_t pc = 0; pc < ops.size(); ++pc)
      findDead(pc);
    for (size_t pc = 0; pc < ops.size(); ++pc)
      findReaders(pc);
    for (size_t pc = 0; pc < ops.size(); ++pc)
      if (ops[pc].plain && thread[pc].kind == DecodedOp::Kind::Nest)
        fuseNest(pc);
    if (!role.kept.moves())
      return;
    role.kept.narrow = findNarrowReads(*role.program, thread, role.bufferOffset, live, touched, mayStay);
    for (size_t i = 0; i < role.kept.narrow.size(); ++i)
      ops[role.kept.narrow[i].copy].narrow = int32_t(i);
  }

private:
  static bool isLoop(const WaveOp &op) {
    return op.kind == WaveOp::Kind::LoopBegin || op.kind == WaveOp::Kind::LoopEnd;
  }
  bool isDead(size_t pc, const ScratchRange &range) const { return pc >= live.size() || !meetAny(live[pc], range); }

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
    std::vector<int64_t> trips(size_t(nest.depth), 1);
    for (const Instruction *loop : nest.nestLoops)
      trips.push_back(mostTrips(*loop, *role.role));
    OperandHull hull = emulator::hullOf(operand, elementBytes(operandTypeOf(nest, operand)), *nest.instruction, trips,
                                        kMaxDims, *role.role);
    if (&place == &nest.a && isGather(nest)) {
      const std::optional<OperandHull> chosen = hullChosen(nest, trips, *role.role);
      if (!chosen)
        return {int32_t(bufferBegin(place)), int32_t(role.role->buffers[size_t(place.slot)].bytes)};
      hull = *chosen;
    }
    const int64_t low = bufferBegin(place) + int64_t(first.least) + hull.low,
                  high = bufferBegin(place) + int64_t(first.most) + hull.high;
    return {int32_t(low), int32_t(high - low)};
  }
  static bool isGather(const DecodedOp &op) {
    return op.kind == DecodedOp::Kind::Row && op.row.kind == RowOp::Kind::Gather;
  }
  static ElementType operandTypeOf(const DecodedOp &op, const Operand &operand) {
    const Instruction &instruction = *op.instruction;
    return &operand == &instruction.a   ? operandType(instruction, OperandSlot::A)
           : &operand == &instruction.b ? operandType(instruction, OperandSlot::B)
                                        : instruction.type;
  }

  // Where an operation reads and writes scratch; 0 bytes: it does not.
  struct Hulls {
    std::array<ScratchRange, 2> sources;
    ScratchRange result;
  };
  Hulls hullsOf(size_t pc) const {
    const DecodedOp &op = thread[pc];
    const Instruction &instruction = *op.instruction;
    return {{hullOf(op, op.a, instruction.a), hullOf(op, op.b, instruction.b)}, hullOf(op, op.dst, instruction.dst)};
  }
  bool isLooped(const OperandPlace &place) const {
    return place.kind == OperandKind::Memory && place.looped && bufferBegin(place) >= 0;
  }

  void findDead(size_t pc) {
    WaveOp &op = ops[pc];
    if (!op.plain || thread[pc].dst.kind != OperandKind::Memory ||
        (thread[pc].kind == DecodedOp::Kind::Row && thread[pc].row.kind == RowOp::Kind::Scatter)) // writes anywhere
      return;
    const ScratchRange result = hullsOf(pc).result;
    if (result.bytes > 0 && isDead(pc + 1, result))
      (op.inputs > 0 ? op.isDropped : op.leftOut) = true;
  }

  // Who reads the words that operation `pc` copies to scratch, if these are nests and rows only, in one stretch.
  void findReaders(size_t pc) {
    const ShapeVariant *row = packedRow(pc);
    if (!row || thread[pc].row.kind != RowOp::Kind::Copy || thread[pc].a.kind != OperandKind::Queue ||
        ops[pc].isDropped)
      return;
    const ScratchRange copied = rangeOf(thread[pc].dst, row->shape.elements * thread[pc].row.bytes[0]);
    if (copied.bytes == 0 || copied.bytes % 4 != 0)
      return;
    std::vector<std::pair<size_t, int>> readers; // operation, source
    for (size_t at = pc + 1; !isDead(at, copied); ++at) {
      if (isLoop(ops[at]))
        return;
      if (!meetAny(touched[at], copied) || ops[at].leftOut)
        continue;
      const DecodedOp &op = thread[at];
      if (!ops[at].plain || isLooped(op.a) || isLooped(op.b) || isLooped(op.dst) ||
          (op.kind == DecodedOp::Kind::Row && op.row.kind == RowOp::Kind::Scatter))
        return;
      const Hulls hulls = hullsOf(at);
      if (meet(hulls.result, copied))
        return;
      for (int k : {0, 1}) {
        const ScratchRange &read = hulls.sources[size_t(k)];
        if (!meet(read, copied))
          continue;
        if (read.begin < copied.begin || endOf(read) > endOf(copied))
          return;
        readers.push_back({at, k});
      }
    }
    if (readers.empty())
      return;
    const size_t last = readers.back().first;
    const auto place = std::ranges::find_if(heldUntil, [pc](int64_t until) { return until < int64_t(pc); });
    if (place != heldUntil.end()) {
      *place = int64_t(last);
      ops[pc].heldIn = int8_t(place - heldUntil.begin());
      ops[last].letsGo |= uint8_t(1 << ops[pc].heldIn);
    }
    const auto mayWait = [](const WaveOp &op) { return op.inputs > 0 || !op.needs.empty(); };
    if (role.kept.moves() && std::any_of(ops.begin() + int64_t(pc) + 1, ops.begin() + int64_t(last) + 1, mayWait))
      mayStay.push_back(pc);
    for (const auto &[reader, k] : readers) {
      const OperandPlace &source = k == 0 ? thread[reader].a : thread[reader].b;
      ops[reader].wordsOf[k] = int32_t(pc);
      ops[reader].wordsOffset[k] = int32_t(bufferBegin(source) + (source.affine ? 0 : source.base) - copied.begin);
    }
  }

  void fuseNest(size_t nest) {
    const Hulls hulls = hullsOf(nest);
    accumulators = hulls.result;
    sources = hulls.sources;
    if (accumulators.bytes > 0 && rangeOf(thread[nest].dst, 4).begin == accumulators.begin) {
      findZeros(nest);
      findSum(nest);
    }
  }
  // Whether a row of `bytes` bytes is the nest's accumulators, all of them and nothing else.
  bool isAccumulators(size_t nest, const ScratchRange &row) const {
    return row.bytes > 0 && row == accumulators &&
           fillsRow(role.program->plans[size_t(thread[nest].plan)].plan, row.bytes / 4);
  }

  void findZeros(size_t nest) {
    for (size_t pc = nest; pc-- > 0 && !isLoop(ops[pc]);) {
      if (!meetAny(touched[pc], accumulators))
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
    if (result.bytes == 0 || (result != accumulators && (meet(accumulators, result) || !isDead(pc + 1, accumulators))))
      return;
    // Words that are held are not in scratch, where the sum goes.
    for (int k : {0, 1})
      if (result != accumulators && meet(sources[size_t(k)], result)) {
        if (ops[nest].wordsOf[k] < 0)
          return;
        ops[nest].addsIfHeld = true;
      }
    ops[nest].addsNext = true;
  }

  WaveRole &role;
  std::vector<size_t> mayStay;
  std::vector<WaveOp> &ops;
  const std::vector<DecodedOp> &thread;
  const std::vector<std::vector<ScratchRange>> touched, live;
  std::array<ScratchRange, 2> sources; // of the nest at hand; 0 bytes: not in scratch
  ScratchRange accumulators;
  std::vector<int64_t> heldUntil = std::vector<int64_t>(kHeldPlaces, -1); // per place: the last that reads from it
};

} // namespace

void fuseNests(WaveRole &role) { Fuser(role).run(); }

} // namespace wsc::emulator
