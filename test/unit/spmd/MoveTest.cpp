// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Moves that networks need and moves between random shardings, executed by the core engine on two schedules and checked
// against enumeration: every core ends with the elements that its sharding says, and does what the scalar interpreter
// does. The cycle engine tells how far each is from what any machine needs. WSC_SEED and WSC_CASES give other numbers.
#include "compiler/spmd/moves/Hops.h"
#include "runtime/emulator/CoreEngine.h"
#include "runtime/emulator/Interpreter.h"
#include "runtime/emulator/LatticeWalk.h"
#include "runtime/emulator/cycle/CycleEngine.h"
#include "runtime/format/Verifier.h"
#include "test/support/MoveProgram.h"
#include "test/support/RandomSharding.h"
#include "test/support/RealTransitions.h"
#include "test/support/Seed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <span>

using namespace wsc;
using namespace wsc::spmd;
using test::MoveCase;

namespace {

MoveCase randomCase(std::mt19937_64 &random) {
  // Mostly tiny, where all corners meet; one in three as large as what networks need.
  const bool isLarge = random() % 3 == 0;
  const int32_t most = isLarge ? 24 : 6;
  const Rectangle rectangle{0, 0, int32_t(1 + random() % most), int32_t(1 + random() % most)};
  const std::vector<int64_t> shape = isLarge ? test::randomShape(random, 4096, 96) : test::randomShape(random, 240, 12);
  const Sharding from = test::randomSharding(random, shape, rectangle.rows, rectangle.cols);
  const Sharding to = test::randomSharding(random, shape, rectangle.rows, rectangle.cols);
  const format::ElementType types[] = {format::ElementType::I32, format::ElementType::F32, format::ElementType::I64,
                                       format::ElementType::U16, format::ElementType::U8};
  MoveCase made = test::moveBetween(from, to, rectangle, types[random() % 5]);
  made.family = isLarge ? "random, larger" : "random, tiny";
  const uint64_t way = random() % 8;
  made.fromHost = way == 0;
  made.toHost = way == 1;
  if (way < 2)
    made.family = "random, host";
  else if (!isLarge && random() % 4 == 0)
    made.problem.roomBytes = int64_t(64 + random() % 256); // lines this short take several parts
  return made;
}

// The cores' boxes hold the elements' numbers, modulo 251 where their type does not hold them.
int64_t valueOf(int64_t element, format::ElementType type) {
  const bool holds = format::elementBytes(type) >= 4 || type == format::ElementType::U16;
  return element < 0 ? 0 : holds ? element : element % 251;
}

struct Outcome {
  std::string family;
  bool factored = false, isNothing = false;
  int64_t cycles = 0, bound = 0, estimate = 0;
  double ratio() const { return double(cycles) / double(bound); }
};

class MoveTest : public testing::Test {
protected:
  std::vector<Outcome> outcomes;
  int factored = 0, refused = 0;

