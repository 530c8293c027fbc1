// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Plain operations (WaveOp::plain) have their elements, kernels and strides in common; what differs is where operands
// begin. All others, and loops whose trip counts differ, are left to WaveCore, core by core.
//
// While a core is at work its scratch is in a slot of the worker (CoreScratch.h).
#include "runtime/emulator/WaveGroup.h"

#include "runtime/emulator/QueueTraffic.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace wsc::emulator {

using namespace format;

bool WaveGroup::add(const WaveRole &of, int32_t core) {
  const int64_t ordinal = core - of.core;
  WaveThread *thread = state.threads.data() + of.thread + ordinal;
  if (thread->element != 0)
    return false;
  if (numMembers == 0) {
    role = &of;
    at = *thread;
  } else if (&of != role || numMembers == kMost || int64_t(numMembers) * of.scratchBytes > kMostBytes ||
             thread->pc != at.pc || thread->depth != at.depth ||
             !std::equal(at.counter, at.counter + at.depth, thread->counter)) {
    return false;
  }
  members[numMembers++] = {core, thread, state.ports.data() + of.port + ordinal * int64_t(of.role->queues.size()),
                           state.buffers.data() + of.buffer + ordinal * int64_t(of.role->buffers.size()),
                           &state.index[size_t(core)]};
  members[numMembers - 1].inSlot = of.kept.moves() && !isTraced(context, plan, of, core);
  return true;
}

void WaveGroup::run() {
  numActive = numMembers;
  held.fill(-1);
  std::iota(active.begin(), active.begin() + int64_t(numActive), uint8_t(0));
  if (worker.recorder)
    worker.recorder->beginGroup(members[0].inSlot ? int64_t(numMembers) * role->scratchBytes : 0);
  beginInSlots();
  const std::vector<WaveOp> &ops = role->threads[0];
  while (numActive > 0 && size_t(at.pc) < ops.size()) {
    const WaveOp &op = ops[size_t(at.pc)];
    if (op.kind == WaveOp::Kind::LoopBegin || op.kind == WaveOp::Kind::LoopEnd) {
      if (!loop(op))
        return runAlone();
      continue;
    }
    if (patient && !op.needs.empty())
      keepNeeds(op);
    if (op.plain)
      runPlain(op);
    else
      runEach(op);
    ++at.pc;
  }
  keepIf([](Member &) { return false; });
}

// What members hold in words goes to scratch before they leave.
void WaveGroup::releaseWords(std::span<const uint8_t> leaving) {
  for (int place = 0; place < kHeldPlaces; ++place) {
    if (held[size_t(place)] < 0 || leaving.empty())
      continue;
    const WaveOp &copy = role->threads[0][size_t(held[size_t(place)])];
    const int64_t bytes = copy.elements * copy.input[0].width;
    const Place dst = placeOf(copy.op->dst, bytes);
    for (uint8_t i : leaving)
      std::memcpy(pointer(dst, members[i], 2), members[i].words[place], size_t(bytes));
    if (worker.recorder)
      recordRelease(leaving, dst, place, bytes);
  }
}

template <typename Stays> void WaveGroup::keepIf(Stays stays) {
  size_t kept = 0, gone = 0;
  std::array<uint8_t, kMost> leaving;
  for (size_t i = 0; i < numActive; ++i)
    if (stays(members[active[i]]))
      active[kept++] = active[i];
    else
      leaving[gone++] = active[i];
  numActive = kept;
  releaseWords({leaving.data(), gone});
  keepScratch({leaving.data(), gone});
  for (size_t i = 0; i < gone; ++i) {
    tell(members[leaving[i]]);
    members[leaving[i]].inSlot = false;
  }
}

// Buffers of members are in slots from now on.
void WaveGroup::beginInSlots() {
  path = nullptr;
  hasEntered = false;
  for (size_t i = 0; i < numMembers; ++i) {
    Member &member = members[i];
    if (!member.inSlot)
      continue;
    if (!path)
      path = &pathOf(worker, *role, at.pc);
    scratchOf(member).pack(at.pc, worker);
    scratchOf(member).point(slot(member));
  }
}

