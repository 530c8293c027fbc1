// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The file alone determines the result (I1): change one number of a compiled network's code, descriptors, routes or
// switches, write it with a valid hash, and the change must be refused or be seen in output bits or cycles; take away
// names and reports, and nothing may change. What does not mean anything (strides of dimensions of extent 1, affine
// steps over lattice dimensions of one core) is not touched.
#include "test/models/ModelCheck.h"

#include "runtime/format/Reader.h"
#include "runtime/format/Verifier.h"
#include "runtime/format/Writer.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <random>

namespace wsc::test {
namespace {

using namespace format;

const uint64_t kSeed = std::getenv("WSC_SEED") ? std::strtoull(std::getenv("WSC_SEED"), nullptr, 10) : 4711;
const int kMutations = std::getenv("WSC_COUNT") ? std::atoi(std::getenv("WSC_COUNT")) : 200;

OnnxBuilder smallNetwork() {
  NetBuilder net(8);
  NetValue x = net.input("x", {1, 3, 10, 8});
  NetValue y = net.unary("Sigmoid", net.conv(x, 6, {.pads = {1, 1, 1, 1}}));
  NetValue z =
      net.averagePool(net.conv(y, 6, {.pads = {1, 1, 1, 1}}, 6), {.strides = {1, 1}, .pads = {1, 1, 1, 1}}, false);
  y = net.averagePool(net.binary("Add", y, z), {.kernel = {2, 2}, .strides = {2, 2}}, true);
  net.output(net.gemm(net.flatten(y), 10));
  return std::move(net.onnx);
}

/// What can be seen of a run: its outputs and its cycles.
struct Observation {
  std::vector<std::vector<std::byte>> outputs;
  std::vector<int64_t> cycles;
  bool operator==(const Observation &) const = default;
};

/// A number that can be changed.
struct Number {
  std::string kind;
  std::function<int64_t()> get;
  std::function<void(int64_t)> set;
};

class Numbers {
public:
  std::vector<Number> all;

  explicit Numbers(Configuration &configuration) {
    for (Role &role : configuration.roles)
      add(role);
    for (RouterRole &router : configuration.routers) {
      add("route lattice row", router.routers.row);
      add("route lattice column", router.routers.col);
      for (Lattice::Dim &dim : router.routers.dims)
        if (dim.count > 1) {
          add("route lattice count", dim.count);
          add("route lattice step", dim.rowStep);
        }
      add("route colour", router.colour);
      for (SwitchPosition &position : router.positions) {
        add("switch input", position.input);
        add("switch outputs", position.outputs);
      }
    }
    for (IoBinding &binding : configuration.io) {
      add("io colour", binding.colour);
      add("io offset", binding.hostOffset, binding.ports);
      for (int d = 0; d < kMaxDims; ++d)
        if (!(binding.extent[d] == Affine(1)))
          add("io stride", binding.stride[d]);
    }
  }

private:
  template <typename T> void add(const char *kind, T &number) {
    all.push_back({kind, [&number] { return int64_t(number); }, [&number](int64_t value) { number = T(value); }});
  }
  void add(const char *kind, Affine &affine, const Lattice &lattice) {
    add(kind, affine.constant);
    for (int d = 0; d < kMaxDims; ++d)
      if (lattice.dims[d].count > 1)
        add(kind, affine.perDim[d]);
  }
  void add(Role &role) {
    for (Buffer &buffer : role.buffers) {
      if (buffer.kind == BufferKind::Constant)
        add("weights' offset", buffer.sectionOffset, role.cores);
    }
    for (Queue &queue : role.queues)
      add("queue colour", queue.colour);
    for (Thread &thread : role.threads) {
      std::vector<int64_t> trips; // of the loops around
      for (Instruction &instruction : thread) {
        if (instruction.opcode == Opcode::Loop) {
          add("loop trips", instruction.extent[0], role.cores);
          trips.push_back(instruction.extent[0].constant);
        } else if (instruction.opcode == Opcode::EndLoop) {
          trips.pop_back();
        } else if (instruction.opcode == Opcode::SendControl) {
          add("control count", instruction.controlCount);
        } else {
          add("opcode", instruction.opcode);
          for (Affine &extent : instruction.extent)
            add("extent", extent, role.cores);
          for (Operand *operand : {&instruction.dst, &instruction.a, &instruction.b})
            add(*operand, instruction, trips, role.cores);
        }
      }
    }
  }
  void add(Operand &operand, const Instruction &instruction, const std::vector<int64_t> &trips, const Lattice &cores) {
    if (operand.kind == OperandKind::Queue)
      add("operand queue", operand.queue);
    if (operand.kind == OperandKind::Fifo)
      add("operand FIFO", operand.buffer);
    if (operand.kind != OperandKind::Memory)
      return;
    add("operand buffer", operand.buffer);
    add("operand base", operand.base, cores);
    for (int d = 0; d < kMaxDims; ++d)
      if (!(instruction.extent[d] == Affine(1)))
        add("operand stride", operand.stride[d]);
    for (size_t k = 0; k < trips.size(); ++k)
      if (trips[k] > 1)
        add("operand loop step", operand.loopStep[k]);
  }
};

class Mutation : public ::testing::Test {
protected:
  void SetUp() override {
    ASSERT_TRUE(smallNetwork().write(folder / "model.onnx"));
    absl::Status status = compileModel(folder / "model.onnx", "mesh-24x32", folder / "model.wse");
    ASSERT_TRUE(status.ok()) << status;
    auto loaded = loadExecutable(folder / "model.wse");
    ASSERT_TRUE(loaded.ok()) << loaded.status();
    original = *std::move(loaded);
    auto seen = observe(original);
    ASSERT_TRUE(seen.ok()) << seen.status();
    expected = *std::move(seen);
  }

