// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The reference simulator on examples small enough to work out by hand from docs/Timing.md.
#include "test/support/fabric/FabricReference.h"
#include "test/unit/support/ProgramBuilder.h"

#include <gtest/gtest.h>

namespace wsc::fabric {
namespace {

using namespace format;
using namespace wsc::testing;

constexpr PortMask bit(Port port) { return PortMask(1u << unsigned(port)); }
constexpr PortMask kRamp = bit(Port::Ramp), kEast = bit(Port::East), kSouth = bit(Port::South);

// A row of `cols` cores (or a mesh) with round numbers.
class Example {
public:
  ExecutableBuilder builder;

  explicit Example(int32_t cols, int32_t rows = 1) {
    auto loaded = target::loadTarget("wse2");
    EXPECT_TRUE(loaded.ok()) << loaded.status();
    target() = *loaded;
    target().rows = rows;
    target().cols = cols;
    target().hopLatencyCycles = 1;
    target().rampLatencyCycles = 2;
    target().creditLatencyCycles = 1;
    target().routerQueueWords = 2;
    target().inputQueueWords.assign(8, 2);
    target().outputQueueWords.assign(6, 2);
    target().vectorSetupCycles = 5;
    target().loopCycles = 3;
    target().taskStartCycles = 4;
    target().elementsPerCycleF32 = 1;
    target().fmaPerCycleF32 = 1;
    target().ioTerabitsPerSecond = 32 * target().clockGHz; // 1,000 words a cycle
    Entry &entry = builder.result.entries.emplace_back();
    entry.name = "run";
    entry.steps.push_back({StepKind::Run, 0, {}});
  }
  target::Target &target() { return builder.result.target; }
  void wordsPerCycle(double words) { target().ioTerabitsPerSecond = words * 32 * target().clockGHz / 1000; }

  // One port of a tensor of its own.
  void port(bool output, int32_t row, int32_t col, Port side, uint8_t colour, int64_t words) {
    Entry &entry = builder.result.entries[0];
    auto &tensors = output ? entry.outputs : entry.inputs;
    IoBinding binding;
    binding.output = output;
    binding.tensor = int32_t(tensors.size());
    binding.ports.row = row;
    binding.ports.col = col;
    binding.side = side;
    binding.colour = colour;
    binding.extent[3] = Affine(words);
    binding.stride[3] = 1;
    builder.result.configurations[0].io.push_back(binding);
    tensors.push_back({output ? "y" : "x", ElementType::F32, {words}});
  }