// Brings what operations from `pc` on touch to the slots.
void WaveGroup::enter(int32_t pc) {
  if (!path || (hasEntered && role->kept.hasLoops))
    return;
  if (hasEntered && !role->kept.mayWait[size_t(pc)])
    return;
  hasEntered = true;
  const ScratchCopies &copies = path->enter(pc);
  if (copies.empty())
    return;
  std::array<std::byte *, kMost> from, to;
  std::array<uint8_t, kMost> of;
  size_t count = 0;
  for (size_t i = 0; i < numActive; ++i)
    if (const Member &member = members[active[i]]; member.inSlot && scratchOf(member).kept()) {
      from[count] = scratchOf(member).kept();
      of[count] = active[i];
      to[count++] = slot(member);
    }
  moveScratch(copies, narrows() ? &path->narrowed(pc, ScratchPath::Way::Enter) : nullptr, {of.data(), count},
              {from.data(), count}, {to.data(), count});
}

// Takes what matters back from the slots of members that wait.
void WaveGroup::keepScratch(std::span<const uint8_t> leaving) {
  if (!path || !hasEntered || leaving.empty())
    return;
  const ScratchPath::Leave &leave = path->leave(at.pc);
  std::array<std::byte *, kMost> slots, before, kept;
  std::array<WaveChunk *, kMost> chunks;
  std::array<uint8_t, kMost> of;
  size_t count = 0;
  bool hadRoom = true; // else nothing has mattered so far: all begin at the first operation
  for (uint8_t i : leaving) {
    if (!members[i].inSlot)
      continue;
    const CoreScratch scratch = scratchOf(members[i]);
    slots[count] = slot(members[i]);
    before[count] = scratch.kept();
    chunks[count] = leave.stays && scratch.kept() ? nullptr : scratch.exchangeRoom(at.pc, worker);
    of[count] = i;
    hadRoom = hadRoom && before[count];
    kept[count++] = scratch.kept();
  }
  const auto narrowed = [&](ScratchPath::Way way) { return narrows() ? &path->narrowed(at.pc, way) : nullptr; };
  moveScratch(leave.fromSlot, narrowed(ScratchPath::Way::FromSlot), {of.data(), count}, {slots.data(), count},
              {kept.data(), count});
  if (hadRoom)
    moveScratch(leave.fromKept, narrowed(ScratchPath::Way::FromKept), {of.data(), count}, {before.data(), count},
                {kept.data(), count});
  for (size_t i = 0; i < count; ++i)
    if (chunks[i])
      worker.release(chunks[i]);
}

// Of members `of`. `narrowed`: the same copies as they are written down; null: as they are.
void WaveGroup::moveScratch(const ScratchCopies &copies, const NarrowedCopies *narrowed, std::span<const uint8_t> of,
                            std::span<std::byte *const> from, std::span<std::byte *const> to) const {
  if (worker.recorder && narrowed)
    recordNarrowed(*narrowed, of, from, to);
  else if (worker.recorder)
    recordScratch(copies, from, to);
  for (size_t i = 0; i < from.size(); ++i) {
    if (i + kMembersAhead < from.size()) {
      __builtin_prefetch(from[i + kMembersAhead]);
      __builtin_prefetch(to[i + kMembersAhead], 1);
    }
    copyScratch(copies, from[i], to[i]);
  }
}

// Writes down where the member stands.
void WaveGroup::tell(Member &member) const {
  const int64_t element = member.thread->element;
  *member.thread = at;
  member.thread->element = element;
}

std::byte *WaveGroup::slot(const Member &member) const {
  return worker.slots.get() + (&member - members.data()) * role->scratchBytes;
}

