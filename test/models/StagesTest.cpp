// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that take their input in stages are held up by nothing: results leave while they compute.
#include "test/models/ModelCheck.h"

#include "runtime/emulator/cycle/CycleEngine.h"

namespace wsc::test {
namespace {

/// Cycles between samples of a 1 × 1 convolution with a relu, over the issue slots of its busiest core.
double overSlots(const std::vector<int64_t> &shape, int64_t channels, const std::string &target) {
  NetBuilder net(7);
  net.output(net.unary("Relu", net.conv(net.input("x", shape), channels, {.kernel = {1, 1}})));
  TemporaryFolder folder;
  EXPECT_TRUE(net.onnx.write(folder / "model.onnx"));
  EXPECT_TRUE(compileModel(folder / "model.onnx", target, folder / "model.wse").ok());
  auto session = Session::open(folder / "model.wse", {.threads = 1});
  EXPECT_TRUE(session.ok()) << session.status();
  if (!session.ok())
    return 0;
  const format::Executable &executable = (*session)->executable();
  const int64_t slots = executable.configurations[0].kernels[0].predictedIntervalCycles; // of the busiest core
  auto run = emulator::runCycles(executable, 0, {.samples = 24});
  EXPECT_TRUE(run.ok()) << run.status();
  return run.ok() ? double(run->sampleDone[20] - run->sampleDone[12]) / double(8 * slots) : 0;
}

TEST(Stages, KeepCoresBusy) {
  EXPECT_LE(overSlots({1, 32, 4, 28}, 96, "mesh-32x9"), 1.01);
  EXPECT_LE(overSlots({1, 256, 7, 7}, 64, "mesh-100x8"), 1.01); // with feeders that compute
}

} // namespace
} // namespace wsc::test
