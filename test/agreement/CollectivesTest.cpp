// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The laws of the collectives (compiler/spmd/collectives/Laws.h) against the cycle engine, on grids of sizes and
// rectangles: each within 5 %. Prints the grids.
#include "compiler/spmd/collectives/GroupReduce.h"
#include "compiler/spmd/collectives/Laws.h"
#include "compiler/spmd/collectives/SegmentGather.h"
#include "compiler/spmd/collectives/SegmentShift.h"
#include "runtime/emulator/Timing.h"
#include "test/unit/spmd/CollectiveProgram.h"

#include <cmath>
#include <cstdio>

namespace wsc::test {
namespace {

using namespace spmd;

constexpr double kMostError = 0.05;

class CollectiveLaws : public ::testing::Test {
protected:
  /// Appends a collective that reads `held` and writes `result`.
  using Emit = std::function<void(CollectiveProgram &program, Place held, Place result)>;

  /// Of the cycle engine; sets `analytic` to what the analytic one says.
  int64_t cyclesOf(CollectiveProgram &program) {
    auto executable = program.make();
    EXPECT_TRUE(executable.ok()) << executable.status();
    if (!executable.ok())
      return 0;
    auto run = emulator::runCycles(executable->executable, 0, {.threads = 1});
    EXPECT_TRUE(run.ok()) << run.status();
    const auto networks =
        emulator::resolveNetworks(executable->executable.target, executable->executable.configurations[0]);
    EXPECT_TRUE(networks.ok()) << networks.status();
    if (networks.ok())
      if (const auto timing = emulator::analyseTiming(executable->executable, 0, *networks, 1); timing.ok())
        analytic = timing->latencyCycles;
    return run.ok() ? run->endCycle : 0;
  }

  /// The collective alone. The result begins a few banks behind what is held, so that operands do not conflict.
  int64_t measure(int32_t rows, int32_t cols, int64_t words, int64_t resultWords, const Emit &emit) {
    CollectiveProgram program(rows, cols);
    const int16_t held = program.source(words, [](int32_t, int32_t, int64_t) { return 1; });
    // Whichever comes first in SRAM, they are half a period of the banks apart.
    const int64_t gap = (8 - words % 16 + 16) % 16;
    const int16_t result = program.result(resultWords + gap + (8 - resultWords % 16 + 16) % 16, false);
    emit(program, {held, 0}, {result, gap * 4});
    return cyclesOf(program);
  }

  void expectLaw(const std::string &what, int64_t law, int64_t cycles) {
    const double error = double(law) / double(cycles) - 1;
    std::printf("  %-64s %7lld against %7lld (%+6.2f %%)\n", what.c_str(), (long long)law, (long long)cycles,
                100 * error);
    worst = std::max(worst, std::abs(error));
    EXPECT_LE(std::abs(error), kMostError) << what;
  }

  void TearDown() override { std::printf("  largest difference %.2f %%\n", 100 * worst); }

  static target::Target targetOf(int32_t rows, int32_t cols) {
    return *target::loadTarget("mesh-" + std::to_string(rows) + "x" + std::to_string(cols));
  }

