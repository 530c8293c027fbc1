// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of residents against a model that looks at every core, byte, step and iteration. Small random executables:
// residents on lattices of all shapes that meet often, windows with offsets and steps, entries that run configurations
// in any order. The same rules must be broken in both.
#include "Fixture.h"
#include "test/support/Seed.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>
#include <set>

namespace wsc::format {
namespace {

using namespace fixture;

constexpr int kRows = 5, kCols = 6;
constexpr int64_t kData = 8192;
const std::set<std::string> kJudged = {"resident-window", "resident-cores", "sram-overlap", "resident-overlap",
                                       "resident-state"};

class Generator {
public:
  explicit Generator(uint64_t seed) : random(seed) {}

  Executable run() {
    Executable e;
    e.target = meshTarget("mesh-5x6");
    addSection(e, "w", 1 << 14);
    e.states = {{{"v", ElementType::F32, {1 + upTo(15)}}, -1}};
    for (int64_t i = upTo(3); i >= 0; --i)
      e.residents.push_back(resident());
    e.configurations.resize(size_t(1 + upTo(2)));
    for (Configuration &configuration : e.configurations)
      for (int64_t i = upTo(1); i >= 0; --i)
        configuration.roles.push_back(role(e));
    e.entries.resize(size_t(1 + upTo(1)));
    for (Entry &entry : e.entries)
      for (int64_t i = upTo(4); i > 0; --i) {
        const int32_t configuration = int32_t(upTo(int64_t(e.configurations.size()) - 1));
        if (oneIn(4))
          entry.steps.push_back({StepKind::Configure, configuration, {}});
        else
          entry.steps.push_back(
              {StepKind::Run, configuration, {}, int32_t(oneIn(2) ? 1 : 1 + upTo(4)), int32_t(oneIn(3) ? upTo(2) : 0)});
      }
    return e;
  }

private:
  std::mt19937_64 random;
  int64_t upTo(int64_t most) { return int64_t(random() % uint64_t(most + 1)); }
  bool oneIn(int n) { return upTo(n - 1) == 0; }

  // Up to three dimensions with any steps that stay in the mesh; now and then one core twice.
  Lattice lattice() {
    for (;;) {
      Lattice result;
      result.row = int32_t(upTo(kRows - 1));
      result.col = int32_t(upTo(kCols - 1));
      for (int d = 0; d < 3; ++d)
        if (oneIn(2))
          result.dims[d + 1] = {int32_t(2 + upTo(2)), int32_t(upTo(2)) - (oneIn(2) ? 1 : 0),
                                oneIn(3) ? 1 : int32_t(upTo(2)) - 1};
      bool inside = true, apart = true;
      for (const Lattice::Dim &dim : result.dims)
        apart &= dim.count == 1 || dim.rowStep != 0 || dim.colStep != 0;
      for (auto [row, col] : coresOf(result))
        inside &= row >= 0 && row < kRows && col >= 0 && col < kCols;
      if (inside && apart && result.size() <= kRows * kCols)
        return result;
    }
  }

  Resident resident() {
    Resident result;
    result.name = "r" + std::to_string(upTo(1000000));
    result.cores = lattice();
    result.address = kData + 64 * upTo(5);
    result.bytes = 64 + 32 * upTo(3);
    if (oneIn(3)) {
      result.section = 0;
    } else if (oneIn(3)) {
      result.state = 0;
      result.bytes = 4 * (1 + upTo(3));
      for (int64_t &step : result.stateOffset.perDim)
        step = upTo(4);
    }
    return result;
  }