  // Fails the test where a core ends with something else, or engines differ.
  void check(const MoveCase &made, const std::string &what) {
    const MoveProblem &problem = made.problem;
    std::string between = what + ", " + made.family + ", mesh " + std::to_string(problem.rectangle.rows) + "x" +
                          std::to_string(problem.rectangle.cols) + (made.fromHost ? " from the host" : "") +
                          (made.toHost ? " to the host" : "");
    for (const MoveSource &source : problem.sources)
      between += " from " + print(source.sharding);
    SCOPED_TRACE(between + " to " + print(*problem.target));
    const auto value = [&](int64_t element) { return valueOf(element, problem.type); };
    auto move = test::moveProgram(made, value, true);
    if (absl::IsResourceExhausted(move.status())) {
      ++refused;
      return;
    }
    ASSERT_TRUE(move.ok()) << move.status();
    const format::Executable &executable = move->program.executable;
    for (const auto &violation : format::findViolations(executable))
      FAIL() << violation.rule << ": " << violation.message;
    std::vector<emulator::HostTensor> inputs;
    if (made.fromHost) {
      inputs.emplace_back();
      for (int64_t e = 0; e < problem.ids; ++e)
        append(inputs[0].bytes, double(value(e)), problem.type);
    }
    std::vector<emulator::CoreEngine::CoreTrace> first;
    for (emulator::Schedule schedule : {emulator::Schedule::Units, emulator::Schedule::Worklist}) {
      auto engine = emulator::CoreEngine::create(executable, {.threads = 1, .schedule = schedule});
      ASSERT_TRUE(engine.ok()) << engine.status();
      const std::vector<emulator::CorePlace> places = placesOf(executable, (*engine)->runs(0));
      std::vector<emulator::HostTensor> outputs;
      auto traces = (*engine)->runTraced(0, inputs, places, outputs);
      ASSERT_TRUE(traces.ok()) << traces.status();
      if (made.toHost)
        ASSERT_NO_FATAL_FAILURE(checkOutput(made, outputs));
      if (schedule == emulator::Schedule::Units) {
        if (!made.toHost)
          ASSERT_NO_FATAL_FAILURE(checkCores(made, executable, *traces));
        ASSERT_NO_FATAL_FAILURE(checkReplays(executable, (*engine)->runs(0), places, *traces));
        first = *std::move(traces);
        continue;
      }
      for (size_t p = 0; p < places.size(); ++p)
        ASSERT_TRUE((*traces)[p].buffersAfter == first[p].buffersAfter &&
                    (*traces)[p].queueWords == first[p].queueWords)
            << "the schedules differ on core " << p;
    }
    // Cycles of the move alone, without the copy for the test's eyes.
    auto alone = test::moveProgram(made, value, false);
    ASSERT_TRUE(alone.ok()) << alone.status();
    Outcome outcome{made.family, move->factored, move->isNothing, 0, move->boundCycles, move->estimatedCycles};
    for (size_t c = 0; c < alone->program.executable.configurations.size(); ++c) {
      auto cycles = emulator::runCycles(alone->program.executable, int(c));
      ASSERT_TRUE(cycles.ok()) << cycles.status();
      outcome.cycles += cycles->endCycle;
    }
    factored += move->factored;
    outcomes.push_back(outcome);
  }

private:
  static void append(std::vector<std::byte> &bytes, double value, format::ElementType type) {
    const std::vector<std::byte> element = elementOf(value, type);
    bytes.insert(bytes.end(), element.begin(), element.end());
  }

  static std::vector<emulator::CorePlace> placesOf(const format::Executable &executable,
                                                   std::span<const emulator::EntryRun> runs) {
    std::vector<emulator::CorePlace> places;
    for (size_t r = 0; r < runs.size(); ++r) {
      const format::Configuration &configuration = executable.configurations[size_t(runs[r].configuration)];
      for (size_t role = 0; role < configuration.roles.size(); ++role)
        emulator::forEachPoint(configuration.roles[role].cores,
                               [&](const format::LatticeIndex &index, int32_t, int32_t) {
                                 places.push_back({int32_t(r), 0, int32_t(role), index});
                                 return true;
                               });
    }
    return places;
  }

  // The bytes of an element of the wanted tensor; none: it may be anything.
  static std::vector<std::byte> wantedBytes(const MoveProblem &problem, int64_t number) {
    if (number >= 0)
      return elementOf(double(valueOf(number, problem.type)), problem.type);
    return problem.fillMatters ? elementOf(problem.fill, problem.type) : std::vector<std::byte>();
  }

  static void checkOutput(const MoveCase &made, const std::vector<emulator::HostTensor> &outputs) {
    ASSERT_EQ(outputs.size(), 1u);
    const std::vector<int64_t> numbers = test::numbersOf(made.problem);
    const size_t bytes = size_t(format::elementBytes(made.problem.type));
    ASSERT_EQ(outputs[0].bytes.size(), numbers.size() * bytes);
    for (size_t e = 0; e < numbers.size(); ++e)
      if (const auto wanted = wantedBytes(made.problem, numbers[e]); !wanted.empty())
        ASSERT_EQ(std::memcmp(wanted.data(), &outputs[0].bytes[e * bytes], bytes), 0) << "element " << e;
  }

