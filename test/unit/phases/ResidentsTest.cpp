// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stays in SRAM between phases: contents, weights with and without a step, windows that move with the iteration,
// states over calls, padding; and what is refused.
#include "test/unit/phases/PhaseProgram.h"

using namespace wsc::format;
using namespace wsc::emulator;
using namespace wsc::testing;

namespace {

constexpr Schedule kSchedules[] = {Schedule::Units, Schedule::Waves, Schedule::Worklist};

// Cores take 2 elements each into `x`.
void loadPhase(PhaseProgram &program, int32_t x, int64_t elements = 2) {
  program.phase("load").lanes(false, 0, 0, elements, elements);
  RoleBuilder role(program, "load");
  role.role.cores = rectangle(0, 0, 1, program.cols);
  const Op to = role.window("x", x, elements), in = role.input(0);
  role.thread().move(to, in, {elements});
  role.finish();
}

void storePhase(PhaseProgram &program, int32_t x, int64_t elements = 2) {
  program.phase("store").lanes(true, 0, 0, elements, elements);
  RoleBuilder role(program, "store");
  role.role.cores = rectangle(0, 0, 1, program.cols);
  const Op from = role.window("x", x, elements), out = role.output(0);
  role.thread().move(out, from, {elements});
  role.finish();
}

} // namespace

TEST(Residents, ContentsStayBetweenPhases) {
  // Two roles share the resident; the second phase adds each core's own weight, and one that all cores have.
  PhaseProgram program(3);
  program.entry().inputs = {{"x", ElementType::F32, {6}}};
  program.entry().outputs = {{"y", ElementType::F32, {6}}};
  const int32_t x = program.resident("x", ElementType::F32, 2, rectangle(0, 0, 1, 3));
  const int32_t own = program.resident("own", ElementType::F32, 2, rectangle(0, 0, 1, 3));
  const int32_t common = program.resident("common", ElementType::F32, 2, rectangle(0, 0, 1, 3));
  program.result.residents[size_t(own)].section =
      program.section("own", bytesOf(ElementType::F32, {10, 20, 30, 40, 50, 60}));
  program.result.residents[size_t(own)].sectionOffset = affine(0, {0, 0, 0, 8});
  program.result.residents[size_t(common)].section = program.section("common", bytesOf(ElementType::F32, {100, 200}));
  loadPhase(program, x);
  program.phase("add");
  for (int part = 0; part < 2; ++part) {
    RoleBuilder role(program, part ? "right" : "left");
    role.role.cores = part ? rectangle(0, 2, 1, 1) : rectangle(0, 0, 1, 2);
    const Op a = role.window("x", x, 2), b = role.window("own", own, 2), c = role.window("common", common, 2);
    role.thread().op(Opcode::Add, a, a, b, {2}).op(Opcode::Add, a, a, c, {2});
    role.finish();
  }
  storePhase(program, x);
  for (Schedule schedule : kSchedules) {
    auto engine = engineOf(program.result, schedule);
    for (int call = 0; call < 2; ++call)
      EXPECT_EQ(runOn(*engine, {{1, 2, 3, 4, 5, 6}}), (std::vector<Floats>{{111, 222, 133, 244, 155, 266}}));
    expectReplays(*engine, program.result, {{1, 2, 3, 4, 5, 6}});
  }
}

TEST(Residents, ColumnsMayBeDigitsOfTheResidentOnly) {
  // Column 2·i + j holds element i + 2·j of a section: affine in the resident's two digits, not in the role's column.
  PhaseProgram program(4);
  program.entry().outputs = {{"y", ElementType::F32, {4}}};
  Lattice digits;
  digits.dims[2] = {2, 0, 2};
  digits.dims[3] = {2, 0, 1};
  const int32_t x = program.resident("x", ElementType::F32, 1, digits);
  program.result.residents[size_t(x)].section = program.section("x", bytesOf(ElementType::F32, {1, 2, 3, 4}));
  program.result.residents[size_t(x)].sectionOffset = affine(0, {0, 0, 4, 8});
  storePhase(program, x, 1);
  for (Schedule schedule : kSchedules)
    EXPECT_EQ(runOn(*engineOf(program.result, schedule), {}), (std::vector<Floats>{{1, 3, 2, 4}}));
}

