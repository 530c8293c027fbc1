// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions in groups of a line against plain loops, on both engines. WSC_SEED gives another seed, WSC_CASES another
// number of cases.
#include "compiler/spmd/collectives/GroupReduce.h"

#include "runtime/numerics/Elements.h"
#include "test/unit/spmd/CollectiveProgram.h"

#include <bit>
#include <cstdlib>
#include <random>

using namespace wsc;
using namespace wsc::spmd;

namespace {

int64_t fromEnvironment(const char *name, int64_t usual) {
  const char *text = std::getenv(name);
  return text ? std::strtoll(text, nullptr, 10) : usual;
}

/// Reciprocals: sums of them depend on the order.
float valueAt(int32_t row, int32_t col, int64_t element) {
  return 1.0f / float(3 + (row * 31 + col * 17 + element * 7) % 97);
}

} // namespace

TEST(GroupReduce, AgreesWithPlainLoopsBitForBit) {
  const uint64_t seed = uint64_t(fromEnvironment("WSC_SEED", 1));
  const int64_t cases = fromEnvironment("WSC_CASES", 60);
  for (int64_t i = 0; i < cases && !HasFailure(); ++i) {
    std::mt19937_64 random(seed * 100000 + uint64_t(i));
    // Some lines are long enough for two levels.
    const bool isLong = i % 5 == 0;
    const int32_t rows = int32_t(1 + random() % (isLong ? 400 : 12)), cols = int32_t(1 + random() % (isLong ? 2 : 12));
    const int64_t elements = int64_t(1 + random() % 20);
    test::CollectiveProgram program(rows, cols);
    const int16_t held = program.source(
        elements, [](int32_t r, int32_t c, int64_t e) { return std::bit_cast<int32_t>(valueAt(r, c, e)); });
    const int16_t result = program.result(2 * elements);
    std::string what = "seed " + std::to_string(seed) + " case " + std::to_string(i) + ", " + std::to_string(rows) +
                       " x " + std::to_string(cols) + ", " + std::to_string(elements) + " elements";
    std::vector<std::vector<float>> expected(size_t(rows * cols), std::vector<float>(size_t(2 * elements)));
    auto at = [&](int32_t r, int32_t c) -> std::vector<float> & { return expected[size_t(r * cols + c)]; };
    for (auto &words : expected)
      std::fill(words.begin(), words.end(), std::bit_cast<float>(-1));
    int64_t place = 0;
    for (Axis axis : {Axis::Row, Axis::Col}) {
      const int32_t length = axis == Axis::Row ? cols : rows, group = 1 + int32_t(random() % uint64_t(length)),
                    groups = 1 + int32_t(random() % uint64_t(length / group));
      what += "\ngroup " + std::to_string(group) + " groups " + std::to_string(groups);
      emitGroupAllReduce(program.code(), {axis, length, group, groups}, format::Opcode::Add, format::ElementType::F32,
                         elements, {held, 0}, {result, place * 4});
      for (int32_t line = 0; line < (axis == Axis::Row ? rows : cols); ++line)
        for (int32_t g = 0; g < groups; ++g)
          for (int64_t e = 0; e < elements; ++e) {
            float sum = 0, ofRun = 0;
            const int32_t run = reduceRun(group);
            for (int32_t k = group; k-- > 0;) {
              const int32_t along = g * group + k;
              const float value = axis == Axis::Row ? valueAt(line, along, e) : valueAt(along, line, e);
              ofRun = (k + 1) % run == 0 ? value : ofRun + value;
              if (k % run == 0)
                sum = k + run == group ? ofRun : sum + ofRun;
            }
            for (int32_t k = g * group; k < (g + 1) * group; ++k)
              (axis == Axis::Row ? at(line, k) : at(k, line))[size_t(place + e)] = sum;
          }
      place += elements;
    }
    SCOPED_TRACE(what);
    auto executable = program.make();
    ASSERT_TRUE(executable.ok()) << executable.status();
    const test::CollectiveRun run = test::runCollectives(executable->executable);
    for (const auto &[core, found] : run.results)
      for (size_t e = 0; e < found.size(); ++e)
        ASSERT_EQ(found[e], std::bit_cast<int32_t>(at(core.first, core.second)[e]))
            << "core (" << core.first << ", " << core.second << ") element " << e;
  }
}

