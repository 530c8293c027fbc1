// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Segment gathers against plain loops over the cores of a line, on both engines. WSC_SEED gives another seed, WSC_CASES
// another number of cases.
#include "compiler/spmd/collectives/SegmentGather.h"

#include "runtime/timing/Cost.h"
#include "test/unit/spmd/CollectiveProgram.h"

#include <cstdlib>
#include <random>
#include <sstream>

using namespace wsc;
using namespace wsc::spmd;

namespace {

int64_t fromEnvironment(const char *name, int64_t usual) {
  const char *text = std::getenv(name);
  return text ? std::strtoll(text, nullptr, 10) : usual;
}

int32_t valueAt(int32_t row, int32_t col, int64_t word) { return int32_t((row * 64 + col) * 4096 + word); }

constexpr int64_t kHeldWords = 128;

struct Case {
  Axis axis = Axis::Row;
  SegmentGather gather;
};

std::string print(const Case &made) {
  std::ostringstream out;
  const SegmentGather &g = made.gather;
  out << (made.axis == Axis::Row ? "rows" : "columns") << " unit " << g.unit << " segment " << g.segment << " units "
      << g.units << (g.overlap ? " overlap" : "") << " lines " << g.lineBegin << "-" << g.lineEnd;
  for (const auto *d : {&g.forward, &g.backward}) {
    out << (d == &g.forward ? "; forward " : "; backward ") << d->words << " words";
    for (const auto *t : {&d->own, &d->other})
      out << ", skip " << t->skip << "+" << t->skipPerPosition << "p take " << t->count << "+" << t->countPerPosition
          << "p at " << t->place << "+" << t->placePerPosition << "p";
  }
  return out.str();
}

/// Which elements of the sender's words a block consists of, in order.
std::vector<int32_t> blockOf(const SegmentGather::Direction &direction, int32_t row, int32_t col) {
  const format::Operand &source = direction.source;
  const int64_t base = source.base.constant + source.base.perDim[kRowDim] * row + source.base.perDim[kColDim] * col;
  std::vector<std::byte> held(kHeldWords * 4), block;
  for (int64_t i = 0; i < kHeldWords; ++i) {
    const int32_t word = valueAt(row, col, i);
    std::memcpy(&held[size_t(i) * 4], &word, 4);
  }
  const int64_t bytes = format::elementBytes(direction.type);
  for (int64_t i = 0; i < direction.extent[2].constant; ++i)
    for (int64_t j = 0; j < direction.extent[3].constant; ++j) {
      const auto at = held.begin() + base + i * source.stride[2] + j * source.stride[3];
      block.insert(block.end(), at, at + bytes);
    }
  block.resize((block.size() + 3) / 4 * 4);
  std::vector<int32_t> words(block.size() / 4);
  std::memcpy(words.data(), block.data(), block.size());
  return words;
}

/// What the core ends with, on top of what it has.
void expectTakes(const Case &made, int32_t row, int32_t col, std::vector<int32_t> &result) {
  const SegmentGather &g = made.gather;
  const int32_t at = made.axis == Axis::Row ? col : row, line = made.axis == Axis::Row ? row : col;
  if (line < g.lineBegin || line >= g.lineEnd || at >= g.units * g.unit)
    return;
  const int32_t unit = at / g.unit, segment = unit / g.segment, p = unit % g.segment;
  auto take = [&](const SegmentGather::Direction &direction, const SegmentGather::Take &take, int32_t begin,
                  int32_t end, bool backward) {
    begin = std::max(begin, 0);
    end = std::min(end, g.units);
    int32_t number = 0;
    int64_t taken = 0;
    for (int32_t u = begin; u < end; ++u, ++number) {
      if (number < take.skip + p * take.skipPerPosition || taken >= take.count + p * take.countPerPosition)
        continue;
      const int32_t sender = backward ? u * g.unit : (u + 1) * g.unit - 1;
      const auto words = made.axis == Axis::Row ? blockOf(direction, row, sender) : blockOf(direction, sender, col);
      const int64_t to = take.place + p * take.placePerPosition + taken * direction.pitchBytes;
      std::copy(words.begin(), words.end(), result.begin() + to / 4);
      ++taken;
    }
  };
  const int32_t first = segment * g.segment, behind = first + g.segment;
  if (g.forward.words) {
    take(g.forward, g.forward.own, first, unit, false);
    if (g.overlap)
      take(g.forward, g.forward.other, first - g.segment, first, false);
  }
  if (g.backward.words) {
    take(g.backward, g.backward.own, unit + 1, behind, true);
    if (g.overlap)
      take(g.backward, g.backward.other, behind, behind + g.segment, true);
  }
}

/// Blocks that a taker's stream has in full segments, as constant and step per position.
SegmentGather::Take randomTake(std::mt19937_64 &random, int64_t blocks, int64_t blocksPerPosition, int64_t pitch,
                               int64_t &place) {
  SegmentGather::Take take;
  switch (random() % 4) {
  case 0: // all
    take.count = blocks;
    take.countPerPosition = blocksPerPosition;
    break;
  case 1: // a window that moves along
    take.skipPerPosition = 1;
    take.count = blocks;
    take.countPerPosition = -1;
    break;
  case 2: // some
    take.skip = int64_t(random() % 3);
    take.count = int64_t(random() % 4);
    break;
  default: // none
    break;
  }
  take.place = place;
  if (random() % 2)
    take.placePerPosition = pitch;
  place += 24 * pitch + 4 * int64_t(random() % 3);
  return take;
}

SegmentGather::Direction randomDirection(std::mt19937_64 &random, const SegmentGather &gather, bool backward,
                                         int16_t held, int64_t &place) {
  SegmentGather::Direction direction;
  const format::ElementType types[] = {format::ElementType::I32, format::ElementType::U8, format::ElementType::I64};
  direction.type = types[random() % 3];
  const int64_t bytes = format::elementBytes(direction.type), rows = 1 + int64_t(random() % 3),
                elements = (direction.type == format::ElementType::U8 ? 4 : 1) * (1 + int64_t(random() % 4));
  direction.source = memory(held, 8 * int64_t(random() % 2), {(elements + int64_t(random() % 2)) * bytes, bytes});
  direction.source.base.perDim[kRowDim] = 8 * int64_t(random() % 2);
  direction.source.base.perDim[kColDim] = 8 * int64_t(random() % 2);
  direction.extent[2] = rows;
  direction.extent[3] = elements;
  direction.words = timing::fabricWords(direction.type, rows * elements);
  direction.pitchBytes = 4 * (direction.words + int64_t(random() % 2));
  const int64_t last = gather.segment - 1;
  direction.own = randomTake(random, backward ? last : 0, backward ? -1 : 1, direction.pitchBytes, place);
  direction.other = randomTake(random, gather.segment, 0, direction.pitchBytes, place);
  return direction;
}

Case randomCase(std::mt19937_64 &random, Axis axis, const Rectangle &rectangle, int16_t held, int64_t &place) {
  Case made;
  made.axis = axis;
  const int32_t length = axis == Axis::Row ? rectangle.cols : rectangle.rows,
                lines = axis == Axis::Row ? rectangle.rows : rectangle.cols;
  SegmentGather &gather = made.gather;
  gather.unit = 1 + int32_t(random() % std::min<uint64_t>(3, uint64_t(length)));
  const int32_t most = length / gather.unit;
  gather.units = random() % 2 ? most : 1 + int32_t(random() % uint64_t(most));
  gather.segment = 1 + int32_t(random() % uint64_t(gather.units));
  gather.overlap = random() % 3 != 0;
  if (random() % 3 == 0) {
    gather.lineBegin = int32_t(random() % uint64_t(lines));
    gather.lineEnd = gather.lineBegin + 1 + int32_t(random() % uint64_t(lines));
  }
  if (random() % 3)
    gather.forward = randomDirection(random, gather, false, held, place);
  if (random() % 3 || gather.forward.words == 0)
    gather.backward = randomDirection(random, gather, true, held, place);
  return made;
}

} // namespace