TEST(Residents, WindowsMoveWithTheIteration) {
  // x = x · w[i] + b[3 - i] for i = 0 … 3: one configuration, run four times.
  PhaseProgram program(2);
  program.entry().inputs = {{"x", ElementType::F32, {4}}};
  program.entry().outputs = {{"y", ElementType::F32, {4}}};
  const int32_t x = program.resident("x", ElementType::F32, 2, rectangle(0, 0, 1, 2));
  const int32_t w = program.resident("w", ElementType::F32, 4, rectangle(0, 0, 1, 2));
  const int32_t b = program.resident("b", ElementType::F32, 4, rectangle(0, 0, 1, 2));
  program.result.residents[size_t(w)].section =
      program.section("w", bytesOf(ElementType::F32, {1, 2, 3, 4, 2, 2, 2, 2}));
  program.result.residents[size_t(w)].sectionOffset = affine(0, {0, 0, 0, 16});
  program.result.residents[size_t(b)].section = program.section("b", bytesOf(ElementType::F32, {1, 10, 100, 1000}));
  loadPhase(program, x);
  program.phase("layer", 4);
  RoleBuilder role(program, "layer");
  role.role.cores = rectangle(0, 0, 1, 2);
  const Op to = role.window("x", x, 2), weight = role.window("w", w, 1, 0, 1), bias = role.window("b", b, 1, 3, -1);
  role.thread().op(Opcode::Mul, to, to, weight.repeated(), {2}).op(Opcode::Add, to, to, bias.repeated(), {2});
  role.finish();
  storePhase(program, x);
  // Core 0: (((x + 1000) · 2 + 100) · 3 + 10) · 4 + 1; core 1: every factor is 2.
  const auto first = [](float v) { return (((v + 1000) * 2 + 100) * 3 + 10) * 4 + 1; };
  const auto second = [](float v) { return (((v * 2 + 1000) * 2 + 100) * 2 + 10) * 2 + 1; };
  for (Schedule schedule : kSchedules) {
    auto engine = engineOf(program.result, schedule);
    EXPECT_EQ(engine->runs(0)[1], (EntryRun{1, 4}));
    EXPECT_EQ(runOn(*engine, {{1, 2, 3, 4}}), (std::vector<Floats>{{first(1), first(2), second(3), second(4)}}));
    expectReplays(*engine, program.result, {{1, 2, 3, 4}});
  }
}

TEST(Residents, ConfigurationsTakeTurnsInALoop) {
  // x = (x + a[i]) · m[i] for i = 0, 1, 2, the sum and the product each a configuration of its own.
  PhaseProgram program(2);
  program.entry().inputs = {{"x", ElementType::F32, {2}}};
  program.entry().outputs = {{"y", ElementType::F32, {2}}};
  const int32_t x = program.resident("x", ElementType::F32, 1, rectangle(0, 0, 1, 2));
  const int32_t a = program.resident("a", ElementType::F32, 3, rectangle(0, 0, 1, 2));
  const int32_t m = program.resident("m", ElementType::F32, 3, rectangle(0, 0, 1, 2));
  program.result.residents[size_t(a)].section = program.section("a", bytesOf(ElementType::F32, {1, 2, 3}));
  program.result.residents[size_t(m)].section = program.section("m", bytesOf(ElementType::F32, {10, 100, 2}));
  loadPhase(program, x, 1);
  const auto part = [&](const char *name, Opcode opcode, int32_t with) {
    program.phase(name);
    RoleBuilder role(program, name);
    role.role.cores = rectangle(0, 0, 1, 2);
    const Op to = role.window("x", x, 1), other = role.window("other", with, 1, 0, 1);
    role.thread().op(opcode, to, to, other, {1});
    role.finish();
  };
  part("sum", Opcode::Add, a);
  part("product", Opcode::Mul, m);
  for (int32_t i = 1; i < 3; ++i)
    program.again(1, 1, i).again(2, 1, i);
  storePhase(program, x, 1);
  for (Schedule schedule : kSchedules) {
    auto engine = engineOf(program.result, schedule);
    EXPECT_EQ(engine->runs(0)[4], (EntryRun{2, 1, 1}));
    EXPECT_EQ(runOn(*engine, {{0, 1}}), (std::vector<Floats>{{2406, 4406}}));
    expectReplays(*engine, program.result, {{0, 1}});
  }
}