  static void checkCores(const MoveCase &made, const format::Executable &executable,
                         const std::vector<emulator::CoreEngine::CoreTrace> &traces) {
    const size_t bytes = size_t(format::elementBytes(made.problem.type));
    size_t checked = 0;
    for (const auto &trace : traces) {
      const format::Role &role = executable.configurations[0].roles[size_t(trace.role)];
      const auto [row, col] = emulator::latticePosition(role.cores, trace.index);
      std::vector<int64_t> wanted;
      made.problem.wanted(row, col, wanted);
      if (wanted.empty())
        continue; // outside of the sharding's rectangle
      const auto buffer = std::find_if(role.buffers.begin(), role.buffers.end(),
                                       [](const format::Buffer &b) { return b.name == test::kMovedName; });
      ASSERT_NE(buffer, role.buffers.end());
      ++checked;
      const std::vector<std::byte> &after = trace.buffersAfter[size_t(buffer - role.buffers.begin())];
      for (size_t i = 0; i < wanted.size(); ++i)
        if (const auto expected = wantedBytes(made.problem, wanted[i]); !expected.empty())
          ASSERT_EQ(std::memcmp(expected.data(), &after[i * bytes], bytes), 0)
              << "core (" << row << ", " << col << ") element " << i << ", number " << wanted[i];
    }
    ASSERT_EQ(checked, size_t(made.problem.target->rectangle.rows) * size_t(made.problem.target->rectangle.cols));
  }

