// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file alone determines the result (I1): change one number of a compiled network's code, descriptors, routes,
// switches, residents or steps, write it with a valid hash, and the change must be refused or be seen in output bits,
// cycles or counts; take away names and reports, and nothing may change. A change that goes unnoticed must be of a kind
// that may: kMayPass says why. Without a valid hash no change of any bit is accepted.
#include "test/models/ModelCheck.h"
#include "test/models/Numbers.h"
#include "test/models/SmallNets.h"
#include "test/support/Seed.h"

#include "runtime/format/Reader.h"
#include "runtime/format/Verifier.h"
#include "runtime/format/Writer.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <map>
#include <random>

namespace wsc::test {
namespace {

using namespace format;

/// What can be seen of a run: its outputs, its cycles and what it counts.
struct Observation {
  std::vector<std::vector<std::byte>> outputs;
  std::vector<int64_t> cycles;
  bool operator==(const Observation &) const = default;
};

struct Network {
  const char *name;
  OnnxBuilder (*build)();
  const char *target;
  driver::Execution execution;
};

class Mutated : public ::testing::Test {
protected:
  void compile(const Network &network) {
    ASSERT_TRUE(network.build().write(folder / "model.onnx"));
    absl::Status status = compileModel(folder / "model.onnx", network.target, folder / "model.wse",
                                       {kernels::Effort::Default, 1, 1}, network.execution);
    ASSERT_TRUE(status.ok()) << status;
    auto loaded = loadExecutable(folder / "model.wse");
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    original = *std::move(loaded);
    auto seen = observe(original);
    ASSERT_TRUE(seen.ok()) << seen.status();
    expected = *std::move(seen);
    seen = observe(original, kMoreSamples);
    ASSERT_TRUE(seen.ok()) << seen.status();
    expectedOfMore = *std::move(seen);
  }

  /// Writes the executable with a new hash, opens it, runs samples and asks for times and counts.
  absl::StatusOr<Observation> observe(const Executable &executable, std::vector<uint64_t> samples = {1, 2}) {
    std::vector<SectionSource> sections;
    for (const Section &section : original.sections)
      sections.push_back({section.name, int64_t(section.bytes.size()), [&section](std::span<std::byte> out) {
                            std::copy(section.bytes.begin(), section.bytes.end(), out.begin());
                            return absl::OkStatus();
                          }});
    std::string path = folder / "changed.wse";
    if (absl::Status status = writeExecutable(executable, sections, path); !status.ok())
      return status;
    auto session = Session::open(path, {.threads = 1, .verifyLiveness = true});
    if (!session.ok())
      return session.status();
    Observation seen;
    for (uint64_t sample : samples) {
      auto outputs = (*session)->run(0, randomInputs((*session)->executable().entries[0], sample));
      if (!outputs.ok())
        return outputs.status();
      for (Tensor &output : *outputs)
        seen.outputs.push_back(std::move(output.bytes));
    }
    auto timing = (*session)->timing(0);
    if (!timing.ok())
      return timing.status();
    seen.cycles = {(*timing)->latencyCycles, (*timing)->intervalCycles};
    seen.cycles.insert(seen.cycles.end(), (*timing)->sampleDone.begin(), (*timing)->sampleDone.end());
    auto run = (*session)->cycles(0, {});
    if (!run.ok())
      return run.status();
    seen.cycles.insert(seen.cycles.end(), {run->endCycle, run->wordHops, run->maxLinkWords});
    for (const emulator::KernelCycles &kernel : run->kernels)
      seen.cycles.insert(seen.cycles.end(), {kernel.sum.busy, kernel.sum.bank, kernel.sum.words, kernel.sum.room});
    seen.cycles.push_back((*session)->counters(0).macs);
    return seen;
  }