TEST(Residents, OverlappingWindowsAreOneMemory) {
  // Element k takes the sum of itself and element k - 1, which the same instruction has just written through another
  // window.
  PhaseProgram program(2);
  program.entry().inputs = {{"x", ElementType::F32, {8}}};
  program.entry().outputs = {{"y", ElementType::F32, {8}}};
  const int32_t x = program.resident("x", ElementType::F32, 4, rectangle(0, 0, 1, 2));
  loadPhase(program, x, 4);
  program.phase("sum");
  RoleBuilder role(program, "sum");
  role.role.cores = rectangle(0, 0, 1, 2);
  const Op later = role.window("later", x, 3, 1), earlier = role.window("earlier", x, 3);
  role.thread().op(Opcode::Add, later, later, earlier, {3});
  role.finish();
  storePhase(program, x, 4);
  for (Schedule schedule : kSchedules) {
    auto engine = engineOf(program.result, schedule);
    EXPECT_EQ(runOn(*engine, {{1, 2, 3, 4, 10, 20, 30, 40}}), (std::vector<Floats>{{1, 3, 6, 10, 10, 30, 60, 100}}));
    expectReplays(*engine, program.result, {{1, 2, 3, 4, 10, 20, 30, 40}});
  }
}

TEST(Residents, StatesLiveFromCallToCall) {
  // Three cores with space for two elements each hold a variable of five; each call adds x.
  PhaseProgram program(3);
  program.entry().inputs = {{"x", ElementType::F32, {6}}};
  program.entry().outputs = {{"y", ElementType::F32, {6}}};
  const int32_t initial = program.section("initial", bytesOf(ElementType::F32, {10, 20, 30, 40, 50}));
  program.result.states.push_back({{"sum", ElementType::F32, {5}}, initial});
  const int32_t x = program.resident("x", ElementType::F32, 2, rectangle(0, 0, 1, 3));
  const int32_t sum = program.resident("sum", ElementType::F32, 2, rectangle(0, 0, 1, 3));
  program.result.residents[size_t(sum)].state = 0;
  program.result.residents[size_t(sum)].stateOffset = affine(0, {0, 0, 0, 2});
  loadPhase(program, x);
  program.phase("add");
  RoleBuilder role(program, "add");
  role.role.cores = rectangle(0, 0, 1, 3);
  const Op total = role.window("sum", sum, 2), value = role.window("x", x, 2);
  role.thread().op(Opcode::Add, total, total, value, {2});
  role.finish();
  storePhase(program, sum);
  for (Schedule schedule : kSchedules) {
    auto engine = engineOf(program.result, schedule);
    const std::vector<Floats> ones{{1, 1, 1, 1, 1, 1}};
    EXPECT_EQ(floatsOf(engine->readState(0)), (Floats{10, 20, 30, 40, 50}));
    EXPECT_EQ(runOn(*engine, ones),
              (std::vector<Floats>{{11, 21, 31, 41, 51, 1}})); // the last lies beyond the variable
    expectReplays(*engine, program.result, ones);
    EXPECT_EQ(floatsOf(engine->readState(0)), (Floats{12, 22, 32, 42, 52}));
    ASSERT_TRUE(engine->writeState(0, tensorOf({0, 0, 0, 0, 0})).ok());
    EXPECT_EQ(runOn(*engine, ones), (std::vector<Floats>{{1, 1, 1, 1, 1, 1}}));
    EXPECT_EQ(floatsOf(engine->readState(0)), (Floats{1, 1, 1, 1, 1}));
  }
}

