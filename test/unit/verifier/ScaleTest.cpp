// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A full wafer, 750 x 994 cores: 50 kernels in full-height strips of 19 columns. In each row of a kernel 18 workers
// take the row's words by multicast and send one word each by gather to the collector in the last column, which hands
// them to the next kernel. Rows are cut into bands so that there are as many roles as in a real mapping.
#include "Fixture.h"
#include "test/support/Sanitizers.h"

#include <gtest/gtest.h>

#include <ctime>

namespace wsc::format {
namespace {

using namespace fixture;

constexpr int kKernels = 50, kWidth = 19, kWorkers = kWidth - 1, kBandRows = 10;
constexpr Port E = Port::East, W = Port::West, R = Port::Ramp;
enum Colour { kEven, kOdd, kGather };

Role worker(int kernel, Lattice where, int controlCount) {
  Role role;
  role.name = "worker";
  role.kernel = kernel;
  role.cores = where;
  role.buffers = {scratch("input", 8192, 4 * kWorkers), scratch("sum", 8192 + 256, 64)};
  role.queues = {{false, uint8_t(kernel % 2), 0}, {true, kGather, 0}};
  Thread thread = {instruction(Opcode::Move, kWorkers, memory(0), queue(0)),
                   instruction(Opcode::Move, 1, memory(1), immediate(0))};
  for (int i = 0; i < 8; ++i) {
    Instruction multiplyAdd = instruction(Opcode::Fma, 1, memory(1, 0), memory(0, 0), immediate(i));
    multiplyAdd.a.loopStep[0] = 4;
    thread.insert(thread.end(), {loop(kWorkers), multiplyAdd, endLoop()});
  }
  thread.push_back(instruction(Opcode::Move, 1, queue(1), memory(1)));
  thread.push_back(control(1, controlCount));
  role.threads = {thread};
  return role;
}

Role collector(int kernel, Lattice where) {
  Role role;
  role.name = "collector";
  role.kernel = kernel;
  role.cores = where;
  role.queues = {{false, kGather, 0}, {true, uint8_t((kernel + 1) % 2), 0}};
  role.threads = {{instruction(Opcode::Move, kWorkers, queue(1), queue(0))}};
  return role;
}

Executable wafer() {
  Executable executable;
  executable.target = meshTarget("wse2");
  const int rows = executable.target.rows, cols = executable.target.cols;
  Configuration configuration;
  configuration.name = "wafer";
  for (int k = 0; k < kKernels; ++k) {
    int c = k * kWidth;
    configuration.kernels.push_back({"kernel" + std::to_string(k), {}, 0, c, rows, kWidth, 0, 0});
    for (int row = 0; row < rows; row += kBandRows) {
      int net = int(configuration.nets.size());
      configuration.nets.push_back({"in" + std::to_string(k), kWorkers});
      configuration.nets.push_back({"gather" + std::to_string(k), kWorkers});
      int high = std::min(kBandRows, rows - row);
      auto at = [&](int col, int width) { return cores(row, c + col, high, width); };
      configuration.roles.push_back(worker(k, at(0, 1), 1));
      configuration.roles.push_back(worker(k, at(1, kWorkers - 2), 2));
      configuration.roles.push_back(worker(k, at(kWorkers - 1, 1), 1));
      configuration.roles.push_back(collector(k, at(kWorkers, 1)));
      auto route = [&](Lattice where, int colour, int of, std::vector<SwitchPosition> positions) {
        configuration.routers.push_back(router(where, colour, of, std::move(positions)));
      };
      route(at(0, kWorkers - 1), k % 2, net, {{W, PortMask(mask(E) | mask(R))}});
      route(at(kWorkers - 1, 1), k % 2, net, {{W, mask(R)}});
      route(at(kWorkers, 1), (k + 1) % 2, net, {{R, mask(E)}});
      route(at(0, 1), kGather, net + 1, {{R, mask(E)}});
      route(at(1, kWorkers - 1), kGather, net + 1, {{W, mask(E)}, {R, mask(E)}});
      route(at(kWorkers, 1), kGather, net + 1, {{W, mask(R)}});
    }
  }
  int end = kKernels * kWidth;
  configuration.routers.push_back(router(cores(0, end, rows, cols - end), kKernels % 2, 0, {{W, mask(E)}}));
  IoBinding input;
  input.ports = cores(0, 0, rows, 1);
  input.hostOffset.perDim[2] = kWorkers;
  input.extent[3] = kWorkers;
  input.stride[3] = 1;
  IoBinding output = input;
  output.output = true;
  output.ports = cores(0, cols - 1, rows, 1);
  output.side = E;
  output.colour = kKernels % 2;
  configuration.io = {input, output};
  executable.configurations = {configuration};
  Entry entry;
  entry.name = "infer";
  entry.inputs = {{"x", ElementType::F32, {rows, kWorkers}}};
  entry.outputs = {{"y", ElementType::F32, {rows, kWorkers}}};
  entry.steps = {{StepKind::Run, 0, {}}};
  executable.entries = {entry};
  return executable;
}

TEST(Scale, FullWaferInSeconds) {
  Executable executable = wafer();
  const Configuration &configuration = executable.configurations[0];
  std::clock_t begin = std::clock(); // processor time: the verifier runs on one thread
  std::vector<Violation> violations = findViolations(executable);
  double seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
  std::cout << configuration.roles.size() << " roles, " << configuration.routers.size() << " router roles: " << seconds
            << " s\n";
  EXPECT_EQ(list(violations), "");
  EXPECT_LT(seconds, 3.0 * test::kSlowdown);
}

// One worker of half a million that sends a word too many is found, and named.
TEST(Scale, OneFaultOnAFullWaferIsFound) {
  Executable executable = wafer();
  Role &role = executable.configurations[0].roles[4 * 1000 + 1];
  Affine words = 1;
  words.perDim[2] = 1;
  Instruction &send = role.threads[0][role.threads[0].size() - 2];
  send.extent[3] = words;
  send.a.stride[3] = 0;
  std::vector<Violation> violations = findViolations(executable);
  ASSERT_FALSE(violations.empty());
  EXPECT_EQ(violations[0].rule, "words") << list(violations);
  EXPECT_NE(violations[0].message.find("net gather13"), std::string::npos) << violations[0].message;
}

// Sixteen phases on a full wafer, with bands of ten rows as roles, each with eight windows of 160 residents: a hundred
// pass from one phase to the next on the same bytes, the others stay.
TEST(Scale, ResidentsOfAFullWaferInSeconds) {
  constexpr int kPhases = 16, kPassing = 100, kStaying = 60;
  Executable executable;
  executable.target = meshTarget("wse2");
  const int rows = executable.target.rows, cols = executable.target.cols;
  addSection(executable, "weights", 1 << 20);
  for (int r = 0; r < kPassing + kStaying; ++r) {
    Resident resident;
    resident.name = "r" + std::to_string(r);
    resident.cores = cores(0, 0, rows, cols);
    resident.bytes = 256;
    resident.address = r < kPassing ? 8192 + 256 * (r % 16) : 16384 + 256 * (r - kPassing);
    resident.section = r < kPassing ? -1 : 0;
    executable.residents.push_back(resident);
  }
  Entry entry;
  entry.name = "main";
  for (int p = 0; p < kPhases; ++p) {
    Configuration configuration;
    configuration.name = "phase" + std::to_string(p);
    for (int row = 0; row < rows; row += kBandRows) {
      Role role;
      role.name = "band";
      role.cores = cores(row, 0, std::min(kBandRows, rows - row), cols);
      Thread thread;
      for (int b = 0; b < 8; ++b) {
        const int r = b < 4 ? (p * 6 + b) % kPassing : kPassing + (p * 4 + b) % kStaying;
        Buffer buffer = scratch("b" + std::to_string(b), executable.residents[size_t(r)].address, 256);
        buffer.kind = BufferKind::Resident;
        buffer.resident = r;
        role.buffers.push_back(buffer);
        if (b < 4)
          thread.push_back(instruction(Opcode::Move, 64, memory(b), immediate(0)));
        else
          thread.push_back(instruction(Opcode::Add, 64, memory(b - 4), memory(b - 4), memory(b)));
      }
      role.threads = {thread};
      configuration.roles.push_back(role);
    }
    executable.configurations.push_back(configuration);
    entry.steps.push_back({StepKind::Configure, p, p > 0 ? std::vector<int32_t>{2 * p - 1} : std::vector<int32_t>()});
    entry.steps.push_back({StepKind::Run, p, {2 * p}});
  }
  executable.entries = {entry};
  const std::clock_t begin = std::clock();
  const std::vector<Violation> violations = findViolations(executable);
  const double seconds = double(std::clock() - begin) / CLOCKS_PER_SEC;
  std::cout << kPhases << " phases of " << executable.configurations[0].roles.size() << " roles: " << seconds << " s\n";
  EXPECT_EQ(list(violations), "");
  EXPECT_LT(seconds, 1.0 * test::kSlowdown);
}

} // namespace
} // namespace wsc::format