  const std::vector<uint64_t> kMoreSamples{3, 4, 5, 6};
  TemporaryFolder folder;
  Executable original;
  Observation expected, expectedOfMore;
};

class Mutation : public Mutated {
protected:
  void SetUp() override { compile({"branched", branchedNet, "mesh-24x32", driver::Execution::Pipelined}); }
};

/// Kinds of numbers of which a change may go unnoticed, and why: the executable means the same.
constexpr const char *kDead = "concerns elements beyond a tensor's end, or that nobody reads",
                     *kRoom = "memory that nobody uses, of equal banks", *kSame = "another way to say the same";
const std::map<std::string, const char *> kMayPass = {
    {"buffer address", kRoom},
    {"buffer bytes", kRoom},
    {"buffer type", "instructions carry types of their own; a buffer's says how it is aligned"},
    {"constant section offset", "equal bytes lie there"},
    {"extent", kDead},
    {"filter period", kSame}, // 1: all pass
    {"immediate", kDead},
    {"io padded", kSame}, // where no element is padding
    {"mixed", kSame},     // of equal types
    {"step first", "no buffer of the configuration moves from run to run"},
    {"opcode", kDead}, // or Convert from a type to itself
    {"operand base", kDead},
    {"operand buffer", kDead},
    {"operand kind", kDead},
    {"operand loop step", kDead},
    {"operand stride", kDead},
    {"priority", "nobody contends"},
    {"queue number", "a hardware queue of the same depth"},
    {"resident address", kRoom},
    {"resident bytes", kRoom},
    {"resident lattice column", "cores without a window of it"},
    {"resident lattice count", "cores without a window of it"},
    {"resident lattice row", "cores without a window of it"},
    {"resident lattice step", "cores without a window of it"},
    {"resident section", "equal bytes lie there"},
    {"resident section offset", "equal bytes lie there"},
    {"resident type", "windows and instructions carry types of their own"},
    {"source type", kSame},
    {"type", kSame}, // of a move; or dead
};

class Mutations : public Mutated, public ::testing::WithParamInterface<Network> {};

TEST_P(Mutations, GoUnnoticedOnlyWhereTheyMeanNothing) {
  compile(GetParam());
  const uint64_t seed = seedOf(4711);
  std::mt19937_64 random(seed);
  const int cases = casesOf(250);
  int refused = 0, seen = 0;
  std::map<std::string, int> passed;
  for (int i = 0; i < cases;) {
    Executable changed = original;
    Numbers numbers(changed);
    // Kinds first, so that the few switches are changed as often as the many strides.
    std::map<std::string, std::vector<Number *>> ofKind;
    for (Number &number : numbers.all)
      ofKind[number.kind].push_back(&number);
    auto kind = std::next(ofKind.begin(), std::ptrdiff_t(random() % ofKind.size()));
    Number &number = *kind->second[random() % kind->second.size()];
    const int64_t before = number.get();
    const std::string where = number.where ? " of " + number.where() : "";
    const int64_t values[] = {before + 1, before - 1, before + 4, before - 4, before * 2, 0};
    number.set(values[random() % std::size(values)]);
    if (number.get() == before)
      continue;
    ++i;
    auto outcome = observe(changed);
    if (outcome.ok() && *outcome == expected) { // by luck of these samples?
      auto more = observe(changed, kMoreSamples);
      ASSERT_TRUE(more.ok()) << more.status();
      if (*more != expectedOfMore)
        outcome = std::move(more);
    }
    if (!outcome.ok()) {
      ++refused;
    } else if (!(*outcome == expected)) {
      ++seen;
    } else {
      ++passed[number.kind];
      const auto reason = kMayPass.find(number.kind);
      std::cout << "  unnoticed: " << number.kind << " from " << before << " to " << number.get() << where << ": "
                << (reason == kMayPass.end() ? "?" : reason->second) << std::endl;
      EXPECT_NE(reason, kMayPass.end()) << number.kind << ", case " << i << " of seed " << seed;
    }
  }
  std::cout << GetParam().name << ": " << refused << " refused, " << seen << " seen in outputs, cycles or counts, "
            << cases - refused - seen << " unnoticed of " << cases << std::endl;
  // 95 %, less two standard deviations of what so few cases may have by chance.
  EXPECT_GE(refused + seen, 0.95 * cases - 2 * std::sqrt(0.95 * 0.05 * cases));
}

INSTANTIATE_TEST_SUITE_P(Networks, Mutations,
                         testing::Values(Network{"branched", branchedNet, "mesh-24x32", driver::Execution::Pipelined},
                                         Network{"lenetInPhases", lenetLike, "mesh-6x6", driver::Execution::Phased},
                                         Network{"encoderInPhases", encoderLike, "mesh-6x6",
                                                 driver::Execution::Phased}),
                         [](const auto &info) { return std::string(info.param.name); });

/// No bit of the file can be changed without its hashes.
TEST_P(Mutations, NoBitOfTheFileIsFree) {
  compile(GetParam());
  std::mt19937_64 random(seedOf(4711));
  std::ifstream file(folder / "model.wse", std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  for (int i = 0; i < 400; ++i) {
    const size_t at = random() % bytes.size(), bit = random() % 8;
    std::string changed = bytes;
    changed[at] = char(changed[at] ^ (1 << bit));
    std::ofstream(folder / "changed.wse", std::ios::binary) << changed;
    EXPECT_FALSE(loadExecutable(folder / "changed.wse", {.verifyWeightHashes = true}).ok())
        << "bit " << bit << " of byte " << at;
  }
}

TEST_F(Mutation, NamesAndReportsMeanNothing) {
  Executable changed = original;
  Configuration &configuration = changed.configurations[0];
  configuration.name.clear();
  for (Role &role : configuration.roles) {
    role.name.clear();
    for (Buffer &buffer : role.buffers)
      buffer.name.clear();
  }
  for (Net &net : configuration.nets)
    net = {};
  for (Kernel &kernel : configuration.kernels)
    kernel = {};
  auto outcome = observe(changed);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(outcome->outputs, expected.outputs);
  EXPECT_EQ(outcome->cycles, expected.cycles);
}

TEST_F(Mutation, TwoLanesCannotChangeColours) {
  std::mt19937_64 random(seedOf(4711));
  const std::vector<RouterRole> &routers = original.configurations[0].routers;
  for (int swapped = 0; swapped < 40;) {
    size_t a = random() % routers.size(), b = random() % routers.size();
    if (routers[a].colour == routers[b].colour)
      continue;
    Executable changed = original;
    std::swap(changed.configurations[0].routers[a].colour, changed.configurations[0].routers[b].colour);
    auto outcome = observe(changed);
    EXPECT_TRUE(!outcome.ok() || outcome->outputs != expected.outputs) << "router roles " << a << " and " << b;
    ++swapped;
  }
}

/// The lanes of an input or output, in the reverse order.
TEST_F(Mutation, LanesCannotChangePositions) {
  int reversed = 0;
  for (size_t i = 0; i < original.configurations[0].io.size(); ++i) {
    Executable changed = original;
    IoBinding &binding = changed.configurations[0].io[i];
    for (int d = 0; d < kMaxDims; ++d)
      if (binding.ports.dims[d].count > 1 && binding.hostOffset.perDim[d] != 0) {
        binding.hostOffset.constant += binding.hostOffset.perDim[d] * (binding.ports.dims[d].count - 1);
        binding.hostOffset.perDim[d] = -binding.hostOffset.perDim[d];
        auto outcome = observe(changed);
        EXPECT_TRUE(!outcome.ok() || outcome->outputs != expected.outputs) << "binding " << i;
        ++reversed;
        break;
      }
  }
  EXPECT_GT(reversed, 0);
}

/// One router of one net loses its setting: the verifier says of which net.
TEST_F(Mutation, AMissingHopIsNamed) {
  std::mt19937_64 random(seedOf(4711));
  const Configuration &configuration = original.configurations[0];
  for (int i = 0; i < 30; ++i) {
    Executable changed = original;
    std::vector<RouterRole> &routers = changed.configurations[0].routers;
    size_t victim = random() % routers.size();
    RouterRole role = routers[victim];
    std::string net = configuration.nets[size_t(role.net)].name;
    // The lattice falls into single routers, one of which is left out.
    std::vector<RouterRole> single;
    LatticeIndex index{};
    const auto &dims = role.routers.dims;
    for (index[0] = 0; index[0] < dims[0].count; ++index[0])
      for (index[1] = 0; index[1] < dims[1].count; ++index[1])
        for (index[2] = 0; index[2] < dims[2].count; ++index[2])
          for (index[3] = 0; index[3] < dims[3].count; ++index[3]) {
            RouterRole one = role;
            one.routers = {};
            one.routers.row = role.routers.row;
            one.routers.col = role.routers.col;
            for (int d = 0; d < kMaxDims; ++d) {
              one.routers.row += index[d] * dims[d].rowStep;
              one.routers.col += index[d] * dims[d].colStep;
            }
            single.push_back(one);
          }
    size_t gone = random() % single.size();
    int32_t row = single[gone].routers.row, col = single[gone].routers.col;
    single.erase(single.begin() + std::ptrdiff_t(gone));
    routers.erase(routers.begin() + std::ptrdiff_t(victim));
    routers.insert(routers.end(), single.begin(), single.end());
    std::vector<Violation> violations = findViolations(changed);
    EXPECT_TRUE(
        std::any_of(violations.begin(), violations.end(),
                    [&](const Violation &violation) { return violation.message.find(net) != std::string::npos; }))
        << "router (" << row << ", " << col << ") of net " << net << ": "
        << (violations.empty() ? std::string("no violation") : violations[0].message);
  }
}

} // namespace
} // namespace wsc::test
