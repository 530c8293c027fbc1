// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The liveness check against the cycle engine on damaged executables of small networks, in strips and in phases:
// queues and FIFOs made shallower, threads put together, instructions exchanged or cut, colours laid on one another,
// samples made longer. None that stops is missed, none that runs is refused.
#include "test/models/ModelCheck.h"
#include "test/models/SmallNets.h"
#include "test/support/Seed.h"

#include "runtime/emulator/cycle/CycleEngine.h"
#include "runtime/emulator/liveness/Liveness.h"
#include "runtime/format/Reader.h"

#include <algorithm>
#include <functional>
#include <random>

namespace wsc::test {
namespace {

using namespace format;

constexpr int64_t kMostCycles = 2000000;

class Damage {
public:
  Damage(Executable &executable, std::mt19937_64 &random)
      : executable(executable), configuration(executable.configurations[0]), random(random) {}

  // One change, and its name.
  std::string make() {
    switch (pick(0, 10)) {
    case 0:
      return shallower("router queue", executable.target.routerQueueWords, 1);
    case 1:
      return shallower("input queue", anyOf(executable.target.inputQueueWords), 1);
    case 2:
      return shallower("output queue", anyOf(executable.target.outputQueueWords), 1);
    case 3:
      return shallower("ramp", executable.target.rampLatencyCycles, 1);
    case 4:
      return shallowerFifo();
    case 5:
      return exchange();
    case 6:
      return joinThreads();
    case 7:
      return cutAndMove();
    case 8:
    case 9:
      return exchange();
    default:
      return pick(0, 1) ? longer() : mergeColours();
    }
  }

private:
  int64_t pick(int64_t low, int64_t high) { return low + int64_t(random() % uint64_t(high - low + 1)); }
  template <typename T> T &anyOf(std::vector<T> &values) { return values[size_t(pick(0, int64_t(values.size()) - 1))]; }
  static bool isVector(const Instruction &instruction) {
    return instruction.opcode != Opcode::Loop && instruction.opcode != Opcode::EndLoop &&
           instruction.opcode != Opcode::SendControl;
  }
  static int64_t elements(const Instruction &instruction) {
    int64_t all = 1;
    for (const Affine &extent : instruction.extent)
      all *= extent.isConstant() ? extent.constant : 0;
    return all;
  }

  std::string shallower(const char *what, int32_t &depth, int32_t least) {
    const int32_t before = depth;
    depth = int32_t(pick(std::min(least, depth), depth));
    return std::string(what) + " " + std::to_string(before) + " to " + std::to_string(depth) + "; ";
  }
  std::string shallowerFifo() {
    std::vector<Buffer *> fifos;
    for (Role &role : configuration.roles)
      for (Buffer &buffer : role.buffers)
        if (buffer.kind == BufferKind::Fifo)
          fifos.push_back(&buffer);
    if (fifos.empty())
      return "";
    Buffer &fifo = *anyOf(fifos);
    const int64_t size = elementBytes(fifo.type);
    fifo.bytes = size * pick(1, std::max<int64_t>(1, fifo.bytes / size));
    return "FIFO " + fifo.name + " of " + std::to_string(fifo.bytes / size) + "; ";
  }
  Thread &anyThread() {
    Role *role = &anyOf(configuration.roles);
    while (role->threads.empty())
      role = &anyOf(configuration.roles);
    return anyOf(role->threads);
  }
  static bool moves(const Instruction &instruction) {
    for (const Operand *operand : {&instruction.dst, &instruction.a, &instruction.b})
      if (operand->kind == OperandKind::Queue || operand->kind == OperandKind::Fifo)
        return true;
    return false;
  }
  // Two instructions of a thread that move words, one the next after the other; half the time in all roles that have
  // the like.
  std::string exchange() {
    const Thread &thread = anyThread();
    std::vector<size_t> movers;
    for (size_t i = 0; i < thread.size(); ++i)
      if (moves(thread[i]))
        movers.push_back(i);
    if (movers.size() < 2)
      return "";
    const auto at = size_t(pick(0, int64_t(movers.size()) - 2));
    const size_t first = movers[at], second = movers[at + 1];
    const bool all = pick(0, 1);
    const size_t size = thread.size();
    for (Role &role : configuration.roles)
      for (Thread &other : role.threads)
        if (&other == &thread || (all && other.size() == size && moves(other[first]) && moves(other[second])))
          std::swap(other[first], other[second]);
    return "instructions " + std::to_string(first) + " and " + std::to_string(second) + (all ? " of all" : "") +
           " exchanged; ";
  }
  std::string joinThreads() {
    Role &role = anyOf(configuration.roles);
    if (role.threads.size() < 2)
      return "";
    std::shuffle(role.threads.begin(), role.threads.end(), random);
    role.threads[0].insert(role.threads[0].end(), role.threads.back().begin(), role.threads.back().end());
    role.threads.pop_back();
    return "threads of " + role.name + " joined; ";
  }
  std::string cutAndMove() {
    Thread &thread = anyThread();
    const auto at = size_t(pick(0, int64_t(thread.size()) - 1));
    const int64_t all = elements(thread[at]);
    if (!isVector(thread[at]) || all < 8 || all % 4)
      return "";
    Instruction half = thread[at];
    half.extent = {Affine(1), Affine(1), Affine(1), Affine(all / 2)};
    thread[at] = half;
    size_t to = at + 1;
    while (to < thread.size() && isVector(thread[to]) && pick(0, 1))
      ++to;
    thread.insert(thread.begin() + std::ptrdiff_t(to), half);
    return "cut; ";
  }
  // A sample does all of it twice.
  std::string longer() {
    for (Role &role : configuration.roles)
      for (Thread &thread : role.threads) {
        Instruction loop, end;
        loop.opcode = Opcode::Loop;
        loop.extent[0] = Affine(2);
        end.opcode = Opcode::EndLoop;
        thread.insert(thread.begin(), loop);
        thread.push_back(end);
      }
    for (IoBinding &binding : configuration.io)
      for (int64_t d = 0, found = 0; d < kMaxDims && !found; ++d)
        if (binding.extent[size_t(d)] == Affine(1)) {
          binding.extent[size_t(d)] = Affine(2);
          found = 1;
        }
    return "twice; ";
  }
  std::string mergeColours() {
    const uint8_t from = anyOf(configuration.routers).colour, to = anyOf(configuration.routers).colour;
    for (RouterRole &router : configuration.routers)
      router.colour = router.colour == from ? to : router.colour;
    for (Role &role : configuration.roles)
      for (Queue &queue : role.queues)
        queue.colour = queue.colour == from ? to : queue.colour;
    for (IoBinding &binding : configuration.io)
      binding.colour = binding.colour == from ? to : binding.colour;
    return "colour " + std::to_string(from) + " to " + std::to_string(to) + "; ";
  }