  // Every core does what the scalar interpreter does with the words that it received.
  static void checkReplays(const format::Executable &executable, std::span<const emulator::EntryRun> runs,
                           const std::vector<emulator::CorePlace> &places,
                           const std::vector<emulator::CoreEngine::CoreTrace> &traces) {
    for (size_t p = 0; p < places.size(); ++p) {
      const auto &trace = traces[p];
      const format::Role &role =
          executable.configurations[size_t(runs[size_t(places[p].run)].configuration)].roles[size_t(trace.role)];
      std::vector<std::vector<std::byte>> received = trace.queueWords;
      for (size_t q = 0; q < role.queues.size(); ++q)
        if (role.queues[q].output)
          received[q].clear();
      auto run = emulator::interpretCore(executable, role, trace.index, {trace.buffersBefore}, received);
      ASSERT_TRUE(run.ok()) << run.status();
      ASSERT_EQ(run->image.buffers, trace.buffersAfter) << role.name;
      for (size_t q = 0; q < role.queues.size(); ++q)
        if (role.queues[q].output)
          ASSERT_EQ(run->queueWords[q], trace.queueWords[q]) << role.name << ", queue " << q;
    }
  }
};

void printRatios(const std::string &what, std::vector<Outcome> outcomes) {
  const size_t all = outcomes.size();
  std::erase_if(outcomes, [](const Outcome &outcome) { return outcome.bound == 0; });
  if (outcomes.empty())
    return;
  std::sort(outcomes.begin(), outcomes.end(), [](const auto &a, const auto &b) { return a.ratio() < b.ratio(); });
  int64_t cycles = 0, bound = 0;
  for (const Outcome &outcome : outcomes) {
    cycles += outcome.cycles;
    bound += outcome.bound;
  }
  std::printf("%-44s %5zu cases, %4zu move nothing; median %6.2f, 95th percentile %6.2f; mean cycles %6lld, bound "
              "%5lld\n",
              what.c_str(), all, all - outcomes.size(), outcomes[outcomes.size() / 2].ratio(),
              outcomes[outcomes.size() * 95 / 100].ratio(), (long long)(cycles / int64_t(outcomes.size())),
              (long long)(bound / int64_t(outcomes.size())));
}

// Half of the cases are what networks need (test/support/RealTransitions.h), half are random pairs.
TEST_F(MoveTest, RandomPairs) {
  const uint64_t seed = test::seedOf(1);
  const int cases = test::casesOf(300);
  std::vector<Outcome> ofNetworks, random;
  for (int i = 0; i < cases && !HasFailure(); ++i) {
    std::mt19937_64 numbers(seed * 100000 + uint64_t(i));
    const bool isReal = i % 2 == 0;
    const size_t before = outcomes.size();
    check(isReal ? test::drawTransition(numbers) : randomCase(numbers),
          "seed " + std::to_string(seed) + " case " + std::to_string(i));
    if (outcomes.size() > before)
      (isReal ? ofNetworks : random).push_back(outcomes.back());
  }
  std::map<std::string, std::vector<Outcome>> groups;
  for (const auto *half : {&ofNetworks, &random})
    for (const Outcome &outcome : *half) {
      groups[outcome.family].push_back(outcome);
      groups[outcome.factored ? " by factors" : " by element"].push_back(outcome);
    }
  std::printf("cycles / (busiest cut + distance)\n");
  printRatios("all", outcomes);
  printRatios("what networks need", ofNetworks);
  printRatios("random pairs", random);
  for (const auto &[what, group] : groups)
    printRatios(what, group);
  const auto still =
      std::count_if(outcomes.begin(), outcomes.end(), [](const Outcome &outcome) { return outcome.bound == 0; });
  std::printf("%d of %d refused for want of SRAM\n", refused, cases);
  EXPECT_LE(refused * 20, cases);
  EXPECT_LE(still * 5, int64_t(outcomes.size())) << "cases in which nothing moves";
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
           // Padding that may be anything is read from nowhere that nobody has written.
           Pair{"(0, 0, 2, 3) [12 = 0 | 12, 12 = c*1 + r*3 | 2*6]",
                "(0, 0, 2, 2) [12 = -1 + r%2*8 | 10, 12 = c%2*9 | 9]",
                {0, 0, 2, 3},
                format::ElementType::F32},
       }) {
    MoveCase made = test::moveBetween(*parseSharding(pair.from), *parseSharding(pair.to), pair.rectangle, pair.type);
    made.family = "chosen";
    check(made, "chosen");
  }
  EXPECT_EQ(factored, 6);
}

// A piece may read its source backwards along some dimensions, as the second direction of a recurrence does.
TEST_F(MoveTest, ReversedPieces) {
  const uint64_t seed = test::seedOf(1);
  for (int i = 0; i < 80 && !HasFailure(); ++i) {
    std::mt19937_64 numbers(seed * 100000 + uint64_t(i));
    MoveCase made = randomCase(numbers);
    StridedPiece &piece = made.problem.pieces[0];
    for (Piece::Digit &digit : piece.digits)
      if (numbers() % 2 == 0) {
        piece.sourceOffset += (digit.extent - 1) * digit.sourceStride;
        digit.sourceStride = -digit.sourceStride;
      }
    describe(made);
    check(made, "seed " + std::to_string(seed) + " case " + std::to_string(i));
  }
  EXPECT_GE(factored, 50);
}

// Rows and columns of an image on both axes, and windows of it: each lies in two dimensions of the windows.
TEST_F(MoveTest, WindowsOfAnImageOnBothAxes) {
  for (const char *to : {"(0, 0, 8, 8) [6 = r/2*2 + c/4*1 |, 16 = c%4*1 | 4*4, 3 = 0 | 3]",
                         "(0, 0, 6, 4) [6 = r*1 |, 16 = c*4 | 4, 3 = 0 | 3]",
                         "(0, 0, 3, 8) [6 = r*2 | 2, 16 = c%4*4 | 2 2*2, 3 = 0 | 3]"}) {
    MoveCase made = test::moveBetween(*parseSharding("(0, 0, 8, 12) [8 = r*1 |, 12 = c*1 |, 3 = 0 | 3]"),
                                      *parseSharding(to), {0, 0, 8, 12}, format::ElementType::F32);
    made.family = "windows";
    made.problem.pieces = {{0, 0, 0, {{2, 144, 144}, {3, 12, 48}, {4, 36, 12}, {4, 3, 3}, {3, 1, 1}}}};
    describe(made);
    check(made, "windows");
  }
  EXPECT_GE(factored, 2);
}

