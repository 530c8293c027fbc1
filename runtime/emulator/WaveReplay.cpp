// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/CopyGrid.h"
#include "runtime/emulator/WaveRecord.h"
#include "runtime/emulator/WaveState.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <type_traits>

namespace wsc::emulator {

namespace {

constexpr int64_t kFewBytes = 64; // that take longer to call for than to copy
constexpr int64_t kLineBytes = 64, kMostFetched = 8 * kLineBytes;
constexpr int32_t kCoresAhead = 8; // whose operands are fetched while others are at work
constexpr int32_t kFewCores = 4;   // that are not worth gathering their elements

// An operand of a step's cores.
class Places {
public:
  using Region = RecordedOperand::Region;

  Places(const RecordedOperand &operand, const WaveRecord::Stream &stream, const WaveState &state,
         const WaveWorker &worker, int64_t iterations, std::vector<std::byte> &pieced)
      : operand(operand), stream(stream), arena(state.arena.memory().get()), pieced(pieced) {
    switch (operand.region) {
    case Region::None:
    case Region::Pieces:
    case Region::Address:
      begin = nullptr;
      break;
    case Region::Scratch:
      begin = state.scratch.get();
      break;
    case Region::Slot:
      begin = worker.slots.get();
      break;
    case Region::Fifo:
      begin = state.fifoArea.get();
      break;
    case Region::Words:
      begin = arena;
      break;
    }
    table = operand.hasTable ? &stream.distances[operand.table] : nullptr;
    // Cores that lie close together are fetched by the host.
    const bool isApart = table || std::abs(operand.stride) >= kLineBytes;
    isFar = isApart &&
            (operand.region == Region::Scratch || operand.region == Region::Address || operand.region == Region::Words);
    first = uintptr_t(begin) + uintptr_t(operand.base) + uintptr_t(iterations * int64_t(operand.runStep));
  }