  double worst = 0;
  int64_t analytic = 0; // of what has been measured last
};

std::string text(std::initializer_list<std::pair<const char *, int64_t>> parts) {
  std::string result;
  for (const auto &[name, value] : parts)
    result += (result.empty() ? "" : ", ") + std::string(name) + " " + std::to_string(value);
  return result;
}

TEST_F(CollectiveLaws, GroupReduce) {
  for (Axis axis : {Axis::Row, Axis::Col})
    for (const auto &[length, group] : {std::pair(8, 2), {9, 3}, {32, 8}, {60, 15}, {96, 96}, {128, 32}, {192, 192}})
      for (int64_t words : {1, 4, 16, 50, 128, 500}) {
        const int32_t rows = axis == Axis::Row ? 3 : length, cols = axis == Axis::Row ? length : 3;
        const int64_t cycles = measure(
            rows, cols, words, words, [&, length = length, group = group](auto &program, Place held, Place result) {
              emitGroupAllReduce(program.code(), {axis, length, group, length / group}, format::Opcode::Add,
                                 format::ElementType::F32, words, held, result);
            });
        expectLaw((axis == Axis::Row ? "all-reduce along rows of " : "all-reduce along columns of ") +
                      text({{"cores", length}, {"groups of", group}, {"words", words}}),
                  allReduceCycles(targetOf(rows, cols), group, reduceRun(group), words), cycles);
      }
}

/// In both directions, of all cores of a line.
SegmentGather gatherOf(int32_t length, int32_t unit, int32_t segment, int64_t words, Place held) {
  SegmentGather gather;
  gather.unit = unit;
  gather.units = length / unit;
  gather.segment = segment;
  gather.forward.words = words;
  gather.forward.source = memory(held.buffer, 0, {4});
  gather.forward.extent[3] = format::Affine(words);
  gather.forward.pitchBytes = words * 4;
  gather.backward = gather.forward;
  gather.forward.own = {.countPerPosition = 1};
  gather.backward.own = {
      .count = segment - 1, .countPerPosition = -1, .place = words * 4, .placePerPosition = words * 4};
  return gather;
}

TEST_F(CollectiveLaws, Gathers) {
  for (const auto &[length, unit, segment] : {std::array<int32_t, 3>{24, 1, 2},
                                              {24, 1, 3},
                                              {24, 1, 4},
                                              {48, 1, 8},
                                              {64, 1, 16},
                                              {64, 1, 64},
                                              {128, 1, 128},
                                              {64, 2, 8},
                                              {64, 8, 4},
                                              {128, 8, 16}})
    for (int64_t words : {1, 2, 3, 5, 8, 16, 50, 128}) {
      if (segment * words > 8000) // more than a core holds
        continue;
      const int64_t cycles = measure(
          2, length, words, segment * words,
          [&, length = length, unit = unit, segment = segment](auto &program, Place held, Place result) {
            emitSegmentGather(program.code(), Axis::Row, length, gatherOf(length, unit, segment, words, held), result);
          });
      const std::string what = text({{"cores", length}, {"unit", unit}, {"segment", segment}, {"words", words}});
      const int64_t law = gatherCycles(targetOf(2, length), unit, segment, words);
      if (unit > 1)
        EXPECT_LE(cycles, law) << what;
      else
        expectLaw("gather " + what, law, cycles);
      // Blocks of a gather are on their way while they wait for their turn.
      EXPECT_NEAR(double(analytic), double(cycles), double(cycles) / 10) << what;
    }
}

// Gathers one after another on the same routes: the words of the next one are on their way while cores wait for the
// last blocks of the one before.
TEST_F(CollectiveLaws, GathersInRounds) {
  for (const auto &[length, segment] : {std::pair(24, 4), {48, 8}, {64, 16}, {64, 64}})
    for (int64_t words : {1, 2, 3, 5, 8, 16}) {
      const int64_t cycles = measure(
          2, length, words, segment * words,
          [&, length = length, segment = segment](CollectiveProgram &program, Place held, Place result) {
            for (int round = 0; round < 3; ++round)
              emitSegmentGather(program.code(), Axis::Row, length, gatherOf(length, 1, segment, words, held), result);
          });
      const std::string what = text({{"cores", length}, {"segment", segment}, {"words", words}});
      const target::Target target = targetOf(2, length);
      EXPECT_LE(cycles, 3 * gatherCycles(target, 1, segment, words) + 2 * target.taskStartCycles) << what;
      EXPECT_NEAR(double(analytic), double(cycles), double(cycles) / 8) << what;
    }
}

TEST_F(CollectiveLaws, Windows) {
  enum class Side { Before, Behind, Both };
  for (Side side : {Side::Before, Side::Behind, Side::Both})
    for (const auto &[length, unit, reach] : {std::array<int32_t, 3>{24, 1, 1},
                                              {60, 1, 3},
                                              {60, 1, 6},
                                              {64, 2, 1},
                                              {64, 2, 4},
                                              {90, 5, 2},
                                              {128, 1, 16},
                                              {128, 8, 4}})
      for (int64_t words : {1, 4, 16, 50, 128, 500}) {
        if (side == Side::Both && reach * words > 4000) // more than a core holds
          continue;
        const int64_t pitch = words * 4, behind = side == Side::Both ? reach * pitch : 0;
        const int64_t cycles =
            measure(2, length, words, ((side == Side::Both ? 2 : 1) * reach + 1) * words,
                    [&, length = length, unit = unit, reach = reach](auto &program, Place held, Place result) {
                      SegmentGather window;
                      window.unit = unit;
                      window.units = length / unit;
                      window.segment = reach;
                      window.overlap = true;
                      SegmentGather::Direction direction;
                      direction.words = words;
                      direction.source = memory(held.buffer, 0, {4});
                      direction.extent[3] = format::Affine(words);
                      direction.pitchBytes = pitch;
                      if (side != Side::Behind) {
                        window.forward = direction;
                        window.forward.own = {0, 0, 0, 1, reach * pitch, -pitch};
                        window.forward.other = {0, 1, reach, -1, 0, 0};
                      }
                      if (side != Side::Before) {
                        window.backward = direction;
                        window.backward.own = {0, 0, reach - 1, -1, behind + pitch, 0};
                        window.backward.other = {0, 0, 1, 1, behind + reach * pitch, -pitch};
                      }
                      emitSegmentGather(program.code(), Axis::Row, length, window, result);
                    });
        const target::Target target = targetOf(2, length);
        const int64_t oneSide = segmentGatherCycles(target, unit, reach, words);
        if (side == Side::Both && unit > 1) {
          EXPECT_LE(cycles, 2 * oneSide + target.vectorSetupCycles + target.taskStartCycles)
              << text({{"cores", length}, {"unit", unit}, {"reach", reach}, {"words", words}});
          continue;
        }
        expectLaw((side == Side::Before   ? "window before "
                   : side == Side::Behind ? "window behind "
                                          : "window on both sides ") +
                      text({{"cores", length}, {"unit", unit}, {"reach", reach}, {"words", words}}),
                  side == Side::Both ? windowCycles(target, reach, words) : oneSide, cycles);
      }
}

TEST_F(CollectiveLaws, Shifts) {
  for (bool both : {false, true})
    for (int32_t segment : {2, 3, 4, 5, 7, 8, 16, 32})
      for (int64_t words : {1, 2, 3, 4, 6, 8, 16, 64}) {
        const int32_t cores = 4 * segment;
        const int64_t cycles =
            measure(1, cores, words, 2 * words, [&](CollectiveProgram &program, Place held, Place result) {
              SegmentShift shift;
              shift.segment = segment;
              shift.units = cores;
              shift.forward.words = words;
              shift.forward.source = memory(held.buffer, 0, {4});
              shift.forward.extent[3] = format::Affine(words);
              if (both) {
                shift.backward = shift.forward;
                shift.backward.place = words * 4;
              }
              emitSegmentShift(program.code(), Axis::Row, shift, result);
            });
        expectLaw((both ? "shift in both directions " : "shift forward ") +
                      text({{"cores", cores}, {"segment", segment}, {"words", words}}),
                  segmentShiftCycles(targetOf(1, cores), segment, words, both), cycles);
      }
}

TEST_F(CollectiveLaws, Buses) {
  struct Shape {
    int32_t length, begin, unit, units, segment;
  };
  for (const Shape &shape :
       {Shape{8, 0, 1, 8, 8}, Shape{48, 0, 1, 48, 48}, Shape{48, 16, 1, 16, 16}, Shape{48, 0, 4, 12, 12},
        Shape{120, 0, 1, 20, 20}, Shape{60, 0, 1, 60, 12}, Shape{60, 0, 3, 20, 5}, Shape{128, 0, 1, 128, 2}})
    for (int64_t words : {1, 4, 16, 50, 128})
      for (bool all : {true, false}) {
        LineBus bus;
        bus.begin = shape.begin;
        bus.unit = shape.unit;
        bus.units = shape.units;
        bus.segment = shape.segment;
        bus.words = words;
        bus.pitchBytes = words * 4;
        bus.blocks = all ? std::min(shape.segment, shape.units) : 1;
        const int64_t cycles =
            measure(2, shape.length, words, bus.blocks * words, [&](auto &program, Place held, Place result) {
              emitLineBus(program.code(), Axis::Row, shape.length, bus, held, result);
            });
        expectLaw("bus " + text({{"cores", shape.length},
                                 {"begin", shape.begin},
                                 {"unit", shape.unit},
                                 {"units", shape.units},
                                 {"segment", shape.segment},
                                 {"kept", bus.blocks},
                                 {"words", words}}),
                  lineBusCycles(targetOf(2, shape.length), bus, shape.length), cycles);
      }
}

TEST_F(CollectiveLaws, Inputs) {
  for (const auto &[rows, cols, length] : {std::array<int32_t, 3>{1, 16, 16},
                                           {8, 16, 16},
                                           {4, 20, 60},
                                           {64, 32, 32},
                                           {100, 80, 80},
                                           {8, 0, 24},
                                           {100, 0, 64}})
    for (int64_t words : {1, 4, 16, 50, 128}) {
      CollectiveProgram program(rows, length);
      const int16_t result = program.result(words, false);
      program.entry.inputs.push_back({"x", format::ElementType::F32, {rows, std::max<int64_t>(1, cols) * words}});
      PortUse use{false, 0, 0, rows, words, std::nullopt};
      if (cols > 0) {
        emitInput(program.code(), 0, rows, cols, words, {result, 0}, length);
      } else {
        emitBoxInput(program.code(), rows, words, {result, 0});
      }
      use.box = Sharding{{0, 0, rows, std::max(1, cols)},
                         {rows, std::max<int64_t>(1, cols) * words},
                         {{0, {{Axis::Row, 1, 0, 1}}, {}}, {0, {}, {{words, 1}}}}};
      if (cols > 1)
        use.box->dims[1].mesh = {{Axis::Col, 1, 0, words}};
      program.phase.ports.push_back(use);
      expectLaw((cols ? "input " : "box input ") +
                    text({{"rows", rows}, {"of cores", length}, {"that take", cols}, {"words", words}}),
                cols ? inputCycles(targetOf(rows, length), rows, cols, words, length)
                     : boxInputCycles(targetOf(rows, length), rows, words, length),
                cyclesOf(program));
    }
}

TEST_F(CollectiveLaws, Outputs) {
  for (const auto &[rows, cols, length] :
       {std::array<int32_t, 3>{1, 16, 16}, {8, 16, 16}, {4, 20, 60}, {64, 32, 32}, {100, 80, 80}, {8, 1, 24}})
    for (int64_t words : {1, 4, 16, 50, 128}) {
      CollectiveProgram program(rows, length);
      const int16_t held = program.source(words, [](int32_t, int32_t, int64_t) { return 1; });
      program.entry.outputs.push_back({"y", format::ElementType::F32, {rows, cols * words}});
      emitOutput(program.code(), 0, rows, cols, words, {held, 0}, length);
      PortUse use{true, 0, 0, rows, words, std::nullopt};
      use.box =
          Sharding{{0, 0, rows, cols}, {rows, cols * words}, {{0, {{Axis::Row, 1, 0, 1}}, {}}, {0, {}, {{words, 1}}}}};
      if (cols > 1)
        use.box->dims[1].mesh = {{Axis::Col, 1, 0, words}};
      program.phase.ports.push_back(use);
      expectLaw("output " + text({{"rows", rows}, {"of cores", length}, {"that give", cols}, {"words", words}}),
                outputCycles(targetOf(rows, length), rows, cols, words, length), cyclesOf(program));
    }
}

} // namespace
} // namespace wsc::test