// Windows of 7 of an image that is held in pairs of rows and columns: 14 is 2 · 7 here, 7 · 2 there.
TEST_F(MoveTest, WindowsOfAnImageInPairs) {
  for (const char *to : {"(0, 0, 14, 4) [7 = r%7*1 |, 2 = r/7*1 |, 7 = 0 | 7, 2 = 0 | 2, 4 = c*1 |]",
                         "(0, 0, 7, 8) [7 = r*1 |, 2 = 0 | 2, 7 = c*1 |, 2 = 0 | 2, 4 = 0 | 4]",
                         "(0, 0, 14, 8) [7 = r/2*1 |, 2 = r%2*1 |, 7 = c%4*2 | 2, 2 = c/4*1 |, 4 = 0 | 4]"}) {
    MoveCase made = test::moveBetween(*parseSharding("(0, 0, 4, 2) [4 = r*1 |, 49 = 0 | 49, 4 = c*2 | 2]"),
                                      *parseSharding(to), {0, 0, 14, 8}, format::ElementType::F32);
    made.family = "windows in pairs";
    made.problem.pieces = {{0, 0, 0, {{2, 392, 392}, {2, 196, 28}, {7, 28, 56}, {7, 4, 4}, {4, 1, 1}}}};
    describe(made);
    check(made, "windows in pairs");
  }
  EXPECT_GE(factored, 2);
}

// Cores beyond the last giver have no turns, and those beyond the last taker do not wait for words: a line takes as
// long on a wide mesh as on one that just holds the move.
TEST_F(MoveTest, LinesAreAsShortAsTheirMoves) {
  const auto cyclesOn = [&](const char *from, const char *to, const Rectangle &mesh) {
    MoveCase made = test::moveBetween(*parseSharding(from), *parseSharding(to), mesh, format::ElementType::F32);
    check(made, "lines");
    return outcomes.empty() ? int64_t(0) : outcomes.back().cycles;
  };
  const char *tokens = "(0, 0, 4, 6) [6 = c*1 |, 12 = r*3 | 3]";
  for (const char *to : {"(0, 0, 4, 6) [6 = 0 | 6, 12 = r*3 | 3]", "(0, 0, 4, 9) [6 = 0 | 6, 12 = r*3 | 3]",
                         "(0, 0, 4, 9) [6 = 0 |, 12 = r*3 | 3]"})
    EXPECT_EQ(cyclesOn(tokens, to, {0, 0, 4, 9}), cyclesOn(tokens, to, {0, 0, 4, 40})) << to;
  const char *one = "(0, 0, 1, 6) [6 = c*1 |]", *down = "(0, 0, 5, 6) [6 = c*1 |]";
  EXPECT_EQ(cyclesOn(one, down, {0, 0, 5, 6}), cyclesOn(one, down, {0, 0, 30, 6}));
}