// Goes through a loop's begin or end; false where the trip count differs from core to core.
bool WaveGroup::loop(const WaveOp &op) {
  const Affine &trips = op.op->instruction->extent[0];
  if (!trips.isConstant())
    return false;
  if (op.kind == WaveOp::Kind::LoopBegin) {
    if (trips.constant <= 0) {
      at.pc = op.op->jump;
    } else {
      at.counter[at.depth++] = 0;
      ++at.pc;
    }
  } else if (++at.counter[at.depth - 1] < trips.constant) {
    at.pc = op.op->jump;
  } else {
    --at.depth;
    ++at.pc;
  }
  return true;
}

WaveGroup::Place WaveGroup::placeOf(const OperandPlace &operand, int64_t bytes) const {
  Place place;
  place.kind = operand.kind;
  place.slot = operand.slot;
  place.words = int32_t((bytes + 3) / 4);
  place.immediate = reinterpret_cast<const std::byte *>(&operand.immediate);
  if (operand.kind != OperandKind::Memory)
    return place;
  if (operand.affine)
    place.affine = &operand.operand->base;
  else
    place.offset = operand.base;
  if (operand.looped)
    for (int k = 0; k < at.depth; ++k)
      place.offset += int64_t(operand.operand->loopStep[k]) * at.counter[k];
  return place;
}

// Whether the operand lies where nobody has worked lately.
bool WaveGroup::isFar(const Place &place) const {
  return place.kind == OperandKind::Memory && role->role->buffers[size_t(place.slot)].kind != BufferKind::Scratch;
}

// Where the operand begins on a core; `source` 0 or 1: of a and b, 2: the result.
std::byte *WaveGroup::pointer(const Place &place, const Member &member, size_t source) {
  switch (place.kind) {
  case OperandKind::Memory:
    return member.buffers[place.slot] + place.offset + (place.affine ? place.affine->at(*member.index) : 0);
  case OperandKind::Queue: {
    WavePort &port = member.ports[place.slot];
    if (source == 2)
      return port.room(state.arena, worker.chunks, place.words);
    return const_cast<std::byte *>(
        wordsThere(state, int32_t(&port - state.ports.data()), place.words, worker.pieced[source]));
  }
  case OperandKind::Immediate:
    return const_cast<std::byte *>(place.immediate);
  default:
    return nullptr;
  }
}

// Of a row whose elements are chosen by numbers: the operand that they are chosen from.
const OperandPlace *WaveGroup::indexedOperand(const DecodedOp &op) const {
  return op.row.kind == RowOp::Kind::Gather ? &op.a : op.row.kind == RowOp::Kind::Scatter ? &op.dst : nullptr;
}
IndexedPlace WaveGroup::indexedPlace(const Place &place, const OperandPlace &operand, const Member &member) const {
  return {place.offset + (place.affine ? place.affine->at(*member.index) : 0),
          role->role->buffers[size_t(operand.slot)].bytes, operand.operand->stride[kMaxDims - 1]};
}

// Members that would have to wait before they send wait at once.
void WaveGroup::keepNeeds(const WaveOp &op) {
  keepIf([&](Member &member) {
    for (const WaveOp::Need &need : op.needs)
      if (WavePort &port = member.ports[need.queue]; !isThere(port, need.words)) {
        waitFor(port, need.words);
        return false;
      }
    return true;
  });
  for (const OperandPlace *source : op.fetches) {
    const Place place = placeOf(*source, 0);
    for (size_t i = 0; i < numActive; ++i)
      __builtin_prefetch(pointer(place, members[active[i]], 0));
  }
}

// Members whose words are not there wait.
template <typename Words> void WaveGroup::keepThere(const WaveOp &op, Words wordsOf) {
  keepIf([&](Member &member) {
    bool waits = false;
    for (int i = 0; i < op.inputs; ++i)
      waits |= !isThere(member.ports[op.input[i].slot], wordsOf(member, op.input[i]));
    if (!waits)
      return true;
    member.partAhead = true;
    for (int i = 0; i < op.inputs; ++i)
      member.partAhead &= waitFor(member.ports[op.input[i].slot], wordsOf(member, op.input[i]));
    return false;
  });
}