  bool isNone() const { return operand.region == Region::None; }
  bool inPieces() const { return operand.region == Region::Pieces; }
  // Where core number `core` has it; pieces are put together for it.
  std::byte *at(int32_t core) const {
    if (operand.region == Region::None)
      return nullptr;
    if (inPieces()) {
      copyPieces(core, pieced.data());
      return pieced.data();
    }
    return reinterpret_cast<std::byte *>(first +
                                         uintptr_t(table ? int64_t(table[core]) : core * int64_t(operand.stride)));
  }
  // Where a core has it whose own offset is `offset`.
  std::byte *from(int64_t offset) const { return reinterpret_cast<std::byte *>(first + uintptr_t(offset)); }
  // Calls use(core, place) for all cores.
  template <typename Use> void forEach(int32_t cores, Use use) const {
    if (table && !inPieces()) {
      for (int32_t i = 0; i < cores; ++i)
        use(i, reinterpret_cast<std::byte *>(first + uintptr_t(int64_t(table[i]))));
    } else if (!isNone() && !inPieces()) {
      uintptr_t place = first;
      for (int32_t i = 0; i < cores; ++i, place += uintptr_t(int64_t(operand.stride)))
        use(i, reinterpret_cast<std::byte *>(place));
    } else {
      for (int32_t i = 0; i < cores; ++i)
        use(i, at(i));
    }
  }
  // Calls use(to, from) for all cores, with the places here and in `source`, whose beginnings are fetched ahead.
  // Neither is in pieces or nowhere.
  template <typename Use> void forPairs(int32_t cores, const Places &source, Use use) const {
    const auto forCores = [&](auto to, auto from) {
      const auto byte = [](uintptr_t at) { return reinterpret_cast<std::byte *>(at); };
      int32_t i = 0;
      for (; i + kCoresAhead < cores; ++i) {
        __builtin_prefetch(byte(to(i + kCoresAhead)), 1);
        __builtin_prefetch(byte(from(i + kCoresAhead)));
        use(byte(to(i)), byte(from(i)));
      }
      for (; i < cores; ++i)
        use(byte(to(i)), byte(from(i)));
    };
    const auto even = [](const Places &places) {
      return [first = places.first, stride = int64_t(places.operand.stride)](int32_t i) {
        return first + uintptr_t(i * stride);
      };
    };
    const auto listed = [](const Places &places) {
      return [first = places.first, table = places.table](int32_t i) { return first + uintptr_t(int64_t(table[i])); };
    };
    if (table && source.table)
      forCores(listed(*this), listed(source));
    else if (table)
      forCores(listed(*this), even(source));
    else if (source.table)
      forCores(even(*this), listed(source));
    else
      forCores(even(*this), even(source));
  }
  // Fetches the beginning of what core number `core` has, if that lies where nobody has worked lately.
  void fetch(int32_t core, int32_t cores, int64_t bytes = 1) const {
    if (!isFar || core >= cores)
      return;
    const std::byte *begin = at(core);
    for (int64_t line = 0; line < std::min(bytes, kMostFetched); line += kLineBytes)
      __builtin_prefetch(begin + line);
  }
  void copyPieces(int32_t core, std::byte *to) const {
    const uint32_t *pieces = &stream.firstPiece[operand.table + size_t(core)];
    for (uint32_t p = pieces[0]; p < pieces[1]; ++p) {
      const WaveRecord::Piece &piece = stream.pieces[p];
      std::memcpy(to, arena + piece.offset, size_t(piece.words * 4));
      to += piece.words * 4;
    }
  }

private:
  const RecordedOperand &operand;
  const WaveRecord::Stream &stream;
  std::byte *const arena, *begin = nullptr;
  const int32_t *table = nullptr;
  uintptr_t first = 0; // where the first core has it
  bool isFar = false;
  std::vector<std::byte> &pieced;
};

// Calls use(bytes) with `bytes` as a constant where copies of so many are a few instructions.
template <typename Use> void withLength(int64_t bytes, Use use) {
  switch (bytes) {
  case 4:
    return use(std::integral_constant<size_t, 4>());
  case 8:
    return use(std::integral_constant<size_t, 8>());
  case 12:
    return use(std::integral_constant<size_t, 12>());
  case 16:
    return use(std::integral_constant<size_t, 16>());
  case 24:
    return use(std::integral_constant<size_t, 24>());
  case 32:
    return use(std::integral_constant<size_t, 32>());
  default:
    return use(size_t(bytes));
  }
}

// A source of all cores, one behind the other; a single element (`scalar`) once for each of `count` elements.
void gatherSource(const Places &source, int32_t cores, int64_t count, int64_t width, bool scalar, std::byte *to) {
  if (scalar && width == 4)
    return source.forEach(cores, [&](int32_t, const std::byte *from) {
      uint32_t element;
      std::memcpy(&element, from, sizeof(element));
      for (int64_t k = 0; k < count; ++k, to += sizeof(element))
        std::memcpy(to, &element, sizeof(element));
    });
  if (scalar)
    return source.forEach(cores, [&](int32_t, const std::byte *from) {
      for (int64_t k = 0; k < count; ++k, to += width)
        std::memcpy(to, from, size_t(width));
    });
  withLength(count * width, [&](auto bytes) {
    source.forEach(cores, [&](int32_t i, const std::byte *from) { copyRun(to + size_t(i) * bytes, from, bytes); });
  });
}

void runTogether(const RecordedStep &step, const Places &dst, const Places &a, const Places &b) {
  alignas(64) std::byte first[kMostTogetherBytes], second[kMostTogetherBytes], results[kMostTogetherBytes];
  const RowOp &row = step.op->row;
  const RowShape &shape = step.row->shape;
  const auto isScalar = [&](int k) { return shape.elements > 1 && shape.stride[k][3] == 0; };
  const int64_t count = shape.elements;
  gatherSource(a, step.cores, count, row.bytes[1], isScalar(1), first);
  if (row.usesB)
    gatherSource(b, step.cores, count, row.bytes[2], isScalar(2), second);
  const ArrayOp function = step.isOfShape ? step.row->single : row.compute;
  function(results, first, second, step.cores * count);
  const int64_t padding = step.op->dst.kind == format::OperandKind::Queue ? -(count * row.bytes[0]) & 3 : 0;
  withLength(count * row.bytes[0], [&](auto bytes) {
    dst.forEach(step.cores, [&](int32_t i, std::byte *to) {
      copyRun(to, results + size_t(i) * bytes, bytes);
      if (padding > 0)
        std::memset(to + bytes, 0, size_t(padding));
    });
  });
}

// Results of the last cores of a step. Cores that compute from the same sources (words that many take, constants) have
// the same results, which are copied if that is quicker.
class EqualRows {
public:
  explicit EqualRows(const RecordedStep &step) {
    const RowOp &row = step.op->row;
    const RowShape &shape = step.row->shape;
    constexpr int64_t kLeastElements = 64;
    if (row.kind != RowOp::Kind::Compute || row.readsDst || shape.elements < kLeastElements || step.cores == 1 ||
        step.a.inPieces() || step.b.inPieces() || step.dst.region == RecordedOperand::Region::None)
      return;
    int64_t packed = row.bytes[0];
    for (int d = format::kMaxDims - 1; d >= 0; packed *= shape.extent[d--])
      if (shape.extent[d] > 1 && shape.stride[0][d] != packed)
        return;
    bytes = (packed + 3) / 4 * 4;
  }
  bool copy(std::byte *to, const std::byte *a, const std::byte *b) const {
    for (size_t k = 0; k < std::min(count, kMost); ++k)
      if (rows[k].a == a && rows[k].b == b) {
        std::memcpy(to, rows[k].result, size_t(bytes));
        return true;
      }
    return false;
  }
  void note(const std::byte *result, const std::byte *a, const std::byte *b) {
    if (bytes > 0)
      rows[count++ % kMost] = {a, b, result};
  }

private:
  static constexpr size_t kMost = 8;
  struct Row {
    const std::byte *a, *b, *result;
  };
  std::array<Row, kMost> rows;
  size_t count = 0;
  int64_t bytes = 0; // of a result; 0: no results are copied
};

void copyBytes(const RecordedStep &step, const Places &dst, const Places &a) {
  const int64_t padding = -step.bytes & 3;
  if (a.inPieces() && padding == 0) {
    for (int32_t i = 0; i < step.cores; ++i)
      a.copyPieces(i, dst.at(i));
    return;
  }
  if (!a.inPieces() && padding == 0)
    return withLength(step.bytes, [&](auto bytes) {
      dst.forPairs(step.cores, a, [&](std::byte *to, const std::byte *from) { copyRun(to, from, bytes); });
    });
  for (int32_t i = 0; i < step.cores; ++i) {
    std::byte *to = dst.at(i);
    std::memcpy(to, a.at(i), size_t(step.bytes));
    std::memset(to + step.bytes, 0, size_t(padding));
  }
}

// Whether a row copies whole words that lie one behind the other.
bool isPlainCopy(const RecordedStep &step) {
  const RowOp &row = step.op->row;
  return row.kind == RowOp::Kind::Copy && step.row->single &&
         (step.row->shape.elements == 1 || step.row->shape.stride[1][3] != 0) &&
         step.dst.region != RecordedOperand::Region::None && step.row->shape.elements * row.bytes[0] % 4 == 0;
}

} // namespace

void WaveReplay::runChains(WaveWorker &worker, const WaveRecord::Stream &stream, const RecordedStep &step) const {
  const Places out(step.dst, stream, state, worker, iterations, worker.pieced[0]),
      a(step.a, stream, state, worker, iterations, worker.pieced[0]),
      b(step.b, stream, state, worker, iterations, worker.pieced[0]);
  const NestPlan &plan = step.nest->plan;
  const std::span<const RecordedChain> chains(stream.chains.data() + step.chains.first, step.chains.count);
  size_t nests = 0;
  for (const RecordedChain &chain : chains)
    nests += chain.nests;
  std::vector<const float *> &places = worker.chainSources;
  places.resize(std::max(places.size(), 2 * nests));
  std::array<NestChain, kMostCores> all;
  const float **at = places.data();
  for (size_t c = 0; c < chains.size(); ++c) {
    const RecordedChain &chain = chains[c];
    const float **const first = at, **const second = at + chain.nests;
    at += 2 * chain.nests;
    for (uint32_t n = 0; n < chain.nests; ++n) {
      const std::array<int64_t, 2> &source = stream.chainSources[chain.first + n];
      first[n] = reinterpret_cast<const float *>(a.from(source[0]));
      second[n] = reinterpret_cast<const float *>(b.from(source[1]));
    }
    all[c] = {plan.swapped ? second : first, plan.swapped ? first : second, int32_t(chain.nests),
              chain.add < 0 ? nullptr : reinterpret_cast<const float *>(state.arena.memory().get() + chain.add),
              reinterpret_cast<float *>(out.at(chain.core))};
  }
  runNestChains(kernels, plan, {all.data(), chains.size()});
}

void WaveReplay::runGroup(WaveWorker &worker, const WaveRecord::Stream &stream, size_t group) const {
  static const RecordedExtra kNothing;
  for (auto [s, end] = stream.stepsOf(group); s < end; ++s) {
    const RecordedStep &step = stream.steps[s];
    const RecordedExtra &extra = step.extra < 0 ? kNothing : stream.extras[size_t(step.extra)];
    const Places dst(step.dst, stream, state, worker, iterations, worker.pieced[0]),
        a(step.a, stream, state, worker, iterations, worker.pieced[0]),
        b(step.b, stream, state, worker, iterations, worker.pieced[1]);
    const auto fetch = [&](int32_t core) {
      const int64_t n = step.row->shape.elements;
      const RowOp &row = step.op->row;
      dst.fetch(core + kCoresAhead, step.cores, n * row.bytes[0]);
      a.fetch(core + kCoresAhead, step.cores, n * row.bytes[1]);
      b.fetch(core + kCoresAhead, step.cores, n * row.bytes[2]);
    };
    switch (step.kind) {
    case RecordedStep::Kind::Scratch:
      dst.forPairs(step.cores, a, [&](std::byte *to, const std::byte *from) { copyScratch(*step.copies, from, to); });
      break;
    case RecordedStep::Kind::Bytes:
      copyBytes(step, dst, a);
      break;
    case RecordedStep::Kind::Together:
      if (step.isOfShape || step.cores >= kFewCores) {
        runTogether(step, dst, a, b);
        break;
      }
      [[fallthrough]];
    case RecordedStep::Kind::Row: {
      if (isPlainCopy(step)) {
        if (a.inPieces()) {
          for (int32_t i = 0; i < step.cores; ++i)
            a.copyPieces(i, dst.at(i));
          break;
        }
        if (const int64_t bytes = step.row->shape.elements * step.op->row.bytes[0]; bytes <= kFewBytes) {
          withLength(bytes, [&](auto length) {
            dst.forPairs(step.cores, a, [&](std::byte *to, const std::byte *from) { copyRun(to, from, length); });
          });
          break;
        }
      }
      IndexedPlace indexed = extra.indexed;
      EqualRows known(step);
      for (int32_t i = 0; i < step.cores; ++i) {
        fetch(i);
        if (extra.origins >= 0)
          indexed.origin = stream.origins[size_t(extra.origins + i)];
        const std::byte *second = b.at(i), *first = a.at(i);
        std::byte *to = dst.at(i);
        if (known.copy(to, first, second))
          continue;
        runRowAt(*step.op, step.row->shape, step.row->single, to, first, second, indexed);
        known.note(to, first, second);
      }
      break;
    }
    case RecordedStep::Kind::Chains:
      runChains(worker, stream, step);
      break;
    case RecordedStep::Kind::Nest: {
      const Places add(extra.add, stream, state, worker, iterations, worker.pieced[0]),
          out(extra.out, stream, state, worker, iterations, worker.pieced[0]);
      const NestPlan &plan = step.nest->plan;
      const int64_t vec = plan.vecElements * 4 + 4, scl = plan.sclElements * 4 + 4;
      for (int32_t i = 0; i < step.cores; ++i) {
        dst.fetch(i + kCoresAhead, step.cores);
        a.fetch(i + kCoresAhead, step.cores, plan.swapped ? scl : vec);
        b.fetch(i + kCoresAhead, step.cores, plan.swapped ? vec : scl);
        runNestAt(*step.op, *step.nest, kernels, worker.scratch.get(), true, dst.at(i), a.at(i), b.at(i),
                  {step.fresh, reinterpret_cast<const float *>(add.at(i)), reinterpret_cast<float *>(out.at(i))});
      }
      break;
    }
    }
  }
}

} // namespace wsc::emulator