// Where the blocks of a line are larger than their room, chains of hops with smaller ones are taken if there are any.
TEST_F(MoveTest, ChainsKeepToTheRoomForBlocks) {
  const uint64_t seed = test::seedOf(1);
  int smaller = 0;
  for (int i = 0; i < 200 && !HasFailure(); ++i) {
    std::mt19937_64 numbers(seed * 100000 + uint64_t(i));
    MoveCase made = test::drawTransition(numbers);
    made.problem.thorough = false;
    const auto any = made.problem.target ? planHops(made.problem) : std::nullopt;
    if (!any)
      continue;
    made.problem.blockBytes = any->scratchBytes - 1;
    const auto kept = planHops(made.problem);
    ASSERT_TRUE(kept) << "case " << i;
    EXPECT_LE(kept->scratchBytes, any->scratchBytes) << "case " << i;
    if (kept->scratchBytes < any->scratchBytes) {
      ++smaller;
      check(made, "seed " + std::to_string(seed) + " case " + std::to_string(i));
    }
  }
  EXPECT_GE(smaller, 10);
}

// A thorough plan is as quick as one that is not, and quicker where another chain saves more than one more
// configuration takes.
TEST_F(MoveTest, ThoroughPlansLookFurther) {
  const uint64_t seed = test::seedOf(1);
  int quicker = 0;
  for (int i = 0; i < 300; ++i) {
    std::mt19937_64 numbers(seed * 100000 + uint64_t(i));
    MoveCase made = randomCase(numbers);
    made.problem.thorough = false;
    const auto any = planHops(made.problem);
    made.problem.thorough = true;
    const auto thorough = planHops(made.problem);
    ASSERT_EQ(any.has_value(), thorough.has_value()) << "case " << i;
    if (!any || thorough->estimatedCycles == any->estimatedCycles)
      continue;
    ++quicker;
    EXPECT_LT(thorough->estimatedCycles, any->estimatedCycles) << "case " << i;
    if (any->hops.size() == 1)
      EXPECT_LE(thorough->scratchBytes + thorough->tableBytes, any->scratchBytes + any->tableBytes) << "case " << i;
  }
  EXPECT_GE(quicker, 5);
}

// Eight channels' strips of four pixels with a border of one before and behind: three copies, of the border before, the
// core's own strip and the border behind. The fourth strip has but two pixels; what lies behind them is filled.
TEST_F(MoveTest, WindowsAreCopiedBlockByBlock) {
  MoveCase made = test::moveBetween(*parseSharding("(0, 0, 1, 4) [8 = 0 | 8, 14 = c*4 | 4]"),
                                    *parseSharding("(0, 0, 1, 4) [8 = 0 | 8, 14 = -1 + c*4 | 6]"), {0, 0, 1, 4},
                                    format::ElementType::F32);
  made.family = "borders";
  made.problem.fillMatters = true;
  const auto move = planFactored(made.problem, made.problem.pieces[0]);
  ASSERT_TRUE(move);
  ASSERT_EQ(move->stages.size(), 1u);
  const FactoredStage &stage = move->stages[0];
  EXPECT_FALSE(stage.copy.table);
  ASSERT_EQ(stage.otherCopies.size(), 2u);
  ASSERT_EQ(stage.otherCopies[0].patches.size(), 1u);
  const BlockCopy::Patch &patch = stage.otherCopies[0].patches[0];
  EXPECT_EQ(patch.begin, 3);
  EXPECT_EQ(patch.end, 4);
  EXPECT_EQ(patch.to, 3); // behind the border and two pixels
  check(made, "borders");
}

// Each row holds two of eight lines in 18 places, six of which are padding, and gives to all rows. Packed first, blocks
// have 24 elements instead of 36. Where columns 4 to 11 are wanted alone, the others stay at home, too.
TEST_F(MoveTest, UselessEntriesDoNotTravel) {
  for (const auto &[to, elements] : {std::pair("(0, 0, 4, 1) [8 = 0 | 8, 12 = r*3 | 3]", 24),
                                     std::pair("(0, 0, 4, 1) [8 = 0 | 8, 12 = 4 + r*2 | 2]", 16)}) {
    MoveCase made = test::moveBetween(*parseSharding("(0, 0, 4, 1) [8 = r*1 | 2*4, 12 = 0 | 2*9 9]"),
                                      *parseSharding(to), {0, 0, 4, 1}, format::ElementType::F32);
    made.family = "useless";
    const auto move = planFactored(made.problem, made.problem.pieces[0]);
    ASSERT_TRUE(move);
    ASSERT_EQ(move->stages.size(), 2u);
    EXPECT_EQ(move->stages[0].line.kind, LinePlan::Kind::Local);
    EXPECT_EQ(move->stages[0].resultElements, elements);
    EXPECT_FALSE(move->stages[0].copy.table);
    EXPECT_EQ(move->stages[1].blockElements, elements);
    check(made, to);
  }
}

