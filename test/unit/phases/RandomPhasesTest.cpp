// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random entries: phases that run up to three times each, some of them in turns, on windows of residents that move,
// overlap, come from sections and belong to states, on cores split into roles at random, some of which send to their
// neighbours. All schedules give
// the same bits over several calls, and every core replays. WSC_SEED is the first seed.
#include "test/support/Seed.h"
#include "test/unit/phases/PhaseProgram.h"

#include <cstdlib>
#include <random>

using namespace wsc::format;
using namespace wsc::emulator;
using namespace wsc::testing;

namespace {

class RandomPhases {
public:
  explicit RandomPhases(uint64_t seed) : random(seed), program(int32_t(below(2, 5))) {
    makeResidents();
    const int64_t words = below(1, elements);
    program.entry().inputs = {{"x", ElementType::F32, {program.cols * words}}};
    program.entry().outputs = {{"y", ElementType::F32, {program.cols * words}}};
    for (int64_t i = 0; i < program.cols * words; ++i)
      input.push_back(value());
    program.phase("load").lanes(false, 0, 0, words, words);
    {
      RoleBuilder role = roleOn("load", 0, program.cols, 1);
      const Op to = role.window("x", 0, words), in = role.input(0);
      role.thread().move(to, in, {words});
      role.finish();
    }
    for (int64_t phases = below(1, 4); phases > 0; --phases)
      below(0, 2) == 0 ? exchange() : compute();
    takeTurns();
    program.phase("store").lanes(true, 0, 0, words, words);
    RoleBuilder role = roleOn("store", 0, program.cols, 1);
    const Op from = role.window("x", writable(), words), out = role.output(0);
    role.thread().move(out, from, {words});
    role.finish();
  }

  const Executable &executable() const { return program.result; }
  Floats input;

private:
  static constexpr int64_t elements = 12; // of each resident

  int64_t below(int64_t low, int64_t high) { return std::uniform_int_distribution<int64_t>(low, high)(random); }
  float value() { return float(below(-64, 64)) / 16; }
  int32_t writable() { return int32_t(below(0, numWritable - 1)); }

  RoleBuilder roleOn(const std::string &name, int32_t col, int32_t count, int32_t step) {
    RoleBuilder role(program, name);
    role.memoryFrom(8192);
    role.role.cores.col = col;
    role.role.cores.dims[3] = {count, 0, step};
    return role;
  }

  // Two that come and go, one of a state, one from a section for each core, one from a section for all.
  void makeResidents() {
    const auto section = [&](int64_t count) {
      std::vector<double> values;
      for (int64_t i = 0; i < count; ++i)
        values.push_back(value());
      return program.section("values", bytesOf(ElementType::F32, values));
    };
    const Lattice row = rectangle(0, 0, 1, program.cols);
    for (const char *name : {"first", "second", "state", "own", "common"})
      program.resident(name, ElementType::F32, elements, row);
    const int64_t held = program.cols * elements - below(0, 5); // the last core may have padding
    program.result.states.push_back({{"state", ElementType::F32, {held}}, section(held)});
    auto &residents = program.result.residents;
    residents[2].state = 0;
    residents[2].stateOffset = affine(0, {0, 0, 0, elements});
    residents[3].section = section(program.cols * elements);
    residents[3].sectionOffset = affine(0, {0, 0, 0, elements * 4});
    residents[4].section = section(elements);
  }

  // A window of `length` elements that stays inside for `count` iterations.
  Op window(RoleBuilder &role, int32_t resident, int64_t length, int64_t count) {
    const int64_t room = elements - length, step = count > 1 ? below(-room / (count - 1), room / (count - 1)) : 0;
    const int64_t first = step >= 0 ? below(0, room - step * (count - 1)) : below(-step * (count - 1), room);
    return role.window("w" + std::to_string(role.role.buffers.size()), resident, length, first, step);
  }

  void instructions(RoleBuilder &role, ThreadBuilder &thread, int64_t count) {
    constexpr Opcode opcodes[] = {Opcode::Add, Opcode::Sub, Opcode::Mul, Opcode::Max, Opcode::Move, Opcode::Fma};
    for (int64_t n = below(1, 3); n > 0; --n) {
      const int64_t length = below(1, 6);
      const Op to = window(role, writable(), length, count);
      const Op a = window(role, int32_t(below(0, 4)), length, count);
      const Op b = window(role, int32_t(below(0, 4)), length, count);
      const Opcode opcode = opcodes[below(0, 5)];
      if (opcode == Opcode::Move)
        thread.move(to, a, {length});
      else
        thread.op(opcode, to, a, b, {length});
    }
  }

  // Some configurations once more, in any order, each with any of its iterations.
  void takeTurns() {
    for (int64_t n = below(0, 3); n > 0 && !turns.empty(); --n) {
      const auto [number, count] = turns[size_t(below(0, int64_t(turns.size()) - 1))];
      const int64_t first = below(0, count - 1);
      program.again(number, int32_t(below(1, count - first)), int32_t(first));
    }
  }

