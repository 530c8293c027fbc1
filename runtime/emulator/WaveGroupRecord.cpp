// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is written down of a group's run.
#include "runtime/emulator/WaveGroup.h"

#include <algorithm>
#include <utility>

namespace wsc::emulator {

using namespace format;

// An operand of the active members.
RecordedOperand WaveGroup::recorded(const Place &place, size_t source) {
  if (place.kind == OperandKind::Queue && source != 2) {
    std::array<int32_t, kMost> ports;
    for (size_t i = 0; i < numActive; ++i)
      ports[i] = int32_t(&members[active[i]].ports[place.slot] - state.ports.data());
    return worker.recorder->words({ports.data(), numActive}, place.words);
  }
  std::array<std::byte *, kMost> begins;
  for (size_t i = 0; i < numActive; ++i)
    begins[i] = pointer(place, members[active[i]], source);
  const bool window =
      place.kind == OperandKind::Memory && role->role->buffers[size_t(place.slot)].kind == BufferKind::Resident;
  return worker.recorder->places(
      {begins.data(), numActive},
      window ? context.prepared.windows[size_t(role - plan.roles.data())][size_t(place.slot)].iterationStep() : 0);
}

// Of a nest or row.
RecordedOperand WaveGroup::recordedSource(const WaveOp &op, const Place &place, int k) {
  const bool isHeld = holds(op, k);
  if (!isHeld && !stayingSource(op, k, members[active[0]]))
    return recorded(place, size_t(k));
  std::array<std::byte *, kMost> begins;
  for (size_t i = 0; i < numActive; ++i) {
    const Member &member = members[active[i]];
    begins[i] = isHeld ? const_cast<std::byte *>(sourceOf(op, place, member, k))
                       : stayingSource(op, k, member) + op.wordsOffset[k] +
                             (place.affine ? place.affine->at(*member.index) : 0);
  }
  return worker.recorder->places({begins.data(), numActive});
}

void WaveGroup::letStay(const WaveOp &op) {
  for (size_t i = 0; i < numActive; ++i) {
    const Member &member = members[active[i]];
    worker.recorder->letStay(portOf(member, op.input[0].slot), op.input[0].words, narrowOf(member, op.narrow));
  }
}

std::byte *WaveGroup::stayingSource(const WaveOp &op, int k, const Member &member) const {
  const int32_t copy = op.wordsOf[k];
  const int32_t narrow = copy < 0 ? -1 : role->threads[0][size_t(copy)].narrow;
  return narrow < 0 || !context.traces.empty() ? nullptr : worker.recorder->stayingWords(narrowOf(member, narrow));
}

// Calls write() for members whose sources are words that stay, and for others.
template <typename Record> void WaveGroup::recordBySources(const WaveOp &op, Record write) {
  const auto all = active;
  const size_t count = numActive;
  const auto sort = [&](uint8_t i) {
    return int(stayingSource(op, 0, members[i]) != nullptr) + 2 * int(stayingSource(op, 1, members[i]) != nullptr);
  };
  for (int each = 0; each < 4; ++each) {
    numActive = size_t(std::copy_if(all.begin(), all.begin() + int64_t(count), active.begin(),
                                    [&](uint8_t i) { return sort(i) == each; }) -
                       active.begin());
    if (numActive > 0)
      write();
  }
  active = all;
  numActive = count;
}

// Of rows of few packed elements: whether the elements of all cores may go through one call; not where an operand of
// one core could be the result of another's, or of one of its own elements.
bool WaveGroup::goesTogether(const DecodedOp &op, const ShapeVariant &variant, const RecordedStep &step) const {
  const RowOp &row = op.row;
  const int64_t n = variant.shape.elements,
                widest = std::max({row.bytes[0], row.bytes[1], row.usesB ? row.bytes[2] : 0});
  if (row.kind != RowOp::Kind::Compute || !variant.single || row.readsDst ||
      n * widest > kMostTogetherBytes / int64_t(kMost) || step.dst.region == RecordedOperand::Region::None)
    return false;
  const auto isApart = [&](int k, const OperandPlace &source) {
    if (!row.mayAlias[k])
      return true;
    // Elements are taken before any is written, so a source may be the result itself.
    if (source.slot != op.dst.slot || source.affine || op.dst.affine || source.looped || op.dst.looped)
      return false;
    return (source.base == op.dst.base && row.bytes[k] == row.bytes[0]) ||
           source.base + n * row.bytes[k] <= op.dst.base || op.dst.base + n * row.bytes[0] <= source.base;
  };
  return isApart(1, op.a) && (!row.usesB || isApart(2, op.b));
}

void WaveGroup::record(const WaveOp &op, bool together) {
  if (op.wordsOf[0] >= 0 || op.wordsOf[1] >= 0)
    return recordBySources(op, [&] { recordRow(op, together); });
  recordRow(op, together);
}

void WaveGroup::recordRow(const WaveOp &op, bool together) {
  RecordedStep step;
  step.cores = uint8_t(numActive);
  step.op = op.op;
  if (op.kind == WaveOp::Kind::Copy) {
    if (op.output < 0)
      return;
    step.bytes = op.elements * op.input[0].width;
    const int32_t words = op.input[0].words;
    step.dst = recorded({OperandKind::Queue, op.output, 0, nullptr, nullptr, words}, 2);
    step.a = recorded({OperandKind::Queue, op.input[0].slot, 0, nullptr, nullptr, words}, 0);
    return worker.recorder->add(step);
  }
  const DecodedOp &decoded = *op.op;
  const ShapeVariant &variant = role->program->shapes[size_t(decoded.shape)];
  const int64_t n = variant.shape.elements;
  step.kind = RecordedStep::Kind::Row;
  step.row = &variant;
  step.dst = recorded(placeOf(decoded.dst, n * decoded.row.bytes[0]), 2);
  step.a = recordedSource(op, placeOf(decoded.a, n * decoded.row.bytes[1]), 0);
  if (decoded.row.usesB)
    step.b = recordedSource(op, placeOf(decoded.b, n * decoded.row.bytes[2]), 1);
  if (const OperandPlace *indexed = indexedOperand(decoded)) {
    const Place from = placeOf(*indexed, 0);
    std::array<int64_t, kMost> origins;
    for (size_t i = 0; i < numActive; ++i)
      origins[i] = indexedPlace(from, *indexed, members[active[i]]).origin;
    RecordedExtra extra;
    extra.origins = worker.recorder->origins({origins.data(), numActive});
    extra.indexed = indexedPlace(from, *indexed, members[active[0]]);
    step.extra = worker.recorder->extra(extra);
  }
  // Windows that move by different steps may come to overlap in another iteration.
  if (together && (!decoded.row.mayAlias[1] || step.dst.runStep == step.a.runStep)) {
    step.kind = RecordedStep::Kind::Together;
    step.isOfShape = true;
  } else if (goesTogether(decoded, variant, step)) {
    step.kind = RecordedStep::Kind::Together;
  }
  worker.recorder->add(step);
}

void WaveGroup::recordRuns(std::vector<ByteRun> &runs) const {
  std::ranges::sort(runs, {}, &ByteRun::bytes);
  std::array<std::byte *, kMost> from, to;
  for (size_t begin = 0, end = 0; begin < runs.size(); begin = end) {
    size_t count = 0;
    for (; end < runs.size() && count < kMost && runs[end].bytes == runs[begin].bytes; ++end, ++count) {
      from[count] = runs[end].from;
      to[count] = runs[end].to;
    }
    RecordedStep step;
    step.cores = uint8_t(count);
    step.bytes = runs[begin].bytes;
    step.dst = worker.recorder->places({to.data(), count});
    step.a = worker.recorder->places({from.data(), count});
    worker.recorder->add(step);
  }
}

// A copy of words to scratch: of each stretch that lies there what its core reads.
void WaveGroup::recordNarrow(const WaveOp &op) {
  const Instruction &instruction = *op.op->instruction;
  const Operand &dst = instruction.dst;
  const NarrowScratch &narrow = role->kept.narrow[size_t(op.narrow)];
  const bool packed = dst.stride[kMaxDims - 1] == 4;
  std::vector<WaveRecord::Piece> pieces;
  std::vector<ByteRun> runs;
  for (size_t i = 0; i < numActive; ++i) {
    const Member &member = members[active[i]];
    if (worker.recorder->stayingWords(narrowOf(member, op.narrow)))
      continue;
    std::array<int64_t, kMaxDims> extent;
    for (size_t d = 0; d < extent.size(); ++d)
      extent[d] = instruction.extent[d].at(*member.index);
    const int64_t stretch = packed ? std::exchange(extent[kMaxDims - 1], 1) : 1; // words
    int64_t word = 0;
    for (int64_t i0 = 0; i0 < extent[0]; ++i0)
      for (int64_t i1 = 0; i1 < extent[1]; ++i1)
        for (int64_t i2 = 0; i2 < extent[2]; ++i2)
          for (int64_t i3 = 0; i3 < extent[3]; ++i3, word += stretch) {
            const int64_t place = dst.base.at(*member.index) + i0 * dst.stride[0] + i1 * dst.stride[1] +
                                  i2 * dst.stride[2] + i3 * dst.stride[3],
                          begin = role->bufferOffset[size_t(dst.buffer)] + place;
            const auto [low, high] = narrow.readOf(begin, begin + stretch * 4, *member.index);
            if (low >= high)
              continue;
            pieces.clear();
            piecesThere(state, portOf(member, op.input[0].slot), word + (low - begin) / 4, (high - low) / 4, pieces);
            std::byte *to = member.buffers[dst.buffer] + place + (low - begin);
            for (const WaveRecord::Piece &piece : pieces) {
              runs.push_back({piece.words * 4, state.arena.memory().get() + piece.offset, to});
              to += piece.words * 4;
            }
          }
  }
  recordRuns(runs);
}

// Source k of nests in a chain: where its words come from, or nothing if all cores have it at an address where it never
// changes.
std::optional<WaveGroup::ChainSource> WaveGroup::chainSource(const WaveOp &nest, const Place &place, int k) const {
  ChainSource source;
  if (holds(nest, k)) {
    source.queue = role->threads[0][size_t(nest.wordsOf[k])].input[0].slot;
    for (size_t i = 0; i < numActive; ++i)
      if (state.streams->portSource[size_t(portOf(members[active[i]], source.queue))] < 0)
        return std::nullopt;
    return source;
  }
  if (place.kind != OperandKind::Memory)
    return std::nullopt;
  const Buffer &buffer = role->role->buffers[size_t(place.slot)];
  if (buffer.kind == BufferKind::Constant)
    return source;
  if (buffer.kind != BufferKind::Resident ||
      context.prepared.executable->residents[size_t(buffer.resident)].section < 0)
    return std::nullopt;
  source.runStep =
      int32_t(context.prepared.windows[size_t(role - plan.roles.data())][size_t(place.slot)].iterationStep());
  return source;
}

// Writes the nests down as links of chains; false where they can be none.
bool WaveGroup::recordLinks(const WaveOp &nest, const NestPlaces &places) {
  const PlanVariant &variant = role->program->plans[size_t(nest.op->plan)];
  if (places.out.kind == OperandKind::None || !isChainable(variant))
    return false;
  const std::optional<ChainSource> sources[2] = {chainSource(nest, places.a, 0), chainSource(nest, places.b, 1)};
  if (!sources[0] || !sources[1])
    return false;
  const bool adds = places.add.kind == OperandKind::Queue;
  for (size_t i = 0; adds && i < numActive; ++i) {
    const int32_t from = portOf(members[active[i]], places.add.slot), source = state.streams->portSource[size_t(from)];
    if (source < 0 || state.ports[size_t(source)].piece(state.ports[size_t(from)].position).words < places.add.words)
      return false;
  }
  RecordedStep step;
  step.cores = uint8_t(numActive);
  step.nest = &variant;
  step.dst = recorded(places.out, 2);
  ChainForm form{&variant.plan, {}, {}};
  for (int k : {0, 1}) {
    form.inWords[k] = sources[k]->queue >= 0;
    form.runStep[k] = sources[k]->runStep;
    RecordedOperand &common = k == 0 ? step.a : step.b;
    common.region = form.inWords[k] ? RecordedOperand::Region::Words : RecordedOperand::Region::Address;
    common.runStep = form.runStep[k];
  }
  worker.recorder->addChains(step, form);
  for (size_t i = 0; i < numActive; ++i) {
    const Member &member = members[active[i]];
    RecordedLink link;
    for (int k : {0, 1}) {
      const std::byte *at = sourceOf(nest, k == 0 ? places.a : places.b, member, k);
      link.source[k] = form.inWords[k] ? worker.recorder->offsetOfWords(at) : int64_t(uintptr_t(at));
      if (form.inWords[k])
        worker.recorder->keepWords(state.streams->portSource[size_t(portOf(member, sources[k]->queue))], at);
    }
    int32_t to = -1;
    if (places.out.kind == OperandKind::Queue) {
      to = portOf(member, places.out.slot);
      if (const int32_t stream = state.streams->portStream[size_t(to)];
          stream < 0 || state.streams->sinksOf(stream).size() != 1 || state.streams->sourcesOf(stream).size() != 1)
        to = -1;
    }
    worker.recorder->addLink(link, adds ? portOf(member, places.add.slot) : -1, to, places.out.words);
  }
  return true;
}

void WaveGroup::recordNest(const WaveOp &nest, const NestPlaces &places, bool fresh) {
  if (nest.wordsOf[0] >= 0 || nest.wordsOf[1] >= 0)
    return recordBySources(nest, [&] { recordOneNest(nest, places, fresh); });
  recordOneNest(nest, places, fresh);
}

void WaveGroup::recordOneNest(const WaveOp &nest, const NestPlaces &places, bool fresh) {
  if (fresh && recordLinks(nest, places))
    return;
  RecordedStep step;
  step.kind = RecordedStep::Kind::Nest;
  step.cores = uint8_t(numActive);
  step.op = nest.op;
  step.nest = &role->program->plans[size_t(nest.op->plan)];
  step.fresh = fresh;
  step.dst = recorded(places.dst, 2);
  step.a = recordedSource(nest, places.a, 0);
  step.b = recordedSource(nest, places.b, 1);
  if (places.out.kind != OperandKind::None)
    step.extra =
        worker.recorder->extra({places.add.kind == OperandKind::Queue ? recorded(places.add, 0) : RecordedOperand(),
                                recorded(places.out, 2),
                                {},
                                -1});
  worker.recorder->add(step);
}

void WaveGroup::recordRelease(std::span<const uint8_t> leaving, const Place &dst, int place, int64_t bytes) {
  const int32_t narrow = role->threads[0][size_t(held[size_t(place)])].narrow;
  std::array<std::byte *, kMost> to, from;
  size_t count = 0;
  for (uint8_t i : leaving) {
    if (narrow >= 0 && worker.recorder->stayingWords(narrowOf(members[i], narrow)))
      continue;
    to[count] = pointer(dst, members[i], 2);
    from[count++] = const_cast<std::byte *>(members[i].words[place]);
  }
  if (count == 0)
    return;
  RecordedStep step;
  step.cores = uint8_t(count);
  step.bytes = bytes;
  step.dst = worker.recorder->places({to.data(), count});
  step.a = worker.recorder->places({from.data(), count});
  worker.recorder->add(step);
}

// Copies of scratch of members `of`, between the places of the same number: where each needs a part, that alone.
void WaveGroup::recordNarrowed(const NarrowedCopies &copies, std::span<const uint8_t> of,
                               std::span<std::byte *const> from, std::span<std::byte *const> to) const {
  recordScratch(copies.common, from, to);
  std::vector<ByteRun> runs;
  for (const NarrowedCopies::Part &part : copies.parts)
    for (size_t i = 0; i < of.size(); ++i) {
      const auto copy = int32_t(part.narrow - role->kept.narrow.data());
      if (worker.recorder->stayingWords(narrowOf(members[of[i]], copy)))
        continue;
      const auto [low, high] = part.narrow->readOf(part.inSlot, part.inSlot + part.copy.bytes, *members[of[i]].index);
      if (low < high)
        runs.push_back(
            {high - low, from[i] + part.copy.from + (low - part.inSlot), to[i] + part.copy.to + (low - part.inSlot)});
    }
  recordRuns(runs);
}

// Copies of scratch between the places of the same number.
void WaveGroup::recordScratch(const ScratchCopies &copies, std::span<std::byte *const> from,
                              std::span<std::byte *const> to) const {
  if (copies.empty() || from.empty())
    return;
  RecordedStep step;
  step.kind = RecordedStep::Kind::Scratch;
  step.cores = uint8_t(from.size());
  step.copies = &copies;
  step.dst = worker.recorder->places(to);
  step.a = worker.recorder->places(from);
  worker.recorder->add(step);
}

} // namespace wsc::emulator