// Four groups of channels lie on adjacent rows, so the neighbouring strips of pixels are four rows away: only their
// blocks travel.
TEST_F(MoveTest, BordersAcrossGroupsOfChannels) {
  MoveCase made = test::moveBetween(*parseSharding("(0, 0, 24, 2) [8 = r%4*2 | 2, 12 = r/4*2 | 2, 6 = c*3 | 3]"),
                                    *parseSharding("(0, 0, 24, 2) [8 = r%4*2 | 2, 12 = -1 + r/4*2 | 4, 6 = c*3 | 3]"),
                                    {0, 0, 24, 2}, format::ElementType::F32);
  made.family = "shift";
  made.problem.fillMatters = true;
  const auto move = planFactored(made.problem, made.problem.pieces[0]);
  ASSERT_TRUE(move);
  ASSERT_EQ(move->stages.size(), 1u);
  const LinePlan &line = move->stages[0].line;
  ASSERT_EQ(line.kind, LinePlan::Kind::Window);
  EXPECT_TRUE(line.isShift);
  EXPECT_EQ(line.blocks, 3);
  check(made, "shift");
  made.problem.shifts = false; // the target has no filters
  const auto window = planFactored(made.problem, made.problem.pieces[0]);
  ASSERT_TRUE(window);
  EXPECT_FALSE(window->stages[0].line.isShift);
  EXPECT_EQ(window->stages[0].line.blocks, 9);
  EXPECT_GT(2 * window->estimatedCycles, 3 * move->estimatedCycles);
  check(made, "window");
  ASSERT_EQ(outcomes.size(), 2u);
  EXPECT_GT(outcomes[1].cycles, outcomes[0].cycles * 3 / 2);
}