  // Inputs count 1, 2, 3, … over all tensors of a sample.
  FabricRun run(int samples = 1) {
    std::vector<std::vector<emulator::HostTensor>> inputs{size_t(samples)};
    for (auto &sample : inputs) {
      double next = 1;
      for (const TensorType &type : builder.result.entries[0].inputs) {
        std::vector<double> values;
        for (int64_t i = 0; i < type.elements(); ++i)
          values.push_back(next++);
        sample.push_back({bytesOf(type.type, values)});
      }
    }
    auto result = runReference(builder.result, 0, inputs);
    EXPECT_TRUE(result.ok()) << result.status();
    return result.ok() ? *result : FabricRun();
  }
};

std::vector<double> floats(const emulator::HostTensor &tensor) { return valuesOf(ElementType::F32, tensor.bytes); }

// One word over one hop: 5 slots of set-up (cycles 0 to 4), the batch in cycle 5; at the sender's router from 5 + 1 +
// 2, moves in 8; at the next from 9, moves in 9; at the core from 11, taken in 11.
TEST(Reference, OneWordOverOneHop) {
  Example example(2);
  example.builder.router(0, 0, 0, {{Port::Ramp, kEast}}).router(0, 1, 0, {{Port::West, kRamp}});
  RoleBuilder sender(example.builder, "sender"), taker(example.builder, "taker");
  sender.thread().move(sender.output(0), imm(7), {1});
  sender.finish();
  taker.at(0, 1).thread().move(null(), taker.input(0), {1});
  taker.finish();
  const FabricRun run = example.run(2);
  EXPECT_EQ(run.outcome, Outcome::Done);
  // The next sample sets up in 6 to 14 (4 slots more: the task goes on after a queue), sends in 15, is taken in 21.
  EXPECT_EQ(run.sampleDone, (std::vector<int64_t>{12, 22}));
  EXPECT_EQ(run.endCycle, 22);
  EXPECT_EQ(run.wordHops, 2);
  ASSERT_EQ(run.stalls.size(), 2u);
  EXPECT_EQ(run.stalls[0], (CoreStalls{0, 0, 16, 0, 0, 0}));
  EXPECT_EQ(run.stalls[1], (CoreStalls{0, 1, 16, 0, 6, 0})) << "waits in 5 to 10; set up again by 20, for a word of 21";
}

// A taker that comes late: the way holds 2 + 2 (queue of the core), 2 (its router) and 2 + 2 words (the sender's), then
// the sender waits for space.
TEST(Reference, BackPressureFillsTheWay) {
  Example example(2);
  example.builder.router(0, 0, 0, {{Port::Ramp, kEast}}).router(0, 1, 0, {{Port::West, kRamp}});
  RoleBuilder sender(example.builder, "sender"), taker(example.builder, "taker");
  auto x = taker.scratch("x", ElementType::F32, 100);
  sender.thread().move(sender.output(0), imm(7), {30});
  sender.finish();
  taker.at(0, 1).thread().move(x, imm(0), {100}).move(null(), taker.input(0), {30});
  taker.finish();
  const FabricRun run = example.run();
  // The taker begins in 5 + 100 + 5 = 110 and takes one a cycle.
  EXPECT_EQ(run.endCycle, 140);
  // Ten words leave in 5 to 14. Space comes back queue by queue: the word taken in 110 makes space at the router's RAMP
  // output in 111, there in 112 for the router before, whose RAMP queue has space in 113: word 11 leaves then. From
  // there on one a cycle until 132.
  EXPECT_EQ(run.stalls[0], (CoreStalls{0, 0, 35, 0, 0, 98}));
}

// Two colours over one link: each word that loses goes first in the next cycle.
TEST(Reference, ColoursTakeTurnsOnALink) {
  Example example(2);
  for (uint8_t colour : {3, 5}) {
    example.builder.router(0, 0, colour, {{Port::West, kEast}}).router(0, 1, colour, {{Port::West, kEast}});
    example.port(false, 0, 0, Port::West, colour, 4);
    example.port(true, 0, 1, Port::East, colour, 4);
  }
  const FabricRun run = example.run();
  // Both enter from cycle 0 on, are usable from 1; over the first link 3 5 3 5 3 5 3 5 in cycles 1 to 8, out two cycles
  // after.
  EXPECT_EQ(run.sampleDone, (std::vector<int64_t>{10}));
  EXPECT_EQ(run.endCycle, 10);
  EXPECT_GT(run.counts.sharedLinks, 5);
  EXPECT_EQ(floats(run.outputs[0][0]), (std::vector<double>{1, 2, 3, 4}));
  EXPECT_EQ(floats(run.outputs[0][1]), (std::vector<double>{5, 6, 7, 8}));
}

// Half a word a cycle for an input and an output together: cycles 1, 3, 5, … pass one word, the ports in turn.
TEST(Reference, PortsShareTheAllowance) {
  Example example(1);
  example.wordsPerCycle(0.5);
  example.builder.router(0, 0, 0, {{Port::West, kEast}});
  example.port(false, 0, 0, Port::West, 0, 2);
  example.port(true, 0, 0, Port::East, 0, 2);
  const FabricRun run = example.run();
  // In: cycles 1 and, since both are ready in 2 and the input is first, 3; out: 5 and 7.
  EXPECT_EQ(run.endCycle, 8);
  EXPECT_EQ(run.sampleDone, (std::vector<int64_t>{8}));
}

// A multicast word leaves when the slower of its two takers has space.
TEST(Reference, MulticastWaitsForTheSlowest) {
  Example example(2, 2);
  example.builder.router(0, 0, 0, {{Port::Ramp, PortMask(kEast | kSouth)}})
      .router(0, 1, 0, {{Port::West, kRamp}})
      .router(1, 0, 0, {{Port::North, kRamp}});
  RoleBuilder sender(example.builder, "sender"), quick(example.builder, "quick"), slow(example.builder, "slow");
  sender.thread().move(sender.output(0), imm(1), {12});
  sender.finish();
  quick.at(0, 1).thread().move(null(), quick.input(0), {12});
  quick.finish();
  auto x = slow.scratch("x", ElementType::F32, 60);
  slow.at(1, 0).thread().move(x, imm(0), {60}).move(null(), slow.input(0), {12});
  slow.finish();
  const FabricRun run = example.run();
  EXPECT_GT(run.counts.unevenMulticasts, 40);
  // Six words fit before the slow core (4 and 2): the quick one takes those in 11 to 16 and the seventh when the slow
  // core's first word, taken in 70, has made space twice (71, 72): moves in 72, at (0, 1) in 73, taken in 75.
  EXPECT_EQ(run.stalls[1], (CoreStalls{0, 1, 17, 0, 6 + 58, 0}));
  EXPECT_EQ(run.endCycle, 82);
}

// Two threads of one core without queues: slots alternate while both want them.
TEST(Reference, ThreadsShareSlots) {
  Example example(1);
  RoleBuilder role(example.builder, "role");
  auto x = role.scratch("x", ElementType::F32, 8), y = role.scratch("y", ElementType::F32, 8);
  role.thread().move(x, imm(1), {4});
  role.thread().move(y, imm(1), {8});
  role.finish();
  const FabricRun run = example.run();
  EXPECT_EQ(run.endCycle, 9 + 13);
  EXPECT_EQ(run.counts.sharedSlots, 17) << "until the first thread has had its ninth slot, in cycle 16";
}

// Three words go past three cores to a port, and each core takes its own; the last core is late, and holds up nothing
// but its word.
TEST(Reference, FiltersLetAWindowThrough) {
  Example example(3);
  example.port(false, 0, 0, Port::West, 0, 3);
  example.port(true, 0, 2, Port::East, 0, 3);
  for (int32_t core = 0; core < 3; ++core) {
    example.builder.router(0, core, 0, {{Port::West, PortMask(kEast | kRamp)}});
    RoleBuilder role(example.builder, "role");
    auto x = role.scratch("x", ElementType::F32, 40);
    auto in = role.input(0);
    role.at(0, core).thread().move(x, imm(0), {core == 2 ? 40 : 1}).move(x, in, {1});
    role.finish();
    example.builder.result.configurations[0].roles.back().queues[0].filter = {3, Affine(core), Affine(1)};
  }
  const FabricRun run = example.run();
  EXPECT_EQ(run.outcome, Outcome::Done);
  for (size_t core = 0; core < 3; ++core) {
    const std::vector<std::byte> &x = run.sram[core].buffers[0];
    EXPECT_EQ(valuesOf(ElementType::F32, x)[0], double(core + 1));
  }
  EXPECT_EQ(floats(run.outputs[0][0]), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(run.sampleDone, (std::vector<int64_t>{6})) << "in from 0 to 2, over three links from 1, 2 and 3 on";
  EXPECT_EQ(run.endCycle, 5 + 40 + 5 + 1);
  EXPECT_EQ(run.counts.filteredMulticasts, 6);
}

// Where RAMP is the only output, what the filter keeps back ends there.
TEST(Reference, FilteredWordsEndInTheRouter) {
  Example example(1);
  example.builder.router(0, 0, 0, {{Port::West, kRamp}}).router(0, 0, 1, {{Port::Ramp, kEast}});
  example.port(false, 0, 0, Port::West, 0, 6);
  example.port(true, 0, 0, Port::East, 1, 2);
  RoleBuilder role(example.builder, "role");
  auto in = role.input(0), out = role.output(1);
  role.thread().move(out, in, {2});
  role.finish();
  example.builder.result.configurations[0].roles[0].queues[0].filter = {3, Affine(1), Affine(1)};
  const FabricRun run = example.run(2);
  EXPECT_EQ(floats(run.outputs[0][0]), (std::vector<double>{2, 5}));
  EXPECT_EQ(floats(run.outputs[1][0]), (std::vector<double>{2, 5}));
  EXPECT_EQ(run.counts.filteredEnds, 8);
}

// The thread of priority 1 has its 9 slots first; that of priority 0 has the other 13.
TEST(Reference, PrioritiesDecideContests) {
  Example example(1);
  RoleBuilder role(example.builder, "role");
  auto x = role.scratch("x", ElementType::F32, 8), y = role.scratch("y", ElementType::F32, 8);
  role.thread().move(y, imm(1), {8});
  role.thread().move(x, imm(1), {4});
  role.finish();
  example.builder.result.configurations[0].roles[0].threads[1][0].priority = 1;
  const FabricRun run = example.run();
  EXPECT_EQ(run.endCycle, 9 + 13);
  EXPECT_EQ(run.counts.sharedSlots, 9);
  EXPECT_EQ(run.counts.priorities, 9) << "the pointer stays at the first thread";
}

// Operands that begin in one bank take each batch twice the slots; loops take theirs before each iteration.
TEST(Reference, BanksAndLoops) {
  Example example(1);
  RoleBuilder role(example.builder, "role");
  auto x = role.scratch("x", ElementType::F32, 16), y = role.scratch("y", ElementType::F32, 16);
  role.thread().move(x, imm(1), {16}).loop(3).move(y, x, {4}).endLoop();
  role.finish();
  const FabricRun run = example.run();
  // 5 + 16, then three times 3 + 5 + 4 · 2: both buffers are whole rounds of the eight banks of eight bytes.
  EXPECT_EQ(run.endCycle, 21 + 3 * 16);
  EXPECT_EQ(run.counts.bankConflicts, 12);
  EXPECT_EQ(run.stalls[0], (CoreStalls{0, 0, 57, 12, 0, 0}));
}

// A gather along a row: the order of words is the route's, though the last core is ready first.
TEST(Reference, GatherByControlWords) {
  Example example(4);
  example.builder.router(0, 0, 0, {{Port::Ramp, kEast}})
      .router(0, 1, 0, {{Port::West, kEast}, {Port::Ramp, kEast}})
      .router(0, 2, 0, {{Port::West, kEast}, {Port::Ramp, kEast}})
      .router(0, 3, 0, {{Port::West, kEast}});
  example.port(true, 0, 3, Port::East, 0, 3);
  for (int32_t core = 0; core < 3; ++core) {
    RoleBuilder role(example.builder, "role");
    auto x = role.scratch("x", ElementType::F32, 40);
    auto out = role.output(0);
    role.at(0, core)
        .thread()
        .move(x, imm(core + 1), {core == 0 ? 40 : 1})
        .move(out, x, {1})
        .sendControl(out, core == 1 ? 2 : 1);
    role.finish();
  }
  const FabricRun run = example.run(2);
  EXPECT_EQ(floats(run.outputs[0][0]), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(floats(run.outputs[1][0]), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(run.counts.switchAdvances, 8);
  // Core 0 sends in 50; its router moves the word in 53, its control word in 54; they pass (0,1) in 54 and 55 (the
  // switch turns, from 56 on). Core 1's word moves in 56, its control word in 57 (turns back), at (0,2) in 58 (turns);
  // core 2's word moves there in 59, leaves (0,3) in 60.
  EXPECT_EQ(run.sampleDone[0], 61);
}

// Both cores send before they take, more than there is space for.
TEST(Reference, DeadlockIsSeen) {
  Example example(2);
  example.builder.router(0, 0, 0, {{Port::Ramp, kEast}})
      .router(0, 1, 0, {{Port::West, kRamp}})
      .router(0, 1, 1, {{Port::Ramp, bit(Port::West)}})
      .router(0, 0, 1, {{Port::East, kRamp}});
  for (int32_t core = 0; core < 2; ++core) {
    RoleBuilder role(example.builder, "role");
    role.at(0, core)
        .thread()
        .move(role.output(uint8_t(core)), imm(1), {11})
        .move(null(), role.input(uint8_t(1 - core)), {11});
    role.finish();
  }
  const FabricRun run = example.run();
  EXPECT_EQ(run.outcome, Outcome::Deadlock) << "ten words find space, as many as in BackPressureFillsTheWay";
  EXPECT_NE(run.waiting.find("core (0, 1), thread 0, sample 0, instruction 0 waits for space"), std::string::npos)
      << run.waiting;
}

TEST(Reference, LeftoverWordsAreTold) {
  Example example(2);
  example.builder.router(0, 0, 0, {{Port::Ramp, kEast}}).router(0, 1, 0, {{Port::West, kRamp}});
  RoleBuilder sender(example.builder, "sender"), taker(example.builder, "taker");
  sender.thread().move(sender.output(0), imm(7), {3});
  sender.finish();
  taker.at(0, 1).thread().move(null(), taker.input(0), {2});
  taker.finish();
  const FabricRun run = example.run();
  EXPECT_EQ(run.outcome, Outcome::LeftoverWords);
  EXPECT_EQ(run.waiting, "core (0, 1), queue 0: 1 words\n");
}

// Two halves share a word: a batch of one element takes a word every other time.
TEST(Reference, NarrowElementsShareWords) {
  Example example(1);
  example.target().elementsPerCycleF16 = 1;
  example.builder.router(0, 0, 0, {{Port::West, kRamp}}).router(0, 0, 1, {{Port::Ramp, kEast}});
  example.port(false, 0, 0, Port::West, 0, 2);
  example.port(true, 0, 0, Port::East, 1, 3);
  RoleBuilder role(example.builder, "role");
  auto in = role.input(0), out = role.output(1);
  role.thread().type(ElementType::F32).convert(out, in, ElementType::F16, {3});
  role.finish();
  example.builder.result.entries[0].inputs[0] = {"x", ElementType::F16, {3}};
  example.builder.result.configurations[0].io[0].extent[3] = Affine(3);
  const FabricRun run = example.run();
  EXPECT_EQ(floats(run.outputs[0][0]), (std::vector<double>{1, 2, 3}));
  // Words enter in 0 and 1, are at the core from 3; batches in 5, 6 and 7; the last is at the router from 10, out
  // in 11.
  EXPECT_EQ(run.endCycle, 11);
}

} // namespace
} // namespace wsc::fabric
