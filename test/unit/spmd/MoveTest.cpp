// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves between random shardings, executed by the core engine and checked against enumeration: every core ends with the
// elements that its sharding says. WSC_SEED gives another seed.
#include "compiler/spmd/moves/FactoredMove.h"
#include "compiler/spmd/phases/EntryWriter.h"
#include "compiler/spmd/phases/Generate.h"
#include "runtime/emulator/CoreEngine.h"
#include "runtime/emulator/LatticeWalk.h"
#include "runtime/emulator/cycle/CycleEngine.h"
#include "runtime/format/Verifier.h"
#include "test/support/PhasesProgram.h"
#include "test/support/RandomSharding.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace wsc;
using namespace wsc::spmd;

namespace {

uint64_t seedFromEnvironment(uint64_t usual) {
  const char *text = std::getenv("WSC_SEED");
  return text ? std::strtoull(text, nullptr, 10) : usual;
}

struct Case {
  Sharding from, to;
  Rectangle rectangle;
  format::ElementType type;
  int64_t roomBytes = INT64_MAX;
};

Case randomCase(uint64_t seed) {
  std::mt19937_64 random(seed);
  Case made;
  made.rectangle = {0, 0, int32_t(1 + random() % 6), int32_t(1 + random() % 6)};
  const std::vector<int64_t> shape = test::randomShape(random, 240);
  made.from = test::randomSharding(random, shape, made.rectangle.rows, made.rectangle.cols);
  made.to = test::randomSharding(random, shape, made.rectangle.rows, made.rectangle.cols);
  const format::ElementType types[] = {format::ElementType::I32, format::ElementType::F32, format::ElementType::I64,
                                       format::ElementType::U16, format::ElementType::U8};
  made.type = types[random() % 5];
  if (random() % 4 == 0)
    made.roomBytes = int64_t(64 + random() % 256); // lines this short take several parts
  return made;
}

// The cores' boxes hold the elements' numbers (modulo 251 where bytes do not hold them).
int64_t valueOf(int64_t element, format::ElementType type) {
  return element < 0 ? 0 : type == format::ElementType::U8 ? element % 251 : element;
}

class MoveTest : public testing::Test {
protected:
  int factored = 0;

