// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands of the cores of a step mostly begin at equal distances: slots do, and residents of adjacent cores; words
// that many cores read are at distance 0. Only others take a number for each core.
#include "runtime/emulator/WaveRecord.h"

#include "runtime/emulator/WaveState.h"

#include <algorithm>
#include <array>
#include <utility>

namespace wsc::emulator {

namespace {

// Calls visit(source, at, count) for runs of the `words` words of a sink that come behind the next `before` ones, which
// lie at `at` in the source's memory.
template <typename Visit> void forPieces(WaveState &state, int32_t number, int64_t before, int64_t words, Visit visit) {
  const WavePort &from = state.ports[size_t(number)];
  const std::span<const WaveSegment> segments =
      state.streams->composition(state.streams->portComposition[size_t(number)]);
  size_t s = size_t(from.segment);
  int64_t at = from.position - from.base + before;
  for (int64_t left = words; left > 0;) {
    for (; at >= segments[s].count; ++s)
      at -= segments[s].count;
    const WavePort::Piece piece = state.ports[size_t(segments[s].port)].piece(segments[s].begin + at);
    const int64_t count = std::min({left, segments[s].count - at, piece.words});
    visit(segments[s].port, piece.data, count);
    left -= count;
    at += count;
  }
}

} // namespace

int64_t WaveRecord::Stream::bytes() const {
  return steps.bytes() + int64_t(extras.size() * sizeof(RecordedExtra) + distances.size() * sizeof(int32_t) +
                                 origins.size() * sizeof(int64_t) + pieces.size() * sizeof(Piece) +
                                 firstPiece.size() * sizeof(uint32_t) + groups.size() * sizeof(RecordedGroup) +
                                 shapes.size() * sizeof(ShapeVariant) + links.size() * sizeof(RecordedLink) +
                                 chains.size() * sizeof(RecordedChain) + chainSources.size() * sizeof(chainSources[0]));
}

void WaveRecord::Stream::shrink() {
  extras.shrink_to_fit();
  groups.shrink_to_fit();
  distances.shrink_to_fit();
  origins.shrink_to_fit();
  pieces.shrink_to_fit();
  firstPiece.shrink_to_fit();
  chains.shrink_to_fit();
  chainSources.shrink_to_fit();
}

RecordedOperand::Region WaveRecorder::regionOf(const std::byte *at, const std::byte *&begin) const {
  using enum RecordedOperand::Region;
  begin = nullptr;
  if (!at)
    return None;
  const std::pair<const Pages *, RecordedOperand::Region> regions[] = {
      {&state.arena.memory(), Words}, {&worker.slots, Slot}, {&state.scratch, Scratch}, {&state.fifoArea, Fifo}};
  for (const auto &[pages, region] : regions)
    if (pages->holds(at)) {
      begin = pages->get();
      return region;
    }
  return Address;
}

RecordedOperand WaveRecorder::places(std::span<std::byte *const> begins, int64_t runStep) {
  RecordedOperand operand;
  const std::byte *begin = nullptr;
  operand.region = regionOf(begins[0], begin);
  operand.runStep = int32_t(runStep);
  std::array<int64_t, kMostCores> offsets;
  for (size_t i = 0; i < begins.size(); ++i)
    offsets[i] = int64_t(uintptr_t(begins[i]) - uintptr_t(begin));
  if (!tables.place(operand, {offsets.data(), begins.size()}))
    giveUp();
  return operand;
}

bool DistanceTables::place(RecordedOperand &operand, std::span<const int64_t> offsets) {
  const int64_t base = offsets[0], stride = offsets.size() > 1 ? offsets[1] - base : 0;
  operand.base = uint64_t(base);
  bool even = true;
  std::array<int32_t, kMostCores> distances;
  for (size_t i = 0; i < offsets.size(); ++i) {
    const int64_t distance = offsets[i] - base;
    distances[i] = int32_t(distance);
    if (distances[i] != distance)
      return false;
    even = even && distance == int64_t(i) * stride;
  }
  operand.hasTable = !even;
  if (even)
    operand.stride = int32_t(stride);
  else
    operand.table = tableOf({distances.data(), offsets.size()});
  return true;
}

// Where the distances are in the stream.
uint32_t DistanceTables::tableOf(std::span<const int32_t> distances) {
  uint64_t hash = distances.size();
  for (int32_t distance : distances)
    hash = (hash ^ uint32_t(distance)) * 0x9e3779b97f4a7c15u;
  std::vector<int32_t> &all = stream.distances;
  uint32_t &known = tables[hash];
  if (known + distances.size() > all.size() || !std::equal(distances.begin(), distances.end(), all.begin() + known)) {
    known = uint32_t(all.size());
    all.insert(all.end(), distances.begin(), distances.end());
  }
  return known;
}

RecordedOperand WaveRecorder::words(std::span<const int32_t> ports, std::span<const int64_t> before, int64_t words) {
  const size_t first = stream.pieces.size(), firstCount = stream.firstPiece.size();
  bool together = true;
  for (size_t i = 0; i < ports.size(); ++i) {
    stream.firstPiece.push_back(uint32_t(stream.pieces.size()));
    piecesThere(state, ports[i], before.empty() ? 0 : before[i], words, stream.pieces);
    together &= stream.pieces.size() == stream.firstPiece.back() + 1;
  }
  if (!together) {
    RecordedOperand operand;
    operand.region = RecordedOperand::Region::Pieces;
    operand.table = uint32_t(firstCount);
    stream.firstPiece.push_back(uint32_t(stream.pieces.size()));
    piecedWords = std::max(piecedWords, words);
    return operand;
  }
  std::vector<std::byte *> begins;
  for (size_t i = first; i < stream.pieces.size(); ++i)
    begins.push_back(state.arena.memory().get() + stream.pieces[i].offset);
  stream.pieces.resize(first);
  stream.firstPiece.resize(firstCount);
  return places(begins);
}

int32_t WaveRecorder::origins(std::span<const int64_t> all) {
  const auto first = int32_t(stream.origins.size());
  stream.origins.insert(stream.origins.end(), all.begin(), all.end());
  return first;
}

void WaveRecorder::add(const RecordedStep &step) {
  constexpr size_t kStepsBetweenChecks = 1024;
  stream.steps.push_back(step);
  isLost |= stream.steps.size() % kStepsBetweenChecks == 0 && stream.bytes() > kMostBytes;
  if (isLost) {
    std::deque<ChainForm> forms = std::move(stream.forms); // others' links may have them
    stream = {};
    stream.forms = std::move(forms);
  }
}

void WaveRecorder::addScratch(const ScratchCopies &copies, std::byte *from, std::byte *to) {
  if (copies.empty())
    return;
  RecordedStep step;
  step.kind = RecordedStep::Kind::Scratch;
  step.copies = &copies;
  step.dst = places({&to, 1});
  step.a = places({&from, 1});
  add(step);
}

void WaveRecorder::addChains(RecordedStep step, const ChainForm &form) {
  step.kind = RecordedStep::Kind::Chains;
  step.chains = {uint32_t(stream.links.size()), step.cores};
  if (stream.forms.empty() || !(stream.forms.back() == form))
    stream.forms.push_back(form);
  add(step);
}

void WaveRecorder::addLink(RecordedLink link, int32_t from, int32_t to, int32_t words) {
  if (isLost)
    return;
  const ChainForm &form = stream.forms.back();
  if (from >= 0) {
    const int32_t source = state.streams->portSource[size_t(from)];
    const WavePort &port = state.ports[size_t(from)];
    const SentLink &last = sent[size_t(source)];
    if (last.form && last.position == port.position && last.words == words && *last.form == form) {
      link.before = last.link;
      link.streamBefore = last.stream;
    } else {
      const std::byte *at = state.ports[size_t(source)].piece(port.position).data;
      link.add = offsetOfWords(at);
      keepWords(source, at);
    }
  }
  if (to >= 0)
    sent[size_t(to)] = {&form, number, int32_t(stream.links.size()), state.ports[size_t(to)].position, words};
  stream.links.push_back(link);
}

int64_t WaveRecorder::offsetOfWords(const std::byte *at) const { return at - state.arena.memory().get(); }

void WaveRecorder::letStay(int32_t number, int64_t words, int64_t copy) {
  constexpr size_t kMany = 8; // fewer sinks: each as well keeps its words with the rest of its scratch
  const int32_t stream = state.streams->portStream[size_t(number)];
  if (stream < 0 || state.streams->sinksOf(stream).size() < kMany)
    return;
  forPieces(state, number, 0, words, [&](int32_t source, const std::byte *at, int64_t count) {
    if (count < words)
      return;
    keepWords(source, at);
    staying[size_t(copy)] = offsetOfWords(at);
  });
}

std::byte *WaveRecorder::stayingWords(int64_t copy) const {
  const int64_t offset = staying[size_t(copy)];
  return offset < 0 ? nullptr : state.arena.memory().get() + offset;
}

void WaveRecorder::keepWords(int32_t source, const std::byte *at) {
  for (WaveChunk *chunk = std::atomic_ref(state.ports[size_t(source)].chunk).load(std::memory_order_acquire); chunk;
       chunk = chunk->older)
    if (at >= chunk->data() && at < chunk->data() + int64_t(chunk->words()) * 4)
      return chunk->stay();
}

void piecesThere(WaveState &state, int32_t number, int64_t before, int64_t words,
                 std::vector<WaveRecord::Piece> &pieces) {
  const std::byte *arena = state.arena.memory().get();
  bool isFirst = true;
  forPieces(state, number, before, words, [&](int32_t, const std::byte *at, int64_t count) {
    if (!std::exchange(isFirst, false) && pieces.back().offset + pieces.back().words * 4 == at - arena)
      pieces.back().words += count;
    else
      pieces.push_back({at - arena, count});
  });
}

} // namespace wsc::emulator