  Role role(const Executable &e) {
    Role result;
    result.name = "role";
    result.cores = oneIn(3) ? lattice() : e.residents[size_t(upTo(int64_t(e.residents.size()) - 1))].cores;
    Thread thread;
    for (int64_t i = upTo(3); i > 0; --i) {
      Buffer buffer = scratch("b" + std::to_string(i), kData + 32 * upTo(12), 4 * (1 + upTo(15)));
      if (!oneIn(4)) {
        buffer.kind = BufferKind::Resident;
        buffer.resident = int32_t(upTo(int64_t(e.residents.size()) - 1));
        buffer.residentOffset = oneIn(2) ? 0 : 16 * upTo(5);
        buffer.runStep = oneIn(2) ? 0 : 64 * (upTo(3) - 1);
        const Resident &of = e.residents[size_t(buffer.resident)];
        if (buffer.bytes > of.bytes)
          buffer.bytes = of.bytes;
        buffer.address = of.address + buffer.residentOffset;
      }
      const int number = int(result.buffers.size());
      if (oneIn(2))
        thread.push_back(instruction(Opcode::Move, 1, memory(number), immediate(0)));
      else
        thread.push_back(instruction(Opcode::Move, 1, discard(), memory(number)));
      result.buffers.push_back(buffer);
    }
    result.threads = {thread};
    return result;
  }

public:
  using Core = std::pair<int, int>;
  static std::vector<Core> coresOf(const Lattice &lattice) {
    std::vector<Core> cores = {{lattice.row, lattice.col}};
    for (const Lattice::Dim &dim : lattice.dims) {
      std::vector<Core> more;
      for (auto [row, col] : cores)
        for (int i = 0; i < dim.count; ++i)
          more.emplace_back(row + i * dim.rowStep, col + i * dim.colStep);
      cores = more;
    }
    return cores;
  }
};

class Model {
public:
  explicit Model(const Executable &e) : e(e) {
    for (const Resident &resident : e.residents) {
      const auto list = Generator::coresOf(resident.cores);
      cores.emplace_back(list.begin(), list.end());
      if (cores.back().size() != list.size())
        broken.insert("resident-cores");
    }
  }

  std::set<std::string> run() {
    states();
    for (const Configuration &configuration : e.configurations)
      windows(configuration);
    // Constants and variables meet every configuration; in each step, whoever lives then.
    for (size_t c = 0; c < e.configurations.size(); ++c)
      meet(permanent(), int32_t(c));
    for (const Entry &entry : e.entries)
      for (size_t s = 0; s < entry.steps.size(); ++s)
        meet(living(entry, int32_t(s)), entry.steps[s].configuration);
    return broken;
  }

private:
  const Executable &e;
  std::vector<std::set<Generator::Core>> cores; // of residents
  std::set<std::string> broken;

  static bool meet(int64_t a, int64_t aBytes, int64_t b, int64_t bBytes) {
    for (int64_t byte = a; byte < a + aBytes; ++byte)
      if (byte >= b && byte < b + bBytes)
        return true;
    return false;
  }

  void states() {
    std::set<int64_t> held;
    bool any = false;
    for (const Resident &resident : e.residents) {
      if (resident.state < 0)
        continue;
      any = true;
      LatticeIndex i;
      const auto &dims = resident.cores.dims;
      for (i[0] = 0; i[0] < dims[0].count; ++i[0])
        for (i[1] = 0; i[1] < dims[1].count; ++i[1])
          for (i[2] = 0; i[2] < dims[2].count; ++i[2])
            for (i[3] = 0; i[3] < dims[3].count; ++i[3])
              for (int64_t k = 0; k < resident.bytes / 4; ++k)
                held.insert(resident.stateOffset.at(i) + k);
    }
    for (int64_t k = 0; any && k < e.states[0].tensor.elements(); ++k)
      if (!held.count(k))
        broken.insert("resident-state");
  }

  int32_t runs(const Configuration &configuration) const {
    int32_t most = 1;
    for (const Entry &entry : e.entries)
      for (const Step &step : entry.steps)
        if (&e.configurations[size_t(step.configuration)] == &configuration)
          most = std::max(most, step.first + step.count);
    return most;
  }