// What the first cores do with sums goes out as they do it, where it makes just the elements that are sent; else behind
// it.
TEST(GroupReduce, SendsWhatTheLastInstructionMakes) {
  for (const bool isWhole : {true, false}) {
    test::CollectiveProgram program(1, 6);
    const int16_t held = program.source(4, [](int32_t, int32_t col, int64_t e) { return int32_t(col + 10 * e); });
    const int16_t result = program.result(4);
    Code &code = program.code();
    const CoreGroups groups{Axis::Row, 6, 3, 2};
    const int16_t sums = code.scratch("sums", format::ElementType::I32, 4);
    emitGroupReduce(code, groups, format::Opcode::Add, format::ElementType::I32, 4, {held, 0}, {sums, 0});
    const auto triple = [&](int64_t first, int64_t count) {
      code.append(instruction(format::Opcode::Mul, format::ElementType::I32, {count}, memory(result, first * 4, {4}),
                              memory(sums, first * 4, {4}), immediate(3)),
                  firstCores(groups));
    };
    triple(0, isWhole ? 4 : 3);
    if (!isWhole)
      triple(3, 1);
    emitGroupSendLast(code, groups, format::ElementType::I32, 4, {result, 0});
    int sends = 0;
    for (const format::Instruction &each : code.main)
      sends += each.opcode == format::Opcode::Mul && each.dst.kind == format::OperandKind::Queue;
    EXPECT_EQ(sends, isWhole ? 1 : 0);
    auto executable = program.make();
    ASSERT_TRUE(executable.ok()) << executable.status();
    const test::CollectiveRun run = test::runCollectives(executable->executable);
    ASSERT_EQ(run.results.size(), 6u);
    for (const auto &[core, found] : run.results) {
      const int32_t sum = core.second < 3 ? 3 : 12;
      EXPECT_EQ(found, (std::vector<int32_t>{3 * sum, 3 * (sum + 30), 3 * (sum + 60), 3 * (sum + 90)}));
    }
  }
}

// Elements of 16 bits, an odd number of them: the last word is half empty; what lies behind them stays.
TEST(GroupReduce, NarrowElements) {
  test::CollectiveProgram program(1, 6);
  const int16_t held = program.source(2, [](int32_t, int32_t col, int64_t) { return (col + 1) * 0x10001; });
  const int16_t result = program.result(2);
  emitGroupAllReduce(program.code(), {Axis::Row, 6, 3, 2}, format::Opcode::Add, format::ElementType::I16, 3, {held, 0},
                     {result, 0});
  auto executable = program.make();
  ASSERT_TRUE(executable.ok()) << executable.status();
  const test::CollectiveRun run = test::runCollectives(executable->executable);
  for (const auto &[core, found] : run.results) {
    const int32_t sum = core.second < 3 ? 6 : 15;
    EXPECT_EQ(found, (std::vector<int32_t>{sum * 0x10001, int32_t(0xffff0000u | uint32_t(sum))}));
  }
}

// Runs of sixteen cores on both lines, half as many on the first: they share their routes, and no word passes the
// routers of the first line beyond its last run.
TEST(GroupReduce, LinesOfTwoLengthsWithOneRun) {
  test::CollectiveProgram program(512, 2);
  const int16_t held = program.source(1, [](int32_t row, int32_t col, int64_t) { return row + col; });
  const int16_t result = program.result(1);
  ASSERT_EQ(reduceRun(256), 16);
  ASSERT_EQ(reduceRun(512), 16);
  for (const int32_t line : {0, 1}) {
    Guard lines;
    lines.colBegin = line;
    lines.colEnd = line + 1;
    emitGroupAllReduce(program.code(), {Axis::Col, 512, 256 << line, 1, lines}, format::Opcode::Max,
                       format::ElementType::I32, 1, {held, 0}, {result, 0});
  }
  auto executable = program.make();
  ASSERT_TRUE(executable.ok()) << executable.status();
  const test::CollectiveRun run = test::runCollectives(executable->executable);
  for (const auto &[core, found] : run.results)
    EXPECT_EQ(found, (std::vector<int32_t>{core.second == 1 ? 512 : core.first < 256 ? 255 : -1})) << core.first;
}