void WaveGroup::runPlain(const WaveOp &op) {
  if (op.inputs > 0)
    keepThere(op, [](const Member &, const WaveOp::Input &input) { return input.words; });
  if (numActive == 0)
    return;
  enter(at.pc);
  const bool fuses = context.traces.empty();
  if (fuses && op.leftOut)
    return;
  if (recordsNarrow(op) && role->kept.narrow[size_t(op.narrow)].mayStay)
    letStay(op);
  if (fuses && (op.isDropped || (op.heldIn >= 0 && holdWords(op)))) {
    letWordsGo(op);
    return finish(op);
  }
  if (op.op->kind == DecodedOp::Kind::Nest)
    return runNest(op, fuses);
  bool together = false;
  if (op.kind == WaveOp::Kind::Copy)
    copyWords(op);
  else
    together = runRows(op);
  if (recordsNarrow(op))
    recordNarrow(op);
  else if (worker.recorder)
    record(op, together);
  letWordsGo(op);
  if (op.inputs > 0 || op.output >= 0)
    finish(op);
}

// Keeps words where they are for the nest or row that reads them; false where some core's do not lie together.
bool WaveGroup::holdWords(const WaveOp &op) {
  const Place place{OperandKind::Queue, op.input[0].slot, 0, nullptr, nullptr, op.input[0].words};
  for (size_t i = 0; i < numActive; ++i) {
    Member &member = members[active[i]];
    const std::byte *words = pointer(place, member, 0);
    if (words == worker.pieced[0].data())
      return false;
    member.words[op.heldIn] = words;
  }
  held[size_t(op.heldIn)] = at.pc;
  return true;
}

void WaveGroup::letWordsGo(const WaveOp &op) {
  for (int place = 0; place < kHeldPlaces; ++place)
    if (op.letsGo >> place & 1)
      held[size_t(place)] = -1;
}

// Where an operation's source begins.
const std::byte *WaveGroup::sourceOf(const WaveOp &op, const Place &place, const Member &member, int k) {
  if (const int held = placeHeld(op, k); held >= 0)
    return member.words[held] + op.wordsOffset[k] + (place.affine ? place.affine->at(*member.index) : 0);
  return pointer(place, member, size_t(k));
}

namespace {

constexpr int64_t kFewElements = 8; // less than the lanes of a vector
static_assert(64 * kFewElements * 8 <= kMostTogetherBytes);

// One source and a routine of many steps.
bool isLongFunction(Opcode opcode) {
  using enum Opcode;
  return opcode == Exp || opcode == Log || opcode == Tanh || opcode == Sigmoid || opcode == Erf || opcode == Sin ||
         opcode == Cos || opcode == Rsqrt || opcode == Sqrt;
}

} // namespace

// A long function of a few elements, for all members in one call, whose vectors are then full. False where a result
// lies across what another element is read from.
bool WaveGroup::runTogether(const WaveOp &row, ArrayOp function, int64_t n) {
  const DecodedOp &op = *row.op;
  const int64_t from = n * op.row.bytes[1], to = n * op.row.bytes[0];
  const Place dst = placeOf(op.dst, to), a = placeOf(op.a, from);
  alignas(64) std::byte sources[kMostTogetherBytes], results[kMostTogetherBytes];
  std::byte *places[kMost];
  for (size_t i = 0; i < numActive; ++i) {
    const Member &member = members[active[i]];
    const std::byte *source = sourceOf(row, a, member, 0);
    places[i] = pointer(dst, member, 2);
    if (source != places[i] && source < places[i] + to && places[i] < source + from)
      return false;
    std::memcpy(sources + int64_t(i) * from, source, size_t(from));
  }
  function(results, sources, nullptr, n * int64_t(numActive));
  for (size_t i = 0; i < numActive; ++i)
    std::memcpy(places[i], results + int64_t(i) * to, size_t(to));
  return true;
}