TEST(SegmentGather, AgreesWithPlainLoops) {
  const uint64_t seed = uint64_t(fromEnvironment("WSC_SEED", 1));
  const int64_t cases = fromEnvironment("WSC_CASES", 150);
  for (int64_t i = 0; i < cases && !HasFailure(); ++i) {
    std::mt19937_64 random(seed * 100000 + uint64_t(i));
    const Rectangle rectangle{0, 0, int32_t(1 + random() % 12), int32_t(1 + random() % 12)};
    test::CollectiveProgram program(rectangle.rows, rectangle.cols);
    const int16_t held = program.source(kHeldWords, valueAt);
    std::vector<Case> made;
    int64_t place = 0;
    for (Axis axis : {Axis::Row, Axis::Col})
      if (random() % 2 || axis == Axis::Col)
        made.push_back(randomCase(random, axis, rectangle, held, place));
    const int64_t words = place / 4 + 1024;
    const int16_t result = program.result(words);
    std::string what = "seed " + std::to_string(seed) + " case " + std::to_string(i) + ", " +
                       std::to_string(rectangle.rows) + " x " + std::to_string(rectangle.cols);
    for (const Case &each : made) {
      emitSegmentGather(program.code(), each.axis, each.axis == Axis::Row ? rectangle.cols : rectangle.rows,
                        each.gather, {result, 0});
      what += "\n" + print(each);
    }
    SCOPED_TRACE(what);
    auto executable = program.make();
    ASSERT_TRUE(executable.ok()) << executable.status();
    const test::CollectiveRun run = test::runCollectives(executable->executable);
    for (const auto &[core, found] : run.results) {
      std::vector<int32_t> expected(size_t(words), -1);
      for (const Case &each : made)
        expectTakes(each, core.first, core.second, expected);
      ASSERT_EQ(found, expected) << "core (" << core.first << ", " << core.second << ")";
    }
  }
}

