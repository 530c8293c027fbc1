// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verifier's rules as a specification: one good executable, and for every rule variants with one thing wrong, the
// rule that refuses them and what its message says.
#include "Fixture.h"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

namespace wsc::format {
namespace {

using namespace fixture;

struct Case {
  const char *name;
  const char *rule;
  std::vector<std::string> fragments;
  std::function<void(Executable &, Configuration &)> spoil;
};

void PrintTo(const Case &value, std::ostream *out) { *out << value.name; }

class Specification : public testing::TestWithParam<Case> {};

TEST(Verifier, AcceptsTheGoodExecutable) {
  Executable executable = goodExecutable();
  EXPECT_EQ(list(findViolations(executable)), "");
  EXPECT_TRUE(verifyExecutable(executable).ok());
}

TEST(Verifier, StatusNamesRuleAndTarget) {
  Executable executable = goodExecutable();
  executable.configurations[0].roles[kFirst].queues[0].colour = 22;
  absl::Status status = verifyExecutable(executable);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(std::string(status.message()).find("mesh-8x8"), std::string::npos);
  EXPECT_NE(std::string(status.message()).find("[colour] role first (kernel matmul)"), std::string::npos);
}

// Words that stand for elements outside of the tensor: zeros that enter, and what is dropped when it leaves. The output
// has ten elements, sixteen words leave.
TEST(Verifier, AcceptsPaddedBindings) {
  struct Walk {
    int64_t offset, outerExtent, outerStride, extent, stride;
  };
  for (const Walk &walk : {Walk{-6, 1, 0, 16, 1},
                           {9, 1, 0, 16, -1},
                           {0, 2, 1, 8, 2},
                           {9, 2, -1, 8, -2},
                           {-6, 16, 1, 1, 0},
                           {-6, 2, 8, 8, 1}}) {
    Executable executable = goodExecutable();
    executable.entries[0].outputs = {{"y", ElementType::F32, {10}}};
    std::vector<IoBinding> &io = executable.configurations[0].io;
    io[0].padded = io[1].padded = true;
    io[0].hostOffset = -4;
    io[1].hostOffset = walk.offset;
    io[1].extent = {1, 1, walk.outerExtent, walk.extent};
    io[1].stride = {0, 0, walk.outerStride, walk.stride};
    EXPECT_EQ(list(findViolations(executable)), "") << walk.offset << " " << walk.stride;
    io[1].padded = false;
    EXPECT_EQ(findViolations(executable)[0].rule, "io-bounds");
  }
}

TEST(Verifier, KeepsToTheLimit) {
  Executable executable = goodExecutable();
  for (Role &role : executable.configurations[0].roles)
    role.queues[0].index = 200;
  EXPECT_EQ(findViolations(executable, 3).size(), 3u);
  EXPECT_EQ(findViolations(executable, 0).size(), 0u);
}

TEST_P(Specification, RefusesWithRuleAndReason) {
  Executable executable = goodExecutable();
  GetParam().spoil(executable, executable.configurations[0]);
  std::vector<Violation> violations = findViolations(executable);
  bool found = false;
  for (const Violation &violation : violations) {
    bool matches = violation.rule == GetParam().rule;
    for (const std::string &fragment : GetParam().fragments)
      matches = matches && violation.message.find(fragment) != std::string::npos;
    found |= matches;
  }
  EXPECT_TRUE(found) << "rule " << GetParam().rule << "; found instead:\n" << list(violations);
}

Instruction &code(Configuration &configuration, int role, int thread, int index) {
  return configuration.roles[role].threads[thread][index];
}

// Before the instruction that stands at `index` of thread 1 of the role kFirst.
void insert(Configuration &configuration, int index, const Instruction &added) {
  Thread &thread = configuration.roles[kFirst].threads[1];
  thread.insert(thread.begin() + index, added);
}

using E = Executable;
using C = Configuration;

const Case kCases[] = {
    // IndexRules
    {"TargetRows", "target", {"rows is 0"}, [](E &e, C &) { e.target.rows = 0; }},
    {"BufferIndex", "index", {"role first", "thread 1, instruction 0", "operand's buffer is 9"},
     [](E &, C &c) { code(c, kFirst, 1, 0).dst.buffer = 9; }},
    {"Opcode", "index", {"opcode is 200"}, [](E &, C &c) { code(c, kFirst, 1, 0).opcode = Opcode(200); }},
    {"Section", "index", {"buffer weights", "section is 7"}, [](E &, C &c) { c.roles[kLast].buffers[kWeights].section = 7; }},
    {"EmptyLattice", "range", {"lattice count is 0"}, [](E &, C &c) { c.roles[kFirst].cores.dims[3].count = 0; }},
    {"HugeCoefficient", "range", {"operand's base"},
     [](E &, C &c) { code(c, kFirst, 1, 0).dst.base = std::numeric_limits<int64_t>::max(); }},

    // MeshRules
    {"RoleOutside", "mesh", {"role chain (kernel bias)", "core (8, 4)", "8 x 8"}, [](E &, C &c) { c.roles[kChain].cores.row = 8; }},
    {"RouterOutside", "mesh", {"router role #10", "net y", "core (2, 8)"}, [](E &, C &c) { c.routers[10].routers.dims[3].count = 4; }},
    {"CoreInTwoRoles", "core-overlap", {"core (0, 3)", "role middle", "role last"},
     [](E &, C &c) { c.roles[kMiddle].cores.dims[3].count = 3; }},
    {"DeadCoreInARole", "dead-core", {"core (0, 1) is dead", "role middle"}, [](E &e, C &) { e.target.deadCores = {{0, 1}}; }},
    {"RouteOverADeadLink", "dead-link", {"the link EAST of core (0, 0) is dead"},
     [](E &e, C &) { e.target.deadLinks = {{0, 1, target::Side::West}}; }},
    {"CoreTwice", "core-overlap", {"core (0, 1)", "twice"}, [](E &, C &c) { c.roles[kMiddle].cores.dims[3].colStep = 0; }},
    {"RouterInTwoRoles", "router-overlap", {"core (2, 4)", "colour 4", "net y"},
     [](E &, C &c) { c.routers[10].routers = cores(2, 4, 1, 4); }},
    {"KernelOutside", "kernel-rectangle", {"kernel matmul", "1 x 9"}, [](E &, C &c) { c.kernels[0].cols = 9; }},
    {"ColourBeyondTarget", "colour", {"colour 24", "0 to 23"}, [](E &, C &c) { c.routers[5].colour = 24; }},
    {"ColourReserved", "colour", {"I/O binding #1", "colour 23", "reserves"}, [](E &, C &c) { c.io[1].colour = 23; }},

    // SramRules
    {"BufferBeyondSram", "sram-overflow", {"role first", "buffer input", "49152"},
     [](E &, C &c) { c.roles[kFirst].buffers[kInput].address = 49152 - 32; }},
    {"SumBeyondSram", "sram-overflow", {"limit is 49152", "split the kernel over more cores"},
     [](E &, C &c) { c.roles[kChain].buffers = {scratch("a", 8192, 40960), scratch("b", 8192, 8192)}; }},
    {"BufferInCode", "sram-code", {"buffer input", "runtime (4200)", "stack (1024)"},
     [](E &, C &c) { c.roles[kFirst].buffers[kInput].address = 5224; }},
    {"BuffersOverlap", "sram-overlap", {"core (0, 0)", "buffer weights", "buffer input"},
     [](E &, C &c) { c.roles[kFirst].buffers[kInput].address -= 4; }},
    {"BufferUnaligned", "sram-alignment", {"buffer input", "elements of 4 bytes"},
     [](E &, C &c) { c.roles[kFirst].buffers[kInput].address += 2; }},
    {"ConstantBeyondSection", "constant-section", {"core (0, 2)", "section weights", "256 bytes"},
     [](E &, C &c) { c.roles[kMiddle].buffers[kWeights].sectionOffset.perDim[3] = 192; }},

    // ProgramRules
    {"TooManyThreads", "threads", {"role chain", "10 threads", "limit is 9"}, [](E &, C &c) { c.roles[kChain].threads.resize(10); }},
    {"LoopsTooDeep", "loop-depth", {"5 deep", "limit is 4"},
     [](E &, C &c) {
       Thread &thread = c.roles[kChain].threads[0];
       thread.insert(thread.begin(), 5, loop(1));
       thread.insert(thread.end(), 5, endLoop());
     }},
    {"LoopNotClosed", "loop-balance", {"1 loops are still open"}, [](E &, C &c) { c.roles[kChain].threads[0].push_back(loop(1)); }},
    {"LoopNotOpened", "loop-balance", {"never opened"}, [](E &, C &c) { c.roles[kChain].threads[0].push_back(endLoop()); }},
    {"NegativeExtent", "extent", {"role middle", "core (0, 2)", "extent 3 is -1"},
     [](E &, C &c) { code(c, kMiddle, 1, 5).extent[3].perDim[3] = -4; }},
    {"NegativeTrips", "extent", {"trip count 0 is -1"}, [](E &, C &c) { code(c, kFirst, 1, 2).extent[0] = -1; }},
    {"TooManyDescriptors", "descriptors", {"17 descriptors", "operand a", "limit is 16"},
     [](E &, C &c) {
       // 17 sources that differ in extent and base, all inside the input of 64 bytes.
       for (int i = 0; i < 16; ++i)
         insert(c, 3, instruction(Opcode::Fma, 1, memory(kSum), memory(kInput, 4, 4 * i), immediate(i)));
     }},
    {"TooManyTaskIds", "task-ids", {"role first", "4 task ids", "limit is 3"}, [](E &e, C &) { e.target.taskIds = 3; }},

    // OperandRules
    {"NullSource", "operand-kind", {"operand a is null"}, [](E &, C &c) { code(c, kFirst, 1, 1).a = discard(); }},
    {"ImmediateResult", "operand-kind", {"operand dst is immediate"}, [](E &, C &c) { code(c, kFirst, 1, 1).dst = immediate(0); }},
    {"FmaOntoQueue", "operand-kind", {"(fma)", "operand dst is queue, legal is memory"}, [](E &, C &c) { code(c, kFirst, 1, 3).dst = queue(kSend); }},
    {"GatherFromQueue", "operand-kind", {"(gather)", "operand a is queue, legal is memory"},
     [](E &, C &c) {
       code(c, kFirst, 1, 0) = instruction(Opcode::Gather, 16, memory(kInput), queue(kTake), fifo(kFifoBuffer));
     }},
    {"SurplusSource", "operand-kind", {"operand b is immediate, legal is none"}, [](E &, C &c) { code(c, kFirst, 1, 1).b = immediate(1); }},
    {"FifoAsMemory", "operand-kind", {"buffer ring as memory", "FIFO"}, [](E &, C &c) { code(c, kFirst, 1, 0).a = memory(kFifoBuffer); }},
    {"MemoryAsFifo", "operand-kind", {"buffer input as fifo"}, [](E &, C &c) { code(c, kFirst, 1, 0).dst = fifo(kInput); }},
    {"ConstantWritten", "constant-write", {"buffer weights", "constant"}, [](E &, C &c) { code(c, kFirst, 1, 0).dst.buffer = kWeights; }},
    {"SendOnInputQueue", "queue-direction", {"operand dst is an input queue"}, [](E &, C &c) { code(c, kFirst, 1, 5).dst.queue = kTake; }},
    {"ControlOnInputQueue", "queue-direction", {"(send_control)"}, [](E &, C &c) { code(c, kFirst, 1, 6).dst.queue = kTake; }},
    {"ControlOfZero", "control", {"count 0"}, [](E &, C &c) { code(c, kFirst, 1, 6).controlCount = 0; }},
    {"BothSourcesOneQueue", "operand-twice", {"same queue"}, [](E &, C &c) { code(c, kChain, 0, 0).b = queue(kTake); }},
    {"ExpOfIntegers", "element-type", {"type i32", "floating point"},
     [](E &, C &c) { c.roles[kChain].threads[0][0] = instruction(Opcode::Exp, 16, queue(kSend), queue(kTake));
                     code(c, kChain, 0, 0).type = ElementType::I32; }},
    {"ShiftOfFloats", "element-type", {"type f32", "integers"}, [](E &, C &c) { code(c, kChain, 0, 0).opcode = Opcode::ShiftLeft; }},
    {"SourcesOfAnotherType", "element-type", {"sources of type i64 do not give f32"},
     [](E &, C &c) {
       code(c, kChain, 0, 0).mixed = true;
       code(c, kChain, 0, 0).sourceType = ElementType::I64;
     }},
    {"FifoOfOtherWidth", "element-type", {"FIFO ring holds f32"}, [](E &, C &c) { code(c, kFirst, 1, 0).type = ElementType::F16; }},

    // MemoryRules
    {"BeyondBuffer", "memory-bounds", {"operand dst", "core (0, 0)", "0 to 68", "buffer input", "64 bytes"},
     [](E &, C &c) { code(c, kFirst, 1, 0).extent[3] = 17; }},
    {"BeforeBuffer", "memory-bounds", {"-4 to 60"}, [](E &, C &c) { code(c, kFirst, 1, 0).dst.base = -4; }},
    {"BeyondInLastIteration", "memory-bounds", {"operand a", "0 to 80"}, [](E &, C &c) { code(c, kFirst, 1, 2).extent[0] = 5; }},
    {"BeyondOnLastCore", "memory-bounds", {"core (0, 2)", "0 to 84"}, [](E &, C &c) { code(c, kMiddle, 1, 5).extent[3].perDim[3] = 18; }},
    {"StrideUnaligned", "memory-alignment", {"operand dst", "stride 2", "element size 4"}, [](E &, C &c) { code(c, kFirst, 1, 0).dst.stride[3] = 2; }},
    {"BaseUnaligned", "memory-alignment", {"8322"},
     [](E &, C &c) { code(c, kFirst, 1, 3).dst.base = 2; code(c, kFirst, 1, 3).extent[3] = 3; }},
    {"LoopStepUnaligned", "memory-alignment", {"loop step 14"}, [](E &, C &c) { code(c, kFirst, 1, 3).dst.loopStep[0] = 14; }},
    {"FmaNotInjective", "fma-injective", {"buffer sum", "stride 0"}, [](E &, C &c) { code(c, kFirst, 1, 3).dst.stride[3] = 0; }},
    {"FmaStridesCollide", "fma-injective", {"stride 8 is below the 12 bytes"},
     [](E &, C &c) {
       Instruction &fma = code(c, kFirst, 1, 3);
       fma.extent[2] = 2, fma.extent[3] = 3;
       fma.dst.stride[2] = 8;
     }},
    {"ShiftedCopy", "operand-overlap", {"operand a", "buffer sum", "walking alike"},
     [](E &, C &c) { insert(c, 5, instruction(Opcode::Move, 15, memory(kSum), memory(kSum, 4, 4))); }},
    {"ReduceOntoItself", "operand-overlap", {"reduction"},
     [](E &, C &c) { insert(c, 5, instruction(Opcode::ReduceAdd, 16, memory(kSum, 0), memory(kSum))); }},
    {"GatherWithinBuffer", "operand-overlap", {"index"},
     [](E &, C &c) { insert(c, 5, instruction(Opcode::Gather, 4, memory(kSum), memory(kSum), memory(kWeights))); }},
    {"GatherDistanceZero", "memory-bounds", {"indexed", "distance of 0"},
     [](E &, C &c) {
       insert(c, 5, instruction(Opcode::Gather, 4, memory(kSum), memory(kInput, 0), memory(kWeights)));
     }},

    // SharingRules
    {"MemoryShared", "shared-memory", {"buffer input", "threads 0 and 1"},
     [](E &, C &c) {
       c.roles[kFirst].threads[0].push_back(instruction(Opcode::Move, 1, memory(kInput), immediate(0)));
     }},
    {"ScratchNeverWritten", "scratch-unwritten", {"buffer sum", "instruction 2 (fma)"},
     [](E &, C &c) { c.roles[kFirst].threads[1].erase(c.roles[kFirst].threads[1].begin() + 1); }},
    {"ScratchPartlyWritten", "scratch-unwritten", {"core (0, 0)", "bytes 0 to 64 of scratch buffer sum", "only bytes 0 to 60"},
     [](E &, C &c) { code(c, kFirst, 1, 1).extent[3] = 15; }},
    {"ScratchReadFirst", "scratch-unwritten", {"buffer input"}, [](E &, C &c) { std::swap(code(c, kFirst, 1, 0), code(c, kFirst, 1, 5)); code(c, kFirst, 1, 0).a.buffer = kInput; }},
    {"FifoNeverPopped", "fifo-threads", {"FIFO ring", "popped by no thread"}, [](E &, C &c) { code(c, kFirst, 1, 0).a = immediate(0); }},
    {"FifoPoppedTwice", "fifo-threads", {"popped by threads 1 and 2"},
     [](E &, C &c) {
       c.roles[kFirst].threads.push_back({instruction(Opcode::Move, 1, discard(), fifo(kFifoBuffer))});
     }},
    {"FifoUnbalanced", "fifo-balance", {"FIFO ring takes 16", "gives 15"}, [](E &, C &c) { code(c, kFirst, 1, 0).extent[3] = 15; }},
    {"FifoUnbalancedOnOneCore", "fifo-balance", {"core (0, 2)", "gives 15"}, [](E &, C &c) { code(c, kMiddle, 1, 0).extent[3].perDim[3] = -1; }},
    {"FifoWithoutRoom", "fifo-capacity", {"FIFO ring of 0 bytes"}, [](E &, C &c) { c.roles[kFirst].buffers[kFifoBuffer].bytes = 0; }},
    {"QueueInTwoThreads", "queue-threads", {"input queue 0", "threads 0 and 1"},
     [](E &, C &c) { c.roles[kFirst].threads[1].push_back(instruction(Opcode::Move, 0, discard(), queue(kTake))); }},
    {"QueueInNoThread", "queue-threads", {"no thread"}, [](E &, C &c) { c.roles[kFirst].queues.push_back({false, 9, 1}); }},
    {"QueueNumberBeyondTarget", "queue-number", {"output queue 6", "0 to 5"}, [](E &, C &c) { c.roles[kFirst].queues[kSend].index = 6; }},
    {"QueueNumberTwice", "queue-number", {"same number"}, [](E &, C &c) { c.roles[kFirst].queues.push_back({false, 9, 0}); }},
    {"ColourOnTwoQueues", "queue-colour", {"same colour"}, [](E &, C &c) { c.roles[kFirst].queues.push_back({false, 0, 1}); }},

    // SwitchRules
    {"NoPosition", "switch", {"net x", "0 switch positions"}, [](E &, C &c) { c.routers[0].positions.clear(); }},
    {"TooManyPositions", "switch", {"net partial", "5 switch positions", "1 to 4"}, [](E &, C &c) { c.routers[3].positions.resize(5); }},
    {"NoOutput", "switch", {"no output"}, [](E &, C &c) { c.routers[5].positions[0].outputs = 0; }},
    {"OutputIsInput", "switch", {"back to their input port SOUTH"}, [](E &, C &c) { c.routers[5].positions[0].input = Port::South; }},
    {"PositionTwice", "switch", {"0 and 1 are the same"}, [](E &, C &c) { c.routers[3].positions[1] = c.routers[3].positions[0]; }},

    // RouteRules
    {"RouteIntoNothing", "route-open", {"net x", "core (0, 2)", "EAST", "core (0, 3) has no settings"}, [](E &, C &c) { c.routers.erase(c.routers.begin() + 1); }},
    {"NeighbourLooksAway", "route-open", {"net down1", "core (0, 4)", "core (1, 4) never takes from NORTH"},
     [](E &, C &c) { c.routers[6].positions[0].input = Port::West; }},
    {"RouteOverEdge", "route-open", {"net y", "core (2, 7)", "mesh ends there"}, [](E &, C &c) { c.io.pop_back(); }},
    {"BindingWithoutRoute", "route-open", {"core (0, 0)", "sends nothing NORTH", "output binding"},
     [](E &, C &c) {
       c.io.push_back(c.io[1]);
       c.io[2].ports = cores(0, 0), c.io[2].side = Port::North, c.io[2].colour = 0;
     }},
    {"RampWithoutQueue", "route-ramp", {"net y", "core (2, 5)", "no input queue"}, [](E &, C &c) { c.routers[10].positions[0].outputs |= mask(Port::Ramp); }},
    {"QueueWithoutRamp", "route-ramp", {"net x", "core (0, 0)", "no switch position delivers"}, [](E &, C &c) { c.routers[0].positions[0].outputs = mask(Port::East); }},
    {"QueueWithoutRouter", "route-ramp", {"role chain", "core (1, 4)", "no router settings"}, [](E &, C &c) { c.roles[kChain].queues[kTake].colour = 7; }},
    {"PortBoundTwice", "io-port-shared", {"two inputs"}, [](E &, C &c) { c.io.push_back(c.io[0]); }},

    // WordRules
    {"TooFewTaken", "words", {"net down1", "takes 15 words", "16 arrive"},
     [](E &, C &c) { code(c, kChain, 0, 0).extent[3] = 15; }},
    {"MulticastSinksDiffer", "words", {"net x", "core (0, 3)", "takes 15 words", "16 arrive"},
     [](E &, C &c) { code(c, kLast, 0, 0).extent[3] = 15; code(c, kLast, 1, 0).extent[3] = 15; }},
    {"OutputPortStarves", "words", {"output binding #1", "takes 16 words", "15 arrive"}, [](E &, C &c) { code(c, kFinish, 0, 0).extent[3] = 15; }},
    {"ControlCountTooSmall", "words-stuck", {"net partial", "wait at RAMP", "takes from WEST"}, [](E &, C &c) { code(c, kMiddle, 1, 6).controlCount = 1; }},
    {"SwitchLeftOver", "switch-return", {"net partial", "core (0, 3)", "position 1"}, [](E &, C &c) { c.roles[kLast].threads[1].pop_back(); }},
    {"ControlReachesRamp", "control-end", {"net partial", "core (0, 4)", "RAMP"}, [](E &, C &c) { code(c, kLast, 1, 6).controlCount = 2; }},

    // Filters: the cores of the first row take 16 words each.
    {"FilterBesidePeriod", "filters", {"role first", "words 4 to 20 of 16"}, [](E &, C &c) { c.roles[kFirst].queues[kTake].filter = {16, 4, 16}; }},
    {"FilterOfNothing", "filters", {"must pass at least one"}, [](E &, C &c) { c.roles[kFirst].queues[kTake].filter = {16, 4, 0}; }},
    {"FilterOutgoing", "filters", {"role first", "only input queues"}, [](E &, C &c) { c.roles[kFirst].queues[kSend].filter = {16, 0, 8}; }},
    {"FiltersTooMany", "filters", {"1 input queues have filters", "the target has 0"},
     [](E &e, C &c) {
       e.target.inputFilters = 0;
       c.roles[kFirst].queues[kTake].filter = {16, 0, 16};
     }},
    {"FilterPassesLess", "words", {"takes 16 words", "8 of 16 pass its filter"},
     [](E &, C &c) { c.roles[kFirst].queues[kTake].filter = {8, 2, 4}; }},
    {"FilterOddPeriod", "filter-period", {"16 words per sample", "period of 7"},
     [](E &, C &c) { c.roles[kFirst].queues[kTake].filter = {7, 0, 7}; }},
    {"FilterHuge", "range", {"queue #0", "period"}, [](E &, C &c) { c.roles[kFirst].queues[kTake].filter = {int64_t(1) << 60, 0, 1}; }},
    {"PriorityBeyondTarget", "priority", {"role first", "priority 3", "0 to 2"}, [](E &, C &c) { code(c, kFirst, 1, 0).priority = 3; }},

    // IoRules
    {"TensorIndex", "io-tensor", {"binding #0", "input 1", "has 1"}, [](E &, C &c) { c.io[0].tensor = 1; }},
    {"PortInside", "io-port", {"core (0, 1)", "WEST edge"}, [](E &, C &c) { c.io[0].ports = cores(0, 1); }},
    {"PortRamp", "io-port", {"RAMP"}, [](E &, C &c) { c.io[0].side = Port::Ramp; }},
    {"IoNegativeExtent", "io-extent", {"extent 3", "-2"}, [](E &, C &c) { c.io[0].extent[3] = -2; }},
    {"BeyondTensor", "io-bounds", {"elements 4 to 19", "tensor x", "has 16"}, [](E &, C &c) { c.io[0].hostOffset = 4; }},
    {"PaddingTooFar", "io-bounds", {"281474976710656 elements from the first"},
     [](E &, C &c) { c.io[0].padded = true; c.io[0].stride[3] = int64_t(1) << 46; }},
    {"PaddedOutputIncomplete", "io-output", {"output y", "16 elements", "15 are written"},
     [](E &, C &c) { c.io[1].padded = true; c.io[1].hostOffset = 1; }},
    {"PaddedOutputTwice", "io-output", {"element 0", "written twice"}, [](E &, C &c) { c.io[1].padded = true; c.io[1].stride[3] = 0; }},
    {"PaddedRowsWithoutEnd", "budget", {"judged in seconds"},
     [](E &, C &c) { c.io[1].padded = true; c.io[1].extent = {1, 1 << 14, 1 << 13, 1}; c.io[1].stride = {}; }},
    {"RunTwiceWithIo", "step-count", {"entry infer: step 1 has the count 2", "configuration main has I/O bindings"},
     [](E &e, C &) { e.entries[0].steps[1].count = 2; }},
    {"OutputIncomplete", "io-output", {"output y", "16 elements", "15 are written"}, [](E &, C &c) { c.io[1].extent[3] = 15; }},
    {"OutputTwice", "io-output", {"element 0", "written twice"}, [](E &, C &c) { c.io[1].stride[3] = 0; }},
    {"StepWaitsForNothing",
     "step-order",
     {"step 1 does not wait for step 0; the wafer does one step after another"},
     [](E &e, C &) { e.entries[0].steps[1].after = {}; }},
    {"RunOfWhatIsNotInPlace",
     "step-order",
     {"step 0 runs configuration ", "but none is in place; configure it first"},
     [](E &e, C &) { std::swap(e.entries[0].steps[0].kind, e.entries[0].steps[1].kind); }},
    {"StepWaitsForLater", "entry", {"step 0 waits for step 1"}, [](E &e, C &) { e.entries[0].steps[0].after = {1}; }},
    {"BindingsNeverRun", "entry", {"configuration main", "no entry runs it"}, [](E &e, C &) { e.entries.clear(); }},

    // StateRules
    {"StateBoundToScratch", "state-binding", {"variable samples", "does not hold"}, [](E &, C &c) { c.roles[kFinish].buffers[0].kind = BufferKind::Scratch; }},
    {"StateUnbound", "state-binding", {"role finish", "buffer seen", "no state binding"}, [](E &, C &c) { c.stateBindings.clear(); }},
    {"StateBeyondBuffer", "state-bounds", {"2 elements", "4 bytes"}, [](E &e, C &c) { c.stateBindings[0].extent[3] = 2; }},
    {"StateBeyondVariable", "state-bounds", {"elements 1 to 1", "1 elements"}, [](E &, C &c) { c.stateBindings[0].hostOffset = 1; }},
    {"StateOfOtherType", "state-type", {"type f32", "type i32"}, [](E &e, C &) { e.states[0].tensor.type = ElementType::I32; }},
    {"StateSectionSize", "state-section", {"samples has 4 bytes", "256"}, [](E &e, C &) { e.states[0].initialSection = 0; }},
};

INSTANTIATE_TEST_SUITE_P(Rules, Specification, testing::ValuesIn(kCases),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace wsc::format