  // Latency of the move; fails the test where a core ends with something else.
  void check(const Case &made, const std::string &what, int64_t &latency, int64_t &bound) {
    SCOPED_TRACE(what + " from " + print(made.from) + " to " + print(made.to));
    auto program = test::moveProgram(
        made.from, made.to, made.rectangle, made.type, [&](int64_t element) { return valueOf(element, made.type); },
        made.roomBytes);
    ASSERT_TRUE(program.ok()) << program.status();
    const format::Executable &executable = program->executable;
    for (const auto &violation : format::findViolations(executable))
      FAIL() << violation.rule << ": " << violation.message;
    auto engine = emulator::CoreEngine::create(executable, {.threads = 1});
    ASSERT_TRUE(engine.ok()) << engine.status();
    std::vector<emulator::CorePlace> cores;
    const format::Configuration &configuration = executable.configurations[0];
    for (size_t r = 0; r < configuration.roles.size(); ++r)
      emulator::forEachPoint(configuration.roles[r].cores, [&](const format::LatticeIndex &index, int32_t, int32_t) {
        cores.push_back({0, 0, int32_t(r), index});
        return true;
      });
    std::vector<emulator::HostTensor> outputs;
    auto traces = (*engine)->runTraced(0, {}, cores, outputs);
    ASSERT_TRUE(traces.ok()) << traces.status();
    const int64_t bytes = format::elementBytes(made.type);
    for (const auto &trace : *traces) {
      const format::Role &role = configuration.roles[size_t(trace.role)];
      const auto [row, col] = emulator::latticePosition(role.cores, trace.index);
      std::vector<int64_t> wanted;
      made.to.elementsAt(row, col, wanted);
      const auto buffer = std::find_if(role.buffers.begin(), role.buffers.end(),
                                       [](const format::Buffer &b) { return b.name == test::kMovedName; });
      if (wanted.empty())
        continue; // outside of the sharding's rectangle
      ASSERT_NE(buffer, role.buffers.end());
      const std::vector<std::byte> &after = trace.buffersAfter[size_t(buffer - role.buffers.begin())];
      for (size_t i = 0; i < wanted.size(); ++i) {
        if (wanted[i] < 0)
          continue;
        int64_t expected = 0, found = 0;
        const std::vector<std::byte> element = elementOf(double(valueOf(wanted[i], made.type)), made.type);
        std::memcpy(&expected, element.data(), size_t(bytes));
        std::memcpy(&found, after.data() + int64_t(i) * bytes, size_t(bytes));
        ASSERT_EQ(found, expected) << "core (" << row << ", " << col << ") element " << i << ", number " << wanted[i];
      }
    }
    auto cycles = emulator::runCycles(executable, 0);
    ASSERT_TRUE(cycles.ok()) << cycles.status();
    latency = cycles->endCycle;
    bound = program->boundCycles;
    factored += program->factored;
  }
};

TEST_F(MoveTest, RandomPairs) {
  const uint64_t seed = seedFromEnvironment(1);
  const int cases = std::getenv("WSC_CASES") ? std::atoi(std::getenv("WSC_CASES")) : 200;
  std::vector<double> ratios;
  for (int i = 0; i < cases && !HasFailure(); ++i) {
    int64_t latency = 0, bound = 0;
    check(randomCase(seed * 100000 + uint64_t(i)), "seed " + std::to_string(seed) + " case " + std::to_string(i),
          latency, bound);
    if (bound > 0)
      ratios.push_back(double(latency) / double(bound));
  }
  std::sort(ratios.begin(), ratios.end());
  std::printf("%d of %d moves by factors\n", factored, cases);
  if (!ratios.empty())
    std::printf("seed %llu: cycles / (busiest cut + distance): median %.2f, 95th percentile %.2f\n",
                (unsigned long long)seed, ratios[ratios.size() / 2], ratios[ratios.size() * 95 / 100]);
}

// Hops and ends of lines that random pairs seldom draw.
TEST_F(MoveTest, ChosenPairs) {
  struct Pair {
    const char *from, *to;
    Rectangle rectangle;
    format::ElementType type;
  };
  for (const Pair &pair : {
           Pair{"(0, 0, 2, 1) [7 = r*4 | 4]", "(0, 0, 1, 5) [7 = c*2 | 2]", {0, 0, 2, 5}, format::ElementType::BF16},
           Pair{"(0, 0, 2, 1) [7 = r*4 | 4]",
                "(0, 0, 2, 5) [7 = r*10 + c*2 | 2]",
                {0, 0, 2, 5},
                format::ElementType::BF16},
           Pair{"(0, 0, 8, 4) [32 = r*4 | 4, 8 = c*2 | 2]",
                "(0, 0, 8, 4) [32 = c*8 | 8, 8 = r*1 |]",
                {0, 0, 8, 8},
                format::ElementType::F32},
           // 13 elements in blocks of 2 on the 8 cores of a group: the last core holds padding alone.
           Pair{"(0, 0, 1, 16) [2 = c/8*1 |, 13 = 0 | 13]",
                "(0, 0, 1, 16) [2 = c/8*1 |, 13 = c%8*2 | 2]",
                {0, 0, 1, 16},
                format::ElementType::F32},
           Pair{"(0, 0, 1, 16) [2 = c/8*1 |, 13 = c%8*2 | 2]",
                "(0, 0, 1, 16) [2 = c/8*1 |, 13 = 0 | 13]",
                {0, 0, 1, 16},
                format::ElementType::F32},
           // Columns need blocks 0–2, 2–5, 5–7, 7–10 …: their first blocks are no number of the column.
           Pair{"(0, 0, 24, 10) [117 = r*5 | 5]",
                "(0, 0, 24, 9) [117 = c*13 | 13]",
                {0, 0, 24, 10},
                format::ElementType::F32},
       }) {
    Case made;
    made.from = *parseSharding(pair.from);
    made.to = *parseSharding(pair.to);
    made.rectangle = pair.rectangle;
    made.type = pair.type;
    int64_t latency = 0, bound = 0;
    check(made, "chosen", latency, bound);
  }
  EXPECT_EQ(factored, 6);
}

// Along the columns go whole blocks of 5: column c keeps those from block 13·c/5 on, which is no number of the column,
// so each keeps a block more and begins where one is.
TEST_F(MoveTest, StretchesOfBlocks) {
  MoveProblem problem;
  problem.rectangle = {0, 0, 24, 10};
  problem.sources = {{*parseSharding("(0, 0, 24, 10) [117 = r*5 | 5]"), 0}};
  problem.ids = 117;
  problem.target = *parseSharding("(0, 0, 24, 9) [117 = c*13 | 13]");
  problem.width = problem.target->localElements();
  StridedPiece whole;
  whole.digits = {{117, 1, 1}};
  problem.pieces = {whole};
  const auto move = planFactored(problem, whole);
  ASSERT_TRUE(move);
  ASSERT_EQ(move->stages.size(), 1u);
  EXPECT_LE(move->stages[0].line.blocks, 6); // a column needs up to 4, the line has 24
}

} // namespace