// The law of the header, against the cycle engine: all cores take everything.
TEST(SegmentGather, TakesTheTimeOfItsLaw) {
  struct Shape {
    int32_t length, unit, segment;
    bool overlap, backward;
    int64_t words;
  };
  auto cyclesOf = [](const Shape &shape, bool gathers) {
    test::CollectiveProgram program(1, shape.length);
    const int16_t held = program.source(shape.words, [](int32_t, int32_t, int64_t) { return 1; });
    const int16_t result = program.result(2 * shape.segment * shape.words);
    SegmentGather gather;
    gather.unit = shape.unit;
    gather.segment = shape.segment;
    gather.units = shape.length / shape.unit;
    gather.overlap = shape.overlap;
    SegmentGather::Direction &direction = shape.backward ? gather.backward : gather.forward;
    direction.words = shape.words;
    direction.source = memory(held, 0, {4});
    direction.extent[3] = shape.words;
    direction.pitchBytes = shape.words * 4;
    direction.own = {.count = shape.backward ? shape.segment - 1 : 0, .countPerPosition = shape.backward ? -1 : 1};
    direction.other = {.count = shape.segment, .place = shape.segment * shape.words * 4};
    if (gathers)
      emitSegmentGather(program.code(), Axis::Row, shape.length, gather, {result, 0});
    auto executable = program.make();
    EXPECT_TRUE(executable.ok()) << executable.status();
    return executable.ok() ? test::runCollectives(executable->executable).cycles : 0;
  };
  for (const Shape &shape :
       {Shape{60, 1, 1, true, false, 1}, Shape{60, 1, 1, true, true, 200}, Shape{60, 1, 16, true, true, 1},
        Shape{60, 1, 3, true, false, 4}, Shape{60, 1, 6, true, false, 16}, Shape{60, 1, 6, true, true, 64},
        Shape{60, 1, 12, false, true, 16}, Shape{60, 1, 60, false, false, 8}, Shape{60, 1, 30, false, false, 2},
        Shape{60, 2, 6, true, false, 16}, Shape{60, 3, 4, true, true, 16}, Shape{60, 5, 12, false, false, 40}}) {
    const double cycles = double(cyclesOf(shape, true) - cyclesOf(shape, false));
    const int64_t cores = int64_t(shape.segment) * shape.unit;
    const double law = shape.overlap ? double(2 * shape.segment * shape.words + 2 * cores + 30)
                                     : double((shape.segment - 1) * shape.words + cores / 4 + 15);
    EXPECT_NEAR(cycles, law, 0.1 * law) << "unit " << shape.unit << " segment " << shape.segment << " words "
                                        << shape.words << (shape.overlap ? " overlap" : "");
  }
}