TEST(Residents, AStateMovesBetweenBuffersAndResidents) {
  // The first phase doubles the variable in a buffer of its own, in reverse order; the second adds 1 to the resident
  // that holds it.
  PhaseProgram program(1);
  program.entry().outputs = {{"y", ElementType::F32, {3}}};
  program.result.states.push_back(
      {{"v", ElementType::F32, {3}}, program.section("v", bytesOf(ElementType::F32, {1, 2, 3}))});
  const int32_t v = program.resident("v", ElementType::F32, 3, rectangle(0, 0, 1, 1));
  program.result.residents[size_t(v)].state = 0;
  program.phase("double");
  {
    RoleBuilder role(program, "double");
    const Op own = role.state("v", ElementType::F32, 3, 0);
    role.thread().op(Opcode::Add, own, own, own, {3});
    role.finish();
    StateBinding binding;
    binding.extent[3] = 3;
    binding.stride[3] = -1;
    binding.hostOffset = 2;
    program.configuration().stateBindings.push_back(binding);
  }
  program.phase("next");
  {
    RoleBuilder role(program, "next");
    const Op own = role.window("v", v, 3);
    role.thread().op(Opcode::Add, own, own, imm(1), {3});
    role.finish();
  }
  storePhase(program, v, 3);
  for (Schedule schedule : kSchedules) {
    auto engine = engineOf(program.result, schedule);
    EXPECT_EQ(runOn(*engine, {}), (std::vector<Floats>{{3, 5, 7}}));
    EXPECT_EQ(runOn(*engine, {}), (std::vector<Floats>{{7, 11, 15}}));
    EXPECT_EQ(floatsOf(engine->readState(0)), (Floats{7, 11, 15}));
  }
}

