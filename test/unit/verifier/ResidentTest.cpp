// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of residents and steps as a specification: one good executable of two configurations, and variants with one
// thing wrong, the rule that refuses them and what its message says.
//
// Four cores, (0,0) to (1,1). `fill` writes the tensor `hidden`; `layer` runs three times on it, with other weights
// each time, and keeps the first element in `cache`. `inner` lives in `layer` only, where `fill` has scratch memory.
#include "Fixture.h"

#include <gtest/gtest.h>

#include <functional>

namespace wsc::format {
namespace {

using namespace fixture;

enum ResidentIndex { kWeights, kCache, kHidden, kInner };
enum ConfigurationIndex { kFill, kLayer };
enum LayerWindow { kW, kC, kH, kI };
constexpr int64_t kWeightsAt = 8192, kCacheAt = 8448, kHiddenAt = 8512, kInnerAt = 8576;

Affine perCore(int64_t row, int64_t col) {
  Affine affine;
  affine.perDim[2] = row;
  affine.perDim[3] = col;
  return affine;
}

Buffer window(std::string name, int resident, int64_t address, int64_t bytes) {
  Buffer buffer = scratch(std::move(name), address, bytes);
  buffer.kind = BufferKind::Resident;
  buffer.resident = resident;
  return buffer;
}

Resident resident(std::string name, int64_t address, int64_t bytes) {
  Resident result;
  result.name = std::move(name);
  result.cores = cores(0, 0, 2, 2);
  result.address = address;
  result.bytes = bytes;
  return result;
}

Executable stayingExecutable() {
  Executable executable;
  executable.target = meshTarget("mesh-4x4");
  executable.execution = "phased";
  addSection(executable, "weights", 4 * 192);
  executable.states = {{{"kv", ElementType::F32, {4}}, -1}};
  executable.residents = {resident("weights", kWeightsAt, 192), resident("cache", kCacheAt, 4),
                          resident("hidden", kHiddenAt, 64), resident("inner", kInnerAt, 64)};
  executable.residents[kWeights].section = 0;
  executable.residents[kWeights].sectionOffset = perCore(384, 192);
  executable.residents[kCache].state = 0;
  executable.residents[kCache].stateOffset = perCore(2, 1);

  Role fill;
  fill.name = "fill";
  fill.cores = cores(0, 0, 2, 2);
  fill.buffers = {window("h", kHidden, kHiddenAt, 64), scratch("work", kInnerAt + 4, 64)};
  fill.threads = {
      {instruction(Opcode::Move, 16, memory(1), immediate(1)), instruction(Opcode::Move, 16, memory(0), memory(1))}};
  Role layer;
  layer.name = "layer";
  layer.cores = fill.cores;
  layer.buffers = {window("w", kWeights, kWeightsAt, 64), window("c", kCache, kCacheAt, 4),
                   window("h", kHidden, kHiddenAt, 64), window("i", kInner, kInnerAt, 64)};
  layer.buffers[kW].runStep = 64;
  layer.threads = {{instruction(Opcode::Mul, 16, memory(kI), memory(kH), memory(kW)),
                    instruction(Opcode::Add, 16, memory(kH), memory(kH), memory(kI)),
                    instruction(Opcode::Add, 1, memory(kC), memory(kC), memory(kH))}};
  executable.configurations.resize(2);
  executable.configurations[kFill].name = "fill";
  executable.configurations[kFill].roles = {fill};
  executable.configurations[kLayer].name = "layer";
  executable.configurations[kLayer].roles = {layer};
  Entry entry;
  entry.name = "run";
  entry.steps = {{StepKind::Configure, kFill, {}},
                 {StepKind::Run, kFill, {0}},
                 {StepKind::Configure, kLayer, {1}},
                 {StepKind::Run, kLayer, {2}, 3}};
  executable.entries = {entry};
  return executable;
}

struct Case {
  const char *name;
  const char *rule; // empty: accepted
  std::vector<std::string> fragments;
  std::function<void(Executable &)> spoil;
};

void PrintTo(const Case &value, std::ostream *out) { *out << value.name; }

class Residents : public testing::TestWithParam<Case> {};

TEST(ResidentExecutable, IsAccepted) { EXPECT_EQ(list(findViolations(stayingExecutable())), ""); }

TEST_P(Residents, AreRefusedWithRuleAndReason) {
  Executable executable = stayingExecutable();
  GetParam().spoil(executable);
  const std::vector<Violation> violations = findViolations(executable);
  if (GetParam().rule[0] == 0) {
    EXPECT_EQ(list(violations), "");
    return;
  }
  bool found = false;
  for (const Violation &violation : violations) {
    bool matches = violation.rule == GetParam().rule;
    for (const std::string &fragment : GetParam().fragments)
      matches = matches && violation.message.find(fragment) != std::string::npos;
    found |= matches;
  }
  EXPECT_TRUE(found) << "rule " << GetParam().rule << "; found instead:\n" << list(violations);
}

using E = Executable;
Resident &of(E &e, int r) { return e.residents[size_t(r)]; }
Role &roleOf(E &e, int c) { return e.configurations[size_t(c)].roles[0]; }
Buffer &layerWindow(E &e, int b) { return roleOf(e, kLayer).buffers[size_t(b)]; }
Instruction &code(E &e, int c, size_t i) { return roleOf(e, c).threads[0][i]; }

// Moves a resident with the windows of it.
void move(E &e, int r, int64_t address) {
  for (Configuration &configuration : e.configurations)
    for (Role &role : configuration.roles)
      for (Buffer &buffer : role.buffers)
        if (buffer.kind == BufferKind::Resident && buffer.resident == r)
          buffer.address += address - of(e, r).address;
  of(e, r).address = address;
}

const Case kCases[] = {
    // IndexRules
    {"NoSuchResident", "index", {"buffer w", "resident is 4"}, [](E &e) { layerWindow(e, kW).resident = 4; }},
    {"NoSuchSection", "index", {"resident weights", "section is 1"}, [](E &e) { of(e, kWeights).section = 1; }},
    {"NoSuchVariable", "index", {"resident cache", "state is 1"}, [](E &e) { of(e, kCache).state = 1; }},
    {"NoSuchType",
     "index",
     {"resident hidden", "element type is 13"},
     [](E &e) { of(e, kHidden).type = ElementType(13); }},
    {"StepTooLarge", "range", {"buffer w", "run step"}, [](E &e) { layerWindow(e, kW).runStep = int64_t(1) << 60; }},

    // ResidentRules
    {"OutsideOfTheMesh",
     "mesh",
     {"resident hidden", "core (4, 0)", "4 x 4"},
     [](E &e) { of(e, kHidden).cores = cores(0, 0, 5, 2); }},
    {"CoreTwice",
     "resident-cores",
     {"resident hidden", "lists 8 cores, of which 6 are different"},
     [](E &e) { of(e, kHidden).cores.dims[1] = {2, 1, 0}; }},
    {"DeadCore",
     "dead-core",
     {"resident hidden lies on core (1, 0), which is dead"},
     [](E &e) { e.target.deadCores = {{1, 0}}; }},
    {"BeyondSram",
     "sram-overflow",
     {"resident hidden at bytes 49120 to 49184", "49152"},
     [](E &e) { move(e, kHidden, 49120); }},
    {"InTheRuntime", "sram-code", {"resident hidden", "first 5224 bytes"}, [](E &e) { move(e, kHidden, 5120); }},
    {"Unaligned",
     "sram-alignment",
     {"resident inner at address 8577", "4 bytes (f32)"},
     [](E &e) { move(e, kInner, kInnerAt + 1); }},
    {"BeyondSection",
     "constant-section",
     {"constant resident weights on core (1, 1)", "bytes 577 to 769 of section weights", "768 bytes"},
     [](E &e) { of(e, kWeights).sectionOffset.constant = 1; }},
    {"SectionUnaligned",
     "constant-section",
     {"resident weights", "not aligned to elements of 4 bytes on every core"},
     [](E &e) { of(e, kWeights).sectionOffset = perCore(382, 192); }},
    {"SectionAndVariable",
     "resident-state",
     {"resident weights is filled from a section and from variable kv"},
     [](E &e) { of(e, kWeights).state = 0; }},
    {"TypeOfVariable",
     "resident-type",
     {"resident cache has elements of type i32, variable kv of type f32"},
     [](E &e) { of(e, kCache).type = ElementType::I32; }},
    {"BeforeVariable",
     "resident-state",
     {"resident cache begins at element -1 of variable kv on core (0, 0)"},
     [](E &e) { of(e, kCache).stateOffset.constant = -1; }},
    {"ElementMissing",
     "resident-state",
     {"element 1 of variable kv, which has 4, lies on no core", "resident cache"},
     [](E &e) {
       of(e, kCache).stateOffset = perCore(1, 2);
       of(e, kCache).cores = cores(0, 0, 1, 2);
     }},
    {"LastElementMissing",
     "resident-state",
     {"element 4 of variable kv, which has 5"},
     [](E &e) { e.states[0].tensor.shape = {5}; }},
    {"PaddingBehindVariable", "", {}, [](E &e) { e.states[0].tensor.shape = {3}; }},
    {"ReplicatedVariable",
     "",
     {},
     [](E &e) {
       e.states[0].tensor.shape = {2};
       of(e, kCache).stateOffset = perCore(0, 1);
     }},
    {"VariableInTwoParts",
     "",
     {},
     [](E &e) {
       e.states[0].tensor.shape = {8};
       e.residents.push_back(resident("more", 12288, 4));
       e.residents[4].state = 0;
       e.residents[4].stateOffset = perCore(-2, -1);
       e.residents[4].stateOffset.constant = 7;
     }},
    {"VariableInTwoPartsWithAGap",
     "resident-state",
     {"element 4 of variable kv, which has 8", "cache and its others"},
     [](E &e) {
       e.states[0].tensor.shape = {8};
       e.residents.push_back(resident("more", 12288, 4));
       e.residents[4].state = 0;
       e.residents[4].stateOffset = perCore(2, 1);
       e.residents[4].stateOffset.constant = 5;
     }},
    {"VariableAlsoBound",
     "resident-state",
     {"variable kv lies in resident cache and in state buffers of configuration fill"},
     [](E &e) {
       Buffer buffer = scratch("kv", 12288, 16);
       buffer.kind = BufferKind::State;
       buffer.state = 0;
       roleOf(e, kFill).buffers.push_back(buffer);
       e.configurations[kFill].stateBindings = {{0, 0, 2, 0, {1, 1, 1, 4}, {0, 0, 0, 1}}};
     }},

    // WindowRules
    {"WindowBeyond",
     "resident-window",
     {"buffer h in iteration 0 views bytes 0 to 68 of resident hidden, which has 64"},
     [](E &e) { layerWindow(e, kH).bytes = 68; }},
    {"WindowBeyondInTheLastIteration",
     "resident-window",
     {"buffer w in iteration 3 views bytes 192 to 256 of resident weights, which has 192"},
     [](E &e) { e.entries[0].steps[3].count = 4; }},
    {"WindowBeyondInALaterRun",
     "resident-window",
     {"buffer w in iteration 3 views bytes 192 to 256 of resident weights, which has 192"},
     [](E &e) { e.entries[0].steps[3].first = 1; }},
    {"WindowBefore",
     "resident-window",
     {"in iteration 2 views bytes -128 to -64"},
     [](E &e) { layerWindow(e, kW).runStep = -64; }},
    {"WindowElsewhere",
     "resident-window",
     {"buffer h is at address 8516, byte 0 of resident hidden is at 8512"},
     [](E &e) { layerWindow(e, kH).address += 4; }},
    {"StepBesideTheBanks",
     "resident-step",
     {"buffer w moves by 32 bytes per iteration", "64 bytes after which banks repeat"},
     [](E &e) { layerWindow(e, kW).runStep = 32; }},
    {"TypeOfOtherSize",
     "resident-type",
     {"buffer h has elements of type f16, resident hidden of type f32"},
     [](E &e) { layerWindow(e, kH).type = ElementType::F16; }},
    {"TypeOfTheSameSize", "", {}, [](E &e) { layerWindow(e, kH).type = ElementType::I32; }},
    {"RoleBesideTheResident",
     "resident-cores",
     {"role fill", "buffer h", "resident hidden, which does not lie on core (0, 2)"},
     [](E &e) { roleOf(e, kFill).cores = cores(0, 0, 2, 3); }},
    {"RoleOnAPartOfIt", "", {}, [](E &e) { roleOf(e, kLayer).cores = cores(1, 1, 1, 1); }},
    {"TwoWindowsMeet",
     "sram-overlap",
     {"buffer h, which is written, shares bytes of resident hidden with buffer again in iteration 0"},
     [](E &e) { roleOf(e, kLayer).buffers.push_back(window("again", kHidden, kHiddenAt, 64)); }},
    {"TwoWindowsAreRead",
     "",
     {},
     [](E &e) {
       Buffer again = window("again", kWeights, kWeightsAt + 32, 64);
       again.residentOffset = 32;
       roleOf(e, kLayer).buffers.push_back(again);
     }},
    {"TwoWindowsMeetLater",
     "sram-overlap",
     {"buffer h, which is written", "with buffer walks in iteration 2"},
     [](E &e) {
       move(e, kHidden, 12288);
       of(e, kHidden).bytes = 256;
       Buffer walks = window("walks", kHidden, 12288 + 128, 64);
       walks.residentOffset = 128;
       walks.runStep = -64;
       roleOf(e, kLayer).buffers.push_back(walks);
     }},
    {"TwoWindowsSideBySide",
     "",
     {},
     [](E &e) {
       move(e, kHidden, 12288);
       of(e, kHidden).bytes = 256;
       Buffer walks = window("walks", kHidden, 12288 + 64, 64);
       walks.residentOffset = 64;
       walks.runStep = 64;
       roleOf(e, kLayer).buffers.push_back(walks);
     }},

    // OccupancyRules
    {"TwoTensorsAtOnce",
     "resident-overlap",
     {"residents hidden at bytes 8544 to 8608 and inner at bytes 8576 to 8640 share bytes of core (0, 0)",
      "from step 3 to 3 of entry run"},
     [](E &e) { move(e, kHidden, kHiddenAt + 32); }},
    {"TensorOnWeights",
     "resident-overlap",
     {"residents weights", "and cache", "always"},
     [](E &e) { move(e, kCache, kCacheAt - 128); }},
    {"TensorsOnOtherCores",
     "",
     {},
     [](E &e) {
       e.residents.push_back(resident("elsewhere", kHiddenAt, 64));
       e.residents[4].cores = cores(2, 0, 2, 2);
       Role role = roleOf(e, kLayer);
       role.cores = e.residents[4].cores;
       role.buffers = {window("x", 4, kHiddenAt, 64)};
       role.threads = {{instruction(Opcode::Move, 16, memory(0), immediate(0))}};
       e.configurations[kLayer].roles.push_back(role);
     }},
    {"TensorsOnADiagonal",
     "resident-overlap",
     {"share bytes of core (1, 1)"},
     [](E &e) {
       e.residents.push_back(resident("diagonal", kWeightsAt, 64));
       e.residents[4].section = 0;
       e.residents[4].cores = {};
       e.residents[4].cores.row = 3, e.residents[4].cores.col = 3;
       e.residents[4].cores.dims[3] = {3, -1, -1};
     }},
    {"ScratchOnALivingTensor",
     "resident-overlap",
     {"configuration layer, role layer, core (0, 0): buffer free at bytes 8500 to 8516 meets resident hidden at bytes "
      "8512 to 8576, which "
      "lives there from step 1 to 3 of entry run"},
     [](E &e) { roleOf(e, kLayer).buffers.push_back(scratch("free", 8500, 16)); }},
    {"ScratchBeforeItsLife", "", {}, [](E &e) { roleOf(e, kFill).buffers[1].address = kInnerAt + 32; }},
    {"ScratchWhileAnotherEntryHasIt",
     "resident-overlap",
     {"configuration fill", "buffer work", "resident inner", "of entry again"},
     [](E &e) {
       e.entries.push_back(e.entries[0]);
       e.entries[1].name = "again";
       e.entries[1].steps = {{StepKind::Run, kLayer, {}}, {StepKind::Run, kFill, {}}, {StepKind::Run, kLayer, {}}};
     }},
    {"CodeOnALivingTensor",
     "resident-overlap",
     {"configuration fill, role fill, core (0, 0): runtime, stack and code at bytes 0 to", "resident weights",
      "always"},
     [](E &e) {
       Thread &thread = roleOf(e, kFill).threads[0];
       thread.insert(thread.end(), 400, thread[0]);
     }},
    {"StateBufferUnderATensor",
     "resident-overlap",
     {"configuration fill", "buffer seen", "resident inner"},
     [](E &e) {
       e.states.push_back({{"seen", ElementType::F32, {4}}, -1});
       Buffer seen = scratch("seen", kInnerAt, 4);
       seen.kind = BufferKind::State;
       seen.state = 1;
       roleOf(e, kFill).buffers[1].address = 12288;
       roleOf(e, kFill).buffers.push_back(seen);
       e.configurations[kFill].stateBindings = {{1, 0, 2, perCore(2, 1), {1, 1, 1, 1}, {}}};
     }},

    // Written before it is read
    {"ReadBeforeWritten",
     "scratch-unwritten",
     {"role layer, thread 0, instruction 0 (add)", "buffer i", "resident inner holds nothing before it in entry run"},
     [](E &e) { code(e, kLayer, 0) = instruction(Opcode::Add, 16, memory(kI), memory(kI), memory(kW)); }},
    {"WrittenInPart",
     "scratch-unwritten",
     {"bytes 0 to 64 of buffer i, of which only bytes 0 to 32 are ever written"},
     [](E &e) { code(e, kLayer, 0).extent[3] = 8; }},
    {"WrittenByAnEarlierConfigurationOfOneEntryOnly",
     "scratch-unwritten",
     {"role layer", "buffer h", "resident hidden holds nothing before it in entry short"},
     [](E &e) {
       e.entries.push_back(e.entries[0]);
       e.entries[1].name = "short";
       e.entries[1].steps = {{StepKind::Run, kLayer, {}}};
     }},
    {"VariablesHoldSomething",
     "",
     {},
     [](E &e) { code(e, kLayer, 2) = instruction(Opcode::Add, 1, memory(kC), memory(kC), immediate(1)); }},

    // OperandRules and SharingRules
    {"WeightsWritten",
     "constant-write",
     {"role layer", "buffer w, which is constant"},
     [](E &e) { code(e, kLayer, 0).dst = memory(kW); }},
    {"TensorInTwoThreads",
     "shared-memory",
     {"buffer h is used by threads 0 and 1"},
     [](E &e) { roleOf(e, kLayer).threads.push_back({instruction(Opcode::Move, 1, discard(), memory(kH))}); }},
    {"TensorReadByTwoThreads",
     "",
     {},
     [](E &e) {
       roleOf(e, kLayer).threads = {{instruction(Opcode::Move, 16, memory(kI), memory(kH))},
                                    {instruction(Opcode::Move, 1, memory(kC), memory(kH))}};
     }},

    // IoRules
    {"CountOfZero",
     "step-count",
     {"entry run: step 3 has the count 0", "from 1"},
     [](E &e) { e.entries[0].steps[3].count = 0; }},
    {"ConfigureTwice",
     "step-count",
     {"step 2 has the count 2", "put in place once"},
     [](E &e) { e.entries[0].steps[2].count = 2; }},
    {"FirstBelowZero",
     "step-first",
     {"entry run: step 3 begins with iteration -1", "from 0"},
     [](E &e) { e.entries[0].steps[3].first = -1; }},
    {"ConfigureAnIteration",
     "step-first",
     {"step 2 begins with iteration 1", "only they have iterations"},
     [](E &e) { e.entries[0].steps[2].first = 1; }},
};

INSTANTIATE_TEST_SUITE_P(Rules, Residents, testing::ValuesIn(kCases),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace wsc::format
