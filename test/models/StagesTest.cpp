// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows that take their input in stages are held up by nothing: results leave while they compute.
#include "test/models/ModelCheck.h"

#include "runtime/emulator/cycle/CycleEngine.h"

namespace wsc::test {
namespace {

TEST(Stages, KeepCoresBusy) {
  NetBuilder net(7);
  net.output(net.unary("Relu", net.conv(net.input("x", {1, 32, 4, 28}), 96, {.kernel = {1, 1}})));
  TemporaryFolder folder;
  ASSERT_TRUE(net.onnx.write(folder / "model.onnx"));
  ASSERT_TRUE(compileModel(folder / "model.onnx", "mesh-32x10", folder / "model.wse").ok());
  auto session = Session::open(folder / "model.wse", {.threads = 1});
  ASSERT_TRUE(session.ok()) << session.status();
  const format::Executable &executable = (*session)->executable();
  const int64_t slots = executable.configurations[0].kernels[0].predictedIntervalCycles; // of the busiest core
  auto run = emulator::runCycles(executable, 0, {.samples = 16});
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_LE(run->sampleDone[10] - run->sampleDone[5], 5 * slots * 101 / 100);
}

} // namespace
} // namespace wsc::test