TEST(Residents, PaddedLanesReachBeyondTheTensor) {
  // Cores take two elements each of five, from one before the first on; what lies outside is zero going in, nothing
  // going out.
  PhaseProgram program(3);
  program.entry().inputs = {{"x", ElementType::F32, {5}}};
  program.entry().outputs = {{"y", ElementType::F32, {5}}, {"reverse", ElementType::F32, {4}}};
  const int32_t x = program.resident("x", ElementType::F32, 2, rectangle(0, 0, 1, 3));
  program.phase("load");
  IoBinding &in = program.lanes(false, 0, 0, 2, 2);
  in.padded = true;
  in.hostOffset.constant = -1;
  {
    RoleBuilder role(program, "load");
    role.role.cores = rectangle(0, 0, 1, 3);
    const Op to = role.window("x", x, 2), from = role.input(0);
    role.thread().move(to, from, {2}).op(Opcode::Add, to, to, imm(1), {2});
    role.finish();
  }
  program.phase("store");
  IoBinding &out = program.lanes(true, 0, 0, 2, 2);
  out.padded = true;
  out.hostOffset.constant = -1;
  IoBinding &back = program.lanes(true, 1, 1, 2, -2); // element 4, 3; 2, 1; 0, -1
  back.padded = true;
  back.hostOffset.constant = 4;
  back.stride[3] = -1;
  {
    RoleBuilder role(program, "store");
    role.role.cores = rectangle(0, 0, 1, 3);
    const Op from = role.window("x", x, 2), to = role.output(0), again = role.output(1);
    role.thread().move(to, from, {2}).move(again, from, {2});
    role.finish();
  }
  for (Schedule schedule : kSchedules) {
    auto engine = engineOf(program.result, schedule);
    // The cores hold 1 (padding + 1), 11; 21, 31; 41, 51.
    EXPECT_EQ(runOn(*engine, {{10, 20, 30, 40, 50}}), (std::vector<Floats>{{11, 21, 31, 41, 51}, {41, 31, 21, 11}}));
  }
  program.result.configurations[0].io[0].padded = false;
  const auto refused = CoreEngine::create(program.result, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(std::string(refused.status().message()).find("reaches elements -1 to 0, the tensor has 5"),
            std::string::npos)
      << refused.status();
}

// The second resident lies where the first one was, small and large, and holds zeros but for what is written.
TEST(Residents, BeginWithZerosWhereOthersHaveLived) {
  for (const int64_t elements : {4, 10000}) {
    PhaseProgram program(3);
    program.entry().inputs = {{"x", ElementType::F32, {3 * elements}}};
    program.entry().outputs = {{"first", ElementType::F32, {3 * elements}},
                               {"second", ElementType::F32, {3 * elements}}};
    const int32_t first = program.resident("first", ElementType::F32, elements, rectangle(0, 0, 1, 3)),
                  second = program.resident("second", ElementType::F32, elements, rectangle(0, 0, 1, 3)),
                  seven = program.resident("seven", ElementType::F32, 1, rectangle(0, 0, 1, 3));
    program.result.residents[size_t(seven)].section = program.section("seven", bytesOf(ElementType::F32, {7}));
    loadPhase(program, first, elements);
    storePhase(program, first, elements);
    program.phase("part");
    RoleBuilder role(program, "part");
    role.role.cores = rectangle(0, 0, 1, 3);
    const Op to = role.window("second", second, 1, 2), from = role.window("seven", seven, 1);
    role.thread().move(to, from, {1});
    role.finish();
    storePhase(program, second, elements);
    program.configuration().io.back().tensor = 1;
    Floats x(size_t(3 * elements)), y(x.size());
    for (size_t i = 0; i < x.size(); ++i)
      x[i] = float(i + 1);
    for (int core = 0; core < 3; ++core)
      y[size_t(core * elements + 2)] = 7;
    for (Schedule schedule : kSchedules) {
      auto engine = engineOf(program.result, schedule);
      for (int call = 0; call < 3; ++call)
        EXPECT_TRUE(runOn(*engine, {x}) == (std::vector<Floats>{x, y})) << elements << " elements, call " << call;
    }
  }
}

TEST(Residents, ACoreOutsideOfTheResidentIsRefused) {
  PhaseProgram program(3);
  program.entry().inputs = {{"x", ElementType::F32, {6}}};
  loadPhase(program, program.resident("x", ElementType::F32, 2, rectangle(0, 0, 1, 2)));
  const auto engine = CoreEngine::create(program.result, {});
  ASSERT_FALSE(engine.ok());
  EXPECT_EQ(engine.status().message(), "role load runs on core (0, 2), where resident x of its buffer x is not");
}

TEST(Residents, ConfigurationsArePreparedWhenTheyFirstRun) {
  // The second configuration is wrong: the engine opens, an entry that uses it does not run.
  PhaseProgram program(3);
  program.entry().inputs = {{"x", ElementType::F32, {6}}};
  loadPhase(program, program.resident("x", ElementType::F32, 2, rectangle(0, 0, 1, 3)));
  program.result.entries.push_back(program.entry());
  program.result.entries[1].name = "load";
  storePhase(program, program.resident("z", ElementType::F32, 2, rectangle(0, 0, 1, 2)));
  program.entry().outputs = {{"y", ElementType::F32, {6}}};
  auto engine = CoreEngine::create(program.result, {});
  ASSERT_TRUE(engine.ok()) << engine.status();
  const std::vector<HostTensor> x{tensorOf({1, 2, 3, 4, 5, 6})};
  EXPECT_TRUE((*engine)->run(1, x).ok());
  const auto refused = (*engine)->run(0, x);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().message(), "role store runs on core (0, 2), where resident z of its buffer x is not");
}