  void windows(const Configuration &configuration) {
    for (const Role &role : configuration.roles) {
      std::vector<bool> written(role.buffers.size());
      for (const Instruction &instruction : role.threads[0])
        if (instruction.dst.kind == OperandKind::Memory)
          written[size_t(instruction.dst.buffer)] = true;
      for (int32_t i = 0; i < runs(configuration); ++i)
        for (size_t a = 0; a < role.buffers.size(); ++a) {
          const Buffer &x = role.buffers[a];
          const bool isWindow = x.kind == BufferKind::Resident;
          const int64_t begin = x.residentOffset + i * x.runStep;
          if (isWindow && (begin < 0 || begin + x.bytes > e.residents[size_t(x.resident)].bytes))
            broken.insert("resident-window");
          if (isWindow)
            for (const Generator::Core &core : Generator::coresOf(role.cores))
              if (!cores[size_t(x.resident)].count(core))
                broken.insert("resident-cores");
          for (size_t b = a + 1; b < role.buffers.size(); ++b) {
            const Buffer &y = role.buffers[b];
            const bool oneResident = isWindow && y.kind == BufferKind::Resident && x.resident == y.resident;
            if (oneResident
                    ? (written[a] || written[b]) && meet(begin, x.bytes, y.residentOffset + i * y.runStep, y.bytes)
                    : meet(x.address, x.bytes, y.address, y.bytes))
              broken.insert("sram-overlap");
          }
        }
    }
  }

  std::vector<size_t> permanent() const {
    std::vector<size_t> list;
    for (size_t r = 0; r < e.residents.size(); ++r)
      if (e.residents[r].section >= 0 || e.residents[r].state >= 0)
        list.push_back(r);
    return list;
  }

  bool names(const Step &step, size_t resident) const {
    for (const Role &role : e.configurations[size_t(step.configuration)].roles)
      for (const Buffer &buffer : role.buffers)
        if (step.kind == StepKind::Run && buffer.kind == BufferKind::Resident && size_t(buffer.resident) == resident)
          return true;
    return false;
  }

  std::vector<size_t> living(const Entry &entry, int32_t step) const {
    std::vector<size_t> list = permanent();
    const std::set<size_t> always(list.begin(), list.end());
    for (size_t r = 0; r < e.residents.size(); ++r) {
      bool before = false, after = false;
      for (int32_t s = 0; s < int32_t(entry.steps.size()); ++s)
        if (names(entry.steps[size_t(s)], r)) {
          before |= s <= step;
          after |= s >= step;
        }
      if (before && after && !always.count(r))
        list.push_back(r);
    }
    return list;
  }

  void meet(const std::vector<size_t> &residents, int32_t configuration) {
    for (size_t a : residents)
      for (size_t b : residents)
        for (const Generator::Core &core : cores[a])
          if (a < b && cores[b].count(core) &&
              meet(e.residents[a].address, e.residents[a].bytes, e.residents[b].address, e.residents[b].bytes))
            broken.insert("resident-overlap");
    for (const Role &role : e.configurations[size_t(configuration)].roles)
      for (const Buffer &buffer : role.buffers)
        for (size_t r : residents)
          for (const Generator::Core &core : Generator::coresOf(role.cores))
            if (buffer.kind != BufferKind::Resident && cores[r].count(core) &&
                meet(buffer.address, buffer.bytes, e.residents[r].address, e.residents[r].bytes))
              broken.insert("resident-overlap");
  }
};

TEST(ResidentModel, BreaksTheSameRules) {
  const uint64_t seed = wsc::test::seedOf(1);
  const int count = wsc::test::casesOf(4000);
  std::map<std::string, int> broken;
  for (int i = 0; i < count; ++i) {
    SCOPED_TRACE("WSC_SEED=" + std::to_string(seed + uint64_t(i)));
    const Executable executable = Generator(seed + uint64_t(i)).run();
    std::set<std::string> found;
    const std::vector<Violation> violations = findViolations(executable, 1000);
    for (const Violation &violation : violations)
      if (kJudged.count(violation.rule))
        found.insert(violation.rule);
    const std::set<std::string> expected = Model(executable).run();
    ASSERT_EQ(found, expected) << list(violations);
    broken["none"] += expected.empty();
    for (const std::string &rule : expected)
      ++broken[rule];
  }
  std::cout << "WSC_SEED=" << seed << ": ";
  for (const auto &[rule, times] : broken)
    std::cout << rule << " " << times << "  ";
  std::cout << "\n";
}

} // namespace
} // namespace wsc::format