// True if all cores' elements went through one call.
bool WaveGroup::runRows(const WaveOp &row) {
  const DecodedOp &op = *row.op;
  const ShapeVariant &variant = role->program->shapes[size_t(op.shape)];
  const int64_t n = variant.shape.elements;
  if (n <= kFewElements && variant.single && isLongFunction(op.instruction->opcode) &&
      op.a.kind == OperandKind::Memory && op.dst.kind == OperandKind::Memory && runTogether(row, variant.single, n))
    return true;
  const Place dst = placeOf(op.dst, n * op.row.bytes[0]), a = placeOf(op.a, n * op.row.bytes[1]),
              b = placeOf(op.b, n * op.row.bytes[2]);
  const OperandPlace *const indexed = indexedOperand(op);
  const Place from = indexed ? placeOf(*indexed, 0) : Place();
  const bool fetchA = isFar(a), fetchB = op.row.usesB && isFar(b), fetchDst = isFar(dst);
  for (size_t i = 0; i < numActive; ++i) {
    if (i + kMembersAhead < numActive) {
      const Member &next = members[active[i + kMembersAhead]];
      if (fetchA)
        __builtin_prefetch(pointer(a, next, 0));
      if (fetchB)
        __builtin_prefetch(pointer(b, next, 1));
      if (fetchDst)
        __builtin_prefetch(pointer(dst, next, 2), 1);
    }
    const Member &member = members[active[i]];
    const std::byte *first = sourceOf(row, a, member, 0),
                    *second = op.row.usesB ? sourceOf(row, b, member, 1) : nullptr;
    runRowAt(op, variant.shape, variant.single, pointer(dst, member, 2), first, second,
             indexed ? indexedPlace(from, *indexed, member) : IndexedPlace());
  }
  return false;
}

// Operands of the nest, and of the next operation if that is done along with it.
WaveGroup::NestPlaces WaveGroup::nestPlaces(const WaveOp &op, const WaveOp *sum) const {
  NestPlaces places{placeOf(op.op->dst, 0), placeOf(op.op->a, 0), placeOf(op.op->b, 0), {}, {}};
  if (sum) {
    const int64_t bytes = sum->elements * int64_t(sizeof(float));
    if (sum->inputs > 0)
      places.add = placeOf(sum->op->a.kind == OperandKind::Queue ? sum->op->a : sum->op->b, bytes);
    places.out = placeOf(sum->op->dst, bytes);
  }
  return places;
}

void WaveGroup::runNest(const WaveOp &nest, bool fuses) {
  const DecodedOp &op = *nest.op;
  const PlanVariant &variant = role->program->plans[size_t(op.plan)];
  const WaveOp *sum = fuses && nest.addsNext ? &nest + 1 : nullptr;
  for (int k : {0, 1})
    if (nest.addsIfHeld && nest.wordsOf[k] >= 0 && !holds(nest, k))
      sum = nullptr;
  for (size_t i = 0; i < numActive && sum && sum->inputs > 0; ++i)
    if (!isThere(members[active[i]].ports[sum->input[0].slot], sum->input[0].words))
      sum = nullptr;
  if (sum)
    enter(at.pc + 1);
  const NestPlaces places = nestPlaces(nest, sum);
  const auto &[dst, a, b, add, out] = places;
  const bool fetchA = isFar(a), fetchB = isFar(b);
  for (size_t i = 0; i < numActive; ++i) {
    if (i + kMembersAhead < numActive) {
      const Member &next = members[active[i + kMembersAhead]];
      if (fetchA)
        __builtin_prefetch(pointer(a, next, 0));
      if (fetchB)
        __builtin_prefetch(pointer(b, next, 1));
    }
    const Member &member = members[active[i]];
    NestEnds ends{fuses && nest.zeros >= 0, nullptr, nullptr};
    if (sum) {
      if (add.kind == OperandKind::Queue)
        ends.add = reinterpret_cast<const float *>(pointer(add, member, 0));
      ends.out = reinterpret_cast<float *>(pointer(out, member, 2));
    }
    runNestAt(op, variant, context.kernels, worker.scratch.get(), true, pointer(dst, member, 2),
              sourceOf(nest, a, member, 0), sourceOf(nest, b, member, 1), ends);
  }
  if (worker.recorder)
    recordNest(nest, places, fuses && nest.zeros >= 0);
  letWordsGo(nest);
  if (sum) {
    finish(*sum);
    ++at.pc;
  }
}

