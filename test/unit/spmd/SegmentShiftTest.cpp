// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Segment shifts against what every core should get, on both engines. WSC_SEED gives another seed, WSC_CASES another
// number of cases.
#include "compiler/spmd/collectives/SegmentShift.h"

#include "test/support/Seed.h"
#include "test/unit/spmd/CollectiveProgram.h"

#include <random>
#include <sstream>

using namespace wsc;
using namespace wsc::spmd;

namespace {

constexpr int64_t kMostWords = 24;

int32_t valueAt(int32_t row, int32_t col, int64_t word) { return int32_t((row * 64 + col) * 4096 + word); }

struct Case {
  Axis axis = Axis::Row;
  int32_t length = 4, lines = 1; // of the mesh
  SegmentShift shift;
};

std::string print(const Case &made) {
  std::ostringstream out;
  const SegmentShift &shift = made.shift;
  out << (made.axis == Axis::Row ? "rows" : "columns") << " of " << made.length << ", " << shift.units
      << " cores take part, by " << shift.segment << ", " << shift.forward.words << " words forward, "
      << shift.backward.words << " backward, lines " << shift.lineBegin << "-" << shift.lineEnd << " of " << made.lines;
  return out.str();
}

// Cycles of the case, every core of which has what it should have.
int64_t check(const Case &made) {
  SCOPED_TRACE(print(made));
  const bool isRow = made.axis == Axis::Row;
  test::CollectiveProgram program(isRow ? made.lines : made.length, isRow ? made.length : made.lines);
  const int16_t held = program.source(kMostWords, valueAt);
  const int16_t result = program.result(2 * kMostWords);
  SegmentShift shift = made.shift;
  for (SegmentShift::Direction *direction : {&shift.forward, &shift.backward}) {
    direction->source = memory(held, 0, {4});
    direction->extent[3] = format::Affine(direction->words);
    direction->place = direction == &shift.forward ? 0 : kMostWords * 4;
  }
  emitSegmentShift(program.code(), made.axis, shift, {result, 0});
  if (program.code().routes.empty())
    return 0; // nobody has anybody so far away
  auto assembled = program.make();
  EXPECT_TRUE(assembled.ok()) << assembled.status();
  if (!assembled.ok())
    return 0;
  const test::CollectiveRun run = test::runCollectives(assembled->executable);
  for (int32_t line = 0; line < made.lines; ++line)
    for (int32_t at = 0; at < made.length; ++at) {
      const auto found = run.results.find(isRow ? std::pair(line, at) : std::pair(at, line));
      EXPECT_TRUE(found != run.results.end());
      if (found == run.results.end())
        return 0;
      const bool isActive = line >= shift.lineBegin && line < shift.lineEnd && at < shift.units;
      for (int side : {0, 1}) {
        const int32_t from = side == 0 ? at - shift.segment : at + shift.segment;
        const int64_t words = side == 0 ? shift.forward.words : shift.backward.words;
        for (int64_t word = 0; word < kMostWords; ++word) {
          const bool comes = isActive && from >= 0 && from < shift.units && word < words;
          const int32_t wanted = !comes ? -1 : isRow ? valueAt(line, from, word) : valueAt(from, line, word);
          EXPECT_EQ(found->second[size_t(side * kMostWords + word)], wanted)
              << "line " << line << ", core " << at << ", side " << side << ", word " << word;
          if (testing::Test::HasFailure())
            return run.cycles;
        }
      }
    }
  return run.cycles;
}

TEST(SegmentShift, RandomCases) {
  std::mt19937_64 random(test::seedOf(1));
  for (int i = 0; i < test::casesOf(60) && !testing::Test::HasFailure(); ++i) {
    Case made;
    made.axis = random() % 2 == 0 ? Axis::Row : Axis::Col;
    made.lines = int32_t(1 + random() % 3);
    made.shift.segment = int32_t(2 + random() % 6);
    made.shift.units = made.shift.segment + int32_t(1 + random() % (3 * uint64_t(made.shift.segment)));
    made.length = made.shift.units + int32_t(random() % 3);
    if (random() % 4 == 0)
      made.shift.lineBegin = int32_t(random() % uint64_t(made.lines));
    const uint64_t sides = random() % 3;
    if (sides != 1)
      made.shift.forward.words = int64_t(1 + random() % kMostWords);
    if (sides != 0)
      made.shift.backward.words = int64_t(1 + random() % kMostWords);
    check(made);
  }
}

} // namespace