// Every line wants other entries of its cores' blocks: they come together by an or, whatever their type, and nothing
// else travels.
TEST_F(MoveTest, PicksOfLines) {
  struct Pair {
    const char *what, *from, *to;
    format::ElementType type;
    int64_t entries, entryElements; // of a line
    size_t stages = 1;
  };
  const Rectangle mesh{0, 0, 24, 24};
  for (const Pair &pair : {
           Pair{"a block of a core", "(0, 0, 24, 24) [24 = c*1 |, 96 = 0 | 96]",
                "(0, 0, 24, 24) [24 = r*1 |, 96 = 0 | 96]", format::ElementType::F32, 1, 96},
           Pair{"the same in half words, an odd number of them", "(0, 0, 24, 24) [24 = c*1 |, 193 = 0 | 193]",
                "(0, 0, 24, 24) [24 = r*1 |, 193 = 0 | 193]", format::ElementType::U16, 1, 193},
           Pair{"the same in two words each", "(0, 0, 24, 24) [24 = c*1 |, 48 = 0 | 48]",
                "(0, 0, 24, 24) [24 = r*1 |, 48 = 0 | 48]", format::ElementType::I64, 1, 48},
           Pair{"a part of a block, strided", "(0, 0, 24, 24) [240 = 0 | 240, 48 = c*2 | 2]",
                "(0, 0, 24, 24) [240 = 0 | 240, 48 = r*2 |]", format::ElementType::F16, 1, 240, 2}, // packed first
           Pair{"parts of two cores' blocks", "(0, 0, 24, 24) [72 = c*3 | 3, 96 = 0 | 96]",
                "(0, 0, 24, 24) [72 = 1 + r*2 | 2, 96 = 0 | 96]", format::ElementType::F32, 2, 96},
           Pair{"blocks that pairs of cores hold", "(0, 0, 24, 24) [12 = c/2*1 |, 480 = 0 | 480]",
                "(0, 0, 24, 24) [12 = r/2*1 |, 480 = 0 | 480]", format::ElementType::F32, 1, 480},
           Pair{"the cores of a line want two of twenty-four", "(0, 0, 24, 24) [24 = c*1 |, 96 = 0 | 96]",
                "(0, 0, 12, 24) [24 = r*2 + c%2*1 |, 96 = 0 | 96]", format::ElementType::F32, 2, 96},
           Pair{"cores that hold nothing, in front and behind", "(0, 2, 24, 20) [20 = c*1 |, 96 = 0 | 96]",
                "(0, 0, 20, 24) [20 = r*1 |, 96 = 0 | 96]", format::ElementType::F32, 1, 96},
       }) {
    SCOPED_TRACE(pair.what);
    MoveCase made = test::moveBetween(*parseSharding(pair.from), *parseSharding(pair.to), mesh, pair.type);
    made.family = "picks";
    const auto move = planFactored(made.problem, made.problem.pieces[0]);
    ASSERT_TRUE(move);
    ASSERT_EQ(move->stages.size(), pair.stages);
    const LinePlan &line = move->stages.back().line;
    ASSERT_EQ(line.kind, LinePlan::Kind::Pick);
    EXPECT_EQ(line.blocks, pair.entries);
    EXPECT_EQ(line.entryElements, pair.entryElements);
    check(made, pair.what);
    made.problem.picks = false; // SRAM has no room for the tables of a program's picks
    const auto other = planFactored(made.problem, made.problem.pieces[0]);
    ASSERT_TRUE(other);
    EXPECT_NE(other->stages[0].line.kind, LinePlan::Kind::Pick);
    EXPECT_GT(other->estimatedCycles, move->estimatedCycles);
  }
}

// The groups of a line pick for themselves where what they want lies in them.
TEST_F(MoveTest, PicksOfGroups) {
  MoveCase made = test::moveBetween(*parseSharding("(0, 0, 16, 64) [4 = c/16*1 |, 16 = c%16*1 |, 64 = 0 | 64]"),
                                    *parseSharding("(0, 0, 16, 64) [4 = c/16*1 |, 16 = r*1 |, 64 = 0 | 64]"),
                                    {0, 0, 16, 64}, format::ElementType::F32);
  made.family = "picks";
  const auto move = planFactored(made.problem, made.problem.pieces[0]);
  ASSERT_TRUE(move);
  ASSERT_EQ(move->stages.size(), 1u);
  const LinePlan &line = move->stages[0].line;
  ASSERT_EQ(line.kind, LinePlan::Kind::Pick);
  EXPECT_EQ(line.segment, 16);
  EXPECT_EQ(line.blocks, 1);
  check(made, "groups");
}

// A bus from cores whose blocks no line wants carries nothing of them.
TEST_F(MoveTest, BusOfWantedBlocks) {
  MoveCase made = test::moveBetween(*parseSharding("(0, 0, 16, 4) [16 = r*1 |, 8 = c*2 | 2]"),
                                    *parseSharding("(0, 0, 16, 4) [16 = 5 | 2, 8 = c*2 | 2]"), {0, 0, 16, 4},
                                    format::ElementType::F32);
  made.family = "bus";
  const auto move = planFactored(made.problem, made.problem.pieces[0]);
  ASSERT_TRUE(move);
  ASSERT_EQ(move->stages.size(), 1u);
  const LinePlan &line = move->stages[0].line;
  ASSERT_EQ(line.kind, LinePlan::Kind::Bus);
  EXPECT_EQ(line.begin, 5);
  EXPECT_EQ(line.units, 2);
  check(made, "bus");
}

} // namespace