void WaveGroup::copyWords(const WaveOp &op) {
  if (op.output < 0)
    return; // words that nobody needs
  const WaveOp::Input &input = op.input[0];
  const int64_t bytes = op.elements * input.width;
  const Place dst{OperandKind::Queue, op.output, 0, nullptr, nullptr, input.words},
      a{OperandKind::Queue, input.slot, 0, nullptr, nullptr, input.words};
  for (size_t i = 0; i < numActive; ++i) {
    const Member &member = members[active[i]];
    const std::byte *from = pointer(a, member, 0);
    std::byte *to = pointer(dst, member, 2);
    std::memcpy(to, from, size_t(bytes));
    std::memset(to + bytes, 0, size_t(-bytes & 3));
  }
}

void WaveGroup::finish(const WaveOp &op) {
  const int32_t words = op.output >= 0 ? int32_t((op.elements * op.width + 3) / 4) : 0;
  for (size_t i = 0; i < numActive; ++i) {
    Member &member = members[active[i]];
    for (int k = 0; k < op.inputs; ++k) {
      WavePort &from = member.ports[op.input[k].slot];
      from.position += op.input[k].words;
      from.wanted = kNobodyWaits;
      member.taken |= uint64_t(1) << (op.input[k].slot & 63);
    }
    if (op.output < 0)
      continue;
    WavePort &to = member.ports[op.output];
    to.position += words;
    to.there = to.position;
    member.sent |= uint64_t(1) << (op.output & 63);
  }
}

void WaveGroup::runEach(const WaveOp &op) {
  if (recordsNarrow(op)) {
    keepThere(op, [&](const Member &member, const WaveOp::Input &input) {
      const int64_t elements = instructionElements(*op.op->instruction, *member.index);
      return int32_t(input.share * ((elements * input.width + 3) / 4));
    });
    if (numActive == 0)
      return;
  }
  enter(at.pc);
  if (recordsNarrow(op))
    recordNarrow(op);
  keepIf([&](Member &member) {
    tell(member);
    WaveCore core(context, plan, state, worker, *role, member.core, false);
    if (recordsNarrow(op))
      core.leaveOutOfRecord();
    const bool complete = core.step(op, *member.thread);
    member.sent |= core.sentOn();
    member.taken |= core.takenFrom();
    member.partAhead = core.couldDoPart();
    return complete;
  });
}

void WaveGroup::runAlone() {
  for (size_t i = 0; i < numActive; ++i) {
    Member &member = members[active[i]];
    tell(member);
    if (std::exchange(member.inSlot, false)) {
      const CoreScratch scratch = scratchOf(member);
      if (!hasEntered) {
        scratch.unpack(at.pc, worker);
      } else {
        const ScratchCopies &copies = path->settle(at.pc);
        if (worker.recorder)
          worker.recorder->addScratch(copies, slot(member), scratch.whole());
        copyScratch(copies, slot(member), scratch.whole());
        scratch.settle(worker);
      }
    }
    WaveCore core(context, plan, state, worker, *role, member.core, false);
    core.run();
    member.sent |= core.sentOn();
    member.taken |= core.takenFrom();
    member.partAhead = core.couldDoPart();
  }
  numActive = 0;
}

} // namespace wsc::emulator