  Executable &executable;
  Configuration &configuration;
  std::mt19937_64 &random;
};

std::string kindOf(const absl::Status &status) {
  if (status.ok())
    return "live";
  for (const char *kind : {"deadlock", "unbalanced words", "control word"})
    if (status.message().find(std::string(": ") + kind) != std::string::npos)
      return kind;
  return absl::IsInvalidArgument(status) ? "malformed" : status.ToString();
}

struct Network {
  const char *name;
  std::function<OnnxBuilder()> build;
  const char *target;
  driver::Execution execution;
};

class DamagedNetworks : public ::testing::TestWithParam<Network> {};

TEST_P(DamagedNetworks, AreJudgedAsTheCycleEngineDoes) {
  TemporaryFolder folder;
  ASSERT_TRUE(GetParam().build().write(folder / "model.onnx"));
  absl::Status status = compileModel(folder / "model.onnx", GetParam().target, folder / "model.wse",
                                     {kernels::Effort::Default, 1, 1}, GetParam().execution);
  ASSERT_TRUE(status.ok()) << status;
  auto loaded = loadExecutable(folder / "model.wse");
  ASSERT_TRUE(loaded.ok()) << loaded.status();
  ASSERT_TRUE(emulator::checkLiveness(*loaded).ok());
  std::mt19937_64 random(seedOf(2024));
  std::map<std::string, int> counts;
  const int cases = casesOf(80);
  for (int i = 0; i < cases; ++i) {
    Executable damaged = *loaded;
    std::swap(damaged.configurations[0], damaged.configurations[random() % damaged.configurations.size()]);
    damaged.configurations.resize(1);
    std::string what;
    Damage damage(damaged, random);
    for (uint64_t n = 1 + random() % 4; n > 0; --n)
      what += damage.make();
    const absl::Status judged = emulator::checkLiveness(damaged, 0);
    const absl::Status ran = emulator::runCycles(damaged, 0, {.samples = 1, .mostCycles = kMostCycles}).status();
    if (absl::IsDeadlineExceeded(ran))
      continue;
    ASSERT_EQ(kindOf(judged), kindOf(ran)) << "case " << i << ": " << what << "\n" << judged << "\n" << ran;
    ++counts[kindOf(ran)];
    if (judged.ok()) // so are several samples
      EXPECT_TRUE(emulator::runCycles(damaged, 0, {.samples = 3}).ok()) << "case " << i << ": " << what;
  }
  std::cout << GetParam().name << ":";
  for (const auto &[kind, count] : counts)
    std::cout << " " << count << " " << kind;
  std::cout << std::endl;
  EXPECT_GE(counts["live"], cases / 10);
  EXPECT_GE(counts["deadlock"], cases / 20);
}

INSTANTIATE_TEST_SUITE_P(Small, DamagedNetworks,
                         testing::Values(Network{"branched", branchedNet, "mesh-24x32", driver::Execution::Pipelined},
                                         Network{"lenet", lenetLike, "mesh-24x32", driver::Execution::Pipelined},
                                         Network{"lenetInPhases", lenetLike, "mesh-8x8", driver::Execution::Phased},
                                         Network{"encoderInPhases", encoderLike, "mesh-8x8",
                                                 driver::Execution::Phased}),
                         [](const auto &info) { return std::string(info.param.name); });

} // namespace
} // namespace wsc::test