  /// Writes the executable with a new hash, opens it, runs two samples and asks for the time.
  absl::StatusOr<Observation> observe(const Executable &executable) {
    std::vector<SectionSource> sections;
    for (const Section &section : original.sections)
      sections.push_back({section.name, int64_t(section.bytes.size()), [&section](std::span<std::byte> out) {
                            std::copy(section.bytes.begin(), section.bytes.end(), out.begin());
                            return absl::OkStatus();
                          }});
    std::string path = folder / "changed.wse";
    if (absl::Status status = writeExecutable(executable, sections, path); !status.ok())
      return status;
    auto session = Session::open(path, {.threads = 1});
    if (!session.ok())
      return session.status();
    Observation seen;
    for (uint64_t sample : {1, 2}) {
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
    return seen;
  }

  TemporaryFolder folder;
  Executable original;
  Observation expected;
};

TEST_F(Mutation, NoChangeGoesUnnoticed) {
  std::mt19937_64 random(kSeed);
  int refused = 0, seen = 0;
  std::vector<std::string> unnoticed;
  for (int i = 0; i < kMutations;) {
    Executable changed = original;
    Numbers numbers(changed.configurations[0]);
    // Kinds first, so that the few switches are changed as often as the many strides.
    std::map<std::string, std::vector<Number *>> ofKind;
    for (Number &number : numbers.all)
      ofKind[number.kind].push_back(&number);
    auto kind = std::next(ofKind.begin(), std::ptrdiff_t(random() % ofKind.size()));
    Number &number = *kind->second[random() % kind->second.size()];
    int64_t before = number.get();
    const int64_t values[] = {before + 1, before - 1, before + 4, before - 4, before * 2, 0};
    number.set(values[random() % std::size(values)]);
    if (number.get() == before)
      continue;
    ++i;
    auto outcome = observe(changed);
    if (!outcome.ok())
      ++refused;
    else if (!(*outcome == expected))
      ++seen;
    else
      unnoticed.push_back(number.kind + " from " + std::to_string(before) + " to " + std::to_string(number.get()));
  }
  std::cout << "seed " << kSeed << ": " << refused << " refused, " << seen << " seen in the output or the cycles, "
            << unnoticed.size() << " unnoticed of " << kMutations << std::endl;
  for (const std::string &text : unnoticed)
    std::cout << "  unnoticed: " << text << std::endl;
  EXPECT_GE((refused + seen) * 100, 95 * kMutations);
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
  std::mt19937_64 random(kSeed);
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
  std::mt19937_64 random(kSeed);
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