  int64_t phase(const std::string &name) {
    const int64_t count = below(1, 3);
    program.phase(name, int32_t(count));
    turns.emplace_back(program.entry().steps.back().configuration, count);
    return count;
  }

  void compute() {
    const int64_t count = phase("compute");
    const int32_t split = int32_t(below(1, program.cols));
    for (const auto &[col, cores] : {std::pair(0, split), std::pair(split, program.cols - split)})
      if (cores > 0) {
        RoleBuilder role = roleOn("part", col, cores, 1);
        ThreadBuilder thread = role.thread();
        instructions(role, thread, count);
        role.finish();
      }
  }

  // Cores of even columns send to their eastern neighbours, which may answer: then they wait for each other in a
  // circle.
  void exchange() {
    constexpr uint8_t kThere = 1, kBack = 2;
    const int64_t length = below(1, 6), pairs = program.cols / 2;
    const bool answer = below(0, 1) == 1;
    const int64_t count = phase("exchange");
    const auto route = [&](uint8_t colour, int32_t col, Port input, Port output) {
      RouterRole router;
      router.routers.col = col;
      router.routers.dims[3] = {int32_t(pairs), 0, 2};
      router.colour = colour;
      router.positions = {{input, PortMask(1 << int(output))}};
      program.configuration().routers.push_back(router);
    };
    route(kThere, 0, Port::Ramp, Port::East);
    route(kThere, 1, Port::West, Port::Ramp);
    if (answer) {
      route(kBack, 1, Port::Ramp, Port::West);
      route(kBack, 0, Port::East, Port::Ramp);
    }
    RoleBuilder even = roleOn("even", 0, int32_t(pairs), 2), odd = roleOn("odd", 1, int32_t(pairs), 2);
    {
      ThreadBuilder thread = even.thread();
      const Op out = even.output(kThere);
      instructions(even, thread, count);
      thread.move(out, window(even, int32_t(below(0, 4)), length, count), {length});
      if (answer) {
        const Op to = window(even, writable(), length, count), in = even.input(kBack);
        thread.op(Opcode::Add, to, in, to, {length});
        instructions(even, thread, count);
      }
    }
    {
      ThreadBuilder thread = odd.thread();
      const Op in = odd.input(kThere), to = window(odd, writable(), length, count);
      thread.op(Opcode::Sub, to, to, in, {length});
      instructions(odd, thread, count);
      if (answer) {
        const Op out = odd.output(kBack);
        thread.move(out, window(odd, int32_t(below(0, 4)), length, count), {length});
      }
    }
    even.finish();
    odd.finish();
  }

  static constexpr int64_t numWritable = 3;
  std::mt19937_64 random;
  PhaseProgram program;
  std::vector<std::pair<int32_t, int64_t>> turns; // configurations that may run again, and their iterations
};

struct Result {
  std::vector<std::vector<Floats>> outputs; // per call
  std::vector<std::byte> state;
};

Result resultOn(CoreEngine &engine, const Floats &input) {
  Result result;
  for (int call = 0; call < 3; ++call) // what runs once is written down in the second, and repeated in the third
    result.outputs.push_back(runOn(engine, {input}));
  result.state = engine.readState(0).bytes;
  return result;
}

// As bits: NaNs are equal to themselves.
std::vector<HostTensor> bitsOf(const Result &result) {
  std::vector<HostTensor> all;
  for (const auto &call : result.outputs)
    for (const Floats &output : call)
      all.push_back(tensorOf(output));
  all.push_back({result.state});
  return all;
}

} // namespace

TEST(RandomPhases, AllSchedulesAgree) {
  const uint64_t first = wsc::test::seedOf(1);
  for (uint64_t seed = first; seed < first + uint64_t(wsc::test::casesOf(300)) && !testing::Test::HasFailure();
       ++seed) {
    SCOPED_TRACE(testing::Message() << "WSC_SEED=" << seed);
    const RandomPhases phases(seed);
    auto worklist = engineOf(phases.executable(), Schedule::Worklist, 1);
    const std::vector<HostTensor> want = bitsOf(resultOn(*worklist, phases.input));
    for (Schedule schedule : {Schedule::Units, Schedule::Waves}) {
      auto engine = engineOf(phases.executable(), schedule);
      const std::vector<HostTensor> got = bitsOf(resultOn(*engine, phases.input));
      ASSERT_EQ(got.size(), want.size());
      for (size_t i = 0; i < want.size(); ++i)
        EXPECT_EQ(got[i].bytes, want[i].bytes) << "schedule " << int(schedule) << ", part " << i;
      expectReplays(*engine, phases.executable(), {phases.input});
    }
  }
}
